//! Expiry: rows are dropped when they are older than their table's age limit, or when the table
//! exceeds its maximum bytes. The oldest are dropped first.
//!
//! **By age**, every [`EXPIRY_SECONDS`](hadal_types::limits::EXPIRY_SECONDS) and when a table's
//! settings change. A block is dropped whole when all of its rows are too old. A block with some
//! old rows is rewritten without these rows in two cases: they are half of its rows, or one of
//! these rows is too old by more than
//! [`EXPIRY_SLACK_SECONDS`](hadal_types::limits::EXPIRY_SLACK_SECONDS). So rows stay up to a day
//! longer than necessary, and no block is rewritten to drop only a few rows. Blocks whose batches
//! can still be revoked are not rewritten; that lasts minutes. One pass is one record of the
//! manifest per table, and a query's snapshot has all of the removed rows or none. Batch ids stay
//! remembered.
//!
//! **By bytes**, with every merge: whole blocks are dropped.
//!
//! Query results whose time range reaches back to dropped rows report these rows, with one warning
//! for rows dropped for size and another for rows dropped for age. So does the table's status.
//!
//! **Clocks** are not trusted blindly: every pass, scheduled or requested, waits for one gate
//! (`trusted_clock.rs`). Sampling and the archive wait for the same gate
//! ([`ExpirySchedule::trusted_now`]). While the clock is doubted after a jump, a pass drops nothing
//! and logs that. A pass that drops more than [`EXPIRY_QUIET_PERCENT`] of a leaf's rows logs the
//! reason. A table without settings in the leaf drops nothing for age.

use std::sync::Arc;

use hadal_block::{BlockView, merge_from};
use hadal_store::{Change, DroppedRows, Store, StoredBlock};
use hadal_types::Micros;
use hadal_types::limits::EXPIRY_QUIET_PERCENT;

use crate::context::LeafContext;
use crate::maintenance::data_loss::forget_old_losses;
use crate::maintenance::expiry_schedule::ExpirySchedule;
use crate::maintenance::memory_pressure::MemoryPressure;
use crate::maintenance::merge::{MergeError, open_stored, origins, remembered, verified_view};
use crate::maintenance::paced_free::free_paced;
use crate::table::Table;
use crate::table::age_limit::{cutoff, is_worth_rewriting, may_lose_rows};
use crate::table::block::Block;

/// The rows that a pass removes from one table.
struct ExpiryPlan<'t> {
    table: &'t Table,
    cutoff: Micros,
    /// Blocks whose rows are all too old.
    expired: Vec<Arc<Block>>,
    /// Blocks that lose their old rows, and the number of these rows.
    trimmed: Vec<(Arc<Block>, usize)>,
}

impl ExpiryPlan<'_> {
    fn rows(&self) -> u64 {
        let whole = self.expired.iter().map(|block| block.rows as u64);
        whole.chain(self.trimmed.iter().map(|(_, rows)| *rows as u64)).sum()
    }

    /// The rows and bytes dropped with the `removed` blocks. The bytes of partly dropped blocks are
    /// estimated by rows. A block that could not be rewritten keeps its rows.
    fn dropped(&self, removed: &[Arc<Block>]) -> DroppedRows {
        let is_removed = |block: &Arc<Block>| removed.iter().any(|other| Arc::ptr_eq(other, block));
        let parts = || self.trimmed.iter().filter(|(block, _)| is_removed(block));
        let bytes = |block: &Block| block.byte_count() as u64;
        let whole: u64 = self.expired.iter().map(|block| bytes(block)).sum();
        let part = |(block, rows): &(Arc<Block>, usize)| {
            let share = u128::from(bytes(block)) * *rows as u128 / block.rows.max(1) as u128;
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        let bytes = whole.saturating_add(parts().map(part).sum());
        let rows =
            self.expired.iter().map(|block| block.rows).chain(parts().map(|(_, rows)| *rows));
        let until = Micros(self.cutoff.0.saturating_sub(1));
        DroppedRows { rows: rows.map(|rows| rows as u64).sum(), bytes, until }
    }

    fn is_empty(&self) -> bool {
        self.expired.is_empty() && self.trimmed.is_empty()
    }
}

