//! Sums, extremes and counts of slices, over all rows or over the selected rows.

use super::primitives::Primitives;
use super::simd_level::kernels;

kernels! {
    /// The sum, exactly.
    pub fn sum_u32(values: &[u32]) -> u64 = sum_u32_body;

    /// The sum of the products of the values and weights at the same index, modulo 2^64.
    ///
    /// # Panics
    /// When `values` and `weights` differ in length.
    pub fn dot_u32(values: &[u32], weights: &[u32]) -> u64 = dot_u32_body;

    /// The sum, exactly.
    pub fn sum_i64(values: &[i64]) -> i128 = sum_i64_body;

    /// The smallest and the largest value; `None` for an empty slice.
    pub fn min_max_u32(values: &[u32]) -> Option<(u32, u32)> = min_max;

    /// The smallest and the largest value; `None` for an empty slice.
    pub fn min_max_i64(values: &[i64]) -> Option<(i64, i64)> = min_max;

    /// How many bits are one.
    pub fn count_ones(words: &[u64]) -> u64 = count_ones_body;

    /// The sum of the values whose bits are one, exactly. Bits after the last value are ignored.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 values, rounded up.
    pub fn sum_u32_where(values: &[u32], words: &[u64]) -> u64 = sum_u32_where_body;

    /// The sum of the values whose bits are one, exactly. Bits after the last value are ignored.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 values, rounded up.
    pub fn sum_i64_where(values: &[i64], words: &[u64]) -> i128 = sum_i64_where_body;

    /// The smallest and the largest of the values whose bits are one; `None` if no bit is one. Bits
    /// after the last value are ignored.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 values, rounded up.
    pub fn min_max_u32_where(values: &[u32], words: &[u64]) -> Option<(u32, u32)> = min_max_where;

    /// The smallest and the largest of the values whose bits are one; `None` if no bit is one. Bits
    /// after the last value are ignored.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 values, rounded up.
    pub fn min_max_i64_where(values: &[i64], words: &[u64]) -> Option<(i64, i64)> = min_max_where;
}

/// Integers with a least and a greatest value.
trait Ends: Ord + Copy + Default {
    const LEAST: Self;
    const MOST: Self;
}

impl Ends for u32 {
    const LEAST: Self = Self::MIN;
    const MOST: Self = Self::MAX;
}

impl Ends for i64 {
    const LEAST: Self = Self::MIN;
    const MOST: Self = Self::MAX;
}

/// A sum of 64-bit integers in two halves. Neither half overflows with up to 2^31 values.
#[derive(Clone, Copy, Default)]
struct Halves {
    high: i64,
    low: u64,
}

impl Halves {
    /// Values added between two totals.
    const VALUES: usize = 1 << 30;

    #[inline(always)]
    fn add(&mut self, value: i64) {
        self.high += value >> 32;
        self.low += value.cast_unsigned() & 0xFFFF_FFFF;
    }

    #[inline(always)]
    fn total(self) -> i128 {
        (i128::from(self.high) << 32) + i128::from(self.low)
    }
}

#[inline(always)]
fn sum_u32_body(_: impl Primitives, values: &[u32]) -> u64 {
    values.iter().map(|value| u64::from(*value)).sum()
}

#[inline(always)]
fn dot_u32_body(_: impl Primitives, values: &[u32], weights: &[u32]) -> u64 {
    assert_eq!(values.len(), weights.len(), "a weight for each value");
    let products =
        values.iter().zip(weights).map(|(&value, &weight)| u64::from(value) * u64::from(weight));
    products.fold(0, u64::wrapping_add)
}

#[inline(always)]
fn sum_i64_body(_: impl Primitives, values: &[i64]) -> i128 {
    let mut sum = 0;
    for values in values.chunks(Halves::VALUES) {
        let mut halves = Halves::default();
        for value in values {
            halves.add(*value);
        }
        sum += halves.total();
    }
    sum
}

#[inline(always)]
fn min_max<T: Ends>(_: impl Primitives, values: &[T]) -> Option<(T, T)> {
    let (mut min, mut max) = (T::MOST, T::LEAST);
    for value in values {
        min = min.min(*value);
        max = max.max(*value);
    }
    (!values.is_empty()).then_some((min, max))
}

#[inline(always)]
fn count_ones_body(_: impl Primitives, words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Calls `take` with each chunk of 64 values that has selected values, and a byte per value: 255 if
/// selected, else 0. Missing values are zeros and not selected.
#[inline(always)]
fn for_where<T: Copy + Default>(
    primitives: impl Primitives,
    values: &[T],
    words: &[u64],
    mut take: impl FnMut(&[T; 64], &[u8; 64]),
) {
    assert_eq!(words.len(), values.len().div_ceil(64), "words of a selection");
    let (chunks, rest) = values.as_chunks::<64>();
    for (chunk, word) in chunks.iter().zip(words) {
        if *word != 0 {
            take(chunk, &primitives.bytes_of(*word));
        }
    }
    let word = words.get(chunks.len()).map_or(0, |word| word & !(u64::MAX << rest.len()));
    if word != 0 {
        let mut chunk = [T::default(); 64];
        chunk[..rest.len()].copy_from_slice(rest);
        take(&chunk, &primitives.bytes_of(word));
    }
}

#[inline(always)]
fn sum_u32_where_body(primitives: impl Primitives, values: &[u32], words: &[u64]) -> u64 {
    let mut sum = 0;
    for_where(primitives, values, words, |values, selected| {
        // A sum per chunk, so that folding its lanes does not wait for the previous chunk.
        let mut chunk = 0;
        for (value, selected) in values.iter().zip(selected) {
            chunk += if *selected == 0 { 0 } else { u64::from(*value) };
        }
        sum += chunk;
    });
    sum
}

#[inline(always)]
fn sum_i64_where_body(primitives: impl Primitives, values: &[i64], words: &[u64]) -> i128 {
    assert_eq!(words.len(), values.len().div_ceil(64), "words of a selection");
    let mut sum = 0;
    let both = values.chunks(Halves::VALUES).zip(words.chunks(Halves::VALUES / 64));
    for (values, words) in both {
        let mut halves = Halves::default();
        for_where(primitives, values, words, |values, selected| {
            let mut chunk = Halves::default();
            for (value, selected) in values.iter().zip(selected) {
                chunk.add(if *selected == 0 { 0 } else { *value });
            }
            halves.high += chunk.high;
            halves.low += chunk.low;
        });
        sum += halves.total();
    }
    sum
}

#[inline(always)]
fn min_max_where<T: Ends>(
    primitives: impl Primitives,
    values: &[T],
    words: &[u64],
) -> Option<(T, T)> {
    let (mut min, mut max) = (T::MOST, T::LEAST);
    let mut any = false;
    for_where(primitives, values, words, |values, selected| {
        let (mut chunk_min, mut chunk_max) = (T::MOST, T::LEAST);
        for (value, selected) in values.iter().zip(selected) {
            chunk_min = chunk_min.min(if *selected == 0 { T::MOST } else { *value });
            chunk_max = chunk_max.max(if *selected == 0 { T::LEAST } else { *value });
        }
        (min, max, any) = (min.min(chunk_min), max.max(chunk_max), true);
    });
    any.then_some((min, max))
}
