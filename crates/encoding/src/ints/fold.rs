//! Sum, smallest and largest of a stream, without decoding more than a vector at a time.

use hadal_types::limits::VECTOR_VALUES;

use super::low;
use super::vector::Vector;
use super::view::{Form, IntsView, Steps};
use crate::bitmap::{Bitmap, count_ones, count_ones_in};
use crate::kernels::{self, PackedFold};

/// What a stream adds up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The sum of all values, exact.
    pub sum: i128,
    /// The smallest value; of an empty stream the largest there is.
    pub min: i64,
    /// The largest value; of an empty stream the smallest there is.
    pub max: i64,
}

impl Fold {
    const EMPTY: Self = Self { sum: 0, min: i64::MAX, max: i64::MIN };

    fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    fn repeated(value: i64, count: usize) -> Self {
        let sum = i128::from(value) * i128::try_from(count).unwrap_or_default();
        Self { sum, min: value, max: value }
    }

    fn of(values: &[i64]) -> Self {
        let Some((min, max)) = kernels::min_max_i64(values) else { return Self::EMPTY };
        Self { sum: kernels::sum_i64(values), min, max }
    }

    /// Those of the values whose bits are one.
    fn of_chosen(values: &[i64], words: &[u64]) -> Self {
        let Some((min, max)) = kernels::min_max_i64_where(values, words) else {
            return Self::EMPTY;
        };
        Self { sum: kernels::sum_i64_where(values, words), min, max }
    }

    /// `base` plus each of `count` offsets that come to this.
    fn of_offsets(base: i64, count: usize, sum: u128, (min, max): (u64, u64)) -> Self {
        Self {
            sum: Self::repeated(base, count).sum + i128::try_from(sum).unwrap_or_default(),
            min: base.wrapping_add(min.cast_signed()),
            max: base.wrapping_add(max.cast_signed()),
        }
    }
}

impl IntsView<'_> {
    /// Sum, smallest and largest of all values, placeholders included.
    #[must_use]
    pub fn fold(&self) -> Fold {
        match &self.form {
            Form::Constant(_) if self.length == 0 => Fold::EMPTY,
            Form::Constant(value) => Fold::repeated(*value, self.length),
            Form::Runs(runs) => {
                let mut fold = Fold::EMPTY;
                let mut start = 0;
                for (&value, &end) in runs.values.iter().zip(&runs.ends) {
                    fold.add(Fold::repeated(value, (end - start) as usize));
                    start = end;
                }
                fold
            }
            Form::Steps(steps) if self.length > 0 => steps.fold(steps.counts.fold(), self.length),
            _ => {
                let mut fold = Fold::EMPTY;
                (0..self.vector_count()).for_each(|vector| fold.add(self.fold_vector(vector)));
                fold
            }
        }
    }

    /// The same of the values whose bits are one, of one bit per value; of none, what
    /// [`Self::fold`] says of an empty stream.
    ///
    /// # Panics
    /// When `chosen` are not as many bits as there are values.
    #[must_use]
    pub fn fold_where(&self, chosen: &Bitmap) -> Fold {
        assert_eq!(chosen.len(), self.length, "bits for the values");
        match &self.form {
            Form::Constant(value) => match chosen.count_ones() {
                0 => Fold::EMPTY,
                count => Fold::repeated(*value, count),
            },
            Form::Runs(runs) => {
                let mut fold = Fold::EMPTY;
                let mut start = 0;
                for (&value, &end) in runs.values.iter().zip(&runs.ends) {
                    match count_ones_in(chosen.words(), start, end as usize) {
                        0 => {}
                        count => fold.add(Fold::repeated(value, count)),
                    }
                    start = end as usize;
                }
                fold
            }
            Form::Steps(steps) => match steps.counts.fold_where(chosen) {
                Fold::EMPTY => Fold::EMPTY,
                fold => steps.fold(fold, chosen.count_ones()),
            },
            Form::Vectors(_) | Form::Dictionary(_) => {
                let mut fold = Fold::EMPTY;
                for (vector, words) in chosen.words().chunks(VECTOR_VALUES / 64).enumerate() {
                    fold.add(self.fold_vector_where(vector, words));
                }
                fold
            }
        }
    }

    fn fold_vector(&self, vector: usize) -> Fold {
        let length = self.vector_length(vector);
        match &self.form {
            Form::Vectors(vectors) => vectors[vector].fold(length),
            _ => self.fold_decoded(vector, None),
        }
    }

    fn fold_vector_where(&self, vector: usize, words: &[u64]) -> Fold {
        let length = self.vector_length(vector);
        match (count_ones(words), &self.form) {
            (0, _) => Fold::EMPTY,
            (count, _) if count == length => self.fold_vector(vector),
            (count, Form::Vectors(vectors)) => vectors[vector].fold_where(length, count, words),
            _ => self.fold_decoded(vector, Some(words)),
        }
    }

    #[inline(never)]
    fn fold_decoded(&self, vector: usize, words: Option<&[u64]>) -> Fold {
        let mut values = [0i64; VECTOR_VALUES];
        let length = self.decode_vector(vector, &mut values);
        match words {
            Some(words) => Fold::of_chosen(&values[..length], words),
            None => Fold::of(&values[..length]),
        }
    }
}

