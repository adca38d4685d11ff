//! Kernels that index by codes: look up values, count rows by group, assign values to buckets.
//!
//! The largest code of all rows is checked first, once; the loop after it runs unchecked.
#![allow(unsafe_code)]

use std::num::NonZeroU32;

use super::packed_sums::{COPIED_SUMS_MAX, COPIES};
use super::primitives::Primitives;
use super::simd_level::kernels;

kernels! {
    /// Sets `out[i]` to `table[codes[i]]`.
    ///
    /// # Panics
    /// When `out` is not as long as `codes`, or a code is not below the length of `table`.
    pub fn gather_u32(table: &[u32], codes: &[u32], out: &mut [u32]) = gather_u32_body;

    /// Adds one to `counts[group]` for each of `groups`.
    ///
    /// # Panics
    /// When a group is not below the length of `counts`.
    pub fn count_by(groups: &[u32], counts: &mut [u64]) = count_by_body;

    /// Sets each number to itself × `count` + the code of the same index, modulo 2^32.
    ///
    /// # Panics
    /// When `numbers` and `codes` differ in length.
    pub fn append_codes(numbers: &mut [u32], count: u32, codes: &[u32]) = append_body;

    /// Sets each code to itself + `count` × the number of the same index, modulo 2^32. The result
    /// equals that of [`append_codes`], for callers that no longer need the codes.
    ///
    /// # Panics
    /// When `numbers` and `codes` differ in length.
    pub fn prepend_numbers(codes: &mut [u32], count: u32, numbers: &[u32]) = prepend_body;

    /// Sets `out[i]` to the index of `values[i]` in `candidates`, or to `u32::MAX` if it is
    /// missing; returns whether all values were found. For few candidates, which must be distinct.
    ///
    /// # Panics
    /// When `out` is not as long as `values`.
    pub fn index_among(values: &[u32], candidates: &[u32], out: &mut [u32]) -> bool = among_body;

    /// Sets `out[i]` to (`values[i]` - `from`) / `width`, rounded down. Values below `from` count
    /// as 2^32 higher.
    ///
    /// # Panics
    /// When `out` is not as long as `values`.
    pub fn bucket_u32(values: &[u32], from: u32, width: NonZeroU32, out: &mut [u32]) = bucket_body;
}

/// Whether every code is below `limit`.
#[inline(always)]
fn all_below(codes: &[u32], limit: usize) -> bool {
    let max = codes.iter().fold(0, |max, code| *code.max(&max));
    codes.is_empty() || (max as usize) < limit
}

#[inline(always)]
fn gather_u32_body(primitives: impl Primitives, table: &[u32], codes: &[u32], out: &mut [u32]) {
    assert_eq!(out.len(), codes.len(), "places for what is gathered");
    assert!(all_below(codes, table.len()), "a code beyond the table");
    let (mut codes, mut out) = (codes, out);
    if table.len() <= 32 {
        // Small tables stay in registers.
        let mut all = [0; 32];
        all[..table.len()].copy_from_slice(table);
        let ((chunks, rest), (slots, left)) = (codes.as_chunks(), out.as_chunks_mut());
        for (slots, codes) in slots.iter_mut().zip(chunks) {
            *slots = primitives.look_up(&all, codes);
        }
        (codes, out) = (rest, left);
    }
    for (slot, code) in out.iter_mut().zip(codes) {
        // SAFETY: all codes are below the table's length.
        *slot = unsafe { *table.get_unchecked(*code as usize) };
    }
}

#[inline(always)]
fn append_body(_: impl Primitives, numbers: &mut [u32], count: u32, codes: &[u32]) {
    assert_eq!(numbers.len(), codes.len(), "a code for each number");
    for (number, code) in numbers.iter_mut().zip(codes) {
        *number = number.wrapping_mul(count).wrapping_add(*code);
    }
}

#[inline(always)]
fn prepend_body(_: impl Primitives, codes: &mut [u32], count: u32, numbers: &[u32]) {
    assert_eq!(numbers.len(), codes.len(), "a number for each code");
    for (code, number) in codes.iter_mut().zip(numbers) {
        *code = number.wrapping_mul(count).wrapping_add(*code);
    }
}

#[inline(always)]
fn among_body(_: impl Primitives, values: &[u32], candidates: &[u32], out: &mut [u32]) -> bool {
    assert_eq!(out.len(), values.len(), "places for indexes");
    out.fill(u32::MAX);
    for (index, candidate) in (0..).zip(candidates) {
        for (slot, value) in out.iter_mut().zip(values) {
            *slot = if value == candidate { index } else { *slot };
        }
    }
    out.iter().fold(0, |last, index| *index.max(&last)) != u32::MAX
}

