//! Flushes fresh blocks to segments unchanged. Flushed blocks take no memory of the process, and
//! the next process need not read them from the log.
//!
//! Merging also moves blocks to segments, and makes fewer blocks. But for wide rows, merging is
//! slower than ingest.

use std::sync::Arc;

use hadal_store::{Change, Store};
use parking_lot::RwLockReadGuard;

use crate::maintenance::merge::{MergeError, origins, remembered};
use crate::table::Table;
use crate::table::block::{Block, Origin};

/// The fresh blocks of one table, and their copies in segments.
struct TableFlush<'a> {
    table: &'a Table,
    /// Keeps the table from being dropped during the flush.
    _kept: RwLockReadGuard<'a, bool>,
    fresh: Vec<Arc<Block>>,
    moved: Vec<Block>,
}

/// Moves all fresh blocks of some tables to segments, in one change: all of them, or none.
pub(crate) fn flush(tables: &[Arc<Table>], store: &Store) -> Result<(), MergeError> {
    let mut change = Change::default();
    let mut moves = Vec::new();
    for table in tables {
        moves.extend(write(table, store, &mut change)?);
    }
    if moves.is_empty() {
        return Ok(());
    }
    store.commit(&change)?;
    for TableFlush { table, fresh, moved, .. } in moves {
        for (block, moved) in fresh.into_iter().zip(moved) {
            // One by one, so that each block keeps its position among the others.
            table.swap(&[block], vec![Arc::new(moved)])?;
        }
    }
    Ok(())
}

/// Writes the fresh blocks of a table to segments, and adds them to `change`, which will commit
/// them.
fn write<'a>(
    table: &'a Table,
    store: &Store,
    change: &mut Change,
) -> Result<Option<TableFlush<'a>>, MergeError> {
    let dropped = table.dropped.read();
    let fresh = table.fresh_blocks();
    if *dropped || fresh.is_empty() {
        return Ok(None);
    }
    let mut moved = Vec::with_capacity(fresh.len());
    for block in &fresh {
        let rows = u32::try_from(block.rows).unwrap_or(u32::MAX);
        let stored = store.write_block(&table.name, rows, block.bytes().to_vec())?;
        moved.push(Block::new(stored.bytes.clone(), Origin::Segment(stored.number))?);
        change.adds.push(stored);
    }
    change.consumed.extend(origins(&fresh).0);
    change.remembered.extend(remembered(table, &fresh));
    Ok(Some(TableFlush { table, _kept: dropped, fresh, moved }))
}
