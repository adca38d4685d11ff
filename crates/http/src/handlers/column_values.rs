//! `/v1/tables/{table}/columns/{column}/values`: the most frequent values of a column.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use hadal_aggregate::SparseRow;
use hadal_frontend::{ColumnValues, ColumnValuesRequest, Principal, blocking};
use hadal_types::limits;
use serde::{Deserialize, Serialize};

use crate::json_value::JsonValue;
use crate::parameters::{listed, readable};
use crate::problem::Problem;
use crate::query_response::json;
use crate::state::AppState;

/// Which values are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// Only values whose text begins with this.
    prefix: Option<String>,
    limit: Option<usize>,
    /// Only rows in this time range, written as in queries.
    from: Option<String>,
    to: Option<String>,
}

/// `GET /v1/tables/{table}/columns/{column}/values`.
pub(crate) async fn values(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    names: Result<Path<(String, String)>, PathRejection>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Response, Problem> {
    let (Path((name, column)), Query(page)) = (readable(names)?, readable(page)?);
    let Page { prefix, limit, from, to } = page;
    let limit = listed(limit, limits::VALUES_LISTED_MAX)?;
    let request = ColumnValuesRequest { prefix, limit, from, to };
    let values = state.frontend.column_values(&principal, &name, &column, request).await?;
    let body = move || {
        let ColumnValues { rows, complete, reservation } = values;
        let values = rows.iter().map(Counted::new).collect();
        json(&ValuesPage { table: &name, column: &column, values, complete }, reservation)
    };
    Ok(blocking(body).await??)
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
    value: JsonValue<'a>,
    count: JsonValue<'a>,
    samples: JsonValue<'a>,
}

impl<'a> Counted<'a> {
    fn new(row: &'a SparseRow) -> Self {
        let cell = |at: usize| JsonValue(row.get(at));
        Self { value: cell(0), count: cell(1), samples: cell(2) }
    }
}
