//! The background merge: builds fuller blocks from small ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use hadal_block::{BlockError, BlockView, MergeOrder, merge};
use hadal_store::{BlockBytes, BlockNumber, Change, RememberedBatch, Sequence, StoredBlock};
use hadal_types::{ColumnName, Micros};

use crate::context::LeafContext;
use crate::maintenance::merge_policy::{Candidate, MergeKind, MergePlan, plan_merge};
use crate::table::Table;
use crate::table::block::{Block, Origin};

/// Blocks with fewer rows are not written to a segment while the log has their frames.
pub(crate) const SEGMENT_ROWS_MIN: usize = 4_096;

/// Why a merge failed. The table is as it was before.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MergeError {
    #[error("cannot merge blocks: {0}")]
    Block(#[from] BlockError),
    #[error("cannot merge blocks: some of block {0} could not be read")]
    Unreadable(String),
    #[error("cannot store merged blocks: {0}")]
    Store(#[from] hadal_store::Error),
}

/// Which blocks may be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mergeable {
    All,
    /// Only blocks that are not in a segment yet: while blocks are restored, restoring has
    /// priority, and some merge partners may still be missing.
    Fresh,
}

/// Makes the next merge of `table`, if one is due; returns whether one was.
pub(crate) fn merge_next(
    table: &Table,
    context: &LeafContext,
    mergeable: Mergeable,
    now: Micros,
) -> Result<bool, MergeError> {
    let (blocks, bytes_max) = (table.snapshot(), context.limits.merge_bytes_max);
    let settling_time = context.settling_time(now);
    let Some((inputs, plan)) = plan_of(&blocks, mergeable, settling_time, bytes_max) else {
        return Ok(false);
    };
    let merged = merge_blocks(table, &inputs, plan.kind, now)?;
    let Some(_turn) = context.turn_to_change() else { return Ok(false) };
    let dropped = table.dropped.read();
    if *dropped {
        return Ok(false);
    }
    let added = store_merged(table, context, &inputs, &plan, merged)?;
    table.swap(&inputs, added)?;
    Ok(true)
}

/// The next merge, among replaceable blocks with the same time column and sample factor.
fn plan_of(
    blocks: &[Arc<Block>],
    mergeable: Mergeable,
    now: Micros,
    bytes_max: u64,
) -> Option<(Vec<Arc<Block>>, MergePlan)> {
    let is_mergeable = |block: &Block| mergeable == Mergeable::All || block.origin.is_log();
    let free = blocks.iter().filter(|block| block.may_be_replaced() && is_mergeable(block));
    let kinds: BTreeSet<(&ColumnName, u16)> = free.clone().map(|block| merge_key(block)).collect();
    kinds.into_iter().find_map(|shared| {
        let alike: Vec<&Arc<Block>> =
            free.clone().filter(|block| merge_key(block) == shared).collect();
        let candidates: Vec<Candidate> = alike.iter().map(|block| candidate(block)).collect();
        let plan = plan_merge(&candidates, now, bytes_max)?;
        Some((plan.inputs.iter().map(|&index| Arc::clone(alike[index])).collect(), plan))
    })
}

/// The properties that blocks must share to be merged.
fn merge_key(block: &Block) -> (&ColumnName, u16) {
    (&block.time_column, block.kept_one_in)
}

fn candidate(block: &Block) -> Candidate {
    Candidate {
        rows: block.rows,
        bytes: block.raw_bytes,
        has_batches: block.has_batches,
        created_at: block.created_at,
        times: block.time_range,
        is_in_order: block.has_batches && block.is_in_order(),
    }
}

pub(crate) fn merge_blocks(
    table: &Table,
    inputs: &[Arc<Block>],
    kind: MergeKind,
    now: Micros,
) -> Result<Vec<Vec<u8>>, MergeError> {
    let faults: Vec<u64> = inputs.iter().map(|block| block.faults()).collect();
    let merged = merge_checked(table, inputs, kind, now)?;
    let changed = inputs.iter().zip(faults).find(|(block, before)| block.faults() != *before);
    match changed {
        None => Ok(merged),
        // The next try detects which columns are damaged.
        Some((block, _)) => Err(MergeError::Unreadable(block.origin.to_string())),
    }
}

