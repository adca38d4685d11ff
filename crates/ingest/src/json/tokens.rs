//! The fields of an object that is spelled as most are, in one pass over its bytes.
//!
//! Names and strings without escapes are slices of the text, found eight bytes at a time; integers
//! and short decimals are read on the way. Any other value is left to `serde_json`, which finds its
//! end and checks it. Where the text is no JSON, or a name has an escape, there are no tokens: then
//! `serde_json` reads all of it, and says what is wrong. So this needs no messages, and is right
//! when it takes nothing that `serde_json` would not.

use serde_json::value::RawValue;

use crate::known_names::{KnownNames, NameId};

/// Digits that fit an `i64` whatever they are, and a stored decimal's places.
const DIGITS_MAX: usize = 18;
const WORD_BYTES: usize = 8;
/// Powers of ten: of as many digits as a word has, and fewer.
const POWERS: [i64; WORD_BYTES + 1] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// One value of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token<'j> {
    Null,
    Bool(bool),
    /// A number in lowest terms: the mantissa has no zero at its end if the scale is not 0.
    Decimal {
        mantissa: i64,
        scale: u8,
    },
    /// A string without escapes.
    String(&'j str),
    /// Any other value, as it is spelled.
    Raw(&'j str),
}

/// Names and values of an object's members, in order.
pub(crate) type Tokens<'j> = Vec<(Name<'j>, Token<'j>)>;

/// A name, and which it is if it was seen before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'j> {
    pub(super) text: &'j str,
    pub(super) seen: Option<NameId>,
}

/// Appends the name and value of each member of the object that the text is; `None` where that
/// needs another reader.
pub(super) fn tokens<'j>(
    text: &'j str,
    names: &mut KnownNames,
    out: &mut Tokens<'j>,
) -> Option<()> {
    names.begin_row();
    let mut cursor = Cursor { text, at: 0 };
    cursor.expect(b'{')?;
    if cursor.next_byte()? == b'}' {
        cursor.at += 1;
    } else {
        loop {
            cursor.expect(b'"')?;
            let name = cursor.name(names)?;
            cursor.expect(b':')?;
            cursor.value(name, out)?;
            match cursor.take()? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
    }
    cursor.next_byte().is_none().then_some(())
}

struct Cursor<'j> {
    text: &'j str,
    at: usize,
}

