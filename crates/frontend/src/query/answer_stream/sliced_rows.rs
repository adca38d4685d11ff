//! Fetches the rows of slices one after another, the next one while the client takes the last.

use std::sync::Arc;

use hadal_aggregate::{RowColumns, ValueColumn};
use hadal_query::{Expr, GroupInput, Output, Query, TimeOrder, Type};
use hadal_types::{Micros, TimeRange, Value, limits};
use tokio::task::JoinSet;

use crate::error::{ErrorKind, FrontendError};
use crate::frontend::Frontend;
use crate::principal::Principal;
use crate::query::answer_stream::time_slices::{CrowdedMoment, Slice, TimeSlices};
use crate::query::result::QueryResult;
use crate::query::run_columns;
use crate::query_runner::QueryRunner;

/// The rest of an answer. Dropping it cancels the query that is under way.
pub(super) struct SlicedRows {
    frontend: Arc<Frontend>,
    principal: Principal,
    /// The query of all rows, with the row's time as an additional last output.
    query: Query,
    slices: TimeSlices,
    /// The slice that is being fetched, and the task for it.
    slice: Option<Slice>,
    fetching: JoinSet<Result<Fetched, FrontendError>>,
}

/// All but the rows of a slice, and its rows.
type Fetched = (QueryResult, RowColumns);

impl SlicedRows {
    /// Begins to fetch the rows of `query`, which come in this order.
    pub(super) async fn new(
        frontend: &Arc<Frontend>,
        principal: &Principal,
        mut query: Query,
        order: TimeOrder,
    ) -> Self {
        let root = frontend.root();
        let current = root.table(query.table.as_str()).await.map(|table| table.schema);
        let schema = current.or_else(|| {
            root.known_table(query.table.as_str()).map(|table| Arc::clone(&table.schema))
        });
        let (times, rows) = schema.map_or((None, 0), |schema| (schema.time_range, schema.rows));
        let slices = TimeSlices::new(query.range, times, rows, query.limit, order.descending);
        query.outputs.push(Output {
            name: String::new(),
            value_type: Type::Time,
            expr: Expr::Leaf(GroupInput::Key(order.value)),
        });
        query.range = slices.whole();
        let fetching = JoinSet::new();
        let (frontend, principal) = (Arc::clone(frontend), principal.clone());
        let mut rows = Self { frontend, principal, query, slices, slice: None, fetching };
        rows.begin();
        rows
    }

    /// The time range of all slices.
    pub(super) fn range(&self) -> TimeRange {
        self.query.range
    }

    /// The runner of the queries.
    pub(super) fn runner(&self) -> QueryRunner {
        self.frontend.runner_of(&self.principal)
    }

    /// The query of all rows.
    pub(super) fn query(&self) -> &Query {
        &self.query
    }

    /// Rows that may still come.
    pub(super) fn rows_left(&self) -> u64 {
        self.slices.rows_left()
    }

    /// The result of the next slice, and its rows; `None` at the end. Their last column is the
    /// rows' time.
    pub(super) async fn next(&mut self) -> Result<Option<Fetched>, FrontendError> {
        let Some(slice) = self.slice.take() else { return Ok(None) };
        let (result, mut rows) = match self.fetching.join_next().await {
            Some(Ok(fetched)) => fetched?,
            Some(Err(error)) => return Err(failed(error)),
            None => return Ok(None),
        };
        let times = times_of(&rows, self.query.outputs.len() - 1);
        let kept = self.slices.advance(&slice, &times, result.stats.rows_matched);
        rows.truncate(kept.map_err(crowded)?);
        self.begin();
        Ok(Some((result, rows)))
    }

    /// Begins to fetch the next slice.
    fn begin(&mut self) {
        self.slice = self.slices.next();
        let Some(Slice { range, limit, .. }) = self.slice else { return };
        let query = Query { range, limit, ..self.query.clone() };
        let (frontend, principal) = (Arc::clone(&self.frontend), self.principal.clone());
        self.fetching.spawn(async move { run_columns(&frontend, &principal, query).await });
    }
}

/// The times in this column.
fn times_of(rows: &RowColumns, time_column: usize) -> Vec<Micros> {
    if let Some(ValueColumn::Times(times)) = rows.columns().get(time_column).map(|all| &**all)
        && times.valid().is_none()
    {
        return times.values().iter().copied().map(Micros).collect();
    }
    let time = |row| match rows.value(row, time_column) {
        Value::Time(time) => time,
        _ => Micros(0),
    };
    (0..rows.rows()).map(time).collect()
}

fn failed(error: tokio::task::JoinError) -> FrontendError {
    match error.try_into_panic() {
        Ok(panic) => FrontendError::of_panic(&*panic),
        Err(error) => FrontendError::internal("the server is stopping", &error),
    }
}

fn crowded(moment: CrowdedMoment) -> FrontendError {
    let most = limits::STREAMED_MOMENT_ROWS_MAX;
    let detail = format!("more than {most} rows have the time {}", moment.0);
    FrontendError::new(ErrorKind::Limit, detail)
        .hint("ask for the rows of this time with a narrower WHERE, each part by itself")
}
