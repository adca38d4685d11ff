//! Reads the fields of a JSON object of common form, in one pass over its bytes.
//!
//! The possible ends of strings are marked first, 64 bytes at a time. Names and strings without
//! escapes are slices of the text; integers and short decimals are parsed directly. Any other value
//! is left to `serde_json`, which finds its end and checks it. If the text is not JSON, or a name
//! has an escape, the pass stops; `serde_json` then reads the whole text and reports the error.
//! This pass therefore needs no messages, and it is correct if it accepts only what `serde_json`
//! accepts.
//!
//! Values are pushed as they are parsed. A value that is refused is kept for later, and so are all
//! values after it, because the first of two values with one name counts.

use hadal_encoding::kernels::mark_delimiters;
use hadal_types::limits::ROW_FIELDS_MAX;
use serde_json::value::RawValue;

use super::{Pushed, RowSink};
use crate::name_cache::NameId;

/// Digits that always fit an `i64` and the scale of a stored decimal.
const DIGITS_MAX: usize = 18;
const WORD_BYTES: usize = 8;
/// Powers of ten, up to as many digits as a word has.
const POWERS: [i64; WORD_BYTES + 1] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// One value of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token<'j> {
    Null,
    Bool(bool),
    /// A number in lowest terms: if the scale is not 0, the mantissa's last digit is not zero.
    Decimal {
        mantissa: i64,
        scale: u8,
    },
    /// A string without escapes.
    String(&'j str),
    /// Any other value, as written.
    Raw(&'j str),
}

/// The names and values of an object's members, in order.
pub(super) type Tokens<'j> = Vec<(Name<'j>, Token<'j>)>;

/// A name, and its id if it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'j> {
    pub(super) text: &'j str,
    pub(super) id: Option<NameId>,
}

/// The members of an object, by how they were handled.
#[derive(Debug, Default)]
pub(super) struct FastFields<'j> {
    /// The number of members that were taken at once.
    pub(super) taken: usize,
    /// The other members.
    pub(super) others: Tokens<'j>,
    /// Whether no further member is pushed.
    is_closed: bool,
}

impl<'j> FastFields<'j> {
    /// Starts empty, reusing the memory of `others`.
    pub(super) fn new(others: Tokens<'j>) -> Self {
        Self { taken: 0, others, is_closed: false }
    }

    #[inline(always)]
    fn add(&mut self, name: Name<'j>, token: Token<'j>, sink: &mut (impl RowSink<'j> + ?Sized)) {
        let pushed = match name.id {
            Some(id) if !self.is_closed && self.taken < ROW_FIELDS_MAX => sink.push_fast(id, token),
            _ => Pushed::Refused,
        };
        if pushed == Pushed::Done {
            self.taken += 1;
            return;
        }
        self.is_closed |= pushed == Pushed::Refused;
        self.others.push((name, token));
    }
}

/// Offers `sink` the name and value of each member of an object; `None` if the text needs the full
/// parser. Reuses the memory of `marks`.
pub(super) fn tokens<'j>(
    text: &'j str,
    marks: &mut Vec<u64>,
    fast: &mut FastFields<'j>,
    sink: &mut (impl RowSink<'j> + ?Sized),
) -> Option<()> {
    sink.names().begin_row();
    let words = text.len().div_ceil(64);
    if marks.len() < words {
        marks.resize(words, 0);
    }
    mark_delimiters(text.as_bytes(), &mut marks[..words]);
    let mut cursor = Cursor { text, at: 0, marks: &marks[..words] };
    cursor.expect(b'{')?;
    if cursor.next_byte()? == b'}' {
        cursor.at += 1;
    } else {
        loop {
            cursor.next_byte()?;
            let name = cursor.name(sink)?;
            cursor.value(name, fast, sink)?;
            match cursor.take()? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
    }
    cursor.next_byte().is_none().then_some(())
}

struct Cursor<'j, 'm> {
    text: &'j str,
    at: usize,
    /// One bit per byte: see [`mark_delimiters`].
    marks: &'m [u64],
}

impl<'j> Cursor<'j, '_> {
    fn bytes(&self) -> &'j [u8] {
        self.text.as_bytes()
    }

