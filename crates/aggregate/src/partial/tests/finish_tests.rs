//! Finished results, compared with results computed by hand.

use std::cell::Cell;

use hadal_query::{
    AggregateFunction, Expr, Function, GroupInput, OrderKey, OutputExpr, Query, RowExpr,
    SeriesLimit,
};
use hadal_types::limits::LIMIT_DEFAULT;
use hadal_types::{MemoryPool, Micros, TimeRange, Value, Weight};

use crate::finish::raw_rows::finish_columns;
use crate::finish::{ResultSet, RowKind, finish};
use crate::partial::fixture::{NOW, aggregate, column, groups_query, rows_query, time_bucket};
use crate::partial::warnings::WarningCode;
use crate::partial::{Partial, PartialBody};
use crate::query_error::{FinishError, QueryErrorCode};
use crate::sparse_row::SparseRow;

/// The partial result of rows with a key, a value and an integer weight.
fn partial_of(query: &Query, rows: &[(&[Value], Value, i64)]) -> Partial {
    let mut partial = Partial::empty(query);
    let PartialBody::Groups(groups) = &mut partial.body else { panic!("groups were asked for") };
    for (key, value, weight) in rows {
        let weight = Weight::from_millionths(weight * Weight::UNIT).expect("in range");
        groups.add_row(key, &vec![value.clone(); query.measures().len()], weight);
    }
    partial
}

fn answer(query: &Query, rows: &[(&[Value], Value, i64)]) -> ResultSet {
    finish(partial_of(query, rows), query, &|| false).expect("no faults")
}

fn shown(answer: &ResultSet) -> Vec<String> {
    let show = |row: &SparseRow| row.iter().map(Value::to_string).collect::<Vec<_>>().join(" ");
    answer.rows.iter().map(show).collect()
}

fn slot(slot: GroupInput) -> OutputExpr {
    Expr::Leaf(slot)
}

fn integer(value: i64) -> Value {
    Value::integer(value)
}

fn text(text: &str) -> Value {
    Value::string(text)
}

fn at(seconds: i64) -> Value {
    Value::Time(Micros(seconds * Micros::SECOND))
}

fn all_finishes() -> Vec<OutputExpr> {
    [
        AggregateFunction::Count,
        AggregateFunction::RawCount,
        AggregateFunction::Sum,
        AggregateFunction::Avg,
        AggregateFunction::Min,
        AggregateFunction::Max,
        AggregateFunction::Quantile(500_000),
        AggregateFunction::Distinct,
    ]
    .map(aggregate)
    .to_vec()
}

#[test]
fn no_rows_are_one_row_without_keys_and_none_with_keys() {
    let mut outputs = vec![slot(GroupInput::Count), slot(GroupInput::RawCount)];
    outputs.extend(all_finishes());
    let query = groups_query(vec![], outputs.clone());
    let none = answer(&query, &[]);
    assert_eq!(shown(&none), ["0 0 0 0 null null null null null 0"]);
    assert_eq!(none.raw_counts, [0]);
    assert!(shown(&answer(&groups_query(vec![column(0)], outputs), &[])).is_empty());
}

#[test]
fn aggregates_are_weighted() {
    let query = groups_query(vec![], all_finishes());
    let rows: [(&[Value], Value, i64); 4] = [
        (&[], integer(10), 1),
        (&[], integer(20), 3),
        (&[], integer(40), 4),
        (&[], Value::Null, 100),
    ];
    // Σw = 8, n = 3, Σwx = 10 + 60 + 160; half of the weight is at or below 20.
    let whole = answer(&query, &rows);
    assert_eq!(shown(&whole), ["8 3 230 28.75 10 40 20 3"]);
    assert_eq!(whole.raw_counts, [4], "rows without the value are rows of the group");
}

