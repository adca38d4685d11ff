//! The content of one table when a store is opened.

use std::collections::BTreeSet;
use std::ops::Range;

use hadal_types::{BatchId, TableName};

use crate::change::{DroppedRows, RememberedBatch, StoredBlock};
use crate::checksum::Checksum;
use crate::ids::{BlockNumber, Sequence};
use crate::segment::BlockBytes;
use crate::segment::layout::BlockLocation;

/// The content of one table.
#[derive(Debug, Default)]
pub struct RecoveredTable {
    /// Its merged blocks, by number.
    pub blocks: Vec<StoredBlock>,
    /// Rows of these blocks.
    pub block_rows: u64,
    /// Bytes of these blocks.
    pub block_bytes: u64,
    /// Merged blocks that [`crate::Store::restore`] brings back, by number.
    pub waiting: Vec<WaitingBlock>,
    /// Batches that are in no merged block, by sequence. Some may never have been acknowledged.
    pub frames: Vec<RecoveredFrame>,
    /// Remembered batches, oldest first.
    pub remembered: Vec<RememberedBatch>,
    /// The settings, if it has any.
    pub settings: Option<Vec<u8>>,
    /// Rows that were dropped because the table was too large, if any.
    pub dropped_rows: Option<DroppedRows>,
}

impl RecoveredTable {
    /// Adds a merged block; its number is above all others.
    pub fn take(&mut self, block: StoredBlock) {
        self.block_rows += u64::from(block.rows);
        self.block_bytes += block.bytes.byte_count();
        self.blocks.push(block);
    }

    /// Drops the merged blocks `gone`.
    pub(crate) fn lose(&mut self, gone: &BTreeSet<BlockNumber>) {
        let is_kept = |block: &StoredBlock| !gone.contains(&block.number);
        let (mut rows, mut bytes) = (0, 0);
        for block in self.blocks.iter().filter(|block| !is_kept(block)) {
            rows += u64::from(block.rows);
            bytes += block.bytes.byte_count();
        }
        self.blocks.retain(is_kept);
        self.block_rows -= rows;
        self.block_bytes -= bytes;
    }
}

/// A merged block that counts. Its bytes must be verified in memory or read from disk before they
/// can be used.
#[derive(Debug)]
pub struct WaitingBlock {
    /// The block's number.
    pub number: BlockNumber,
    /// The number of its rows.
    pub rows: u32,
    pub(crate) table: TableName,
    pub(crate) bytes: BlockBytes,
    pub(crate) checksum: Checksum,
}

impl WaitingBlock {
    /// Whether an earlier process left its segment in memory. Then the block is read from disk only
    /// if its bytes in memory are damaged.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        self.bytes.has_old_memory()
    }

    /// Announces to the system that the block will soon be restored. If it must be read from disk,
    /// the read then need not be waited for.
    pub fn expect(&self) {
        self.bytes.expect();
    }

    /// Its segment. Two threads that write to the same segment wait for each other.
    #[must_use]
    pub fn segment(&self) -> u32 {
        self.location().segment
    }

    /// Its range in the segment, in bytes.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        let BlockLocation { offset, length, .. } = self.location();
        offset..offset.saturating_add(u64::from(length))
    }

    fn location(&self) -> BlockLocation {
        self.bytes.location().unwrap_or(BlockLocation::IN_MEMORY)
    }
}

/// A batch from the log.
#[derive(Clone, Debug)]
pub struct RecoveredFrame {
    /// The frame's sequence.
    pub sequence: Sequence,
    /// The batch's id.
    pub batch: BatchId,
    /// The block as it was appended, in a heap segment.
    pub bytes: BlockBytes,
}
