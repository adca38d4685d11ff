//! Queries for the tests of this crate.

use std::time::Duration;

use hadal_query::{
    AggregateFunction, ColumnRef, Expr, Function, GroupInput, Measure, OrderKey, Output,
    OutputExpr, Query, QueryKind, RowExpr, RowInput, StateKind, Type,
};
use hadal_types::{ColumnName, Kind, Logical, Micros, TableName, TimeRange, Value};

/// The value of `now()` in these queries.
pub(crate) const NOW: Micros = Micros(1_000 * Micros::SECOND);

/// The state kinds of [`groups_query`].
pub(crate) const KINDS: [StateKind; 10] = [
    StateKind::Moments,
    StateKind::MinMax,
    StateKind::Quantiles,
    StateKind::Distinct,
    StateKind::Histogram(10),
    StateKind::Variance,
    StateKind::Covariance,
    StateKind::ArgMinMax,
    StateKind::TopValues,
    StateKind::LogHistogram(10),
];

/// A query of this kind with these outputs: all rows up to `NOW`, no limit.
pub(crate) fn query(shape: QueryKind, outputs: Vec<OutputExpr>) -> Query {
    let output =
        |(index, expr)| Output { name: format!("column{index}"), value_type: Type::Number, expr };
    Query {
        range: TimeRange { from: Some(Micros(0)), to: Some(NOW) },
        outputs: outputs.into_iter().enumerate().map(output).collect(),
        limit: u64::MAX,
        now: NOW,
        deadline: Duration::from_secs(1),
        ..Query::new(TableName::new("requests").expect("a name"), shape)
    }
}

/// A query for raw rows of `values` columns.
pub(crate) fn rows_query(values: usize, order: Vec<OrderKey>, limit: u64) -> Query {
    let shape = QueryKind::Rows { values: (0..values).map(column).collect() };
    let outputs = (0..values).map(|index| Expr::Leaf(GroupInput::Key(index))).collect();
    Query { order, limit, ..query(shape, outputs) }
}

/// A query for groups by these keys, with one measure of each kind, of the same column.
pub(crate) fn groups_query(keys: Vec<RowExpr>, outputs: Vec<OutputExpr>) -> Query {
    let measures = KINDS
        .map(|kind| Measure {
            second: kind.is_of_pairs().then(|| column(9)),
            ..Measure::new(kind, column(9))
        })
        .to_vec();
    query(QueryKind::Groups { keys, measures }, outputs)
}

/// An aggregate of the measure that [`groups_query`] has for it.
pub(crate) fn aggregate(finish: AggregateFunction) -> OutputExpr {
    let index = KINDS.iter().position(|kind| *kind == finish.state());
    Expr::Leaf(GroupInput::Measure(index.expect("a measure"), finish))
}

/// A number column.
pub(crate) fn column(index: usize) -> RowExpr {
    let name = ColumnName::new(&format!("value{index}")).expect("a name");
    Expr::Leaf(RowInput::Column(ColumnRef { name, kind: Kind::Number, logical: Logical::Plain }))
}

/// The row's time in buckets of `seconds`.
pub(crate) fn time_bucket(seconds: i64) -> RowExpr {
    let width = Expr::Literal(Value::integer(seconds * Micros::SECOND));
    Expr::call(Function::TimeBucket, vec![Expr::Leaf(RowInput::Time), width])
}
