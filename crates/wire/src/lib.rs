//! The seams between processes: [`Peer`] answers queries, [`Sink`] takes batches.
//!
//! A leaf, a remote process and an aggregator over peers all are a `Peer`, so trees nest without
//! further mechanism (Scuba, VLDB 2013, section 3.5). Everything that crosses the seam has a
//! protobuf form (`spec/proto`), whether or not a network lies between: [`LoopbackCodec`] puts one
//! between any two without a network.
//!
//! Encoding never fails. Decoding trusts nothing: [`DecodeError`] says what is wrong and where, and
//! no bytes make it take more memory than the limits allow.

mod batch;
mod blocks;
mod codes;
mod error;
mod expr;
mod frames;
mod loopback_codec;
mod partial;
mod peer;
mod proto;
mod query;
mod sink;
mod size_guard;
mod state;
mod status;
mod value;

pub use batch::{
    decode_accepted, decode_batch, decode_configure, decode_configured, decode_drop_table,
    decode_dropped, decode_known, decode_knows, encode_accepted, encode_batch, encode_configure,
    encode_configured, encode_drop_table, encode_dropped, encode_known, encode_knows,
};
pub use blocks::{
    BlockStatus, ColumnBlocks, TableBlocks, decode_blocks, decode_blocks_of, encode_blocks,
    encode_blocks_of,
};
pub use error::{DecodeError, DecodeErrorKind};
pub use loopback_codec::LoopbackCodec;
pub use partial::{decode_partial, encode_partial};
pub use peer::{
    ExpiryForecast, LeafLoss, LeafName, LeafState, LeafStatus, Peer, PeerStatus, TableStatus,
};
pub use query::QueryRequest;
pub use sink::{Batch, Receipt, Sink, SinkError};
pub use status::{decode_status, encode_status};

/// What an asynchronous method of a seam returns. Dropping it cancels the work.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[cfg(test)]
mod tests;
