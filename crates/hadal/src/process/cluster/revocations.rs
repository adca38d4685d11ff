//! The records of batches that went elsewhere because their leaf was away.

use hadal_peer::BoxFuture;
use hadal_tree::{Revocation, Revocations};
use hadal_types::{BatchId, LeafName, TableName};

/// No records yet: a batch that a silent leaf may have waits until the leaf is back.
pub(crate) struct NoRecords;

impl Revocations for NoRecords {
    fn record<'a>(&'a self, revocation: &'a Revocation) -> BoxFuture<'a, Result<LeafName, String>> {
        let leaf = &revocation.leaf;
        Box::pin(async move { Err(format!("{leaf} may have the batch, and is silent")) })
    }

    fn note_held<'a>(
        &'a self,
        _: &'a TableName,
        _: &'a BatchId,
        _: &'a LeafName,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }
}
