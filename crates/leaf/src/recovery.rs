//! Builds tables from what a store recovered: merged blocks, then batches that only the log holds.
//!
//! Blocks that the store must read first are restored one after the other, roughly newest first:
//! the times of their rows are unknown before the blocks are read. Queries meanwhile use the blocks
//! that are present, and each table has at least one such block. After an orderly stop, queries
//! read the blocks that were left on disk directly from disk; the blocks are moved to memory
//! afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hadal_store::{
    BlockNumber, LostBlock, Promotion, RecoveredTable, Recovery, Report, Store, WaitingBlock,
};
use hadal_types::TableName;

use crate::limits::FreshBytes;
use crate::maintenance::memory_pressure::low_watermark_bytes;
use crate::parallel::parallel_from_last;
use crate::table::Table;
use crate::table::batch_ids::AcceptedBatch;
use crate::table::block::{Block, Origin};
use crate::table::block_set::DeferredBlocks;
use crate::table::open_blocks::open_block;
use crate::table::settings::{is_on_disk, settings};
use restore_order::{BlockPosition, order};

mod restore_order;

/// A block to be restored, and its table.
type Waiting = (Arc<Table>, WaitingBlock);

/// The tables of a recovered store.
#[derive(Default)]
pub(crate) struct Recovered {
    pub(crate) tables: BTreeMap<TableName, Arc<Table>>,
    /// Blocks to be restored, roughly the newest last ([`order`]).
    pub(crate) waiting: Vec<Waiting>,
    /// Blocks that are read from disk and move to memory while there is room to spare, the newest
    /// last.
    pub(crate) moving: Vec<BlockNumber>,
    /// What the store and the leaf found during recovery.
    pub(crate) report: Report,
}

/// Builds the tables of a recovered store, and completes the report.
///
/// A block that cannot be read is lost, like a block that the store did not find. It stays in the
/// store unchanged, so it is lost again at the next start, until its table is dropped. Batch ids
/// are remembered as of `running`, the time that the process has been running.
pub(crate) fn recover_tables(
    recovery: Recovery,
    store: &Store,
    fresh: &Arc<FreshBytes>,
    running: Duration,
) -> Recovered {
    let Recovery { tables: mut recovered, mut report } = recovery;
    let mut moving = Vec::new();
    if report.was_stopped {
        moving = leave_on_disk(&mut recovered, store);
    }
    // The start waits for one block of each table. These blocks are requested all at once, as there
    // may be a thousand tables.
    recovered
        .values()
        .filter_map(|recovered| recovered.waiting.last())
        .for_each(WaitingBlock::expect);
    let (mut tables, mut waiting) = (BTreeMap::new(), Vec::new());
    for (name, mut recovered) in recovered {
        let mut blocks = std::mem::take(&mut recovered.waiting);
        let mut deferred = DeferredBlocks::default();
        if report.was_stopped {
            let blocks = std::mem::take(&mut recovered.blocks);
            deferred =
                DeferredBlocks { blocks, rows: recovered.block_rows, bytes: recovered.block_bytes };
        }
        let table = Arc::new(table(&name, recovered, fresh, running, &mut report.lost_blocks));
        store.keep_on_disk(&name, table.is_on_disk());
        table.defer_open(deferred);
        blocks.iter().for_each(|block| table.note_waiting(block));
        // One block makes the table's columns known.
        while table.holdings().1 == 0
            && let Some(newest) = blocks.pop()
        {
            if let Err(lost) = restore(&table, newest, store) {
                report.lost_blocks.push(lost);
            }
        }
        waiting.extend(blocks.into_iter().map(|block| (Arc::clone(&table), block)));
        tables.insert(name, table);
    }
    order(&mut waiting, |(_, block)| BlockPosition {
        number: block.number,
        segment: block.segment(),
        range: block.range(),
    });
    for lost in &report.lost_blocks {
        let entry = tables.entry(lost.table.clone());
        entry.or_insert_with(|| Arc::new(Table::new(lost.table.clone()))).note_lost(lost);
    }
    tables.values().for_each(|table| table.note_recovered());
    Recovered { tables, waiting, moving, report }
}

/// Leaves blocks on disk where an orderly stop left them: restoring them first would hide them from
/// queries. Returns the blocks to be moved to memory, the newest last.
fn leave_on_disk(
    recovered: &mut BTreeMap<TableName, RecoveredTable>,
    store: &Store,
) -> Vec<BlockNumber> {
    let mut moving = Vec::new();
    for (name, table) in recovered {
        let settings = table.settings.as_deref().and_then(|bytes| settings(name, bytes));
        let is_on_disk = is_on_disk(settings.as_ref());
        let mut is_in_order = true;
        for block in std::mem::take(&mut table.waiting) {
            match store.leave_on_disk(block) {
                Ok(stored) => {
                    moving.extend((!is_on_disk).then_some(stored.number));
                    table.take(stored);
                    is_in_order = false;
                }
                Err(block) => table.waiting.push(block),
            }
        }
        if !is_in_order {
            table.blocks.sort_by_key(|block| block.number);
        }
    }
    moving.sort_unstable();
    moving
}

