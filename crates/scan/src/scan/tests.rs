//! What a scan reports beside its result: rows left out and blocks skipped.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use hadal_aggregate::{Partial, PartialBody, SparseRow, State, WarningCode};
use hadal_block::{BlockBuilder, BlockView, MergeOrder, merge};
use hadal_query::{
    ColumnRef, Expr, Function, GroupInput, Measure, OrderKey, Query, QueryKind, RowExpr, RowInput,
    StateKind,
};
use hadal_types::{
    ColumnName, Decimal, Kind, Logical, Micros, Number, TableName, TimeRange, Value, Weight,
};

use super::{BlockOrder, Scan};

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

/// A block of a time and `v`; row i has time i + `first`.
pub(super) fn block(first: i64, values: &[Value]) -> Vec<u8> {
    let mut builder = BlockBuilder::new(name("time"));
    for (time, value) in (first..).zip(values) {
        let kind = match value {
            Value::String(_) => Kind::String,
            Value::Set(_) => Kind::Set,
            Value::Vector(_) => Kind::Vector,
            _ => Kind::Number,
        };
        let id = builder.column(&name("v"), kind);
        match value {
            Value::Null => Ok(()),
            Value::Number(number) => builder.push_number(id, *number),
            Value::String(text) => builder.push_string(id, text),
            Value::Set(list) | Value::Vector(list) => {
                builder.push_list(id, &list.iter().map(AsRef::as_ref).collect::<Vec<_>>())
            }
            other => panic!("{other:?} is not stored"),
        }
        .expect("taken");
        builder.end_row(Micros(time));
    }
    builder.finish(Micros(0), None).expect("fits")
}

pub(super) fn v(kind: Kind) -> RowExpr {
    Expr::Leaf(RowInput::Column(ColumnRef { name: name("v"), kind, logical: Logical::Plain }))
}

pub(super) fn call(function: Function, arguments: impl Into<Vec<RowExpr>>) -> RowExpr {
    Expr::call(function, arguments)
}

pub(super) fn top_rows(values: impl Into<Vec<RowExpr>>, filter: Option<RowExpr>) -> Query {
    query(QueryKind::Rows { values: values.into() }, filter)
}

fn sum_of(argument: RowExpr, filter: Option<RowExpr>) -> Query {
    let measures = vec![Measure::new(StateKind::Moments, argument)];
    query(QueryKind::Groups { keys: Vec::new(), measures }, filter)
}

fn query(shape: QueryKind, filter: Option<RowExpr>) -> Query {
    Query {
        filter,
        limit: 1_000,
        deadline: Duration::ZERO,
        ..Query::new(TableName::new("t").expect("a name"), shape)
    }
}

pub(super) fn scanned(blocks: &[Vec<u8>], query: &Query) -> Partial {
    let scan = Scan::new(Arc::new(query.clone())).expect("a query");
    let mut partial = Partial::empty(query);
    for bytes in blocks {
        let view = BlockView::parse(bytes).expect("parses");
        scan.block(&view, &|_, column| column.verify(), &mut partial).expect("scans");
    }
    partial
}

/// The number of rows that a query reports as left out, the same for every split into blocks.
fn hidden_rows(rows: &[Value], query: &Query) -> u64 {
    let of_one: Vec<_> =
        (0i64..).zip(rows).map(|(time, value)| block(time, std::slice::from_ref(value))).collect();
    let views: Vec<_> =
        of_one.iter().map(|bytes| BlockView::parse(bytes).expect("parses")).collect();
    let merged = merge(&views, MergeOrder::Time, Micros(0)).expect("merges");
    let [apart, together] = [&of_one, &merged].map(|blocks| {
        let partial = scanned(blocks, query);
        let mut warnings = partial.warnings.iter();
        let count = warnings.next().map_or(0, |warning| {
            assert_eq!(
                (warning.code, warning.subject.as_str()),
                (WarningCode::OtherKindSkipped, "v")
            );
            warning.count
        });
        assert_eq!(warnings.next(), None);
        count
    });
    assert_eq!(apart, together, "by rows, merged");
    together
}

/// Three numbers, two strings, two sets, two vectors and a null.
fn rows_of_all_kinds() -> Vec<Value> {
    let mut rows: Vec<Value> = (1..=3).map(Value::integer).collect();
    rows.extend(["a", "b"].map(Value::string));
    rows.extend([Value::set(["x"]), Value::set(["y"])]);
    rows.extend([Value::vector(["x"]), Value::vector(["y"]), Value::Null]);
    rows
}

