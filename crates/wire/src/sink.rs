//! Something that takes batches.

use hadal_types::{BatchId, TableName, TableSettings};

use crate::BoxFuture;

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

/// Rows of one table, encoded as one row block by the first Hadal process that saw them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The table.
    pub table: TableName,
    /// What makes a retry idempotent.
    pub id: BatchId,
    /// A hash of the bytes that the client sent: the same id with another is a conflict.
    pub content_hash: u64,
    /// Rows in the block.
    pub rows: usize,
    /// The row block.
    pub block: Vec<u8>,
}

/// What became of a batch that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Rows of the batch.
    pub rows: usize,
    /// The batch had been taken before, and added nothing now.
    pub duplicate: bool,
    /// It survives a crash and a power loss.
    pub durable: bool,
    /// With it the table is over its size limit, so its oldest rows are dropped.
    pub overflowing: bool,
}

/// Why a batch was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SinkError {
    /// The id was used before, for other bytes.
    #[error("batch {id} was sent before with other bytes; use a new id for new rows")]
    Conflict {
        /// The id.
        id: BatchId,
    },
    /// The bytes are no row block.
    #[error("batch {id} for table {table} is not a row block: {reason}")]
    Corrupt {
        /// The id.
        id: BatchId,
        /// The table.
        table: TableName,
        /// What is wrong.
        reason: String,
    },
    /// Too much is under way; try again later.
    #[error("{0} is busy; try again in a second")]
    Busy(String),
    /// A limit of the process was reached.
    #[error("{0}")]
    Limit(String),
    /// The disk is full.
    #[error("no space is left: {0}")]
    Full(String),
    /// The log or a segment could not be written.
    #[error("cannot store the batch: {0}")]
    Store(String),
    /// It takes no batches now: it is stopping, or gone.
    #[error("{0} takes no batches now")]
    Unavailable(String),
}
