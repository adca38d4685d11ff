use hadal_encoding::CanonicalStrings;
use hadal_query::StateKind;
use hadal_types::limits::GROUPS_MAX;
use proptest::prelude::*;

use super::*;
use crate::groups::accumulators::layout::{AccumulatorColumn, SumInput};

const MEASURES: usize = 2;

/// Rows that come in together. Each has the index of its key (or of none), a weight class, and one
/// mantissa for all measures, or none.
#[derive(Clone, Debug)]
struct Block {
    ints: Vec<i64>,
    /// Whether the first keys are strings made from these integers.
    are_texts: bool,
    /// Whether these come as template strings.
    are_lifted: bool,
    /// The other keys follow from the first.
    key_count: usize,
    classes: Vec<i64>,
    /// By measure: the scale, or `None` if no sum comes in.
    scales: [Option<u8>; MEASURES],
    size_max: u128,
    rows: Vec<(usize, usize, Option<i64>)>,
}

impl Block {
    fn sums(&self) -> Vec<SumInput> {
        let valid = usize::from(self.rows.iter().any(|row| row.2.is_none()));
        let size_max = self.size_max;
        let sum = |(measure, scale): (usize, &Option<u8>)| {
            Some(SumInput { measure, scale: (*scale)?, valid, size_max })
        };
        self.scales.iter().enumerate().filter_map(sum).collect()
    }

    fn incoming<'i>(&'i self, sums: &'i [SumInput]) -> AccumulatorInput<'i> {
        let rows = self.rows.len() as u64;
        AccumulatorInput { classes: &self.classes, sums, rows, weighted: None }
    }

    fn key(&self, row: usize) -> Vec<Value> {
        let int = self.ints.get(self.rows[row].0 % (self.ints.len() + 1)).copied();
        let first = match int {
            Some(int) if self.are_texts => Value::string(&text(int)),
            Some(int) => Value::integer(int),
            None => Value::Null,
        };
        // Enough combinations that groups are found by hash.
        let other = |key: i64| match int.unwrap_or(-7) % (40 + key) {
            7 => Value::Null,
            rest if key % 2 == 0 => Value::string(&text(rest)),
            rest => Value::integer(rest),
        };
        std::iter::once(first).chain((1..).take(self.key_count - 1).map(other)).collect()
    }

    /// Adds the rows; `place_of` maps a row to its index in `numbers`.
    fn add(
        &self,
        layout: &AccumulatorLayout,
        place_of: &dyn Fn(usize) -> usize,
        numbers: &mut [i64],
    ) {
        let width = layout.columns.len();
        for (row, (_, class, value)) in self.rows.iter().enumerate() {
            let incoming = class % self.classes.len();
            let start = (place_of(row) * layout.class_count + layout.classes[incoming]) * width;
            for (number, column) in numbers[start..start + width].iter_mut().zip(&layout.columns) {
                let factor = column.factors().get(incoming).copied().unwrap_or(0);
                *number += match column {
                    AccumulatorColumn::Nothing => 0,
                    AccumulatorColumn::Count { valid, .. }
                    | AccumulatorColumn::Squares { valid, .. } => {
                        i64::from(*valid == 0 || value.is_some()) * factor
                    }
                    AccumulatorColumn::Sum { .. } => value.unwrap_or(0) * factor,
                };
            }
        }
    }

    /// The reference: looks up the groups first.
    fn add_now(&self, groups: &mut Groups) {
        let group_indexes: Vec<u32> = (0..self.rows.len())
            .map(|row| {
                let numbers = groups.numbers_for(&self.key(row));
                groups.find_or_insert(&numbers).expect("room")
            })
            .collect();
        let sums = self.sums();
        let incoming = self.incoming(&sums);
        let added = groups.add_accumulators(&incoming, |layout, numbers| {
            self.add(layout, &|row| group_indexes[row] as usize, numbers);
        });
        assert!(added, "room in cells");
    }

    fn defer(&self, groups: &mut Groups) {
        let sums = self.sums();
        let incoming = self.incoming(&sums);
        if self.key_count > 1 {
            // Each row has an entry of its own; several rows may be of one group.
            let mut keys = vec![Vec::new(); self.key_count];
            for row in 0..self.rows.len() {
                let numbers = groups.numbers_for(&self.key(row));
                keys.iter_mut().zip(numbers).for_each(|(key, number)| key.push(number));
            }
            let added = groups.defer(DeferredKeys::Numbers(&keys), &incoming, |layout, numbers| {
                self.add(layout, &|row| row, numbers);
            });
            return if added { assert!(groups.deferred.is_some()) } else { self.add_now(groups) };
        }
        let number = |row: usize| self.rows[row].0 % (self.ints.len() + 1);
        let texts: Vec<String> = self.ints.iter().copied().map(text).collect();
        let lifted = CanonicalStrings::of(texts.iter().map(String::as_str));
        let whole_texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let keys = match (self.are_texts, self.are_lifted) {
            (true, true) => DeferredKeys::Templates(&lifted),
            (true, false) => DeferredKeys::Strings(&whole_texts),
            (false, _) => DeferredKeys::Ints(&self.ints),
        };
        let added = groups.defer(keys, &incoming, |layout, numbers| {
            self.add(layout, &number, numbers);
        });
        if !added {
            self.add_now(groups);
        }
    }
}

