use hadal_query::{AggregateFunction, Expr, Function, GroupInput, Query, SeriesLimit};
use hadal_types::{MemoryPool, MemoryReservation, Micros, Value, Weight};

use super::*;
use crate::finish::{ResultSet, finish};
use crate::groups::Groups;
use crate::partial::fixture::{KINDS, aggregate, column, groups_query, time_bucket};
use crate::partial::warnings::{Warning, WarningCode};
use crate::partial::{Partial, PartialBody};
use crate::query_error::{FinishError, QueryErrorCode};
use crate::sparse_row::SparseRow;

/// Groups of different series; more than stay when memory is short.
const SERIES: i64 = 300;
const BUCKETS: i64 = 5;
/// Groups that stay when memory is short.
const LEFT_MAX: usize = 100;

fn text(series: i64) -> Value {
    Value::string(&format!("s{series:03}"))
}

fn bucket(bucket: i64) -> Value {
    Value::Time(Micros(100 * bucket * Micros::SECOND))
}

/// A query by 100-second buckets and one more key, for the top `count` series by `rank`.
fn query(count: usize, rank: hadal_query::OutputExpr) -> Query {
    let outputs =
        [GroupInput::Key(0), GroupInput::Key(1), GroupInput::Count].map(Expr::Leaf).to_vec();
    let series = Some(SeriesLimit { count, rank });
    let query = groups_query(vec![time_bucket(100), column(0)], outputs);
    let outputs = [query.outputs, groups_query(vec![], sums()).outputs].concat();
    Query { outputs, series, ..query }
}

fn sums() -> Vec<hadal_query::OutputExpr> {
    vec![aggregate(AggregateFunction::Sum), aggregate(AggregateFunction::Distinct)]
}

/// The weight and the value of a row. Series whose keys sort last have the largest of both.
fn row(series: i64, bucket: i64) -> (i64, i64) {
    (1 + series, series * 10 + bucket)
}

/// One row per series and bucket, in groups that are limited to `left_max`.
fn partial(query: &Query, left_max: usize, held_max: usize) -> Partial {
    let mut groups = Groups::with_max(2, KINDS.into(), (left_max, held_max)).of_series(query);
    for series in 0..SERIES {
        for at in 0..BUCKETS {
            let (weight, value) = row(series, at);
            let values = vec![Value::integer(value); KINDS.len()];
            let weight = Weight::from_millionths(weight * Weight::UNIT).expect("a weight");
            groups.add_row(&[bucket(at), text(series)], &values, weight);
        }
    }
    Partial { body: PartialBody::Groups(groups), ..Partial::empty(query) }
}

fn answer(query: &Query, partial: Partial) -> ResultSet {
    finish(partial, query, &|| false).expect("an answer")
}

/// The rows of the last `count` series and of "other", computed with plain sums.
fn expected(count: i64) -> Vec<Vec<Value>> {
    let mut lines = Vec::new();
    for at in 0..BUCKETS {
        let line = |key, series: std::ops::Range<i64>| {
            let rows = series.map(|series| row(series, at));
            let (weights, sums): (Vec<i64>, Vec<i64>) =
                rows.map(|(weight, value)| (weight, weight * value)).unzip();
            let values = Value::integer(i64::try_from(weights.len()).expect("small"));
            let (weight, sum) = (weights.iter().sum(), sums.iter().sum());
            vec![bucket(at), key, Value::integer(weight), Value::integer(sum), values]
        };
        let kept = SERIES - count..SERIES;
        lines.extend(kept.map(|series| line(text(series), series..series + 1)));
        if count < SERIES {
            lines.push(line(Value::Null, 0..SERIES - count));
        }
    }
    lines
}

#[test]
fn the_best_series_are_whole_however_many_groups_there_are_and_wherever_their_keys_sort() {
    for rank in [
        Expr::Leaf(GroupInput::Count),
        aggregate(AggregateFunction::Sum),
        aggregate(AggregateFunction::Max),
    ] {
        for count in [1, 3, SERIES - 1, SERIES] {
            let query = query(usize::try_from(count).expect("small"), rank.clone());
            let result = answer(&query, partial(&query, LEFT_MAX, 10_000));
            assert_eq!(result.rows, expected(count), "the top {count} by {rank:?}");
            let only = |warning: &Warning| warning.code == WarningCode::DistinctOfSampled;
            assert!(result.warnings.iter().all(only), "{:?}", result.warnings);
            let others = result.kinds.iter().filter(|kind| **kind == RowKind::Other).count();
            assert_eq!(others, if count < SERIES { 5 } else { 0 });
        }
    }
}

