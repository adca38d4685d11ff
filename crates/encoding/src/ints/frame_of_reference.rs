//! Values of a stream as small numbers: from + step × k with k of 32 bits. Scans compare, group and
//! add up the k, twice as many at a time as wide integers.

use hadal_types::limits::VECTOR_VALUES;

use super::low;
use super::view::{Form, IntsView, Steps};
use crate::{Bitmap, Buffer, EncodingError, kernels};

/// What the values of a stream are: from + step × k, 0 ≤ k ≤ span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// The value of k = 0. No value is smaller.
    pub from: i64,
    /// At least 1. `from` + `step` × `span` fits 64 bits.
    pub step: i64,
    /// No k is larger; some may not occur.
    pub span: u32,
}

impl Near {
    /// From one value to another, if they lie near to each other.
    fn between((min, max): (i64, i64)) -> Option<Self> {
        let span = u32::try_from(max.checked_sub(min)?).ok()?;
        Some(Self { from: min, step: 1, span })
    }

    /// The largest value that there may be.
    #[must_use]
    pub fn to(&self) -> i64 {
        self.from.wrapping_add(self.step.wrapping_mul(self.span.into()))
    }
}

impl IntsView<'_> {
    /// How the values are small numbers, placeholders included; `None` where they are not.
    /// Cost: O(vectors + runs); nothing is decoded.
    #[must_use]
    pub fn near(&self) -> Option<Near> {
        match &self.form {
            Form::Constant(value) => Near::between((*value, *value)),
            Form::Vectors(vectors) => {
                let min = vectors.iter().map(|vector| vector.min).min()?;
                let max = vectors.iter().map(|vector| vector.max).max()?;
                Near::between((min, max))
            }
            Form::Runs(runs) => {
                Near::between((*runs.values.iter().min()?, *runs.values.iter().max()?))
            }
            Form::Dictionary(dictionary) => dictionary.entries.near(),
            Form::Steps(steps) => {
                let counts = steps.counts.near()?;
                let step = i64::try_from(steps.step).ok().filter(|&step| step > 0)?;
                let from = steps.base.checked_add(counts.from.checked_mul(step)?)?;
                from.checked_add(step.checked_mul(counts.span.into())?)?;
                Some(Near { from, step, span: counts.span })
            }
        }
    }

    /// Every value's k, of which only those that are chosen need be right, where not all are: others
    /// may be any up to the span. `near` is what [`Self::near`] returned.
    ///
    /// # Errors
    /// [`EncodingError::Limit`] when a k is beyond the span, in bytes that no writer writes.
    ///
    /// # Panics
    /// When `chosen` are not as many bits as there are values.
    pub fn steps_where(
        &self,
        near: &Near,
        chosen: Option<&Bitmap>,
    ) -> Result<Buffer, EncodingError> {
        let (counts, bias) = self.counts_near(near);
        counts.buffered(bias, chosen, |steps| check_steps(steps, near))
    }

    /// The k of one vector's values, put into the front of `out`; returns how many there are. What
    /// is behind is unspecified.
    ///
    /// # Errors
    /// [`EncodingError::Limit`] when a k is beyond the span, in bytes that no writer writes.
    ///
    /// # Panics
    /// When `vector` is not below [`Self::vector_count`].
    pub fn decode_steps_vector(
        &self,
        near: &Near,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, EncodingError> {
        let (counts, bias) = self.counts_near(near);
        let length = counts.decode_biased(vector, bias, out);
        check_steps(&out[..length], near)?;
        Ok(length)
    }

    /// The stream whose values are k minus `bias`, modulo 2^32, which every k fits.
    fn counts_near(&self, near: &Near) -> (&Self, u32) {
        match &self.form {
            Form::Steps(Steps { base, counts, .. }) => {
                let from = near.from.wrapping_sub(*base).checked_div(near.step);
                (counts, low(from.unwrap_or_default().wrapping_neg()))
            }
            _ => (self, low(near.from.wrapping_neg())),
        }
    }
}

fn check_steps(steps: &[u32], near: &Near) -> Result<(), EncodingError> {
    let max = kernels::min_max_u32(steps).map_or(0, |(_, max)| max);
    if max <= near.span {
        return Ok(());
    }
    let (found, most) = (max.into(), near.span.into());
    Err(EncodingError::Limit { what: "a step", found, most })
}
