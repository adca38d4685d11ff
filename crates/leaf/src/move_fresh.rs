//! Fresh blocks get a place in a segment as they are, so that they take no memory any more.
//!
//! Merging them does that too, and makes fewer blocks of them, but takes longer than they take to
//! come in where their rows are wide.

use std::sync::Arc;

use hadal_store::{Change, Store};

use crate::block::{Block, Origin};
use crate::merge::{MergeError, origins, remembered};
use crate::sync::read;
use crate::table::Table;

/// Moves all fresh blocks of a table to segments.
pub(crate) fn move_fresh(table: &Table, store: &Store) -> Result<(), MergeError> {
    let dropped = read(&table.dropped);
    if *dropped {
        return Ok(());
    }
    let blocks = table.blocks.snapshot();
    let fresh: Vec<Arc<Block>> = blocks.iter().filter(|b| b.origin.is_log()).cloned().collect();
    if fresh.is_empty() {
        return Ok(());
    }
    let (mut adds, mut moved) = (Vec::with_capacity(fresh.len()), Vec::with_capacity(fresh.len()));
    for block in &fresh {
        let rows = u32::try_from(block.rows).unwrap_or(u32::MAX);
        let stored = store.write_block(&table.name, rows, block.bytes().to_vec())?;
        moved.push(Block::new(stored.bytes.clone(), Origin::Segment(stored.number))?);
        adds.push(stored);
    }
    let (consumed, _) = origins(&fresh);
    let remembered = remembered(table, &fresh);
    store.commit(&Change { adds, consumed, remembered, ..Change::default() })?;
    for (block, moved) in fresh.into_iter().zip(moved) {
        // One by one, so that each keeps its place among the others.
        table.swap(&[block], vec![Arc::new(moved)]);
    }
    Ok(())
}
