//! `/v1/tables` and `/v1/tables/{table}`: the tables and their columns.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use hadal_frontend::{DroppedTable, Frontend, Principal, type_of};
use hadal_peer::TableStatus;
use hadal_types::{AgeLimit, ColumnSchema, MemoryReservation, TableSchema};
use serde::Serialize;

use crate::parameters::readable;
use crate::problem::Problem;
use crate::query_response::json;
use crate::state::AppState;

#[derive(Serialize)]
struct Table {
    name: String,
    rows: u64,
    column_count: usize,
    time_column: String,
    first_time: Option<String>,
    last_time: Option<String>,
    age_limit_days: Option<i64>,
    blocks: u64,
    block_bytes: u64,
    raw_bytes: u64,
    dropped_rows: u64,
    dropped_bytes: u64,
    dropped_until: Option<String>,
    expired_rows: u64,
    expired_until: Option<String>,
    lost_rows: u64,
    waiting_rows: u64,
    state: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Column {
    name: String,
    r#type: &'static str,
    is_time: bool,
    parts: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    kind: &'static str,
    rows: u64,
}

impl Table {
    fn new(frontend: &Frontend, status: &TableStatus) -> Self {
        let schema = &status.schema;
        Self {
            name: schema.name.to_string(),
            rows: schema.rows,
            column_count: schema.columns.len(),
            time_column: schema.time_column.to_string(),
            first_time: schema.time_range.map(|(first, _)| first.to_string()),
            last_time: schema.time_range.map(|(_, last)| last.to_string()),
            age_limit_days: whole_days(frontend.age_limit(status)),
            blocks: status.blocks,
            block_bytes: status.block_bytes,
            raw_bytes: status.raw_bytes,
            dropped_rows: status.dropped_rows,
            dropped_bytes: status.dropped_bytes,
            dropped_until: status.dropped_until.map(|until| until.to_string()),
            expired_rows: status.expired_rows,
            expired_until: status.expired_until.map(|until| until.to_string()),
            lost_rows: status.lost_rows,
            waiting_rows: status.waiting_rows,
            state: status.state.name(),
        }
    }
}

/// The limit in days, rounded up.
fn whole_days(limit: AgeLimit) -> Option<i64> {
    let seconds = limit.seconds()?.unsigned_abs();
    i64::try_from(seconds.div_ceil(86_400)).ok()
}

impl Column {
    pub(crate) fn new(schema: &TableSchema, column: &ColumnSchema) -> Self {
        let parts = column.parts.iter();
        Self {
            name: column.name.to_string(),
            r#type: type_of(column).name(),
            is_time: column.name == schema.time_column,
            parts: parts.map(|part| Part { kind: part.kind.name(), rows: part.rows }).collect(),
        }
    }
}

/// `GET /v1/tables`.
pub(crate) async fn list(State(state): State<Arc<AppState>>) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Tables {
        tables: Vec<Table>,
    }
    let catalog = state.frontend.cluster_status().await;
    let tables = catalog.tables.values().map(|status| Table::new(&state.frontend, status));
    let tables = Tables { tables: tables.collect() };
    Ok(json(&tables, state.frontend.hold())?)
}

/// `GET /v1/tables/{table}`: all columns of the table, without reading rows.
pub(crate) async fn get(
    State(state): State<Arc<AppState>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let Path(name) = readable(name)?;
    #[derive(Serialize)]
    struct Whole {
        #[serde(flatten)]
        table: Table,
        columns: Vec<Column>,
    }
    let status = state.frontend.table(&name).await?;
    let columns = status.schema.columns.iter();
    let whole = Whole {
        table: Table::new(&state.frontend, &status),
        columns: columns.map(|column| Column::new(&status.schema, column)).collect(),
    };
    Ok(json(&whole, state.frontend.hold())?)
}

/// `DELETE /v1/tables/{table}`.
pub(crate) async fn delete(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let Path(name) = readable(name)?;
    #[derive(Serialize)]
    struct Dropped<'t> {
        table: &'t str,
        rows: u64,
        settings_kept: bool,
    }
    let dropped = state.frontend.drop_table(&principal, &name).await?;
    let DroppedTable { rows, settings_kept } = dropped;
    Ok(json(&Dropped { table: &name, rows, settings_kept }, MemoryReservation::default())?)
}
