//! Converts a body of any length to batches, in bounded memory.
//!
//! ```text
//! body ──> pipeline (decompress, parse, encode: on threads that may block) ──> delivery ──> sink
//! ```
//!
//! The body is not read further while the pipeline works or too many batches wait for the sink, so
//! a client sends as fast as rows are stored. Invalid rows do not affect valid rows, unless the
//! request is strict: then the whole body is parsed before any batch is delivered.

pub(crate) mod decompress;
mod delivery;
mod explain;
mod pipeline;
mod rejects;
pub(crate) mod request;
mod revoke;
mod set_columns;

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use hadal_ingest::{AgePolicy, Ingest, Settings, Summary, Warning};
use hadal_peer::Batch;
use hadal_types::{Micros, TableName, limits};

use crate::batch_id::random_id;
use crate::error::{ErrorKind, FrontendError, Rejects};
use crate::frontend::{Frontend, blocking};
use crate::ingest::delivery::{Delivered, Delivery};
use crate::ingest::explain::explain_body;
use crate::ingest::pipeline::Pipeline;
use crate::ingest::rejects::keep_rejects;
use crate::ingest::request::{ByteStream, IngestOptions, IngestReceipt};
use crate::ingest::set_columns::sets_of;
use crate::principal::{Permission, Principal};
use crate::self_tables::entries::IngestLogEntry;
use crate::state::counters::count;
use crate::state::settings_cache::FirstRowsSettings;

/// Consecutive bytes of a body, as the door received them.
type Piece = Vec<Bytes>;

/// Bytes that are parsed at a time, on another thread.
const PIECE_BYTES: usize = 128 << 10;
/// Bytes parsed at a time for the few bodies that hold a permit: larger pieces mean fewer thread
/// switches, which cost time.
const LONG_PIECE_BYTES: usize = 512 << 10;

impl Frontend {
    /// Ingests the rows of a body, and logs the result in `_ingest`. Unreadable options refuse the
    /// body; it is logged nevertheless.
    ///
    /// # Errors
    /// [`FrontendError`] when the table is one of Hadal's own, no row could be accepted, or the
    /// body was not ingested to its end. Then `context.accepted` is the number of accepted rows.
    pub async fn ingest(
        self: &Arc<Self>,
        principal: &Principal,
        table: &str,
        options: Result<IngestOptions, FrontendError>,
        body: &mut impl ByteStream,
    ) -> Result<IngestReceipt, FrontendError> {
        principal.require(Permission::Log)?;
        let table = foreign_table(table)?;
        if options.as_ref().is_ok_and(|options| options.explain) {
            return explain_body(self, &table, options?, body).await;
        }
        let mut log = self.self_tables.begin_body(&table);
        let result = match options {
            Ok(options) => ingest_body(self, &table, options, body, &mut log.entry).await,
            Err(error) => Err(error),
        };
        log.entry.bytes = body.received();
        result
    }
}

