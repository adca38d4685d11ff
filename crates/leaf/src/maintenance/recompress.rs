//! Chilling: row blocks whose rows are all older than their table's `cold_after` become cold, which is
//! fewer bytes and longer to read (`spec/row-block.md`, section 2).
//!
//! A block that a merge or an expiry takes later comes out warm, and becomes cold again when it is
//! its turn. Blocks that save nothing are tried once in the life of a process.

use std::sync::Arc;

use hadal_block::{Chill, chill};
use hadal_types::{Micros, TableSettings};

use crate::context::LeafContext;
use crate::maintenance::merge::MergeError;
use crate::maintenance::rewrite::{Pass, Rewritten, replace, rewrite};
use crate::table::Table;
use crate::table::block::Block;

/// Makes some of the blocks cold that are old enough for it at `now`, of tables whose settings
/// ask for it.
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

/// Makes those of these blocks cold that take less so, whatever their age is; returns how many.
pub(crate) fn recompress(
    context: &LeafContext,
    table: &Table,
    blocks: &[Arc<Block>],
) -> Result<usize, MergeError> {
    replace(context, table, write_recompressed(context, table, blocks)?)
}

/// Writes the blocks that take less when they are cold.
pub(crate) fn write_recompressed(
    context: &LeafContext,
    table: &Table,
    blocks: &[Arc<Block>],
) -> Result<Vec<Rewritten>, MergeError> {
    rewrite(context, table, blocks, |view| {
        Ok(chill(view, Chill::WhereItSaves)?.map(|bytes| vec![bytes]))
    })
}