/// Drops rows that are too old.
pub(crate) struct Expirer<'l> {
    pub(crate) context: &'l LeafContext,
    pub(crate) schedule: &'l ExpirySchedule,
    pub(crate) pressure: &'l MemoryPressure,
}

impl Expirer<'_> {
    /// Drops rows that are too old, if a pass is due.
    pub(crate) fn run_if_due(&self, tables: &[Arc<Table>]) {
        let Some((moment, jumped)) = self.schedule.begin(&*self.context.clock) else { return };
        self.expire(tables, moment.now, jumped);
        if jumped.is_none() {
            forget_old_losses(self.context, tables, moment.now);
        }
        self.schedule.end();
    }

    pub(crate) fn expire(&self, tables: &[Arc<Table>], now: Micros, jumped: Option<i64>) {
        let plans = tables.iter().filter_map(|table| plan(table, now));
        let plans: Vec<ExpiryPlan<'_>> = plans.filter(|plan| !plan.is_empty()).collect();
        let rows: u64 = plans.iter().map(ExpiryPlan::rows).sum();
        if rows == 0 {
            return;
        }
        let blocks = || tables.iter().map(|table| table.snapshot());
        let all: u64 = blocks().map(|list| list.iter().map(|b| b.rows as u64).sum::<u64>()).sum();
        let newest = blocks().filter_map(|list| list.iter().map(|b| b.time_range.1).max()).max();
        let newest = newest.unwrap_or(now);
        if let Some(seconds) = jumped {
            tracing::warn!(
                leaf = %self.context.name, %now, newest_row = %newest, rows, ahead_seconds = seconds,
                "the clock jumped: nothing is dropped for its age until it has gone right for a while"
            );
            return;
        }
        if rows.saturating_mul(100) > all.saturating_mul(EXPIRY_QUIET_PERCENT) {
            tracing::warn!(
                leaf = %self.context.name, %now, newest_row = %newest, rows, of = all,
                "many rows are older than the age limits of their tables: they are dropped"
            );
        }
        for plan in plans {
            if self.context.is_stopping() {
                return;
            }
            if let Err(error) = self.carry_out(&plan, now) {
                tracing::error!(leaf = %self.context.name, table = %plan.table.name, "{error}");
            }
            free_paced(self.context, self.pressure, plan.expired);
        }
    }

    /// Makes a pass over a table except for its commit; returns the number of removed and of added
    /// blocks.
    #[cfg(test)]
    pub(crate) fn write_but_do_not_commit(&self, table: &Table, now: Micros) -> (usize, usize) {
        let plan = plan(table, now).filter(|plan| !plan.is_empty());
        let written = plan.and_then(|plan| self.write_kept(&plan, now).ok());
        written.map_or((0, 0), |(removed, adds)| (removed.len(), adds.len()))
    }

    /// Removes the planned rows from a table, in one change.
    fn carry_out(&self, plan: &ExpiryPlan<'_>, now: Micros) -> Result<(), MergeError> {
        let table = plan.table;
        let (removed, adds) = self.write_kept(plan, now)?;
        let Some(_turn) = self.context.turn_to_change() else { return Ok(()) };
        let dropped = table.dropped.read();
        if *dropped {
            return Ok(());
        }
        let (consumed, removes) = origins(&removed);
        let added = open_stored(&adds)?;
        self.context.store.commit(&Change {
            removes,
            adds,
            consumed,
            remembered: remembered(table, &removed),
            forget_before: self.context.forget_before(),
            ..Change::default()
        })?;
        table.count_expired(plan.dropped(&removed));
        table.swap(&removed, added)?;
        Ok(())
    }

    /// Rewrites the blocks that lose a part. Returns the removed blocks and the new ones that
    /// replace them. Nothing refers to the new blocks until a change commits them.
    fn write_kept(
        &self,
        plan: &ExpiryPlan<'_>,
        now: Micros,
    ) -> Result<(Vec<Arc<Block>>, Vec<StoredBlock>), MergeError> {
        let table = plan.table;
        let (mut removed, mut adds) = (plan.expired.clone(), Vec::new());
        for (block, _) in &plan.trimmed {
            if self.context.is_stopping() {
                // No change follows any more, so the written blocks are discarded.
                break;
            }
            let faults = block.faults();
            let kept = verified_view(block).and_then(|view| merge_from(view, plan.cutoff, now));
            let Ok(kept) = kept.inspect_err(|error| table.quarantine(block, error)) else {
                continue;
            };
            if block.faults() != faults {
                // The next pass detects which columns are damaged.
                continue;
            }
            for bytes in kept {
                let rows = u32::try_from(BlockView::parse(&bytes)?.rows()).unwrap_or(u32::MAX);
                adds.push(self.context.store.write_block(&table.name, rows, bytes)?);
            }
            removed.push(Arc::clone(block));
        }
        Ok((removed, adds))
    }
}