#[test]
fn raw_rows_of_all_kinds_and_is_null_leave_nothing_out() {
    let rows = rows_of_all_kinds();
    let all = || Kind::ALL.map(v);
    let is_null = || call(Function::And, Kind::ALL.map(|kind| call(Function::IsNull, [v(kind)])));
    assert_eq!(hidden_rows(&rows, &top_rows(all(), None)), 0);
    assert_eq!(hidden_rows(&rows, &top_rows(all(), Some(is_null()))), 0);
    assert_eq!(hidden_rows(&rows, &query(groups(), Some(is_null()))), 0);
    assert_eq!(hidden_rows(&rows, &query(groups(), None)), 0);
    // A row without a value is not left out of its sum.
    assert_eq!(hidden_rows(&rows, &sum_of(v(Kind::Number), Some(is_null()))), 0);
}

fn groups() -> QueryKind {
    QueryKind::Groups { keys: Vec::new(), measures: Vec::new() }
}

#[test]
fn every_row_that_is_left_out_counts_once() {
    let rows = rows_of_all_kinds();
    let more_than = |number| {
        Some(call(Function::Greater, [v(Kind::Number), Expr::Literal(Value::integer(number))]))
    };
    let there = call(Function::Not, [call(Function::IsNull, [v(Kind::String)])]);
    for (expected, query) in [
        // Outputs leave out the rows that reach them and that they do not see.
        (6, top_rows([v(Kind::Number)], None)),
        (6, top_rows([v(Kind::Number), call(Function::Negate, [v(Kind::Number)])], None)),
        (4, top_rows([v(Kind::Number), v(Kind::Set)], None)),
        (4, sum_of(v(Kind::String), None)),
        (2, sum_of(v(Kind::Number), Some(there))),
        // The filter leaves out the rows of the time range that it does not see, whatever the
        // outputs are.
        (6, query(groups(), more_than(1))),
        (6, top_rows(Kind::ALL.map(v), more_than(1))),
        (6, sum_of(v(Kind::Number), more_than(2))),
        (6, query(groups(), more_than(1_000_000))),
        (7, sum_of(v(Kind::Set), None)),
    ] {
        assert_eq!(hidden_rows(&rows, &query), expected, "{query:?}");
    }
}

#[test]
fn rows_outside_of_the_time_range_are_not_left_out() {
    let rows = rows_of_all_kinds();
    let more = call(Function::Greater, [v(Kind::Number), Expr::Literal(Value::integer(2))]);
    let range = |from, to| TimeRange { from: Some(Micros(from)), to: Some(Micros(to)) };
    for (expected, range) in
        [(6, range(0, 100)), (2, range(2, 5)), (1, range(8, 9)), (0, range(0, 2))]
    {
        for filter in [None, Some(more.clone())] {
            let query = Query { range, ..sum_of(v(Kind::Number), filter) };
            assert_eq!(hidden_rows(&rows, &query), expected, "{query:?}");
        }
    }
}