/// Restores blocks from the last to the first on up to `threads` threads, until `is_stopping`.
pub(crate) fn restore_all(
    waiting: Vec<Waiting>,
    store: &Store,
    threads: usize,
    is_stopping: impl Fn() -> bool + Sync,
) {
    if waiting.is_empty() {
        return;
    }
    let are_of_one = |(_, one): &Waiting, (_, other): &Waiting| one.segment() == other.segment();
    parallel_from_last(waiting, threads, are_of_one, |(table, block)| {
        if is_stopping() {
            return false;
        }
        if let Err(lost) = restore(&table, block, store) {
            table.note_lost(&lost);
        }
        true
    });
    store.finish_restoring();
}

/// Moves blocks from disk to memory, from the last to the first, on up to `threads` threads. Ends
/// when the memory has no room to spare, or when `is_stopping`.
pub(crate) fn promote_all(
    moving: Vec<BlockNumber>,
    store: &Store,
    threads: usize,
    is_stopping: impl Fn() -> bool + Sync,
) {
    let Some(budget) = store.memory_budget() else { return };
    parallel_from_last(
        moving,
        threads,
        |_, _| false,
        |number| {
            if is_stopping() || budget.reserved() >= low_watermark_bytes(budget) {
                return false;
            }
            match store.promote(number) {
                Promotion::Done => true,
                // Damage on disk is detected by the next reader of the block, and by the scrub
                // before long.
                Promotion::Refused(reason) => {
                    tracing::debug!("a row block is not moved to memory: {reason}");
                    true
                }
                Promotion::NoMemory => false,
            }
        },
    );
}

/// Restores one block and makes it visible, unless its table was dropped.
fn restore(table: &Table, block: WaitingBlock, store: &Store) -> Result<(), LostBlock> {
    let dropped = table.dropped.read();
    let (rows, is_in_memory) = (block.rows, block.is_in_memory());
    let restored = store.restore(block).and_then(|stored| match stored {
        Some(stored) if !*dropped => {
            let is_verified = stored.is_verified();
            let block = open_block(&table.name, stored)?;
            table.push(if is_verified { block.verified() } else { block });
            Ok(())
        }
        _ => Ok(()),
    });
    table.note_restored(rows, is_in_memory);
    restored
}

fn table(
    name: &TableName,
    recovered: RecoveredTable,
    fresh: &Arc<FreshBytes>,
    running: Duration,
    lost: &mut Vec<LostBlock>,
) -> Table {
    let table = Table::new(name.clone());
    if let Some(dropped) = recovered.dropped_rows {
        table.count_dropped(dropped);
    }
    table.set_settings(recovered.settings.as_deref().and_then(|bytes| settings(name, bytes)));
    for batch in recovered.remembered {
        let accepted =
            AcceptedBatch { content_hash: batch.content_hash, rows: batch.rows, time: batch.time };
        table.batch_ids.lock().remember(&batch.batch, accepted, running);
    }
    for stored in recovered.blocks {
        match open_block(name, stored) {
            Ok(block) => table.push(block),
            Err(block) => lost.push(block),
        }
    }
    for frame in recovered.frames {
        match Block::new(frame.bytes, Origin::Log(vec![frame.sequence])) {
            // A batch whose first acknowledgement failed may have been logged twice.
            Ok(block) if remember(&table, &block, running) => {
                let hold = fresh.count(block.byte_count() as u64);
                table.push(block.holding(hold));
            }
            Ok(_) => {}
            // The frame's checksum is right, so these bytes are what was logged.
            Err(error) => {
                let sequence = frame.sequence;
                tracing::error!(table = %name, %sequence, %error, "a logged batch is no row block");
            }
        }
    }
    table
}

/// Remembers the batch of a logged block; returns false if it was already known.
fn remember(table: &Table, block: &Block, running: Duration) -> bool {
    let Ok(view) = block.view() else { return false };
    let mut batches = table.batch_ids.lock();
    view.batches().iter().all(|batch| {
        let is_new = batches.get(&batch.id).is_none();
        let accepted = AcceptedBatch {
            content_hash: batch.content_hash,
            rows: u32::try_from(batch.rows).unwrap_or(u32::MAX),
            time: block.created_at,
        };
        if is_new {
            batches.remember(&batch.id, accepted, running);
        }
        is_new
    })
}
