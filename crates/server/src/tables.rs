//! `/v1/tables`: what tables there are, their columns, and what these hold.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use hadal_query::Type;
use hadal_tree::Catalog;
use hadal_types::{ColumnSchema, TableName, TableSchema, Value, limits};
use hadal_wire::TableStatus;
use serde::{Deserialize, Serialize};

use crate::answer::json;
use crate::app::{Doors, blocking};
use crate::cell::Cell;
use crate::describe::{rows_of, type_of};
use crate::facts::{Asker, Facts};
use crate::problem::{Problem, ProblemKind};

/// Columns, or values, that are listed unless the request says how many.
const LISTED: usize = 50;
/// Groups that are looked through for the members of sets and vectors.
const LISTS_MAX: u64 = 10_000;

#[derive(Serialize)]
struct Table {
    name: String,
    rows: u64,
    column_count: usize,
    time_column: String,
    first_time: Option<String>,
    last_time: Option<String>,
    blocks: u64,
    block_bytes: u64,
    raw_bytes: u64,
    dropped_rows: u64,
}

#[derive(Serialize)]
struct Column {
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
    fn new(status: &TableStatus) -> Self {
        let schema = &status.schema;
        Self {
            name: schema.name.to_string(),
            rows: schema.rows,
            column_count: schema.columns.len(),
            time_column: schema.time_column.to_string(),
            first_time: schema.time_range.map(|(first, _)| first.to_string()),
            last_time: schema.time_range.map(|(_, last)| last.to_string()),
            blocks: status.blocks,
            block_bytes: status.block_bytes,
            raw_bytes: status.raw_bytes,
            dropped_rows: status.dropped_rows,
        }
    }
}

impl Column {
    fn new(schema: &TableSchema, column: &ColumnSchema) -> Self {
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
    json(&Tables { tables: catalog.tables.values().map(Table::new).collect() })
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
    let catalog = doors.app.root.catalog().await;
    let status = catalog.tables.get(name.as_str()).ok_or_else(|| unknown_table(&name))?;
    let columns = status.schema.columns.iter();
    json(&Whole {
        table: Table::new(status),
        columns: columns.map(|column| Column::new(&status.schema, column)).collect(),
    })
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
    }
    let table = TableName::new(&name).map_err(|_| unknown_table(&name))?;
    let exists = doors.app.root.catalog().await.tables.contains_key(&table);
    // A table without rows is none, but its leaves may remember its batches.
    let dropped = doors.app.sink.drop_table(table.clone()).await;
    let rows = dropped.map_err(|error| Problem::of_sink(&error))?;
    if !exists && rows == 0 {
        return Err(unknown_table(&name));
    }
    json(&Dropped { table: table.as_str(), rows })
}

/// Which columns, or values, are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// What their names, or texts, begin with.
    prefix: Option<String>,
    /// Only columns after this one.
    after: Option<String>,
    limit: Option<usize>,
}

impl Page {
    fn limit(&self, most: usize) -> Result<usize, Problem> {
        match self.limit.unwrap_or(LISTED) {
            limit if (1..=most).contains(&limit) => Ok(limit),
            limit => {
                let detail = format!("a limit of {limit}; it may be 1 to {most}");
                Err(Problem::new(ProblemKind::BadRequest, detail))
            }
        }
    }

    fn columns<'s>(&self, schema: &'s TableSchema) -> Vec<&'s ColumnSchema> {
        let prefix = self.prefix.as_deref().unwrap_or_default().to_lowercase();
        let begins = |name: &str| name.to_lowercase().starts_with(&prefix);
        let after = |name: &str| self.after.as_deref().is_none_or(|after| after < name);
        let fits =
            |column: &&ColumnSchema| begins(column.name.as_str()) && after(column.name.as_str());
        schema.columns.iter().filter(fits).collect()
    }
}

/// `GET /v1/tables/{table}/columns`: a page of columns with their statistics.
pub(crate) async fn columns(
    State(doors): State<Doors>,
    name: Result<Path<String>, PathRejection>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Response, Problem> {
    let (Path(name), Query(page)) = (readable(name)?, readable(page)?);
    let schema = schema(&doors, &name).await?;
    let limit = page.limit(limits::COLUMNS_LISTED_MAX)?;
    let mut columns = page.columns(&schema);
    let more = columns.len() > limit;
    columns.truncate(limit);
    let found = asker(&doors, &schema).facts(&columns).await?;
    let described: Vec<ColumnFacts<'_>> = columns
        .iter()
        .zip(&found.found)
        .map(|(column, facts)| ColumnFacts::new(&schema, column, facts))
        .collect();
    json(&ColumnsPage { table: &name, columns: described, more })
}

#[derive(Serialize)]
struct ColumnsPage<'a> {
    table: &'a str,
    columns: Vec<ColumnFacts<'a>>,
    more: bool,
}

#[derive(Serialize)]
struct ColumnFacts<'a> {
    #[serde(flatten)]
    column: Column,
    rows: u64,
    null_fraction: f64,
    distinct: Cell<'a>,
    min: Cell<'a>,
    max: Cell<'a>,
    p50: Cell<'a>,
    p95: Cell<'a>,
}

impl<'a> ColumnFacts<'a> {
    fn new(schema: &TableSchema, column: &ColumnSchema, facts: &'a Facts) -> Self {
        let rows = rows_of(column);
        let nulls = schema.rows.saturating_sub(rows);
        Self {
            column: Column::new(schema, column),
            rows,
            null_fraction: if schema.rows == 0 { 0.0 } else { nulls as f64 / schema.rows as f64 },
            distinct: Cell(&facts.distinct),
            min: Cell(&facts.min),
            max: Cell(&facts.max),
            p50: Cell(&facts.p50),
            p95: Cell(&facts.p95),
        }
    }
}

