//! Tables whose row blocks are read from disk, though the leaf keeps others in memory.
//!
//! New blocks of such a table never come to memory: the store is told. Those that are there when the
//! table is set so are written once more, a few at a time, as blocks stay where they are.

use std::sync::Arc;

use hadal_types::{TableSettings, TableStorage};

use crate::leaf::Inner;
use crate::maintenance::rewrite::Pass;
use crate::table::Table;
use crate::table::block::Block;

/// Whether blocks of a table with these settings are read from disk.
pub(crate) fn is_on_disk(settings: Option<&TableSettings>) -> bool {
    settings.is_some_and(|settings| settings.storage() == TableStorage::Mmap)
}

impl Inner {
    /// Moves blocks out of memory whose tables are read from disk, as many as the pass still takes.
    pub(crate) fn move_to_disk(&self, tables: &[Arc<Table>], pass: &mut Pass) {
        for table in tables.iter().filter(|table| table.is_on_disk()) {
            let blocks = table.snapshot();
            let in_memory =
                blocks.iter().filter(|block| block.may_be_moved() && block.is_in_memory());
            let taken: Vec<_> = in_memory.take_while(|block| pass.takes(block)).cloned().collect();
            self.rewrite_unchanged(table, &taken);
        }
    }

    /// Writes blocks once more, as they are: the new ones are where there is a place for them now.
    pub(crate) fn rewrite_unchanged(&self, table: &Table, blocks: &[Arc<Block>]) {
        let copied = self.rewrite(table, blocks, |view| Ok(Some(vec![view.bytes().to_vec()])));
        if let Err(error) = copied.and_then(|copied| self.replace(table, copied)) {
            tracing::error!(leaf = %self.name, table = %table.name, "{error}");
        }
    }
}