impl Steps<'_> {
    /// What `count` values come to, whose counts come to this.
    fn fold(&self, Fold { sum, min, max }: Fold, count: usize) -> Fold {
        let base = Fold::repeated(self.base, count).sum;
        // It wraps only for bytes that no writer writes.
        let sum = base.wrapping_add(sum.wrapping_mul(self.step.into()));
        Fold { sum, min: self.value(min), max: self.value(max) }
    }
}

impl Vector<'_> {
    #[inline]
    fn fold(&self, length: usize) -> Fold {
        if length == VECTOR_VALUES && self.is_plain() {
            let PackedFold { sum, min, max } = kernels::fold_packed(self.packed, self.width);
            return Fold::of_offsets(self.min, length, sum, (min, max));
        }
        if self.is_narrow() { self.fold_narrow(length) } else { self.fold_wide(length) }
    }

    // Room for a vector is made only where it is used: it has to be touched page by page.
    #[inline(never)]
    fn fold_narrow(&self, length: usize) -> Fold {
        let mut offsets = [0u32; VECTOR_VALUES];
        self.decode(length, self.narrow_bias(), &mut offsets);
        let offsets = &offsets[..length];
        let Some((min, max)) = kernels::min_max_u32(offsets) else { return Fold::EMPTY };
        let sum = kernels::sum_u32(offsets).into();
        Fold::of_offsets(self.min, length, sum, (min.into(), max.into()))
    }

    #[inline(never)]
    fn fold_wide(&self, length: usize) -> Fold {
        let mut values = [0i64; VECTOR_VALUES];
        self.decode(length, 0, &mut values);
        Fold::of(&values[..length])
    }

    /// The same of the `count` values whose bits are one.
    #[inline]
    fn fold_where(&self, length: usize, count: usize, words: &[u64]) -> Fold {
        if self.is_plain()
            && let Ok(words) = words.try_into()
            && length == VECTOR_VALUES
        {
            let fold = kernels::fold_packed_where(self.packed, self.width, words);
            return Fold::of_offsets(self.min, count, fold.sum, (fold.min, fold.max));
        }
        match self.is_narrow() {
            true => self.fold_narrow_where(length, count, words),
            false => self.fold_wide_where(length, words),
        }
    }

    #[inline(never)]
    fn fold_narrow_where(&self, length: usize, count: usize, words: &[u64]) -> Fold {
        let mut offsets = [0u32; VECTOR_VALUES];
        self.decode(length, self.narrow_bias(), &mut offsets);
        let offsets = &offsets[..length];
        let Some((min, max)) = kernels::min_max_u32_where(offsets, words) else {
            return Fold::EMPTY;
        };
        let sum = kernels::sum_u32_where(offsets, words).into();
        Fold::of_offsets(self.min, count, sum, (min.into(), max.into()))
    }

    #[inline(never)]
    fn fold_wide_where(&self, length: usize, words: &[u64]) -> Fold {
        let mut values = [0i64; VECTOR_VALUES];
        self.decode(length, 0, &mut values);
        Fold::of_chosen(&values[..length], words)
    }

    /// Whether values are the packed ones and the min, and no sum of these wraps.
    fn is_plain(&self) -> bool {
        self.delta.is_none() && !self.is_patched() && self.min <= self.max
    }

    /// Whether 32 bits hold the offset of each value from the min.
    pub(super) fn is_narrow(&self) -> bool {
        self.max.checked_sub(self.min).is_some_and(|range| u32::try_from(range).is_ok())
    }

    /// What to add to each value, modulo 2^32, to have its offset from the min, where 32 bits hold
    /// all of these.
    pub(super) fn narrow_bias(&self) -> u32 {
        low(self.min.wrapping_neg())
    }
}
