//! Describes a table's blocks for people who examine its storage.

use std::sync::Arc;

use hadal_peer::{BlockStatus, ColumnBlocks, TableBlocks};
use hadal_types::LeafName;

use crate::table::block::Block;

/// Returns the blocks, and their columns summed up.
pub(crate) fn inspect(leaf: &LeafName, blocks: &[Arc<Block>]) -> TableBlocks {
    let mut all = TableBlocks::default();
    for block in blocks {
        all.blocks.push(BlockStatus {
            leaf: leaf.clone(),
            rows: block.rows as u64,
            bytes: block.byte_count() as u64,
            time_range: block.time_range,
            is_fresh: block.origin.is_log(),
            kept_one_in: block.kept_one_in,
        });
        // The header was parsed when the block came; the encodings are read from the columns.
        let view = block.view().ok();
        let columns = view.as_ref().map(|view| view.columns()).unwrap_or_default();
        for (column, view) in block.columns.iter().zip(columns) {
            let cold = if view.is_cold() { "cold " } else { "" };
            let encoding = format!("{cold}{}", view.encoding_name());
            let key = (column.name.clone(), column.kind, encoding);
            let warm_bytes = view.warm_bytes() as u64;
            let summary =
                ColumnBlocks { blocks: 1, rows: column.rows, bytes: column.bytes, warm_bytes };
            all.columns.entry(key).or_default().merge(summary);
        }
    }
    all
}