async fn ingest_body(
    frontend: &Arc<Frontend>,
    table: &TableName,
    options: IngestOptions,
    body: &mut impl ByteStream,
    entry: &mut IngestLogEntry,
) -> Result<IngestReceipt, FrontendError> {
    let (source, now) = (options.source, frontend.backend.clock.now());
    let has_new_id = options.batch.is_none();
    let batch_id = options.batch.map_or_else(random_id, Ok)?;
    let _in_flight = frontend.in_flight.begin(table, &batch_id);
    let table_columns = frontend.live_columns.of(table, Instant::now());
    let status = frontend.backend.root.known_table(table.as_str());
    let dropped_before = status.as_ref().map_or(0, |table| table.dropped_rows);
    let schema = status.map(|table| Arc::clone(&table.schema));
    let table_columns =
        frontend.live_columns.add_schema(table, table_columns, schema.as_deref(), Instant::now());
    let oldest = schema.as_ref().and_then(|schema| Some(schema.time_range?.0));
    let stored = frontend.table_settings.of(table).await?;
    let settings = stored.as_ref().map(|stored| &stored.value);
    let age = AgePolicy::new(settings, options.any_age, oldest, now);
    let first_rows = FirstRowsSettings::new(table, stored);
    let set_column = first_rows.time_column().cloned();
    let table_sets = schema.iter().flat_map(|schema| sets_of(schema));
    let settings = Settings {
        table: table.clone(),
        batch_id,
        time_column: options.time,
        table_time_column: set_column
            .or_else(|| schema.as_ref().map(|schema| schema.time_column.clone())),
        table_columns,
        sets: table_sets.chain(options.sets).collect(),
        age,
        read: options.read,
    };
    let ingest = Ingest::new(settings, options.format, now);
    let pipeline = Pipeline::new(options.decompressor, ingest, options.strict);
    let mut delivery = Delivery::new(frontend, first_rows, has_new_id);
    let result = match options.strict {
        true => ingest_all_or_none(frontend, body, pipeline, &mut delivery).await,
        false => ingest_in_pieces(frontend, body, pipeline, &mut delivery).await,
    };
    if result.is_err() {
        delivery.wait_after_failure().await;
    }
    let Delivered { new_rows, batches, duplicates, .. } = delivery.delivered;
    (entry.rows, entry.batches, entry.duplicates) = (new_rows, batches, duplicates);
    let summary = result.map_err(|mut error| {
        error.context.accepted = (delivery.delivered.rows > 0).then_some(delivery.delivered.rows);
        error
    })?;
    (entry.rejected, entry.is_refused) = (summary.rejected_count, false);
    let mut receipt = finish(frontend, table, source, now, delivery.delivered, summary).await;
    if delivery.delivered.overflowing {
        receipt.warnings.push(overflowing(frontend, table, dropped_before));
    }
    entry.warnings.clone_from(&receipt.warnings);
    Ok(receipt)
}

/// Returns the warning that the table is full and drops its oldest rows, with the number dropped
/// since `dropped_before`.
fn overflowing(frontend: &Arc<Frontend>, table: &TableName, dropped_before: u64) -> Warning {
    let dropped =
        frontend.backend.root.known_table(table.as_str()).map_or(0, |table| table.dropped_rows);
    let message = format!("table {table} is over its size: its oldest rows are dropped for these");
    Warning { code: "rows_dropped", count: dropped.saturating_sub(dropped_before), message }
}

/// The name of a table that clients may write to.
fn foreign_table(name: &str) -> Result<TableName, FrontendError> {
    let table = TableName::new(name)
        .map_err(|error| FrontendError::new(ErrorKind::BadRequest, error.to_string()))?;
    if table.is_own() {
        let detail = format!("table {table} is one of Hadal's own, as its _ says");
        return Err(FrontendError::new(ErrorKind::Forbidden, detail));
    }
    Ok(table)
}

async fn ingest_in_pieces(
    frontend: &Arc<Frontend>,
    body: &mut impl ByteStream,
    mut pipeline: Pipeline,
    delivery: &mut Delivery,
) -> Result<Summary, FrontendError> {
    while let Some(piece) = next_piece(frontend, &pipeline, body).await? {
        pipeline.reserve(&frontend.backpressure).await?;
        let batches;
        (pipeline, batches) = parse(frontend, pipeline, piece).await?;
        delivery.send_all(batches, pipeline.age()).await?;
    }
    let (batches, summary) = end(frontend, pipeline).await?;
    delivery.send_all(batches, summary.age).await?;
    delivery.wait_for_all().await?;
    Ok(summary)
}

