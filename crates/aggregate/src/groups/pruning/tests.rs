use std::collections::BTreeMap;

use hadal_query::{
    AggregateFunction, Expr, GroupInput, Measure, OrderKey, OutputExpr, QueryKind, StateKind,
};
use hadal_types::Weight;

use super::*;
use crate::finish::{ResultSet, finish};
use crate::partial::fixture::{column, query};
use crate::partial::warnings::WarningCode;
use crate::partial::{Partial, PartialBody};

/// Random trees of [`trees_of`].
const TREES: u64 = 10_000;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("small")
    }
}

fn measure(finish: AggregateFunction) -> OutputExpr {
    let index = usize::from(finish.state() == StateKind::MinMax);
    Expr::Leaf(GroupInput::Measure(index, finish))
}

/// The top `limit` by `expr`, with other measures beside it.
fn top(expr: OutputExpr, limit: u64, offset: u64) -> Query {
    let measures =
        [StateKind::Moments, StateKind::MinMax].map(|kind| Measure::new(kind, column(9))).to_vec();
    let kind = QueryKind::Groups { keys: vec![column(0)], measures };
    let outputs = vec![
        Expr::Leaf(GroupInput::Key(0)),
        Expr::Leaf(GroupInput::Count),
        measure(AggregateFunction::Sum),
        measure(AggregateFunction::Max),
    ];
    let order = vec![OrderKey { expr, descending: true, nulls_first: false }];
    Query { order, limit, offset, ..query(kind, outputs) }
}

/// One leaf's rows: key, value and weight.
type Rows = Vec<(i64, Value, Weight)>;

/// Rows over skewed or flat keys. Values are decimals, some negative or null.
fn rows(random: &mut Random, leaf_count: usize) -> Vec<Rows> {
    let keys = 1 + random.below(60);
    let (skew, negative) = (random.below(4), random.below(3) == 0);
    let has_null = random.below(2) == 0;
    (0..leaf_count)
        .map(|_| {
            let rows = random.below(120);
            let row = |random: &mut Random| {
                let key = (0..=skew).map(|_| random.below(keys)).min().expect("one");
                let value = i64::try_from(random.below(1_000)).expect("small");
                let value = if negative { value - 200 } else { value };
                let value = match random.below(20) {
                    0 => Value::Null,
                    _ if key == 1 && has_null => Value::Null,
                    1 => Value::Number(format!("{value}.0000000001").parse().expect("a number")),
                    _ => Value::integer(value),
                };
                let weight = if random.below(4) == 0 { 2_500_000 } else { 1_000_000 };
                let weight = Weight::from_millionths(weight).expect("in range");
                (i64::try_from(key).expect("small"), value, weight)
            };
            (0..rows).map(|_| row(random)).collect()
        })
        .collect()
}

fn groups_of(query: &Query, rows: &Rows) -> Groups {
    let mut groups = Groups::new(query);
    for (key, value, weight) in rows {
        groups.add_row(&[Value::integer(*key)], &[value.clone(), value.clone()], *weight);
    }
    groups
}

/// The groups as another process receives them.
fn sent(query: &Query, mut groups: Groups) -> Groups {
    let parts = groups.cut_parts();
    let (sorted, dropped_rows) = groups.into_sorted();
    let groups = Groups::from_parts(query, sorted, dropped_rows).expect("groups of the query");
    match parts {
        Some(parts) => groups.with_cut(parts).expect("a valid cut"),
        None => groups,
    }
}

/// Merges the leaves' groups in a random order and grouping. Levels leave out groups at random.
fn merged(query: &Query, mut parts: Vec<Groups>, rank: Rank, random: &mut Random) -> Groups {
    let (few, level) = (1 + random.below(12), random.below(3));
    for groups in &mut parts {
        groups.keep_largest(rank, few);
        *groups = sent(query, groups.clone());
    }
    while parts.len() > 1 {
        let mut merged = parts.swap_remove(random.below(parts.len()));
        merged.merge(parts.swap_remove(random.below(parts.len())));
        if random.below(3) < level && !parts.is_empty() {
            merged.keep_largest(rank, few);
            merged = sent(query, merged);
        }
        parts.push(merged);
    }
    parts.pop().expect("one is left")
}

fn answer(query: &Query, groups: Groups) -> ResultSet {
    let partial = Partial { body: PartialBody::Groups(groups), ..Partial::empty(query) };
    finish(partial, query, &|| false).expect("an answer")
}

