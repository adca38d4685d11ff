//! Recompression: row blocks whose rows are all older than their table's `cold_after` become cold.
//! A cold block takes fewer bytes and more time to read (`spec/row-block.md`, section 2).
//!
//! A merge or an expiry pass makes its blocks warm again; they become cold in a later pass. If
//! recompressing a block saves nothing, this is tried only once per process.

use std::sync::Arc;

use hadal_block::{Chill, chill};
use hadal_types::{Micros, TableSettings};

use crate::context::LeafContext;
use crate::maintenance::merge::MergeError;
use crate::maintenance::rewrite::{Pass, Rewritten, replace, rewrite};
use crate::table::Table;
use crate::table::block::Block;

/// Recompresses some blocks that are old enough at `now`, of tables whose settings request it.
pub(crate) fn recompress_old(
    context: &LeafContext,
    tables: &[Arc<Table>],
    now: Micros,
    pass: &mut Pass,
) {
    for table in tables {
        let age = table.with_settings(|settings| settings.map(TableSettings::cold_age));
        let Some(before) = age.and_then(|age| age.cutoff(now)) else { continue };
        let old = pass.take(table, before, Block::may_be_recompressed);
        if let Err(error) = recompress(context, table, &old) {
            tracing::error!(leaf = %context.name, table = %table.name, "{error}");
        }
    }
}

/// Recompresses the blocks that become smaller, whatever their age; returns how many.
pub(crate) fn recompress(
    context: &LeafContext,
    table: &Table,
    blocks: &[Arc<Block>],
) -> Result<usize, MergeError> {
    replace(context, table, write_recompressed(context, table, blocks)?)
}

/// Writes the cold form of the blocks that it makes smaller.
pub(crate) fn write_recompressed(
    context: &LeafContext,
    table: &Table,
    blocks: &[Arc<Block>],
) -> Result<Vec<Rewritten>, MergeError> {
    rewrite(context, table, blocks, |view| {
        Ok(chill(view, Chill::WhereItSaves)?.map(|bytes| vec![bytes]))
    })
}
