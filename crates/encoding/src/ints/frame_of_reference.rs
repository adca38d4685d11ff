//! Values of a stream as small numbers: from + step × k with a 32-bit k. Scans compare, group and
//! sum the numbers k, twice as many at a time as wide integers.

use hadal_types::limits::VECTOR_VALUES;

use super::low;
use super::view::{Form, IntsView, Progression};
use crate::{Bitmap, Buffer, EncodingError, kernels};

/// Describes the values of a stream: from + step × k, 0 ≤ k ≤ span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameOfReference {
    /// The value of k = 0. No value is smaller than it.
    pub from: i64,
    /// At least 1. `from` + `step` × `span` fits 64 bits.
    pub step: i64,
    /// The maximum of k; some k may not occur.
    pub span: u32,
}

impl FrameOfReference {
    /// The frame from one value to another, if their difference fits 32 bits.
    fn between((min, max): (i64, i64)) -> Option<Self> {
        let span = u32::try_from(max.checked_sub(min)?).ok()?;
        Some(Self { from: min, step: 1, span })
    }

    /// The largest possible value.
    #[must_use]
    pub fn to(&self) -> i64 {
        self.from.wrapping_add(self.step.wrapping_mul(self.span.into()))
    }
}

impl IntsView<'_> {
    /// The frame of reference of the values, placeholders included; `None` if the values have none.
    /// Cost: O(vectors + runs); nothing is decoded.
    #[must_use]
    pub fn frame_of_reference(&self) -> Option<FrameOfReference> {
        match &self.form {
            Form::Constant(value) => FrameOfReference::between((*value, *value)),
            Form::Vectors(vectors) => {
                let min = vectors.iter().map(|vector| vector.min).min()?;
                let max = vectors.iter().map(|vector| vector.max).max()?;
                FrameOfReference::between((min, max))
            }
            Form::Runs(runs) => {
                FrameOfReference::between((*runs.values.iter().min()?, *runs.values.iter().max()?))
            }
            Form::Dictionary(dictionary) => dictionary.entries.frame_of_reference(),
            Form::Progression(steps) => {
                let counts = steps.counts.frame_of_reference()?;
                let step = i64::try_from(steps.step).ok().filter(|&step| step > 0)?;
                let from = steps.base.checked_add(counts.from.checked_mul(step)?)?;
                from.checked_add(step.checked_mul(counts.span.into())?)?;
                Some(FrameOfReference { from, step, span: counts.span })
            }
        }
    }

    /// The k of every value. With `chosen`, only the chosen ones are right; others are any number
    /// up to the span. `frame_of_reference` must be the result of [`Self::frame_of_reference`].
    ///
    /// # Errors
    /// [`EncodingError::Limit`] when a k is beyond the span, in bytes that no writer produces.
    ///
    /// # Panics
    /// When the length of `chosen` differs from the number of values.
    pub fn steps_where(
        &self,
        frame_of_reference: &FrameOfReference,
        chosen: Option<&Bitmap>,
    ) -> Result<Buffer, EncodingError> {
        let (counts, bias) = self.counts_near(frame_of_reference);
        counts.buffered(bias, chosen, |steps| check_steps(steps, frame_of_reference))
    }

    /// Decodes the k of one vector's values to the front of `out`, and returns their number. The
    /// rest of `out` is unspecified.
    ///
    /// # Errors
    /// [`EncodingError::Limit`] when a k is beyond the span, in bytes that no writer produces.
    ///
    /// # Panics
    /// When `vector` is not below [`Self::vector_count`].
    pub fn decode_steps_vector(
        &self,
        frame_of_reference: &FrameOfReference,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, EncodingError> {
        let (counts, bias) = self.counts_near(frame_of_reference);
        let length = counts.decode_biased(vector, bias, out);
        check_steps(&out[..length], frame_of_reference)?;
        Ok(length)
    }

    /// The stream whose values are k minus `bias`, modulo 2^32; every k fits 32 bits.
    fn counts_near(&self, frame_of_reference: &FrameOfReference) -> (&Self, u32) {
        match &self.form {
            Form::Progression(Progression { base, counts, .. }) => {
                let from = frame_of_reference
                    .from
                    .wrapping_sub(*base)
                    .checked_div(frame_of_reference.step);
                (counts, low(from.unwrap_or_default().wrapping_neg()))
            }
            _ => (self, low(frame_of_reference.from.wrapping_neg())),
        }
    }
}

fn check_steps(steps: &[u32], frame_of_reference: &FrameOfReference) -> Result<(), EncodingError> {
    let max = kernels::min_max_u32(steps).map_or(0, |(_, max)| max);
    if max <= frame_of_reference.span {
        return Ok(());
    }
    let (value, most) = (max.into(), frame_of_reference.span.into());
    Err(EncodingError::Limit { what: "a step", value, most })
}