impl<'j> Cursor<'j> {
    fn bytes(&self) -> &'j [u8] {
        self.text.as_bytes()
    }

    /// The next byte that is not white space, which stays; `None` at the end.
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            match *self.bytes().get(self.at)? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.next_byte()?;
        self.at += 1;
        Some(byte)
    }

    fn expect(&mut self, expected: u8) -> Option<()> {
        (self.take()? == expected).then_some(())
    }

    /// The name whose opening quote was taken.
    fn name(&mut self, names: &mut KnownNames) -> Option<Name<'j>> {
        if let Some((id, length)) = names.expected(&self.bytes()[self.at..]) {
            let text = self.text.get(self.at..self.at + length)?;
            self.at += length + 1;
            return Some(Name { text, seen: Some(id) });
        }
        let text = self.string()?;
        Some(Name { text, seen: names.find(text) })
    }

    /// The string whose opening quote was taken, if nothing in it needs a second look.
    fn string(&mut self) -> Option<&'j str> {
        let (from, to) = (self.at, plain_end(self.bytes(), self.at));
        self.at = to + 1;
        if *self.bytes().get(to)? == b'"' { self.text.get(from..to) } else { None }
    }

    /// Appends the value that is next. Each kind in its own place: a token that is made first and
    /// moved then waits for its parts to be written.
    fn value(&mut self, name: Name<'j>, out: &mut Tokens<'j>) -> Option<()> {
        let first = self.next_byte()?;
        let from = self.at;
        match first {
            b'"' => {
                self.at += 1;
                match self.string() {
                    Some(string) => out.push((name, Token::String(string))),
                    None => out.push((name, Token::Raw(self.raw(from)?))),
                }
            }
            b'-' | b'0'..=b'9' => match self.decimal() {
                Some((mantissa, scale)) => out.push((name, Token::Decimal { mantissa, scale })),
                None => out.push((name, Token::Raw(self.raw(from)?))),
            },
            b't' => out.push((name, self.word("true", Token::Bool(true))?)),
            b'f' => out.push((name, self.word("false", Token::Bool(false))?)),
            b'n' => out.push((name, self.word("null", Token::Null)?)),
            _ => out.push((name, Token::Raw(self.raw(from)?))),
        }
        Some(())
    }

    fn word(&mut self, word: &str, token: Token<'j>) -> Option<Token<'j>> {
        let rest = self.bytes().get(self.at..)?;
        self.at += word.len();
        rest.starts_with(word.as_bytes()).then_some(token)
    }

    /// A number without an exponent, of few digits, that ends where its value does.
    fn decimal(&mut self) -> Option<(i64, u8)> {
        let is_negative = self.bytes()[self.at] == b'-';
        self.at += usize::from(is_negative);
        let mut mantissa = 0;
        let whole = self.digits(&mut mantissa);
        let starts_wrong = whole > 1 && self.bytes()[self.at - whole] == b'0';
        if whole == 0 || starts_wrong {
            return None;
        }
        let mut places = 0;
        if self.bytes().get(self.at) == Some(&b'.') {
            self.at += 1;
            places = self.digits(&mut mantissa);
            if places == 0 {
                return None;
            }
        }
        let ends = matches!(self.bytes().get(self.at)?, b',' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
        if !ends || whole + places > DIGITS_MAX {
            return None;
        }
        while places > 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            places = if mantissa == 0 { 0 } else { places - 1 };
        }
        Some((if is_negative { -mantissa } else { mantissa }, u8::try_from(places).ok()?))
    }

    /// Reads digits behind those of the mantissa, which is wrong if they are too many; how many.
    fn digits(&mut self, mantissa: &mut i64) -> usize {
        let start = self.at;
        while let Some(word) = self.bytes().get(self.at..).and_then(<[u8]>::first_chunk) {
            let (number, count) = leading_digits(u64::from_le_bytes(*word));
            *mantissa = mantissa.wrapping_mul(POWERS[count]).wrapping_add(number.cast_signed());
            self.at += count;
            if count < WORD_BYTES {
                return self.at - start;
            }
        }
        while let Some(byte @ b'0'..=b'9') = self.bytes().get(self.at) {
            *mantissa = mantissa.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
            self.at += 1;
        }
        self.at - start
    }

    /// The value from there on, checked.
    fn raw(&mut self, from: usize) -> Option<&'j str> {
        let rest = self.text.get(from..)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&'j RawValue>();
        let value = values.next()?.ok()?;
        self.at = from + values.byte_offset();
        Some(value.get())
    }
}

/// The number that the digits from the lowest byte on make, and how many these are. Without a
/// branch, because numbers have any length. (Lemire, "Quickly parsing eight digits", 2018.)
fn leading_digits(word: u64) -> (u64, usize) {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // 0 to 9 where there are digits. What is 10 or more carries into the highest bit of its byte,
    // and no further.
    let offsets = word ^ 0x3030_3030_3030_3030;
    let others = ((offsets & !HIGH) + 0x7676_7676_7676_7676) | offsets;
    let bits = (others & HIGH).trailing_zeros() & !7;
    // Zeros in front, instead of what comes behind.
    let digits = offsets.checked_shl(u64::BITS - bits).unwrap_or_default();
    let twos = digits.wrapping_mul(1 + (10 << 8)) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = twos.wrapping_mul(1 + (100 << 16)) >> 16 & 0x0000_FFFF_0000_FFFF;
    (fours.wrapping_mul(1 + (10_000 << 32)) >> 32, bits as usize / 8)
}

