//! Drops a table.

use std::sync::Arc;

use hadal_store::Change;
use hadal_types::TableName;

use crate::context::LeafContext;
use crate::table::block::Block;

pub(crate) fn drop_table(
    context: &LeafContext,
    name: &TableName,
) -> Result<u64, hadal_store::Error> {
    let dropped = take_out(context, name)?;
    Ok(dropped.iter().map(|block| block.rows as u64).sum())
}

/// Takes a table out, and returns its blocks. The map of tables is not locked during the slow
/// parts: waiting for a merge of the table, writing to disk, and giving memory back.
fn take_out(
    context: &LeafContext,
    name: &TableName,
) -> Result<Vec<Arc<Block>>, hadal_store::Error> {
    let Some(table) = context.table(name) else { return Ok(Vec::new()) };
    let mut dropped = table.dropped.write();
    if *dropped {
        // Of two concurrent drops, the other one takes the blocks.
        return Ok(Vec::new());
    }
    context.store.commit(&Change { drops: vec![name.clone()], ..Change::default() })?;
    *dropped = true;
    drop(dropped);
    context.store.keep_on_disk(name, false);
    // Only from here on may another table of that name be created.
    context.tables.write().remove(name);
    context.changes.note(name);
    Ok(table.clear().to_vec())
}
