//! Sums and extremes of packed vectors, computed in registers lane by lane, without unpacking to
//! memory.
//!
//! If values have few bits and lanes are wide, the lanes themselves hold the sums of many rows. An
//! instruction then adds twice as many values as with sums in lanes of twice the width.

use hadal_types::limits::VECTOR_VALUES;

use super::{Lane, Rows, by_lane, for_rows, is_empty};
use crate::kernels::primitives::Primitives;
use crate::kernels::simd_level::kernels;

/// The result of [`fold_packed`] on the packed values, without the reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedFold {
    /// The sum, exactly.
    pub sum: u128,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
}

kernels! {
    /// The sum of 1,024 packed values, without unpacking them to memory.
    ///
    /// # Panics
    /// When `width` is over 64, or `bytes` is not 128 × width long.
    pub fn sum_packed(bytes: &[u8], width: u8) -> u128 = sum_body;

    /// [`sum_packed`] of the values whose bits are one, lowest bit of the first word first.
    ///
    /// # Panics
    /// When `width` is over 64, or `bytes` is not 128 × width long.
    pub fn sum_packed_where(
        bytes: &[u8], width: u8, words: &[u64; VECTOR_VALUES / 64],
    ) -> u128 = sum_where_body;

    /// The sum, the smallest and the largest of 1,024 packed values, without unpacking them to
    /// memory.
    ///
    /// # Panics
    /// When `width` is over 64, or `bytes` is not 128 × width long.
    pub fn fold_packed(bytes: &[u8], width: u8) -> PackedFold = fold_body;

    /// [`fold_packed`] of the values whose bits are one, lowest bit of the first word first. If no
    /// bit is one, the sum is 0, the smallest value `u64::MAX`, and the largest 0.
    ///
    /// # Panics
    /// When `width` is over 64, or `bytes` is not 128 × width long.
    pub fn fold_packed_where(
        bytes: &[u8], width: u8, words: &[u64; VECTOR_VALUES / 64],
    ) -> PackedFold = fold_where_body;
}

/// An accumulator per lane. `chosen` has all bits set for chosen values, else none.
trait Keep<T: Lane> {
    fn take(&mut self, lane: usize, value: T, chosen: T);
}

/// Which values are chosen.
trait Choice<T: Lane> {
    /// For each lane of the row that begins at index `start`: all bits set or none.
    fn row(&self, start: usize) -> impl Fn(usize) -> T;
}

struct All;

impl<T: Lane> Choice<T> for All {
    #[inline(always)]
    fn row(&self, _: usize) -> impl Fn(usize) -> T {
        |_| T::cut(u64::MAX)
    }
}

/// 255 or 0 per value.
struct Chosen([u8; VECTOR_VALUES]);

impl Chosen {
    #[inline(always)]
    fn of(primitives: impl Primitives, words: &[u64; VECTOR_VALUES / 64]) -> Self {
        let mut chosen = [0; VECTOR_VALUES];
        for (bytes, word) in chosen.as_chunks_mut::<64>().0.iter_mut().zip(words) {
            *bytes = primitives.bytes_of(*word);
        }
        Self(chosen)
    }
}

impl<T: Lane> Choice<T> for Chosen {
    #[inline(always)]
    fn row(&self, start: usize) -> impl Fn(usize) -> T {
        let row = &self.0[start..][..T::LANES];
        |lane| T::cut(i64::from(row[lane].cast_signed()).cast_unsigned())
    }
}

/// One loop for all accumulators: with several loops, LLVM unrolls those over few lanes instead of
/// vectorising them.
struct Kept<'c, C, K>(&'c C, K);

impl<T: Lane, C: Choice<T>, K: Keep<T>> Rows<T> for Kept<'_, C, K> {
    #[inline(always)]
    fn row(&mut self, start: usize, value: impl Fn(usize) -> T) {
        let chosen = self.0.row(start);
        for lane in 0..T::LANES {
            self.1.take(lane, value(lane), chosen(lane));
        }
    }
}

impl<T: Lane, A: Keep<T>, B: Keep<T>> Keep<T> for (A, B) {
    #[inline(always)]
    fn take(&mut self, lane: usize, value: T, chosen: T) {
        self.0.take(lane, value, chosen);
        self.1.take(lane, value, chosen);
    }
}

/// Sums that fit the lanes themselves.
struct NarrowSums<T: Lane>(T::Row);

impl<T: Lane> Keep<T> for NarrowSums<T> {
    #[inline(always)]
    fn take(&mut self, lane: usize, value: T, chosen: T) {
        let sum = &mut self.0.as_mut()[lane];
        *sum = *sum + (value & chosen);
    }
}

impl<T: Lane> NarrowSums<T> {
    /// The total of the sums, which restart from zero.
    #[inline(always)]
    fn take_total(&mut self, primitives: impl Primitives) -> u128 {
        let total = T::sum_of(primitives, &self.0);
        self.0 = T::row(T::cut(0));
        total
    }
}

