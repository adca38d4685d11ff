//! What a table's blocks are like, for people who look inside.

use std::sync::Arc;

use hadal_wire::{BlockStatus, ColumnBlocks, LeafName, TableBlocks};

use crate::block::Block;

/// The blocks, and their columns summed up.
pub(crate) fn inspect(leaf: &LeafName, blocks: &[Arc<Block>]) -> TableBlocks {
    let mut all = TableBlocks::default();
    for block in blocks {
        all.blocks.push(BlockStatus {
            leaf: leaf.clone(),
            rows: block.rows as u64,
            bytes: block.byte_count() as u64,
            time_range: block.time_range,
            is_fresh: block.origin.is_log(),
        });
        for column in &block.columns {
            let key = (column.name.clone(), column.kind, column.encoding.to_owned());
            let one = ColumnBlocks { blocks: 1, rows: column.rows, bytes: column.bytes };
            all.columns.entry(key).or_default().merge(one);
        }
    }
    all
}
