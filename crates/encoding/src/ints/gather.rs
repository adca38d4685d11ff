//! Reads the values of chosen rows only. Vectors without a chosen row are skipped. In vectors with
//! few chosen rows, the values of these rows are looked up one by one instead of unpacking all
//! 1,024 values.

use hadal_types::limits::VECTOR_VALUES;

use super::Element;
use super::vector::Vector;
use super::view::{Form, IntsView};
use crate::bitmap::{self, Bitmap};
use crate::{Buffer, EncodingError, kernels};

/// Up to this many values of a vector, looking them up is faster than decoding the vector: each
/// look-up waits for memory, while whole vectors are prefetched.
const FEW: usize = 2;

impl IntsView<'_> {
    /// Decodes all values plus `bias` to the front of `out`, which must have space for whole
    /// vectors. With `chosen`, only the chosen values are right; others may be zeros. `check` gets
    /// the decoded values.
    ///
    /// # Panics
    /// When the length of `chosen` differs from the number of values.
    pub(super) fn put<S: Element>(
        &self,
        bias: S,
        chosen: Option<&Bitmap>,
        out: &mut [S],
        check: impl Fn(&[S]) -> Result<(), EncodingError>,
    ) -> Result<(), EncodingError> {
        if let (Form::Dictionary(dictionary), None) = (&self.form, chosen) {
            dictionary.put(bias, out);
            return check(&out[..self.length]);
        }
        let chunk = |vector: usize| {
            let chosen = chosen.map(|chosen| chosen.words().chunks(VECTOR_VALUES / 64).nth(vector));
            chosen.map(Option::unwrap_or_default)
        };
        assert!(chosen.is_none_or(|chosen| chosen.len() == self.length), "bits for the values");
        let (vectors, _) = out.as_chunks_mut::<VECTOR_VALUES>();
        for (vector, slots) in vectors.iter_mut().enumerate().take(self.vector_count()) {
            let length = match chunk(vector) {
                Some(words) if bitmap::count_ones(words) <= FEW => {
                    self.look_up(vector, words, bias, slots)
                }
                _ => self.decode_biased(vector, bias, slots),
            };
            check(&slots[..length])?;
        }
        Ok(())
    }

    /// Like [`Self::put`], into a buffer.
    pub(super) fn buffered(
        &self,
        bias: u32,
        chosen: Option<&Bitmap>,
        check: impl Fn(&[u32]) -> Result<(), EncodingError>,
    ) -> Result<Buffer, EncodingError> {
        let mut out = Buffer::of(self.length.next_multiple_of(VECTOR_VALUES));
        self.put(bias, chosen, &mut out, check)?;
        out.truncate(self.length);
        Ok(out)
    }

    /// Appends all values to `out`, like [`Self::put`].
    pub(super) fn append<S: Element>(
        &self,
        out: &mut Vec<S>,
        check: impl Fn(&[S]) -> Result<(), EncodingError>,
    ) -> Result<(), EncodingError> {
        let start = out.len();
        out.resize(start + self.length.next_multiple_of(VECTOR_VALUES), S::default());
        let done = self.put(S::default(), None, &mut out[start..], check);
        out.truncate(start + self.length);
        done
    }

    /// Decodes the values of a vector whose bits are one; the others become zeros.
    fn look_up<S: Element>(
        &self,
        vector: usize,
        words: &[u64],
        bias: S,
        out: &mut [S; VECTOR_VALUES],
    ) -> usize {
        let value = |place: usize| self.value_at(vector * VECTOR_VALUES + place);
        out.fill(S::default());
        for place in bitmap::ones_of(words) {
            let Some(value) = value(place) else { return self.decode_biased(vector, bias, out) };
            out[place] = bias.plus(S::from_u64(value.cast_unsigned()));
        }
        self.vector_length(vector)
    }

    /// One value; `None` if its vector must be decoded to get it.
    ///
    /// # Panics
    /// When `row` is not below the length.
    #[must_use]
    pub fn value_at(&self, row: usize) -> Option<i64> {
        assert!(row < self.length, "value {row} of {}", self.length);
        match &self.form {
            Form::Constant(value) => Some(*value),
            Form::Vectors(vectors) => {
                let vector = row / VECTOR_VALUES;
                vectors[vector].value_at(row % VECTOR_VALUES, self.vector_length(vector))
            }
            Form::Progression(steps) => Some(steps.value(steps.counts.value_at(row)?)),
            Form::Runs(runs) => Some(runs.values[runs.run_of(row)]),
            Form::Dictionary(dictionary) => Some(dictionary.value(dictionary.codes.value_at(row)?)),
        }
    }
}

impl Vector<'_> {
    fn value_at(&self, place: usize, length: usize) -> Option<i64> {
        if self.delta.is_some() || length < VECTOR_VALUES {
            return None;
        }
        let packed = kernels::packed_value(self.packed, self.width, place);
        let offset = packed.wrapping_add(self.extra_at(place));
        Some(self.min.wrapping_add(offset.cast_signed()))
    }
}