/// Some strings have few numbers, some have more than fit a form.
fn text(int: i64) -> String {
    match int % 5 {
        0 if int % 1_000 == 0 => format!("{int}: {}", "tree ".repeat(1_000)),
        0 => format!("cache miss for {int}"),
        1 => format!("{int} took {:03} ms", int % 400),
        2 => format!("GET {int} after {int} and {int}"),
        _ => format!("user {} logged in, {}", int % 100_000, int / 100_000),
    }
}

fn block() -> impl Strategy<Value = Block> {
    let int = prop_oneof![0i64..90_000, 70_000i64..70_009, any::<i64>()];
    let weight = prop_oneof![Just(1_000_000i64), 1i64..9];
    let value = prop_oneof![4 => (-9i64..9).prop_map(Some), 1 => Just(None)];
    let full = prop_oneof![8 => Just(1u128 << 20), 1 => Just(1u128 << 61)];
    (
        (prop::collection::vec(int, 0..3_000), prop::bool::weighted(0.8), any::<bool>()),
        prop::collection::btree_set(weight, 1..3),
        prop::array::uniform2(prop::option::weighted(0.8, 0u8..3)),
        full,
        prop::collection::vec((any::<usize>(), any::<usize>(), value), 0..2_000),
    )
        .prop_map(|((ints, are_texts, are_lifted), classes, scales, size_max, rows)| Block {
            ints,
            are_texts,
            are_lifted,
            key_count: 1,
            classes: classes.into_iter().collect(),
            scales,
            size_max,
            rows,
        })
}

/// As many groups as it takes for rows to be deferred.
fn many(held_max: usize) -> Groups {
    many_of(held_max, 1, false, false)
}

/// The same with `key_count` keys. The first is a string, which may come as a template, or an
/// integer.
fn many_of(held_max: usize, key_count: usize, are_texts: bool, are_lifted: bool) -> Groups {
    let kinds = vec![StateKind::Moments; MEASURES].into();
    let mut groups = Groups::with_max(key_count, kinds, (held_max, held_max));
    if are_lifted && key_count == 1 {
        groups.groups_of_templates(&CanonicalStrings::of([&*text(0)].into_iter()), 0..1);
    }
    let all = i64::try_from(GROUPS_MIN).expect("small");
    let rows = (0..GROUPS_MIN).map(|row| (row, 0, Some(1))).collect();
    let (ints, classes, scales) = ((0..all).collect(), vec![1_000_000], [Some(0), None]);
    Block { ints, are_texts, are_lifted, key_count, classes, scales, size_max: 1 << 20, rows }
        .add_now(&mut groups);
    groups
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn what_waits_comes_to_the_same(
        mut blocks in prop::collection::vec(block(), 1..9), cut in 0usize..9,
        is_short in any::<bool>(), are_texts in any::<bool>(), are_mixed in any::<bool>(),
        key_count in prop_oneof![1usize..6, Just(8), Just(9), Just(GROUP_KEYS_MAX)],
        are_lifted in any::<bool>(),
    ) {
        for block in &mut blocks {
            block.key_count = key_count;
            block.are_texts = if are_mixed { block.are_texts } else { are_texts };
            block.are_lifted = if are_mixed { block.are_lifted } else { are_lifted };
        }
        let held_max = if is_short { GROUPS_MIN } else { GROUPS_MAX };
        let many = |held_max| many_of(held_max, key_count, are_texts, are_texts && are_lifted);
        let mut groups = many(held_max);
        let mut plain = many_of(held_max, key_count, are_texts, false);
        for block in &blocks {
            block.defer(&mut groups);
            block.add_now(&mut plain);
        }
        prop_assert!(groups == plain);
        // In two parts, which are merged.
        let (first, last) = blocks.split_at(cut.min(blocks.len()));
        let (mut groups, mut other) = (many(held_max), many(held_max));
        first.iter().for_each(|block| block.defer(&mut groups));
        last.iter().for_each(|block| block.defer(&mut other));
        groups.merge(other);
        let mut twice = many(held_max);
        twice.merge(plain);
        prop_assert!(groups == twice);
    }
}

