//! Row filters: values compared with constants, and codes looked up in a set. The result is one bit
//! per row in words of 64, lowest bit first, with zeros after the last row.
//!
//! A loop that LLVM vectorises turns a chunk of 64 values into 64 bytes. The bits of each byte are
//! all one or all zero. One or a few instructions gather the top bit of each byte into the word.
//! (With AVX-512, LLVM merges both steps and compares into mask registers.)

use super::primitives::Primitives;
use super::simd_level::kernels;

/// A comparison of a value with a constant. NaN is unequal to everything; no other comparison with
/// it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
}

impl Comparison {
    /// All comparisons.
    pub const ALL: [Self; 6] = [
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::Equal,
        Self::NotEqual,
    ];

    /// Whether the comparison of `value` with `constant` holds.
    #[must_use]
    pub fn holds<T: PartialOrd>(self, value: &T, constant: &T) -> bool {
        match self {
            Self::Less => value < constant,
            Self::LessOrEqual => value <= constant,
            Self::Greater => value > constant,
            Self::GreaterOrEqual => value >= constant,
            Self::Equal => value == constant,
            Self::NotEqual => value != constant,
        }
    }
}

kernels! {
    /// Sets bit i of `words` to whether the comparison of value i with `constant` holds.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 values, rounded up.
    pub fn compare_u32(
        values: &[u32], comparison: Comparison, constant: u32, words: &mut [u64],
    ) = compare;

    /// Like [`compare_u32`].
    ///
    /// # Panics
    /// When `words` does not have one word per 64 values, rounded up.
    pub fn compare_i64(
        values: &[i64], comparison: Comparison, constant: i64, words: &mut [u64],
    ) = compare;

    /// Like [`compare_u32`].
    ///
    /// # Panics
    /// When `words` does not have one word per 64 values, rounded up.
    pub fn compare_f64(
        values: &[f64], comparison: Comparison, constant: f64, words: &mut [u64],
    ) = compare;

    /// Sets bit i of `words` to whether `low` <= value i <= `high`.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 values, rounded up.
    pub fn between_u32(values: &[u32], low: u32, high: u32, words: &mut [u64]) = between;

    /// Like [`between_u32`].
    ///
    /// # Panics
    /// When `words` does not have one word per 64 values, rounded up.
    pub fn between_i64(values: &[i64], low: i64, high: i64, words: &mut [u64]) = between;

    /// Like [`between_u32`]; NaN is in no range.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 values, rounded up.
    pub fn between_f64(values: &[f64], low: f64, high: f64, words: &mut [u64]) = between;

    /// Sets bit i of `words` to bit `codes[i]` of `set`, or to zero beyond the end of `set`.
    ///
    /// # Panics
    /// When `words` does not have one word per 64 codes, rounded up.
    pub fn in_codes(codes: &[u32], set: &[u64], words: &mut [u64]) = in_codes_body;
}

/// Sets the bits of `words` where `test` holds.
#[inline(always)]
fn select<T: Copy>(
    primitives: impl Primitives,
    values: &[T],
    words: &mut [u64],
    test: impl Fn(T) -> bool,
) {
    assert_eq!(words.len(), values.len().div_ceil(64), "words of a selection");
    let (chunks, rest) = values.as_chunks::<64>();
    for (word, chunk) in words.iter_mut().zip(chunks) {
        let mut bytes = [0; 64];
        for (byte, value) in bytes.iter_mut().zip(chunk) {
            *byte = if test(*value) { u8::MAX } else { 0 };
        }
        *word = primitives.word_of(&bytes);
    }
    if let Some(word) = words.get_mut(chunks.len()) {
        *word = (0..).zip(rest).fold(0, |word, (bit, value)| word | u64::from(test(*value)) << bit);
    }
}

#[inline(always)]
fn compare<T: PartialOrd + Copy>(
    primitives: impl Primitives,
    values: &[T],
    comparison: Comparison,
    constant: T,
    words: &mut [u64],
) {
    match comparison {
        Comparison::Less => select(primitives, values, words, |value| value < constant),
        Comparison::LessOrEqual => select(primitives, values, words, |value| value <= constant),
        Comparison::Greater => select(primitives, values, words, |value| value > constant),
        Comparison::GreaterOrEqual => select(primitives, values, words, |value| value >= constant),
        Comparison::Equal => select(primitives, values, words, |value| value == constant),
        Comparison::NotEqual => select(primitives, values, words, |value| value != constant),
    }
}

#[inline(always)]
fn between<T: PartialOrd + Copy>(
    primitives: impl Primitives,
    values: &[T],
    low: T,
    high: T,
    words: &mut [u64],
) {
    // Not short-circuit: a branch per value would keep the loop from being vectorised.
    select(primitives, values, words, |value| (value >= low) & (value <= high));
}

#[inline(always)]
fn in_codes_body(primitives: impl Primitives, codes: &[u32], set: &[u64], words: &mut [u64]) {
    match set {
        [] => select(primitives, codes, words, |_| false),
        // Small dictionaries are common, and 32-bit shifts by the code are vectorised.
        [word] => {
            let (low, high) = halves(*word);
            select(primitives, codes, words, |code| {
                let half = if code < 32 { low } else { high };
                (code < 64) & (half >> (code % 32) & 1 == 1)
            });
        }
        set => {
            // One byte per code, and one for all codes beyond: a byte takes one load, a bit three
            // steps.
            let mut bytes = vec![0; set.len() * 64 + 1];
            for (bytes, word) in bytes.as_chunks_mut::<64>().0.iter_mut().zip(set) {
                *bytes = primitives.bytes_of(*word);
            }
            let last = bytes.len() - 1;
            select(primitives, codes, words, |code| bytes[(code as usize).min(last)] != 0);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "32 bits are left")]
const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}
