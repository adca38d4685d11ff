//! From what a store recovered to tables: merged blocks, then what the log still holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_store::{RecoveredTable, Recovery};
use hadal_types::TableName;

use crate::batches::Known;
use crate::block::{Block, Origin};
use crate::sync::lock;
use crate::table::Table;

/// The tables of a recovered store.
///
/// A block that cannot be read is left out and logged; its place stays as it is.
pub(crate) fn tables(recovery: Recovery) -> BTreeMap<TableName, Arc<Table>> {
    recovery
        .tables
        .into_iter()
        .map(|(name, recovered)| (name.clone(), Arc::new(table(name, recovered))))
        .collect()
}

fn table(name: TableName, recovered: RecoveredTable) -> Table {
    let table = Table::new(name);
    for batch in recovered.remembered {
        let known = Known { content_hash: batch.content_hash, rows: batch.rows, time: batch.time };
        lock(&table.batches).remember(&batch.batch, known);
    }
    for stored in recovered.blocks {
        push(&table, Block::new(stored.bytes, Origin::Segment(stored.number)));
    }
    for frame in recovered.frames {
        let block = Block::new(frame.bytes, Origin::Log(vec![frame.sequence]));
        // A batch whose first acknowledgement failed may have been logged twice.
        let is_new = block.as_ref().is_ok_and(|block| remember(&table, block));
        if is_new || block.is_err() {
            push(&table, block);
        }
    }
    table
}

fn push(table: &Table, block: Result<Block, hadal_block::BlockError>) {
    match block {
        Ok(block) => table.push(block),
        Err(error) => {
            tracing::error!(table = %table.name, %error, "a recovered row block cannot be read");
        }
    }
}

/// Remembers the batch of a logged block; false when it was there already.
fn remember(table: &Table, block: &Block) -> bool {
    let Ok(view) = block.view() else { return false };
    let mut batches = lock(&table.batches);
    view.batches().iter().all(|batch| {
        let is_new = batches.get(&batch.id).is_none();
        let known = Known {
            content_hash: batch.content_hash,
            rows: u32::try_from(batch.rows).unwrap_or(u32::MAX),
            time: block.created_at,
        };
        if is_new {
            batches.remember(&batch.id, known);
        }
        is_new
    })
}