/// The bounds of every group contain its whole value, and no other group has more than the
/// threshold.
fn check_bounds(groups: &Groups, plain: &Groups, rank: Rank, case: &str) {
    let whole: BTreeMap<_, _> = (0..plain.len())
        .map(|index| (plain.key_of(index), plain.value(rank, index).expect("a value")))
        // A group that is null comes before any value.
        .map(|(key, (low, high))| {
            (key, if high == TOP_BOUND_MAX { (high, high) } else { (low, high) })
        })
        .collect();
    let bounds = groups.bounds(rank).expect("values");
    let here: BTreeMap<_, _> = bounds
        .into_iter()
        .enumerate()
        .map(|(index, bounds)| (groups.key_of(index), bounds))
        .collect();
    let threshold = groups.cut.as_ref().map_or(0, |cut| cut.threshold);
    for (key, (low, high)) in whole {
        match here.get(&key) {
            Some(bounds) => {
                assert!(bounds.low <= low && high <= bounds.high, "{case}: {key:?}");
            }
            None => assert!(low >= 0 && high <= threshold, "{case}: {key:?} is missing"),
        }
    }
}

#[test]
fn bounds_contain_the_truth_and_the_rounds_find_it() {
    let ranks = [
        (Expr::Leaf(GroupInput::Count), Rank::Count),
        (Expr::Leaf(GroupInput::RawCount), Rank::RawCount),
        (measure(AggregateFunction::Sum), Rank::SumOf(0)),
        (measure(AggregateFunction::Sum), Rank::NullOrSumOf(0)),
        (measure(AggregateFunction::Count), Rank::CountOf(0)),
        (measure(AggregateFunction::RawCount), Rank::RawCountOf(0)),
    ];
    // Trees by what the root does after the first round; in the last ones, nothing was left out.
    let mut outcomes = [0u64; 4];
    for seed in 0..TREES {
        let mut random = Random(seed);
        let (expr, rank) = ranks[random.below(ranks.len())].clone();
        let (limit, offset) = (1 + random.next() % 6, random.next() % 3);
        let (mut query, leaf_count) = (top(expr, limit, offset), 1 + random.below(9));
        query.order[0].nulls_first = matches!(rank, Rank::NullOrSumOf(_));
        let case = format!("seed {seed}, {rank:?}");
        let leaves = rows(&mut random, leaf_count);
        let leaves: Vec<Groups> = leaves.iter().map(|rows| groups_of(&query, rows)).collect();
        let whole = |leaves: Vec<Groups>| {
            let mut whole = Groups::new(&query);
            leaves.into_iter().for_each(|groups| whole.merge(groups));
            whole
        };
        let plain = whole(leaves.clone());
        let first = merged(&query, leaves.clone(), rank, &mut random);
        check_bounds(&first, &plain, rank, &case);
        let (is_cut, next) = (first.cut.is_some(), first.next_round(&query));
        let (outcome, found) = match next {
            NextRound::None => (if is_cut { 0 } else { 3 }, first),
            NextRound::Keys(keys) => {
                let query = Query { sent: SentGroups::Keys(keys.into()), ..query.clone() };
                let only = leaves.into_iter().map(|mut groups| {
                    groups.keep_sent(&query);
                    sent(&query, groups)
                });
                (1, whole(only.collect()))
            }
            NextRound::All => (2, whole(leaves)),
        };
        outcomes[outcome] += 1;
        let (found, plain) = (answer(&query, found), answer(&query, plain));
        assert_eq!(found.rows, plain.rows, "{case}");
        assert_eq!(found.raw_counts, plain.raw_counts, "{case}");
    }
    assert!(outcomes.iter().all(|trees| *trees > TREES / 100), "{outcomes:?}");
}

/// Groups with these keys and numbers of rows.
fn counts(query: &Query, counts: &[(i64, usize)]) -> Groups {
    let row = |key: i64| (key, Value::Null, Weight::ONE);
    let rows = counts.iter().flat_map(|&(key, rows)| vec![row(key); rows]).collect();
    groups_of(query, &rows)
}

#[test]
fn slack_is_what_the_parts_without_a_group_may_have_of_it() {
    let query = top(Expr::Leaf(GroupInput::RawCount), 2, 0);
    let mut left = counts(&query, &[(1, 50), (2, 40), (3, 7), (4, 5)]);
    let mut right = counts(&query, &[(1, 50), (5, 30), (2, 9), (3, 8)]);
    left.keep_largest(Rank::RawCount, 2);
    right.keep_largest(Rank::RawCount, 2);
    let parts = left.cut_parts().expect("a cut");
    assert_eq!(parts, CutParts { threshold: 7, groups: 2, rows: 12, slacks: Vec::new() });
    left.merge(right);
    // By key: 1 is whole, 2 and 5 are of one side each.
    let parts = left.cut_parts().expect("a cut");
    assert_eq!(parts, CutParts { threshold: 16, groups: 4, rows: 29, slacks: vec![0, 9, 7] });
    let keys = [1, 2].map(|key| vec![Value::integer(key)].into_boxed_slice()).to_vec();
    assert_eq!(left.next_round(&query), NextRound::Keys(keys));
    assert_eq!(left.largest_error(&query), 16);
    // The level above leaves out 2 and 5, which may have 49 and 37.
    left.keep_largest(Rank::RawCount, 1);
    let parts = left.cut_parts().expect("a cut");
    assert_eq!(parts, CutParts { threshold: 49, groups: 6, rows: 99, slacks: Vec::new() });
}

