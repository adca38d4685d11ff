//! Implements every kernel a second time, one value at a time. These twins define the kernels'
//! meaning; tests and benchmarks compare the kernels with them. A twin has the same arguments,
//! results and panics as the kernel of the same name.

use std::num::NonZeroU32;

use super::{Addend, Comparison, Element, PackedFold};

/// See [`super::unpack`]; follows `spec/row-block.md` section 4, bit by bit.
pub fn unpack<S: Element>(bytes: &[u8], width: u8, base: S, out: &mut [S; 1_024]) {
    for (index, slot) in out.iter_mut().enumerate() {
        *slot = base.plus(S::from_u64(packed_value(bytes, width.into(), index)));
    }
}

/// See [`super::packed_value`].
fn packed_value(bytes: &[u8], width: usize, index: usize) -> u64 {
    const ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];
    assert!(width <= 64 && bytes.len() == 128 * width, "a packed vector");
    let lane_bits = width.next_power_of_two().max(8);
    let lanes = 1_024 / lane_bits;
    let lane = index % lanes;
    // The order is its own inverse.
    let row = ORDER[(index % 128 - lane) / 16] * 8 + index / 128;
    (0..width).fold(0, |value, bit| {
        let at = row * width + bit;
        let at = (at / lane_bits * lanes + lane) * lane_bits + at % lane_bits;
        value | u64::from(bytes[at / 8] >> (at % 8) & 1) << bit
    })
}

/// See [`super::filter_packed`].
pub fn filter_packed(bytes: &[u8], width: u8, low: u64, high: u64, words: &mut [u64; 16]) {
    let values: Vec<u64> =
        (0..1_024).map(|index| packed_value(bytes, width.into(), index)).collect();
    between(&values, &low, &high, words);
}

/// See [`super::fold_packed`].
#[must_use]
pub fn fold_packed(bytes: &[u8], width: u8) -> PackedFold {
    fold_packed_where(bytes, width, &[u64::MAX; 16])
}

/// See [`super::fold_packed_where`]. If no bit is one, the smallest value is `u64::MAX`.
#[must_use]
pub fn fold_packed_where(bytes: &[u8], width: u8, words: &[u64; 16]) -> PackedFold {
    let chosen = (0..1_024).filter(|index| bit(words, *index));
    let values = chosen.map(|index| packed_value(bytes, width.into(), index));
    let start = PackedFold { sum: 0, min: u64::MAX, max: 0 };
    values.fold(start, |fold, value| PackedFold {
        sum: fold.sum + u128::from(value),
        min: fold.min.min(value),
        max: fold.max.max(value),
    })
}

