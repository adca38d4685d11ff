//! Tables whose row blocks are read from disk, though the leaf keeps others in memory.
//!
//! New blocks of such a table never come to memory: the store is told. Those that are there when the
//! table is set so are written once more, a few at a time, as blocks stay where they are.

use std::sync::Arc;

use crate::context::LeafContext;
use crate::maintenance::rewrite::{Pass, replace, rewrite};
use crate::table::Table;
use crate::table::block::Block;

/// Moves blocks out of memory whose tables are read from disk, as many as the pass still takes.
pub(crate) fn move_to_disk(context: &LeafContext, tables: &[Arc<Table>], pass: &mut Pass) {
    for table in tables.iter().filter(|table| table.is_on_disk()) {
        let blocks = table.snapshot();
        let in_memory = blocks.iter().filter(|block| block.may_be_moved() && block.is_in_memory());
        let taken: Vec<_> = in_memory.take_while(|block| pass.takes(block)).cloned().collect();
        rewrite_unchanged(context, table, &taken);
    }
}

/// Writes blocks once more, as they are: the new ones are where there is a place for them now.
pub(crate) fn rewrite_unchanged(context: &LeafContext, table: &Table, blocks: &[Arc<Block>]) {
    let copied = rewrite(context, table, blocks, |view| Ok(Some(vec![view.bytes().to_vec()])));
    if let Err(error) = copied.and_then(|copied| replace(context, table, copied)) {
        tracing::error!(leaf = %context.name, table = %table.name, "{error}");
    }
}
