//! The seams between processes: [`Peer`] answers queries, [`Sink`] takes batches.
//!
//! A leaf, a remote process and an aggregator over peers all are a `Peer`, so trees nest without
//! further mechanism (Scuba, VLDB 2013, section 3.5). Everything that crosses the seam has a
//! protobuf form (`spec/proto`), whether or not a network lies between.

mod peer;
mod sink;

pub use peer::{LeafName, LeafState, LeafStatus, Peer, PeerStatus, TableStatus};
pub use sink::{Batch, Receipt, Sink, SinkError};

/// What an asynchronous method of a seam returns. Dropping it cancels the work.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
