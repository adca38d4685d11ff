//! The scrub: verifies a leaf's row blocks round after round for as long as it runs, also those that
//! no query asks for.
//!
//! The bytes of a block are compared with the checksum that the manifest has of them, so that one
//! whose file was put back from a backup is found, too. A query verifies a column's checksum when
//! it first reads it, and believes it from then on; so of what is altered later (by a failing disk
//! or memory, or by whoever writes to the files) only a scrub learns. What it finds it reads from
//! disk again, where the copy there is as it was written; else the block is quarantined, its rows
//! count as lost, and no query believes it any more. So are blocks read from disk of which an
//! earlier process left a front in memory that cannot be read.
//!
//! After a start that trusted what is in memory the first round takes half of [`SCRUB_SECONDS_MAX`];
//! all others take [`SCRUB_ROUND_SECONDS_MIN`] at least, and longer where the leaf's share of
//! [`limits::SCRUB_BYTES_PER_SECOND`](hadal_types::limits::SCRUB_BYTES_PER_SECOND) asks for it, so that
//! queries hardly notice.

use std::sync::{Arc, Weak};
use std::time::Duration;

use hadal_block::BlockError;
use hadal_store::{Change, LostBlock};
use hadal_types::limits::{SCRUB_ROUND_SECONDS_MIN, SCRUB_SECONDS_MAX};

use crate::context::LeafContext;
use crate::maintenance::merge::{MergeError, open_stored_block};
use crate::sync::read;
use crate::table::Table;
use crate::table::block::{Block, Origin};

/// How fast a round goes.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Bytes of all blocks, when the round begins.
    bytes: u64,
    /// What the round takes at least.
    takes: Duration,
    bytes_per_second: u64,
}

impl Pace {
    /// The round over what was trusted at a start.
    fn first(bytes: u64) -> Self {
        let takes = Duration::from_secs(SCRUB_SECONDS_MAX) / 2;
        Self { bytes, takes, bytes_per_second: u64::MAX }
    }

    fn steady(bytes: u64, bytes_per_second: u64) -> Self {
        let takes = Duration::from_secs(SCRUB_ROUND_SECONDS_MIN);
        Self { bytes, takes, bytes_per_second: bytes_per_second.max(1) }
    }

    /// When so many bytes may be done, from the round's start on.
    fn due(&self, bytes_done: u64) -> Duration {
        let share = bytes_done as f64 / self.bytes.max(1) as f64;
        let seconds = bytes_done as f64 / self.bytes_per_second as f64;
        // So many seconds are no duration only after ages.
        let slowest = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.takes.mul_f64(share.min(1.0)).max(slowest)
    }
}

/// Verifies the blocks of one leaf.
pub(crate) struct Scrubber<'l> {
    pub(crate) context: &'l LeafContext,
}

impl Scrubber<'_> {
    /// Verifies all blocks round after round until the leaf stops, the first time soon where
    /// `is_believed` what an earlier process left in memory.
    pub(crate) fn run(&self, is_believed: bool) {
        if is_believed {
            self.scrub_at(Pace::first(self.block_bytes()));
        }
        while !self.context.is_stopping() {
            let share = self.context.limits.scrub_bytes_per_second;
            self.scrub_at(Pace::steady(self.block_bytes(), share));
        }
    }

    /// One round, which ends early when the leaf stops.
    fn scrub_at(&self, pace: Pace) {
        let start = self.context.clock.running();
        let mut bytes_done = 0u64;
        self.scrub_round(|bytes| {
            bytes_done = bytes_done.saturating_add(bytes);
            self.context.wait_until(start.saturating_add(pace.due(bytes_done)))
        });
        self.context.wait_until(start.saturating_add(pace.takes));
    }

    /// Verifies all blocks; `may_go_on` is told the bytes of each before that, and ends the round
    /// when it says no. No block that goes meanwhile is kept by that.
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

    /// Reads from disk what was lost because its front cannot be read in memory.
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

    /// Puts what the disk has of a lost block in its place; false where it has not, or nothing may
    /// change any more.
    fn find(&self, table: &Table, lost: &LostBlock) -> Result<bool, MergeError> {
        let Some(bytes) = self.context.store.copy_on_disk(lost.number) else { return Ok(false) };
        let stored = self.context.store.write_block(&table.name, lost.rows, bytes)?;
        let Some(_turn) = self.context.turn_to_change() else { return Ok(false) };
        let dropped = read(&table.dropped);
        // Somebody may have said that they know of the loss.
        if *dropped || !self.context.store.has_block(lost.number) {
            return Ok(false);
        }
        let found = open_stored_block(stored.clone())?;
        self.context.store.commit(&Change {
            removes: vec![lost.number],
            adds: vec![stored],
            ..Change::default()
        })?;
        table.push_restored(found, lost.number);
        Ok(true)
    }

    fn scrub_block(&self, table: &Table, block: &Arc<Block>) {
        // The archive verifies what it takes, and nothing else may replace it meanwhile.
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

    /// Verifies all bytes of a block, so that another block in its place is found, too; those that
    /// were never summed as a whole column by column.
    fn verify(&self, block: &Block) -> Result<(), BlockError> {
        let faults = block.faults();
        match block.number().and_then(|number| self.context.store.is_as_written(number)) {
            Some(true) => {
                block.note_verified(faults);
                Ok(())
            }
            // Of one that is altered in part, what is sound can still be read.
            Some(false) => block.verify().and_then(|()| {
                block.note_checksum_mismatch();
                block.view().map(drop)
            }),
            None => block.verify(),
        }
    }

    /// Puts what the disk has of a block in its place; false where that is not what was written there,
    /// or nothing may change any more.
    fn mend(&self, table: &Table, block: &Arc<Block>) -> Result<bool, MergeError> {
        let Origin::Segment(number) = block.origin else { return Ok(false) };
        let Some(bytes) = self.context.store.copy_on_disk(number) else { return Ok(false) };
        let rows = u32::try_from(block.rows).unwrap_or(u32::MAX);
        let stored = self.context.store.write_block(&table.name, rows, bytes)?;
        let Some(_turn) = self.context.turn_to_change() else { return Ok(false) };
        let dropped = read(&table.dropped);
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

    /// Bytes of all blocks, without a look at them.
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
        // Blocks that came meanwhile, and none at all.
        assert_eq!(pace.due(20), half);
        assert_eq!(Pace::first(0).due(0), Duration::ZERO);
    }

    #[test]
    fn other_rounds_take_their_time_and_never_read_faster_than_they_may() {
        let whole = Duration::from_secs(SCRUB_ROUND_SECONDS_MIN);
        // Little is spread over the round.
        assert_eq!(Pace::steady(10, 1_000).due(5), whole / 2);
        // Much takes as long as it takes, and so does what came meanwhile.
        let much = 10 * 1_000 * SCRUB_ROUND_SECONDS_MIN;
        assert_eq!(Pace::steady(much, 1_000).due(much), whole * 10);
        assert_eq!(Pace::steady(0, 1_000).due(much), whole * 10);
        assert_eq!(Pace::steady(1, 0).due(7), whole.max(Duration::from_secs(7)));
    }
}
