use super::*;
use crate::partial::fixture::{KINDS, column, groups_query};
use proptest::prelude::*;

use hadal_types::Weight;

fn kinds() -> Box<[StateKind]> {
    KINDS.into()
}

fn key(number: i64) -> [Value; 1] {
    [Value::integer(number)]
}

/// Adds a row with this value to the group of this key.
fn add(groups: &mut Groups, number: i64, value: i64) {
    groups.add_row(&key(number), &KINDS.map(|_| Value::integer(value)), Weight::ONE);
}

fn has_room(groups: &mut Groups, number: i64) -> bool {
    let numbers = groups.numbers_for(&key(number));
    groups.find_or_insert(&numbers).is_some()
}

fn of(rows: &[(i64, i64)], groups_max: usize) -> Groups {
    let mut groups = Groups::with_max(1, kinds(), (groups_max, groups_max));
    rows.iter().for_each(|&(number, value)| add(&mut groups, number, value));
    groups
}

fn keys(groups: Groups) -> Vec<Value> {
    groups.into_sorted().0.into_iter().map(|(key, _)| key[0].clone()).collect()
}

#[test]
fn the_smallest_keys_are_kept_and_the_rows_of_others_counted() {
    let rows: Vec<(i64, i64)> = (0..100).rev().map(|number| (number, number)).collect();
    let groups = of(&rows, 10);
    let (sorted, dropped_rows) = groups.clone().into_sorted();
    assert_eq!(keys(groups), (0..10).map(Value::integer).collect::<Vec<_>>());
    assert_eq!(dropped_rows, 90);
    assert!(sorted.iter().all(|(_, group)| group.count.rows() == 1));
}

#[test]
fn a_key_that_cannot_be_kept_is_refused_at_once() {
    let rows: Vec<(i64, i64)> = (0..20).map(|number| (number, 0)).collect();
    let mut groups = of(&rows, 10);
    groups.cut_to_limit();
    assert!(!has_room(&mut groups, 10));
    assert!(has_room(&mut groups, 9));
    assert!(has_room(&mut groups, -1), "smaller keys push larger ones out");
    assert_eq!(keys(groups), (-1..9).map(Value::integer).collect::<Vec<_>>());
}

#[test]
fn what_is_kept_is_complete_after_merging() {
    // Key 3 is dropped nowhere, though each side alone is full.
    let left = of(&[(1, 0), (3, 0), (3, 0), (9, 0), (9, 0)], 2);
    let right = of(&[(3, 0), (4, 0), (5, 0)], 2);
    let mut merged = left.clone();
    merged.merge(right.clone());
    let (sorted, dropped_rows) = merged.clone().into_sorted();
    let rows: Vec<u64> = sorted.iter().map(|(_, group)| group.count.rows()).collect();
    assert_eq!((rows, dropped_rows), (vec![1, 3], 4));
    let mut other_way = right;
    other_way.merge(left);
    assert_eq!(other_way, merged);
}

#[test]
fn a_part_that_keeps_fewer_takes_what_it_dropped_from_all() {
    // Key 9 is dropped on the left, so its row on the right is incomplete.
    let left = of(&[(1, 0), (3, 0), (9, 0), (9, 0)], 2);
    let right = of(&[(3, 0), (4, 0), (9, 0)], 10);
    let expected = [(1, 1), (3, 2)];
    let sent = |groups: Groups| {
        let (sorted, dropped_rows) = groups.into_sorted();
        let query = groups_query(vec![column(0)], Vec::new());
        Groups::from_parts(&query, sorted, dropped_rows).expect("fits")
    };
    let mut one = left.clone();
    one.merge(right.clone());
    let mut other = right.clone();
    other.merge(left.clone());
    let mut remote = sent(right);
    remote.merge(sent(left));
    for mut merged in [one, other, remote] {
        assert!(!has_room(&mut merged, 4) && has_room(&mut merged, 2));
        let (sorted, dropped_rows) = merged.into_sorted();
        let rows = |(key, group): &KeyedGroup| (key[0].clone(), group.count.rows());
        let counts: Vec<_> = sorted.iter().map(rows).filter(|entry| entry.1 > 0).collect();
        assert_eq!(counts, expected.map(|(key, rows)| (Value::integer(key), rows)));
        assert_eq!(dropped_rows, 4);
    }
}

