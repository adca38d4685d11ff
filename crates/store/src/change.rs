//! What a caller can change about a store: always one atomic [`Change`].

use std::fmt;

use hadal_types::{BatchId, Micros, TableName};

use crate::manifest::Checksum;
use crate::segment::BlockBytes;

/// The number of a merged block: unique in its store, never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockNumber(pub u64);

/// The sequence number of a log frame: unique in its store, rising.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

impl fmt::Display for BlockNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A merged block as `Store::write_block` wrote it or as it was recovered. Cheap to clone.
#[derive(Clone, Debug)]
pub struct StoredBlock {
    /// The block's number.
    pub number: BlockNumber,
    /// The table whose rows it holds.
    pub table: TableName,
    /// How many rows it holds, as its writer said: what is lost should its bytes be.
    pub rows: u32,
    /// Its bytes.
    pub bytes: BlockBytes,
    pub(crate) checksum: Checksum,
}

impl StoredBlock {
    /// Whether all of its bytes are known to be as they were written, once it was brought back: in memory,
    /// then. What is mapped from disk was not read for that.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.checksum.is_known() && self.bytes.is_in_memory()
    }
}

/// A batch whose id a retry must still meet although its log frame may be gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedBatch {
    /// The table it was logged to.
    pub table: TableName,
    /// Its id.
    pub batch: BatchId,
    /// A hash of its content, by which other bytes under the same id are told.
    pub content_hash: u64,
    /// How many rows it added.
    pub rows: u32,
    /// When it was taken.
    pub time: Micros,
}

/// Rows of one table that are no more because it was too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedRows {
    /// How many there were.
    pub rows: u64,
    /// Bytes of their blocks.
    pub bytes: u64,
    /// The last time that any of them had.
    pub until: Micros,
}

impl DroppedRows {
    /// These and the others.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            bytes: self.bytes.saturating_add(other.bytes),
            until: self.until.max(other.until),
        }
    }
}

/// One atomic change: after a crash, all of it or nothing of it is there.
///
/// It is applied in the order of the fields.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Tables that are no more: all their blocks, log frames appended so far, remembered batches,
    /// settings, and the count of their dropped rows.
    pub drops: Vec<TableName>,
    /// Blocks that are no more. Their space is given back after their last reader.
    pub removes: Vec<BlockNumber>,
    /// Blocks that count from now on.
    pub adds: Vec<StoredBlock>,
    /// Log frames that need no replay any more: their rows are in the added blocks, or expired.
    pub consumed: Vec<Sequence>,
    /// Log sequences, from the first to the last of each, whose frames are gone: nobody is to look for
    /// them any more.
    pub given_up: Vec<(Sequence, Sequence)>,
    /// Batches to remember; at most `BATCH_IDS_MAX` a table are, the oldest entries go first.
    pub remembered: Vec<RememberedBatch>,
    /// New settings of tables, opaque here; empty bytes remove them.
    pub settings: Vec<(TableName, Vec<u8>)>,
    /// Forgets remembered batches from the oldest entry of each table on, up to the first that is
    /// not older than this.
    pub forget_before: Option<Micros>,
    /// Rows that this change drops because their tables are too large: they are counted for as
    /// long as the table is there.
    pub dropped_rows: Vec<(TableName, DroppedRows)>,
}
