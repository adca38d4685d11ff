//! What a leaf does when the memory for row blocks is nearly full.
//!
//! All leaves of a process share that memory. Once more than [`PRESSED_PERCENT`] of it is taken,
//! rows that are too old are dropped within a minute, instead of at the next expiry pass. Then the
//! blocks with the oldest rows of all tables become cold, a few at a time, until enough memory is
//! free. These blocks are queried least, and they stay cold whatever a table's own `cold_after` is.
//!
//! A block for which no memory is free is read from disk (`crates/store`). Such blocks are moved to
//! memory once less than [`ROOMY_PERCENT`] is taken, the newest block first. So no row is refused
//! or dropped for lack of memory. If the process itself takes more memory than row blocks leave,
//! the oldest blocks move to disk at once. Batches that come in faster than they reach a segment
//! are refused (`limits.rs`).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hadal_store::Promotion;
use hadal_types::limits::{LEAVING_BYTES_MAX, PRESSED_PERCENT, ROOMY_PERCENT};
use hadal_types::{MemoryPool, TableName};
use parking_lot::Mutex;

use crate::context::LeafContext;
use crate::maintenance::expiry_schedule::ExpirySchedule;
use crate::maintenance::recompress::recompress;
use crate::maintenance::rewrite::Pass;
use crate::maintenance::storage_tier::rewrite_unchanged;
use crate::table::Table;
use crate::table::block::Block;

/// The state of the memory for row blocks.
#[derive(Debug, Default)]
pub(crate) struct MemoryPressure {
    /// Whether it was nearly full at the last check.
    is_pressed: AtomicBool,
    /// When the system refused memory for a block although the pool had room.
    refused: Mutex<Option<Duration>>,
}

/// The time after a refusal during which the system is not asked again: another process may use the
/// tmpfs for a moment, or permanently.
const REFUSED_TIME: Duration = Duration::from_secs(60);

impl MemoryPressure {
    /// Whether it was nearly full at the last check.
    pub(crate) fn is_pressed(&self) -> bool {
        self.is_pressed.load(Ordering::Relaxed)
    }

    /// Whether the system refused memory recently, at this running time.
    fn is_refused(&self, running: Duration) -> bool {
        self.refused.lock().is_some_and(|since| running.saturating_sub(since) < REFUSED_TIME)
    }
}

/// Relieves the memory that row blocks share.
pub(crate) struct PressureRelief<'l> {
    pub(crate) context: &'l LeafContext,
    pub(crate) schedule: &'l ExpirySchedule,
    pub(crate) pressure: &'l MemoryPressure,
}

impl PressureRelief<'_> {
    /// Frees memory if it is nearly full: one step per call, since it is checked again a second
    /// later.
    pub(crate) fn run(&self, tables: &[Arc<Table>], pass: &mut Pass) {
        let Some(budget) = self.context.store.memory_budget() else { return };
        let is_pressed = is_above_high_watermark(budget);
        let was_pressed = self.pressure.is_pressed.swap(is_pressed, Ordering::Relaxed);
        let (leaf, held, of) = (&self.context.name, budget.reserved(), budget.bytes_max());
        match (was_pressed, is_pressed) {
            (false, true) => tracing::warn!(
                %leaf, held, of,
                "memory for row blocks is nearly taken: what is too old goes sooner, and old blocks become cold"
            ),
            (true, false) => {
                tracing::info!(%leaf, held, of, "there is memory for row blocks again");
            }
            _ => {}
        }
        if !is_pressed {
            self.promote_to_memory(tables, pass, budget);
            return;
        }
        self.evict_to_disk(tables, budget);
        self.schedule.request_under_pressure(&*self.context.clock);
        // Expiry comes first: it has its turn before this line is reached again.
        if was_pressed {
            self.recompress_oldest(tables, pass, || is_above_high_watermark(budget));
        }
    }

    /// Recompresses the blocks with the oldest rows, whatever their tables' `cold_after` is. Ends
    /// when the pass takes no more blocks or when it is no longer worth it.
    fn recompress_oldest(
        &self,
        tables: &[Arc<Table>],
        pass: &mut Pass,
        is_worth_rewriting: impl Fn() -> bool,
    ) {
        let warm = |table: &Arc<Table>| {
            let blocks = table.snapshot();
            let warm = blocks.iter().filter(|block| takes_memory_warm(block)).cloned();
            warm.map(|block| (Arc::clone(table), block)).collect::<Vec<_>>()
        };
        let mut all: Vec<(Arc<Table>, Arc<Block>)> = tables.iter().flat_map(warm).collect();
        all.sort_by_key(|(_, block)| block.time_range.1);
        for (table, block) in all {
            if !is_worth_rewriting() || !pass.takes(&block) {
                return;
            }
            // One by one: the memory of each block is free before the next is written.
            if let Err(error) = recompress(self.context, &table, &[block]) {
                tracing::error!(leaf = %self.context.name, table = %table.name, "{error}");
            }
        }
    }
}

