//! `POST /v1/log/{table}`: a body of any length to batches, in bounded memory.
//!
//! ```text
//! body ──> intake (inflate, parse, encode: on threads that may block) ──> outbox ──> sink
//! ```
//!
//! The body is not read further while the intake works or too many batches wait for the sink, so a
//! client sends as fast as rows are kept. Good rows are taken whatever the bad ones are, unless
//! the request is strict: then all is parsed before anything is sent.

pub(crate) mod backpressure;
pub(crate) mod decompress;
mod delivery;
mod headers;
pub(crate) mod in_flight;
pub(crate) mod live_columns;
mod pipeline;
pub(crate) mod revoke;

use std::time::Instant;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use bytes::Bytes;
use hadal_ingest::{Ingest, Reject, Settings, Summary, rejects_batch};
use hadal_types::{BatchId, ColumnSchema, Held, Kind, Micros, TableName, TableSchema, limits};
use hadal_wire::Batch;
use serde::Serialize;

use crate::metrics::count;
use crate::problem::{Problem, ProblemKind};
use crate::query_response::json;
use crate::request_body::RequestBody;
use crate::router::{Doors, blocking};
use crate::self_tables::{IngestLogEntry, IngestLogGuard};
use crate::tables::readable;
use crate::tables::settings_cache::FirstRowsSettings;
pub(crate) use backpressure::Backpressure;
use delivery::{Delivery, Sent};
pub(crate) use headers::IngestOptions;
use pipeline::Pipeline;

/// Bytes of a body as they came, in a row.
type Piece = Vec<Bytes>;

/// Bytes that are parsed at a time.
const PIECE_BYTES: usize = 128 << 10;
/// The same of the few bodies that have room for the rows of a batch: changes of threads cost.
const LONG_PIECE_BYTES: usize = 512 << 10;
/// What `_rejects` calls the door that a row came by.
const SOURCE: &str = "http";

/// Takes the rows of a body.
pub(crate) async fn accept(
    State(doors): State<Doors>,
    table: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let Path(table) = readable(table)?;
    let (head, body) = request.into_parts();
    let no_parameters = no_parameters(&head.uri);
    let mut body = RequestBody::new(body, &doors.ending, doors.config.pace);
    let logged = match no_parameters.and_then(|()| own_table(&table)) {
        Ok(table) => {
            let mut taking = IngestLogGuard::new(&doors, &table);
            let logged = take(&doors, &table, &head.headers, &mut body, &mut taking.note).await;
            taking.note.bytes = body.taken();
            logged
        }
        Err(problem) => Err(problem),
    };
    if logged.is_err() {
        body.drain().await;
    }
    json(&logged?, Held::default())
}

/// What is wished is told in headers: who tells a batch in the address would think that it can be sent again.
fn no_parameters(address: &Uri) -> Result<(), Problem> {
    match address.query() {
        None | Some("") => Ok(()),
        Some(query) => {
            let detail = format!("there are no parameters here, such as {query:?}");
            let hint = "what a batch is called and how it is read is told in headers: Hadal-Batch, -Chunk, \
                        -Time, -Sets, -Strict, -Any-Age";
            Err(Problem::new(ProblemKind::BadRequest, detail).hint(hint))
        }
    }
}

