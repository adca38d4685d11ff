//! Sum, smallest and largest value of a stream, decoding at most one vector at a time.
//!
//! Packed values are summed as they are, and the extras of patches are added on top. So a sum does
//! not even need the positions of patches. A query for the sum alone does not pay for the extremes.

use hadal_types::limits::VECTOR_VALUES;

use super::low;
use super::vector::Vector;
use super::view::{Form, IntsView, Progression};
use crate::bitmap::{self, Bitmap, count_ones, count_ones_in};
use crate::kernels::{self, PackedFold};

/// Words of one bit per value of a vector.
const VECTOR_WORDS: usize = VECTOR_VALUES / 64;

/// Sum and extremes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The sum of all values, exact.
    pub sum: i128,
    /// The smallest value; `i64::MAX` for an empty stream.
    pub min: i64,
    /// The largest value; `i64::MIN` for an empty stream.
    pub max: i64,
}

/// Which part of a [`Fold`] is needed; the rest is unspecified.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Sum,
    All,
}

impl Fold {
    const EMPTY: Self = Self { sum: 0, min: i64::MAX, max: i64::MIN };

    fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    fn repeated(value: i64, count: usize) -> Self {
        if count == 0 {
            return Self::EMPTY;
        }
        let sum = i128::from(value) * i128::try_from(count).unwrap_or_default();
        Self { sum, min: value, max: value }
    }

    /// Folds the values whose bits are one, or all of them.
    fn of(asked: Asked, values: &[i64], words: Option<&[u64]>) -> Self {
        let sum = match words {
            Some(words) => kernels::sum_i64_where(values, words),
            None => kernels::sum_i64(values),
        };
        let ends = match (asked, words) {
            (Asked::Sum, _) => None,
            (Asked::All, Some(words)) => kernels::min_max_i64_where(values, words),
            (Asked::All, None) => kernels::min_max_i64(values),
        };
        let (min, max) = ends.unwrap_or((Self::EMPTY.min, Self::EMPTY.max));
        Self { sum, min, max }
    }

    /// Folds `count` values, each `base` plus an offset, from the fold of the offsets. `count` must
    /// be at least one.
    fn of_offsets(base: i64, count: usize, offsets: PackedFold) -> Self {
        Self {
            sum: Self::repeated(base, count).sum + i128::try_from(offsets.sum).unwrap_or_default(),
            min: base.wrapping_add(offsets.min.cast_signed()),
            max: base.wrapping_add(offsets.max.cast_signed()),
        }
    }
}

impl IntsView<'_> {
    /// Sum, smallest and largest of all values, placeholders included.
    #[must_use]
    pub fn fold(&self) -> Fold {
        self.fold_asked(Asked::All, None)
    }

    /// The sum of [`Self::fold`], at lower cost.
    #[must_use]
    pub fn sum(&self) -> i128 {
        self.fold_asked(Asked::Sum, None).sum
    }

    /// [`Self::fold`] of the values whose bit in `chosen` is one. If there are none, the result is
    /// that of an empty stream.
    ///
    /// # Panics
    /// When the length of `chosen` differs from the number of values.
    #[must_use]
    pub fn fold_where(&self, chosen: &Bitmap) -> Fold {
        assert_eq!(chosen.len(), self.length, "bits for the values");
        self.fold_asked(Asked::All, Some(chosen))
    }

    /// The sum of [`Self::fold_where`], at lower cost.
    ///
    /// # Panics
    /// When the length of `chosen` differs from the number of values.
    #[must_use]
    pub fn sum_where(&self, chosen: &Bitmap) -> i128 {
        assert_eq!(chosen.len(), self.length, "bits for the values");
        self.fold_asked(Asked::Sum, Some(chosen)).sum
    }

    /// Folds the chosen values, or all of them.
    fn fold_asked(&self, asked: Asked, chosen: Option<&Bitmap>) -> Fold {
        let count = || chosen.map_or(self.length, Bitmap::count_ones);
        match &self.form {
            Form::Constant(value) => Fold::repeated(*value, count()),
            Form::Runs(runs) => {
                let mut fold = Fold::EMPTY;
                let mut start = 0;
                for (&value, &end) in runs.values.iter().zip(&runs.ends) {
                    let end = end as usize;
                    let in_run = |chosen: &Bitmap| count_ones_in(chosen.words(), start, end);
                    fold.add(Fold::repeated(value, chosen.map_or(end - start, in_run)));
                    start = end;
                }
                fold
            }
            Form::Progression(steps) => match count() {
                0 => Fold::EMPTY,
                count => steps.fold(steps.counts.fold_asked(asked, chosen), count),
            },
            Form::Vectors(_) | Form::Dictionary(_) => {
                let mut fold = Fold::EMPTY;
                let mut words = chosen.map(|chosen| chosen.words().chunks(VECTOR_WORDS));
                for vector in 0..self.vector_count() {
                    let words = words.as_mut().map(|words| words.next().unwrap_or_default());
                    fold.add(self.fold_vector(asked, vector, words));
                }
                fold
            }
        }
    }

    fn fold_vector(&self, asked: Asked, vector: usize, words: Option<&[u64]>) -> Fold {
        let length = self.vector_length(vector);
        let count = words.map_or(length, count_ones);
        let words = words.filter(|_| count < length);
        match &self.form {
            _ if count == 0 => Fold::EMPTY,
            Form::Vectors(vectors) => vectors[vector].fold(asked, length, count, words),
            _ => self.fold_decoded(asked, vector, words),
        }
    }

    // Not inlined: a vector's buffer on the stack is touched page by page, so only this path should
    // pay.
    #[inline(never)]
    fn fold_decoded(&self, asked: Asked, vector: usize, words: Option<&[u64]>) -> Fold {
        let mut values = [0i64; VECTOR_VALUES];
        let length = self.decode_vector(vector, &mut values);
        Fold::of(asked, &values[..length], words)
    }
}