#[test]
fn a_tie_with_the_last_row_is_not_decided() {
    let query = top(Expr::Leaf(GroupInput::RawCount), 1, 0);
    for (rows, next) in [(6, NextRound::None), (5, NextRound::All)] {
        let mut groups = counts(&query, &[(9, rows), (1, 5)]);
        groups.keep_largest(Rank::RawCount, 1);
        assert_eq!(groups.next_round(&query), next);
    }
}

#[test]
fn groups_without_bounds_are_all_sent() {
    let query = top(measure(AggregateFunction::Sum), 1, 0);
    let double = Value::Number("1e300".parse().expect("a number"));
    for last in [Value::integer(-1), double] {
        let mut groups = counts(&query, &[(1, 1), (2, 1)]);
        groups.add_row(&[Value::integer(3)], &[last.clone(), last], Weight::ONE);
        groups.keep_largest(Rank::SumOf(0), 1);
        assert_eq!((groups.len(), groups.cut_parts()), (3, None));
    }
}

#[test]
fn too_many_candidates_or_too_long_keys_are_not_asked_for_by_key() {
    let query = top(Expr::Leaf(GroupInput::RawCount), 1, 0);
    let slack = |mut groups: Groups| {
        let mut other = counts(&query, &[(-1, 4), (-2, 3)]);
        other.keep_largest(Rank::RawCount, 1);
        groups.merge(other);
        groups.next_round(&query)
    };
    let most = i64::try_from(TOP_KEYS_MAX).expect("small");
    let many = |keys: i64| counts(&query, &(0..keys).map(|key| (key, 4)).collect::<Vec<_>>());
    // The other part's group is a candidate, too.
    assert!(matches!(slack(many(most - 1)), NextRound::Keys(keys) if keys.len() == TOP_KEYS_MAX));
    assert_eq!(slack(many(most)), NextRound::All);
    let mut long = many(0);
    let text = "x".repeat(TOP_KEYS_BYTES_MAX);
    for _ in 0..4 {
        long.add_row(
            &[Value::String(text.as_str().into())],
            &[Value::Null, Value::Null],
            Weight::ONE,
        );
    }
    assert_eq!(slack(long), NextRound::All);
}

#[test]
fn bounds_from_outside_are_checked() {
    let query = top(Expr::Leaf(GroupInput::RawCount), 1, 0);
    let groups = || counts(&query, &[(1, 1), (2, 1)]);
    let with = |threshold, slacks| {
        let cut = groups().with_cut(CutParts { threshold, groups: 1, rows: 1, slacks });
        cut.map(|groups| groups.next_round(&query))
    };
    assert_eq!(with(TOP_BOUND_MAX, Vec::new()), Some(NextRound::All));
    assert!(with(5, vec![5, 0]).is_some());
    for (threshold, slacks) in
        [(0, vec![]), (TOP_BOUND_MAX + 1, vec![]), (5, vec![6, 0]), (5, vec![-1, 0]), (5, vec![0])]
    {
        assert_eq!(with(threshold, slacks.clone()), None, "{threshold} {slacks:?}");
    }
    // The largest bounds of many parts do not wrap.
    let mut all = groups();
    for _ in 0..10 {
        let cut = CutParts { threshold: TOP_BOUND_MAX, groups: u64::MAX, rows: 1, slacks: vec![] };
        all.merge(groups().with_cut(cut).expect("in range"));
    }
    assert_eq!(all.next_round(&query), NextRound::All);
    assert_eq!(all.cut_parts().map(|parts| parts.threshold), Some(TOP_BOUND_MAX));
}

#[test]
fn a_warning_names_the_largest_error() {
    let query = top(measure(AggregateFunction::Sum), 1, 0);
    let cut = CutParts { threshold: 2_000_001, groups: 1, rows: 1, slacks: Vec::new() };
    let groups = Groups::new(&query).with_cut(cut).expect("in range");
    let mut partial = Partial { body: PartialBody::Groups(groups), ..Partial::empty(&query) };
    partial.warn_inexact(&query);
    let warnings: Vec<_> = partial.warnings.iter().collect();
    assert_eq!((warnings[0].code, warnings[0].count), (WarningCode::TopInexact, 3));
}
