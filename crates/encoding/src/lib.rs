//! Codecs on slices: integers, strings, lists, validity, exact decimals. `spec/row-block.md`
//! sections 4 to 9 describe them to the byte.
//!
//! Each codec is a pair: `encode` appends to a `Vec<u8>`, and a view's `parse` reads a slice. Views
//! check everything that decoding relies on. So no bytes make them panic or read out of bounds, and
//! they allocate no more than the limits in `hadal_types::limits`.
//!
//! This crate knows no columns, names or blocks: `crates/block` has these.

pub mod decimal_exceptions;
pub mod zstd_frame;

pub mod bitmap;
mod buffer;
pub mod cursor;
mod error;
pub mod ints;
pub mod kernels;
pub mod lists;
mod lz4;
mod packing;
pub mod pages;
pub mod strings;
pub mod templates;
mod utf8;

pub use bitmap::Bitmap;
pub use buffer::Buffer;
pub use cursor::Cursor;
pub use error::EncodingError;
pub use ints::IntsView;
pub use lists::ListDictionary;
pub use strings::StringDictionary;
pub use templates::{CanonicalStrings, TemplatesView};
pub use zstd_frame::Decompressed;
