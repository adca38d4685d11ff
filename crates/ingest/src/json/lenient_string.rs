//! Rewrites a string of almost JSON as a string of JSON.

use super::repaired::{Fault, Repaired};

/// The number of hexadecimal digits after `\u`.
const HEX_DIGITS: usize = 4;

/// Appends the string that begins with a quote at `from` to `object`. Returns the position after
/// its closing quote.
///
/// # Errors
/// [`Fault`] if the string does not end, or has an escape of unknown meaning.
pub(super) fn string(text: &str, from: usize, object: &mut Repaired) -> Result<usize, Fault> {
    let bytes = text.as_bytes();
    let quote = bytes.get(from).copied().unwrap_or(b'"');
    object.is_lenient |= quote == b'\'';
    object.text.push('"');
    let (mut at, mut plain_from) = (from + 1, from + 1);
    loop {
        let Some(&byte) = bytes.get(at) else {
            return Err(Fault::new("the object does not end", text.len()));
        };
        let is_plain = byte >= b' ' && !matches!(byte, b'"' | b'\'' | b'\\');
        if is_plain || (byte == b'\'' && quote == b'"') {
            at += 1;
            continue;
        }
        object.text.push_str(text.get(plain_from..at).unwrap_or_default());
        if byte == quote {
            object.text.push('"');
            return Ok(at + 1);
        }
        at = match byte {
            b'\\' => escape(text, at, object)?,
            b'"' => {
                object.text.push_str("\\\"");
                at + 1
            }
            control => {
                object.text.push_str(&format!("\\u{control:04x}"));
                object.is_lenient = true;
                at + 1
            }
        };
        plain_from = at;
    }
}

/// Appends the escape that begins with a backslash at `at`, and returns the position after it.
fn escape(text: &str, at: usize, object: &mut Repaired) -> Result<usize, Fault> {
    let bytes = text.as_bytes();
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
            object.text.push_str(&text[at..at + 2]);
            Ok(at + 2)
        }
        Some(b'\'') => {
            object.text.push('\'');
            object.is_lenient = true;
            Ok(at + 2)
        }
        Some(b'x') => {
            let digits = text.get(at + 2..at + 4).filter(|digits| is_hex(digits));
            let digits = digits.ok_or_else(|| Fault::new("invalid escape", at))?;
            object.text.push_str(&format!("\\u00{digits}"));
            object.is_lenient = true;
            Ok(at + 4)
        }
        Some(b'u') => {
            let unit = unit(text, at).ok_or_else(|| Fault::new("invalid escape", at))?;
            let (length, is_character) = match unit {
                0xD800..0xDC00 => match unit_low(text, at + 2 + HEX_DIGITS) {
                    true => (2 * (2 + HEX_DIGITS), true),
                    false => (2 + HEX_DIGITS, false),
                },
                0xDC00..0xE000 => (2 + HEX_DIGITS, false),
                _ => (2 + HEX_DIGITS, true),
            };
            let written = text.get(at..at + length).filter(|_| is_character);
            object.text.push_str(written.unwrap_or("\u{fffd}"));
            object.lone_surrogates += u64::from(!is_character);
            Ok(at + length)
        }
        _ => Err(Fault::new("invalid escape", at)),
    }
}

fn is_hex(digits: &str) -> bool {
    digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// The UTF-16 code unit of the escape `\uXXXX` at `at`.
fn unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..)?.strip_prefix("\\u")?.get(..HEX_DIGITS)?;
    is_hex(digits).then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// Whether the second half of a surrogate pair stands at `at`.
fn unit_low(text: &str, at: usize) -> bool {
    unit(text, at).is_some_and(|unit| (0xDC00..0xE000).contains(&unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Repaired, Fault> {
        let mut object = Repaired::default();
        let end = string(text, 0, &mut object)?;
        assert_eq!(end, text.len(), "{text}");
        Ok(object)
    }

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        for (text, expected, count) in [
            (r#""cut \ud83d""#, "cut \u{fffd}", 1),
            (r#""\ud83d\ude00""#, "\u{1f600}", 0),
            (r#""\udc00 low""#, "\u{fffd} low", 1),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}", 1),
            (r#""\ud83dx\n\u00e9""#, "\u{fffd}x\n\u{e9}", 1),
            (r#""\ud83d\u0041""#, "\u{fffd}A", 1),
        ] {
            let object = read(text).expect(text);
            let value: String = serde_json::from_str(&object.text).expect("strict");
            assert_eq!((value.as_str(), object.lone_surrogates), (expected, count), "{text}");
            assert!(!object.is_lenient);
        }
    }

    #[test]
    fn other_escapes_and_quotes_are_rewritten() {
        for (text, expected) in [
            (r"'it\'s'", "it's"),
            ("'say \"x\"'", "say \"x\""),
            (r#""\x41\'""#, "A'"),
            ("\"tab\tline\nend\"", "tab\tline\nend"),
            ("\"it's\"", "it's"),
        ] {
            let object = read(text).expect(text);
            let value: String = serde_json::from_str(&object.text).expect("strict");
            assert_eq!(value, expected);
        }
        for bad in [r#""\d""#, r#""\u12""#, r#""\xé""#, "\"no end", "\"\\", r#""\u00é0""#] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
