//! Columns of small numbers added up by group, side by side in words of 64 bits: a row costs one
//! addition per word, and not per column.
//!
//! Adding to the group of the row before waits until that sum is written, some ten cycles. Where
//! groups are few this happens all the time, so neighbouring rows go to different copies of the
//! sums, which are added up in the end.
#![allow(unsafe_code)]

use super::level::kernels;
use super::primitives::Primitives;

/// Copies of the sums, where they are few.
pub(super) const COPIES: usize = 4;
/// The most sums that are copied: all copies stay in the nearer caches.
pub(super) const COPIED_SUMS_MAX: usize = 2_048;
/// Rows that are made ready at a time: they stay in the nearest cache.
const TILE: usize = 256;

/// A column of numbers that is to be added up.
#[derive(Clone, Copy, Debug)]
pub struct Addend<'v> {
    /// One number per row; `None`: each is 1.
    pub values: Option<&'v [u32]>,
    /// The bits of the rows that count; `None`: all. Bits after the last row mean nothing.
    pub words: Option<&'v [u64]>,
    /// Which of its group's sums it is added to.
    pub lane: usize,
    /// By how many bits it is moved up there, less than 64.
    pub shift: u32,
}

kernels! {
    /// Adds each number of each addend, moved up, to one of the N sums of the group of its row,
    /// modulo 2^64.
    ///
    /// # Panics
    /// When an addend has not as many values as there are groups, or words for them, or is moved
    /// beyond the N sums or 64 bits; or when a group is not below the length of `sums`.
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
    let fits = addends.iter().all(|own| {
        own.values.is_none_or(|values| values.len() == groups.len())
            && own.words.is_none_or(|words| words.len() == groups.len().div_ceil(64))
            && own.lane < N
            && own.shift < u64::BITS
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

/// Neighbouring rows add to different ones of C copies.
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
        for own in addends {
            let tile = &mut tiles[own.lane][..groups.len()];
            fill(own, start, tile);
        }
        let mut add = |row: usize, start: usize, group: u32| {
            // SAFETY: the group's sums lie within its copy, as the caller promises.
            let own = unsafe { sums.get_unchecked_mut(start + group as usize) };
            for (sum, tile) in own.iter_mut().zip(&tiles) {
                // SAFETY: no more groups are taken at a time than a tile has rows.
                *sum = sum.wrapping_add(unsafe { *tile.get_unchecked(row) });
            }
        };
        let (chunks, rest) = groups.as_chunks::<C>();
        for (chunk, own) in chunks.iter().enumerate() {
            for (index, group) in own.iter().enumerate() {
                add(chunk * C + index, copy * index, *group);
            }
        }
        for (index, group) in rest.iter().enumerate() {
            add(chunks.len() * C + index, 0, *group);
        }
    }
}

/// Adds to a tile what the rows from `start` on add to their sums.
#[inline(always)]
fn fill(own: &Addend<'_>, start: usize, tile: &mut [u64]) {
    let (shift, rows) = (own.shift, start..start + tile.len());
    match (own.values, own.words) {
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
                // Without a branch per row, so that many rows are done at a time.
                for (row, (slot, value)) in chunk.iter_mut().zip(values).enumerate() {
                    let value = u64::from(*value) & bit(row).wrapping_neg();
                    *slot = slot.wrapping_add(value << shift);
                }
            }
        }
    }
}

const _: () = assert!(TILE.is_multiple_of(64), "tiles begin with a word");
