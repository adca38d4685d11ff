//! Queries for the tests of this crate.

use std::time::Duration;

use hadal_query::{
    ColumnRef, Expr, Finish, Function, Input, Measure, OrderKey, Output, OutputExpr, Query,
    RowExpr, Shape, Slot, StateKind, Type,
};
use hadal_types::{ColumnName, Kind, Logical, Micros, TableName, TimeRange, Value, Weight};

use crate::groups::Groups;
use crate::tally::Tally;

/// What `now()` means in these queries.
pub(crate) const NOW: Micros = Micros(1_000 * Micros::SECOND);

/// What is kept by [`groups_query`].
pub(crate) const KINDS: [StateKind; 5] = [
    StateKind::Moments,
    StateKind::Extremes,
    StateKind::Quantiles,
    StateKind::Distinct,
    StateKind::Histogram(10),
];

/// A query for this shape, with these outputs, over all time and without any limit.
pub(crate) fn query(shape: Shape, outputs: Vec<OutputExpr>) -> Query {
    let output =
        |(index, expr)| Output { name: format!("column{index}"), value_type: Type::Number, expr };
    Query {
        table: TableName::new("requests").expect("a name"),
        range: TimeRange { from: Some(Micros(0)), to: Some(NOW) },
        filter: None,
        shape,
        outputs: outputs.into_iter().enumerate().map(output).collect(),
        having: None,
        order: Vec::new(),
        series: None,
        limit: u64::MAX,
        offset: 0,
        now: NOW,
        deadline: Duration::from_secs(1),
        require_complete: false,
    }
}

/// A query for raw rows of so many values, as they are.
pub(crate) fn rows_query(values: usize, order: Vec<OrderKey>, limit: u64) -> Query {
    let shape = Shape::Rows { values: (0..values).map(column).collect() };
    let outputs = (0..values).map(|index| Expr::Leaf(Slot::Key(index))).collect();
    Query { order, limit, ..query(shape, outputs) }
}

/// A query for groups by these keys, with one measure of each kind, of the same column.
pub(crate) fn groups_query(keys: Vec<RowExpr>, outputs: Vec<OutputExpr>) -> Query {
    let measures = KINDS.map(|kind| Measure { kind, argument: column(9) }).to_vec();
    query(Shape::Groups { keys, measures }, outputs)
}

/// The aggregate, of the measure that [`groups_query`] has for it.
pub(crate) fn aggregate(finish: Finish) -> OutputExpr {
    let index = KINDS.iter().position(|kind| *kind == finish.state());
    Expr::Leaf(Slot::Measure(index.expect("a measure"), finish))
}

/// A number column.
pub(crate) fn column(index: usize) -> RowExpr {
    let name = ColumnName::new(&format!("value{index}")).expect("a name");
    Expr::Leaf(Input::Column(ColumnRef { name, kind: Kind::Number, logical: Logical::Plain }))
}

/// The row's time, in buckets of so many seconds.
pub(crate) fn time_bucket(seconds: i64) -> RowExpr {
    let width = Expr::Literal(Value::integer(seconds * Micros::SECOND));
    Expr::call(Function::TimeBucket, vec![Expr::Leaf(Input::Time), width])
}

/// Adds a row with this value for all measures to the group of this key.
pub(crate) fn add_row(groups: &mut Groups, key: &[Value], value: &Value, weight: Weight) {
    let _ = groups.make_room();
    let numbers = groups.numbers_for(key);
    let Some(place) = groups.place(&numbers) else { return groups.drop_rows(1) };
    let mut tally = Tally::default();
    tally.add_row(weight);
    groups.add_tally(place, tally);
    for measure in 0..groups.measure_count() {
        groups.states_mut(measure)[place as usize].add(value, weight);
    }
}