impl Progression<'_> {
    /// Folds `count` values, from the fold of their counts.
    fn fold(&self, Fold { sum, min, max }: Fold, count: usize) -> Fold {
        let base = Fold::repeated(self.base, count).sum;
        // It wraps only for bytes that no writer produces.
        let sum = base.wrapping_add(sum.wrapping_mul(self.step.into()));
        Fold { sum, min: self.value(min), max: self.value(max) }
    }
}

impl Vector<'_> {
    /// Folds the `count` values whose bits are one, or all of them. `count` must be at least one.
    #[inline]
    fn fold(&self, asked: Asked, length: usize, count: usize, words: Option<&[u64]>) -> Fold {
        // In this case a value is the min plus its offset, and the sum of the two does not wrap.
        let is_plain = self.delta.is_none() && self.min <= self.max;
        if is_plain
            && length == VECTOR_VALUES
            && let Ok(words) = words.map(<&[u64; VECTOR_WORDS]>::try_from).transpose()
        {
            return Fold::of_offsets(self.min, count, self.fold_packed(asked, words));
        }
        match self.is_narrow() {
            true => self.fold_narrow(asked, length, count, words),
            false => self.fold_wide(asked, length, words),
        }
    }

    /// Folds the offsets from the min, of a full vector without differences.
    #[inline]
    fn fold_packed(&self, asked: Asked, words: Option<&[u64; VECTOR_WORDS]>) -> PackedFold {
        let (packed, width) = (self.packed, self.width);
        match (asked, words) {
            (Asked::Sum, None) => {
                let mut sum = kernels::sum_packed(packed, width);
                self.for_each_patch(|_, extra| sum += u128::from(extra));
                PackedFold { sum, min: 0, max: 0 }
            }
            (Asked::Sum, Some(words)) => {
                let mut sum = kernels::sum_packed_where(packed, width, words);
                self.for_each_patch(|place, extra| {
                    sum += if has(words, place) { u128::from(extra) } else { 0 };
                });
                PackedFold { sum, min: 0, max: 0 }
            }
            (Asked::All, None) if !self.is_patched() => kernels::fold_packed(packed, width),
            (Asked::All, words) => self.fold_patched(words.unwrap_or(&[u64::MAX; VECTOR_WORDS])),
        }
    }

    /// [`Self::fold_packed`] of a patched vector: first the values without patches, then each
    /// patched one.
    fn fold_patched(&self, words: &[u64; VECTOR_WORDS]) -> PackedFold {
        let mut others = *words;
        self.for_each_patch(|place, _| bitmap::put(&mut others, place, false));
        let mut fold = kernels::fold_packed_where(self.packed, self.width, &others);
        self.for_each_patch(|place, extra| {
            if has(words, place) {
                let low = kernels::packed_value(self.packed, self.width, place);
                let offset = extra.wrapping_add(low);
                fold.sum += u128::from(offset);
                fold.min = fold.min.min(offset);
                fold.max = fold.max.max(offset);
            }
        });
        fold
    }

    #[inline(never)]
    fn fold_narrow(
        &self,
        asked: Asked,
        length: usize,
        count: usize,
        words: Option<&[u64]>,
    ) -> Fold {
        let mut offsets = [0u32; VECTOR_VALUES];
        self.decode(length, self.narrow_bias(), &mut offsets);
        let offsets = &offsets[..length];
        let sum = match words {
            Some(words) => kernels::sum_u32_where(offsets, words),
            None => kernels::sum_u32(offsets),
        };
        let ends = match (asked, words) {
            (Asked::Sum, _) => None,
            (Asked::All, Some(words)) => kernels::min_max_u32_where(offsets, words),
            (Asked::All, None) => kernels::min_max_u32(offsets),
        };
        let (min, max) = ends.unwrap_or_default();
        let fold = PackedFold { sum: sum.into(), min: min.into(), max: max.into() };
        Fold::of_offsets(self.min, count, fold)
    }

    #[inline(never)]
    fn fold_wide(&self, asked: Asked, length: usize, words: Option<&[u64]>) -> Fold {
        let mut values = [0i64; VECTOR_VALUES];
        self.decode(length, 0, &mut values);
        Fold::of(asked, &values[..length], words)
    }

    /// Whether 32 bits hold the offset of each value from the min.
    pub(super) fn is_narrow(&self) -> bool {
        self.max.checked_sub(self.min).is_some_and(|range| u32::try_from(range).is_ok())
    }

    /// The number to add to each value, modulo 2^32, to get its offset from the min. Only for
    /// vectors for which [`Self::is_narrow`] holds.
    pub(super) fn narrow_bias(&self) -> u32 {
        low(self.min.wrapping_neg())
    }
}

/// Whether the bit at this position is one.
fn has(words: &[u64; VECTOR_WORDS], place: usize) -> bool {
    words[place / 64] >> (place % 64) & 1 == 1
}
