//! Bit packing of full vectors: 1,024 values in FastLanes order, so that a plain loop over lanes
//! becomes SIMD on any machine (Afroozeh and Boncz, "The FastLanes Compression Layout", VLDB 2023).
//!
//! The `fastlanes` crate checks slice lengths only in debug builds; this module is the one place
//! that calls it, and owns the buffers whose lengths it relies on.
#![allow(unsafe_code)]

use fastlanes::BitPacking;
use hadal_types::limits::VECTOR_VALUES;

/// What a stream decodes to: wide integers, or codes.
pub trait Slot: Copy + Default {
    /// The value modulo the slot's size.
    fn from_u64(value: u64) -> Self;
    /// Addition modulo the slot's size.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

impl Slot for i64 {
    fn from_u64(value: u64) -> Self {
        value.cast_signed()
    }
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Slot for u32 {
    #[expect(clippy::cast_possible_truncation, reason = "modulo is what is promised")]
    fn from_u64(value: u64) -> Self {
        value as Self
    }
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

/// Appends the low `width` bits (at most 64) of each value: 128 × width bytes.
pub(crate) fn pack(values: &[u64; VECTOR_VALUES], width: u8, out: &mut Vec<u8>) {
    match width {
        0 => (),
        1..=8 => pack_u8(values, width, out),
        9..=16 => pack_u16(values, width, out),
        17..=32 => pack_u32(values, width, out),
        _ => pack_u64(values, width, out),
    }
}

/// Fills `out` with `base` + each of the 1,024 values of `width` bits (at most 64) in `bytes`.
///
/// # Panics
/// When `bytes` are not 128 × width.
pub(crate) fn unpack<S: Slot>(bytes: &[u8], width: u8, base: S, out: &mut [S; VECTOR_VALUES]) {
    match width {
        0 => out.fill(base),
        1..=8 => unpack_u8(bytes, width, base, out),
        9..=16 => unpack_u16(bytes, width, base, out),
        17..=32 => unpack_u32(bytes, width, base, out),
        _ => unpack_u64(bytes, width, base, out),
    }
}

macro_rules! lane {
    ($lane:ty, $lane_bytes:literal, $pack:ident, $unpack:ident) => {
        #[allow(clippy::cast_possible_truncation, reason = "only the low bits are packed")]
        #[allow(clippy::unnecessary_cast, reason = "for lanes of 64 bits")]
        fn $pack(values: &[u64; VECTOR_VALUES], width: u8, out: &mut Vec<u8>) {
            let width = usize::from(width);
            let lanes: [$lane; VECTOR_VALUES] = std::array::from_fn(|i| values[i] as $lane);
            let mut buffer: [$lane; VECTOR_VALUES] = [0; VECTOR_VALUES];
            let words = &mut buffer[..128 * width / $lane_bytes];
            // SAFETY: `lanes` has 1,024 values, and `words` 1,024 × width / (8 × lane bytes).
            unsafe { <$lane as BitPacking>::unchecked_pack(width, &lanes, words) };
            for word in words {
                out.extend_from_slice(&word.to_le_bytes());
            }
        }

        fn $unpack<S: Slot>(bytes: &[u8], width: u8, base: S, out: &mut [S; VECTOR_VALUES]) {
            let width = usize::from(width);
            // Copied, because bytes from a socket are not aligned; it costs under a tenth.
            let mut buffer: [$lane; VECTOR_VALUES] = [0; VECTOR_VALUES];
            let words = &mut buffer[..128 * width / $lane_bytes];
            let (chunks, spare) = bytes.as_chunks::<$lane_bytes>();
            assert!(chunks.len() == words.len() && spare.is_empty(), "a packed vector's length");
            for (word, chunk) in words.iter_mut().zip(chunks) {
                *word = <$lane>::from_le_bytes(*chunk);
            }
            let mut lanes: [$lane; VECTOR_VALUES] = [0; VECTOR_VALUES];
            // SAFETY: `lanes` has 1,024 values, and `words` 1,024 × width / (8 × lane bytes).
            unsafe { <$lane as BitPacking>::unchecked_unpack(width, words, &mut lanes) };
            for (slot, lane) in out.iter_mut().zip(lanes) {
                *slot = base.plus(S::from_u64(u64::from(lane)));
            }
        }
    };
}

lane!(u8, 1, pack_u8, unpack_u8);
lane!(u16, 2, pack_u16, unpack_u16);
lane!(u32, 4, pack_u32, unpack_u32);
lane!(u64, 8, pack_u64, unpack_u64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packing;

    /// The layout as `spec/row-block.md` section 4 writes it, bit by bit.
    fn pack_by_the_spec(values: &[u64; VECTOR_VALUES], width: usize) -> Vec<u8> {
        const ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];
        let lane_bits = [8, 16, 32, 64].into_iter().find(|&t| width <= t).expect("at most 64");
        let lanes = VECTOR_VALUES / lane_bits;
        let mut bytes = vec![0u8; 128 * width];
        for lane in 0..lanes {
            for row in 0..lane_bits {
                let value = values[ORDER[row / 8] * 16 + (row % 8) * 128 + lane];
                for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
                    let at = row * width + bit;
                    let word = at / lane_bits * lanes + lane;
                    let at = word * lane_bits + at % lane_bits;
                    bytes[at / 8] |= 1 << (at % 8);
                }
            }
        }
        bytes
    }

    #[test]
    fn every_width_is_packed_as_the_spec_says_and_survives() {
        let mut seed = 7u64;
        for width in 0..=64u8 {
            let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            let values = std::array::from_fn(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed ^ seed >> 29) & mask
            });
            let mut out = vec![0xEE; usize::from(width) % 5];
            let start = out.len();
            pack(&values, width, &mut out);
            assert_eq!(out[start..], pack_by_the_spec(&values, width.into()), "width {width}");
            assert_eq!(out.len() - start, packing::packed_bytes(VECTOR_VALUES, width));

            let mut wide = [0i64; VECTOR_VALUES];
            unpack(&out[start..], width, -3, &mut wide);
            let mut narrow = [0u32; VECTOR_VALUES];
            unpack(&out[start..], width, 9, &mut narrow);
            for (index, value) in values.into_iter().enumerate() {
                assert_eq!(wide[index], value.cast_signed().wrapping_sub(3), "width {width}");
                assert_eq!(narrow[index], u32::from_u64(value).wrapping_add(9), "width {width}");
            }
        }
    }
}
