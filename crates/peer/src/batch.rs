//! Batches, their receipts and their errors.

use hadal_block::BlockView;
use hadal_types::{BatchId, TableName};

use crate::TableReport;

/// Rows of one table, encoded as one row block by the first Hadal process that received them.
///
/// The block is valid: this process encoded it ([`Batch::encoded`]), or its bytes came from another
/// process and were verified ([`ForeignBatch::verify`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The table.
    pub table: TableName,
    /// The id that makes a retry idempotent.
    pub id: BatchId,
    /// A hash of the bytes that the client sent. The same id with another hash is a conflict.
    pub content_hash: u64,
    /// Whether the id was made for this batch and is sent for the first time, so that no leaf can
    /// know it. False if that is uncertain.
    pub first_try: bool,
    /// Rows in the block.
    pub rows: usize,
    block: Vec<u8>,
}

impl Batch {
    /// Makes a batch from a block that the caller has just encoded, with this batch and no other.
    /// It may be a retry: `first_try` is false.
    #[must_use]
    pub const fn encoded(
        table: TableName,
        id: BatchId,
        content_hash: u64,
        rows: usize,
        block: Vec<u8>,
    ) -> Self {
        Self { table, id, content_hash, first_try: false, rows, block }
    }

    /// Returns the bytes of the row block.
    #[must_use]
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    /// Returns the bytes of the row block, and drops the rest.
    #[must_use]
    pub fn into_block(self) -> Vec<u8> {
        self.block
    }
}

/// A batch from another process; its block is unverified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignBatch {
    /// The table.
    pub table: TableName,
    /// The id that makes a retry idempotent.
    pub id: BatchId,
    /// Hash of the bytes that the client sent.
    pub content_hash: u64,
    /// Whether no leaf can know the id: see [`Batch::first_try`].
    pub first_try: bool,
    /// Rows in the block, according to the sender.
    pub rows: usize,
    /// The bytes of the row block, unverified.
    pub block: Vec<u8>,
}

impl ForeignBatch {
    /// Verifies all checksums of the block, and that it holds exactly this batch. Cost: reads all
    /// bytes.
    ///
    /// # Errors
    /// [`SinkError::Corrupt`].
    pub fn verify(self) -> Result<Batch, SinkError> {
        let Self { table, id, content_hash, first_try, rows, block } = self;
        match check(&block, &id, rows) {
            Ok(()) => Ok(Batch { table, id, content_hash, first_try, rows, block }),
            Err(reason) => Err(SinkError::Corrupt { id, table, reason }),
        }
    }
}

impl From<Batch> for ForeignBatch {
    fn from(batch: Batch) -> Self {
        let Batch { table, id, content_hash, first_try, rows, block } = batch;
        Self { table, id, content_hash, first_try, rows, block }
    }
}

fn check(bytes: &[u8], id: &BatchId, rows: usize) -> Result<(), String> {
    let view = BlockView::parse(bytes).map_err(|error| error.to_string())?;
    view.verify().map_err(|error| error.to_string())?;
    let is_this_batch = matches!(view.batches(), [batch] if batch.id == *id && batch.rows == rows);
    if view.rows() != rows || !is_this_batch {
        return Err(format!("it is not one batch {id} of {rows} rows"));
    }
    Ok(())
}

/// The outcome of an accepted batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Rows of the batch.
    pub rows: usize,
    /// Whether the batch had been accepted before, and added nothing now.
    pub duplicate: bool,
    /// Whether it survives a crash and a power loss.
    pub durable: bool,
    /// Whether the batch makes the table exceed its size limit, so that its oldest rows are
    /// dropped.
    pub overflowing: bool,
    /// The leaf's share of the table with the batch, for catalogs; `None` if it is not available
    /// cheaply.
    pub report: Option<TableReport>,
}

/// The result of looking up a batch on a sink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchLookup {
    /// Whether the sink answered. If not, the rest is unknown, and the sink has promised nothing.
    pub is_answered: bool,
    /// Whether the sink took a batch of this id, is taking it, or may have taken it. A retry must
    /// go to the sink of the first try.
    pub is_known: bool,
    /// Whether the sink holds the batch, as durably as its table requires. Implies
    /// [`Self::is_known`].
    pub is_accepted: bool,
    /// Whether the batch was revoked on the sink: it refuses the batch, and a record says which
    /// sink got it instead.
    pub is_revoked: bool,
    /// Whether the sink promised to refuse the batch, and does not know it.
    pub is_refused: bool,
    /// Whether the sink takes new batches. False after a failed write, until its process restarts;
    /// batches that it has taken still count.
    pub takes_batches: bool,
    /// Bytes of batches that the sink can take now. It refuses larger ones as busy.
    pub free_bytes: u64,
}

/// Why a batch was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SinkError {
    /// The id was used before with different bytes.
    #[error("batch {id} was sent before with other bytes; use a new id for new rows")]
    Conflict {
        /// The id.
        id: BatchId,
    },
    /// The bytes are not a row block.
    #[error("batch {id} for table {table} is not a row block: {reason}")]
    Corrupt {
        /// The id.
        id: BatchId,
        /// The table.
        table: TableName,
        /// The reason.
        reason: String,
    },
    /// Too many batches or changes are under way; try again later.
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
    /// The sink takes no batches now: it is stopping, or gone.
    #[error("{0} takes no batches now")]
    Unavailable(String),
    /// The connection to the sink broke after the batch was sent. The sink may have taken it, so a
    /// retry must go to the same sink.
    #[error("{0} may have taken the batch or not; send it again under the same id")]
    OutcomeUnknown(String),
}

#[cfg(test)]
mod tests {
    use hadal_block::BlockBuilder;
    use hadal_types::{ColumnName, Kind, Micros};

    use super::*;

    fn batch() -> ForeignBatch {
        let name = |text: &str| ColumnName::new(text).expect("a name");
        let mut builder = BlockBuilder::new(name("time"));
        let column = builder.column(&name("host"), Kind::String);
        for row in 0..3 {
            builder.push_string(column, "web-1").expect("taken");
            builder.end_row(Micros(row));
        }
        let id = BatchId::new("a").expect("an id");
        let block = builder.finish(Micros(0), Some((&id, 7))).expect("fits");
        let table = TableName::new("t").expect("a name");
        ForeignBatch { table, id, content_hash: 7, first_try: true, rows: 3, block }
    }

    #[test]
    fn a_sound_batch_of_another_process_is_taken() {
        let verified = batch().verify().expect("sound");
        assert_eq!(ForeignBatch::from(verified), batch());
    }

    #[test]
    fn damaged_foreign_bytes_are_refused() {
        let mut renamed = batch();
        renamed.id = BatchId::new("b").expect("an id");
        let miscounted = ForeignBatch { rows: 4, ..batch() };
        let empty = ForeignBatch { block: Vec::new(), ..batch() };
        let whole = batch().block;
        let flipped = (0..whole.len()).map(|at| {
            let mut block = whole.clone();
            block[at] ^= 1;
            ForeignBatch { block, ..batch() }
        });
        for bad in flipped.chain([renamed, miscounted, empty]) {
            let refused = bad.verify();
            assert!(matches!(refused, Err(SinkError::Corrupt { .. })), "{refused:?}");
        }
    }
}
