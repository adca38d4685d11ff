//! Groups whose rows come in turn, with breaks: summed by runs, with the same result.

use std::sync::Arc;

use hadal_aggregate::{Groups, Partial, PartialBody};
use hadal_block::{BlockBuilder, BlockView};
use hadal_query::{ColumnRef, Expr, Measure, Query, QueryKind, RowExpr, RowInput, StateKind};
use hadal_types::{ColumnName, Kind, Logical, Micros, Number, TableName, TimeRange, Value, Weight};
use proptest::prelude::*;

use super::Scan;

fn column(name: &str) -> RowExpr {
    let name = ColumnName::new(name).expect("a name");
    Expr::Leaf(RowInput::Column(ColumnRef { name, kind: Kind::Number, logical: Logical::Plain }))
}

/// Sum, minimum and maximum of `x`, and the sum of `y`, by `key`.
fn query(range: TimeRange) -> Query {
    let measure = |kind, name| Measure::new(kind, column(name));
    let measures = vec![
        measure(StateKind::Moments, "x"),
        measure(StateKind::MinMax, "x"),
        measure(StateKind::Moments, "y"),
        measure(StateKind::MinMax, "y"),
    ];
    let shape = QueryKind::Groups { keys: vec![column("key")], measures };
    Query { range, ..Query::new(TableName::new("t").expect("a name"), shape) }
}

/// A key, and a value that may be missing.
type Row = (i64, Option<i64>);

/// All rows have `x`, some have `y`; all have the `weight`, if there is one.
fn block(first: i64, rows: &[Row], weight: Option<i64>) -> Vec<u8> {
    let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
    for (time, (key, value)) in (first..).zip(rows) {
        let rate = weight.map(|weight| (Weight::COLUMN, weight));
        let y = value.map(|value| ("y", value));
        for (name, value) in [("key", *key), ("x", x(*key, time))].into_iter().chain(y).chain(rate)
        {
            let id = builder.column(&ColumnName::new(name).expect("a name"), Kind::Number);
            builder.push_number(id, Number::integer(value)).expect("taken");
        }
        builder.end_row(Micros(time));
    }
    builder.finish(Micros(0), None).expect("fits")
}

fn x(key: i64, time: i64) -> i64 {
    (key * 31 + time * 17) % 1_009 - 300
}

/// Keys that ascend within each part, and the values of their rows.
fn rows(parts: &[(i64, i64)], step: i64, seed: u64) -> Vec<Row> {
    let mut seed = seed;
    let keys = parts.iter().flat_map(|&(first, count)| first..first + count);
    let mut row = |key: i64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let value = i64::try_from(seed >> 40).expect("small");
        (key * step, (value % 9 > 0).then_some(value - 5_000))
    };
    keys.map(&mut row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn keys_in_turn_come_to_what_their_rows_do(
        blocks in prop::collection::vec(
            (prop::collection::vec((0i64..900, 1i64..900), 1..9), prop::option::of(1i64..3)), 1..4,
        ),
        step in 1i64..3, from in 0i64..2_000, seed in any::<u64>(),
    ) {
        let range = TimeRange { from: Some(Micros(from)), ..TimeRange::default() };
        let query = query(range);
        let scan = Scan::new(Arc::new(query.clone())).expect("a query");
        let mut partial = Partial::empty(&query);
        let mut plain = Groups::new(&query);
        let mut first = 0;
        for (parts, weight) in &blocks {
            let rows = rows(parts, step, seed);
            let bytes = block(first, &rows, *weight);
            let view = BlockView::parse(&bytes).expect("parses");
            scan.block(&view, &|_, column| column.verify(), &mut partial).expect("scans");
            for (time, (key, value)) in (first..).zip(&rows).filter(|(time, _)| *time >= from) {
                let (x, y) = (Value::integer(x(*key, time)), value.map_or(Value::Null, Value::integer));
                let values = [x.clone(), x, y.clone(), y];
                let weight = Weight::from_rate(Number::integer(weight.unwrap_or(1)));
                plain.add_row(&[Value::integer(*key)], &values, weight.expect("a weight"));
            }
            first += i64::try_from(rows.len()).expect("few");
        }
        let PartialBody::Groups(groups) = partial.body else { panic!("groups") };
        prop_assert_eq!(groups.into_sorted(), plain.into_sorted());
    }
}
