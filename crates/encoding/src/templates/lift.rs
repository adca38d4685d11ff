//! Lifts numbers out of a string.

use super::{HEX, NUMBER, NUMBER_DIGITS_MAX, NUMBER_LIMIT, is_placeholder};

/// Maximum digits of a hexadecimal number.
const HEX_DIGITS_MAX: usize = 16;
/// Words of fewer hexadecimal digits are more likely text.
const HEX_WORD_MIN: usize = 4;

/// Which digits are lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// Runs of decimal digits.
    Decimal,
    /// Words of four or more lower-case hexadecimal digits, as in UUIDs and hashes; from other
    /// words, runs of decimal digits.
    Hexadecimal,
}

/// Appends the template of `text`, with placeholders, to `template`, and the lifted numbers to
/// `numbers`. Returns `false` without appending if the text contains a placeholder byte: then its
/// column cannot be stored as templates.
#[must_use]
pub fn lift(text: &str, digits: Digits, template: &mut Vec<u8>, numbers: &mut Vec<i64>) -> bool {
    let mut rest = text.as_bytes();
    // Placeholders are control characters, and most texts have none.
    let has_control = rest.iter().fold(u8::MAX, |least, &byte| least.min(byte)) < b' ';
    if has_control && rest.iter().any(|&byte| is_placeholder(byte)) {
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

/// Whether no part of `literal` is ever lifted, wherever it occurs in a text: so a text contains it
/// if and only if its template does. `has_hex` returns whether words of hexadecimal digits may have
/// been lifted.
pub(super) fn is_kept(literal: &str, has_hex: impl FnOnce() -> bool) -> bool {
    let bytes = literal.as_bytes();
    if bytes.iter().any(|&byte| byte.is_ascii_digit() || is_placeholder(byte)) {
        return false;
    }
    let mut words = bytes.split(|&byte| !is_word(byte)).filter(|word| !word.is_empty());
    let may_be_in_hex = words.any(|word| word.iter().all(u8::is_ascii_hexdigit));
    !(may_be_in_hex && has_hex())
}

/// Whether lifting a run of decimal digits gives this number and placeholder. A placeholder with a
/// fixed number of digits requires a leading zero.
#[inline]
pub(super) fn is_formed(placeholder: u8, number: u64) -> bool {
    const SIXES: u64 = 0x0666_6666_6666_6666;
    const CARRIES: u64 = 0x1111_1111_1111_1110;
    if placeholder == NUMBER {
        return number < NUMBER_LIMIT;
    }
    // Hexadecimal letters carry into the next digit.
    placeholder > HEX
        && number >> (4 * u32::from(placeholder - HEX)) == 0
        && (number.wrapping_add(SIXES) ^ number ^ SIXES) & CARRIES == 0
}

fn lift_decimals(text: &[u8], template: &mut Vec<u8>, numbers: &mut Vec<i64>) {
    let mut rest = text;
    loop {
        let (between, after) = rest.split_at(next_digit(rest));
        template.extend_from_slice(between);
        if after.is_empty() {
            return;
        }
        let (number, count) = number_of(after);
        let has_zero = after[0] == b'0' && count > 1;
        let (run, after) = after.split_at(count);
        rest = after;
        if has_zero || count > NUMBER_DIGITS_MAX {
            lift_long(run, template, numbers);
        } else {
            template.push(NUMBER);
            numbers.push(number.cast_signed());
        }
    }
}

/// Lifts digits that are not one number: with leading zeros, or too many.
fn lift_long(digits: &[u8], template: &mut Vec<u8>, numbers: &mut Vec<i64>) {
    let mut rest = digits;
    while !rest.is_empty() {
        let has_zero = rest[0] == b'0' && rest.len() > 1;
        let most = if has_zero { HEX_DIGITS_MAX } else { NUMBER_DIGITS_MAX };
        let (digits, after) = rest.split_at(rest.len().min(most));
        rest = after;
        if has_zero {
            lift_hex(digits, template, numbers);
        } else {
            template.push(NUMBER);
            numbers.push(number_of(digits).0.cast_signed());
        }
    }
}

/// The value of the leading decimal digits, modulo 2^64, and their number.
fn number_of(bytes: &[u8]) -> (u64, usize) {
    let (mut number, mut count) = (0u64, 0);
    while let Some(digit) = bytes.get(count).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        number = number.wrapping_mul(10).wrapping_add(digit.into());
        count += 1;
    }
    (number, count)
}

/// The position of the first decimal digit, or the end. Tests eight bytes at a time.
fn next_digit(bytes: &[u8]) -> usize {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        // 0 to 9 if the byte is a digit. A value of 10 or more carries into the highest bit of its
        // byte, and no further.
        let offsets = u64::from_le_bytes(*word) ^ 0x3030_3030_3030_3030;
        let others = ((offsets & !HIGH) + 0x7676_7676_7676_7676) | offsets;
        let digits = !others & HIGH;
        if digits != 0 {
            return index * 8 + digits.trailing_zeros() as usize / 8;
        }
    }
    let in_tail = tail.iter().position(u8::is_ascii_digit).unwrap_or(tail.len());
    words.len() * 8 + in_tail
}

/// Lifts one to sixteen lower-case hexadecimal digits.
fn lift_hex(digits: &[u8], template: &mut Vec<u8>, numbers: &mut Vec<i64>) {
    // The low four bits of a letter count from 1.
    let value = |digit: u8| (digit & 15) + 9 * (digit >> 6);
    let digit = |number: u64, &digit: &u8| number << 4 | u64::from(value(digit));
    #[expect(clippy::cast_possible_truncation, reason = "at most sixteen")]
    template.push(HEX + digits.len() as u8 - 1);
    numbers.push(digits.iter().fold(0, digit).cast_signed());
}

fn is_hexadecimal(word: &[u8]) -> bool {
    word.len() >= HEX_WORD_MIN
        && word.iter().all(|&byte| CLASSES[usize::from(byte)] & HEX_DIGIT != 0)
}

fn is_word(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & WORD != 0
}

/// A byte of a word: a letter, a digit, `_`, or a byte that is not ASCII.
const WORD: u8 = 1;
/// A lower-case hexadecimal digit.
const HEX_DIGIT: u8 = 2;

/// The classes of each byte.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let is = byte as u8;
        if is.is_ascii_alphanumeric() || is == b'_' || !is.is_ascii() {
            classes[byte] |= WORD;
        }
        if matches!(is, b'0'..=b'9' | b'a'..=b'f') {
            classes[byte] |= HEX_DIGIT;
        }
        byte += 1;
    }
    classes
};

/// The bytes before the first byte for which `is` holds, and the bytes from it on.
fn split_where(bytes: &[u8], is: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(|&byte| is(byte)).unwrap_or(bytes.len()))
}