/// Plans which rows of a table are too old at `now`; `None` if the leaf knows no age limit of it.
fn plan(table: &Table, now: Micros) -> Option<ExpiryPlan<'_>> {
    let cutoff = table.with_settings(|settings| cutoff(settings, now))?;
    let is_archived = table.is_archived();
    let mut plan = ExpiryPlan { table, cutoff, expired: Vec::new(), trimmed: Vec::new() };
    for block in table.snapshot().iter() {
        // Rows that can be archived are dropped by the archive.
        if block.is_archiving() || is_archived && !block.is_damaged() {
            continue;
        }
        if block.time_range.1 < cutoff {
            plan.expired.push(Arc::clone(block));
        } else if may_lose_rows(block, cutoff) {
            let old = block.view().and_then(|view| view.rows_before(cutoff));
            let Ok(old) = old.inspect_err(|error| table.quarantine(block, error)) else {
                continue;
            };
            if is_worth_rewriting(block, cutoff, old) {
                plan.trimmed.push((Arc::clone(block), old));
            }
        }
    }
    Some(plan)
}

/// Removes the blocks with the oldest rows until the table has at most `bytes_max`; returns the
/// removed blocks.
pub(crate) fn drop_oldest(
    table: &Table,
    store: &Store,
    bytes_max: u64,
) -> Result<Vec<Arc<Block>>, MergeError> {
    let dropped = table.dropped.read();
    let mut blocks: Vec<Arc<Block>> = table.snapshot().to_vec();
    let mut bytes: u64 = blocks.iter().map(|block| block.byte_count() as u64).sum();
    if bytes <= bytes_max || *dropped {
        return Ok(Vec::new());
    }
    blocks.sort_by_key(|block| block.time_range.1);
    let mut oldest = Vec::new();
    for block in blocks {
        if bytes <= bytes_max {
            break;
        }
        bytes -= block.byte_count() as u64;
        oldest.push(block);
    }
    let (consumed, removes) = origins(&oldest);
    let remembered = remembered(table, &oldest);
    let each = oldest.iter().map(|block| DroppedRows {
        rows: block.rows as u64,
        bytes: block.byte_count() as u64,
        until: block.time_range.1,
    });
    let Some(all) = each.reduce(DroppedRows::and) else { return Ok(oldest) };
    let dropped_rows = vec![(table.name.clone(), all)];
    store.commit(&Change { removes, consumed, remembered, dropped_rows, ..Change::default() })?;
    table.count_dropped(all);
    table.swap(&oldest, Vec::new())?;
    Ok(oldest)
}
