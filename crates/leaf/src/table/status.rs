//! Builds a table's status and schema from its blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_peer::TableStatus;
use hadal_store::DroppedRows;
use hadal_types::{ColumnName, ColumnSchema, LeafState, TableName, TableSchema};

use crate::table::block::Block;

/// Returns the status of a table with these blocks. Returns `None` for a table without blocks,
/// unless it has lost or dropped rows, waits for some, or has `emptied`, which is then its schema.
///
/// Rows of damaged blocks count as lost, but their columns are reported with all their rows.
/// Readable parts of such blocks are still scanned, and the meaning of a column must not change.
pub(crate) fn of_table(
    name: &TableName,
    blocks: &[Arc<Block>],
    columns: Vec<ColumnSchema>,
    dropped: Option<DroppedRows>,
    (lost_rows, waiting_rows): (u64, u64),
    emptied: Option<TableSchema>,
) -> Option<TableStatus> {
    let emptied = emptied.filter(|_| blocks.is_empty());
    let is_missing_some = lost_rows + waiting_rows > 0 || dropped.is_some();
    if blocks.is_empty() && !is_missing_some && emptied.is_none() {
        return None;
    }
    let rows_of = |blocks: &mut dyn Iterator<Item = &Arc<Block>>| {
        blocks.map(|block| block.rows as u64).sum::<u64>()
    };
    let damaged_rows = rows_of(&mut blocks.iter().filter(|block| block.is_damaged()));
    let schema = match emptied {
        Some(schema) => schema,
        None => {
            let whole = schema(name, blocks, columns)?;
            TableSchema { rows: whole.rows - damaged_rows, ..whole }
        }
    };
    Some(TableStatus {
        schema: Arc::new(schema),
        blocks: blocks.len() as u64,
        block_bytes: blocks.iter().map(|block| block.byte_count() as u64).sum(),
        raw_bytes: blocks.iter().map(|block| block.raw_bytes).sum(),
        dropped_rows: dropped.map_or(0, |dropped| dropped.rows),
        dropped_bytes: dropped.map_or(0, |dropped| dropped.bytes),
        dropped_until: dropped.map(|dropped| dropped.until),
        expired_rows: 0,
        expired_until: None,
        lost_rows: lost_rows + damaged_rows,
        waiting_rows,
        state: LeafState::Alive,
        settings: None,
        expiry: None,
        archive_error: None,
    })
}

/// The schema of a table with these blocks, including damaged ones, and these merged columns.
pub(crate) fn schema(
    name: &TableName,
    blocks: &[Arc<Block>],
    columns: Vec<ColumnSchema>,
) -> Option<TableSchema> {
    let first = blocks.iter().map(|block| block.time_range.0).min();
    let last = blocks.iter().map(|block| block.time_range.1).max();
    Some(TableSchema {
        name: name.clone(),
        time_column: time_column(blocks).or_else(|| ColumnName::new("time").ok())?,
        columns,
        rows: blocks.iter().map(|block| block.rows as u64).sum(),
        time_range: first.zip(last),
    })
}

/// The time column that most rows have; ties go by name.
fn time_column(blocks: &[Arc<Block>]) -> Option<ColumnName> {
    let mut rows: BTreeMap<&ColumnName, usize> = BTreeMap::new();
    for block in blocks {
        *rows.entry(&block.time_column).or_default() += block.rows;
    }
    rows.into_iter().max_by_key(|(_, rows)| *rows).map(|(name, _)| name.clone())
}