/// Numbers around the limits of doubles and of 64 bits, ascending.
fn numbers_at_the_edges() -> Vec<Number> {
    let mut numbers: Vec<Number> = ["-1e300", "1e300", "0.001", "9223372036854775000", "9.3e18"]
        .map(|text| text.parse().expect("a number"))
        .into();
    for edge in [1i128 << 53, -(1 << 53), 1 << 63, -(1 << 63), 1 << 64] {
        let reference = (-2..=2).filter_map(|step| Decimal::new(edge + step, 0));
        numbers.extend(reference.map(Number::from));
        numbers.extend(Decimal::new(edge * 10 + 1, 1).map(Number::from));
    }
    numbers.extend(Number::from_f64(9_223_372_036_854_775_808.0));
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[test]
fn zones_skip_no_number_at_the_edge_of_doubles() {
    let numbers = numbers_at_the_edges();
    let compare = |function, literal| {
        let literal = Expr::Literal(Value::Number(literal));
        top_rows([v(Kind::Number)], Some(call(function, [v(Kind::Number), literal])))
    };
    let (less, equal, greater) = (Ordering::Less, Ordering::Equal, Ordering::Greater);
    let functions = [
        (Function::Equal, [equal, equal]),
        (Function::NotEqual, [less, greater]),
        (Function::Less, [less, less]),
        (Function::LessOrEqual, [less, equal]),
        (Function::Greater, [greater, greater]),
        (Function::GreaterOrEqual, [greater, equal]),
    ];
    let mut skipped = 0;
    for (index, first) in numbers.iter().enumerate() {
        // Two numbers per block: of one scale, doubles or mixed.
        for second in &numbers[index..] {
            let values = [*first, *second].map(Value::Number);
            let blocks = [block(0, &values)];
            for literal in &numbers {
                for (function, orders) in functions {
                    let partial = scanned(&blocks, &compare(function, *literal));
                    let holds = |number: &&Number| orders.contains(&number.cmp(&literal));
                    let expected = [first, second].into_iter().filter(holds).count();
                    assert_eq!(
                        partial.stats.rows_matched, expected as u64,
                        "{first} and {second}: {function:?} {literal}"
                    );
                    skipped += partial.stats.blocks_skipped;
                }
            }
        }
    }
    assert!(skipped > 10_000, "only {skipped} blocks were skipped");
}

#[test]
fn ranges_find_exact_numbers_beside_huge_ones() {
    let ids = [(1i64 << 53) - 1, 1 << 53, (1 << 53) + 1, (1 << 53) + 2, i64::MAX - 1, i64::MAX];
    let mut values: Vec<Value> = ids.into_iter().map(Value::integer).collect();
    values.push(Value::Number("1e300".parse().expect("a number")));
    let blocks = [block(0, &values)];
    for (from, to) in [(0, 1), (2, 2), (2, 3), (4, 4), (5, 5), (0, 5)] {
        let bound = |function, index: usize| {
            call(function, [v(Kind::Number), Expr::Literal(Value::integer(ids[index]))])
        };
        let between = [bound(Function::GreaterOrEqual, from), bound(Function::LessOrEqual, to)];
        let query = top_rows([v(Kind::Number)], Some(call(Function::And, between)));
        let matched = scanned(&blocks, &query).stats.rows_matched;
        assert_eq!(matched, (to - from + 1) as u64, "{} to {}", ids[from], ids[to]);
    }
}

#[test]
fn every_number_is_at_least_the_smallest_decimal() {
    let values: Vec<Value> = (0..3).map(Value::integer).collect();
    let smallest = Decimal::new(i128::MIN, 0).expect("in range");
    let literal = Expr::Literal(Value::Number(smallest.into()));
    for (function, expected) in [(Function::GreaterOrEqual, 3), (Function::Less, 0)] {
        let filter = call(function, [v(Kind::Number), literal.clone()]);
        let query = top_rows([v(Kind::Number)], Some(filter));
        let matched = scanned(&[block(0, &values)], &query).stats.rows_matched;
        assert_eq!(matched, expected, "{function:?}");
    }
}

/// Three blocks of a hundred rows each, with consecutive times.
fn blocks_in_time_order() -> Vec<Vec<u8>> {
    let values: Vec<Value> = (0..100).map(Value::integer).collect();
    [0, 100, 200].map(|first| block(first, &values)).into()
}

/// The rows' times and `v`, ordered by the value at `index`.
fn ordered(index: usize, descending: bool, limit: u64) -> Query {
    let expr = Expr::Leaf(GroupInput::Key(index));
    Query {
        order: vec![OrderKey { expr, descending, nulls_first: descending }],
        limit,
        ..top_rows([Expr::Leaf(RowInput::Time), v(Kind::Number)], None)
    }
}

fn times(partial: Partial) -> Vec<i64> {
    let PartialBody::Rows(rows) = partial.body else { panic!("no rows") };
    let time = |row: SparseRow| match row[0] {
        Value::Time(time) => time.0,
        _ => panic!("no time"),
    };
    rows.into_sorted().into_iter().map(time).collect()
}

#[test]
fn blocks_that_cannot_have_one_of_the_best_rows_are_skipped() {
    let mut blocks = blocks_in_time_order();
    let stats = |blocks: &[Vec<u8>], query: &Query| {
        let stats = scanned(blocks, query).stats;
        // All rows match, including those of skipped blocks.
        assert_eq!((stats.blocks, stats.rows_matched), (3, 300));
        (stats.blocks_skipped, stats.rows_read)
    };
    assert_eq!(stats(&blocks, &ordered(0, false, 10)), (2, 100));
    assert_eq!(stats(&blocks, &ordered(0, true, 10)), (0, 300));
    assert_eq!(stats(&blocks, &Query { offset: 100, ..ordered(0, false, 10) }), (1, 200));
    assert_eq!(stats(&blocks, &ordered(0, false, 0)), (3, 0));
    blocks.reverse();
    let newest = ordered(0, true, 10);
    assert_eq!(stats(&blocks, &newest), (2, 100));
    assert_eq!(times(scanned(&blocks, &newest)), (290..300).rev().collect::<Vec<i64>>());
    let few = scanned(&blocks, &newest).stats.bytes_read;
    assert!(few < scanned(&blocks, &ordered(0, true, 300)).stats.bytes_read / 2, "{few} bytes");
}

#[test]
fn blocks_that_tie_with_the_worst_row_are_not_skipped() {
    let values: Vec<Value> = (0..10).map(Value::integer).collect();
    let [first, last] = [block(0, &values), block(9, &values)];
    // Rows of time 9 tie. The smaller value wins, which is in the last block.
    for blocks in [[first.clone(), last.clone()], [last, first]] {
        let partial = scanned(&blocks, &ordered(0, false, 10));
        assert_eq!(partial.stats.blocks_skipped, 0);
        let PartialBody::Rows(rows) = partial.body else { panic!("no rows") };
        let worst = rows.into_sorted().pop().expect("ten rows");
        assert_eq!(worst, vec![Value::Time(Micros(9)), Value::integer(0)]);
    }
}

#[test]
fn a_filter_is_asked_of_blocks_whose_rows_are_beaten() {
    let blocks = blocks_in_time_order();
    let high = call(Function::Greater, [v(Kind::Number), Expr::Literal(Value::integer(49))]);
    let query = Query { filter: Some(high), ..ordered(0, false, 10) };
    let partial = scanned(&blocks, &query);
    assert_eq!((partial.stats.rows_matched, partial.stats.blocks_skipped), (150, 0));
    assert_eq!(times(partial), (50..60).collect::<Vec<i64>>());
    let range = TimeRange { from: Some(Micros(5)), to: Some(Micros(250)) };
    let partial = scanned(&blocks, &Query { range, ..ordered(0, false, 10) });
    assert_eq!((partial.stats.rows_matched, partial.stats.blocks_skipped), (245, 1));
    assert_eq!(times(partial), (5..15).collect::<Vec<i64>>());
}

#[test]
fn nulls_come_first_of_all_blocks() {
    let none = vec![Value::Null; 10];
    let some: Vec<Value> = (0..10).map(Value::integer).collect();
    let blocks = [block(0, &some), block(10, &none), block(20, &some), block(30, &none)];
    let of = |descending| scanned(&blocks, &ordered(1, descending, 15));
    assert_eq!(times(of(true)), [(10..20).collect::<Vec<i64>>(), (30..35).collect()].concat());
    // Ties are ordered by time.
    let lowest = [0, 20, 1, 21, 2, 22, 3, 23, 4, 24, 5, 25, 6, 26, 7];
    assert_eq!(times(of(false)), lowest);
}

#[test]
fn texts_that_lie_in_no_order_are_ordered() {
    let text = |number: usize| format!("{number:03}{}", "a long text ".repeat(number % 20 + 10));
    let values: Vec<Value> =
        (0..500).map(|row: usize| Value::string(&text(row * 37 % 500))).collect();
    let blocks = [block(0, &values)];
    let view = BlockView::parse(&blocks[0]).expect("parses");
    assert_eq!(view.column("v", Kind::String).expect("there").encoding_name(), "templates");
    let strings = top_rows([Expr::Leaf(RowInput::Time), v(Kind::String)], None);
    let query = Query { kind: strings.kind, ..ordered(1, false, 20) };
    let expected: Vec<i64> = (0..20).map(|number| number * 473 % 500).collect();
    assert_eq!(times(scanned(&blocks, &query)), expected);
}

#[test]
fn the_order_of_blocks_follows_the_order_of_rows() {
    let order = |query: Query| Scan::new(Arc::new(query)).expect("a query").block_order();
    assert_eq!(order(ordered(0, true, 10)), BlockOrder::NewestFirst);
    assert_eq!(order(ordered(0, false, 10)), BlockOrder::OldestFirst);
    assert_eq!(order(ordered(1, false, 10)), BlockOrder::Any);
    assert_eq!(order(query(groups(), None)), BlockOrder::Any);
}

#[test]
fn zones_give_the_answers_that_rows_give() {
    let whole = |rows: i64| (0..rows).map(|row| Value::integer(row * row % 1_009 - 300));
    let some = |part: i64| {
        let has = move |row: i64| row % part == 0;
        move |(row, value): (i64, Value)| if has(row) { value } else { Value::Null }
    };
    let decimal = |text: &str| Value::Number(text.parse().expect("a number"));
    let columns: Vec<Vec<Value>> = vec![
        whole(3_000).collect(),
        (0..).zip(whole(3_000)).map(some(2)).collect(),
        (0..).zip(whole(3_000)).map(some(11)).collect(),
        vec![decimal("-0.5"), decimal("1.25"), Value::Null],
        vec![decimal("1e300"), decimal("-1.5e299"), Value::Null],
        vec![decimal("18446744073709551615"), decimal("2")],
        vec![Value::string("a"), decimal("7")],
        vec![decimal("9223372036854775807"), decimal("-9223372036854775808")],
    ];
    let kinds = [StateKind::Moments, StateKind::MinMax];
    let measures = kinds.map(|kind| Measure::new(kind, v(Kind::Number)));
    let shape = QueryKind::Groups { keys: Vec::new(), measures: measures.into() };
    for range in [TimeRange::ALL, TimeRange { from: Some(Micros(1)), to: None }] {
        let query = Query { range, ..query(shape.clone(), None) };
        let zones = Scan::new(Arc::new(query.clone())).expect("a query");
        let rows = Scan::new(Arc::new(query.clone())).expect("a query").without_zone_answers();
        let mut naive = Partial::empty(&query);
        let (mut by_zones, mut by_rows) = (naive.clone(), naive.clone());
        for column in &columns {
            let bytes = block(0, column);
            let view = BlockView::parse(&bytes).expect("parses");
            zones.block(&view, &|_, column| column.verify(), &mut by_zones).expect("scans");
            rows.block(&view, &|_, column| column.verify(), &mut by_rows).expect("scans");
            let PartialBody::Groups(groups) = &mut naive.body else { panic!("groups") };
            let skipped = usize::from(range != TimeRange::ALL);
            for value in column.iter().skip(skipped) {
                let number = match value {
                    Value::String(_) => Value::Null,
                    other => other.clone(),
                };
                groups.add_row(&[], &[number.clone(), number], Weight::ONE);
            }
        }
        assert_eq!(by_rows.body, naive.body);
        assert_eq!(by_zones.body, naive.body);
        let reads_less = by_zones.stats.bytes_read < by_rows.stats.bytes_read;
        assert_eq!(reads_less, range == TimeRange::ALL);
    }
}

#[test]
fn a_value_where_something_holds_is_the_value_of_the_rows_that_pass() {
    let values: Vec<Value> = (0..500)
        .map(|row| if row % 5 == 0 { Value::Null } else { Value::integer(row % 37) })
        .chain([Value::string("a"), Value::Number("1e300".parse().expect("a number"))])
        .collect();
    // The bound holds for some rows, for all with a number, for those of one block only, or for
    // none.
    for bound in [20, -1, 36, i64::MAX] {
        let bytes = [block(0, &values[..501]), block(600, &values[499..])];
        let condition = || {
            let bound = Expr::Literal(Value::integer(bound));
            call(Function::Greater, [v(Kind::Number), bound])
        };
        for value in [v(Kind::Number), Expr::Literal(Value::integer(3))] {
            let cased = call(Function::Case, [condition(), value.clone()]);
            let everywhere = scanned(&bytes, &sum_of(cased, None));
            let filtered = scanned(&bytes, &sum_of(value, Some(condition())));
            let state = |partial: Partial| {
                let PartialBody::Groups(groups) = partial.body else { panic!("groups") };
                let first = groups.into_sorted().0.into_iter().next();
                first.map_or(State::new(StateKind::Moments), |first| first.1.states[0].clone())
            };
            assert_eq!(state(everywhere), state(filtered), "{bound}");
        }
    }
}
