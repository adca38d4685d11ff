//! Aggregation of rows whose groups are consecutive: rows add to adjacent sums, without indexing.

use super::primitives::Primitives;
use super::simd_level::kernels;

kernels! {
    /// Sets bit i of `words` to whether value i + 1 is not one more than value i. The last value
    /// has no bit; spare bits are zeros.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 pairs of neighbours, rounded up.
    pub fn breaks_u32(values: &[u32], words: &mut [u64]) = breaks_body;

    /// Adds each value to the sum of the same index, modulo 2^64.
    ///
    /// # Panics
    /// When `values` and `sums` differ in length.
    pub fn add_adjacent(values: &[u32], sums: &mut [u64]) = add_body;

    /// Lowers `low[i]` to value i if that is smaller, and raises `high[i]` to it if larger.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn widen_adjacent(values: &[u32], low: &mut [u32], high: &mut [u32]) = widen_body;

    /// Multiplies each value by `factor`, modulo 2^64.
    pub fn scale(factor: u64, values: &mut [u64]) = scale_body;

    /// Adds `factor` times each value to the sum of the same index, modulo 2^64.
    ///
    /// # Panics
    /// When `values` and `sums` differ in length.
    pub fn add_scaled(values: &[u64], factor: u64, sums: &mut [u64]) = scaled_body;
}

#[inline(always)]
fn breaks_body(primitives: impl Primitives, values: &[u32], words: &mut [u64]) {
    let next = values.get(1..).unwrap_or_default();
    assert_eq!(words.len(), next.len().div_ceil(64), "words for the neighbours");
    let previous = &values[..next.len()];
    let ((previous_chunks, previous), (next_chunks, next)) =
        (previous.as_chunks::<64>(), next.as_chunks::<64>());
    for ((word, previous), next) in words.iter_mut().zip(previous_chunks).zip(next_chunks) {
        let mut bytes = [0; 64];
        for ((byte, previous), next) in bytes.iter_mut().zip(previous).zip(next) {
            *byte = if previous.wrapping_add(1) == *next { 0 } else { u8::MAX };
        }
        *word = primitives.word_of(&bytes);
    }
    if let Some(word) = words.get_mut(previous_chunks.len()) {
        let pairs = (0..).zip(previous.iter().zip(next));
        *word = pairs.fold(0, |word, (bit, (previous, next))| {
            word | u64::from(previous.wrapping_add(1) != *next) << bit
        });
    }
}

#[inline(always)]
fn add_body(_: impl Primitives, values: &[u32], sums: &mut [u64]) {
    assert_eq!(values.len(), sums.len(), "a sum for each value");
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = sum.wrapping_add(u64::from(*value));
    }
}

#[inline(always)]
fn widen_body(_: impl Primitives, values: &[u32], low: &mut [u32], high: &mut [u32]) {
    assert!(values.len() == low.len() && values.len() == high.len(), "ends for each value");
    for ((low, high), value) in low.iter_mut().zip(high).zip(values) {
        *low = (*low).min(*value);
        *high = (*high).max(*value);
    }
}

#[inline(always)]
fn scale_body(_: impl Primitives, factor: u64, values: &mut [u64]) {
    if factor != 1 {
        values.iter_mut().for_each(|value| *value = value.wrapping_mul(factor));
    }
}

#[inline(always)]
fn scaled_body(_: impl Primitives, values: &[u64], factor: u64, sums: &mut [u64]) {
    assert_eq!(values.len(), sums.len(), "a sum for each value");
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = sum.wrapping_add(value.wrapping_mul(factor));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;

    const LENGTHS: [usize; 11] = [0, 1, 2, 3, 63, 64, 65, 66, 129, 1_024, 3_001];

    fn values(length: usize) -> Vec<u32> {
        let mut seed = 5u64;
        let mut value = u32::MAX - 30;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let random = u32::try_from(seed >> 32).expect("32 bits");
            value = if random % 7 == 0 { random } else { value.wrapping_add(1) };
            value
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn breaks_are_where_the_next_value_is_not_one_more() {
        for length in LENGTHS {
            let values = values(length);
            let pairs = values.windows(2).map(|pair| pair[0].wrapping_add(1) != pair[1]);
            let expected: Vec<bool> = pairs.collect();
            for level in Level::available() {
                let mut words = vec![u64::MAX; expected.len().div_ceil(64)];
                level.breaks_u32(&values, &mut words);
                for (index, word) in words.iter().enumerate() {
                    let bit = |bit: usize| expected.get(index * 64 + bit).copied();
                    let bits: Vec<bool> = (0..64).map(|at| word >> at & 1 == 1).collect();
                    let expected: Vec<bool> =
                        (0..64).map(|at| bit(at).unwrap_or_default()).collect();
                    assert_eq!(bits, expected, "{length} values, {}", level.name());
                }
            }
        }
    }

    #[test]
    fn values_are_added_to_what_lies_beside_them() {
        for length in LENGTHS {
            let values = values(length);
            let wide: Vec<u64> = values.iter().map(|&value| u64::from(value) << 31).collect();
            let factor = 0xFFFF_FFFF_0000_0007;
            for level in Level::available() {
                let mut sums = vec![u64::MAX - 5; length];
                level.add_adjacent(&values, &mut sums);
                level.add_scaled(&wide, factor, &mut sums);
                for factor in [1, factor] {
                    let mut scaled = wide.clone();
                    level.scale(factor, &mut scaled);
                    let expected = wide.iter().map(|value| value.wrapping_mul(factor));
                    assert_eq!(scaled, expected.collect::<Vec<u64>>(), "{}", level.name());
                }
                let (mut low, mut high) = (vec![1 << 30; length], vec![1 << 29; length]);
                level.widen_adjacent(&values, &mut low, &mut high);
                for (index, &value) in values.iter().enumerate() {
                    let more = wide[index].wrapping_mul(factor);
                    let sum = (u64::MAX - 5).wrapping_add(value.into()).wrapping_add(more);
                    assert_eq!(sums[index], sum, "{length} values, {}", level.name());
                    let ends = (value.min(1 << 30), value.max(1 << 29));
                    assert_eq!((low[index], high[index]), ends);
                }
            }
        }
    }
}
