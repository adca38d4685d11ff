//! Chilling: row blocks whose rows are all older than their table's `cold_after` become cold, which is
//! fewer bytes and longer to read (`spec/row-block.md`, section 2).
//!
//! A few blocks at a time, after merges, so that a table that is set so today is cold by and by, and
//! nobody waits for that. A block that merges may still take is left alone unless it has its place; one
//! that a merge or an expiry takes later comes out warm, and becomes cold again when it is its turn.
//! Blocks that save nothing are tried once in the life of a process.
//!
//! A cold block takes the place of the warm one as a merged block does: one record of the manifest,
//! one swap. Its rows are the same, so a query that has begun goes on with the warm one.

use std::sync::Arc;

use hadal_block::{BlockError, Chill, chill};
use hadal_store::{Change, StoredBlock};
use hadal_types::Micros;
use hadal_types::limits::{CHILL_BLOCKS_MAX, CHILL_BYTES_MAX};

use crate::block::{Block, Origin};
use crate::leaf::Inner;
use crate::merge::{MergeError, checked, origins};
use crate::sync::{lock, read};
use crate::table::Table;

/// What a pass has taken so far.
#[derive(Default)]
pub(crate) struct Pass {
    blocks: usize,
    raw_bytes: u64,
}

impl Pass {
    /// Whether the pass takes this block as well: as many as become cold at once, and at least one.
    fn takes(&mut self, block: &Block) -> bool {
        let raw_bytes = self.raw_bytes.saturating_add(block.raw_bytes);
        let is_first = self.blocks == 0;
        if !is_first && (self.blocks >= CHILL_BLOCKS_MAX || raw_bytes > CHILL_BYTES_MAX) {
            return false;
        }
        (self.blocks, self.raw_bytes) = (self.blocks + 1, raw_bytes);
        true
    }

    /// The blocks of a table that this pass takes, of those whose rows are all from before a time.
    pub(crate) fn take(&mut self, table: &Table, before: Micros) -> Vec<Arc<Block>> {
        let blocks = table.snapshot();
        let old = blocks.iter().filter(|block| block.time_range.1 < before);
        let warm = old.filter(|block| block.may_become_cold());
        warm.take_while(|block| self.takes(block)).cloned().collect()
    }
}

impl Inner {
    /// Makes some of the blocks cold that are old enough for it at `now`, of tables whose settings
    /// ask for it.
    pub(crate) fn chill_old(&self, tables: &[Arc<Table>], now: Micros) {
        let mut pass = Pass::default();
        for table in tables {
            let age = lock(&table.settings).as_ref().map(|settings| settings.cold_age());
            let Some(before) = age.and_then(|age| age.cutoff(now)) else { continue };
            let old = pass.take(table, before);
            if let Err(error) = self.chill(table, &old) {
                tracing::error!(leaf = %self.name, table = %table.name, "{error}");
            }
        }
    }

    /// Makes those of these blocks cold that take less so, whatever their age is; returns how many.
    pub(crate) fn chill(&self, table: &Table, blocks: &[Arc<Block>]) -> Result<usize, MergeError> {
        let (warm, adds) = self.write_cold(table, blocks)?;
        if warm.is_empty() {
            return Ok(0);
        }
        let Some(_turn) = self.turn_to_change() else { return Ok(0) };
        let dropped = read(&table.dropped);
        if *dropped {
            return Ok(0);
        }
        let (consumed, removes) = origins(&warm);
        let change = Change { removes, adds: adds.clone(), consumed, ..Change::default() };
        self.store.commit(&change)?;
        let cold = |stored: StoredBlock| Block::new(stored.bytes, Origin::Segment(stored.number));
        let cold = adds.into_iter().map(cold).collect::<Result<Vec<_>, BlockError>>()?;
        let chilled = cold.len();
        for (warm, cold) in warm.into_iter().zip(cold) {
            // One by one, so that each keeps its place among the others.
            table.swap(&[warm], vec![Arc::new(cold)]);
        }
        Ok(chilled)
    }

    /// Writes the blocks that take less when they are cold; returns the warm ones, and what is to
    /// come for each. Until a change says so, nothing has happened.
    pub(crate) fn write_cold(
        &self,
        table: &Table,
        blocks: &[Arc<Block>],
    ) -> Result<(Vec<Arc<Block>>, Vec<StoredBlock>), MergeError> {
        let (mut warm, mut adds) = (Vec::new(), Vec::new());
        for block in blocks {
            let faults = block.faults();
            match checked(block).and_then(|view| chill(&view, Chill::WhereItSaves)) {
                // The next pass finds out which columns are damaged.
                _ if block.faults() != faults => {}
                Ok(Some(bytes)) => {
                    let rows = u32::try_from(block.rows).unwrap_or(u32::MAX);
                    adds.push(self.store.write_block(&table.name, rows, bytes)?);
                    warm.push(Arc::clone(block));
                }
                Ok(None) => block.note_saves_nothing(),
                Err(error) => table.quarantine(block, &error),
            }
        }
        Ok((warm, adds))
    }
}
