//! Statistics of columns: distinct values, extremes, percentiles, the most frequent values.
//!
//! Statistics come from ordinary queries: one query covers many columns, and one more query per
//! column finds its frequent values.

pub(crate) mod cache;

use std::time::{Duration, Instant};

use hadal_aggregate::{Coverage, ResultSet, ScanStats, SparseRow};
use hadal_query::{
    AggregateFunction, ColumnRef, Expr, Function, GroupInput, Measure, OrderKey, Output,
    OutputExpr, PatternSyntax, Query, QueryKind, RowExpr, RowInput, StateKind, Type,
};
use hadal_types::{ColumnSchema, Logical, Micros, TableName, TableSchema, TimeRange, Value};

use crate::column_type::{reference, type_of};
use crate::error::FrontendError;
use crate::query_runner::QueryRunner;

/// Columns per query.
pub(crate) const COLUMNS_AT_ONCE: usize = 50;

/// The statistics of one column; null if a figure makes no sense for the column's type.
#[derive(Clone, Debug)]
pub struct ColumnStats {
    /// The number of distinct values, approximately.
    pub distinct: Value,
    /// The smallest value.
    pub min: Value,
    /// The largest value.
    pub max: Value,
    /// The median.
    pub p50: Value,
    /// The 95th percentile.
    pub p95: Value,
}

/// Statistics, and how many rows they are based on.
pub(crate) struct Computed<T> {
    pub(crate) value: T,
    pub(crate) coverage: Coverage,
    pub(crate) stats: ScanStats,
}

/// Queries over one table that share a deadline and the value of `now()`.
pub(crate) struct StatsQueries {
    runner: QueryRunner,
    table: TableName,
    now: Micros,
    until: Instant,
}

impl StatsQueries {
    /// Queries over `schema`'s table, all of which must end within `deadline`.
    pub(crate) fn new(runner: QueryRunner, schema: &TableSchema, deadline: Duration) -> Self {
        Self {
            table: schema.name.clone(),
            now: runner.now(),
            runner,
            until: Instant::now() + deadline,
        }
    }

    /// The statistics of each column, in the order of `columns`.
    pub(crate) async fn stats(
        &self,
        columns: &[&ColumnSchema],
    ) -> Result<Computed<Vec<ColumnStats>>, FrontendError> {
        let mut all = Computed {
            value: Vec::with_capacity(columns.len()),
            coverage: Coverage::default(),
            stats: ScanStats::default(),
        };
        for columns in columns.chunks(COLUMNS_AT_ONCE) {
            let mut measures = Measures::default();
            let slots: Vec<StatsSlots> =
                columns.iter().map(|column| measures.of_column(column)).collect();
            let answer = self.ask(measures.query()).await?;
            all.stats.merge(answer.stats);
            all.coverage = answer.coverage;
            let row = answer.rows.into_iter().next().unwrap_or_default();
            all.value.extend(slots.iter().map(|slots| slots.read(&row)));
        }
        Ok(all)
    }

    /// The most frequent values of a column in `range`, most frequent first: value, weighted count,
    /// rows. With a prefix, only values that begin with it; letter case does not matter.
    pub(crate) async fn top(
        &self,
        column: &ColumnSchema,
        prefix: Option<&str>,
        range: TimeRange,
        limit: u64,
    ) -> Result<ResultSet, FrontendError> {
        let Some(part) = column.main_part() else {
            return self.ask(Measures::default().query()).await;
        };
        let value = RowExpr::Leaf(RowInput::Column(reference(column, part)));
        let is_null = RowExpr::call(Function::IsNull, [value.clone()]);
        let mut conditions = vec![RowExpr::call(Function::Not, [is_null])];
        conditions.extend(prefix.map(|prefix| begins_with(value.clone(), prefix)));
        let output = |name: &str, value_type, slot| Output {
            name: name.to_owned(),
            value_type,
            expr: OutputExpr::Leaf(slot),
        };
        let order = |slot, descending| OrderKey {
            expr: OutputExpr::Leaf(slot),
            descending,
            nulls_first: false,
        };
        self.ask(StatsQuery {
            range,
            filter: Some(RowExpr::call(Function::And, conditions)),
            kind: QueryKind::Groups { keys: vec![value], measures: Vec::new() },
            outputs: vec![
                output("value", type_of(column), GroupInput::Key(0)),
                output("count", Type::Number, GroupInput::Count),
                output("samples", Type::Number, GroupInput::RawCount),
            ],
            order: vec![order(GroupInput::Count, true), order(GroupInput::Key(0), false)],
            limit,
        })
        .await
    }

