//! `/v1/tables/{table}/columns`: a page of columns with their statistics.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use hadal_frontend::{ColumnStats, rows_of};
use hadal_types::{ColumnSchema, TableSchema, Value, limits};
use serde::{Deserialize, Serialize};

use crate::handlers::tables::Column;
use crate::json_value::JsonValue;
use crate::parameters::{listed, readable};
use crate::problem::Problem;
use crate::query_response::json;
use crate::state::AppState;

/// Which columns are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// Only columns whose name begins with this.
    prefix: Option<String>,
    /// Only columns after this one.
    after: Option<String>,
    limit: Option<usize>,
}

impl Page {
    fn columns<'s>(&self, schema: &'s TableSchema) -> Vec<&'s ColumnSchema> {
        let prefix = self.prefix.as_deref().unwrap_or_default().to_lowercase();
        let begins = |name: &str| name.to_lowercase().starts_with(&prefix);
        let after = |name: &str| self.after.as_deref().is_none_or(|after| after < name);
        let fits =
            |column: &&ColumnSchema| begins(column.name.as_str()) && after(column.name.as_str());
        schema.columns.iter().filter(fits).collect()
    }
}

/// `GET /v1/tables/{table}/columns`. Answers quickly, if necessary without statistics that are not
/// computed yet.
pub(crate) async fn columns(
    State(state): State<Arc<AppState>>,
    name: Result<Path<String>, PathRejection>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Response, Problem> {
    let (Path(name), Query(page)) = (readable(name)?, readable(page)?);
    let status = state.frontend.table(&name).await?;
    let schema = &status.schema;
    let limit = listed(page.limit, limits::COLUMNS_LISTED_MAX)?;
    let mut columns = page.columns(schema);
    let more = columns.len() > limit;
    columns.truncate(limit);
    let (stats, complete) = state.frontend.column_stats(&status, &columns).await?;
    let bodies: Vec<ColumnBody<'_>> = columns
        .iter()
        .zip(&stats)
        .map(|(column, stats)| ColumnBody::new(schema, column, stats))
        .collect();
    let page = ColumnsPage { table: &name, columns: bodies, more, complete };
    Ok(json(&page, state.frontend.hold())?)
}

#[derive(Serialize)]
struct ColumnsPage<'a> {
    table: &'a str,
    columns: Vec<ColumnBody<'a>>,
    more: bool,
    complete: bool,
}

#[derive(Serialize)]
struct ColumnBody<'a> {
    #[serde(flatten)]
    column: Column,
    rows: u64,
    null_fraction: f64,
    distinct: JsonValue<'a>,
    min: JsonValue<'a>,
    max: JsonValue<'a>,
    p50: JsonValue<'a>,
    p95: JsonValue<'a>,
}

impl<'a> ColumnBody<'a> {
    fn new(schema: &TableSchema, column: &ColumnSchema, stats: &'a Option<ColumnStats>) -> Self {
        let rows = rows_of(column);
        let nulls = schema.rows.saturating_sub(rows);
        let cell =
            |of: fn(&ColumnStats) -> &Value| JsonValue(stats.as_ref().map_or(&Value::Null, of));
        Self {
            column: Column::new(schema, column),
            rows,
            null_fraction: if schema.rows == 0 { 0.0 } else { nulls as f64 / schema.rows as f64 },
            distinct: cell(|stats| &stats.distinct),
            min: cell(|stats| &stats.min),
            max: cell(|stats| &stats.max),
            p50: cell(|stats| &stats.p50),
            p95: cell(|stats| &stats.p95),
        }
    }
}