async fn take(
    doors: &Doors,
    table: &TableName,
    headers: &HeaderMap,
    body: &mut RequestBody,
    note: &mut IngestLogEntry,
) -> Result<IngestReceipt, Problem> {
    let wish = IngestOptions::read(headers)?;
    let now = doors.app.clock.now();
    let batch_id = wish.batch.map_or_else(random_id, Ok)?;
    let _comes = doors.coming.begin(table, &batch_id);
    let table_columns = doors.columns.of(table, Instant::now());
    let status = doors.app.root.table(table.as_str()).await;
    let dropped_before = status.as_ref().map_or(0, |table| table.dropped_rows);
    let schema = status.map(|table| table.schema);
    let table_columns = doors.columns.told(table, table_columns, schema.as_deref(), Instant::now());
    let oldest = schema.as_ref().and_then(|schema| Some(schema.time_range?.0));
    let own = doors.rules.of(&doors.app, table).await?;
    let settling = FirstRowsSettings::new(table, own, wish.any_age, oldest, now);
    let own_column = settling.time_column().cloned();
    let known_sets = schema.iter().flat_map(|schema| sets_of(schema));
    let settings = Settings {
        table: table.clone(),
        batch_id,
        time_column: wish.time,
        table_time_column: own_column
            .or_else(|| schema.as_ref().map(|schema| schema.time_column.clone())),
        table_oldest: oldest,
        table_columns,
        sets: known_sets.chain(wish.sets).collect(),
        any_age: wish.any_age,
        age_limit: settling.age_limit(),
    };
    let ingest = Ingest::new(settings, wish.format, now);
    let intake = Pipeline::new(wish.inflater, ingest, wish.strict);
    let mut outbox = Delivery::new(doors, settling);
    let taken = match wish.strict {
        true => take_all_or_none(doors, body, intake, &mut outbox).await,
        false => take_as_it_comes(doors, body, intake, &mut outbox).await,
    };
    if taken.is_err() {
        outbox.settle_after_failure().await;
    }
    let Sent { new_rows, batches, duplicates, .. } = outbox.sent;
    *note = IngestLogEntry { rows: new_rows, batches, duplicates, ..*note };
    let summary = taken.map_err(|problem| match outbox.sent.rows {
        0 => problem,
        rows => problem.with("accepted", rows),
    })?;
    *note = IngestLogEntry { rejected: summary.rejected_count, is_refused: false, ..*note };
    let mut logged = finish(doors, table, now, outbox.sent, summary).await;
    if outbox.sent.overflowing {
        logged.warnings.push(overflowing(doors, table, dropped_before).await);
    }
    Ok(logged)
}

/// Tells that rows which came in made older ones go, and how many did so far.
async fn overflowing(doors: &Doors, table: &TableName, dropped_before: u64) -> Warning {
    let dropped = doors.app.root.table(table.as_str()).await.map_or(0, |table| table.dropped_rows);
    let message = format!("table {table} is over its size: its oldest rows are dropped for these");
    Warning { code: "rows_dropped", count: dropped.saturating_sub(dropped_before), message }
}

/// Columns that hold only sets: in these, arrays are sets from then on.
fn sets_of(schema: &TableSchema) -> impl Iterator<Item = String> {
    let is_set = |column: &&ColumnSchema| column.parts.iter().all(|part| part.kind == Kind::Set);
    schema.columns.iter().filter(is_set).map(|column| column.name.to_string())
}

fn own_table(name: &str) -> Result<TableName, Problem> {
    let table = TableName::new(name)
        .map_err(|error| Problem::new(ProblemKind::BadRequest, error.to_string()))?;
    if table.is_own() {
        let detail = format!("table {table} is one of Hadal's own, as its _ says");
        return Err(Problem::new(ProblemKind::Forbidden, detail));
    }
    Ok(table)
}

/// An id for a body that came without one: it cannot be sent again under it.
pub(crate) fn random_id() -> Result<BatchId, Problem> {
    let mut bytes = [0; 16];
    let random = getrandom::fill(&mut bytes);
    random.map_err(|error| Problem::internal("there is no randomness for a batch id", &error))?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    BatchId::new(&digits).ok_or_else(|| Problem::internal("a batch id cannot be made", &digits))
}

async fn take_as_it_comes(
    doors: &Doors,
    body: &mut RequestBody,
    mut intake: Pipeline,
    outbox: &mut Delivery,
) -> Result<Summary, Problem> {
    while let Some(piece) = next_piece(doors, &intake, body).await? {
        intake.make_room(&doors.room).await?;
        let batches;
        (intake, batches) = parse(doors, intake, piece).await?;
        outbox.send_all(batches, intake.makes_any_age()).await?;
    }
    let (batches, summary) = end(doors, intake).await?;
    outbox.send_all(batches, summary.makes_any_age).await?;
    outbox.settle_all().await?;
    Ok(summary)
}

async fn take_all_or_none(
    doors: &Doors,
    body: &mut RequestBody,
    mut intake: Pipeline,
    outbox: &mut Delivery,
) -> Result<Summary, Problem> {
    let mut held = Vec::new();
    while let Some(piece) = next_piece(doors, &intake, body).await? {
        intake.make_room(&doors.room).await?;
        let batches;
        (intake, batches) = parse(doors, intake, piece).await?;
        held.extend(batches);
    }
    let _room = intake.take_room();
    let (batches, summary) = end(doors, intake).await?;
    held.extend(batches);
    if summary.rejected_count > 0 {
        let records = summary.accepted + summary.rejected_count;
        let detail = format!("{} of {records} rows are bad", summary.rejected_count);
        let problem = Problem::new(ProblemKind::RowsRejected, detail);
        return Err(problem
            .with("rejected_count", summary.rejected_count)
            .with("rejected", serde_json::json!(shown(&summary.rejected))));
    }
    outbox.send_all(held, summary.makes_any_age).await?;
    outbox.settle_all().await?;
    Ok(summary)
}

