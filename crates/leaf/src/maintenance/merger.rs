//! The merge thread: rounds over all tables, which merge, drop, sample, recompress and move blocks.

use std::cmp::Reverse;
use std::sync::Arc;

use hadal_types::LeafState;

use crate::context::{LeafContext, state_of};
use crate::maintenance::expiry::{Expirer, drop_oldest};
use crate::maintenance::expiry_schedule::ExpirySchedule;
use crate::maintenance::flush::flush;
use crate::maintenance::memory_pressure::{MemoryPressure, PressureRelief};
use crate::maintenance::merge::{MergeError, Mergeable, merge_next};
use crate::maintenance::paced_free::free_paced;
use crate::maintenance::recompress::recompress_old;
use crate::maintenance::rewrite::Pass;
use crate::maintenance::sample::sample_old;
use crate::maintenance::storage_tier::move_to_disk;
use crate::table::Table;

/// Makes the merges of one leaf, and the other rewrites of its blocks.
pub(crate) struct Merger<'l> {
    pub(crate) context: &'l LeafContext,
    pub(crate) schedule: &'l ExpirySchedule,
    pub(crate) pressure: &'l MemoryPressure,
}

impl Merger<'_> {
    /// Makes rounds until the leaf stops.
    pub(crate) fn run(&self) {
        // The first round waits: it examines all tables, and a start needs the machine for other
        // work.
        self.context.wakeup.wait();
        while !self.context.is_stopping() {
            self.merge_all();
            self.context.wakeup.wait();
        }
    }

    pub(crate) fn expirer(&self) -> Expirer<'_> {
        let Self { context, schedule, pressure } = *self;
        Expirer { context, schedule, pressure }
    }

    /// Makes one round, on the caller's thread.
    pub(crate) fn merge_all(&self) {
        let _one = self.context.turn_to_merge();
        let tables = self.context.all_tables();
        self.expirer().run_if_due(&tables);
        let is_whole = state_of(&tables) == LeafState::Alive;
        let mergeable = if is_whole { Mergeable::All } else { Mergeable::Fresh };
        let mut shortens_log = true;
        for table in &tables {
            // Repeated for each table, as merges may take long; but an error is logged only once.
            shortens_log = shortens_log && self.shorten_log(&tables);
            if let Err(error) = self.merge_table(table, mergeable, &tables) {
                tracing::error!(leaf = %self.context.name, table = %table.name, "{error}");
            }
        }
        let mut pass = Pass::default();
        if is_whole {
            // Sampling comes first: a block that is sampled need not be recompressed before.
            sample_old(self.context, self.schedule, &tables, &mut pass);
            recompress_old(self.context, &tables, self.context.clock.now(), &mut pass);
        }
        move_to_disk(self.context, &tables, &mut pass);
        PressureRelief { context: self.context, schedule: self.schedule, pressure: self.pressure }
            .run(&tables, &mut pass);
        self.context.store.give_back();
    }

    fn merge_table(
        &self,
        table: &Table,
        mergeable: Mergeable,
        all: &[Arc<Table>],
    ) -> Result<(), MergeError> {
        self.drop_for_size(table)?;
        loop {
            self.flush_under_pressure(all)?;
            if !merge_next(table, self.context, mergeable, self.context.clock.now())? {
                return Ok(());
            }
        }
    }

    /// Drops the oldest rows of a table that is too large, unless they must be archived first.
    fn drop_for_size(&self, table: &Table) -> Result<(), MergeError> {
        if table.is_archived() {
            return Ok(());
        }
        let bytes_max = table.with_settings(|settings| self.context.limits.table_bytes(settings));
        let Some(turn) = self.context.turn_to_change() else { return Ok(()) };
        let dropped = drop_oldest(table, &self.context.store, bytes_max)?;
        drop(turn);
        if !dropped.is_empty() {
            let rows: u64 = dropped.iter().map(|block| block.rows as u64).sum();
            tracing::warn!(
                leaf = %self.context.name, table = %table.name, rows,
                "the table is over its size limit: its oldest rows were dropped"
            );
        }
        free_paced(self.context, self.pressure, dropped);
        Ok(())
    }

    /// Flushes fresh blocks that keep the log long because their tables get few rows; returns
    /// whether that succeeded.
    fn shorten_log(&self, tables: &[Arc<Table>]) -> bool {
        let in_old_logs = self.context.store.tables_in_old_logs();
        if in_old_logs.is_empty() {
            return true;
        }
        let Some(_turn) = self.context.turn_to_change() else { return false };
        let tables = tables.iter().filter(|table| in_old_logs.contains(&table.name));
        let moved = flush(&tables.cloned().collect::<Vec<_>>(), &self.context.store);
        moved
            .inspect_err(
                |error| tracing::error!(leaf = %self.context.name, "cannot truncate the log: {error}"),
            )
            .is_ok()
    }

    /// Flushes fresh blocks when there are too many of them, starting with the table that has most.
    fn flush_under_pressure(&self, tables: &[Arc<Table>]) -> Result<(), MergeError> {
        let fresh = &self.context.limits.fresh;
        if !self.context.has_folder || !fresh.is_pressed() {
            return Ok(());
        }
        let mut tables: Vec<&Arc<Table>> = tables.iter().collect();
        tables.sort_by_cached_key(|table| Reverse(table.fresh_bytes()));
        tables.into_iter().take_while(|_| fresh.is_pressed()).try_for_each(|table| {
            match self.context.turn_to_change() {
                Some(_turn) => flush(std::slice::from_ref(table), &self.context.store),
                None => Ok(()),
            }
        })
    }
}
