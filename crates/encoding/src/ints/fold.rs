//! Sum, smallest and largest of a stream, without decoding more than a vector at a time.

use hadal_types::limits::VECTOR_VALUES;

use super::low;
use super::vector::Vector;
use super::view::{Form, IntsView};
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

    /// `base` plus each of these.
    fn of_offsets(base: i64, offsets: &[u32]) -> Self {
        let Some((min, max)) = kernels::min_max_u32(offsets) else { return Self::EMPTY };
        Self {
            sum: Self::repeated(base, offsets.len()).sum + i128::from(kernels::sum_u32(offsets)),
            min: base.wrapping_add(min.into()),
            max: base.wrapping_add(max.into()),
        }
    }

    /// `base` plus each of a full vector's packed values.
    fn of_packed(base: i64, packed: &[u8], width: u8) -> Self {
        let PackedFold { sum, min, max } = kernels::fold_packed(packed, width);
        Self {
            sum: Self::repeated(base, VECTOR_VALUES).sum + i128::try_from(sum).unwrap_or_default(),
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
            Form::Steps(steps) if self.length > 0 => {
                let Fold { sum, min, max } = steps.counts.fold();
                let base = Fold::repeated(steps.base, self.length).sum;
                // It wraps only for bytes that no writer writes.
                let sum = base.wrapping_add(sum.wrapping_mul(steps.step.into()));
                Fold { sum, min: steps.value(min), max: steps.value(max) }
            }
            _ => {
                let mut fold = Fold::EMPTY;
                (0..self.vector_count()).for_each(|vector| fold.add(self.fold_vector(vector)));
                fold
            }
        }
    }

    fn fold_vector(&self, vector: usize) -> Fold {
        let length = self.vector_length(vector);
        if let Form::Vectors(vectors) = &self.form
            && let Some(bias) = vectors[vector].narrow_bias()
        {
            let vector = &vectors[vector];
            if length == VECTOR_VALUES && vector.delta.is_none() && !vector.is_patched() {
                return Fold::of_packed(vector.min, vector.packed, vector.width);
            }
            let mut offsets = [0u32; VECTOR_VALUES];
            vector.decode(length, bias, &mut offsets);
            return Fold::of_offsets(vector.min, &offsets[..length]);
        }
        let mut values = [0i64; VECTOR_VALUES];
        self.decode_vector(vector, &mut values);
        Fold::of(&values[..length])
    }
}

impl Vector<'_> {
    /// What to add to each value, modulo 2^32, to have its offset from the min, where 32 bits hold
    /// all of these.
    fn narrow_bias(&self) -> Option<u32> {
        u32::try_from(self.max.checked_sub(self.min)?).ok()?;
        Some(low(self.min.wrapping_neg()))
    }
}
