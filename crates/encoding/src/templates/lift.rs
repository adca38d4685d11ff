//! Taking numbers out of a string.

use super::{HEX, NUMBER, NUMBER_DIGITS_MAX, is_placeholder};

/// Digits that a hexadecimal number has at most.
const HEX_DIGITS_MAX: usize = 16;
/// Words of fewer hexadecimal digits are rather words.
const HEX_WORD_MIN: usize = 4;

/// What is lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// Runs of decimal digits.
    Decimal,
    /// Words of four or more lower-case hexadecimal digits, as in UUIDs and hashes; in other words
    /// runs of decimal digits.
    Hexadecimal,
}

/// Appends what remains of `text`, with placeholders in it, to `template`, and what was lifted to
/// `numbers`. Returns `false`, with nothing appended, where the text has a byte that is a
/// placeholder: then its column cannot be stored in this way.
#[must_use]
pub fn lift(text: &str, digits: Digits, template: &mut Vec<u8>, numbers: &mut Vec<i64>) -> bool {
    let mut rest = text.as_bytes();
    if rest.iter().any(|&byte| is_placeholder(byte)) {
        return false;
    }
    if digits == Digits::Decimal {
        lift_decimals(rest, template, numbers);
        return true;
    }
    while !rest.is_empty() {
        let (word, after) = split_where(rest, |byte| !is_word(byte));
        if is_hexadecimal(word) {
            word.chunks(HEX_DIGITS_MAX).for_each(|chunk| lift_hex(chunk, template, numbers));
        } else {
            lift_decimals(word, template, numbers);
        }
        let (between, after) = split_where(after, is_word);
        template.extend_from_slice(between);
        rest = after;
    }
    true
}

/// Whether all that is lifted from a text which contains `literal` lies outside of it, wherever it
/// stands: so that the text's template contains it, too.
pub(super) fn is_kept(literal: &str, has_hex: bool) -> bool {
    let bytes = literal.as_bytes();
    let is_lifted = |&byte: &u8| byte.is_ascii_digit() || is_placeholder(byte);
    let words = || bytes.split(|&byte| !is_word(byte)).filter(|word| !word.is_empty());
    !bytes.iter().any(is_lifted)
        && (!has_hex || !words().any(|word| word.iter().all(u8::is_ascii_hexdigit)))
}

fn lift_decimals(text: &[u8], template: &mut Vec<u8>, numbers: &mut Vec<i64>) {
    let mut rest = text;
    while !rest.is_empty() {
        let (between, after) = split_where(rest, |byte| byte.is_ascii_digit());
        template.extend_from_slice(between);
        let (mut run, after) = split_where(after, |byte| !byte.is_ascii_digit());
        rest = after;
        while !run.is_empty() {
            let has_zero = run[0] == b'0' && run.len() > 1;
            let most = if has_zero { HEX_DIGITS_MAX } else { NUMBER_DIGITS_MAX };
            let (digits, after) = run.split_at(run.len().min(most));
            run = after;
            if has_zero {
                lift_hex(digits, template, numbers);
            } else {
                template.push(NUMBER);
                let digit = |number, &digit: &u8| number * 10 + i64::from(digit - b'0');
                numbers.push(digits.iter().fold(0, digit));
            }
        }
    }
}

/// Lifts one to sixteen lower-case hexadecimal digits.
fn lift_hex(digits: &[u8], template: &mut Vec<u8>, numbers: &mut Vec<i64>) {
    let value = |digit: u8| if digit <= b'9' { digit - b'0' } else { digit - b'a' + 10 };
    let digit = |number: u64, &digit: &u8| number << 4 | u64::from(value(digit));
    #[expect(clippy::cast_possible_truncation, reason = "at most sixteen")]
    template.push(HEX + digits.len() as u8 - 1);
    numbers.push(digits.iter().fold(0, digit).cast_signed());
}

fn is_hexadecimal(word: &[u8]) -> bool {
    word.len() >= HEX_WORD_MIN && word.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The bytes before the first that `is` one, and the bytes from it on.
fn split_where(bytes: &[u8], is: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(|&byte| is(byte)).unwrap_or(bytes.len()))
}
