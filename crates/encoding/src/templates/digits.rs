//! Formats numbers as digits, eight at a time: each byte of a word becomes one digit, in a few
//! arithmetic steps on the whole word (Lemire, "Converting integers to fixed-width strings faster",
//! 2021).

/// Digits per word, decimal or hexadecimal.
const EIGHT: usize = 8;
/// 10^8.
const EIGHT_DIGITS: u64 = 100_000_000;
/// "0" in every byte.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Writes the decimal digits of a number, without leading zeros, and possibly other bytes after
/// them; returns the number of digits.
///
/// # Panics
/// When `out` has fewer than 24 bytes.
#[inline]
pub(super) fn write_decimal(number: u64, out: &mut [u8]) -> usize {
    // The count is computed first, so that later writes need not wait for the digits.
    let count = digit_count(number);
    if count <= EIGHT {
        write_first(number, count, out);
    } else if count <= 2 * EIGHT {
        write_first(number / EIGHT_DIGITS, count - EIGHT, out);
        write_eight(number % EIGHT_DIGITS, &mut out[count - EIGHT..]);
    } else {
        let high = number / EIGHT_DIGITS;
        write_first(high / EIGHT_DIGITS, count - 2 * EIGHT, out);
        write_eight(high % EIGHT_DIGITS, &mut out[count - 2 * EIGHT..]);
        write_eight(number % EIGHT_DIGITS, &mut out[count - EIGHT..]);
    }
    count
}

/// How many decimal digits a number has.
fn digit_count(number: u64) -> usize {
    const POWERS: [u64; 20] = powers();
    // No power of ten is odd except 1, so setting the lowest bit keeps the number of digits; and 0
    // has one.
    let odd = number | 1;
    // 1233 / 4096 is slightly above log10(2).
    let least = ((u64::BITS - odd.leading_zeros()) * 1_233 / 4_096) as usize;
    least + usize::from(odd >= POWERS[least])
}

const fn powers() -> [u64; 20] {
    let mut powers = [1; 20];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = powers[exponent - 1] * 10;
        exponent += 1;
    }
    powers
}

/// Writes the last one to eight digits of a number below 10^8.
fn write_first(number: u64, count: usize, out: &mut [u8]) {
    let digits = (eight_decimals(number) | ZEROS) >> (8 * (EIGHT - count));
    out[..EIGHT].copy_from_slice(&digits.to_le_bytes());
}

fn write_eight(number: u64, out: &mut [u8]) {
    let digits = eight_decimals(number) | ZEROS;
    out[..EIGHT].copy_from_slice(&digits.to_le_bytes());
}

/// Writes the lowest one to sixteen hexadecimal digits of a number, and possibly other bytes after
/// them.
///
/// # Panics
/// When `out` has fewer than 16 bytes, or `digits` is above 16.
#[inline]
pub(super) fn write_hex(number: u64, digits: usize, out: &mut [u8]) {
    let (high, low) =
        (eight_hexadecimals(number >> 32), eight_hexadecimals(number & u64::from(u32::MAX)));
    let all = (u128::from(low) << 64) | u128::from(high);
    let text = all >> (8 * (2 * EIGHT - digits));
    out[..2 * EIGHT].copy_from_slice(&text.to_le_bytes());
}

/// The digits of a number below 10^8, the first digit in the lowest byte.
fn eight_decimals(number: u64) -> u64 {
    // Two numbers of four digits, then four of two, then eight of one. Multiplication replaces
    // division; it is exact for numbers this small.
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | ((twos - 10 * tens) << 8)
}

/// The text of the digits of a number below 2^32, the first digit in the lowest byte.
fn eight_hexadecimals(number: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let bytes = number.swap_bytes() >> 32;
    let pairs = (bytes | (bytes << 16)) & 0x0000_FFFF_0000_FFFF;
    let bytes = (pairs | (pairs << 8)) & 0x00FF_00FF_00FF_00FF;
    let digits = ((bytes >> 4) & 0x000F_000F_000F_000F) | ((bytes & 0x000F_000F_000F_000F) << 8);
    // 1 if a digit is a letter; letters come 39 positions after the decimal digits.
    let letters = ((digits + 6 * ONES) >> 4) & ONES;
    digits + ZEROS + letters * u64::from(b'a' - b'0' - 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_as_the_library_writes(number: u64) {
        let mut out = [0; 40];
        let length = write_decimal(number, &mut out);
        assert_eq!(out[..length], *number.to_string().as_bytes());
        for digits in 1..=16 {
            write_hex(number, digits, &mut out);
            let text = format!("{number:016x}");
            assert_eq!(out[..digits], text.as_bytes()[16 - digits..]);
        }
    }

    #[test]
    fn edges_are_written() {
        (0..20_000).for_each(assert_as_the_library_writes);
        for exponent in 0..20 {
            let power = 10u64.pow(exponent);
            [power - 1, power, power + 1, power / 10 * 9]
                .into_iter()
                .for_each(assert_as_the_library_writes);
        }
        for bits in 0..64 {
            [(1 << bits) - 1, 1 << bits, u64::MAX >> bits]
                .into_iter()
                .for_each(assert_as_the_library_writes);
        }
    }

    #[test]
    fn every_four_digits_are_right() {
        // All values that two halves of eight digits can have: the halves are independent.
        for four in 0..10_000 {
            assert_as_the_library_writes(four * 10_000 + four);
            assert_as_the_library_writes((four << 16) | four);
        }
    }

    proptest! {
        #[test]
        fn any_number_is_written(number in any::<u64>(), bits in 0u32..64) {
            assert_as_the_library_writes(number >> bits);
        }
    }
}
