//! Counts that an encoder uses to choose a form.

use super::primitives::Primitives;
use super::simd_level::kernels;

kernels! {
    /// The number of values that differ from the previous one.
    pub fn count_changes(values: &[i64]) -> usize = count_changes_body;

    /// The number of values that, less `base`, do not fit the lowest `bits` bits.
    ///
    /// # Panics
    /// When `bits` is 64 or more.
    pub fn count_beyond(values: &[i64], base: i64, bits: u32) -> usize = count_beyond_body;
}

#[inline(always)]
fn count_changes_body(_: impl Primitives, values: &[i64]) -> usize {
    let after = values.get(1..).unwrap_or_default();
    values.iter().zip(after).map(|(value, next)| usize::from(value != next)).sum()
}

#[inline(always)]
fn count_beyond_body(_: impl Primitives, values: &[i64], base: i64, bits: u32) -> usize {
    assert!(bits < u64::BITS, "{bits} bits of a value");
    let beyond = |value: &i64| value.wrapping_sub(base).cast_unsigned() >> bits != 0;
    values.iter().map(|value| usize::from(beyond(value))).sum()
}

#[cfg(test)]
mod tests {
    use super::super::{Level, scalar};

    #[test]
    fn all_levels_count_as_one_value_at_a_time() {
        let values: Vec<i64> = (0..1_100i64).map(|at| (at / 3 * (at % 5)) << (at % 64)).collect();
        for level in Level::available() {
            for length in [0, 1, 2, 3, 7, 8, 9, 64, 1_024, 1_100] {
                let values = &values[..length];
                assert_eq!(level.count_changes(values), scalar::count_changes(values));
                for bits in [0, 1, 7, 31, 32, 63] {
                    for base in [0, -5, i64::MIN, i64::MAX] {
                        let expected = scalar::count_beyond(values, base, bits);
                        assert_eq!(level.count_beyond(values, base, bits), expected, "{bits}");
                    }
                }
            }
        }
    }
}