#[test]
fn having_order_offset_and_limit_apply_in_this_order() {
    let order =
        OrderKey { expr: aggregate(AggregateFunction::Sum), descending: true, nulls_first: false };
    let above_one =
        Expr::call(Function::Greater, vec![slot(GroupInput::Count), Expr::Literal(integer(1))]);
    let query = Query {
        having: Some(above_one),
        order: vec![order],
        offset: 1,
        limit: 2,
        ..groups_query(
            vec![column(0)],
            vec![slot(GroupInput::Key(0)), aggregate(AggregateFunction::Sum)],
        )
    };
    let keys: Vec<[Value; 1]> = (0..7).map(|key| [integer(key)]).collect();
    let mut rows: Vec<(&[Value], Value, i64)> = vec![
        (&keys[0], integer(1_000), 1),
        (&keys[4], integer(5), 2),
        (&keys[3], integer(5), 2),
        (&keys[1], integer(50), 2),
        (&keys[2], Value::Null, 2),
        (&keys[5], integer(-3), 2),
    ];
    let cut = answer(&query, &rows);
    assert_eq!(shown(&cut), ["3 10", "4 10"], "ties by key");
    assert_eq!(cut.warnings, [], "the limit was asked for");
    rows.reverse();
    assert_eq!(answer(&query, &rows), cut);
    let all = Query { offset: 0, limit: 9, ..query };
    assert_eq!(shown(&answer(&all, &rows)), ["1 100", "3 10", "4 10", "5 -6", "2 null"]);
}

/// A query by 100-second buckets and service, for the top series by count.
fn series_query(count: usize) -> Query {
    let keys: Vec<RowExpr> = vec![time_bucket(100), column(0)];
    let outputs = vec![
        slot(GroupInput::Key(0)),
        slot(GroupInput::Key(1)),
        slot(GroupInput::Count),
        slot(GroupInput::Seconds),
    ];
    let series = Some(SeriesLimit { count, rank: slot(GroupInput::Count) });
    Query { series, ..groups_query(keys, outputs) }
}

#[test]
fn the_series_limit_counts_series_over_all_buckets() {
    let keys = [
        [at(0), text("a")],
        [at(100), text("a")],
        [at(0), Value::Null],
        [at(0), text("b")],
        [at(100), text("c")],
        [at(100), text("d")],
    ];
    let weights = [3, 3, 5, 4, 1, 1];
    let rows: Vec<(&[Value], Value, i64)> =
        keys.iter().zip(weights).map(|(key, weight)| (&key[..], integer(1), weight)).collect();
    let top = answer(&series_query(2), &rows);
    // "a" wins by the sum of its buckets. A null that is a real key stays apart from "other".
    assert_eq!(
        shown(&top),
        [
            "1970-01-01T00:00:00Z a 3 100",
            "1970-01-01T00:00:00Z null 5 100",
            "1970-01-01T00:00:00Z null 4 100",
            "1970-01-01T00:01:40Z a 3 100",
            "1970-01-01T00:01:40Z null 2 100",
        ]
    );
    let (group, other) = (RowKind::Group, RowKind::Other);
    assert_eq!(top.kinds, [group, group, other, group, other]);
    assert_eq!(top.raw_counts, [1, 1, 1, 1, 2]);
    let enough = answer(&series_query(5), &rows);
    assert_eq!((enough.rows.len(), enough.kinds.contains(&other)), (6, false));
    let none = answer(&series_query(0), &rows);
    assert_eq!(none.kinds, [other, other]);
}

#[test]
fn series_of_an_open_range_are_ranked_over_all_buckets() {
    let keys = [[at(0), text("a")], [at(500), text("b")]];
    let rows: Vec<(&[Value], Value, i64)> =
        keys.iter().zip([3, 6]).map(|(key, weight)| (&key[..], integer(1), weight)).collect();
    // Events per second: 3 or 6 events in the 600 seconds of all buckets.
    let rate =
        Expr::call(Function::Divide, vec![slot(GroupInput::Count), slot(GroupInput::Seconds)]);
    let target = Expr::Literal(Value::Number("0.005".parse().expect("a number")));
    let rank = Expr::call(Function::Equal, vec![rate, target]);
    let open = |range: TimeRange| {
        let series = Some(SeriesLimit { count: 1, rank: rank.clone() });
        shown(&answer(&Query { range, series, ..series_query(1) }, &rows))
    };
    for range in [
        TimeRange::ALL,
        TimeRange { from: None, to: Some(Micros(600_000_000)) },
        TimeRange { from: Some(Micros(0)), to: None },
    ] {
        assert_eq!(open(range)[0], "1970-01-01T00:00:00Z a 3 100", "{range:?}");
    }
    let longer = TimeRange { from: None, to: Some(Micros(1_200_000_000)) };
    assert_eq!(open(longer)[1], "1970-01-01T00:08:20Z b 6 100");
}

