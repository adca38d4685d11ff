//! The scrub: verifies a leaf's row blocks in endless rounds, including blocks that no query reads.
//!
//! The bytes of a block are compared with its checksum in the manifest, which also detects a
//! segment file restored from a backup. A query verifies a column's checksum on its first read, and
//! trusts the column from then on. So only a scrub detects later changes. Their cause can be a
//! failing disk or memory, or another program that writes to the files. A damaged block is read
//! from disk again if the copy there is intact. Otherwise it is quarantined: its rows count as
//! lost, and no query trusts it any more. Blocks whose header in shared memory is unreadable are
//! re-read from disk too.
//!
//! After a start that trusted the contents of memory, the first round takes half of
//! [`SCRUB_SECONDS_MAX`]. Every later round takes at least [`SCRUB_ROUND_SECONDS_MIN`], and longer
//! if the leaf's share of
//! [`limits::SCRUB_BYTES_PER_SECOND`](hadal_types::limits::SCRUB_BYTES_PER_SECOND) requires it, so
//! that queries hardly notice.

use std::sync::{Arc, Weak};
use std::time::Duration;

use hadal_block::BlockError;
use hadal_store::{Change, LostBlock};
use hadal_types::limits::{SCRUB_ROUND_SECONDS_MIN, SCRUB_SECONDS_MAX};

use crate::context::LeafContext;
use crate::maintenance::merge::{MergeError, open_stored_block};
use crate::table::Table;
use crate::table::block::{Block, Origin};

/// The speed of a round.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Bytes of all blocks when the round begins.
    bytes: u64,
    /// The minimum duration of the round.
    takes: Duration,
    bytes_per_second: u64,
}

impl Pace {
    /// The round over blocks that a start trusted.
    fn first(bytes: u64) -> Self {
        let takes = Duration::from_secs(SCRUB_SECONDS_MAX) / 2;
        Self { bytes, takes, bytes_per_second: u64::MAX }
    }

    fn steady(bytes: u64, bytes_per_second: u64) -> Self {
        let takes = Duration::from_secs(SCRUB_ROUND_SECONDS_MIN);
        Self { bytes, takes, bytes_per_second: bytes_per_second.max(1) }
    }

    /// The time from the round's start at which `bytes_done` bytes may be done.
    fn due(&self, bytes_done: u64) -> Duration {
        let share = bytes_done as f64 / self.bytes.max(1) as f64;
        let seconds = bytes_done as f64 / self.bytes_per_second as f64;
        // Only a time span of ages overflows a duration.
        let slowest = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.takes.mul_f64(share.min(1.0)).max(slowest)
    }
}

/// Verifies the blocks of one leaf.
pub(crate) struct Scrubber<'l> {
    pub(crate) context: &'l LeafContext,
}