/// See [`super::count_changes`].
#[must_use]
pub fn count_changes(values: &[i64]) -> usize {
    values.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// See [`super::count_beyond`].
#[must_use]
pub fn count_beyond(values: &[i64], base: i64, bits: u32) -> usize {
    let offsets = values.iter().map(|value| value.wrapping_sub(base).cast_unsigned());
    offsets.filter(|offset| u64::BITS - offset.leading_zeros() > bits).count()
}

/// See [`super::mark_delimiters`].
pub fn mark_delimiters(text: &[u8], words: &mut [u64]) {
    assert_eq!(words.len(), text.len().div_ceil(64), "a word for each 64 bytes");
    for (at, word) in words.iter_mut().enumerate() {
        let is_special = |bit: &usize| match text.get(64 * at + bit) {
            Some(byte) => *byte == b'"' || *byte == b'\\' || *byte < b' ',
            None => true,
        };
        *word = (0..64).filter(is_special).fold(0, |word, bit| word | 1 << bit);
    }
}

/// See [`super::compare_u32`] and its siblings.
pub fn compare<T: PartialOrd>(
    values: &[T],
    comparison: Comparison,
    constant: &T,
    words: &mut [u64],
) {
    set_bits(words, values.iter().map(|value| comparison.holds(value, constant)));
}

/// See [`super::between_u32`] and its siblings.
pub fn between<T: PartialOrd>(values: &[T], low: &T, high: &T, words: &mut [u64]) {
    set_bits(words, values.iter().map(|value| value >= low && value <= high));
}

/// See [`super::in_codes`].
pub fn in_codes(codes: &[u32], set: &[u64], words: &mut [u64]) {
    set_bits(words, codes.iter().map(|code| bit(set, *code as usize)));
}

fn set_bits(words: &mut [u64], bits: impl ExactSizeIterator<Item = bool>) {
    assert_eq!(words.len(), bits.len().div_ceil(64), "words of a selection");
    words.fill(0);
    for (index, bit) in bits.enumerate() {
        words[index / 64] |= u64::from(bit) << (index % 64);
    }
}

/// One bit; false beyond the end.
fn bit(words: &[u64], index: usize) -> bool {
    words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
}

/// See [`super::dot_u32`].
#[must_use]
pub fn dot_u32(values: &[u32], weights: &[u32]) -> u64 {
    assert_eq!(values.len(), weights.len(), "a weight for each value");
    let mut sum = 0u64;
    for (&value, &weight) in values.iter().zip(weights) {
        sum = sum.wrapping_add(u64::from(value) * u64::from(weight));
    }
    sum
}

/// See [`super::sum_u32`] and [`super::sum_i64`].
#[must_use]
pub fn sum<T: Copy + Into<i128>>(values: &[T]) -> i128 {
    values.iter().map(|value| (*value).into()).sum()
}

/// See [`super::min_max_u32`] and [`super::min_max_i64`].
#[must_use]
pub fn min_max<T: Ord + Copy>(values: &[T]) -> Option<(T, T)> {
    Some((*values.iter().min()?, *values.iter().max()?))
}

/// The values that the kernels on selected rows use.
pub fn selected<T: Copy>(values: &[T], words: &[u64]) -> Vec<T> {
    assert_eq!(words.len(), values.len().div_ceil(64), "words of a selection");
    let selected = values.iter().enumerate().filter(|(row, _)| bit(words, *row));
    selected.map(|(_, value)| *value).collect()
}

/// See [`super::gather_u32`].
pub fn gather_u32(table: &[u32], codes: &[u32], out: &mut [u32]) {
    assert_eq!(out.len(), codes.len(), "places for what is gathered");
    for (slot, code) in out.iter_mut().zip(codes) {
        *slot = table[*code as usize];
    }
}

/// See [`super::count_by`].
pub fn count_by(groups: &[u32], counts: &mut [u64]) {
    groups.iter().for_each(|group| counts[*group as usize] += 1);
}

/// See [`super::add_lanes_by`].
pub fn add_lanes_by<const N: usize>(groups: &[u32], addends: &[Addend<'_>], sums: &mut [[u64; N]]) {
    for (row, group) in groups.iter().enumerate() {
        for column in addends {
            let counts = column.words.is_none_or(|words| words[row / 64] >> (row % 64) & 1 == 1);
            let value = column.values.map_or(1, |values| values[row]);
            let addend = u64::from(counts) * u64::from(value);
            let sum = &mut sums[*group as usize][column.lane];
            *sum = sum.wrapping_add(addend << column.shift);
        }
    }
}

/// See [`super::bucket_u32`].
pub fn bucket_u32(values: &[u32], from: u32, width: NonZeroU32, out: &mut [u32]) {
    assert_eq!(out.len(), values.len(), "places for buckets");
    for (slot, value) in out.iter_mut().zip(values) {
        *slot = value.wrapping_sub(from) / width;
    }
}

/// See [`super::expand_u32`] and [`super::expand_i64`].
pub fn expand<T: Copy>(values: &[T], words: &[u64], fill: T, out: &mut [T]) {
    assert_eq!(words.len(), out.len().div_ceil(64), "words of a validity");
    let mut values = values.iter();
    for (row, slot) in out.iter_mut().enumerate() {
        let value = if bit(words, row) { values.next() } else { None };
        *slot = value.copied().unwrap_or(fill);
    }
}

/// See [`super::expand_bits`].
pub fn expand_bits(bits: &[u64], words: &[u64], out: &mut [u64]) {
    let mut next = 0;
    for row in 0..words.len() * 64 {
        out[row / 64] &= !(1 << (row % 64));
        if bit(words, row) {
            out[row / 64] |= u64::from(bit(bits, next)) << (row % 64);
            next += 1;
        }
    }
}

/// See [`super::compress_bits`].
pub fn compress_bits(bits: &[u64], words: &[u64], out: &mut Vec<u64>) {
    for (index, row) in (0..words.len() * 64).filter(|row| bit(words, *row)).enumerate() {
        if index % 64 == 0 {
            out.push(0);
        }
        let last = out.last_mut();
        last.into_iter().for_each(|last| *last |= u64::from(bit(bits, row)) << (index % 64));
    }
}

/// See [`super::indexes_of`].
pub fn indexes_of(words: &[u64], out: &mut Vec<u32>) {
    out.extend((0..).take(words.len() * 64).filter(|row| bit(words, *row as usize)));
}