#[test]
fn series_that_tie_are_chosen_by_their_keys() {
    let keys = [[at(0), text("c")], [at(0), text("a")], [at(0), text("b")]];
    let rows: Vec<(&[Value], Value, i64)> =
        keys.iter().map(|key| (&key[..], integer(1), 1)).collect();
    let top = answer(&series_query(1), &rows);
    assert_eq!(shown(&top), ["1970-01-01T00:00:00Z a 1 100", "1970-01-01T00:00:00Z null 2 100"]);
}

#[test]
fn seconds_are_those_of_the_bucket_that_lie_in_the_range() {
    let range = TimeRange { from: Some(Micros(50_500_000)), to: Some(Micros(230_000_000)) };
    let outputs = vec![slot(GroupInput::Key(0)), slot(GroupInput::Seconds)];
    let query = Query { range, ..groups_query(vec![time_bucket(100)], outputs) };
    let keys = [[at(0)], [at(100)], [at(200)], [at(300)]];
    let rows: Vec<(&[Value], Value, i64)> =
        keys.iter().map(|key| (&key[..], integer(1), 1)).collect();
    let seconds: Vec<String> =
        answer(&query, &rows).rows.iter().map(|row| row[1].to_string()).collect();
    assert_eq!(seconds, ["49.5", "100", "30", "0"]);
    let whole = groups_query(vec![], vec![slot(GroupInput::Seconds)]);
    assert_eq!(shown(&answer(&whole, &[])), ["1000"]);
    let open = Query { range: TimeRange { from: None, to: Some(NOW) }, ..whole };
    assert_eq!(shown(&answer(&open, &[])), ["null"]);
    let open = TimeRange { from: Some(Micros(50_500_000)), to: None };
    let seconds: Vec<String> = answer(&Query { range: open, ..query }, &rows)
        .rows
        .iter()
        .map(|row| row[1].to_string())
        .collect();
    assert_eq!(seconds, ["49.5", "100", "100", "100"], "buckets have ends of their own");
}

#[test]
fn a_sum_beyond_doubles_fails_the_query() {
    let query = groups_query(vec![], vec![aggregate(AggregateFunction::Sum)]);
    let huge = Value::Number("1e308".parse().expect("a number"));
    let rows: [(&[Value], Value, i64); 2] = [(&[], huge.clone(), 1), (&[], huge, 1)];
    let Err(FinishError::Errors(errors)) = finish(partial_of(&query, &rows), &query, &|| false)
    else {
        panic!("a fault")
    };
    assert_eq!(errors[0].code, QueryErrorCode::Overflow);
}

/// The number of rows that a result reports beyond the limit that every result has.
fn beyond(answer: &ResultSet) -> Option<u64> {
    let mut warnings = answer.warnings.iter();
    warnings.find(|warning| warning.code == WarningCode::LimitReached).map(|warning| warning.count)
}

#[test]
fn only_a_limit_that_nobody_asked_for_is_told_of() {
    fn groups(count: i64, limit: u64, offset: u64) -> Option<u64> {
        let query = groups_query(vec![column(0)], vec![slot(GroupInput::Key(0))]);
        let query = Query { limit, offset, ..query };
        let keys: Vec<[Value; 1]> = (0..count).map(|key| [integer(key)]).collect();
        let rows: Vec<(&[Value], Value, i64)> =
            keys.iter().map(|key| (&key[..], Value::Null, 1)).collect();
        beyond(&answer(&query, &rows))
    }
    fn raw_rows(count: i64, limit: u64, offset: u64) -> Option<u64> {
        let query = Query { offset, ..rows_query(1, vec![], limit) };
        let mut partial = Partial::empty(&query);
        let PartialBody::Rows(rows) = &mut partial.body else { panic!("rows were asked for") };
        (0..count).for_each(|row| rows.add([integer(row)].into()).expect("short strings"));
        partial.stats.rows_matched = count.unsigned_abs();
        beyond(&finish(partial, &query, &|| false).expect("no faults"))
    }
    let most = i64::try_from(LIMIT_DEFAULT).expect("small");
    for rows_beyond in [groups, raw_rows] {
        assert_eq!(rows_beyond(most, LIMIT_DEFAULT, 0), None);
        assert_eq!(rows_beyond(most + 3, LIMIT_DEFAULT, 0), Some(3));
        assert_eq!(rows_beyond(most + 3, LIMIT_DEFAULT, 2), Some(1));
        assert_eq!(rows_beyond(most + 3, LIMIT_DEFAULT, 9), None);
        assert_eq!(rows_beyond(most + 3, LIMIT_DEFAULT - 1, 0), None);
    }
}

