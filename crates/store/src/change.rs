//! The changes that a caller can make to a store: always one atomic [`Change`].

use hadal_types::{BatchId, Micros, TableName};

use crate::checksum::Checksum;
use crate::ids::{BlockNumber, Sequence};
use crate::segment::BlockBytes;

/// A merged block as `Store::write_block` wrote it or as it was recovered. Cheap to clone.
#[derive(Clone, Debug)]
pub struct StoredBlock {
    /// The block's number.
    pub number: BlockNumber,
    /// The table whose rows it holds.
    pub table: TableName,
    /// The number of its rows, as its writer said: lost if its bytes are.
    pub rows: u32,
    /// Its bytes.
    pub bytes: BlockBytes,
    pub(crate) checksum: Checksum,
}

impl StoredBlock {
    /// Whether all of its bytes are known to be intact since it was restored: only a block in
    /// memory. A block that is mapped from disk was not read.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.checksum.is_known() && self.bytes.is_in_memory()
    }
}

/// A batch whose id must still be recognised in a retry although its log frame may be gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedBatch {
    /// The table it was logged to.
    pub table: TableName,
    /// Its id.
    pub batch: BatchId,
    /// A hash of its content, which reveals other bytes under the same id.
    pub content_hash: u64,
    /// The number of rows that it added.
    pub rows: u32,
    /// When it was accepted.
    pub time: Micros,
}

/// Rows of one table that were dropped because it was too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedRows {
    /// The number of rows.
    pub rows: u64,
    /// Bytes of their blocks.
    pub bytes: u64,
    /// The latest time of these rows.
    pub until: Micros,
}

impl DroppedRows {
    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            bytes: self.bytes.saturating_add(other.bytes),
            until: self.until.max(other.until),
        }
    }
}

/// One atomic change: after a crash all of it is there, or nothing.
///
/// It is applied in the order of the fields.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Dropped tables: all their blocks, log frames appended so far, remembered batches, settings,
    /// and the count of their dropped rows.
    pub drops: Vec<TableName>,
    /// Removed blocks. Their space is given back after their last reader.
    pub removes: Vec<BlockNumber>,
    /// Added blocks: they count from now on.
    pub adds: Vec<StoredBlock>,
    /// Log frames that need no replay any more: their rows are in the added blocks, or expired.
    pub consumed: Vec<Sequence>,
    /// Ranges of log sequences, first to last, whose frames are gone and must not be missed any
    /// more.
    pub given_up: Vec<(Sequence, Sequence)>,
    /// Batches to remember; at most `BATCH_IDS_MAX` per table, beyond which the oldest are dropped.
    pub remembered: Vec<RememberedBatch>,
    /// New settings of tables, opaque here; empty bytes remove them.
    pub settings: Vec<(TableName, Vec<u8>)>,
    /// Forgets remembered batches of each table, from the oldest up to the first that is not older
    /// than this time.
    pub forget_before: Option<Micros>,
    /// Rows that this change drops because their tables are too large. They are counted as long as
    /// the table exists.
    pub dropped_rows: Vec<(TableName, DroppedRows)>,
}