async fn ingest_all_or_none(
    frontend: &Arc<Frontend>,
    body: &mut impl ByteStream,
    mut pipeline: Pipeline,
    delivery: &mut Delivery,
) -> Result<Summary, FrontendError> {
    let mut all_batches = Vec::new();
    while let Some(piece) = next_piece(frontend, &pipeline, body).await? {
        pipeline.reserve(&frontend.backpressure).await?;
        let batches;
        (pipeline, batches) = parse(frontend, pipeline, piece).await?;
        all_batches.extend(batches);
    }
    let _permit = pipeline.take_permit();
    let (batches, summary) = end(frontend, pipeline).await?;
    all_batches.extend(batches);
    if summary.rejected_count > 0 {
        let records = summary.accepted + summary.rejected_count;
        let detail = format!("{} of {records} rows are bad", summary.rejected_count);
        let mut error = FrontendError::new(ErrorKind::RowsRejected, detail);
        error.context.rejects = Some(Rejects::of(&summary));
        return Err(error);
    }
    delivery.send_all(all_batches, summary.age).await?;
    delivery.wait_for_all().await?;
    Ok(summary)
}

/// The next bytes of the body, enough of them to be worth a change of threads.
async fn next_piece(
    frontend: &Arc<Frontend>,
    pipeline: &Pipeline,
    body: &mut impl ByteStream,
) -> Result<Option<Piece>, FrontendError> {
    let piece_bytes = if pipeline.has_permit() { LONG_PIECE_BYTES } else { PIECE_BYTES };
    let (mut piece, mut length) = (Vec::new(), 0);
    while length < piece_bytes
        && let Some(bytes) = body.next().await?
    {
        length += bytes.len();
        piece.push(bytes);
    }
    count(&frontend.counters.bytes_logged, length as u64);
    Ok((length > 0).then_some(piece))
}

async fn parse(
    frontend: &Arc<Frontend>,
    mut pipeline: Pipeline,
    piece: Piece,
) -> Result<(Pipeline, Vec<Batch>), FrontendError> {
    let _turn = frontend.parsers.acquire().await;
    let now = frontend.backend.clock.now();
    blocking(move || {
        pipeline.arrive(now);
        let mut batches = Vec::new();
        for bytes in &piece {
            batches.extend(pipeline.push(bytes)?);
        }
        Ok((pipeline, batches))
    })
    .await?
}

async fn end(
    frontend: &Arc<Frontend>,
    pipeline: Pipeline,
) -> Result<(Vec<Batch>, Summary), FrontendError> {
    let _turn = frontend.parsers.acquire().await;
    blocking(move || pipeline.finish().map_err(FrontendError::from)).await?
}

/// Counts the rows of the body, keeps the refused ones in `_rejects`, and makes the receipt.
async fn finish(
    frontend: &Arc<Frontend>,
    table: &TableName,
    source: &str,
    now: Micros,
    delivered: Delivered,
    summary: Summary,
) -> IngestReceipt {
    count(&frontend.counters.rows_accepted, delivered.new_rows);
    count(&frontend.counters.rows_rejected, summary.rejected_count);
    count(&frontend.counters.batches_duplicate, delivered.duplicates);
    let duplicate = delivered.duplicates > 0 && delivered.duplicates == delivered.batches;
    let rejects = Rejects::of(&summary);
    let mut warnings = summary.warnings;
    // The bad rows of a repeated body were stored the first time.
    if !duplicate
        && let Err(error) = keep_rejects(frontend, table, source, now, &summary.rejected).await
    {
        tracing::warn!(%table, %error, "cannot store rejected rows");
        let message = "the rejected rows could not be kept in _rejects".to_owned();
        let count = summary.rejected_count;
        warnings.push(Warning { code: "rejects_not_kept", count, message });
    }
    if summary.rejected_count > limits::REJECTS_KEPT_MAX as u64 {
        let kept = limits::REJECTS_KEPT_MAX;
        let (code, count) = ("rejects_cut", summary.rejected_count);
        let message = format!("of {count} rejected rows only the first {kept} are in _rejects");
        warnings.push(Warning { code, count, message });
    }
    IngestReceipt {
        accepted: summary.accepted,
        rejects,
        warnings,
        time_from: summary.time_from,
        detected: summary.detected,
        explanation: summary.explanation,
        time_wording: summary.time_wording,
        other_times: summary.other_times,
        untimed: summary.untimed,
        duplicate,
        durable: delivered.durable,
    }
}
