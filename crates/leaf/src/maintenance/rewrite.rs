//! Rewrites row blocks because they are old: with fewer rows (`sample.rs`), or cold
//! (`recompress.rs`).
//!
//! A round rewrites a few blocks, after merges, so a changed setting takes effect gradually and
//! nothing waits for it. A block that merges may still take is left alone until it is in a segment.
//! A new block replaces the old block in the same way as a merged block: one record of the manifest
//! per pass over a table, one swap per block. So after a crash, either the whole pass is in effect
//! or no part of it, and a running query continues with the old blocks.

use std::sync::Arc;

use hadal_block::{BlockError, BlockView};
use hadal_store::{Change, StoredBlock};
use hadal_types::Micros;
use hadal_types::limits::{REWRITE_BLOCKS_MAX, REWRITE_BYTES_MAX};

use crate::context::LeafContext;
use crate::maintenance::merge::{MergeError, open_stored, origins, verified_view};
use crate::table::Table;
use crate::table::block::Block;

/// The blocks that a pass has taken so far.
#[derive(Default)]
pub(crate) struct Pass {
    blocks: usize,
    raw_bytes: u64,
}

/// A block and its replacement, which is written but not in the manifest yet.
pub(crate) struct Rewritten {
    pub(crate) old: Arc<Block>,
    new: Vec<StoredBlock>,
}

impl Rewritten {
    /// Rows before and after.
    pub(crate) fn rows(&self) -> (u64, u64) {
        let after = self.new.iter().map(|block| u64::from(block.rows));
        (self.old.rows as u64, after.sum())
    }

    /// The bytes of the new blocks.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.new.iter().map(|block| &*block.bytes)
    }
}

impl Pass {
    /// Takes this block into the pass if it fits: up to the limits of one pass, and at least one
    /// block.
    pub(crate) fn takes(&mut self, block: &Block) -> bool {
        let raw_bytes = self.raw_bytes.saturating_add(block.raw_bytes);
        let is_first = self.blocks == 0;
        if !is_first && (self.blocks >= REWRITE_BLOCKS_MAX || raw_bytes > REWRITE_BYTES_MAX) {
            return false;
        }
        (self.blocks, self.raw_bytes) = (self.blocks + 1, raw_bytes);
        true
    }

    /// Takes blocks of a table into this pass: those whose rows are all from before a time and for
    /// which `is_due` holds.
    pub(crate) fn take(
        &mut self,
        table: &Table,
        before: Micros,
        is_due: impl Fn(&Block) -> bool,
    ) -> Vec<Arc<Block>> {
        let blocks = table.snapshot();
        let old = blocks.iter().filter(|block| block.time_range.1 < before);
        let due = old.filter(|block| block.may_be_rewritten() && is_due(block));
        due.take_while(|block| self.takes(block)).cloned().collect()
    }
}

/// Writes the blocks that `make` returns for each block; a block for which it returns `None` stays.
/// Nothing refers to the new blocks until a change commits them.
pub(crate) fn rewrite(
    context: &LeafContext,
    table: &Table,
    blocks: &[Arc<Block>],
    make: impl Fn(&BlockView<'_>) -> Result<Option<Vec<Vec<u8>>>, BlockError>,
) -> Result<Vec<Rewritten>, MergeError> {
    let mut rewritten = Vec::new();
    for old in blocks {
        let faults = old.faults();
        match verified_view(old).and_then(|view| make(&view)) {
            // The next pass detects which columns are damaged.
            _ if old.faults() != faults => {}
            Ok(Some(made)) => {
                let mut new = Vec::with_capacity(made.len());
                for bytes in made {
                    let rows = BlockView::parse(&bytes)?.rows();
                    let rows = u32::try_from(rows).unwrap_or(u32::MAX);
                    new.push(context.store.write_block(&table.name, rows, bytes)?);
                }
                rewritten.push(Rewritten { old: Arc::clone(old), new });
            }
            Ok(None) => old.note_incompressible(),
            Err(error) => table.quarantine(old, &error),
        }
    }
    Ok(rewritten)
}

/// Replaces the old blocks by the new ones, in one change. Returns the number of replaced blocks: 0
/// if the leaf stops or the table was dropped.
pub(crate) fn replace(
    context: &LeafContext,
    table: &Table,
    rewritten: Vec<Rewritten>,
) -> Result<usize, MergeError> {
    if rewritten.is_empty() {
        return Ok(0);
    }
    let Some(_turn) = context.turn_to_change() else { return Ok(0) };
    let dropped = table.dropped.read();
    if *dropped {
        return Ok(0);
    }
    let old: Vec<Arc<Block>> = rewritten.iter().map(|block| Arc::clone(&block.old)).collect();
    let (consumed, removes) = origins(&old);
    let adds = rewritten.iter().flat_map(|block| block.new.iter().cloned()).collect();
    let added = rewritten.iter().map(|block| open_stored(&block.new));
    let added = added.collect::<Result<Vec<_>, BlockError>>()?;
    context.store.commit(&Change { removes, adds, consumed, ..Change::default() })?;
    for (old, new) in old.iter().zip(added) {
        // One by one, so that each block keeps its position among the others.
        table.swap(std::slice::from_ref(old), new)?;
    }
    Ok(rewritten.len())
}