/// `GET /v1/tables/{table}/columns/{column}/values`: the most frequent values.
///
/// Of a set or vector these are its members; when it has very many different lists, the members
/// of the most frequent ones, and `complete` is false.
pub(crate) async fn values(
    State(doors): State<Doors>,
    names: Result<Path<(String, String)>, PathRejection>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Response, Problem> {
    let (Path((name, column_name)), Query(page)) = (readable(names)?, readable(page)?);
    let schema = schema(&doors, &name).await?;
    let limit = page.limit(limits::VALUES_LISTED_MAX)?;
    let column = schema.column(&column_name).ok_or_else(|| {
        let detail = format!("table {name} has no column {column_name}");
        Problem::new(ProblemKind::UnknownColumn, detail)
    })?;
    let asker = asker(&doors, &schema);
    let prefix = page.prefix.as_deref().filter(|prefix| !prefix.is_empty());
    let is_list = matches!(type_of(column), Type::Set | Type::Vector);
    let answer = match is_list {
        true => asker.top(column, None, LISTS_MAX).await?,
        false => asker.top(column, prefix, limit as u64).await?,
    };
    let complete =
        answer.coverage.fraction() >= 1.0 && (!is_list || (answer.rows.len() as u64) < LISTS_MAX);
    let rows = match is_list {
        true => members(&answer.rows, prefix, limit),
        false => answer.rows,
    };
    let body = move || {
        let values = rows.iter().map(|row| Counted::new(row)).collect();
        json(&ValuesPage { table: &name, column: &column_name, values, complete })
    };
    blocking(body).await?
}

#[derive(Serialize)]
struct ValuesPage<'a> {
    table: &'a str,
    column: &'a str,
    values: Vec<Counted<'a>>,
    complete: bool,
}

#[derive(Serialize)]
struct Counted<'a> {
    value: Cell<'a>,
    count: Cell<'a>,
    samples: Cell<'a>,
}

impl<'a> Counted<'a> {
    fn new(row: &'a [Value]) -> Self {
        let cell = |at: usize| Cell(row.get(at).unwrap_or(&Value::Null));
        Self { value: cell(0), count: cell(1), samples: cell(2) }
    }
}

/// The members of lists, counted: from (list, count, rows) to (member, count, rows).
fn members(lists: &[Vec<Value>], prefix: Option<&str>, limit: usize) -> Vec<Vec<Value>> {
    let prefix = prefix.unwrap_or_default().to_lowercase();
    let mut counts: BTreeMap<Arc<str>, (Value, Value)> = BTreeMap::new();
    for list in lists {
        let [Value::Set(texts) | Value::Vector(texts), count, rows] = list.as_slice() else {
            continue;
        };
        // A vector may have a member twice; its row counts once.
        let mut once: Vec<&Arc<str>> = texts.iter().collect();
        once.sort_unstable();
        once.dedup();
        for text in once.into_iter().filter(|text| text.to_lowercase().starts_with(&prefix)) {
            let zero = || (Value::integer(0), Value::integer(0));
            let (counted, sampled) = counts.entry(Arc::clone(text)).or_insert_with(zero);
            *counted = plus(counted, count);
            *sampled = plus(sampled, rows);
        }
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    // Stable, so that equals stay in the order of their names.
    sorted.sort_by(|left, right| right.1.0.cmp(&left.1.0));
    sorted.truncate(limit);
    let row = |(text, (count, rows))| vec![Value::String(text), count, rows];
    sorted.into_iter().map(row).collect()
}

fn plus(left: &Value, right: &Value) -> Value {
    hadal_query::call(hadal_query::Function::Add, &[left.clone(), right.clone()])
}

fn asker<'d>(doors: &'d Doors, schema: &TableSchema) -> Asker<'d> {
    Asker::new(doors, schema, Duration::from_millis(limits::QUERY_DEADLINE_MS))
}

async fn schema(doors: &Doors, table: &str) -> Result<Arc<TableSchema>, Problem> {
    let catalog: Catalog = doors.app.root.catalog().await;
    catalog.schema(table).ok_or_else(|| unknown_table(table))
}

/// What was read of an address, or the problem with it.
pub(crate) fn readable<T, E: std::fmt::Display>(read: Result<T, E>) -> Result<T, Problem> {
    read.map_err(|error| Problem::new(ProblemKind::BadRequest, error.to_string()))
}

fn unknown_table(table: &str) -> Problem {
    Problem::new(ProblemKind::UnknownTable, format!("there is no table {table}"))
        .hint("GET /v1/tables lists the tables")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_lists_are_counted() {
        let row = |list: Value, count: i64| vec![list, Value::integer(count), Value::integer(1)];
        let lists = [
            row(Value::vector(["b", "a", "b"]), 10),
            row(Value::vector(["a"]), 5),
            row(Value::vector(["Bc"]), 2),
            row(Value::vector::<&str>([]), 7),
        ];
        let counted = |text: &str, count, rows| {
            vec![Value::string(text), Value::integer(count), Value::integer(rows)]
        };
        let all = [counted("a", 15, 2), counted("b", 10, 1), counted("Bc", 2, 1)];
        assert_eq!(members(&lists, None, 9), all);
        assert_eq!(members(&lists, Some("B"), 9), all[1..]);
        assert_eq!(members(&lists, None, 1), all[..1]);
    }
}
