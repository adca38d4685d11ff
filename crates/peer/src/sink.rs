//! Something that takes batches.

use hadal_types::{BatchId, TableName};

use crate::{Batch, BatchLookup, BoxFuture, Receipt, SinkError};

/// Something that takes batches: a leaf, or the placement that chooses one.
pub trait Sink: Send + Sync {
    /// Takes a batch; returns once it is as durable as its table wants, and visible to queries.
    ///
    /// # Errors
    /// [`SinkError`]; then the batch was not acknowledged, and the same id may be sent again. After
    /// [`SinkError::Store`] it may be there when the process starts anew.
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>>;

    /// Looks for a batch, and reports whether it could be taken.
    fn look_up<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup>;
}
