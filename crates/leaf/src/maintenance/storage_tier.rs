//! Tables whose row blocks are read from disk although the leaf keeps the blocks of other tables in
//! memory.
//!
//! The store puts new blocks of such a table on disk only. Blocks that are in memory when the
//! setting changes are written again, a few at a time, because blocks cannot be moved.

use std::sync::Arc;

use crate::context::LeafContext;
use crate::maintenance::rewrite::{Pass, replace, rewrite};
use crate::table::Table;
use crate::table::block::Block;

/// Moves blocks of tables on disk out of memory, as many as the pass still takes.
pub(crate) fn move_to_disk(context: &LeafContext, tables: &[Arc<Table>], pass: &mut Pass) {
    for table in tables.iter().filter(|table| table.is_on_disk()) {
        let blocks = table.snapshot();
        let in_memory = blocks.iter().filter(|block| block.may_be_moved() && block.is_in_memory());
        let taken: Vec<_> = in_memory.take_while(|block| pass.takes(block)).cloned().collect();
        rewrite_unchanged(context, table, &taken);
    }
}

/// Writes blocks again unchanged: the store puts the new ones where it now has room for them.
pub(crate) fn rewrite_unchanged(context: &LeafContext, table: &Table, blocks: &[Arc<Block>]) {
    let copied = rewrite(context, table, blocks, |view| Ok(Some(vec![view.bytes().to_vec()])));
    if let Err(error) = copied.and_then(|copied| replace(context, table, copied)) {
        tracing::error!(leaf = %context.name, table = %table.name, "{error}");
    }
}
