//! Subsampling: some rows are kept of row blocks whose rows are all older than their table's
//! `sample_after`. The weight of a kept row rises by the number of rows that it stands for
//! (`crates/block/src/merge/sample.rs`).
//!
//! **No row is sampled twice by accident.** A block's header has its sample factor, and one record
//! of the manifest replaces the whole block by the sampled block. So a crash leaves either the old
//! block or the sampled block (or no block, if no key was kept). Which rows are kept depends only
//! on the block's bytes, or on the rows' keys, which are treated the same in all leaves. So an
//! interrupted pass makes the same block when it is repeated. Merges combine only blocks with the
//! same sample factor, so rows that come late are sampled separately.
//!
//! **When settings change** and the kept share becomes smaller, blocks are sampled again, by the
//! largest whole factor that keeps at least the requested share. A larger share does not bring rows
//! back.
//!
//! **Clocks** are trusted as far as expiry trusts them: the age of rows is taken at the last expiry
//! pass that trusted the clock (`expiry.rs`).

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

/// Samples some blocks that are old enough, of tables whose settings request it.
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

/// Samples these blocks, whatever their age; returns how many.
pub(crate) fn sample_blocks(
    context: &LeafContext,
    table: &Table,
    blocks: &[Arc<Block>],
    sampling: &Sampling<'_>,
) -> Result<usize, MergeError> {
    let all: u64 = table.snapshot().iter().map(|block| block.rows as u64).sum();
    let sampled = write_sampled(context, table, blocks, sampling)?;
    let rows = sampled.iter().map(Rewritten::rows);
    let (rows, kept) = rows.fold((0, 0), |(rows, kept), block| (rows + block.0, kept + block.1));
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

/// Writes the kept rows of these blocks.
pub(crate) fn write_sampled(
    context: &LeafContext,
    table: &Table,
    blocks: &[Arc<Block>],
    sampling: &Sampling<'_>,
) -> Result<Vec<Rewritten>, MergeError> {
    rewrite(context, table, blocks, |view| sample(view, sampling).map(Some))
}

/// How the settings sample a table's blocks once they are old enough.
pub(crate) fn sampling(settings: &TableSettings) -> Sampling<'_> {
    Sampling {
        one_in: settings.sample_share().rows(),
        key: settings.sample_key.as_ref(),
        by: settings.sample_columns(),
        least: settings.sample_rows_min(),
    }
}
