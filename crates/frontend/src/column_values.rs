//! The most frequent values of a column, suggested to a person who types a value.
//!
//! A person who types does not wait. So the newest rows are scanned first, then eight times as many
//! rows, and so on, as long as the next step probably ends in time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_aggregate::{ResultSet, SparseRow};
use hadal_query::Type;
use hadal_types::{ColumnSchema, MemoryReservation, Micros, TableSchema, TimeRange, Value, limits};

use crate::column_stats::StatsQueries;
use crate::column_type::type_of;
use crate::error::{ErrorKind, FrontendError};
use crate::frontend::Frontend;
use crate::principal::Principal;
use crate::query::time_range;

/// Distinct lists whose members are counted.
const LISTS_MAX: u64 = 10_000;
/// Rows that the first step scans, approximately.
const ROWS_FIRST: u64 = 16_384;
/// Factor from the time range of one step to that of the next.
const STEP: i64 = 8;
/// How long all steps may take together.
const PATIENCE: Duration = Duration::from_millis(80);

/// Which values are wanted.
#[derive(Clone, Debug, Default)]
pub struct ColumnValuesRequest {
    /// The prefix of the values; letter case does not matter.
    pub prefix: Option<String>,
    /// The number of values.
    pub limit: usize,
    /// The start of the time range, as in queries.
    pub from: Option<String>,
    /// The end of the time range.
    pub to: Option<String>,
}

/// The most frequent values of a column, most frequent first.
#[derive(Debug)]
pub struct ColumnValues {
    /// Value, weighted count, stored rows.
    pub rows: Vec<SparseRow>,
    /// Whether all rows were scanned and all lists counted.
    pub complete: bool,
    /// Memory that is reserved for the rows.
    pub reservation: MemoryReservation,
}

impl Frontend {
    /// The most frequent values of a column, of as many of the newest rows as [`PATIENCE`] allows.
    ///
    /// For a set or vector these are its members. If the column has very many distinct lists, only
    /// the members of the most frequent lists are counted, and `complete` is false.
    ///
    /// # Errors
    /// [`FrontendError`] when the table or column does not exist, or the query fails.
    pub async fn column_values(
        self: &Arc<Self>,
        principal: &Principal,
        table: &str,
        column: &str,
        request: ColumnValuesRequest,
    ) -> Result<ColumnValues, FrontendError> {
        let ColumnValuesRequest { prefix, limit, from, to } = request;
        let status = self.table(table).await?;
        let schema = &status.schema;
        let column = schema.column(column).ok_or_else(|| {
            let detail = format!("table {table} has no column {column}");
            FrontendError::new(ErrorKind::UnknownColumn, detail)
        })?;
        let range = time_range(self, schema, from, to)?;
        let prefix = prefix.as_deref().filter(|prefix| !prefix.is_empty());
        let is_list = matches!(type_of(column), Type::Set | Type::Vector);
        let query = match is_list {
            true => ValuesQuery { column, prefix: None, limit: LISTS_MAX },
            false => ValuesQuery { column, prefix, limit: limit as u64 },
        };
        let (answer, whole) = newest_first(self, principal, schema, range, &query).await?;
        let complete = whole
            && answer.coverage.fraction() >= 1.0
            && (!is_list || (answer.rows.len() as u64) < LISTS_MAX);
        let rows = match is_list {
            true => members(&answer.rows, prefix, limit),
            false => answer.rows,
        };
        Ok(ColumnValues { rows, complete, reservation: answer.reservation })
    }
}

/// The query of each step.
struct ValuesQuery<'q> {
    column: &'q ColumnSchema,
    prefix: Option<&'q str>,
    limit: u64,
}

/// The result for as many of the newest rows as [`PATIENCE`] allows, and whether these are all.
async fn newest_first(
    frontend: &Frontend,
    principal: &Principal,
    schema: &TableSchema,
    range: TimeRange,
    query: &ValuesQuery<'_>,
) -> Result<(ResultSet, bool), FrontendError> {
    let start = Instant::now();
    let queries = StatsQueries::new(
        frontend.runner_of(principal),
        schema,
        Duration::from_millis(limits::QUERY_DEADLINE_MS),
    );
    let Some(span) = Span::new(schema, range) else {
        let answer = queries.top(query.column, query.prefix, range, query.limit).await?;
        return Ok((answer, true));
    };
    let mut width = span.first_width();
    loop {
        let step_start = Instant::now();
        let part = span.newest(width).unwrap_or(range);
        let answer = queries.top(query.column, query.prefix, part, query.limit).await?;
        match span.next_width(width, step_start.elapsed(), start.elapsed()) {
            Some(next) => width = next,
            None => return Ok((answer, width >= span.width)),
        }
    }
}