    /// The next byte that is not white space, without taking it; `None` at the end.
    #[inline(always)]
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            match *self.bytes().get(self.at)? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    #[inline(always)]
    fn take(&mut self) -> Option<u8> {
        let byte = self.next_byte()?;
        self.at += 1;
        Some(byte)
    }

    fn expect(&mut self, expected: u8) -> Option<()> {
        (self.take()? == expected).then_some(())
    }

    /// Takes the next name and the colon after it.
    #[inline(always)]
    fn name(&mut self, sink: &mut (impl RowSink<'j> + ?Sized)) -> Option<Name<'j>> {
        let start = self.at + 1;
        if let Some((id, length)) = sink.names().expected(self.bytes().get(self.at..)?) {
            self.at += length;
            let text = self.text.get(start..self.at - 2)?;
            return Some(Name { text, id: Some(id) });
        }
        self.expect(b'"')?;
        let text = self.string()?;
        self.expect(b':')?;
        Some(Name { text, id: sink.names().find(text) })
    }

    /// Takes the rest of a string after its opening quote; `None` if it has escapes or control
    /// characters.
    #[inline(always)]
    fn string(&mut self) -> Option<&'j str> {
        let (from, to) = (self.at, self.special_from(self.at));
        self.at = to + 1;
        if *self.bytes().get(to)? == b'"' { self.text.get(from..to) } else { None }
    }

    /// The position of the first marked byte at or after `from`; the end of the text or beyond if
    /// there is none.
    #[inline(always)]
    fn special_from(&self, from: usize) -> usize {
        let mut word = from / 64;
        let mut marks = self.marks.get(word).map_or(0, |marks| marks >> (from % 64) << (from % 64));
        while marks == 0 {
            word += 1;
            let Some(next) = self.marks.get(word) else { return self.text.len() };
            marks = *next;
        }
        64 * word + marks.trailing_zeros() as usize
    }

    /// Offers the next value. Each kind has its own call of `add`: a token that is made first and
    /// then moved would wait for the writes of its parts.
    #[inline(always)]
    fn value(
        &mut self,
        name: Name<'j>,
        out: &mut FastFields<'j>,
        sink: &mut (impl RowSink<'j> + ?Sized),
    ) -> Option<()> {
        let first = self.next_byte()?;
        let from = self.at;
        match first {
            b'"' => {
                self.at += 1;
                match self.string() {
                    Some(string) => out.add(name, Token::String(string), sink),
                    None => out.add(name, Token::Raw(self.raw(from)?), sink),
                }
            }
            b'-' | b'0'..=b'9' => match self.decimal() {
                Some((mantissa, scale)) => out.add(name, Token::Decimal { mantissa, scale }, sink),
                None => out.add(name, Token::Raw(self.raw(from)?), sink),
            },
            b't' => out.add(name, self.word("true", Token::Bool(true))?, sink),
            b'f' => out.add(name, self.word("false", Token::Bool(false))?, sink),
            b'n' => drop(self.word("null", Token::Null)?),
            _ => out.add(name, Token::Raw(self.raw(from)?), sink),
        }
        Some(())
    }

    fn word(&mut self, word: &str, token: Token<'j>) -> Option<Token<'j>> {
        let rest = self.bytes().get(self.at..)?;
        self.at += word.len();
        rest.starts_with(word.as_bytes()).then_some(token)
    }

    /// Parses a number with few digits and without an exponent, followed by the end of its value.
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

    /// Appends digits to the mantissa and returns their number. The mantissa is wrong if there are
    /// too many.
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

    /// Parses any value at `from` with `serde_json`, which checks it.
    fn raw(&mut self, from: usize) -> Option<&'j str> {
        let rest = self.text.get(from..)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&'j RawValue>();
        let value = values.next()?.ok()?;
        self.at = from + values.byte_offset();
        Some(value.get())
    }
}

/// The number formed by the digits from the lowest byte on, and their count. Branchless, because
/// numbers vary in length. (Lemire, "Quickly parsing eight digits", 2018.)
fn leading_digits(word: u64) -> (u64, usize) {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Digits become 0 to 9. A byte of 10 or more carries into its own highest bit and no further.
    let offsets = word ^ 0x3030_3030_3030_3030;
    let others = ((offsets & !HIGH) + 0x7676_7676_7676_7676) | offsets;
    let bits = (others & HIGH).trailing_zeros() & !7;
    // Shifts the bytes after the digits out; zeros come in at the front.
    let digits = offsets.checked_shl(u64::BITS - bits).unwrap_or_default();
    let twos = digits.wrapping_mul(1 + (10 << 8)) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = twos.wrapping_mul(1 + (100 << 16)) >> 16 & 0x0000_FFFF_0000_FFFF;
    (fours.wrapping_mul(1 + (10_000 << 32)) >> 32, bits as usize / 8)
}

#[cfg(test)]
mod tests {
    use hadal_types::Number;
    use proptest::prelude::*;

    use super::*;
    use crate::json::Field;
    use crate::name_cache::NameCache;

    #[test]
    fn the_end_of_a_plain_string_is_found_anywhere() {
        for length in 0..150 {
            let plain = "é~ !#[]".chars().cycle().take(length).collect::<String>();
            for special in ["\"", "\\", "\0", "\u{1f}"] {
                for after in ["", "x", "\"\\\u{1}é and more of it"] {
                    let text = format!("é{plain}{special}{after}");
                    let marks = marks_of(&text);
                    let cursor = Cursor { text: &text, at: 0, marks: &marks };
                    assert_eq!(cursor.special_from(2), 2 + plain.len(), "{text:?}");
                    let from = 2 + plain.len();
                    assert_eq!(cursor.special_from(from), from, "{text:?}");
                }
            }
            let cursor = Cursor { text: &plain, at: 0, marks: &marks_of(&plain) };
            assert_eq!(cursor.special_from(0), plain.len());
            assert_eq!(cursor.special_from(plain.len()), plain.len());
        }
    }

    fn marks_of(text: &str) -> Vec<u64> {
        let mut marks = vec![0; text.len().div_ceil(64)];
        mark_delimiters(text.as_bytes(), &mut marks);
        marks
    }

    /// Returns the prepared results, the last first; refuses all further pushes.
    #[derive(Default)]
    struct Names {
        names: NameCache,
        taken: Vec<(NameId, String)>,
        pushes: Vec<Pushed>,
    }

    impl<'j> RowSink<'j> for Names {
        fn names(&mut self) -> &mut NameCache {
            &mut self.names
        }

        fn push_fast(&mut self, name: NameId, token: Token<'j>) -> Pushed {
            let pushed = self.pushes.pop().unwrap_or(Pushed::Refused);
            if pushed == Pushed::Done {
                self.taken.push((name, format!("{token:?}")));
            }
            pushed
        }

        fn field(
            &mut self,
            _name: &str,
            _name_id: Option<NameId>,
            _field: &Field<'j>,
        ) -> Result<(), String> {
            Ok(())
        }
    }

    fn read<'j>(text: &'j str, names: &mut Names) -> Option<FastFields<'j>> {
        let mut fast = FastFields::default();
        // The marks of an earlier, longer text.
        tokens(text, &mut vec![7; 9], &mut fast, names).map(|()| fast)
    }

