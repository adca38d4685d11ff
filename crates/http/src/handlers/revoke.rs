//! `DELETE /v1/log/{table}`: revokes a batch.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use hadal_frontend::{ErrorKind, Principal};
use hadal_types::MemoryReservation;
use serde::Serialize;

use crate::handlers::ingest::headers;
use crate::parameters::{readable, table_name};
use crate::problem::Problem;
use crate::query_response::json;
use crate::state::AppState;

/// Removes exactly the rows of a batch; none if it was revoked before.
pub(crate) async fn revoke(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
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
    let table = table_name(&name)?;
    let bad = |detail: &str| Problem::new(ErrorKind::BadRequest, detail);
    if headers.contains_key("hadal-chunk") {
        return Err(bad("a batch is taken back with all of its chunks: leave out Hadal-Chunk"));
    }
    let Some(batch) = headers::read(&headers)?.batch else {
        return Err(bad("there is no header Hadal-Batch, which says what is to be taken back"));
    };
    let rows = state.frontend.revoke(&principal, &table, &batch).await?;
    Ok(json(
        &Revoked { table: table.as_str(), batch: batch.as_str(), rows },
        MemoryReservation::default(),
    )?)
}
