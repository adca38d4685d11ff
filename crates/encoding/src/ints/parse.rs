//! Reads a stream's heads. Whatever decoding relies on is checked here, once.

use std::sync::OnceLock;

use hadal_types::limits::VECTOR_VALUES;

use super::vector::Vector;
use super::view::{Dictionary, Form, IntsView, Progression, RunEnds};
use super::{CONSTANT, DICTIONARY, RUN_VALUES_MIN, RUNS, STEPS, VECTORS};
use crate::{Cursor, EncodingError};

/// Minimum bytes of a head, so that hostile lengths cannot make parsing allocate much.
const HEAD_BYTES_MIN: usize = 3;

/// Which forms a stream may have. A nested stream has a lower level than the stream around it, so
/// nesting ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Simple,
    Unlike,
    Whole,
}

impl<'a> IntsView<'a> {
    /// Reads the heads of a stream of `length` values. Cost: O(vectors + runs + patches).
    ///
    /// # Errors
    /// When `bytes` are not exactly one stream of this length.
    pub fn parse(bytes: &'a [u8], length: usize) -> Result<Self, EncodingError> {
        parse(bytes, length, Level::Whole)
    }
}

/// Reads a stream that fills all of `bytes`.
fn parse(bytes: &[u8], length: usize, level: Level) -> Result<IntsView<'_>, EncodingError> {
    let mut cursor = Cursor::new(bytes, "an integer stream");
    let form = match cursor.u8()? {
        CONSTANT => Form::Constant(cursor.zigzag()?),
        VECTORS => Form::Vectors(parse_vectors(&mut cursor, length)?),
        STEPS if level == Level::Whole => parse_steps(&mut cursor, length)?,
        RUNS if level > Level::Simple => parse_runs(&mut cursor, length)?,
        DICTIONARY if level > Level::Simple => parse_dictionary(&mut cursor, length)?,
        byte => return Err(EncodingError::Unknown { what: "integer stream form", byte }),
    };
    cursor.end()?;
    Ok(IntsView { length, form })
}

fn parse_vectors<'a>(
    cursor: &mut Cursor<'a>,
    length: usize,
) -> Result<Vec<Vector<'a>>, EncodingError> {
    let count = length.div_ceil(VECTOR_VALUES);
    let mut vectors = Vec::with_capacity(count.min(cursor.rest().len() / HEAD_BYTES_MIN));
    let mut base = 0i64;
    for _ in 0..count {
        vectors.push(Vector::EMPTY);
        if let Some(vector) = vectors.last_mut() {
            vector.parse_head(cursor, base)?;
            base = vector.min;
        }
    }
    for (index, vector) in vectors.iter_mut().enumerate() {
        let values = (length - index * VECTOR_VALUES).min(VECTOR_VALUES);
        vector.parse_body(cursor, values)?;
    }
    Ok(vectors)
}

fn parse_steps<'a>(cursor: &mut Cursor<'a>, length: usize) -> Result<Form<'a>, EncodingError> {
    let base = cursor.zigzag()?;
    let step = cursor.varint()?;
    let counts = parse(cursor.take(cursor.rest().len())?, length, Level::Unlike)?;
    Ok(Form::Progression(Progression { base, step, counts: Box::new(counts) }))
}

fn parse_runs<'a>(cursor: &mut Cursor<'a>, length: usize) -> Result<Form<'a>, EncodingError> {
    let count = cursor.length("runs", length / RUN_VALUES_MIN)?;
    let heads = parse(cursor.prefixed()?, count, Level::Simple)?;
    let lengths = parse(cursor.take(cursor.rest().len())?, count, Level::Simple)?;
    let (mut values, mut ends) = (Vec::new(), Vec::new());
    heads.decode_into(&mut values);
    lengths.decode_codes_into(length.saturating_add(1), &mut ends)?;
    let mut end = 0usize;
    for (index, run) in ends.iter_mut().enumerate() {
        if *run == 0 {
            return Err(EncodingError::Order { what: "the end of run", index });
        }
        end += *run as usize;
        // A number that is too large for a stream is refused below.
        *run = u32::try_from(end).unwrap_or(u32::MAX);
    }
    if end != length || u32::try_from(length).is_err() {
        let (value, expected) = (end as u64, length as u64);
        return Err(EncodingError::Mismatch { what: "values in runs", value, expected });
    }
    Ok(Form::Runs(RunEnds { values, ends }))
}

fn parse_dictionary<'a>(cursor: &mut Cursor<'a>, length: usize) -> Result<Form<'a>, EncodingError> {
    let count = cursor.length("distinct values", length)?;
    if count == 0 {
        return Err(EncodingError::Mismatch { what: "distinct values", value: 0, expected: 1 });
    }
    let entries = parse(cursor.prefixed()?, count, Level::Simple)?;
    let codes = parse(cursor.take(cursor.rest().len())?, length, Level::Simple)?;
    Ok(Form::Dictionary(Box::new(Dictionary { entries, codes, table: OnceLock::new() })))
}