#[test]
fn parts_that_are_full_are_brought_in() {
    let (mut groups, mut plain) = (many(GROUPS_MAX), many(GROUPS_MAX));
    let ints: Vec<i64> = (0..50_000).map(|at| at % 3 + at / 40_000 * 1_000_000_007).collect();
    let rows = (0..ints.len()).map(|row| (row, 0, Some(2))).collect();
    let (classes, scales) = (vec![1_000_000], [Some(0), Some(1)]);
    let block = Block {
        ints,
        are_texts: false,
        are_lifted: false,
        key_count: 1,
        classes,
        scales,
        size_max: 1 << 20,
        rows,
    };
    let before = groups.len();
    block.defer(&mut groups);
    assert!(groups.deferred.is_some() && groups.len() > before, "some were brought in, some wait");
    assert!(groups.bytes() > plain.bytes(), "what waits is held");
    block.add_now(&mut plain);
    assert!(groups == plain);
    let mut short = groups.clone();
    assert!(short.cut_back() && !short.cut_back(), "what waits takes room");
    assert!(short.bytes() < groups.bytes() && short == plain);
    groups.clear();
    assert!(groups.deferred.is_none() && groups.is_empty());
}

#[test]
fn texts_that_are_kept_whole_wait_until_their_part_is_full() {
    let many = || many_of(GROUPS_MAX, 1, true, false);
    let (mut groups, mut plain) = (many(), many());
    let ints: Vec<i64> = (0..50_000).map(|at| at % 3 + at / 40_000 * 1_000_000_007).collect();
    let rows = (0..ints.len()).map(|row| (row, 0, Some(2))).collect();
    let (classes, scales, size_max) = (vec![1_000_000], [Some(0), Some(1)], 1 << 20);
    let (are_texts, are_lifted, key_count) = (true, false, 1);
    let block = Block { ints, are_texts, are_lifted, key_count, classes, scales, size_max, rows };
    let before = groups.len();
    block.defer(&mut groups);
    assert!(groups.deferred.is_some() && groups.len() > before, "some were brought in, some wait");
    assert!(groups.bytes() > plain.bytes(), "what waits is held");
    block.add_now(&mut plain);
    assert!(groups == plain);
    let mut merged = many();
    merged.merge(groups.clone());
    plain.merge(many());
    assert!(merged == plain);
    assert!(groups.cut_back() && !groups.cut_back(), "what waits takes room");
}

#[test]
fn texts_stay_lifted_when_nothing_or_other_texts_are_merged() {
    let mut groups = many_of(GROUPS_MAX, 1, true, true);
    let (len, kinds) = (groups.len(), vec![StateKind::Moments; MEASURES].into());
    groups.merge(Groups::with_max(1, kinds, (GROUPS_MAX, GROUPS_MAX)));
    groups.merge(many_of(GROUPS_MAX, 1, true, true));
    assert_eq!((groups.takes_lifted(), groups.len()), (true, len));
}

#[test]
fn groups_of_several_keys_wait_and_are_merged_part_by_part() {
    for key_count in [2, 3, 4, 5, 8, 9, GROUP_KEYS_MAX] {
        let ints: Vec<i64> = (0..120_000).map(|at| at % 80_000 * 3).collect();
        let rows = (0..ints.len()).map(|row| (row, 0, Some(2))).collect();
        let (classes, scales) = (vec![1_000_000], [Some(0), Some(1)]);
        let size_max = 1 << 20;
        let block = Block {
            ints,
            are_texts: false,
            are_lifted: false,
            key_count,
            classes,
            scales,
            size_max,
            rows,
        };
        let many = || many_of(GROUPS_MAX, key_count, false, false);
        let (mut groups, mut plain) = (many(), many());
        block.defer(&mut groups);
        assert!(groups.deferred.is_some() && groups.bytes() > plain.bytes(), "what waits is held");
        block.add_now(&mut plain);
        assert!(groups == plain);
        let mut short = groups.clone();
        assert!(short.cut_back() && short.bytes() < groups.bytes() && short == plain);
        // The other groups have fewer rows, so that these are the ones that are merged in.
        groups.flush_deferred();
        let mut other = many();
        other.merge(groups.clone());
        assert!(other.deferred.is_some(), "they wait");
        plain.merge(many());
        assert!(other == plain);
        groups.clear();
        assert!(groups.deferred.is_none() && groups.is_empty());
    }
}

#[test]
fn groups_that_are_dropped_count_their_rows() {
    let mut groups = many(GROUPS_MIN);
    let far = |at: i64| 1_000_000 + at;
    let ints: Vec<i64> = (0..20_000).map(far).collect();
    let rows = (0..20_000).map(|row| (row, 0, None)).collect();
    let (classes, scales) = (vec![1_000_000], [Some(0), None]);
    let block = Block {
        ints,
        are_texts: false,
        are_lifted: false,
        key_count: 1,
        classes,
        scales,
        size_max: 1 << 20,
        rows,
    };
    for _ in 0..2 {
        block.defer(&mut groups);
    }
    let (groups, dropped) = groups.into_unsorted();
    assert_eq!((groups.len(), dropped), (GROUPS_MIN, 40_000));
}
