mod finish_tests;

use super::*;
use proptest::prelude::*;

use hadal_query::{AggregateFunction, Expr, GroupInput};
use hadal_types::{LeafName, MemoryPool, Number, Value, Weight};

use crate::finish::finish;
use crate::partial::coverage::{LeafCoverage, LeafOutcome};
use crate::partial::fixture::{aggregate, column, groups_query, rows_query};
use crate::query_error::FinishError;

/// One row: its key, its value, its weight in millionths, and the index of its leaf.
type TestRow = (u8, Value, i64, usize);

fn query() -> Query {
    let finishes = [
        AggregateFunction::Count,
        AggregateFunction::RawCount,
        AggregateFunction::Sum,
        AggregateFunction::Avg,
        AggregateFunction::Min,
        AggregateFunction::Max,
        AggregateFunction::Quantile(0),
        AggregateFunction::Quantile(950_000),
        AggregateFunction::QuantileCont(950_000),
        AggregateFunction::Histogram(10),
        AggregateFunction::VarPop,
        AggregateFunction::StddevSamp,
        AggregateFunction::CovarSamp,
        AggregateFunction::Corr,
        AggregateFunction::ArgMin,
        AggregateFunction::ArgMax,
        AggregateFunction::TopValues(2),
        AggregateFunction::LogHistogram(10),
        AggregateFunction::Distinct,
    ];
    let aggregates = finishes.map(aggregate);
    let table = [GroupInput::Key(0), GroupInput::RawCount, GroupInput::Count].map(Expr::Leaf);
    groups_query(vec![column(0)], table.into_iter().chain(aggregates).collect())
}

/// The partial result of one leaf with these rows.
fn of_leaf(query: &Query, index: usize, rows: &[&TestRow]) -> Partial {
    let mut partial = Partial::empty(query);
    let PartialBody::Groups(groups) = &mut partial.body else { panic!("groups were asked for") };
    for (key, value, millionths, _) in rows {
        let weight = Weight::from_millionths(*millionths).expect("in range");
        let values = vec![value.clone(); query.measures().len()];
        groups.add_row(&[Value::integer((*key).into())], &values, weight);
    }
    let count = rows.len() as u64;
    let leaf = LeafCoverage {
        name: LeafName(format!("leaf{index}").into()),
        outcome: LeafOutcome::Answered,
        rows_expected: count,
        rows_scanned: count,
        micros: 5,
        as_of: (0, 0),
    };
    partial.coverage = Coverage::of_leaf(leaf, true);
    partial.stats = ScanStats { rows_matched: count, blocks: 1, ..ScanStats::default() };
    partial.warn(WarningCode::OtherKindSkipped, "value9", count);
    partial
}

/// Merges in an order and a grouping chosen by the seed: any tree over any permutation.
fn merge_by(seed: u64, mut partials: Vec<Partial>) -> Partial {
    let mut state = seed;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    while partials.len() > 1 {
        let mut left = partials.swap_remove(next(partials.len()));
        let right = partials.swap_remove(next(partials.len()));
        left.merge(right);
        partials.push(left);
    }
    partials.remove(0)
}

fn value() -> impl Strategy<Value = Value> {
    let decimal = (any::<i64>(), 0u8..=18).prop_map(|(mantissa, scale)| {
        Number::from(hadal_types::Decimal::new(mantissa.into(), scale).expect("in range"))
    });
    let double = (-1e280f64..1e280).prop_map(|double| Number::from_f64(double).expect("finite"));
    let small = (0i64..5).prop_map(Number::integer);
    prop_oneof![
        1 => Just(Value::Null),
        3 => decimal.prop_map(Value::Number),
        2 => double.prop_map(Value::Number),
        4 => small.prop_map(Value::Number),
    ]
}

