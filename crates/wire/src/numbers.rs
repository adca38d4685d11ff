//! Columns of numbers: one integer for each group, as varints of up to 128 bits.

use bytes::Bytes;

use crate::error::{DecodeError, unfit};
use crate::size_guard::MemoryLimit;

/// The most bytes of an integer of 64 bits that are read without wider arithmetic.
const SHORT_BYTES: usize = 9;
/// The most bytes of an integer of 128 bits.
const BYTES_MAX: usize = 19;

/// Encodes integers one after the other.
pub(crate) fn encode(numbers: impl Iterator<Item = u128>) -> Bytes {
    let mut bytes = Vec::with_capacity(numbers.size_hint().0);
    numbers.for_each(|number| push(&mut bytes, number));
    bytes.into()
}

/// Decodes exactly `count` integers. `convert` returns `None` for an integer that cannot be.
pub(crate) fn decode<T>(
    bytes: &[u8],
    count: usize,
    memory: &mut MemoryLimit,
    mut convert: impl FnMut(u128) -> Option<T>,
) -> Result<Vec<T>, DecodeError> {
    // Each takes a byte or more.
    if bytes.len() < count {
        return Err(unfit(format!("{} bytes", bytes.len()), format!("{count} numbers")));
    }
    memory.spend(count, size_of::<T>())?;
    let mut rest = bytes;
    let mut numbers = Vec::with_capacity(count);
    for index in 0..count {
        let Some(number) = read(&mut rest).and_then(&mut convert) else {
            return Err(unfit(format!("bad number {index}"), format!("{count} numbers in range")));
        };
        numbers.push(number);
    }
    match rest.len() {
        0 => Ok(numbers),
        left => Err(unfit(format!("{left} more bytes"), format!("{count} numbers"))),
    }
}

/// How many integers there are.
pub(crate) fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte < 0x80).count()
}

/// Signed integers as others, so that small ones are short: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
pub(crate) const fn zigzag(number: i128) -> u128 {
    ((number << 1) ^ (number >> 127)).cast_unsigned()
}

/// The reverse of [`zigzag`].
pub(crate) const fn of_zigzag(number: u128) -> i128 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

/// Encodes truth values as bits, the lowest of each byte first.
pub(crate) fn encode_bits(bits: &[bool]) -> Bytes {
    let byte = |bits: &[bool]| {
        let bits = bits.iter().enumerate();
        bits.fold(0u8, |byte, (index, bit)| byte | u8::from(*bit) << index)
    };
    bits.chunks(8).map(byte).collect()
}

/// Decodes exactly `count` truth values.
pub(crate) fn decode_bits(
    bytes: &[u8],
    count: usize,
    memory: &mut MemoryLimit,
) -> Result<Vec<bool>, DecodeError> {
    memory.spend(count, size_of::<bool>())?;
    let bits = bytes.iter().flat_map(|byte| (0..8).map(move |index| byte >> index & 1 == 1));
    let is_short = bytes.len() == count.div_ceil(8);
    if !is_short || bits.clone().skip(count).any(|bit| bit) {
        return Err(unfit(format!("bits in {} bytes", bytes.len()), format!("{count} bits")));
    }
    Ok(bits.take(count).collect())
}

fn push(bytes: &mut Vec<u8>, number: u128) {
    let mut wide = number;
    let mut short = loop {
        match u64::try_from(wide) {
            Ok(short) => break short,
            Err(_) => bytes.push(wide.to_le_bytes()[0] | 0x80),
        }
        wide >>= 7;
    };
    while short >= 0x80 {
        bytes.push(short.to_le_bytes()[0] | 0x80);
        short >>= 7;
    }
    bytes.push(short.to_le_bytes()[0]);
}

/// Cuts off and returns the next integer; `None` if there is none of up to 128 bits.
fn read(bytes: &mut &[u8]) -> Option<u128> {
    let mut low = 0u64;
    for (index, &byte) in bytes.iter().enumerate().take(SHORT_BYTES) {
        low |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            *bytes = &bytes[index + 1..];
            return Some(low.into());
        }
    }
    let mut number = u128::from(low);
    for (index, &byte) in bytes.iter().enumerate().take(BYTES_MAX).skip(SHORT_BYTES) {
        let (part, shift) = (u128::from(byte & 0x7f), 7 * index);
        if (part << shift) >> shift != part {
            return None;
        }
        number |= part << shift;
        if byte < 0x80 {
            *bytes = &bytes[index + 1..];
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests;
