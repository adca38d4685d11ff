//! Row blocks that are written anew because they are old: with fewer rows (`sample.rs`), or cold
//! (`recompress.rs`).
//!
//! A few blocks at a time, after merges, so that a table that is set so today is so by and by, and
//! nobody waits for that. A block that merges may still take is left alone unless it has its place.
//! A new block takes the place of the old one as a merged block does: one record of the manifest
//! for a pass over a table, one swap for each block. So a crash leaves all of a pass or nothing of
//! it, and a query that has begun goes on with the old blocks.

use std::sync::Arc;

use hadal_block::{BlockError, BlockView};
use hadal_store::{Change, StoredBlock};
use hadal_types::Micros;
use hadal_types::limits::{REWRITE_BLOCKS_MAX, REWRITE_BYTES_MAX};

use crate::context::LeafContext;
use crate::maintenance::merge::{MergeError, open_stored, origins, verified_view};
use crate::sync::read;
use crate::table::Table;
use crate::table::block::Block;

/// What a pass has taken so far.
#[derive(Default)]
pub(crate) struct Pass {
    blocks: usize,
    raw_bytes: u64,
}

/// A block, and what is to come for it: written, and not in the manifest yet.
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
    /// Whether the pass takes this block as well: as many as are written anew at once, and at least
    /// one.
    pub(crate) fn takes(&mut self, block: &Block) -> bool {
        let raw_bytes = self.raw_bytes.saturating_add(block.raw_bytes);
        let is_first = self.blocks == 0;
        if !is_first && (self.blocks >= REWRITE_BLOCKS_MAX || raw_bytes > REWRITE_BYTES_MAX) {
            return false;
        }
        (self.blocks, self.raw_bytes) = (self.blocks + 1, raw_bytes);
        true
    }

    /// The blocks of a table that this pass takes, of those whose rows are all from before a time
    /// and of which `is_due` says that they are to be written anew.
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

/// Writes what `make` makes of each block, unless it makes nothing. Until a change says so,
/// nothing has happened.
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
            // The next pass finds out which columns are damaged.
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

/// Puts the new blocks in the place of the old ones, in one change; returns of how many, which is
/// none where the leaf stops or the table was dropped meanwhile.
pub(crate) fn replace(
    context: &LeafContext,
    table: &Table,
    rewritten: Vec<Rewritten>,
) -> Result<usize, MergeError> {
    if rewritten.is_empty() {
        return Ok(0);
    }
    let Some(_turn) = context.turn_to_change() else { return Ok(0) };
    let dropped = read(&table.dropped);
    if *dropped {
        return Ok(0);
    }
    let old: Vec<Arc<Block>> = rewritten.iter().map(|one| Arc::clone(&one.old)).collect();
    let (consumed, removes) = origins(&old);
    let adds = rewritten.iter().flat_map(|one| one.new.iter().cloned()).collect();
    let added = rewritten.iter().map(|one| open_stored(&one.new));
    let added = added.collect::<Result<Vec<_>, BlockError>>()?;
    context.store.commit(&Change { removes, adds, consumed, ..Change::default() })?;
    for (old, new) in old.iter().zip(added) {
        // One by one, so that each keeps its place among the others.
        table.swap(std::slice::from_ref(old), new)?;
    }
    Ok(rewritten.len())
}