/// The part of the requested time range in which the table has rows.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// The end, exclusive.
    to: Micros,
    /// Microseconds, at least one.
    width: i64,
    /// Rows in it, if rows are spread evenly.
    rows: u64,
}

impl Span {
    /// `None` when there are no rows in the range.
    fn new(schema: &TableSchema, range: TimeRange) -> Option<Self> {
        let (first, last) = schema.time_range?;
        let end = last.0.saturating_add(1);
        let from = range.from.map_or(first.0, |from| from.0.max(first.0));
        let to = range.to.map_or(end, |to| to.0.min(end));
        let (width, whole) = (to.saturating_sub(from), end.saturating_sub(first.0));
        if width <= 0 {
            return None;
        }
        let rows = i128::from(schema.rows) * i128::from(width) / i128::from(whole.max(1));
        Some(Self { to: Micros(to), width, rows: u64::try_from(rows).unwrap_or(u64::MAX) })
    }

    /// The time range of the first step.
    fn first_width(&self) -> i64 {
        let width = i128::from(self.width) * i128::from(ROWS_FIRST) / i128::from(self.rows.max(1));
        i64::try_from(width).unwrap_or(i64::MAX).clamp(1, self.width)
    }

    /// The last `width` microseconds; `None` when that is the whole span.
    fn newest(&self, width: i64) -> Option<TimeRange> {
        let from = (width < self.width).then(|| Micros(self.to.0.saturating_sub(width)))?;
        Some(TimeRange { from: Some(from), to: Some(self.to) })
    }

    /// Returns the width of the next step's time range, after a step over `width` that took
    /// `duration`; all steps so far took `spent`. Returns `None` when the span was scanned, or the
    /// next step would take too long.
    fn next_width(&self, width: i64, duration: Duration, spent: Duration) -> Option<i64> {
        let next = width.saturating_mul(STEP).min(self.width);
        let times = next as f64 / width as f64;
        let in_time = spent + duration.mul_f64(times) <= PATIENCE;
        (next > width && in_time).then_some(next)
    }
}

/// The members of lists, counted: from (list, count, rows) to (member, count, rows).
fn members(lists: &[SparseRow], prefix: Option<&str>, limit: usize) -> Vec<SparseRow> {
    let prefix = prefix.unwrap_or_default().to_lowercase();
    let mut counts: BTreeMap<Arc<str>, (Value, Value)> = BTreeMap::new();
    for list in lists {
        let (Value::Set(texts) | Value::Vector(texts)) = &list[0] else { continue };
        // A vector may have a member twice; its row counts once.
        let mut distinct_texts: Vec<&Arc<str>> = texts.iter().collect();
        distinct_texts.sort_unstable();
        distinct_texts.dedup();
        for text in
            distinct_texts.into_iter().filter(|text| text.to_lowercase().starts_with(&prefix))
        {
            let zero = || (Value::integer(0), Value::integer(0));
            let (count, sample_count) = counts.entry(Arc::clone(text)).or_insert_with(zero);
            *count = plus(count, &list[1]);
            *sample_count = plus(sample_count, &list[2]);
        }
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    // Stable, so that equals stay in the order of their names.
    sorted.sort_by(|left, right| right.1.0.cmp(&left.1.0));
    sorted.truncate(limit);
    let row = |(text, (count, rows))| SparseRow::from_iter([Value::String(text), count, rows]);
    sorted.into_iter().map(row).collect()
}

fn plus(left: &Value, right: &Value) -> Value {
    let sum = hadal_query::eval_scalar(hadal_query::Function::Add, &[left.clone(), right.clone()]);
    sum.unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_while_there_is_time() {
        let span = Span { to: Micros(1_000), width: 1_000, rows: 100 * ROWS_FIRST };
        assert_eq!(span.first_width(), 10);
        assert_eq!(Span { rows: 5, ..span }.first_width(), 1_000);
        let after = |width, duration, spent| {
            span.next_width(width, Duration::from_millis(duration), Duration::from_millis(spent))
        };
        assert_eq!(after(10, 5, 40), Some(80));
        assert_eq!(after(10, 5, 41), None, "it would take too long");
        assert_eq!(after(500, 20, 40), Some(1_000), "only twice as much is left");
        assert_eq!(after(1_000, 0, 0), None, "that was all");
        let newest = TimeRange { from: Some(Micros(920)), to: Some(Micros(1_000)) };
        assert_eq!(span.newest(80), Some(newest));
        assert_eq!(span.newest(1_000), None);
    }

    #[test]
    fn members_of_lists_are_counted() {
        let row = |list: Value, count: i64| {
            SparseRow::from_iter([list, Value::integer(count), Value::integer(1)])
        };
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
