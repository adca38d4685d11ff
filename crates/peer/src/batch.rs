//! Batches, and what becomes of them.

use hadal_types::{BatchId, TableName};

use crate::TableReport;

/// Rows of one table, encoded as one row block by the first Hadal process that saw them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The table.
    pub table: TableName,
    /// What makes a retry idempotent.
    pub id: BatchId,
    /// A hash of the bytes that the client sent: the same id with another is a conflict.
    pub content_hash: u64,
    /// The id was made for this batch and is sent for the first time, so that no leaf can know it.
    /// False where that is not certain.
    pub first_try: bool,
    /// Rows in the block.
    pub rows: usize,
    /// The row block.
    pub block: Vec<u8>,
}

/// What became of a batch that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Rows of the batch.
    pub rows: usize,
    /// The batch had been taken before, and added nothing now.
    pub duplicate: bool,
    /// It survives a crash and a power loss.
    pub durable: bool,
    /// With it the table is over its size limit, so its oldest rows are dropped.
    pub overflowing: bool,
    /// The leaf's share of the table with the batch, for catalogs; `None` where it is not known at
    /// little cost.
    pub report: Option<TableReport>,
}

/// What a sink reports when it is asked for a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchLookup {
    /// It took, or is taking, a batch of this id, or may have: a retry must go where the first try
    /// went.
    pub is_known: bool,
    /// It takes new batches; false once a batch could not be written, until its process starts anew.
    /// Batches that it has taken count all the same.
    pub takes_batches: bool,
    /// Bytes of batches that it could take now. It refuses larger ones as busy.
    pub free_bytes: u64,
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
