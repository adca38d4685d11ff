//! `/v1/tables` and `/v1/tables/{table}`: what tables there are, and their columns.

pub(crate) mod blocks;
pub(crate) mod losses;
pub(crate) mod settings;
pub(crate) mod settings_cache;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use hadal_types::{AgeLimit, ColumnSchema, Held, Micros, TableName, TableSchema};
use hadal_wire::TableStatus;
use serde::Serialize;

use crate::problem::{Problem, ProblemKind};
use crate::query::describe::type_of;
use crate::query_response::json;
use crate::router::Doors;
use crate::tables::settings_cache::age_limit;

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
    fn new(status: &TableStatus, now: Micros) -> Self {
        let schema = &status.schema;
        Self {
            name: schema.name.to_string(),
            rows: schema.rows,
            column_count: schema.columns.len(),
            time_column: schema.time_column.to_string(),
            first_time: schema.time_range.map(|(first, _)| first.to_string()),
            last_time: schema.time_range.map(|(_, last)| last.to_string()),
            age_limit_days: whole_days(age_limit(status, now)),
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

/// The limit in days, of which a part counts as a whole one.
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
pub(crate) async fn list(State(doors): State<Doors>) -> Result<Response, Problem> {
    #[derive(Serialize)]
    struct Tables {
        tables: Vec<Table>,
    }
    let catalog = doors.app.root.catalog().await;
    let now = doors.app.clock.now();
    let tables = catalog.tables.values().map(|status| Table::new(status, now));
    let tables = Tables { tables: tables.collect() };
    json(&tables, doors.app.root.budget().hold())
}

/// `GET /v1/tables/{table}`: all of its columns, without a look at any row.
pub(crate) async fn get(
    State(doors): State<Doors>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let Path(name) = readable(name)?;
    #[derive(Serialize)]
    struct Whole {
        #[serde(flatten)]
        table: Table,
        columns: Vec<Column>,
    }
    let status = table(&doors, &name).await?;
    let columns = status.schema.columns.iter();
    let whole = Whole {
        table: Table::new(&status, doors.app.clock.now()),
        columns: columns.map(|column| Column::new(&status.schema, column)).collect(),
    };
    json(&whole, doors.app.root.budget().hold())
}

/// `DELETE /v1/tables/{table}`.
pub(crate) async fn delete(
    State(doors): State<Doors>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let Path(name) = readable(name)?;
    #[derive(Serialize)]
    struct Dropped<'t> {
        table: &'t str,
        rows: u64,
        /// Its settings could not be removed: they rule a new table of this name.
        settings_kept: bool,
    }
    let table = TableName::new(&name).map_err(|_| unknown_table(&name))?;
    let exists = doors.app.root.table(&name).await.is_some();
    // A table without rows is none, but its leaves may remember its batches.
    let dropped = doors.app.sink.drop_table(table.clone()).await;
    let rows = dropped.map_err(|error| Problem::of_sink(&error))?;
    doors.facts.forget(&table);
    let removed = doors.app.definitions.remove_table_settings(&table, None).await;
    doors.rules.forget(&table);
    let had_settings = match removed {
        Ok(had_settings) => had_settings,
        // Its rows are gone all the same: a full disk has room again by that.
        Err(error) if exists || rows > 0 => {
            tracing::error!(%table, %error, "the settings of a dropped table stay");
            let dropped = Dropped { table: table.as_str(), rows, settings_kept: true };
            return json(&dropped, Held::default());
        }
        Err(error) => return Err(Problem::of_console(&error)),
    };
    if !exists && rows == 0 && !had_settings {
        return Err(unknown_table(&name));
    }
    json(&Dropped { table: table.as_str(), rows, settings_kept: false }, Held::default())
}

/// The table of this name.
pub(crate) async fn table(doors: &Doors, name: &str) -> Result<TableStatus, Problem> {
    doors.app.root.table(name).await.ok_or_else(|| unknown_table(name))
}

/// What was read of an address, or the problem with it.
pub(crate) fn readable<T, E: std::fmt::Display>(read: Result<T, E>) -> Result<T, Problem> {
    read.map_err(|error| Problem::new(ProblemKind::BadRequest, error.to_string()))
}

pub(crate) fn unknown_table(table: &str) -> Problem {
    Problem::new(ProblemKind::UnknownTable, format!("there is no table {table}"))
        .hint("GET /v1/tables lists the tables")
}
