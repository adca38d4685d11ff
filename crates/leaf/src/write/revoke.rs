//! Revokes a batch: removes all of its rows, and no other rows.
//!
//! Revoking works while row blocks know which of their rows came with which batch. Merges drop that
//! information after the revocation window, and a tree asks all leaves before any leaf revokes. One
//! change of the store removes the blocks that have rows of the batch, and adds blocks with their
//! other rows. So after a crash either all rows of the batch are present or no row is. The batch id
//! stays known, with 0 rows: a retry adds nothing.

use std::sync::Arc;

use hadal_block::{BlockError, BlockView, merge_without};
use hadal_peer::SinkError;
use hadal_store::{Change, Error, RememberedBatch, StoredBlock};
use hadal_types::limits::BATCH_REVOKED_SECONDS;
use hadal_types::{BatchId, Micros, TableName};

use crate::context::LeafContext;
use crate::maintenance::merge::{MergeError, open_stored, origins, remembered, verified_view};
use crate::table::Table;
use crate::table::batch_ids::AcceptedBatch;
use crate::table::block::Block;

/// The batches that a client sent under one id.
type Parts = Vec<(BatchId, AcceptedBatch)>;

/// A block that has rows of these batches, and the blocks that replace it.
type Rewritten = (Arc<Block>, Vec<StoredBlock>);

/// Revokes the batches of a client's id; returns the number of rows removed. That is 0 if no such
/// batch is known, or if it was revoked before.
pub(crate) fn revoke(
    context: &LeafContext,
    name: &TableName,
    id: &BatchId,
) -> Result<u64, SinkError> {
    let all_of_client = |table: &Table| table.batch_ids.lock().of_client(id);
    remove(context, (name, id), all_of_client)
}

/// Removes the rows of one batch, and not those of other parts of the client's; returns their
/// number.
pub(crate) fn drop_batch(
    context: &LeafContext,
    name: &TableName,
    id: &BatchId,
) -> Result<u64, SinkError> {
    let only_this = |table: &Table| {
        let batch_ids = table.batch_ids.lock();
        match batch_ids.get(id) {
            Some(accepted) => Some(vec![(id.clone(), accepted)]),
            None => (!batch_ids.knows(id)).then(Vec::new),
        }
    };
    remove(context, (name, id), only_this)
}

/// Removes the rows of batches. `parts_in` returns them, or `None` while one of them is being
/// written.
fn remove(
    context: &LeafContext,
    (name, id): (&TableName, &BatchId),
    parts_in: impl Fn(&Table) -> Option<Parts>,
) -> Result<u64, SinkError> {
    let busy = || context.busy();
    // A merge that runs now would write blocks that still have the rows.
    let _one = context.turn_to_merge();
    let Some(table) = context.table(name) else { return Ok(0) };
    let parts = parts_in(&table).ok_or_else(busy)?;
    let rows: u64 = parts.iter().map(|(_, accepted)| u64::from(accepted.rows)).sum();
    if rows == 0 {
        return Ok(0);
    }
    let blocks = blocks_with(&table, &parts).map_err(|error| damaged(id, &error))?;
    let Some(blocks) = blocks else { return Err(not_found_yet(context, id, &parts)) };
    // The archive would have rows of the batch twice, or alone.
    if blocks.iter().any(|block| block.is_archiving()) {
        return Err(busy());
    }
    let rewritten = write_rest(context, &table, &parts, blocks);
    let rewritten = rewritten.map_err(|error| match error {
        MergeError::Store(error) => context.sink_error(error),
        MergeError::Block(error) => damaged(id, &error),
        MergeError::Unreadable(_) => busy(),
    })?;
    if !commit(context, &table, &parts, rewritten).map_err(|error| context.sink_error(error))? {
        return Err(context.unavailable());
    }
    tracing::info!(leaf = %context.name, table = %name, batch = %id, rows, "a batch was taken back");
    Ok(rows)
}

/// Checks that the batches can be revoked, and for long enough that other leaves can do so too.
pub(crate) fn can_revoke(
    context: &LeafContext,
    name: &TableName,
    id: &BatchId,
) -> Result<(), SinkError> {
    let Some(table) = context.table(name) else { return Ok(()) };
    let parts = table.batch_ids.lock().of_client(id);
    let mut parts = parts.ok_or_else(|| context.busy())?;
    parts.retain(|(_, accepted)| accepted.rows > 0);
    if is_too_late(context, &parts) {
        return Err(too_late(id));
    }
    match blocks_with(&table, &parts) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(not_found_yet(context, id, &parts)),
        Err(error) => Err(damaged(id, &error)),
    }
}