fn rows(most: usize) -> impl Strategy<Value = Vec<TestRow>> {
    prop::collection::vec((0u8..3, value(), 1i64..2_000_000_000, 0usize..7), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Up to three groups of up to 1,500 rows: exact states, sketches, and merges of both.
    #[test]
    fn any_tree_over_any_split_gives_the_same_answer(
        rows in prop_oneof![rows(30), rows(1_500)], seeds in prop::array::uniform3(any::<u64>()),
    ) {
        let query = query();
        let whole = of_leaf(&query, 0, &rows.iter().collect::<Vec<_>>());
        let leaves: Vec<Partial> = (0..7)
            .map(|leaf| {
                let leaf_rows: Vec<&TestRow> = rows.iter().filter(|row| row.3 == leaf).collect();
                of_leaf(&query, leaf, &leaf_rows)
            })
            .collect();
        let merged = seeds.map(|seed| merge_by(seed, leaves.clone()));
        prop_assert_eq!(&merged[0].body, &whole.body);
        prop_assert_eq!(&merged[0].warnings, &whole.warnings);
        prop_assert_eq!(&merged[1], &merged[0]);
        prop_assert_eq!(&merged[2], &merged[0]);
        let answers = merged.map(|merged| finish(merged, &query, &|| false));
        prop_assert!(answers[0].is_ok());
        prop_assert_eq!(&answers[1], &answers[0]);
        prop_assert_eq!(&answers[2], &answers[0]);
        let of_whole = finish(whole, &query, &|| false).expect("no faults");
        prop_assert_eq!(&of_whole.rows, &answers[0].as_ref().expect("no faults").rows);
    }
}

/// Distinct beyond its threshold, for which the test above makes too few different values.
#[test]
fn distinct_values_merge_alike_on_both_sides_of_the_threshold() {
    let query = query();
    for size in [1_024, 1_025, 5_000] {
        let rows: Vec<TestRow> = (0..size)
            .map(|number| {
                (0, Value::integer(number), 1_000_000, usize::try_from(number % 5).expect("small"))
            })
            .collect();
        let leaves: Vec<Partial> = (0..5)
            .map(|leaf| {
                let leaf_rows: Vec<&TestRow> = rows.iter().filter(|row| row.3 == leaf).collect();
                of_leaf(&query, leaf, &leaf_rows)
            })
            .collect();
        let whole = of_leaf(&query, 0, &rows.iter().collect::<Vec<_>>());
        for seed in 0..20 {
            assert_eq!(merge_by(seed, leaves.clone()).body, whole.body, "{size} {seed}");
        }
    }
}

#[test]
fn an_empty_partial_changes_nothing() {
    let query = query();
    let row = (1, Value::integer(7), 1_000_000, 0);
    let partial = of_leaf(&query, 0, &[&row]);
    let mut merged = Partial::empty(&query);
    merged.merge(partial.clone());
    assert_eq!(merged, partial);
    merged.merge(Partial::empty(&query));
    assert_eq!(merged, partial);
}

#[test]
fn answers_to_other_questions_are_faults_and_not_merged() {
    let groups = query();
    let mut partial = Partial::empty(&groups);
    partial.merge(Partial::empty(&rows_query(1, vec![], 5)));
    let Err(FinishError::Errors(errors)) = finish(partial, &groups, &|| false) else {
        panic!("a fault")
    };
    assert_eq!(errors[0].code, QueryErrorCode::Invalid);
    let other_keys = groups_query(vec![], vec![]);
    assert!(!Partial::empty(&groups).fits(&Partial::empty(&other_keys)));
    assert!(Partial::empty(&groups).fits(&Partial::empty(&groups)));
}

#[test]
fn faults_of_any_leaf_fail_the_query() {
    let query = query();
    let error =
        QueryError::new(QueryErrorCode::Memory, "the groups need more than 268435456 bytes");
    let mut merged = Partial::empty(&query);
    merged.merge(Partial::failed(&query, error.clone()));
    merged.merge(Partial::failed(&query, error.clone()));
    assert_eq!(finish(merged, &query, &|| false), Err(error.into()));
}

#[test]
fn what_is_merged_is_held_together() {
    let query = query();
    let pool = MemoryPool::new(1 << 20);
    let held = || {
        let row = (1, Value::integer(2), Weight::UNIT, 0);
        let mut partial =
            Partial { reservation: pool.reservation(), ..of_leaf(&query, 0, &[&row]) };
        partial.hold(usize::MAX);
        partial
    };
    let mut merged = Partial::empty(&query);
    merged.merge(held());
    merged.merge(held());
    assert_eq!((pool.reserved(), merged.reservation.bytes()), (merged.bytes(), merged.bytes()));
    merged.fail(QueryError::new(QueryErrorCode::Memory, "too much"));
    assert_eq!((merged.bytes(), pool.reserved()), (0, 0));
    assert!(merged.fits(&held()), "it can still be merged");
}

#[test]
fn what_nobody_waits_for_gives_its_memory_back_in_the_middle_of_merging() {
    let query = query();
    let pool = MemoryPool::new(1 << 30);
    let held = |from: i64| {
        let mut partial = Partial { reservation: pool.reservation(), ..Partial::empty(&query) };
        let PartialBody::Groups(groups) = &mut partial.body else { panic!("groups") };
        let values = vec![Value::integer(2); query.measures().len()];
        for key in from..from + 40_000 {
            groups.add_row(&[Value::integer(key)], &values, Weight::ONE);
        }
        partial.hold(usize::MAX);
        partial
    };
    let looks = std::cell::Cell::new(0);
    let mut merged = held(0);
    merged.merge_unless(held(1_000_000), &|| {
        looks.set(looks.get() + 1);
        looks.get() > 2
    });
    assert_eq!((merged.bytes(), pool.reserved(), merged.errors.is_empty()), (0, 0, false));
    assert_eq!(looks.get(), 4, "after two of three steps, and once to tell");
    // A failed partial result drops the body of the one merged into it.
    merged.merge(held(0));
    assert_eq!((merged.bytes(), pool.reserved()), (0, 0));
}