impl PressureRelief<'_> {
    /// Moves the blocks with the oldest rows to disk, up to the bytes taken beyond the limit.
    /// Blocks cannot be moved, so they are written again; the new ones find no room in memory.
    fn evict_to_disk(&self, tables: &[Arc<Table>], budget: &MemoryPool) {
        let mut excess =
            budget.reserved().saturating_sub(budget.bytes_max()).min(LEAVING_BYTES_MAX);
        let in_memory = |table: &Arc<Table>| {
            let blocks = table.snapshot();
            let in_memory =
                blocks.iter().filter(|block| block.may_be_moved() && block.is_in_memory());
            in_memory.map(|block| (Arc::clone(table), Arc::clone(block))).collect::<Vec<_>>()
        };
        if excess == 0 {
            return;
        }
        let mut all: Vec<(Arc<Table>, Arc<Block>)> = tables.iter().flat_map(in_memory).collect();
        all.sort_by_key(|(_, block)| block.time_range.1);
        let mut leaving: BTreeMap<TableName, (Arc<Table>, Vec<Arc<Block>>)> = BTreeMap::new();
        for (table, block) in all {
            if excess == 0 {
                break;
            }
            excess = excess.saturating_sub(block.byte_count());
            let of_table = leaving.entry(table.name.clone()).or_insert_with(|| (table, Vec::new()));
            of_table.1.push(block);
        }
        for (table, blocks) in leaving.into_values() {
            rewrite_unchanged(self.context, &table, &blocks);
        }
    }

    /// Moves the newest blocks on disk to memory, as many as the pass still takes and while there
    /// is room to spare.
    fn promote_to_memory(&self, tables: &[Arc<Table>], pass: &mut Pass, budget: &MemoryPool) {
        let goal = low_watermark_bytes(budget);
        if budget.reserved() >= goal || self.pressure.is_refused(self.context.clock.running()) {
            return;
        }
        let on_disk = |table: &Arc<Table>| {
            let blocks = table.snapshot();
            let on_disk = blocks.iter().filter(|block| may_be_promoted(block));
            on_disk.cloned().collect::<Vec<_>>()
        };
        let in_memory = tables.iter().filter(|table| !table.is_on_disk());
        let mut all: Vec<Arc<Block>> = in_memory.flat_map(on_disk).collect();
        all.sort_by_key(|block| Reverse(block.time_range.1));
        for block in all {
            let Some(number) = block.number() else { continue };
            let is_too_much = budget.reserved().saturating_add(block.byte_count()) > goal;
            if is_too_much || self.context.is_stopping() || !pass.takes(&block) {
                return;
            }
            if self.context.store.promote(number) == Promotion::NoMemory {
                *self.pressure.refused.lock() = Some(self.context.clock.running());
                return;
            }
        }
    }
}

/// Whether the block is on disk and may be moved to memory.
fn may_be_promoted(block: &Block) -> bool {
    block.number().is_some() && !block.is_in_memory() && !block.is_damaged()
}

/// Only blocks in memory free some when they become cold.
fn takes_memory_warm(block: &Block) -> bool {
    block.may_be_rewritten() && block.may_be_recompressed() && block.is_in_memory()
}

/// The bytes that blocks which could also be read from disk may take.
pub(crate) fn low_watermark_bytes(budget: &MemoryPool) -> usize {
    budget.bytes_max() / 100 * ROOMY_PERCENT
}

fn is_above_high_watermark(budget: &MemoryPool) -> bool {
    budget.reserved() > budget.bytes_max() / 100 * PRESSED_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_was_refused_is_asked_for_again_after_a_minute() {
        let memory_pressure = MemoryPressure::default();
        let at = Duration::from_secs;
        assert!(!memory_pressure.is_refused(at(0)));
        *memory_pressure.refused.lock() = Some(at(100));
        assert!(memory_pressure.is_refused(at(100)) && memory_pressure.is_refused(at(159)));
        assert!(!memory_pressure.is_refused(at(160)));
    }
}