/// Accumulates nothing.
impl<T: Lane> Keep<T> for () {
    #[inline(always)]
    fn take(&mut self, _: usize, _: T, _: T) {}
}

/// Sums in lanes of twice the width.
struct WideSums<T: Lane>(T::Sums);

impl<T: Lane> Keep<T> for WideSums<T> {
    #[inline(always)]
    fn take(&mut self, lane: usize, value: T, chosen: T) {
        T::add_wide(&mut self.0, lane, value & chosen);
    }
}

/// The sum of the chosen values, and the result of a second accumulator.
#[inline(always)]
fn sum_and<T: Lane, K: Keep<T>>(
    primitives: impl Primitives,
    bytes: &[u8],
    width: usize,
    choice: &impl Choice<T>,
    keep: K,
) -> (u128, K) {
    if 1 << (T::BITS - width) >= T::BITS / 2 {
        // A sum of half of the rows does not overflow the lanes.
        let mut kept = Kept(choice, (NarrowSums(T::row(T::cut(0))), keep));
        for_rows(bytes, width, 0..T::BITS / 2, &mut kept);
        let first = kept.1.0.take_total(primitives);
        for_rows(bytes, width, T::BITS / 2..T::BITS, &mut kept);
        (first + kept.1.0.take_total(primitives), kept.1.1)
    } else {
        let mut kept = Kept(choice, (WideSums(T::no_sums()), keep));
        for_rows(bytes, width, 0..T::BITS, &mut kept);
        (T::total(&kept.1.0.0), kept.1.1)
    }
}

/// The smallest and the largest value.
struct Extremes<T: Lane>(T::Row, T::Row);

impl<T: Lane> Keep<T> for Extremes<T> {
    #[inline(always)]
    fn take(&mut self, lane: usize, value: T, chosen: T) {
        let (min, max) = (&mut self.0.as_mut()[lane], &mut self.1.as_mut()[lane]);
        *min = (value | !chosen).min(*min);
        *max = (value & chosen).max(*max);
    }
}

impl<T: Lane> Extremes<T> {
    #[inline(always)]
    fn none() -> Self {
        Self(T::row(T::cut(u64::MAX)), T::row(T::cut(0)))
    }

    #[inline(always)]
    fn ends(mut self) -> (u64, u64) {
        let min = self.0.as_mut().iter().fold(T::cut(u64::MAX), |min, value| min.min(*value));
        let max = self.1.as_mut().iter().fold(T::cut(0), |max, value| max.max(*value));
        (min.into(), max.into())
    }
}

#[inline(always)]
fn fold<T: Lane>(
    primitives: impl Primitives,
    bytes: &[u8],
    width: usize,
    choice: &impl Choice<T>,
) -> PackedFold {
    let (sum, extremes) = sum_and(primitives, bytes, width, choice, Extremes::<T>::none());
    let (min, max) = extremes.ends();
    PackedFold { sum, min: if min > max { u64::MAX } else { min }, max }
}

#[inline(always)]
fn fold_body(primitives: impl Primitives, bytes: &[u8], width: u8) -> PackedFold {
    if is_empty(bytes, width) {
        return PackedFold { sum: 0, min: 0, max: 0 };
    }
    match width {
        // Shifts by a constant are one instruction.
        8 => fold::<u8>(primitives, bytes, 8, &All),
        _ => by_lane!(width, fold(primitives, bytes, width.into(), &All)),
    }
}

#[inline(always)]
fn fold_where_body(
    primitives: impl Primitives,
    bytes: &[u8],
    width: u8,
    words: &[u64; VECTOR_VALUES / 64],
) -> PackedFold {
    if is_empty(bytes, width) {
        let any = words.iter().any(|word| *word != 0);
        return PackedFold { sum: 0, min: if any { 0 } else { u64::MAX }, max: 0 };
    }
    by_lane!(width, fold(primitives, bytes, width.into(), &Chosen::of(primitives, words)))
}

#[inline(always)]
fn sum<T: Lane>(
    primitives: impl Primitives,
    bytes: &[u8],
    width: usize,
    choice: &impl Choice<T>,
) -> u128 {
    sum_and::<T, ()>(primitives, bytes, width, choice, ()).0
}

#[inline(always)]
fn sum_body(primitives: impl Primitives, bytes: &[u8], width: u8) -> u128 {
    if is_empty(bytes, width) {
        return 0;
    }
    by_lane!(width, sum(primitives, bytes, width.into(), &All))
}

#[inline(always)]
fn sum_where_body(
    primitives: impl Primitives,
    bytes: &[u8],
    width: u8,
    words: &[u64; VECTOR_VALUES / 64],
) -> u128 {
    if is_empty(bytes, width) {
        return 0;
    }
    by_lane!(width, sum(primitives, bytes, width.into(), &Chosen::of(primitives, words)))
}