/// Where the first quote, backslash or control character is from `from` on, or the end.
///
/// Eight bytes at a time: of a byte below n, and of no byte before it, `x - n` borrows into the
/// highest bit ("Bit Twiddling Hacks", Sean Eron Anderson: determine if a word has a byte less than
/// n). What is equal to c is 0 once c is taken away bit by bit, so below 1.
fn plain_end(bytes: &[u8], from: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH;
    let rest = bytes.get(from..).unwrap_or_default();
    let (words, tail) = rest.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quote = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = quote | backslash | below(word, b' ');
        if found != 0 {
            return from + index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let special = |byte: &u8| matches!(*byte, b'"' | b'\\' | 0..b' ');
    let tail_at = tail.iter().position(special).unwrap_or(tail.len());
    from + rest.len() - tail.len() + tail_at
}

#[cfg(test)]
mod tests {
    use hadal_types::Number;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_end_of_a_plain_string_is_found_anywhere() {
        for length in 0..40 {
            let plain = "é~ !#[]".chars().cycle().take(length).collect::<String>();
            for special in ["\"", "\\", "\0", "\u{1f}"] {
                for after in ["", "x", "\"\\\u{1}é and more of it"] {
                    let text = format!("é{plain}{special}{after}");
                    assert_eq!(plain_end(text.as_bytes(), 2), 2 + plain.len(), "{text:?}");
                }
            }
            assert_eq!(plain_end(plain.as_bytes(), 0), plain.len());
        }
    }

    #[test]
    fn digits_are_read_wherever_they_end() {
        for text in ["", "1234567", "9876543210", "00000000", "0012", "99999999999999999"] {
            for after in [",", "}", "/", ":", "\u{7f}", "é", ".5", "", ", and more of it"] {
                let text = format!("{text}{after}");
                let count = text.bytes().take_while(u8::is_ascii_digit).count();
                let mut number = 7;
                let mut cursor = Cursor { text: &text, at: 0 };
                assert_eq!(cursor.digits(&mut number), count, "{text}");
                assert_eq!(number.to_string(), format!("7{}", &text[..count]));
            }
        }
    }

    fn shown(text: &str) -> Option<String> {
        let mut found = Vec::new();
        tokens(text, &mut KnownNames::default(), &mut found)?;
        Some(format!("{found:?}"))
    }

    #[test]
    fn memory_is_used_again() {
        let members = Vec::with_capacity(77);
        let object = super::super::Object::read("{\"a\":1}", &mut KnownNames::default(), members);
        let spare = object.expect("an object").into_spare();
        assert_eq!((spare.len(), spare.capacity()), (0, 77));
    }

    #[test]
    fn tokens_are_what_is_written() {
        let text =
            r#" { "a" : -12.50 , "b":"x é", "c":null,"d":true,"e":"\n" ,"f":[1, 2],"g":1e3} "#;
        let mut found = Vec::new();
        tokens(text, &mut KnownNames::default(), &mut found).expect("simple");
        let names: Vec<&str> = found.iter().map(|(name, _)| name.text).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e", "f", "g"]);
        assert!(matches!(found[0].1, Token::Decimal { mantissa: -125, scale: 1 }));
        assert!(matches!(found[1].1, Token::String("x é")));
        assert!(matches!(found[2].1, Token::Null));
        assert!(matches!(found[3].1, Token::Bool(true)));
        for (at, raw) in [(4, "\"\\n\""), (5, "[1, 2]"), (6, "1e3")] {
            assert!(matches!(found[at].1, Token::Raw(own) if own == raw));
        }
        assert_eq!(shown("{}").as_deref(), Some("[]"));
    }

    proptest! {
        /// Whatever has tokens is an object to `serde_json`, with the same names and values.
        #[test]
        fn serde_json_agrees(parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", "a", "\"a\"", "\"b\":", "-", "0", "01", "17",
            ".", ".5", "1e2", "999999999999999999", "1234567890123456789", "true", "null", " ",
            "\n", "\u{1}", "é", "{\"a\":", "\"x\":1", "false}", "nul", "[1,\"\\u00e9\"]", "-0.0",
        ]), 0..9), wrap in any::<bool>(), expected in Just(["k", "a", "b\":", "x", "1"]).prop_shuffle()) {
            let text = parts.concat();
            let text = if wrap { format!("{{\"k\":{text}}}") } else { text };
            let mut names = KnownNames::default();
            for name in expected {
                names.add(name);
            }
            let mut found = Vec::new();
            if tokens(&text, &mut names, &mut found).is_some() {
                let object: super::super::Members<'_> = serde_json::from_str(&text).expect("valid");
                prop_assert_eq!(object.0.len(), found.len());
                for ((own, token), (name, raw)) in found.into_iter().zip(object.0) {
                    prop_assert_eq!(own.text, name.as_ref());
                    let raw = raw.get();
                    match token {
                        Token::Null => prop_assert_eq!(raw, "null"),
                        Token::Bool(truth) => prop_assert_eq!(raw, truth.to_string()),
                        Token::String(string) => prop_assert_eq!(raw, format!("{string:?}")),
                        Token::Decimal { mantissa, scale } => {
                            let (number, is_rounded) = Number::read(raw).expect("a number");
                            prop_assert_eq!(number.to_stored(), Some((mantissa, scale)));
                            prop_assert!(!is_rounded);
                        }
                        Token::Raw(own) => prop_assert_eq!(raw, own),
                    }
                }
            }
        }
    }
}