/// The blocks that have rows of these batches; `None` if some of these rows can no longer be
/// distinguished from others.
fn blocks_with(table: &Table, parts: &Parts) -> Result<Option<Vec<Arc<Block>>>, BlockError> {
    let (mut blocks, mut rows) = (Vec::new(), 0);
    for block in table.snapshot().iter().filter(|block| block.has_batches) {
        let view = block.view()?;
        let revoked =
            view.batches().iter().filter(|batch| parts.iter().any(|part| part.0 == batch.id));
        let block_rows: usize = revoked.map(|batch| batch.rows).sum();
        if block_rows > 0 {
            rows += block_rows as u64;
            blocks.push(Arc::clone(block));
        }
    }
    let expected: u64 = parts.iter().map(|(_, accepted)| u64::from(accepted.rows)).sum();
    Ok((rows == expected).then_some(blocks))
}

/// Writes the rows of the blocks that are not of these batches. Nothing refers to the new blocks
/// until a change commits them.
fn write_rest(
    context: &LeafContext,
    table: &Table,
    parts: &Parts,
    blocks: Vec<Arc<Block>>,
) -> Result<Vec<Rewritten>, MergeError> {
    let ids: Vec<BatchId> = parts.iter().map(|(id, _)| id.clone()).collect();
    let mut rewritten = Vec::with_capacity(blocks.len());
    for block in blocks {
        let faults = block.faults();
        let rest = verified_view(&block).and_then(|view| {
            let created_at = view.created_at();
            merge_without(view, &ids, created_at)
        });
        let rest = rest.inspect_err(|error| table.quarantine(&block, error))?;
        if block.faults() != faults {
            return Err(MergeError::Unreadable(block.origin.to_string()));
        }
        let stored = rest.into_iter().map(|bytes| {
            let rows = u32::try_from(BlockView::parse(&bytes)?.rows()).unwrap_or(u32::MAX);
            Ok(context.store.write_block(&table.name, rows, bytes)?)
        });
        rewritten.push((block, stored.collect::<Result<_, MergeError>>()?));
    }
    Ok(rewritten)
}

/// Commits the change to the store and to the visible blocks. Returns false if the leaf stops or
/// the table was dropped; then nothing changed.
fn commit(
    context: &LeafContext,
    table: &Table,
    parts: &Parts,
    rewritten: Vec<Rewritten>,
) -> Result<bool, Error> {
    let Some(_turn) = context.turn_to_change() else { return Ok(false) };
    let dropped = table.dropped.read();
    if *dropped {
        return Ok(false);
    }
    let mut added = Vec::with_capacity(rewritten.len());
    for (_, stored) in &rewritten {
        added.push(open_stored(stored).map_err(|error| Error::Corrupt {
            path: table.name.to_string(),
            what: error.to_string(),
        })?);
    }
    let old: Vec<Arc<Block>> = rewritten.iter().map(|(old, _)| Arc::clone(old)).collect();
    let (consumed, removes) = origins(&old);
    let mut batches = remembered(table, &old);
    batches.retain(|batch| parts.iter().all(|(id, _)| *id != batch.batch));
    batches.extend(parts.iter().map(|(id, accepted)| RememberedBatch {
        table: table.name.clone(),
        batch: id.clone(),
        content_hash: accepted.content_hash,
        rows: 0,
        time: accepted.time,
    }));
    let adds = rewritten.iter().flat_map(|(_, stored)| stored.iter().cloned()).collect();
    let change = Change { removes, adds, consumed, remembered: batches, ..Change::default() };
    context.store.commit(&change)?;
    for ((old, _), new) in rewritten.iter().zip(added) {
        // One by one, so that each block keeps its position among the others.
        table.swap(std::slice::from_ref(old), new)?;
    }
    let mut accepted = table.batch_ids.lock();
    parts.iter().for_each(|(id, _)| accepted.note_revoked(id));
    Ok(true)
}

fn is_too_late(context: &LeafContext, parts: &Parts) -> bool {
    let oldest =
        Micros(context.clock.now().0.saturating_sub(BATCH_REVOKED_SECONDS * Micros::SECOND));
    parts.iter().any(|(_, accepted)| accepted.time < oldest)
}

/// The error when some rows of the batches are not found: the revocation window is over, or the
/// rows are still being restored or merged.
fn not_found_yet(context: &LeafContext, id: &BatchId, parts: &Parts) -> SinkError {
    match is_too_late(context, parts) {
        true => too_late(id),
        false => context.busy(),
    }
}

fn too_late(id: &BatchId) -> SinkError {
    SinkError::Limit(format!(
        "batch {id} cannot be taken back: that is possible for {BATCH_REVOKED_SECONDS} seconds, and some of it came before"
    ))
}

fn damaged(id: &BatchId, error: &BlockError) -> SinkError {
    SinkError::Store(format!(
        "batch {id} cannot be taken back, as some rows cannot be read: {error}"
    ))
}
