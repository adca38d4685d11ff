//! Writes streams of the simple forms: a constant, or vectors. The streams within runs and
//! dictionaries have these forms only.

use hadal_types::limits::VECTOR_VALUES;

use super::plan::VectorPlan;
use super::{CONSTANT, VECTORS};
use crate::cursor::write_zigzag;

/// Streams of fewer values have no steps, runs, dictionaries or patches. These would hardly pay,
/// and this way small blocks are the same bytes in every release.
pub const FORMS_VALUES_MIN: usize = 64;

/// Appends a stream of equal values, or of vectors.
pub(super) fn encode_simple(values: &[i64], out: &mut Vec<u8>) {
    let first = values.first().copied();
    if values.iter().all(|&value| Some(value) == first) {
        return encode_constant(first.unwrap_or_default(), out);
    }
    write_vectors(values, &plans(values), out);
}

pub(super) fn encode_constant(value: i64, out: &mut Vec<u8>) {
    out.push(CONSTANT);
    write_zigzag(value, out);
}

/// How to write each vector of a stream.
pub(super) fn plans(values: &[i64]) -> Vec<VectorPlan> {
    let may_patch = values.len() >= FORMS_VALUES_MIN;
    values.chunks(VECTOR_VALUES).map(|vector| VectorPlan::of(vector, may_patch)).collect()
}

/// Appends a stream of vectors; `plans` are those of [`plans`].
pub(super) fn write_vectors(values: &[i64], plans: &[VectorPlan], out: &mut Vec<u8>) {
    out.push(VECTORS);
    let mut packed = Vec::with_capacity(plans.iter().map(VectorPlan::cost).sum());
    let mut base = 0;
    for (vector, plan) in values.chunks(VECTOR_VALUES).zip(plans) {
        base = plan.write(vector, base, out, &mut packed);
    }
    out.extend_from_slice(&packed);
}
