//! Chilling: row blocks whose rows are all older than their table's `cold_after` become cold, which is
//! fewer bytes and longer to read (`spec/row-block.md`, section 2).
//!
//! A block that a merge or an expiry takes later comes out warm, and becomes cold again when it is
//! its turn. Blocks that save nothing are tried once in the life of a process.

use std::sync::Arc;

use hadal_block::{Chill, chill};
use hadal_types::Micros;

use crate::leaf::Inner;
use crate::maintenance::merge::MergeError;
use crate::maintenance::rewrite::{Pass, Rewritten};
use crate::sync::lock;
use crate::table::Table;
use crate::table::block::Block;

impl Inner {
    /// Makes some of the blocks cold that are old enough for it at `now`, of tables whose settings
    /// ask for it.
    pub(crate) fn recompress_old(&self, tables: &[Arc<Table>], now: Micros, pass: &mut Pass) {
        for table in tables {
            let age = lock(&table.settings).as_ref().map(|settings| settings.cold_age());
            let Some(before) = age.and_then(|age| age.cutoff(now)) else { continue };
            let old = pass.take(table, before, Block::may_be_recompressed);
            if let Err(error) = self.chill(table, &old) {
                tracing::error!(leaf = %self.name, table = %table.name, "{error}");
            }
        }
    }

    /// Makes those of these blocks cold that take less so, whatever their age is; returns how many.
    pub(crate) fn chill(&self, table: &Table, blocks: &[Arc<Block>]) -> Result<usize, MergeError> {
        self.replace(table, self.write_recompressed(table, blocks)?)
    }

    /// Writes the blocks that take less when they are cold.
    pub(crate) fn write_recompressed(
        &self,
        table: &Table,
        blocks: &[Arc<Block>],
    ) -> Result<Vec<Rewritten>, MergeError> {
        self.rewrite(table, blocks, |view| {
            Ok(chill(view, Chill::WhereItSaves)?.map(|bytes| vec![bytes]))
        })
    }
}
