//! Writing streams: for each vector the cheaper of frame of reference and delta.

use hadal_types::limits::VECTOR_VALUES;

use super::{CONSTANT, VECTORS};
use crate::cursor::{write_varint, write_zigzag};
use crate::{kernels, packing};

/// Delta must save this many bits per value: it decodes at half the speed.
const DELTA_GAIN_BITS: u8 = 2;

/// Appends the stream of these values.
pub fn encode(values: &[i64], out: &mut Vec<u8>) {
    encode_as(values, |value| value, out);
}

/// Appends the stream of these codes.
pub fn encode_codes(codes: &[u32], out: &mut Vec<u8>) {
    encode_as(codes, i64::from, out);
}

/// An estimate of the bytes that a stream of `count` values up to `max` takes.
#[must_use]
pub const fn encoded_bytes(count: usize, max: u64) -> usize {
    packing::packed_bytes(count, packing::bit_width(max)) + 2 + count / VECTOR_VALUES * 4
}

fn encode_as<T: Copy + PartialEq>(values: &[T], widen: impl Fn(T) -> i64, out: &mut Vec<u8>) {
    let first = values.first().copied();
    if values.iter().all(|&value| Some(value) == first) {
        out.push(CONSTANT);
        return write_zigzag(first.map_or(0, widen), out);
    }
    out.push(VECTORS);
    let mut packed = Vec::new();
    let mut base = 0i64;
    let mut buffer = [0i64; VECTOR_VALUES];
    for chunk in values.chunks(VECTOR_VALUES) {
        let vector = &mut buffer[..chunk.len()];
        for (slot, &value) in vector.iter_mut().zip(chunk) {
            *slot = widen(value);
        }
        base = encode_vector(vector, base, out, &mut packed);
    }
    out.extend_from_slice(&packed);
}

/// Appends one vector's head and its packed values; returns its min.
fn encode_vector(vector: &[i64], base: i64, heads: &mut Vec<u8>, packed: &mut Vec<u8>) -> i64 {
    let (min, max) = bounds(vector.iter().copied());
    let range = max.wrapping_sub(min).cast_unsigned();
    let (step, step_max) = bounds(vector.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])));
    let reference_width = packing::bit_width(range);
    let delta_width = packing::bit_width(step_max.wrapping_sub(step).cast_unsigned());
    let delta = vector.len() > 1 && delta_width + DELTA_GAIN_BITS <= reference_width;

    heads.push(if delta { delta_width + 1 } else { 0 });
    write_zigzag(min.wrapping_sub(base), heads);
    write_varint(range, heads);
    let mut offsets = [0u64; VECTOR_VALUES];
    if delta {
        write_varint(vector[0].wrapping_sub(min).cast_unsigned(), heads);
        write_zigzag(step, heads);
        for (offset, pair) in offsets[1..].iter_mut().zip(vector.windows(2)) {
            *offset = pair[1].wrapping_sub(pair[0]).wrapping_sub(step).cast_unsigned();
        }
        pack(&offsets, vector.len(), delta_width, packed);
    } else {
        for (offset, value) in offsets.iter_mut().zip(vector) {
            *offset = value.wrapping_sub(min).cast_unsigned();
        }
        pack(&offsets, vector.len(), reference_width, packed);
    }
    min
}

fn pack(offsets: &[u64; VECTOR_VALUES], count: usize, width: u8, out: &mut Vec<u8>) {
    if count == VECTOR_VALUES {
        kernels::pack(offsets, width, out);
    } else {
        packing::pack(&offsets[..count], width, out);
    }
}

/// The smallest and the largest value; (0, 0) where there is none.
fn bounds(values: impl Iterator<Item = i64>) -> (i64, i64) {
    let (min, max) =
        values.fold((i64::MAX, i64::MIN), |(min, max), value| (min.min(value), max.max(value)));
    if min > max { (0, 0) } else { (min, max) }
}
