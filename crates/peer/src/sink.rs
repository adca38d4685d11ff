//! Sinks accept batches.

use hadal_types::{BatchId, TableName};

use crate::{Batch, BatchLookup, BoxFuture, Receipt, SinkError};

/// Accepts batches: a leaf, or the placement that chooses one.
pub trait Sink: Send + Sync {
    /// Takes a batch; returns once it is visible to queries, and as durable as its table requires.
    ///
    /// # Errors
    /// [`SinkError`]; then the batch was not acknowledged, and the same id may be sent again. After
    /// [`SinkError::Store`] the batch may be present when the process restarts.
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>>;

    /// Looks up a batch, and reports whether it could be taken.
    fn look_up<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup>;

    /// The same, and a sink that does not know the batch promises to refuse it as
    /// [`SinkError::Unavailable`] as long as its process runs. Needed only for sinks with several
    /// senders; without this method, a sink has only one.
    fn refuse<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        self.look_up(table, id)
    }

    /// The same as [`Sink::accept`], although the sink may have promised to refuse the batch: it
    /// was revoked on all sinks to which it may have been sent before. The sink still refuses it if
    /// it was revoked there, too.
    fn accept_moved(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        self.accept(batch)
    }
}
