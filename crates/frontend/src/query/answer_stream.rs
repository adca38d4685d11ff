//! Answers in batches of rows, for formats that are sent while they are made.
//!
//! Many raw rows in the order of time are fetched in slices of the time range
//! ([`time_slices`]), one after another, and at most one ahead of the client. Any other statement
//! is answered as usual: its rows are one batch.

mod number_survey;
mod sliced_rows;
mod time_slices;

use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::{RowColumns, WarningCode};
use hadal_query::{Query, Type};
use hadal_sql::{Note, Statement};
use hadal_tree::AskError;
use hadal_types::{MemoryReservation, Value, limits};
use tokio::time::timeout_at;

use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::principal::{Permission, Principal};
use crate::query::answer_stream::number_survey::surveyed_forms;
use crate::query::answer_stream::sliced_rows::SlicedRows;
use crate::query::column_form::ColumnForm;
use crate::query::number_class::NumberClass;
use crate::query::result::{QueryResult, QueryWarning};
use crate::query::{BoundRequest, QueryRequest, answer_bound, bind_request, end_query};
use crate::self_tables::entries::QueryLogEntry;
use crate::self_tables::guards::QueryLogGuard;

/// A column of an answer in batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerColumn {
    /// Its name; several columns may have the same.
    pub name: String,
    /// The type of its values.
    pub form: ColumnForm,
}

/// Some rows of an answer.
#[derive(Debug, Default)]
pub struct RowBatch {
    /// The rows; they have at least the answer's columns. Columns beyond these are no part of the
    /// answer.
    pub rows: RowColumns,
    /// Memory reserved for the rows.
    pub reservation: MemoryReservation,
}

/// An answer whose first batch of rows is there.
pub struct AnswerStream {
    frontend: Arc<Frontend>,
    /// The query's entry in `_queries`, until the answer ends. Dropped before, it is "cancelled".
    log: Option<QueryLogGuard>,
    start: Instant,
    begun: Begun,
    rows: u64,
}

/// The beginning of an answer.
struct Begun {
    columns: Vec<AnswerColumn>,
    first: Option<RowBatch>,
    rest: Option<SlicedRows>,
    /// All but the rows, of what is fetched so far.
    summary: QueryResult,
    /// Whether the LIMIT was lowered.
    is_limit_lowered: bool,
}

/// The code of the note that a LIMIT was lowered.
const LIMIT_LOWERED: &str = "limit_lowered";

impl Frontend {
    /// Begins to answer one statement in batches of rows, and notes the outcome in `_queries` when
    /// the answer ends. Each query for a slice has as long as the request from its start to its
    /// `until`; the time that the client takes does not count.
    ///
    /// # Errors
    /// As [`Frontend::execute`], for the first batch.
    pub async fn stream(
        self: &Arc<Self>,
        principal: &Principal,
        request: QueryRequest,
    ) -> Result<AnswerStream, FrontendError> {
        principal.require(Permission::Query)?;
        request.check()?;
        let start = request.start;
        let mut log = self.self_tables.begin_query(request.client.clone());
        let beginning = begin(self, principal, &request, &mut log.entry);
        let begun = timeout_at(request.until.into(), beginning).await;
        match begun.unwrap_or_else(|_| Err(FrontendError::from(&AskError::Late))) {
            Ok(begun) => {
                let (frontend, log) = (Arc::clone(self), Some(log));
                Ok(AnswerStream { frontend, log, start, begun, rows: 0 })
            }
            Err(error) => {
                let failed = Err(error);
                end_query(self, log, start, &failed);
                failed
            }
        }
    }
}

impl AnswerStream {
    /// The columns of all batches.
    #[must_use]
    pub fn columns(&self) -> &[AnswerColumn] {
        &self.begun.columns
    }

