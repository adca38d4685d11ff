//! Sums columns of small numbers by group. The sums of several columns are packed side by side into
//! 64-bit words: a row costs one addition per word, not one per column.
//!
//! If a row has the same group as the previous row, its addition waits some ten cycles until the
//! previous sum is written. With few groups this happens all the time, so neighbouring rows add to
//! different copies of the sums. The copies are added up at the end.
#![allow(unsafe_code)]

use super::primitives::Primitives;
use super::simd_level::kernels;

/// Copies of the sums, if there are few sums.
pub(super) const COPIES: usize = 4;
/// The maximum number of sums that are copied: all copies then stay in the L1 or L2 cache.
pub(super) const COPIED_SUMS_MAX: usize = 2_048;
/// Rows that are prepared at a time, so that they stay in the L1 cache.
const TILE: usize = 256;

/// A column of numbers to sum.
#[derive(Clone, Copy, Debug)]
pub struct Addend<'v> {
    /// One number per row; `None` means 1 for each row.
    pub values: Option<&'v [u32]>,
    /// Bits of the rows that count; `None` means all rows. Bits after the last row are ignored.
    pub words: Option<&'v [u64]>,
    /// The index of the word, among the group's sums, that the column is added to.
    pub lane: usize,
    /// The left shift of each number, below 64 bits.
    pub shift: u32,
}

kernels! {
    /// Adds each number of each addend, shifted left, to one of the N sums of its row's group,
    /// modulo 2^64.
    ///
    /// # Panics
    /// When an addend has a wrong number of values or words for `groups`; when it exceeds the N
    /// sums or is shifted by 64 bits or more; or when a group is not below the length of `sums`.
    pub fn add_lanes_by[const N: usize](
        groups: &[u32], addends: &[Addend<'_>], sums: &mut [[u64; N]],
    ) = add_lanes_body;
}

#[inline(always)]
fn add_lanes_body<const N: usize>(
    _: impl Primitives,
    groups: &[u32],
    addends: &[Addend<'_>],
    sums: &mut [[u64; N]],
) {
    let fits = addends.iter().all(|addend| {
        addend.values.is_none_or(|values| values.len() == groups.len())
            && addend.words.is_none_or(|words| words.len() == groups.len().div_ceil(64))
            && addend.lane < N
            && addend.shift < u64::BITS
    });
    assert!(fits, "a value for each row, a sum for each addend");
    let last = groups.iter().fold(0, |last, group| *group.max(&last)) as usize;
    assert!(groups.is_empty() || last < sums.len(), "a group beyond the sums");
    if sums.len() * N > COPIED_SUMS_MAX || groups.len() <= COPIES * N * sums.len() {
        // SAFETY: lengths and groups were checked above.
        return unsafe { add_tiles::<N, 1>(groups, addends, sums) };
    }
    let mut copies = vec![[0; N]; COPIES * sums.len()];
    // SAFETY: as above, for COPIES times as many sums.
    unsafe { add_tiles::<N, COPIES>(groups, addends, &mut copies) };
    for copy in copies.chunks_exact(sums.len()) {
        for (sum, more) in sums.as_flattened_mut().iter_mut().zip(copy.as_flattened()) {
            *sum = sum.wrapping_add(*more);
        }
    }
}

/// Adds neighbouring rows to different copies, of C copies.
///
/// # Safety
/// Every group is below the length of `sums` / C.
#[inline(always)]
unsafe fn add_tiles<const N: usize, const C: usize>(
    groups: &[u32],
    addends: &[Addend<'_>],
    sums: &mut [[u64; N]],
) {
    let copy = sums.len() / C;
    let mut tiles = [[0; TILE]; N];
    for (start, groups) in (0..).step_by(TILE).zip(groups.chunks(TILE)) {
        tiles.iter_mut().for_each(|tile| tile.fill(0));
        for addend in addends {
            let tile = &mut tiles[addend.lane][..groups.len()];
            fill(addend, start, tile);
        }
        let mut add = |row: usize, start: usize, group: u32| {
            // SAFETY: the group's sums are within its copy, as the caller guarantees.
            let group_sums = unsafe { sums.get_unchecked_mut(start + group as usize) };
            for (sum, tile) in group_sums.iter_mut().zip(&tiles) {
                // SAFETY: a chunk has no more groups than a tile has rows.
                *sum = sum.wrapping_add(unsafe { *tile.get_unchecked(row) });
            }
        };
        let (chunks, rest) = groups.as_chunks::<C>();
        for (chunk, groups) in chunks.iter().enumerate() {
            for (index, group) in groups.iter().enumerate() {
                add(chunk * C + index, copy * index, *group);
            }
        }
        for (index, group) in rest.iter().enumerate() {
            add(chunks.len() * C + index, 0, *group);
        }
    }
}

/// Adds the addend's values of the rows from `start` on to a tile.
#[inline(always)]
fn fill(addend: &Addend<'_>, start: usize, tile: &mut [u64]) {
    let (shift, rows) = (addend.shift, start..start + tile.len());
    match (addend.values, addend.words) {
        (Some(values), None) => {
            for (slot, value) in tile.iter_mut().zip(&values[rows]) {
                *slot = slot.wrapping_add(u64::from(*value) << shift);
            }
        }
        (None, None) => tile.iter_mut().for_each(|slot| *slot = slot.wrapping_add(1 << shift)),
        (values, Some(words)) => {
            let words = &words[start / 64..];
            for (at, (chunk, word)) in tile.chunks_mut(64).zip(words).enumerate() {
                let bit = |row: usize| word >> row & 1;
                let Some(values) = values else {
                    for (row, slot) in chunk.iter_mut().enumerate() {
                        *slot = slot.wrapping_add(bit(row) << shift);
                    }
                    continue;
                };
                let values = &values[start + at * 64..][..chunk.len()];
                // No branch per row, so that many rows are processed at a time.
                for (row, (slot, value)) in chunk.iter_mut().zip(values).enumerate() {
                    let value = u64::from(*value) & bit(row).wrapping_neg();
                    *slot = slot.wrapping_add(value << shift);
                }
            }
        }
    }
}

const _: () = assert!(TILE.is_multiple_of(64), "tiles begin with a word");