#[test]
fn raw_rows_are_sorted_cut_and_computed() {
    let order = OrderKey { expr: slot(GroupInput::Key(1)), descending: false, nulls_first: false };
    let mut query = Query { offset: 1, ..rows_query(2, vec![order], 2) };
    query.outputs[0].expr =
        Expr::call(Function::Add, vec![slot(GroupInput::Key(0)), slot(GroupInput::Key(1))]);
    let mut partial = Partial::empty(&query);
    let PartialBody::Rows(rows) = &mut partial.body else { panic!("rows were asked for") };
    for (first, second) in [(1, 40), (2, 30), (3, 20), (4, 10)] {
        rows.add([integer(first), integer(second)].into()).expect("short strings");
    }
    let (of_columns, columns) =
        finish_columns(partial.clone(), &query, &|| false).expect("no faults");
    let answer = finish(partial, &query, &|| false).expect("no faults");
    assert_eq!(shown(&answer), ["23 20", "32 30"]);
    assert_eq!(answer.columns[1].0, "column1");
    assert_eq!(columns.to_rows(), answer.rows);
    assert_eq!(of_columns, ResultSet { rows: Vec::new(), ..answer });
}

/// A query for groups with one key, the largest first, and rows for it.
fn descending(count: i64, limit: u64) -> (Query, Partial) {
    let order = OrderKey { expr: slot(GroupInput::Key(0)), descending: true, nulls_first: false };
    let query = groups_query(vec![column(0)], vec![slot(GroupInput::Key(0))]);
    let query = Query { limit, order: vec![order], ..query };
    let keys: Vec<[Value; 1]> = (0..count).map(|key| [integer(key * 7919 % count)]).collect();
    let rows: Vec<(&[Value], Value, i64)> =
        keys.iter().map(|key| (&key[..], Value::Null, 1)).collect();
    let partial = partial_of(&query, &rows);
    (query, partial)
}

#[test]
fn of_many_lines_the_best_are_kept() {
    for offset in [0, 3, 9_000] {
        let (query, partial) = descending(10_000, 5);
        let query = Query { offset, ..query };
        let answer = finish(partial, &query, &|| false).expect("no faults");
        let last = 9_999 - i64::try_from(offset).expect("small");
        let expected: Vec<String> = (0..5).map(|row| (last - row).to_string()).collect();
        assert_eq!(shown(&answer), expected);
    }
}

#[test]
fn nobody_finishes_what_nobody_waits_for() {
    let (query, partial) = descending(10_000, 5);
    assert_eq!(finish(partial.clone(), &query, &|| true), Err(FinishError::Late));
    let looks = Cell::new(0);
    let late_at_last = || looks.replace(looks.get() + 1) == 9;
    assert_eq!(finish(partial, &query, &late_at_last), Err(FinishError::Late));
    assert_eq!(looks.get(), 10, "and it is asked about every thousand lines");
}

#[test]
fn an_answer_holds_its_rows_and_no_more() {
    let (query, partial) = descending(10_000, 5);
    let pool = MemoryPool::new(1 << 30);
    let mut partial = Partial { reservation: pool.reservation(), ..partial };
    partial.hold(usize::MAX);
    let before = pool.reserved();
    let answer = finish(partial, &query, &|| false).expect("room");
    assert_eq!(pool.reserved(), answer.reservation.bytes());
    assert!((1..1_000).contains(&pool.reserved()), "{} of {before}", pool.reserved());
    drop(answer);
    assert_eq!(pool.reserved(), 0);
}

#[test]
fn an_answer_for_which_there_is_no_room_is_a_fault() {
    let (query, partial) = descending(10_000, 5_000);
    let pool = MemoryPool::new(partial.bytes());
    let mut partial = Partial { reservation: pool.reservation(), ..partial };
    partial.hold(usize::MAX);
    assert!(partial.errors.is_empty(), "{:?}", partial.errors);
    let Err(FinishError::Errors(errors)) = finish(partial, &query, &|| false) else {
        panic!("a fault")
    };
    assert_eq!(errors[0].code, QueryErrorCode::Memory);
    assert_eq!(pool.reserved(), 0);
}
