//! Codec of the messages of `spec/proto`.
//!
//! Everything that crosses a seam of crate `peer` has a protobuf form, with or without a network.
//! [`LoopbackCodec`] puts the codec between two parts without a network.
//!
//! Encoding never fails. Decoding trusts nothing: a [`DecodeError`] has the error and its position,
//! and no input makes decoding take more memory than the limits allow.

mod admin;
mod batch;
mod blocks;
mod codes;
mod error;
mod expr;
mod frames;
mod loopback_codec;
mod partial;
mod proto;
mod query;
mod size_guard;
mod state;
mod status;
mod value;

pub use error::{DecodeError, DecodeErrorKind};
pub use loopback_codec::LoopbackCodec;
pub use partial::{decode_partial, encode_partial};

#[cfg(test)]
mod tests;
