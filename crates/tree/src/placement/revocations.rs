//! The records of batches that went elsewhere because their leaf was away.

use hadal_peer::BoxFuture;
use hadal_types::{BatchId, LeafName, Micros, TableName};

/// A batch is not to count on one leaf, because another one gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// The leaf on which it does not count.
    pub leaf: LeafName,
    /// The table.
    pub table: TableName,
    /// The batch: of a body in parts, one part.
    pub batch: BatchId,
    /// The leaf that gets it instead. It comes later in the batch's order.
    pub instead: LeafName,
}

/// The record of a revocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The leaf that gets the batch instead.
    pub instead: LeafName,
    /// When it was made.
    pub at: Micros,
}

/// Durable records that all senders and leaves of a cluster share.
pub trait Revocations: Send + Sync {
    /// Records a revocation, unless one of this leaf, table and batch exists. Returns the record
    /// that exists now; if the batch is revoked at the leaf that it names, too, that one's, and so
    /// on.
    ///
    /// # Errors
    /// The reason why it may not be recorded.
    fn record<'a>(&'a self, revocation: &'a Revocation) -> BoxFuture<'a, Result<Record, String>>;

    /// Notes in all records of a batch that name this leaf that it holds the batch durably. If that
    /// fails, or nothing is noted, the leaves at which the batch was revoked ask this one.
    fn note_held<'a>(
        &'a self,
        _table: &'a TableName,
        _batch: &'a BatchId,
        _leaf: &'a LeafName,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}
