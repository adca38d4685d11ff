//! `DELETE /v1/log/{table}`: what came under a batch id is taken back.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use hadal_types::{Held, TableName};
use serde::Serialize;

use crate::ingest::IngestOptions;
use crate::problem::{Problem, ProblemKind};
use crate::query_response::json;
use crate::router::Doors;
use crate::tables::{readable, unknown_table};

/// Takes back all rows of a batch, and no others; of one that was taken back before, none.
pub(crate) async fn revoke(
    State(doors): State<Doors>,
    name: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Revoked<'r> {
        table: &'r str,
        batch: &'r str,
        rows: u64,
    }
    let Path(name) = readable(name)?;
    let table = TableName::new(&name).map_err(|_| unknown_table(&name))?;
    let wrong = |detail: &str| Problem::new(ProblemKind::BadRequest, detail);
    if headers.contains_key("hadal-chunk") {
        return Err(wrong("a batch is taken back with all of its chunks: leave out Hadal-Chunk"));
    }
    let Some(batch) = IngestOptions::read(&headers)?.batch else {
        return Err(wrong("there is no header Hadal-Batch, which says what is to be taken back"));
    };
    if doors.coming.has(&table, &batch) {
        let detail = format!("batch {batch} is still coming in; take it back once it is there");
        return Err(Problem::new(ProblemKind::Busy, detail));
    }
    let sink = &doors.app.sink;
    let revoked = sink.revoke(&table, &batch).await;
    let rows = revoked.map_err(|error| Problem::of_sink(&error))?;
    if rows == 0 && !sink.knows(&table, &batch).await {
        let detail = format!("no batch {batch} of table {table} is known");
        return Err(Problem::new(ProblemKind::UnknownBatch, detail));
    }
    json(&Revoked { table: table.as_str(), batch: batch.as_str(), rows }, Held::default())
}