    /// The number of scanned rows in `range`.
    pub(crate) async fn rows(&self, range: TimeRange) -> Result<u64, FrontendError> {
        let query = StatsQuery { range, ..Measures::default().query() };
        Ok(self.ask(query).await?.stats.rows_matched)
    }

    async fn ask(&self, query: StatsQuery) -> Result<ResultSet, FrontendError> {
        let StatsQuery { range, filter, kind, outputs, order, limit } = query;
        let query = Query {
            range,
            filter,
            outputs,
            order,
            limit,
            now: self.now,
            deadline: self.until.saturating_duration_since(Instant::now()),
            ..Query::new(self.table.clone(), kind)
        };
        self.runner.run(query).await
    }
}

/// The parts in which queries for statistics differ.
struct StatsQuery {
    range: TimeRange,
    filter: Option<RowExpr>,
    kind: QueryKind,
    outputs: Vec<Output>,
    order: Vec<OrderKey>,
    limit: u64,
}

fn begins_with(value: RowExpr, prefix: &str) -> RowExpr {
    let mut pattern = String::with_capacity(prefix.len() + 1);
    for character in prefix.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    let is_text = matches!(
        &value,
        Expr::Leaf(RowInput::Column(ColumnRef { kind: hadal_types::Kind::String, .. }))
    );
    let text = if is_text { value } else { RowExpr::call(Function::ToText, [value]) };
    let pattern = RowExpr::Literal(Value::string(&pattern));
    RowExpr::call(Function::Matches(PatternSyntax::ILike), [text, pattern])
}

/// The measures of one query, and the outputs that finish them.
#[derive(Default)]
struct Measures {
    measures: Vec<Measure>,
    outputs: Vec<Output>,
}

/// The positions of a column's statistics in the row of the result.
#[derive(Default)]
struct StatsSlots {
    distinct: Option<usize>,
    min: Option<usize>,
    max: Option<usize>,
    p50: Option<usize>,
    p95: Option<usize>,
}

impl Measures {
    fn of_column(&mut self, column: &ColumnSchema) -> StatsSlots {
        let Some(part) = column.main_part() else { return StatsSlots::default() };
        let column = reference(column, part);
        let value_type = column.value_type();
        let is_list = matches!(value_type, Type::Set | Type::Vector);
        let is_number = value_type == Type::Number && part.logical == Logical::Plain;
        let mut finish = |finishes: &[AggregateFunction], value_type| {
            let kind = finishes.first().map(|finish| finish.state())?;
            Some(self.add(&column, kind, finishes, value_type))
        };
        let distinct = finish(&[AggregateFunction::Distinct], Type::Number);
        let extremes = match is_list {
            true => None,
            false => finish(&[AggregateFunction::Min, AggregateFunction::Max], value_type),
        };
        let percentiles = match is_number {
            true => finish(
                &[
                    AggregateFunction::QuantileCont(500_000),
                    AggregateFunction::QuantileCont(950_000),
                ],
                Type::Number,
            ),
            false => None,
        };
        StatsSlots {
            distinct,
            min: extremes,
            max: extremes.map(|at| at + 1),
            p50: percentiles,
            p95: percentiles.map(|at| at + 1),
        }
    }

    /// Adds an aggregate state and its outputs; returns the position of the first output.
    fn add(
        &mut self,
        column: &ColumnRef,
        kind: StateKind,
        finishes: &[AggregateFunction],
        value_type: Type,
    ) -> usize {
        let (measure, first) = (self.measures.len(), self.outputs.len());
        let argument = RowExpr::Leaf(RowInput::Column(column.clone()));
        self.measures.push(Measure::new(kind, argument));
        self.outputs.extend(finishes.iter().map(|finish| Output {
            name: column.name.to_string(),
            value_type,
            expr: OutputExpr::Leaf(GroupInput::Measure(measure, *finish)),
        }));
        first
    }

    fn query(self) -> StatsQuery {
        StatsQuery {
            range: TimeRange::ALL,
            filter: None,
            kind: QueryKind::Groups { keys: Vec::new(), measures: self.measures },
            outputs: self.outputs,
            order: Vec::new(),
            limit: 1,
        }
    }
}

impl StatsSlots {
    fn read(&self, row: &SparseRow) -> ColumnStats {
        let value = |at: Option<usize>| at.map_or(Value::Null, |at| row[at].clone());
        ColumnStats {
            distinct: value(self.distinct),
            min: value(self.min),
            max: value(self.max),
            p50: value(self.p50),
            p95: value(self.p95),
        }
    }
}
