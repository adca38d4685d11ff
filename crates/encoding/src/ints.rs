//! Streams of integers: constant, frame of reference or delta per vector of 1,024, bit packed.
//!
//! ```text
//!  form | head of vector 0 | head of vector 1 | ... | packed 0 | packed 1 | ...
//!         min, range (the zone) [, first, step]       width × 128 bytes each
//! ```
//!
//! Each vector has its own reference, so that outliers cost only where they are, and its (min, max)
//! is a zone map. Delta is for times: neighbours differ less than the vector's ends.
//! Layout to the byte: `spec/row-block.md` section 4.

mod encode;
#[cfg(test)]
mod tests;
mod view;

pub use crate::kernels::Slot;
pub use encode::{encode, encode_codes, encoded_bytes};
pub use view::IntsView;

/// First byte of a stream of equal values.
const CONSTANT: u8 = 0;
/// First byte of a stream of vectors.
const VECTORS: u8 = 1;
