//! Rows of all weights, against adding them one by one.

use std::sync::Arc;
use std::time::Duration;

use hadal_aggregate::{Partial, PartialBody, SparseRow, finish};
use hadal_block::{BlockBuilder, BlockView};
use hadal_query::{
    AggregateFunction, ColumnRef, Expr, GroupInput, Measure, Output, Query, QueryKind, RowExpr,
    RowInput, StateKind, Type,
};
use hadal_types::{ColumnName, Kind, Logical, Micros, TableName, TimeRange, Value, Weight};

use crate::Scan;

const ROWS: usize = 3_000;

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

fn number(text: &str) -> Value {
    Value::Number(text.parse().expect("a number"))
}

/// A block of a time, `v` and `sample_rate`; row i has time i.
fn block(values: &[Value], rates: &[Value]) -> Vec<u8> {
    let mut builder = BlockBuilder::new(name("time"));
    for (time, (value, rate)) in (0..).zip(values.iter().zip(rates)) {
        for (column, cell) in [("v", value), (Weight::COLUMN, rate)] {
            if let Value::Number(number) = cell {
                let id = builder.column(&name(column), Kind::Number);
                builder.push_number(id, *number).expect("taken");
            }
        }
        builder.end_row(Micros(time));
    }
    builder.finish(Micros(0), None).expect("fits")
}

/// Each row's element of a list, in an order without runs.
fn mixed(list: &[&str]) -> Vec<Value> {
    let element = |row: usize| list[row * row % 1_009 % list.len()];
    let cell = |text| if text == "null" { Value::Null } else { number(text) };
    (0..ROWS).map(|row| cell(element(row))).collect()
}

fn rates() -> Vec<Vec<Value>> {
    let many: Vec<String> = (1..60).map(|rate| (rate * rate * 7).to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    vec![
        mixed(&["1", "10", "100", "1000"]),
        mixed(&["1", "2", "3"]),
        mixed(&["10"]),
        mixed(&["null"]),
        mixed(&["null", "20"]),
        mixed(&["1", "null", "1000", "70000"]),
        mixed(&["0.5", "2.5", "1"]),
        mixed(&["1.000001", "3", "90000000"]),
        mixed(&["1", "1e9", "1e12"]),
        mixed(&["-1", "0", "7", "1e300"]),
        mixed(&many[..20]),
        mixed(&many),
        (0..ROWS).map(|row| Value::integer(if row < 1_500 { 5 } else { 50 })).collect(),
    ]
}

fn whole(number: usize) -> i64 {
    i64::try_from(number).expect("small")
}

fn columns() -> Vec<Vec<Value>> {
    let squares = |row: usize| Value::integer(whole(row * row % 1_009) - 300);
    vec![
        (0..ROWS).map(squares).collect(),
        (0..ROWS).map(|row| if row % 3 == 0 { Value::Null } else { squares(row) }).collect(),
        (0..ROWS).map(|row| if row % 40 == 0 { squares(row) } else { Value::Null }).collect(),
        mixed(&["0.5", "-1.25", "7"]),
        mixed(&["4000000000", "1", "-4000000000"]),
        mixed(&["9223372036854775807", "-9223372036854775808"]),
        mixed(&["9223372036854775807", "9223372036854775806"]),
        mixed(&["1e200", "-1.5e199", "2"]),
        mixed(&["12"]),
        (0..ROWS).map(|row| Value::integer(whole(row) * 1_000)).collect(),
    ]
}

fn weight(rate: &Value) -> Weight {
    match rate {
        Value::Number(rate) => Weight::from_rate(*rate).unwrap_or(Weight::ONE),
        _ => Weight::ONE,
    }
}

/// Counts, sum, average and extremes.
fn outputs() -> Vec<Output> {
    let of_moments = [
        AggregateFunction::Count,
        AggregateFunction::RawCount,
        AggregateFunction::Sum,
        AggregateFunction::Avg,
    ];
    let of_ends = [AggregateFunction::Min, AggregateFunction::Max];
    let measured = of_moments.map(|function| GroupInput::Measure(0, function)).into_iter();
    let measured = measured.chain(of_ends.map(|function| GroupInput::Measure(1, function)));
    let output =
        |input| Output { name: String::new(), value_type: Type::Number, expr: Expr::Leaf(input) };
    measured.chain([GroupInput::Count, GroupInput::RawCount]).map(output).collect()
}

fn answer(partial: Partial, query: &Query) -> Vec<SparseRow> {
    finish(partial, query, &|| false).expect("an answer").rows
}

#[test]
fn rows_count_as_many_times_as_their_rates_say() {
    let v = ColumnRef { name: name("v"), kind: Kind::Number, logical: Logical::Plain };
    let v: RowExpr = Expr::Leaf(RowInput::Column(v));
    let kinds = [StateKind::Moments, StateKind::MinMax];
    let measures = kinds.map(|kind| Measure::new(kind, v.clone()));
    let shape = QueryKind::Groups { keys: Vec::new(), measures: measures.into() };
    let ranges = [
        TimeRange::ALL,
        TimeRange { from: Some(Micros(7)), to: Some(Micros(2_900)) },
        TimeRange { from: Some(Micros(2_047)), to: Some(Micros(2_050)) },
    ];
    for (which, rates) in rates().iter().enumerate() {
        for (column, values) in columns().iter().enumerate() {
            let bytes = block(values, rates);
            let view = BlockView::parse(&bytes).expect("parses");
            for range in ranges {
                let table = TableName::new("t").expect("a name");
                let query = Query {
                    range,
                    limit: 10,
                    deadline: Duration::ZERO,
                    outputs: outputs(),
                    ..Query::new(table, shape.clone())
                };
                let mut naive = Partial::empty(&query);
                let PartialBody::Groups(groups) = &mut naive.body else { panic!("groups") };
                for (time, (value, rate)) in (0..).zip(values.iter().zip(rates)) {
                    if range.contains(Micros(time)) {
                        groups.add_row(&[], &[value.clone(), value.clone()], weight(rate));
                    }
                }
                let expected = answer(naive, &query);
                let scan = || Scan::new(Arc::new(query.clone())).expect("a query");
                for scan in [scan(), scan().without_zone_answers()] {
                    let mut partial = Partial::empty(&query);
                    scan.block(&view, &|_, column| column.verify(), &mut partial).expect("scans");
                    let place = format!("rates {which}, column {column}, {range:?}");
                    assert_eq!(answer(partial, &query), expected, "{place}");
                }
            }
        }
    }
}
