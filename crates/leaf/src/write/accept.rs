//! A batch comes in: told apart from a retry, logged, then visible.

use std::sync::Arc;

use hadal_peer::{Batch, Receipt, SinkError};
use hadal_store::{BlockBytes, Durability, Error, Ticket};
use hadal_types::{BatchId, LeafName, TableName, limits};
use tokio::sync::oneshot;

use crate::leaf::Inner;
use crate::limits::Hold;
use crate::sync::{lock, read, write};
use crate::table::Table;
use crate::table::batch_ids::{AcceptedBatch, Reservation};
use crate::table::block::{Block, Origin};

/// Takes a batch; returns once it is visible, and as durable as the leaf's batches are to be.
pub(crate) async fn accept(inner: &Arc<Inner>, batch: Batch) -> Result<Receipt, SinkError> {
    let rows = batch.rows;
    let durable = inner.has_folder && inner.durability == Durability::Sync;
    match start(inner, batch)? {
        None => Ok(Receipt { rows, duplicate: true, durable, overflowing: false }),
        Some(logged) => {
            // The log's callback is called in every case, so the sender is never just dropped.
            let gone = || Err(SinkError::Unavailable(inner.name.to_string()));
            let overflowing = logged.await.unwrap_or_else(|_| gone())?;
            Ok(Receipt { rows, duplicate: false, durable, overflowing })
        }
    }
}

/// Whether the table is over its size with the batch, once it is logged.
type Logged = oneshot::Receiver<Result<bool, SinkError>>;

/// Reserves the id and appends the batch to the log; `None` for a retry of what is there.
fn start(inner: &Arc<Inner>, batch: Batch) -> Result<Option<Logged>, SinkError> {
    let (now, running) = (inner.clock.now(), inner.clock.running());
    let bytes = BlockBytes::from(batch.block);
    let corrupt = |reason: String| SinkError::Corrupt {
        id: batch.id.clone(),
        table: batch.table.clone(),
        reason,
    };
    check(&bytes, &batch.id, batch.rows).map_err(corrupt)?;
    table(inner, &batch.table)?;
    let busy = || SinkError::Busy(inner.name.to_string());
    let table = read(&inner.tables).get(&batch.table).cloned().ok_or_else(busy)?;
    // Held until the batch is in the log's queue, so that a drop of the table comes before or
    // after all of this. A drop that is under way is not waited for.
    let kept = table.dropped.try_read().ok().filter(|dropped| !**dropped).ok_or_else(busy)?;
    match lock(&table.batch_ids).reserve(&batch.id, batch.content_hash) {
        Reservation::New => {}
        Reservation::Duplicate => return Ok(None),
        Reservation::Conflict => return Err(SinkError::Conflict { id: batch.id }),
        Reservation::InFlight => return Err(busy()),
        Reservation::InDoubt => return Err(in_doubt(&batch.id)),
    }
    let logged = log(inner, &batch.table, &batch.id, &bytes);
    let (hold, ticket) = logged.inspect_err(|_| lock(&table.batch_ids).release(&batch.id))?;
    drop(kept);
    let mut block = Block::new(bytes, Origin::Log(vec![ticket.sequence()]))
        .map_err(|error| corrupt(error.to_string()))?;
    if let Some(hold) = hold {
        block = block.holding(hold);
    }
    let accepted = AcceptedBatch {
        content_hash: batch.content_hash,
        rows: u32::try_from(batch.rows).unwrap_or(u32::MAX),
        time: now,
    };
    let (done, logged) = oneshot::channel();
    // Not the leaf itself: on the log's thread its end would be the end of that thread.
    let (name, signal, id) = (inner.name.clone(), Arc::clone(&inner.wakeup), batch.id);
    let disk_full_log = Arc::clone(&inner.disk_full_log);
    let bytes_max = inner.limits.table_bytes(lock(&table.settings).as_ref());
    ticket.then(move |outcome| {
        disk_full_log.note(&name, outcome.as_ref().copied());
        let outcome = match outcome {
            Ok(()) => {
                lock(&table.batch_ids).remember(&id, accepted, running);
                // Before it can be seen, and something dropped for it.
                let overflowing = table.bytes() + block.byte_count() as u64 > bytes_max;
                table.push(block);
                signal.wake();
                Ok(overflowing)
            }
            Err(error) => {
                let mut batches = lock(&table.batch_ids);
                match error.may_be_logged() {
                    true => batches.doubt(&id),
                    false => batches.release(&id),
                }
                Err(sink_error(&name, error))
            }
        };
        // Nobody may be waiting any more; the batch is there all the same.
        let _ = done.send(outcome);
    });
    Ok(Some(logged))
}

/// Appends the batch to the log, if there is room for it until it has its place in a segment. A
/// leaf without a folder has no other place than memory.
fn log(
    inner: &Inner,
    table: &TableName,
    id: &BatchId,
    bytes: &BlockBytes,
) -> Result<(Option<Hold>, Ticket), SinkError> {
    let hold = match inner.has_folder {
        true => Some(inner.limits.fresh.admit(bytes.len() as u64).ok_or_else(|| {
            inner.wakeup.wake();
            SinkError::Busy(inner.name.to_string())
        })?),
        false => None,
    };
    let ticket = inner.store.append(table, id, bytes).map_err(|error| {
        inner.disk_full_log.note(&inner.name, Err(&error));
        sink_error(&inner.name, error)
    })?;
    Ok((hold, ticket))
}

/// Bytes from another process are checked whole before they are logged.
fn check(bytes: &[u8], id: &BatchId, rows: usize) -> Result<(), String> {
    let view = hadal_block::BlockView::parse(bytes).map_err(|error| error.to_string())?;
    view.verify().map_err(|error| error.to_string())?;
    let is_this_batch = matches!(view.batches(), [batch] if batch.id == *id && batch.rows == rows);
    if view.rows() != rows || !is_this_batch {
        return Err(format!("it is not one batch {id} of {rows} rows"));
    }
    Ok(())
}

/// The table of this name, made if there is none.
pub(crate) fn table(inner: &Inner, name: &TableName) -> Result<(), SinkError> {
    if read(&inner.tables).contains_key(name) {
        return Ok(());
    }
    let mut tables = write(&inner.tables);
    if tables.len() >= limits::TABLES_MAX && !tables.contains_key(name) {
        let message =
            format!("table {name} would be one too many: {} are allowed", limits::TABLES_MAX);
        return Err(SinkError::Limit(message));
    }
    tables.entry(name.clone()).or_insert_with(|| Arc::new(Table::new(name.clone())));
    Ok(())
}

/// Why a retry is refused of a batch that another leaf must not take either.
fn in_doubt(id: &BatchId) -> SinkError {
    SinkError::Store(format!(
        "writing {id} failed before, and whether it is there is known once the server was started anew: \
         send it again then"
    ))
}

pub(crate) fn sink_error(name: &LeafName, error: Error) -> SinkError {
    match error {
        Error::Busy(_) => SinkError::Busy(name.to_string()),
        Error::Full(_) => SinkError::Full(name.to_string()),
        Error::Closed => SinkError::Unavailable(name.to_string()),
        error if error.names_a_path() => {
            // Paths of this machine are for whoever runs it, not for whoever sends rows.
            tracing::error!(leaf = %name, "{error}");
            SinkError::Store(format!("{name}'s files fail; the server's log says more"))
        }
        other => SinkError::Store(other.to_string()),
    }
}
