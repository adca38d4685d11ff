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
mod cluster;
mod codes;
mod definitions;
mod error;
mod expected_rows;
mod expr;
mod frames;
mod groups;
mod histograms;
mod loopback_codec;
mod numbers;
mod partial;
mod plan;
mod proto;
mod pruning;
mod query;
mod sent_groups;
mod size_guard;
mod state;
mod status;
mod value;

pub use admin::{decode_applied, decode_change, encode_applied, encode_change};
pub use batch::{
    decode_accepted, decode_batch, decode_look_up, decode_lookup, encode_accepted, encode_batch,
    encode_look_up, encode_lookup,
};
pub use blocks::{decode_blocks, decode_blocks_of, encode_blocks, encode_blocks_of};
pub use cluster::{
    decode_hello, decode_restart, decode_restart_answer, encode_hello, encode_restart,
    encode_restart_answer,
};
pub use definitions::{
    DefinitionsAnswer, DefinitionsRequest, DocumentsAnswer, DocumentsRequest, RevokedBatch,
    TableSettingsVersion, decode_definitions_answer, decode_definitions_request,
    encode_definitions_answer, encode_definitions_request,
};
pub use error::{DecodeError, DecodeErrorKind};
pub use expected_rows::{
    decode_expected_rows, decode_expected_rows_since, encode_expected_rows,
    encode_expected_rows_since,
};
pub use loopback_codec::LoopbackCodec;
pub use partial::{decode_partial, decode_piece, encode_partial, encode_piece};
pub use query::QueryRequest;
pub use status::{
    decode_report, decode_scope, decode_status, encode_report, encode_scope, encode_status,
};

#[cfg(test)]
mod tests;