    /// Whether the summary is complete before the rows are fetched.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.begun.rest.is_none()
    }

    /// All but the rows: coverage, statistics and warnings of what was fetched so far. Of several
    /// queries, the coverage is the lowest.
    #[must_use]
    pub fn summary(&self) -> &QueryResult {
        &self.begun.summary
    }

    /// When the request arrived.
    #[must_use]
    pub fn start(&self) -> Instant {
        self.start
    }

    /// The number of rows in the first batch, if it was not returned yet.
    #[must_use]
    pub fn first_rows(&self) -> u64 {
        self.begun.first.as_ref().map_or(0, |first| first.rows.rows() as u64)
    }

    /// The rows that were returned so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether a limit of the server, not of the statement, ended the rows.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        match &self.begun.rest {
            Some(rest) => self.begun.is_limit_lowered && rest.rows_left() == 0,
            None => {
                let cut = WarningCode::LimitReached.name();
                self.begun.summary.warnings.iter().any(|warning| warning.code == cut)
            }
        }
    }

    /// The next rows; `None` at the end, which is noted as the outcome of the query.
    ///
    /// # Errors
    /// [`FrontendError`] when the rows cannot be fetched; the answer is then incomplete.
    pub async fn next(&mut self) -> Result<Option<RowBatch>, FrontendError> {
        let next = self.fetch().await;
        match &next {
            Ok(Some(batch)) => self.rows += batch.rows.rows() as u64,
            Ok(None) | Err(_) => self.end(&next),
        }
        next
    }

    /// Ends an answer that cannot be sent.
    pub fn fail(&mut self, error: FrontendError) {
        self.end::<()>(&Err(error));
    }

    async fn fetch(&mut self) -> Result<Option<RowBatch>, FrontendError> {
        if let Some(first) = self.begun.first.take() {
            return Ok(Some(first));
        }
        let Some(rest) = &mut self.begun.rest else { return Ok(None) };
        let Some((mut result, rows)) = rest.next().await? else { return Ok(None) };
        let batch = RowBatch { rows, reservation: std::mem::take(&mut result.reservation) };
        add(&mut self.begun.summary, result);
        Ok(Some(batch))
    }

    fn end<T>(&mut self, outcome: &Result<T, FrontendError>) {
        if let Some(mut log) = self.log.take() {
            let summary = &self.begun.summary;
            let rows = usize::try_from(self.rows).unwrap_or(usize::MAX);
            log.entry.set_result(rows, summary.stats, &summary.coverage);
            end_query(&self.frontend, log, self.start, outcome);
        }
    }
}

/// Binds the statement and fetches its first rows.
async fn begin(
    frontend: &Arc<Frontend>,
    principal: &Principal,
    request: &QueryRequest,
    entry: &mut QueryLogEntry,
) -> Result<Begun, FrontendError> {
    let BoundRequest { statement, sql, limit } = bind_request(frontend, request, entry).await?;
    let asked = limit.filter(|limit| *limit > limits::LIMIT_DEFAULT);
    match (statement, asked) {
        (Statement::Query { query, notes }, Some(limit)) if query.time_order().is_some() => {
            begin_slices(frontend, principal, request, *query, (notes, limit)).await
        }
        (statement, _) => {
            let mut result = answer_bound(frontend, principal, request, statement).await?;
            let first = take_rows(&mut result);
            let columns = columns_of(&result, &first.rows, result.columns.len());
            let first = Some(first);
            let summary = QueryResult { sql, ..result };
            Ok(Begun { columns, first, rest: None, summary, is_limit_lowered: false })
        }
    }
}

/// Fetches the first slice of a query for `limit` rows in the order of time.
async fn begin_slices(
    frontend: &Arc<Frontend>,
    principal: &Principal,
    request: &QueryRequest,
    mut query: Query,
    (mut notes, limit): (Vec<Note>, u64),
) -> Result<Begun, FrontendError> {
    let most = limits::STREAMED_ROWS_MAX;
    query.limit = limit.min(most);
    query.require_complete |= request.require_complete;
    query.deadline = request.until.saturating_duration_since(request.start);
    notes.retain(|note| note.code != LIMIT_LOWERED);
    if limit > most {
        let message = format!("LIMIT {limit} is lowered to {most}, the most that is allowed");
        notes.push(Note { code: LIMIT_LOWERED, message });
    }
    let Some(order) = query.time_order() else {
        return Err(FrontendError::internal(
            "an answer cannot be sliced",
            &"rows in another order",
        ));
    };
    let count = query.outputs.len();
    let mut rest = SlicedRows::new(frontend, principal, query, order).await;
    let (mut result, rows) = rest.next().await?.unwrap_or_default();
    let mut columns = columns_of(&result, &rows, count);
    settle_numbers(&mut columns, &result.numbers, &rest).await?;
    let first = Some(RowBatch { rows, reservation: std::mem::take(&mut result.reservation) });
    let mut warnings: Vec<QueryWarning> = notes.into_iter().map(QueryWarning::from).collect();
    warnings.append(&mut result.warnings);
    let summary = QueryResult { warnings, time: Some(rest.range()), ..result };
    Ok(Begun { columns, first, rest: Some(rest), summary, is_limit_lowered: limit > most })
}

