//! A random number for each row of a block, which does not depend on how often or where the block
//! is scanned. So the rows with the smallest numbers are a uniform sample that can be merged from
//! parts.
//!
//! The numbers are those of `SplitMix64` (Steele, Lea and Flood 2014), started from the seed of the
//! query and the checksum of the block's front.

use std::rc::Rc;

use hadal_block::BlockView;
use hadal_types::{Logical, Value};

use crate::column::column_values::{Numbers, decimal_value};
use crate::column::decimals::MantissaColumn;

/// Digits after the point of the numbers. Doubles, as JSON has them, hold as many.
const DIGITS: u8 = 15;
/// The number of different numbers.
const COUNT: u128 = 10_u128.pow(DIGITS as u32);
/// The step of the generator's state.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The number of each row, from 0 to below 1.
pub(crate) fn numbers(block: &BlockView<'_>, seed: i64) -> Numbers {
    let mantissas = (0..block.rows()).map(mantissas(block, seed)).collect();
    Numbers {
        mantissas: MantissaColumn::Plain(Rc::new(mantissas)),
        scale: DIGITS,
        logical: Logical::Plain,
        valid: None,
    }
}

/// The number of one row.
pub(crate) fn values(block: &BlockView<'_>, seed: i64) -> impl Fn(usize) -> Value + use<> {
    let mantissas = mantissas(block, seed);
    move |row| decimal_value(mantissas(row), DIGITS)
}

/// The number of one row, in units of the last digit.
fn mantissas(block: &BlockView<'_>, seed: i64) -> impl Fn(usize) -> i64 + use<> {
    let start = mix(block.front_checksum() ^ mix(seed.cast_unsigned()));
    move |row| mantissa(mix(start.wrapping_add((row as u64 + 1).wrapping_mul(GOLDEN))))
}

/// The share of `bits` in all numbers of 64 bits, in units of the last digit.
fn mantissa(bits: u64) -> i64 {
    i64::try_from((u128::from(bits) * COUNT) >> 64).unwrap_or_default()
}

/// The finalizer of the generator: every bit of the input moves every bit of the output.
const fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_and_the_largest_number_are_in_range() {
        assert_eq!(mantissa(0), 0);
        assert_eq!(mantissa(u64::MAX), 999_999_999_999_999);
        assert_eq!(mantissa(1 << 63), 500_000_000_000_000);
    }

    #[test]
    fn numbers_of_successive_states_are_uniform() {
        let mut counts = [0_u32; 16];
        for row in 1..=16_000_u64 {
            let bits = mix(7_u64.wrapping_add(row.wrapping_mul(GOLDEN)));
            counts[usize::try_from(bits >> 60).expect("small")] += 1;
        }
        // The largest of 16 counts, of mean 1,000 and deviation 31, is within five deviations.
        assert!(counts.iter().all(|count| (840..1_160).contains(count)), "{counts:?}");
    }
}
