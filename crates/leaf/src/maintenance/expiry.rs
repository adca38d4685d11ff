//! Expiry: rows go when they are older than their table's age limit, or when the table has more
//! bytes than it may. The oldest go first.
//!
//! **By age**, every [`EXPIRY_SECONDS`](hadal_types::limits::EXPIRY_SECONDS) and when a table's settings change. A block goes whole when
//! all of its rows are too old. Where only some are, it is written again without them once they are
//! half of its rows, or one of them is too old by more than [`EXPIRY_SLACK_SECONDS`](hadal_types::limits::EXPIRY_SLACK_SECONDS); so rows are
//! there for up to a day longer than they have to, and no block is written again for a few of them.
//! Blocks whose batches can still be revoked lose no part: that is minutes. One pass is one record
//! of the manifest for each table, and a query's snapshot has all of what it takes out or nothing.
//! Ids of batches stay remembered.
//!
//! **By bytes**, with every merge: whole blocks. What goes for size is told by answers, as nobody
//! asked for it; what goes for age is not.
//!
//! **Clocks** are not trusted blindly: every pass, of its own or asked for, waits for the one gate
//! (`trusted_clock.rs`), and so do sampling and the archive ([`ExpirySchedule::trusted_now`]). A pass while the clock
//! is doubted after a jump drops nothing and says so in the log. More than [`EXPIRY_QUIET_PERCENT`] of a
//! leaf's rows go only with a line in the log that says why. What went is told by the table's status and
//! by answers that reach back to it. A table whose settings the leaf was never told drops nothing for its
//! age.

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
use crate::sync::read;
use crate::table::Table;
use crate::table::age_limit::{cutoff, is_worth_rewriting, may_lose_rows};
use crate::table::block::Block;

/// What a pass takes out of one table.
struct Plan<'t> {
    table: &'t Table,
    cutoff: Micros,
    /// Blocks of which all rows are too old.
    expired: Vec<Arc<Block>>,
    /// Blocks that lose their old rows, and how many those are.
    trimmed: Vec<(Arc<Block>, usize)>,
}

impl Plan<'_> {
    fn rows(&self) -> u64 {
        let whole = self.expired.iter().map(|block| block.rows as u64);
        whole.chain(self.trimmed.iter().map(|(_, rows)| *rows as u64)).sum()
    }

    /// What goes with the blocks that were `removed`; of those that lose a part the bytes are estimated by
    /// rows. A block that could not be written again keeps its rows.
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
    /// Drops rows that are too old, if it is time to look for them.
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
        let plans: Vec<Plan<'_>> = plans.filter(|plan| !plan.is_empty()).collect();
        let rows: u64 = plans.iter().map(Plan::rows).sum();
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

    /// Does all of a pass over a table but its record: how many blocks would go, and come.
    #[cfg(test)]
    pub(crate) fn write_but_do_not_commit(&self, table: &Table, now: Micros) -> (usize, usize) {
        let plan = plan(table, now).filter(|plan| !plan.is_empty());
        let written = plan.and_then(|plan| self.write_kept(&plan, now).ok());
        written.map_or((0, 0), |(removed, adds)| (removed.len(), adds.len()))
    }

    /// Takes out of a table what the plan says, in one change.
    fn carry_out(&self, plan: &Plan<'_>, now: Micros) -> Result<(), MergeError> {
        let table = plan.table;
        let (removed, adds) = self.write_kept(plan, now)?;
        let Some(_turn) = self.context.turn_to_change() else { return Ok(()) };
        let dropped = read(&table.dropped);
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

    /// Writes what is kept of the blocks that lose a part; returns the blocks that go, and those
    /// that come for them. Until a change says so, nothing has happened.
    fn write_kept(
        &self,
        plan: &Plan<'_>,
        now: Micros,
    ) -> Result<(Vec<Arc<Block>>, Vec<StoredBlock>), MergeError> {
        let table = plan.table;
        let (mut removed, mut adds) = (plan.expired.clone(), Vec::new());
        for (block, _) in &plan.trimmed {
            if self.context.is_stopping() {
                // Nothing changes any more, so what was written is for nobody.
                break;
            }
            let faults = block.faults();
            let kept = verified_view(block).and_then(|view| merge_from(view, plan.cutoff, now));
            let Ok(kept) = kept.inspect_err(|error| table.quarantine(block, error)) else {
                continue;
            };
            if block.faults() != faults {
                // The next pass finds out which columns are damaged.
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

/// What is too old of a table at `now`; `None` where it has no age limit, or none that the leaf
/// was told of.
fn plan(table: &Table, now: Micros) -> Option<Plan<'_>> {
    let cutoff = table.with_settings(|settings| cutoff(settings, now))?;
    let is_archived = table.is_archived();
    let mut plan = Plan { table, cutoff, expired: Vec::new(), trimmed: Vec::new() };
    for block in table.snapshot().iter() {
        // What can be archived goes from there.
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

/// Takes out the blocks with the oldest rows until the table has at most `bytes_max`; returns those.
pub(crate) fn drop_oldest(
    table: &Table,
    store: &Store,
    bytes_max: u64,
) -> Result<Vec<Arc<Block>>, MergeError> {
    let dropped = read(&table.dropped);
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
