//! Streams of integers. Whatever a column's values have in common is written once; what differs is
//! bit-packed, in vectors of 1,024 values.
//!
//! ```text
//!  vectors     form | head of vector 0 | head of vector 1 | ... | packed 0 | packed 1 | ...
//!                     min, range (the zone) [, first, step] [, patches]
//!  steps       form | base, step | a stream of k: each value is base + step * k
//!  runs        form | a stream of values | a stream of how often each repeats
//!  dictionary  form | a stream of the distinct values, sorted | a stream of codes
//! ```
//!
//! Each vector has its own reference, or stores the differences of neighbours; its (min, max) is a
//! zone map. Outliers are stored beside the packed values as *patches*, so that one huge latency
//! does not widen 1,024 values (Zukowski et al., "Super-Scalar RAM-CPU Cache Compression", ICDE
//! 2006). The writer estimates the bytes of every form and takes the cheapest form; of equally
//! cheap forms, it takes the one that is faster to scan.
//!
//! Layout to the byte: `spec/row-block.md` section 4. Not done: differences of differences. A
//! constant step with patches encodes series of regular times just as well.

mod common_divisor;
mod frame_of_reference;
mod gather;
mod range_filter;

mod dictionary;
mod encode;
mod encode_simple;
mod fold;
mod parse;
mod plan;
#[cfg(test)]
mod tests;
mod vector;
mod view;

use crate::kernels;

pub use encode::{encode, encode_codes, encoded_bytes};
pub use encode_simple::FORMS_VALUES_MIN;
pub use fold::Fold;
pub use frame_of_reference::FrameOfReference;
pub use view::{IntsView, Runs};

/// First byte of a stream of equal values.
const CONSTANT: u8 = 0;
/// First byte of a stream of vectors.
const VECTORS: u8 = 1;
/// First byte of a stream whose values have a common factor.
const STEPS: u8 = 2;
/// First byte of a stream of runs.
const RUNS: u8 = 3;
/// First byte of a stream of distinct values and codes.
const DICTIONARY: u8 = 4;

/// First byte of a head of a frame of reference.
const REFERENCE: u8 = 0;
/// First byte of a head of a delta of width 0; widths up to 64 follow.
const DELTA: u8 = 1;
/// First byte of a head of a patched frame of reference of width 0; widths up to 64 follow.
const PATCHED_REFERENCE: u8 = 66;
/// First byte of a head of a patched delta of width 0; widths up to 64 follow.
const PATCHED_DELTA: u8 = 131;
/// The first byte that no head has: all heads are below.
const HEADS_END: u8 = 196;

/// Minimum average of values per run: so runs never take more memory than the values they decode
/// to.
const RUN_VALUES_MIN: usize = 8;

/// The value modulo 2^32.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "modulo 2^32")]
const fn low(value: i64) -> u32 {
    value as u32
}

/// The element type that a stream decodes to: wide integers, or codes.
pub trait Element: kernels::Element {
    /// Multiplication modulo the slot's size.
    #[must_use]
    fn times(self, factor: u64) -> Self;
    /// Fills `out` with the entries of the codes. Every code must be below the number of entries.
    fn gather(table: &[Self], codes: &[u32], out: &mut [Self]);
}

impl Element for i64 {
    fn times(self, factor: u64) -> Self {
        self.wrapping_mul(factor.cast_signed())
    }
    fn gather(table: &[Self], codes: &[u32], out: &mut [Self]) {
        for (slot, &code) in out.iter_mut().zip(codes) {
            *slot = table[code as usize];
        }
    }
}

impl Element for u32 {
    fn times(self, factor: u64) -> Self {
        self.wrapping_mul(<Self as kernels::Element>::from_u64(factor))
    }
    fn gather(table: &[Self], codes: &[u32], out: &mut [Self]) {
        kernels::gather_u32(table, codes, out);
    }
}

/// The display name of the form of a stream that begins with these bytes.
#[must_use]
pub const fn form_name(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [CONSTANT, ..] => Some("constant"),
        [VECTORS, ..] => Some("packed"),
        [STEPS, ..] => Some("steps"),
        [RUNS, ..] => Some("runs"),
        [DICTIONARY, ..] => Some("dictionary"),
        _ => None,
    }
}
