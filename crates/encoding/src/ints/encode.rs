//! Writes streams, in the form that takes the fewest bytes.

use hadal_types::limits::VECTOR_VALUES;

use super::encode_simple::{
    FORMS_VALUES_MIN, encode_constant, encode_simple, plans, write_vectors,
};
use super::plan::{VectorPlan, bounds};
use super::{RUN_VALUES_MIN, RUNS, STEPS, common_divisor, dictionary};
use crate::cursor::{write_length, write_prefixed, write_varint, write_zigzag};
use crate::{kernels, packing};

/// Appends the stream of these values.
pub fn encode(values: &[i64], out: &mut Vec<u8>) {
    let (min, max) = bounds(values);
    if min == max || values.len() < FORMS_VALUES_MIN {
        return encode_simple(values, out);
    }
    let range = max.wrapping_sub(min).cast_unsigned();
    if let Some((step, quotients)) = common_divisor::common_divisor(values, min, range) {
        out.push(STEPS);
        write_zigzag(min, out);
        write_varint(step, out);
        return encode_unlike(&quotients, true, out);
    }
    encode_unlike(values, true, out);
}

/// Appends the stream of these codes.
pub fn encode_codes(codes: &[u32], out: &mut Vec<u8>) {
    // Codes are dense: they have no common factor, and a dictionary saves nothing.
    let values: Vec<i64> = codes.iter().copied().map(i64::from).collect();
    if values.len() < FORMS_VALUES_MIN {
        return encode_simple(&values, out);
    }
    encode_unlike(&values, false, out);
}

/// An estimate of the bytes of a stream of `count` values up to `max`.
#[must_use]
pub const fn encoded_bytes(count: usize, max: u64) -> usize {
    packing::packed_bytes(count, packing::bit_width(max)) + 2 + count / VECTOR_VALUES * 4
}

/// Appends a stream of values that have no common factor.
fn encode_unlike(values: &[i64], may_repeat: bool, out: &mut Vec<u8>) {
    let run_count = 1 + kernels::count_changes(values);
    if run_count == 1 {
        return encode_constant(values[0], out);
    }
    let plans = plans(values);
    let bytes: usize = plans.iter().map(VectorPlan::cost).sum();
    if run_count <= values.len() / RUN_VALUES_MIN {
        let start = out.len();
        write_runs(values, run_count, out);
        if out.len() - start <= bytes {
            return;
        }
        out.truncate(start);
    }
    if !(may_repeat && dictionary::encode(values, bytes, out)) {
        write_vectors(values, &plans, out);
    }
}

fn write_runs(values: &[i64], run_count: usize, out: &mut Vec<u8>) {
    let mut heads = Vec::with_capacity(run_count);
    let mut lengths = Vec::with_capacity(run_count);
    for run in values.chunk_by(|left, right| left == right) {
        heads.push(run[0]);
        lengths.push(i64::try_from(run.len()).unwrap_or(i64::MAX));
    }
    out.push(RUNS);
    write_length(run_count, out);
    write_prefixed(out, |out| encode_simple(&heads, out));
    encode_simple(&lengths, out);
}
