//! Subsampling: of row blocks whose rows are all older than their table's `sample_after`, some rows
//! are kept, each of which weighs as many times more as there were rows for it
//! (`crates/block/src/merge/sample.rs`).
//!
//! **Nothing goes twice.** A block says in its front by how much it was sampled, and the sampled block
//! takes the place of the whole one in one record of the manifest; so whatever happens in between,
//! there is either the one or the other; nothing, where no key in it is kept. Which rows are kept
//! depends on the block's bytes alone, or on their keys, which are the same in all leaves: a
//! pass that was cut short makes the very same block when it is made again. Merges take blocks
//! together only that were sampled alike, so rows that come late are sampled on their own.
//!
//! **When settings change**, blocks are sampled once more where the share that is kept becomes
//! smaller, by the largest whole factor that keeps at least what is asked for. What is gone does not
//! come back when it becomes larger.
//!
//! **Clocks** are trusted as far as expiry believes them: rows are as old as they were at its last
//! pass that dropped something for its age, or would have (`expiry.rs`).

use std::sync::Arc;

use hadal_block::{Sampling, sample};
use hadal_types::TableSettings;
use hadal_types::limits::EXPIRY_QUIET_PERCENT;

use crate::context::LeafContext;
use crate::maintenance::expiry_schedule::ExpirySchedule;
use crate::maintenance::merge::MergeError;
use crate::maintenance::rewrite::{Pass, Rewritten, replace, rewrite};
use crate::table::Table;
use crate::table::block::Block;

/// Samples some of the blocks that are old enough for it, of tables whose settings ask for it.
pub(crate) fn sample_old(
    context: &LeafContext,
    schedule: &ExpirySchedule,
    tables: &[Arc<Table>],
    pass: &mut Pass,
) {
    let Some(now) = schedule.trusted_now() else { return };
    for table in tables {
        let Some(settings) = table.settings() else { continue };
        let Some(before) = settings.sample_age().cutoff(now) else { continue };
        let sampling = sampling(&settings);
        let is_due = |block: &Block| sampling.factor(block.kept_one_in) > 1;
        let old = pass.take(table, before, is_due);
        if let Err(error) = sample_blocks(context, table, &old, &sampling) {
            tracing::error!(leaf = %context.name, table = %table.name, "{error}");
        }
    }
}

/// Samples these blocks, whatever their age is; returns how many.
pub(crate) fn sample_blocks(
    context: &LeafContext,
    table: &Table,
    blocks: &[Arc<Block>],
    sampling: &Sampling<'_>,
) -> Result<usize, MergeError> {
    let all: u64 = table.snapshot().iter().map(|block| block.rows as u64).sum();
    let sampled = write_sampled(context, table, blocks, sampling)?;
    let rows = sampled.iter().map(Rewritten::rows);
    let (rows, kept) = rows.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    let blocks = replace(context, table, sampled)?;
    let (leaf, table) = (&context.name, &table.name);
    if blocks > 0 && (rows - kept).saturating_mul(100) > all * EXPIRY_QUIET_PERCENT {
        tracing::warn!(
            %leaf, %table, rows, kept, of = all,
            "many rows are older than the age from which on their table is sampled: some are kept"
        );
    } else if blocks > 0 {
        tracing::info!(%leaf, %table, rows, kept, of = all, "old rows were sampled");
    }
    Ok(blocks)
}

/// Writes what is kept of these blocks.
pub(crate) fn write_sampled(
    context: &LeafContext,
    table: &Table,
    blocks: &[Arc<Block>],
    sampling: &Sampling<'_>,
) -> Result<Vec<Rewritten>, MergeError> {
    rewrite(context, table, blocks, |view| sample(view, sampling).map(Some))
}

/// How a table's blocks are sampled once they are old enough.
pub(crate) fn sampling(settings: &TableSettings) -> Sampling<'_> {
    Sampling {
        one_in: settings.sample_share().rows(),
        key: settings.sample_key.as_ref(),
        by: settings.sample_columns(),
        least: settings.sample_rows_min(),
    }
}
