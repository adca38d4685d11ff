//! Accepts a batch: checks for a retry, logs it, then makes it visible.

use std::sync::Arc;

use hadal_peer::{Batch, Receipt, SinkError};
use hadal_store::{BlockBytes, Durability, Ticket};
use hadal_types::{BatchId, TableName};
use tokio::sync::oneshot;

use crate::context::{LeafContext, sink_error};
use crate::limits::Hold;
use crate::table::Table;
use crate::table::batch_ids::{AcceptedBatch, Reservation};
use crate::table::block::{Block, Origin};
use crate::write::disk_full_log::DiskFullLog;

/// Accepts a batch; returns once it is visible and as durable as the leaf is configured to make it.
/// `moves` says that a promise to refuse the batch does not count.
pub(crate) async fn accept(
    context: &LeafContext,
    disk_full_log: &Arc<DiskFullLog>,
    (batch, moves): (Batch, bool),
) -> Result<Receipt, SinkError> {
    let rows = batch.rows;
    let durable = context.has_folder && context.durability == Durability::Sync;
    match start(context, disk_full_log, (batch, moves))? {
        None => Ok(Receipt { rows, duplicate: true, durable, overflowing: false, report: None }),
        Some(logged) => {
            // The log's callback is called in every case, so the sender is never just dropped.
            let unavailable = || Err(context.unavailable());
            let overflowing = logged.await.unwrap_or_else(|_| unavailable())?;
            Ok(Receipt { rows, duplicate: false, durable, overflowing, report: None })
        }
    }
}

/// Resolves once the batch is logged: whether the table exceeds its size with the batch.
type Logged = oneshot::Receiver<Result<bool, SinkError>>;

/// Reserves the id and appends the batch to the log; returns `None` for a retry of an accepted
/// batch.
fn start(
    context: &LeafContext,
    disk_full_log: &Arc<DiskFullLog>,
    (batch, moves): (Batch, bool),
) -> Result<Option<Logged>, SinkError> {
    let (now, running) = (context.clock.now(), context.clock.running());
    let (name, id) = (batch.table.clone(), batch.id.clone());
    let (content_hash, rows) = (batch.content_hash, batch.rows);
    // Checksums were verified where the batch entered the process: only its header is read now.
    let bytes = BlockBytes::from(batch.into_block());
    let opened = Block::new(bytes.clone(), Origin::Log(Vec::new()));
    let mut block = opened.map_err(|error| {
        let (id, table, reason) = (id.clone(), name.clone(), error.to_string());
        SinkError::Corrupt { id, table, reason }
    })?;
    context.create_table(&name)?;
    let busy = || context.busy();
    let table = context.table(&name).ok_or_else(busy)?;
    // Held until the batch is in the log's queue, so that a drop of the table comes before or after
    // all of this. If a drop is already running, the batch is refused instead of waiting.
    let kept = table.dropped.try_read().filter(|dropped| !**dropped).ok_or_else(busy)?;
    if !reserve(context, &table, (&id, moves), content_hash)? {
        return Ok(None);
    }
    let logged = log(context, disk_full_log, &name, &id, &bytes);
    let (hold, ticket) = logged.inspect_err(|_| table.batch_ids.lock().release(&id))?;
    drop(kept);
    block.origin = Origin::Log(vec![ticket.sequence()]);
    if let Some(hold) = hold {
        block = block.holding(hold);
    }
    let accepted =
        AcceptedBatch { content_hash, rows: u32::try_from(rows).unwrap_or(u32::MAX), time: now };
    let (done, logged) = oneshot::channel();
    // The callback does not capture the leaf: dropping a leaf on the log's thread would end that
    // very thread.
    let (leaf, wakeup) = (context.name.clone(), Arc::clone(&context.wakeup));
    let disk_full_log = Arc::clone(disk_full_log);
    let bytes_max = table.with_settings(|settings| context.limits.table_bytes(settings));
    ticket.then(move |outcome| {
        disk_full_log.note(&leaf, outcome.as_ref().copied());
        let outcome = match outcome {
            Ok(()) => {
                table.batch_ids.lock().remember(&id, accepted, running);
                // Computed before the batch is visible, as blocks may be dropped to make room for
                // it.
                let overflowing = table.bytes() + block.byte_count() as u64 > bytes_max;
                table.push_accepted(block);
                wakeup.wake();
                Ok(overflowing)
            }
            Err(error) => {
                let mut batches = table.batch_ids.lock();
                match error.may_be_logged() {
                    true => batches.doubt(&id),
                    false => batches.release(&id),
                }
                Err(sink_error(&leaf, error))
            }
        };
        // The client may have gone; the batch is accepted all the same.
        let _ = done.send(outcome);
    });
    Ok(Some(logged))
}

/// Reserves the id of a batch that the leaf does not have to refuse. Returns false for a retry of
/// an accepted batch.
fn reserve(
    context: &LeafContext,
    table: &Table,
    (id, moves): (&BatchId, bool),
    content_hash: u64,
) -> Result<bool, SinkError> {
    // Held until the id is reserved: of a promise and a batch, the first one counts.
    let refused = context.refused.lock();
    let mut batch_ids = table.batch_ids.lock();
    let is_refused = refused.is_revoked(&table.name, id) || !moves && refused.has(&table.name, id);
    if is_refused && !batch_ids.knows(id) {
        let leaf = &context.name;
        return Err(SinkError::Unavailable(format!("{leaf} (another leaf may have batch {id})")));
    }
    match batch_ids.reserve(id, content_hash) {
        Reservation::New => Ok(true),
        Reservation::Duplicate => Ok(false),
        Reservation::Conflict => Err(SinkError::Conflict { id: id.clone() }),
        Reservation::InFlight => Err(context.busy()),
        Reservation::InDoubt => Err(in_doubt(id)),
    }
}

/// Appends the batch to the log if the fresh bytes have room for it until it is in a segment. A
/// leaf without a folder is not bounded: memory is its only place.
fn log(
    context: &LeafContext,
    disk_full_log: &DiskFullLog,
    table: &TableName,
    id: &BatchId,
    bytes: &BlockBytes,
) -> Result<(Option<Hold>, Ticket), SinkError> {
    let hold = match context.has_folder {
        true => Some(context.limits.fresh.admit(bytes.len() as u64).ok_or_else(|| {
            context.wakeup.wake();
            context.busy()
        })?),
        false => None,
    };
    let ticket = context.store.append(table, id, bytes).map_err(|error| {
        disk_full_log.note(&context.name, Err(&error));
        context.sink_error(error)
    })?;
    Ok((hold, ticket))
}

/// The error of a retry whose first attempt is in doubt; no other leaf may accept the batch either.
fn in_doubt(id: &BatchId) -> SinkError {
    SinkError::Store(format!(
        "writing batch {id} failed, and its outcome is unknown until the next restart: send it again \
         after that"
    ))
}