#[test]
fn series_are_ranked_by_what_the_whole_of_them_has() {
    // No single bucket decides the rank: only series 100 has an average of 1,002 over all its
    // buckets.
    let average = Expr::call(
        Function::Abs,
        [Expr::call(
            Function::Subtract,
            [aggregate(AggregateFunction::Avg), Expr::Literal(Value::integer(1_002))],
        )],
    );
    let nearest = Expr::call(Function::Negate, [average]);
    let result = answer(&query(1, nearest.clone()), partial(&query(1, nearest), LEFT_MAX, 10_000));
    assert_eq!(result.rows[0][1], text(100));
}

#[test]
fn ranking_series_is_paid_for_and_stops_when_nobody_waits() {
    let query = query(3, Expr::Leaf(GroupInput::Count));
    let Some(series) = &query.series else { panic!("a series limit") };
    let PartialBody::Groups(groups) = partial(&query, LEFT_MAX, 10_000).body else {
        panic!("groups")
    };
    let limited = |held: &mut MemoryReservation, is_late: &dyn Fn() -> bool| {
        limit(&query, series, &groups, held, is_late).map(Iterator::count)
    };
    let (pool, lines) = (MemoryPool::new(1 << 20), usize::try_from(4 * BUCKETS).expect("small"));
    let mut held = pool.reservation();
    assert_eq!(limited(&mut held, &|| false), Ok(lines));
    assert!(held.bytes() > groups.len() * 8, "{} bytes", held.bytes());
    assert_eq!(limited(&mut MemoryReservation::default(), &|| true), Err(FinishError::Late));
    let few = MemoryPool::new(held.bytes() - 1);
    let Err(FinishError::Errors(errors)) = limited(&mut few.reservation(), &|| false) else {
        panic!("a fault")
    };
    assert_eq!(errors[0].code, QueryErrorCode::Memory);
}

/// The weights of all rows together, and of the rows of "other".
fn weights(answer: &ResultSet) -> (i64, i64) {
    let weight = |row: &SparseRow| match &row[2] {
        Value::Number(number) => number.to_i64().expect("whole"),
        other => panic!("{other} is no number"),
    };
    let is_other = |(_, kind): &(&SparseRow, &RowKind)| **kind == RowKind::Other;
    let lines = answer.rows.iter().zip(&answer.kinds);
    let others = lines.filter(is_other).map(|(row, _)| weight(row)).sum();
    (answer.rows.iter().map(weight).sum(), others)
}

#[test]
fn where_memory_ends_the_best_series_stay_and_the_rows_of_others_are_in_other() {
    let query = query(3, Expr::Leaf(GroupInput::Count));
    let mut cut = partial(&query, LEFT_MAX, 10_000);
    let PartialBody::Groups(groups) = &mut cut.body else { panic!("groups") };
    assert!(groups.cut_back());
    assert_eq!(groups.len(), LEFT_MAX);
    let result = answer(&query, cut);
    // Sums and distinct counts of "other" include the folded rows.
    assert_eq!(result.rows, expected(3));
    let gone = u64::try_from((SERIES - 20) * BUCKETS).expect("small");
    let warning = result.warnings.iter().find(|warning| warning.code == WarningCode::SeriesFolded);
    assert_eq!(warning.map(|warning| warning.count), Some(gone));
    assert_eq!(result.warnings.len(), 2, "rows stand for others: {:?}", result.warnings);
}

#[test]
fn totals_are_whole_however_often_series_go() {
    let query = query(3, Expr::Leaf(GroupInput::Count));
    let whole = weights(&answer(&query, partial(&query, LEFT_MAX, 10_000)));
    for held_max in [LEFT_MAX, 2 * LEFT_MAX, 10_000] {
        let mut merged = partial(&query, LEFT_MAX, held_max);
        let mut other = partial(&query, LEFT_MAX, held_max);
        let PartialBody::Groups(groups) = &mut other.body else { panic!("groups") };
        let _ = groups.cut_back();
        merged.merge(other);
        let result = answer(&query, merged);
        let (all, others) = weights(&result);
        assert_eq!(all, 2 * whole.0, "{held_max}");
        assert!(others >= 2 * whole.1, "shown series may lack rows, and have none of others");
        assert_eq!(result.rows.iter().filter(|row| row[1] == text(SERIES - 1)).count(), 5);
    }
}