    #[test]
    fn what_is_not_taken_at_once_is_kept_and_all_behind_it() {
        let mut names = Names::default();
        let ids: Vec<NameId> = ["a", "b", "c"].map(|name| names.names.add(name)).into();
        names.pushes =
            vec![Pushed::Done, Pushed::Refused, Pushed::Done, Pushed::Deferred, Pushed::Done];
        let text = "{\"a\":1,\"b\":\"x\",\"c\":true,\"a\":2,\"b\":3,\"c\":4}";
        let fast = read(text, &mut names).expect("simple");
        assert_eq!((fast.taken, names.pushes.len()), (2, 1));
        let taken: Vec<NameId> = names.taken.iter().map(|(id, _)| *id).collect();
        assert_eq!(taken, [ids[0], ids[2]]);
        let others: Vec<&str> = fast.others.iter().map(|(name, _)| name.text).collect();
        assert_eq!(others, ["b", "a", "b", "c"]);
        // A new name.
        names.pushes = vec![Pushed::Done; 3];
        let fast = read("{\"a\":1,\"d\":1,\"b\":1}", &mut names).expect("simple");
        assert_eq!((fast.taken, fast.others.len()), (1, 2));
    }

    #[test]
    fn digits_are_read_wherever_they_end() {
        for text in ["", "1234567", "9876543210", "00000000", "0012", "99999999999999999"] {
            for after in [",", "}", "/", ":", "\u{7f}", "é", ".5", "", ", and more of it"] {
                let text = format!("{text}{after}");
                let count = text.bytes().take_while(u8::is_ascii_digit).count();
                let mut number = 7;
                let mut cursor = Cursor { text: &text, at: 0, marks: &[] };
                assert_eq!(cursor.digits(&mut number), count, "{text}");
                assert_eq!(number.to_string(), format!("7{}", &text[..count]));
            }
        }
    }

