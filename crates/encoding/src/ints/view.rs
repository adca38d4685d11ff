//! Reads streams; each vector can be decoded by itself.

use std::borrow::Cow;
use std::sync::OnceLock;

use hadal_types::limits::VECTOR_VALUES;

use super::Element;
use super::vector::Vector;
use crate::{Bitmap, Buffer, EncodingError, kernels};

/// An encoded stream of integers.
#[derive(Clone, Debug)]
pub struct IntsView<'a> {
    pub(super) length: usize,
    pub(super) form: Form<'a>,
}

#[derive(Clone, Debug)]
pub(super) enum Form<'a> {
    Constant(i64),
    Vectors(Vec<Vector<'a>>),
    Progression(Progression<'a>),
    Runs(RunEnds),
    Dictionary(Box<Dictionary<'a>>),
}

/// Values of the form base + step × count.
#[derive(Clone, Debug)]
pub(super) struct Progression<'a> {
    pub(super) base: i64,
    pub(super) step: u64,
    pub(super) counts: Box<IntsView<'a>>,
}

/// Run-length encoding: the values, and the row after the last of each run.
#[derive(Clone, Debug)]
pub(super) struct RunEnds {
    pub(super) values: Vec<i64>,
    pub(super) ends: Vec<u32>,
}

/// Distinct values, and a code per row.
#[derive(Clone, Debug)]
pub(super) struct Dictionary<'a> {
    pub(super) entries: IntsView<'a>,
    pub(super) codes: IntsView<'a>,
    /// The decoded entries, filled at first use.
    pub(super) table: OnceLock<Vec<i64>>,
}

/// The runs of a stream that is stored as runs.
#[derive(Clone, Debug)]
pub struct Runs<'v> {
    /// The value of each run. Neighbours may be equal.
    pub values: Cow<'v, [i64]>,
    /// The row after the last row of each run: strictly ascending, up to the stream's length.
    pub ends: &'v [u32],
}

impl<'a> IntsView<'a> {
    /// How many values there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no values.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The value that all values equal, if the stream is stored as a constant.
    #[must_use]
    pub const fn constant(&self) -> Option<i64> {
        match self.form {
            Form::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The runs, if the stream is stored as runs.
    #[must_use]
    pub fn runs(&self) -> Option<Runs<'_>> {
        match &self.form {
            Form::Runs(RunEnds { values, ends }) => {
                Some(Runs { values: Cow::Borrowed(values), ends })
            }
            Form::Progression(steps) => {
                let Runs { values, ends } = steps.counts.runs()?;
                let values = values.iter().map(|&count| steps.value(count)).collect();
                Some(Runs { values, ends })
            }
            _ => None,
        }
    }

    /// The distinct values, ascending, and the codes of the rows, if the stream is stored as a
    /// dictionary. Nothing is decoded; hostile bytes may have entries in any order, and any codes.
    #[must_use]
    pub fn dictionary(&self) -> Option<(Self, Self)> {
        match &self.form {
            Form::Dictionary(dictionary) => {
                Some((dictionary.entries.clone(), dictionary.codes.clone()))
            }
            Form::Progression(Progression { base, step, counts }) => {
                let (entries, codes) = counts.dictionary()?;
                let (length, counts) = (entries.length, Box::new(entries));
                let steps = Progression { base: *base, step: *step, counts };
                Some((Self { length, form: Form::Progression(steps) }, codes))
            }
            _ => None,
        }
    }

    /// How many vectors of 1,024 values there are; the last may be shorter.
    #[must_use]
    pub(crate) const fn vector_count(&self) -> usize {
        self.length.div_ceil(VECTOR_VALUES)
    }

    /// The number of values in a vector: 1,024, or fewer in the last.
    #[must_use]
    pub(crate) fn vector_length(&self, vector: usize) -> usize {
        self.length.saturating_sub(vector * VECTOR_VALUES).min(VECTOR_VALUES)
    }

    /// Bounds of a vector's values, placeholders of nulls included: (min, max).
    ///
    /// # Panics
    /// When `vector` is not below [`Self::vector_count`].
    #[must_use]
    pub fn zone(&self, vector: usize) -> (i64, i64) {
        match &self.form {
            Form::Constant(value) => (*value, *value),
            Form::Vectors(vectors) => (vectors[vector].min, vectors[vector].max),
            Form::Progression(steps) => {
                let (min, max) = steps.counts.zone(vector);
                (steps.value(min), steps.value(max))
            }
            Form::Runs(runs) => runs.zone(vector * VECTOR_VALUES, self.vector_length(vector)),
            Form::Dictionary(dictionary) => {
                let (min, max) = dictionary.codes.zone(vector);
                (dictionary.value(min), dictionary.value(max))
            }
        }
    }

    /// Decodes a vector to the front of `out` and returns its length; the rest of `out` is
    /// unspecified. Values that do not fit an element are taken modulo its size.
    ///
    /// # Panics
    /// When `vector` is not below [`Self::vector_count`].
    pub fn decode_vector<S: Element>(&self, vector: usize, out: &mut [S; VECTOR_VALUES]) -> usize {
        self.decode_biased(vector, S::default(), out)
    }

    /// [`Self::decode_vector`], with `bias` added to each value.
    pub(super) fn decode_biased<S: Element>(
        &self,
        vector: usize,
        bias: S,
        out: &mut [S; VECTOR_VALUES],
    ) -> usize {
        let length = self.vector_length(vector);
        match &self.form {
            Form::Constant(value) => out.fill(bias.plus(S::from_u64(value.cast_unsigned()))),
            Form::Vectors(vectors) => vectors[vector].decode(length, bias, out),
            Form::Progression(steps) => {
                steps.counts.decode_biased(vector, S::default(), out);
                let base = bias.plus(S::from_u64(steps.base.cast_unsigned()));
                for slot in &mut out[..length] {
                    *slot = base.plus(slot.times(steps.step));
                }
            }
            Form::Runs(runs) => runs.decode(vector * VECTOR_VALUES, bias, &mut out[..length]),
            Form::Dictionary(dictionary) => dictionary.decode(vector, bias, &mut out[..length]),
        }
        length
    }

    /// Appends all values to `out`.
    pub fn decode_into(&self, out: &mut Vec<i64>) {
        // The check never fails, so neither does this.
        let _ = self.append(out, |_| Ok(()));
    }

    /// Appends all codes to `out`.
    ///
    /// # Errors
    /// [`EncodingError::Limit`] when a code is not below `code_limit`.
    pub fn decode_codes_into(
        &self,
        code_limit: usize,
        out: &mut Vec<u32>,
    ) -> Result<(), EncodingError> {
        self.append(out, |codes| check_codes(codes, code_limit))
    }

    /// All codes. With `chosen`, only the chosen ones are right; others may be 0.
    ///
    /// # Errors
    /// [`EncodingError::Limit`] when a code is not below `code_limit`.
    ///
    /// # Panics
    /// When the length of `chosen` differs from the number of values.
    pub fn codes_where(
        &self,
        code_limit: usize,
        chosen: Option<&Bitmap>,
    ) -> Result<Buffer, EncodingError> {
        self.buffered(0, chosen, |codes| check_codes(codes, code_limit))
    }
}

impl Progression<'_> {
    pub(super) const fn value(&self, count: i64) -> i64 {
        self.base.wrapping_add(count.wrapping_mul(self.step.cast_signed()))
    }
}

