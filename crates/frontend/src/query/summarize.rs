//! SUMMARIZE: one row per column with statistics of its values.

use std::time::Duration;

use hadal_aggregate::SparseRow;
use hadal_query::Type;
use hadal_types::{ColumnSchema, Number, TableSchema, TimeRange, Value, limits};

use crate::column_stats::{ColumnStats, StatsQueries};
use crate::column_type::{rows_of, type_of};
use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::principal::Principal;
use crate::query::describe::{count, named};
use crate::query::result::{QueryResult, QueryWarning};

/// Frequent values that are listed per column.
const TOP_VALUES: u64 = 5;

/// The columns of the answer.
pub(crate) const SUMMARIZE_COLUMNS: [(&str, Type); 10] = [
    ("column", Type::String),
    ("type", Type::String),
    ("rows", Type::Number),
    ("nulls", Type::Number),
    ("distinct", Type::Number),
    ("min", Type::String),
    ("max", Type::String),
    ("p50", Type::Number),
    ("p95", Type::Number),
    ("top", Type::Vector),
];

/// Summarizes the table's first [`limits::SUMMARY_COLUMNS_MAX`] columns.
///
/// Extremes are texts, since columns differ in type. Frequent values are listed for columns of up
/// to [`limits::DISTINCT_EXACT_VALUES`] values, as `value (count)`.
pub(crate) async fn summarize(
    frontend: &Frontend,
    principal: &Principal,
    schema: &TableSchema,
    deadline: Duration,
) -> Result<QueryResult, FrontendError> {
    let queries = StatsQueries::new(frontend.runner_of(principal), schema, deadline);
    let columns: Vec<&ColumnSchema> =
        schema.columns.iter().take(limits::SUMMARY_COLUMNS_MAX).collect();
    let mut computed = queries.stats(&columns).await?;
    let mut rows = Vec::with_capacity(columns.len());
    for (column, stats) in columns.iter().zip(&computed.value) {
        let top = match has_frequent_values(column, stats) {
            true => {
                let answer = queries.top(column, None, TimeRange::ALL, TOP_VALUES).await?;
                computed.stats.merge(answer.stats);
                Value::vector(answer.rows.iter().map(frequent))
            }
            false => Value::Null,
        };
        rows.push(row(schema, column, stats, top));
    }
    let mut warnings = Vec::new();
    let left_out = schema.columns.len() - columns.len();
    if left_out > 0 {
        let message = format!("{left_out} more columns are left out; DESCRIBE lists all");
        let subject = schema.name.as_str();
        warnings.push(QueryWarning::new("columns_left_out", subject, left_out as u64, message));
    }
    Ok(QueryResult {
        columns: named(&SUMMARIZE_COLUMNS),
        rows,
        coverage: computed.coverage,
        stats: computed.stats,
        warnings,
        ..QueryResult::default()
    })
}

fn row(schema: &TableSchema, column: &ColumnSchema, stats: &ColumnStats, top: Value) -> SparseRow {
    let rows = rows_of(column);
    SparseRow::from(vec![
        Value::string(column.name.as_str()),
        Value::string(type_of(column).name()),
        count(rows),
        count(schema.rows.saturating_sub(rows)),
        stats.distinct.clone(),
        text(&stats.min),
        text(&stats.max),
        stats.p50.clone(),
        stats.p95.clone(),
        top,
    ])
}

fn text(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        value => Value::string(&value.to_string()),
    }
}

fn has_frequent_values(column: &ColumnSchema, stats: &ColumnStats) -> bool {
    let max = Value::integer(i64::try_from(limits::DISTINCT_EXACT_VALUES).unwrap_or(i64::MAX));
    let one = Value::Number(Number::integer(1));
    type_of(column) != Type::Time && (one..=max).contains(&stats.distinct)
}

fn frequent(row: &SparseRow) -> String {
    format!("{} ({})", row[0], row[1])
}