    #[test]
    fn tokens_are_what_is_written() {
        let text =
            r#" { "a" : -12.50 , "b":"x é", "c":null,"d":true,"e":"\n" ,"f":[1, 2],"g":1e3} "#;
        let members = read(text, &mut Names::default()).expect("simple").others;
        let names: Vec<&str> = members.iter().map(|(name, _)| name.text).collect();
        assert_eq!(names, ["a", "b", "d", "e", "f", "g"]);
        assert!(matches!(members[0].1, Token::Decimal { mantissa: -125, scale: 1 }));
        assert!(matches!(members[1].1, Token::String("x é")));
        assert!(matches!(members[2].1, Token::Bool(true)));
        for (at, raw) in [(3, "\"\\n\""), (4, "[1, 2]"), (5, "1e3")] {
            assert!(matches!(members[at].1, Token::Raw(text) if text == raw));
        }
        assert!(read("{}", &mut Names::default()).expect("empty").others.is_empty());
    }

    proptest! {
        /// A text that has tokens is an object to `serde_json` too, with the same names and values.
        #[test]
        fn serde_json_agrees(parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", "a", "\"a\"", "\"b\":", "-", "0", "01", "17",
            ".", ".5", "1e2", "999999999999999999", "1234567890123456789", "true", "null", " ",
            "\n", "\u{1}", "é", "{\"a\":", "\"x\":1", "false}", "nul", "[1,\"\\u00e9\"]", "-0.0",
        ]), 0..9), wrap in any::<bool>(), expected in Just(["k", "a", "b\":", "x", "1"]).prop_shuffle()) {
            let text = parts.concat();
            let text = if wrap { format!("{{\"k\":{text}}}") } else { text };
            let mut names = Names::default();
            for name in expected {
                names.names.add(name);
            }
            if let Some(FastFields { others: members, .. }) = read(&text, &mut names) {
                let object: super::super::Members<'_> = serde_json::from_str(&text).expect("valid");
                let fields = object.0.into_iter().filter(|(_, raw)| raw.get() != "null");
                prop_assert_eq!(fields.clone().count(), members.len());
                for ((member, token), (name, raw)) in members.into_iter().zip(fields) {
                    prop_assert_eq!(member.text, name.as_ref());
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
                        Token::Raw(text) => prop_assert_eq!(raw, text),
                    }
                }
            }
        }
    }
}