impl RunEnds {
    /// The index of the run that contains this row.
    pub(super) fn run_of(&self, row: usize) -> usize {
        self.ends.partition_point(|&end| end as usize <= row)
    }

    fn zone(&self, start: usize, length: usize) -> (i64, i64) {
        let (first, last) = (self.run_of(start), self.run_of(start + length - 1));
        super::plan::bounds(&self.values[first..=last])
    }

    fn decode<S: Element>(&self, start: usize, bias: S, out: &mut [S]) {
        let mut run = self.run_of(start);
        let mut from = 0;
        while from < out.len() {
            let to = (self.ends[run] as usize - start).min(out.len());
            out[from..to].fill(bias.plus(S::from_u64(self.values[run].cast_unsigned())));
            (from, run) = (to, run + 1);
        }
    }
}

impl Dictionary<'_> {
    /// The distinct values; at least one.
    pub(super) fn table(&self) -> &[i64] {
        self.table.get_or_init(|| {
            let mut table = Vec::new();
            self.entries.decode_into(&mut table);
            table
        })
    }

    /// The value of a code. Codes that no writer produces get the last value.
    pub(super) fn value(&self, code: i64) -> i64 {
        let table = self.table();
        table[usize::try_from(code).unwrap_or(usize::MAX).min(table.len() - 1)]
    }

    fn decode<S: Element>(&self, vector: usize, bias: S, out: &mut [S]) {
        let mut codes = [0u32; VECTOR_VALUES];
        for (slot, &code) in out.iter_mut().zip(self.codes(vector, &mut codes)) {
            let value = self.table()[code as usize];
            *slot = bias.plus(S::from_u64(value.cast_unsigned()));
        }
    }

    /// Decodes all vectors to the front of `out`. The bias is added to each entry, and each entry
    /// narrowed, once.
    pub(super) fn put<S: Element>(&self, bias: S, out: &mut [S]) {
        let narrow = |value: &i64| bias.plus(S::from_u64(value.cast_unsigned()));
        let table: Vec<S> = self.table().iter().map(narrow).collect();
        let mut codes = [0u32; VECTOR_VALUES];
        let vectors = out.chunks_mut(VECTOR_VALUES).take(self.codes.vector_count());
        for (vector, out) in vectors.enumerate() {
            let codes = self.codes(vector, &mut codes);
            S::gather(&table, codes, &mut out[..codes.len()]);
        }
    }

    /// A vector's codes. Codes that no writer produces become the last code.
    fn codes<'b>(&self, vector: usize, buffer: &'b mut [u32; VECTOR_VALUES]) -> &'b [u32] {
        let length = self.codes.decode_vector(vector, buffer);
        let codes = &mut buffer[..length];
        let last = u32::try_from(self.table().len() - 1).unwrap_or(u32::MAX);
        if kernels::min_max_u32(codes).is_some_and(|(_, max)| max > last) {
            codes.iter_mut().for_each(|code| *code = last.min(*code));
        }
        codes
    }
}

fn check_codes(codes: &[u32], code_limit: usize) -> Result<(), EncodingError> {
    let max = kernels::min_max_u32(codes).map_or(0, |(_, max)| max);
    if codes.is_empty() || (max as usize) < code_limit {
        return Ok(());
    }
    let most = (code_limit as u64).saturating_sub(1);
    Err(EncodingError::Limit { what: "a code", value: max.into(), most })
}