impl Scrubber<'_> {
    /// Verifies all blocks in rounds until the leaf stops. The first round is fast if the start
    /// trusted the memory of an earlier process (`is_believed`).
    pub(crate) fn run(&self, is_believed: bool) {
        if is_believed {
            self.scrub_at(Pace::first(self.block_bytes()));
        }
        while !self.context.is_stopping() {
            let share = self.context.limits.scrub_bytes_per_second;
            self.scrub_at(Pace::steady(self.block_bytes(), share));
        }
    }

    /// Makes one round, which ends early when the leaf stops.
    fn scrub_at(&self, pace: Pace) {
        let start = self.context.clock.running();
        let mut bytes_done = 0u64;
        self.scrub_round(|bytes| {
            bytes_done = bytes_done.saturating_add(bytes);
            self.context.wait_until(start.saturating_add(pace.due(bytes_done)))
        });
        self.context.wait_until(start.saturating_add(pace.takes));
    }

    /// Verifies all blocks. Calls `may_go_on` with the bytes of each block before it, and ends the
    /// round when that returns false. The round keeps no block alive that is removed meanwhile.
    pub(crate) fn scrub_round(&self, mut may_go_on: impl FnMut(u64) -> bool) {
        for table in self.context.all_tables() {
            self.restore_unreadable(&table);
            let blocks: Vec<Weak<Block>> = table.snapshot().iter().map(Arc::downgrade).collect();
            for block in blocks {
                let Some(bytes) = block.upgrade().map(|block| block.byte_count() as u64) else {
                    continue;
                };
                if !may_go_on(bytes) {
                    return;
                }
                if let Some(block) = block.upgrade() {
                    self.scrub_block(&table, &block);
                }
            }
        }
    }

    /// Re-reads from disk the blocks that were lost because their header in memory is unreadable.
    fn restore_unreadable(&self, table: &Table) {
        for lost in table.take_unreadable() {
            let (number, rows) = (lost.number, lost.rows);
            match self.find(table, &lost) {
                Ok(true) => tracing::warn!(
                    leaf = %self.context.name, table = %table.name, block = %number, rows,
                    "a row block that was lost in memory is read from disk again"
                ),
                Ok(false) => {}
                Err(error) => {
                    tracing::error!(leaf = %self.context.name, table = %table.name, block = %number, "{error}");
                    table.put_unreadable(lost);
                }
            }
        }
    }

    /// Replaces a lost block by the disk's copy. Returns false if the disk has none, or if no
    /// change is possible any more.
    fn find(&self, table: &Table, lost: &LostBlock) -> Result<bool, MergeError> {
        let Some(bytes) = self.context.store.copy_on_disk(lost.number) else { return Ok(false) };
        let stored = self.context.store.write_block(&table.name, lost.rows, bytes)?;
        let Some(_turn) = self.context.turn_to_change() else { return Ok(false) };
        let dropped = table.dropped.read();
        // A person may have acknowledged the loss.
        if *dropped || !self.context.store.has_block(lost.number) {
            return Ok(false);
        }
        let block = open_stored_block(stored.clone())?;
        self.context.store.commit(&Change {
            removes: vec![lost.number],
            adds: vec![stored],
            ..Change::default()
        })?;
        table.push_restored(block, lost.number);
        Ok(true)
    }

    fn scrub_block(&self, table: &Table, block: &Arc<Block>) {
        // The archive verifies the blocks it takes, and nothing else may replace them meanwhile.
        if block.is_archiving() {
            return;
        }
        let Err(damage) = self.verify(block) else { return };
        let (rows, file, number) = (block.rows, block.describe_location(), &block.origin);
        match self.mend(table, block) {
            Ok(true) => tracing::warn!(
                leaf = %self.context.name, table = %table.name, block = %number, file, rows,
                "a row block was damaged in memory, and is read from disk again: {damage}"
            ),
            Ok(false) => table.quarantine(block, &damage),
            Err(error) => {
                tracing::error!(leaf = %self.context.name, table = %table.name, block = %number, "{error}");
                table.quarantine(block, &damage);
            }
        }
    }

    /// Verifies all bytes of a block against the manifest's checksum, which also detects another
    /// block at its position. A block without such a checksum is verified column by column.
    fn verify(&self, block: &Block) -> Result<(), BlockError> {
        let faults = block.faults();
        match block.number().and_then(|number| self.context.store.is_as_written(number)) {
            Some(true) => {
                block.note_verified(faults);
                Ok(())
            }
            // Intact columns of a partly damaged block can still be read.
            Some(false) => block.verify().and_then(|()| {
                block.note_checksum_mismatch();
                block.view().map(drop)
            }),
            None => block.verify(),
        }
    }

    /// Replaces a block by the disk's copy. Returns false if that copy is not what was written, or
    /// if no change is possible any more.
    fn mend(&self, table: &Table, block: &Arc<Block>) -> Result<bool, MergeError> {
        let Origin::Segment(number) = block.origin else { return Ok(false) };
        let Some(bytes) = self.context.store.copy_on_disk(number) else { return Ok(false) };
        let rows = u32::try_from(block.rows).unwrap_or(u32::MAX);
        let stored = self.context.store.write_block(&table.name, rows, bytes)?;
        let Some(_turn) = self.context.turn_to_change() else { return Ok(false) };
        let dropped = table.dropped.read();
        let is_there = table.snapshot().iter().any(|other| Arc::ptr_eq(other, block));
        if *dropped || !is_there || block.is_archiving() {
            return Ok(false);
        }
        let mended = Arc::new(open_stored_block(stored.clone())?);
        self.context.store.commit(&Change {
            removes: vec![number],
            adds: vec![stored],
            ..Change::default()
        })?;
        table.swap(std::slice::from_ref(block), vec![mended])?;
        Ok(true)
    }

    /// Bytes of all blocks. Opens none.
    fn block_bytes(&self) -> u64 {
        self.context.all_tables().iter().map(|table| table.holdings().1).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_takes_half_of_its_time() {
        let half = Duration::from_secs(SCRUB_SECONDS_MAX / 2);
        let pace = Pace::first(10);
        assert_eq!(pace.due(0), Duration::ZERO);
        assert_eq!(pace.due(5), half / 2);
        assert_eq!(pace.due(10), half);
        // Blocks that came during the round, and no blocks at all.
        assert_eq!(pace.due(20), half);
        assert_eq!(Pace::first(0).due(0), Duration::ZERO);
    }

    #[test]
    fn other_rounds_take_their_time_and_never_read_faster_than_they_may() {
        let whole = Duration::from_secs(SCRUB_ROUND_SECONDS_MIN);
        // A small amount is spread over the round.
        assert_eq!(Pace::steady(10, 1_000).due(5), whole / 2);
        // A large amount takes its full time, and so do blocks that came during the round.
        let much = 10 * 1_000 * SCRUB_ROUND_SECONDS_MIN;
        assert_eq!(Pace::steady(much, 1_000).due(much), whole * 10);
        assert_eq!(Pace::steady(0, 1_000).due(much), whole * 10);
        assert_eq!(Pace::steady(1, 0).due(7), whole.max(Duration::from_secs(7)));
    }
}