fn merge_checked(
    table: &Table,
    inputs: &[Arc<Block>],
    kind: MergeKind,
    now: Micros,
) -> Result<Vec<Vec<u8>>, BlockError> {
    let mut views = Vec::with_capacity(inputs.len());
    for block in inputs {
        views.push(verified_view(block).inspect_err(|error| table.quarantine(block, error))?);
    }
    match kind {
        MergeKind::Merge(order) => merge(&views, order, now),
        MergeKind::Settle => {
            let mut settled = Vec::with_capacity(views.len());
            for view in views {
                settled.extend(merge(&[view], MergeOrder::Time, now)?);
            }
            Ok(settled)
        }
    }
}

/// Verifies all checksums of the block again and returns its view. A rewritten block gets new
/// checksums, which would hide that it had been altered.
pub(crate) fn verified_view(block: &Block) -> Result<BlockView<'_>, BlockError> {
    block.verify()?;
    block.view()
}

/// Stores the merged blocks: in a segment, or in memory while they are few rows that the log still
/// has.
fn store_merged(
    table: &Table,
    context: &LeafContext,
    inputs: &[Arc<Block>],
    plan: &MergePlan,
    merged: Vec<Vec<u8>>,
) -> Result<Vec<Arc<Block>>, MergeError> {
    let (sequences, numbers) = origins(inputs);
    let rows: usize = inputs.iter().map(|block| block.rows).sum();
    let stays_in_log = plan.kind == MergeKind::Merge(MergeOrder::Arrival)
        && rows < SEGMENT_ROWS_MIN
        && numbers.is_empty();
    if stays_in_log {
        // This few rows make one block.
        let block = |bytes| {
            let block = Block::new(BlockBytes::from(bytes), Origin::Log(sequences.clone()))?;
            let hold = context.limits.fresh.count(block.byte_count() as u64);
            Ok(Arc::new(block.holding(hold)))
        };
        return merged.into_iter().map(block).collect();
    }
    let mut adds = Vec::with_capacity(merged.len());
    for bytes in merged {
        let rows = u32::try_from(BlockView::parse(&bytes)?.rows()).unwrap_or(u32::MAX);
        adds.push(context.store.write_block(&table.name, rows, bytes)?);
    }
    let added = open_stored(&adds)?;
    context.store.commit(&Change {
        removes: numbers,
        adds,
        consumed: sequences,
        remembered: remembered(table, inputs),
        forget_before: context.forget_before(),
        ..Change::default()
    })?;
    Ok(added)
}

/// Opens blocks that were just stored. Call it before a change adds them: if one cannot be read,
/// nothing has changed yet.
pub(crate) fn open_stored(stored: &[StoredBlock]) -> Result<Vec<Arc<Block>>, BlockError> {
    stored.iter().cloned().map(|one| open_stored_block(one).map(Arc::new)).collect()
}

/// Opens a block that was just stored.
pub(crate) fn open_stored_block(stored: StoredBlock) -> Result<Block, BlockError> {
    Block::new(stored.bytes, Origin::Segment(stored.number))
}

pub(crate) fn origins(blocks: &[Arc<Block>]) -> (Vec<Sequence>, Vec<BlockNumber>) {
    let (mut sequences, mut numbers) = (Vec::new(), Vec::new());
    for block in blocks {
        match &block.origin {
            Origin::Log(frames) => sequences.extend(frames),
            Origin::Segment(number) => numbers.push(*number),
        }
    }
    (sequences, numbers)
}

/// The batches whose frames are consumed with these blocks; the manifest remembers them.
pub(crate) fn remembered(table: &Table, inputs: &[Arc<Block>]) -> Vec<RememberedBatch> {
    let batches = table.batch_ids.lock();
    let mut remembered = Vec::new();
    for block in inputs.iter().filter(|block| matches!(block.origin, Origin::Log(_))) {
        let view = block.view().ok();
        for batch in view.iter().flat_map(|view| view.batches()) {
            if let Some(accepted) = batches.get(&batch.id) {
                remembered.push(RememberedBatch {
                    table: table.name.clone(),
                    batch: batch.id.clone(),
                    content_hash: accepted.content_hash,
                    rows: accepted.rows,
                    time: accepted.time,
                });
            }
        }
    }
    remembered
}