/// The first `count` columns of a result, with the forms of the values of these rows.
fn columns_of(result: &QueryResult, rows: &RowColumns, count: usize) -> Vec<AnswerColumn> {
    let column = |(index, (name, value_type)): (usize, &(String, Type))| {
        let class = result.numbers.get(index).copied().unwrap_or_default();
        let values: Vec<Value> = match (value_type, rows.columns().get(index)) {
            (Type::Number, Some(column)) => (0..rows.rows()).map(|row| column.value(row)).collect(),
            _ => Vec::new(),
        };
        let form = ColumnForm::of_values(*value_type, class, values.iter());
        AnswerColumn { name: name.clone(), form }
    };
    result.columns.iter().take(count).enumerate().map(column).collect()
}

/// Chooses the forms of numbers for all slices: those of the first one prove nothing about the
/// others, except that not all numbers are whole.
async fn settle_numbers(
    columns: &mut [AnswerColumn],
    classes: &[NumberClass],
    rest: &SlicedRows,
) -> Result<(), FrontendError> {
    let mut unsettled = Vec::new();
    for (index, column) in columns.iter_mut().enumerate() {
        let is_whole = matches!(column.form, ColumnForm::Whole | ColumnForm::Decimal { scale: 0 });
        if is_whole && classes.get(index) != Some(&NumberClass::Whole) {
            unsettled.push(index);
        } else if matches!(column.form, ColumnForm::Decimal { .. }) {
            column.form = ColumnForm::Double;
        }
    }
    let forms = surveyed_forms(&rest.runner(), rest.query(), &unsettled).await?;
    for (index, form) in unsettled.into_iter().zip(forms) {
        columns[index].form = form;
    }
    Ok(())
}

fn take_rows(result: &mut QueryResult) -> RowBatch {
    let rows = std::mem::take(&mut result.rows);
    RowBatch {
        rows: RowColumns::of_rows(&rows, result.columns.len()),
        reservation: std::mem::take(&mut result.reservation),
    }
}

/// Adds the result of a further slice: the lowest coverage, and every warning once.
fn add(summary: &mut QueryResult, slice: QueryResult) {
    summary.stats.merge(slice.stats);
    let (before, now) = (&summary.coverage, &slice.coverage);
    let losses = before.unknown_losses.max(now.unknown_losses);
    if now.fraction() < before.fraction() {
        summary.coverage = slice.coverage;
    }
    summary.coverage.unknown_losses = losses;
    for warning in slice.warnings {
        let is_same = |other: &&mut QueryWarning| {
            (other.code, &other.subject) == (warning.code, &warning.subject)
        };
        match summary.warnings.iter_mut().find(is_same) {
            Some(other) if other.count < warning.count => *other = warning,
            Some(_) => {}
            None => summary.warnings.push(warning),
        }
    }
}

#[cfg(test)]
mod tests {
    use hadal_aggregate::Coverage;

    use super::*;

    #[test]
    fn the_summary_of_slices_has_the_lowest_coverage_and_each_warning_once() {
        let slice = |rows_scanned, count| QueryResult {
            coverage: Coverage { rows_expected: 10, rows_scanned, ..Coverage::default() },
            warnings: vec![QueryWarning::new("w", "x", count, format!("{count} times"))],
            ..QueryResult::default()
        };
        let mut summary = slice(9, 1);
        add(&mut summary, slice(4, 3));
        add(&mut summary, slice(10, 2));
        assert_eq!(summary.coverage.rows_scanned, 4);
        assert_eq!(summary.warnings, slice(0, 3).warnings);
    }
}