#[test]
fn more_are_held_than_are_kept_while_there_is_memory() {
    let mut groups = Groups::with_max(1, kinds(), (10, 20));
    (0..22).for_each(|number| add(&mut groups, number, 1));
    assert_eq!(groups.len(), 22, "up to an eighth more, until there is something to drop");
    add(&mut groups, 22, 1);
    add(&mut groups, 23, 1);
    assert!(groups.len() < 22, "{}", groups.len());
    let mut short = groups.clone();
    assert!(short.cut_back() && !short.cut_back());
    assert_eq!(short.len(), 10);
    assert!(has_room(&mut short, 3) && !has_room(&mut short, 15));
    assert_eq!(short, groups);
    assert_eq!(keys(short), (0..10).map(Value::integer).collect::<Vec<_>>());
}

#[test]
fn bytes_grow_with_keys_and_states() {
    let one = of(&[(1, 1)], 10).bytes();
    let two = of(&[(1, 1), (2, 2)], 10).bytes();
    let sketched = of(&(0..5_000).map(|value| (1, value)).collect::<Vec<_>>(), 10).bytes();
    assert!(two > one, "{two} {one}");
    assert!(sketched > one + (1 << 14), "{sketched} {one}");
    let mut long = Groups::with_max(1, kinds(), (10, 10));
    let text = "x".repeat(10_000);
    let _ = long.key_mut(0).number_of_string(&text);
    assert!(long.bytes() > 10_000);
}

#[test]
fn dropped_keys_give_their_bytes_back() {
    let rows: Vec<(i64, i64)> = (0..1_000).rev().map(|number| (number, 0)).collect();
    let mut groups = of(&rows, 10);
    groups.cut_to_limit();
    let few: Vec<(i64, i64)> = (0..10).map(|number| (number, 0)).collect();
    assert_eq!(groups.keys[0].len(), 10);
    assert!(groups.bytes() <= of(&few, 10).bytes());
}

proptest! {
    #[test]
    fn order_and_grouping_do_not_matter(
        mut rows in prop::collection::vec((0i64..30, -5i64..5), 0..200),
        groups_max in 1usize..40, cut in 0usize..200, turn in 0usize..200,
        held_max in 1usize..40,
    ) {
        let whole = of(&rows, groups_max);
        let cut = cut.min(rows.len());
        let mut merged = of(&rows[cut..], groups_max);
        merged.merge(of(&rows[..cut], groups_max));
        prop_assert_eq!(&merged, &whole);
        let turn = turn.min(rows.len());
        rows.rotate_left(turn);
        prop_assert_eq!(of(&rows, groups_max), whole);
        // Whichever parts dropped groups: kept groups are complete, and all other rows are counted.
        let mut uneven = of(&rows[turn..], held_max);
        uneven.merge(of(&rows[..turn], groups_max));
        let kept = uneven.len();
        let (uneven, dropped_rows) = uneven.into_sorted();
        let (all, _) = of(&rows, 1_000).into_sorted();
        prop_assert!(kept >= held_max.min(groups_max).min(all.len()));
        prop_assert_eq!(&uneven[..], &all[..uneven.len()]);
        let kept_rows: u64 = uneven.iter().map(|entry| entry.1.count.rows()).sum();
        prop_assert_eq!(kept_rows + dropped_rows, rows.len() as u64);
    }
}

/// Keys of one dictionary: integers, strings, several kinds; each with nulls.
fn keyed(kind: usize, number: i64) -> Value {
    match (kind, number) {
        (_, 3) => Value::Null,
        (0, _) => Value::integer(number),
        (1, _) => Value::string(&number.to_string()),
        _ if number % 2 == 0 => Value::Bool(number % 4 == 0),
        _ => Value::string(&number.to_string()),
    }
}

proptest! {
    #[test]
    fn keys_of_any_kind_merge(
        left in prop::collection::vec(0i64..40, 0..60),
        right in prop::collection::vec(0i64..40, 0..60),
        kinds_of_keys in (0usize..3, 0usize..3), groups_max in 1usize..50,
    ) {
        let of = |rows: &[(usize, i64)]| {
            let mut groups = Groups::with_max(1, kinds(), (groups_max, groups_max));
            for &(kind, number) in rows {
                let values = KINDS.map(|_| Value::integer(number));
                groups.add_row(&[keyed(kind, number)], &values, Weight::ONE);
            }
            groups
        };
        let left: Vec<_> = left.into_iter().map(|number| (kinds_of_keys.0, number)).collect();
        let right: Vec<_> = right.into_iter().map(|number| (kinds_of_keys.1, number)).collect();
        let mut merged = of(&left);
        merged.merge(of(&right));
        prop_assert_eq!(merged, of(&[left, right].concat()));
    }
}