/// The next bytes of the body, enough of them to be worth a change of threads.
async fn next_piece(
    doors: &Doors,
    intake: &Pipeline,
    body: &mut RequestBody,
) -> Result<Option<Piece>, Problem> {
    let piece_bytes = if intake.has_room() { LONG_PIECE_BYTES } else { PIECE_BYTES };
    let (mut piece, mut length) = (Vec::new(), 0);
    while length < piece_bytes
        && let Some(bytes) = body.next().await?
    {
        length += bytes.len();
        piece.push(bytes);
    }
    count(&doors.metrics.bytes_logged, length as u64);
    Ok((length > 0).then_some(piece))
}

async fn parse(
    doors: &Doors,
    mut intake: Pipeline,
    piece: Piece,
) -> Result<(Pipeline, Vec<Batch>), Problem> {
    let _turn = doors.parsers.acquire().await;
    let now = doors.app.clock.now();
    blocking(move || {
        intake.arrive(now);
        let mut batches = Vec::new();
        for bytes in &piece {
            batches.extend(intake.push(bytes)?);
        }
        Ok((intake, batches))
    })
    .await?
}

async fn end(doors: &Doors, intake: Pipeline) -> Result<(Vec<Batch>, Summary), Problem> {
    let _turn = doors.parsers.acquire().await;
    blocking(move || intake.finish().map_err(Problem::from)).await?
}

/// What a client is told.
#[derive(Debug, Serialize)]
struct IngestReceipt {
    accepted: u64,
    rejected_count: u64,
    rejected: Vec<Rejected>,
    warnings: Vec<Warning>,
    time_from: String,
    duplicate: bool,
    durable: bool,
}

#[derive(Debug, Serialize)]
struct Rejected {
    line: u64,
    reason: String,
}

#[derive(Debug, Serialize)]
struct Warning {
    code: &'static str,
    count: u64,
    message: String,
}

fn shown(rejects: &[Reject]) -> Vec<Rejected> {
    let shown = rejects.iter().take(limits::REJECTS_SHOWN_MAX);
    shown.map(|r| Rejected { line: r.line, reason: r.reason.clone() }).collect()
}

/// Counts what became of the body, keeps its bad rows, and says so.
async fn finish(
    doors: &Doors,
    table: &TableName,
    now: Micros,
    sent: Sent,
    summary: Summary,
) -> IngestReceipt {
    count(&doors.metrics.rows_accepted, sent.new_rows);
    count(&doors.metrics.rows_rejected, summary.rejected_count);
    count(&doors.metrics.batches_duplicate, sent.duplicates);
    let duplicate = sent.duplicates > 0 && sent.duplicates == sent.batches;
    let mut warnings: Vec<Warning> = summary
        .warnings
        .into_iter()
        .map(|warning| {
            let hadal_ingest::Warning { code, count, message } = warning;
            Warning { code, count, message }
        })
        .collect();
    // The bad rows of a body that came before were kept then.
    if !duplicate && let Err(problem) = keep_rejects(doors, table, now, &summary.rejected).await {
        tracing::warn!(%table, ?problem, "rejected rows could not be kept");
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
        rejected_count: summary.rejected_count,
        rejected: shown(&summary.rejected),
        warnings,
        time_from: summary.time_from,
        duplicate,
        durable: sent.durable,
    }
}

async fn keep_rejects(
    doors: &Doors,
    table: &TableName,
    now: Micros,
    rejects: &[Reject],
) -> Result<(), Problem> {
    if rejects.is_empty() {
        return Ok(());
    }
    let batch = rejects_batch(rejects, table, SOURCE, now, random_id()?)
        .map_err(|error| Problem::internal("rejected rows cannot be encoded", &error))?;
    if let Some(batch) = batch {
        let own = doors.rules.of(&doors.app, &batch.table).await?;
        FirstRowsSettings::new(&batch.table, own, false, None, now).settle(doors, false).await?;
        let receipt = doors.app.sink.accept(batch).await;
        receipt.map_err(|error| Problem::of_sink(&error))?;
    }
    Ok(())
}
