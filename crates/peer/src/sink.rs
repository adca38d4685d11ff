//! Something that takes batches.

use hadal_types::{BatchId, TableName, TableSettings};

use crate::{Batch, BoxFuture, Receipt, SinkError};

/// Something that takes batches: a leaf, or the placement that chooses one.
pub trait Sink: Send + Sync {
    /// Takes a batch; returns once it is as durable as its table wants, and visible to queries.
    ///
    /// # Errors
    /// [`SinkError`]; then the batch was not acknowledged, and the same id may be sent again. After
    /// [`SinkError::Store`] it may be there when the process starts anew.
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>>;

    /// Whether it takes new batches at all; false from the moment on when what it was given could not be
    /// written, until its process starts anew. What it has taken counts all the same.
    fn takes(&self) -> bool {
        true
    }

    /// Whether it took, or is taking, a batch of this id, or may have: a retry must go where the first
    /// try went.
    fn knows<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, bool>;

    /// Drops a table with all its rows; returns how many those were, 0 if there was none.
    ///
    /// # Errors
    /// [`SinkError`] when the drop could not be made durable.
    fn drop_table(&self, table: TableName) -> BoxFuture<'_, Result<u64, SinkError>>;

    /// Whether what came under a client's id can be taken back, at this moment and for some seconds.
    ///
    /// # Errors
    /// [`SinkError::Limit`] when some of it came too long ago; [`SinkError::Busy`] while some of it
    /// is under way.
    fn can_revoke<'a>(
        &'a self,
        table: &'a TableName,
        id: &'a BatchId,
    ) -> BoxFuture<'a, Result<(), SinkError>>;

    /// Takes back what came under a client's id, with all of its parts; returns how many rows that
    /// were, 0 if no such batch is known or it was taken back before. What is sent under the id
    /// again adds nothing.
    ///
    /// # Errors
    /// As [`Self::can_revoke`], and then nothing has changed; others when it could not be made durable
    /// everywhere. Then some leaves may have done it, and it may be tried again.
    fn revoke<'a>(
        &'a self,
        table: &'a TableName,
        id: &'a BatchId,
    ) -> BoxFuture<'a, Result<u64, SinkError>>;

    /// Has losses told no more, since a person knows of them: all, or those of a table only. Row blocks that
    /// are missing or damaged count no more, and what can still be read of them goes, too. Returns how many
    /// rows are known to have been lost.
    ///
    /// # Errors
    /// [`SinkError`] when it could not be made durable everywhere; then some leaves may have done it.
    fn forget_losses(&self, table: Option<TableName>) -> BoxFuture<'_, Result<u64, SinkError>>;

    /// Makes these the settings of a table, there or not: from now on, and after a restart, until
    /// others are set or the table is dropped.
    ///
    /// # Errors
    /// [`SinkError`] when they could not be made durable everywhere; then some leaves may have them.
    fn configure(
        &self,
        table: TableName,
        settings: TableSettings,
    ) -> BoxFuture<'_, Result<(), SinkError>>;
}
