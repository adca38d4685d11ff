//! The row blocks of a table, for people who examine its storage.

use std::collections::BTreeMap;

use hadal_types::{ColumnName, Kind, LeafName, Micros};

/// The row blocks of one table, and the totals of their columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableBlocks {
    /// The blocks, in no particular order.
    pub blocks: Vec<BlockStatus>,
    /// Row block columns, summed by name, kind and encoding.
    pub columns: BTreeMap<(ColumnName, Kind, String), ColumnBlocks>,
}

/// One row block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockStatus {
    /// The leaf that holds it.
    pub leaf: LeafName,
    /// Rows.
    pub rows: u64,
    /// Encoded bytes.
    pub bytes: u64,
    /// The first and the last time, both inclusive.
    pub time_range: (Micros, Micros),
    /// Whether it is not in a segment yet, but only in memory or in the log.
    pub is_fresh: bool,
    /// The sample factor: one of this many rows was kept; 1 if the block was never sampled.
    pub kept_one_in: u16,
}

/// Row block columns of one name, kind and encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnBlocks {
    /// The number of blocks.
    pub blocks: u64,
    /// Rows that have a value.
    pub rows: u64,
    /// Encoded bytes.
    pub bytes: u64,
    /// Encoded bytes when decompressed: more than [`Self::bytes`] if the columns are cold.
    pub warm_bytes: u64,
}

impl TableBlocks {
    /// Adds the blocks of other leaves.
    pub fn merge(&mut self, other: Self) {
        self.blocks.extend(other.blocks);
        for (key, column) in other.columns {
            self.columns.entry(key).or_default().merge(column);
        }
    }
}

impl ColumnBlocks {
    /// Adds columns of the same name, kind and encoding.
    pub fn merge(&mut self, other: Self) {
        self.blocks = self.blocks.saturating_add(other.blocks);
        self.rows = self.rows.saturating_add(other.rows);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.warm_bytes = self.warm_bytes.saturating_add(other.warm_bytes);
    }
}