#[inline(always)]
fn count_by_body(_: impl Primitives, groups: &[u32], counts: &mut [u64]) {
    assert!(all_below(groups, counts.len()), "a group beyond the counts");
    let copy = counts.len();
    if copy > COPIED_SUMS_MAX || groups.len() <= COPIES * copy {
        // SAFETY: all groups are below the number of counts.
        return unsafe { count_unchecked::<1>(groups, counts) };
    }
    let mut copies = vec![0; COPIES * copy];
    // SAFETY: as above, for COPIES times as many counts.
    unsafe { count_unchecked::<COPIES>(groups, &mut copies) };
    for sums in copies.chunks_exact(copy) {
        counts.iter_mut().zip(sums).for_each(|(count, more)| *count = count.wrapping_add(*more));
    }
}

/// Counts row i in copy i mod C; see `packed_sums.rs`.
///
/// # Safety
/// Every group is below the length of `counts` / C.
#[inline(always)]
unsafe fn count_unchecked<const C: usize>(groups: &[u32], counts: &mut [u64]) {
    let copy = counts.len() / C;
    let mut count = |start: usize, group: u32| {
        // SAFETY: the caller guarantees it.
        let count = unsafe { counts.get_unchecked_mut(start + group as usize) };
        *count = count.wrapping_add(1);
    };
    let (chunks, rest) = groups.as_chunks::<C>();
    for chunk in chunks {
        for (index, group) in chunk.iter().enumerate() {
            count(copy * index, *group);
        }
    }
    rest.iter().for_each(|group| count(0, *group));
}

/// Division by multiplication (Granlund and Montgomery, "Division by Invariant Integers using
/// Multiplication", PLDI 1994, figure 4.1): exact for every 32-bit value.
#[inline(always)]
fn bucket_body(_: impl Primitives, values: &[u32], from: u32, width: NonZeroU32, out: &mut [u32]) {
    assert_eq!(out.len(), values.len(), "places for buckets");
    let bits = u32::BITS - (width.get() - 1).leading_zeros();
    let factor = ((1 << bits) - u64::from(width.get())) << 32;
    let factor = factor / u64::from(width.get()) + 1;
    let (first, second) = (bits.min(1), bits.saturating_sub(1));
    for (slot, value) in out.iter_mut().zip(values) {
        let value = value.wrapping_sub(from);
        let high = high_half(factor * u64::from(value));
        *slot = (high + ((value - high) >> first)) >> second;
    }
}

#[inline(always)]
const fn high_half(product: u64) -> u32 {
    (product >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::super::Level;

    #[test]
    fn codes_are_appended_and_known_values_found() {
        for length in [0usize, 1, 15, 16, 17, 64, 1_000] {
            let codes: Vec<u32> =
                (0..).map(|row: u32| row.wrapping_mul(row) % 7).take(length).collect();
            let numbers: Vec<u32> = (u32::MAX - 40..=u32::MAX).cycle().take(length).collect();
            let plain = |(number, code): (&u32, &u32)| number.wrapping_mul(9).wrapping_add(*code);
            let appended: Vec<u32> = numbers.iter().zip(&codes).map(plain).collect();
            for level in Level::available() {
                let mut numbers_with_codes = numbers.clone();
                level.append_codes(&mut numbers_with_codes, 9, &codes);
                assert_eq!(numbers_with_codes, appended, "{length} codes, {}", level.name());
                let mut codes_with_numbers = codes.clone();
                level.prepend_numbers(&mut codes_with_numbers, 9, &numbers);
                assert_eq!(codes_with_numbers, appended, "{length} codes, {}", level.name());
                for candidates in [&[][..], &[4, 0], &[2, 0, 1, 4, 9], &[1, 2, 4]] {
                    let index = |code| candidates.iter().position(|candidate| candidate == code);
                    let index =
                        |code| index(code).map_or(u32::MAX, |at| at.try_into().expect("few"));
                    let expected: Vec<u32> = codes.iter().map(index).collect();
                    let mut indexes = vec![3; length];
                    let all = level.index_among(&codes, candidates, &mut indexes);
                    assert_eq!(indexes, expected, "{length} codes, {}", level.name());
                    assert_eq!(all, !expected.contains(&u32::MAX));
                }
            }
        }
    }
}
