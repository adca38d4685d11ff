//! A table is dropped.

use std::sync::Arc;

use hadal_store::Change;
use hadal_types::TableName;

use crate::context::LeafContext;
use crate::sync::write;
use crate::table::block::Block;

pub(crate) fn drop_table(
    context: &LeafContext,
    name: &TableName,
) -> Result<u64, hadal_store::Error> {
    let gone = take_out(context, name)?;
    Ok(gone.iter().map(|block| block.rows as u64).sum())
}

/// Takes a table out, and returns its blocks. Whoever wants the list of tables waits for none of that:
/// neither for a merge of the table, nor for the disk, nor for memory that is given back.
fn take_out(
    context: &LeafContext,
    name: &TableName,
) -> Result<Vec<Arc<Block>>, hadal_store::Error> {
    let Some(table) = context.table(name) else { return Ok(Vec::new()) };
    let mut dropped = write(&table.dropped);
    if *dropped {
        // Two drops at once: the other one has it.
        return Ok(Vec::new());
    }
    context.store.commit(&Change { drops: vec![name.clone()], ..Change::default() })?;
    *dropped = true;
    drop(dropped);
    context.store.keep_on_disk(name, false);
    // Only now may there be another table of that name.
    write(&context.tables).remove(name);
    Ok(table.clear().to_vec())
}
