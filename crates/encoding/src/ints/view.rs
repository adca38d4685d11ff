//! Reading streams: heads are checked once, then any vector decodes by itself.

use hadal_types::limits::VECTOR_VALUES;

use super::{CONSTANT, Slot, VECTORS};
use crate::{Cursor, EncodingError, kernels, packing};

/// A stream of integers, not decoded.
#[derive(Clone, Debug)]
pub struct IntsView<'a> {
    length: usize,
    form: Form<'a>,
}

#[derive(Clone, Debug)]
enum Form<'a> {
    Constant(i64),
    Vectors(Vec<Vector<'a>>),
}

#[derive(Clone, Copy, Debug)]
struct Vector<'a> {
    min: i64,
    max: i64,
    delta: Option<Delta>,
    width: u8,
    packed: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
struct Delta {
    first: i64,
    step: i64,
}

impl<'a> IntsView<'a> {
    /// Reads the heads of a stream of `length` values. Cost: O(vectors).
    ///
    /// # Errors
    /// When `bytes` are not exactly such a stream.
    pub fn parse(bytes: &'a [u8], length: usize) -> Result<Self, EncodingError> {
        let mut cursor = Cursor::new(bytes, "an integer stream");
        let form = match cursor.u8()? {
            CONSTANT => Form::Constant(cursor.zigzag()?),
            VECTORS => Form::Vectors(parse_vectors(&mut cursor, length)?),
            found => return Err(EncodingError::Unknown { what: "integer stream form", found }),
        };
        cursor.end()?;
        Ok(Self { length, form })
    }

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

    /// The value that all are equal to, where the stream says so.
    #[must_use]
    pub const fn constant(&self) -> Option<i64> {
        match self.form {
            Form::Constant(value) => Some(value),
            Form::Vectors(_) => None,
        }
    }

    /// How many vectors of 1,024 values there are; the last may be shorter.
    #[must_use]
    pub const fn vector_count(&self) -> usize {
        self.length.div_ceil(VECTOR_VALUES)
    }

    /// How many values a vector has: 1,024, or fewer in the last.
    #[must_use]
    pub fn vector_length(&self, vector: usize) -> usize {
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
        }
    }

    /// Decodes a vector into the front of `out` and returns its length; what is behind is
    /// unspecified. Values that do not fit the slot are taken modulo its size.
    ///
    /// # Panics
    /// When `vector` is not below [`Self::vector_count`].
    pub fn decode_vector<S: Slot>(&self, vector: usize, out: &mut [S; VECTOR_VALUES]) -> usize {
        let length = self.vector_length(vector);
        match &self.form {
            Form::Constant(value) => out.fill(S::from_u64(value.cast_unsigned())),
            Form::Vectors(vectors) => vectors[vector].decode(length, out),
        }
        length
    }

    /// Decodes a vector of codes into the front of `out` and returns its length.
    ///
    /// # Errors
    /// [`EncodingError::Limit`] when a code is not below `code_limit`.
    ///
    /// # Panics
    /// When `vector` is not below [`Self::vector_count`].
    pub fn decode_codes_vector(
        &self,
        vector: usize,
        code_limit: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, EncodingError> {
        let length = self.decode_vector(vector, out);
        check_codes(&out[..length], code_limit)?;
        Ok(length)
    }

    /// Appends all values to `out`.
    pub fn decode_into(&self, out: &mut Vec<i64>) {
        self.append(out);
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
        let start = out.len();
        self.append(out);
        check_codes(&out[start..], code_limit)
    }

    fn append<S: Slot>(&self, out: &mut Vec<S>) {
        let start = out.len();
        out.resize(start + self.length, S::default());
        let (full, tail) = out[start..].as_chunks_mut::<VECTOR_VALUES>();
        for (index, vector) in full.iter_mut().enumerate() {
            self.decode_vector(index, vector);
        }
        if !tail.is_empty() {
            let mut buffer = [S::default(); VECTOR_VALUES];
            let length = self.decode_vector(full.len(), &mut buffer);
            tail.copy_from_slice(&buffer[..length]);
        }
    }
}

impl Vector<'_> {
    fn decode<S: Slot>(&self, length: usize, out: &mut [S; VECTOR_VALUES]) {
        let base = self.delta.map_or(self.min, |delta| delta.step);
        let base = S::from_u64(base.cast_unsigned());
        if length == VECTOR_VALUES {
            kernels::unpack(self.packed, self.width, base, out);
        } else {
            packing::unpack(self.packed, length, self.width, |index, value| {
                out[index] = base.plus(S::from_u64(value));
            });
        }
        if let Some(delta) = self.delta {
            // The first packed value is nothing, so the sum begins one step early.
            let mut sum = S::from_u64(delta.first.wrapping_sub(delta.step).cast_unsigned());
            for slot in &mut out[..length] {
                sum = sum.plus(*slot);
                *slot = sum;
            }
        }
    }
}

fn parse_vectors<'a>(
    cursor: &mut Cursor<'a>,
    length: usize,
) -> Result<Vec<Vector<'a>>, EncodingError> {
    let count = length.div_ceil(VECTOR_VALUES);
    // A head has three bytes at least, so hostile lengths cannot make this allocate much.
    let mut vectors = Vec::with_capacity(count.min(cursor.rest().len() / 3));
    let mut base = 0i64;
    for _ in 0..count {
        let vector = parse_head(cursor, base)?;
        base = vector.min;
        vectors.push(vector);
    }
    for (index, vector) in vectors.iter_mut().enumerate() {
        let values = (length - index * VECTOR_VALUES).min(VECTOR_VALUES);
        vector.packed = cursor.take(packing::packed_bytes(values, vector.width))?;
    }
    Ok(vectors)
}

fn parse_head<'a>(cursor: &mut Cursor<'_>, base: i64) -> Result<Vector<'a>, EncodingError> {
    let form = cursor.u8()?;
    let min = base.wrapping_add(cursor.zigzag()?);
    let range = cursor.varint()?;
    let max = min.wrapping_add(range.cast_signed());
    let (width, delta) = match form {
        0 => (packing::bit_width(range), None),
        1..=65 => {
            let first = min.wrapping_add(cursor.varint()?.cast_signed());
            (form - 1, Some(Delta { first, step: cursor.zigzag()? }))
        }
        found => return Err(EncodingError::Unknown { what: "vector form", found }),
    };
    Ok(Vector { min, max, delta, width, packed: &[] })
}

fn check_codes(codes: &[u32], code_limit: usize) -> Result<(), EncodingError> {
    let max = codes.iter().copied().fold(0, u32::max);
    if codes.is_empty() || (max as usize) < code_limit {
        return Ok(());
    }
    let most = (code_limit as u64).saturating_sub(1);
    Err(EncodingError::Limit { what: "a code", found: max.into(), most })
}
