//! Hostile columns of groups: each malformed one is refused with its position.

use bytes::Bytes;
use hadal_aggregate::Partial;
use hadal_query::{Expr, Measure, Query, QueryKind, RowInput, StateKind};
use hadal_types::limits::{FRAMES_MEMORY_MAX, LEAF_GROUPS_MAX};
use hadal_types::{TableName, Value};
use prost::Message;

use super::hostile::refused_partial;
use super::vectors::{groups_partial, groups_query};
use crate::frames::{self, Frames};
use crate::numbers::{encode, zigzag};
use crate::partial::{decode_partial, encode_partial};
use crate::proto::{self, extremes_column, key_column, moments_column, state_column};
use crate::value::encode_value;

fn groups_of(partial: &mut proto::Partial) -> &mut proto::Groups {
    match &mut partial.answering {
        Some(proto::partial::Answering::Groups(groups)) => groups,
        _ => panic!("no groups"),
    }
}

/// The error of the frozen groups after a change, without their position.
#[track_caller]
fn assert_refused(change: impl FnOnce(&mut proto::Groups), error: &str) {
    let refused = refused_partial(|partial| change(groups_of(partial)));
    assert_eq!(refused.strip_prefix("Partial.groups"), Some(error), "{refused}");
}

fn numbers(numbers: &[u128]) -> Bytes {
    encode(numbers.iter().copied())
}

fn signed(numbers: &[i128]) -> Bytes {
    encode(numbers.iter().map(|&number| zigzag(number)))
}

fn tallies(groups: &mut proto::Groups) -> &mut proto::Tallies {
    groups.tallies.as_mut().expect("there")
}

fn moments(groups: &mut proto::Groups) -> &mut proto::MomentsColumn {
    match &mut groups.states[0].states {
        Some(state_column::States::Moments(moments)) => moments,
        _ => panic!("no moments"),
    }
}

fn extremes(groups: &mut proto::Groups) -> &mut proto::ExtremesColumn {
    match &mut groups.states[1].states {
        Some(state_column::States::Extremes(extremes)) => extremes,
        _ => panic!("no extremes"),
    }
}

#[test]
fn groups_of_another_number_are_refused() {
    assert_refused(
        |groups| groups.count = 2,
        ".keys[0].indexes: found 1 more bytes, expected 2 numbers",
    );
    assert_refused(
        |groups| groups.count = 4,
        ".keys[0].indexes: found 3 bytes, expected 4 numbers",
    );
    let most = u32::try_from(LEAF_GROUPS_MAX).expect("small");
    assert_refused(
        |groups| groups.count = most + 1,
        ": 1000001 groups; at most 1000000 are allowed",
    );
    assert_refused(|groups| drop(groups.keys.pop()), ": found 1 keys, expected 2");
    assert_refused(|groups| drop(groups.states.pop()), ": found 4 states, expected 5");
    assert_refused(|groups| groups.tallies = None, ".tallies: is missing");
}

#[test]
fn keys_are_values_of_groups_in_order() {
    let values = |values| move |groups: &mut proto::Groups| groups.keys[1].values = values;
    let strings = |lengths: &[u128], text: &'static str| {
        let lengths = numbers(lengths);
        values(Some(key_column::Values::Strings(proto::Texts { lengths, text: text.into() })))
    };
    assert_refused(values(None), ".keys[1]: is missing");
    let unordered = "found values out of order, expected ascending values, each once";
    assert_refused(strings(&[1, 1], "ba"), &format!(".keys[1].strings: {unordered}"));
    assert_refused(strings(&[1, 1], "aa"), &format!(".keys[1].strings: {unordered}"));
    assert_refused(
        strings(&[1, 1], "abc"),
        ".keys[1].strings: found 1 more bytes, expected 2 texts",
    );
    let bad = ".keys[1].strings.lengths: found bad number 1, expected 2 numbers in range";
    assert_refused(strings(&[1, 2], "ab"), bad);
    assert_refused(strings(&[1, u128::MAX], "ab"), bad);
    assert_refused(
        strings(&[1, 2], "\u{e9}a"),
        ".keys[1].strings.lengths: found bad number 0, expected 2 numbers in range",
    );
    assert_refused(strings(&[1; 4], "abcd"), ".keys[1].strings: 4 values; at most 3 are allowed");
    let invalid = proto::Texts { lengths: numbers(&[1]), text: Bytes::from_static(&[0xff]) };
    let refused = refused_partial(|partial| {
        values(Some(key_column::Values::Strings(invalid)))(groups_of(partial));
    });
    assert!(refused.starts_with("Partial.groups.keys[1].strings.text: found invalid utf-8"));
    let integers = |ints| values(Some(key_column::Values::Integers(ints)));
    let bad = ".keys[1].integers: found bad number 1, expected 2 numbers in range";
    assert_refused(integers(numbers(&[7, 0])), bad);
    assert_refused(integers(numbers(&[zigzag(i64::MAX.into()), 1])), bad);
    assert_refused(integers(numbers(&[7, u128::MAX])), bad);
    assert_refused(
        integers(numbers(&[zigzag(i128::from(i64::MAX) + 1)])),
        ".keys[1].integers: found bad number 0, expected 1 numbers in range",
    );
    let others = |all: &[Value]| {
        let all = frames::encode(all.iter().map(encode_value));
        values(Some(key_column::Values::Others(all)))
    };
    let (no, yes) = (Value::Bool(false), Value::Bool(true));
    assert_refused(others(&[yes.clone(), no.clone()]), &format!(".keys[1].others: {unordered}"));
    assert_refused(
        others(&[no.clone(), Value::Null]),
        ".keys[1].others: found null, expected other values",
    );
    assert_refused(
        others(&[no, yes, Value::integer(1), Value::integer(2)]),
        ".keys[1].others: 4 values; at most 3 are allowed",
    );
}

#[test]
fn indexes_are_of_values_and_ascend() {
    let indexes = |key: usize, indexes: &[i128]| {
        let indexes = signed(indexes);
        move |groups: &mut proto::Groups| groups.keys[key].indexes = indexes
    };
    for beyond in [[0, 1, 2], [0, 1, -2], [0, 1, i128::MAX], [0, 1, i128::MIN]] {
        let error = ".keys[1].indexes: found bad number 2, expected 3 numbers in range";
        assert_refused(indexes(1, &beyond), error);
    }
    assert_refused(
        indexes(1, &[0, 2, 0]),
        ".keys[1].indexes: found value 1 of no group, expected values of groups",
    );
    let unordered = "found keys out of order, expected ascending keys";
    assert_refused(indexes(1, &[0, 2, -1]), &format!(".group[2]: {unordered}"));
    assert_refused(indexes(1, &[0, 0, 1]), &format!(".group[1]: {unordered}"));
    assert_refused(indexes(0, &[1, -1, 0]), &format!(".group[1]: {unordered}"));
}

#[test]
fn tallies_are_what_rows_weigh() {
    let weigh = |row_weight, weights: &'static [u128], squares: &'static [u128]| {
        move |groups: &mut proto::Groups| {
            let (weights, weight_squares) = (numbers(weights), numbers(squares));
            let rows = numbers(&[0, 1, 2]);
            *tallies(groups) = proto::Tallies { rows, row_weight, weights, weight_squares };
        }
    };
    assert_refused(
        weigh(0, &[1, 1, 1], &[0, 1, 1]),
        ".tallies: found 0 rows of weight 1, squared 0, expected what rows weigh",
    );
    assert_refused(
        weigh(0, &[0, 1, 1 << 127], &[0, 1, 1]),
        ".tallies.weights: found bad number 2, expected 3 numbers in range",
    );
    assert_refused(
        weigh(0, &[0, 1, 1], &[0, 1]),
        ".tallies.weight_squares: found 2 bytes, expected 3 numbers",
    );
    assert_refused(
        weigh(7, &[0, 7, 14], &[]),
        ".tallies: found weights beside a weight of all rows, expected one of them",
    );
    assert_refused(
        weigh(u64::MAX, &[], &[]),
        ".tallies.rows: found bad number 1, expected 3 numbers in range",
    );
    assert_refused(
        |groups| tallies(groups).rows = numbers(&[1, 1, 1 << 64]),
        ".tallies.rows: found bad number 2, expected 3 numbers in range",
    );
}

#[test]
fn columns_of_states_are_of_the_kind_of_the_measure() {
    assert_refused(|groups| groups.states.swap(0, 1), ".states[0]: found MinMax, expected Moments");
    assert_refused(|groups| groups.states.swap(0, 2), ".states[0]: found states, expected Moments");
    assert_refused(
        |groups| groups.states.swap(2, 3),
        ".states[2].others[0]: found Distinct, expected Quantiles",
    );
    assert_refused(|groups| groups.states[4].states = None, ".states[4]: is missing");
    let others = |count: usize| {
        move |groups: &mut proto::Groups| {
            let Some(state_column::States::Others(states)) = &mut groups.states[2].states else {
                panic!("no states")
            };
            let all: Vec<proto::State> = Frames::new(states.clone()).map(Result::unwrap).collect();
            *states = frames::encode(all.into_iter().cycle().take(count));
        }
    };
    assert_refused(others(2), ".states[2].others: found 2 messages, expected 3");
    assert_refused(others(4), ".states[2].others: 4 messages; at most 3 are allowed");
}

#[test]
fn quantiles_weigh_what_rows_can() {
    for weight in [0, 1_000_000_000_000_001, u64::MAX] {
        let weigh = |groups: &mut proto::Groups| {
            let Some(state_column::States::Others(states)) = &mut groups.states[2].states else {
                panic!("no states")
            };
            let mut all: Vec<proto::State> =
                Frames::new(states.clone()).map(Result::unwrap).collect();
            let Some(proto::state::State::Quantiles(quantiles)) = &mut all[0].state else {
                panic!("no quantiles")
            };
            let Some(proto::quantiles::Quantiles::Exact(exact)) = &mut quantiles.quantiles else {
                panic!("not exact")
            };
            exact.values[0].weight = weight;
            *states = frames::encode(all);
        };
        assert_refused(
            weigh,
            &format!(
                ".states[2].others[0].values[0]: found a weight of {weight} millionths, \
                 expected 1 to 1000000000000000"
            ),
        );
    }
}

#[test]
fn sums_are_as_many_as_groups_and_in_range() {
    let scaled = |scale: u32, sums: &[i128]| {
        let sums = moments_column::Sums::Scaled(proto::ScaledSums { scale, sums: signed(sums) });
        move |groups: &mut proto::Groups| moments(groups).sums = Some(sums)
    };
    let moments_at = ".states[0].moments";
    assert_refused(|groups| moments(groups).sums = None, &format!("{moments_at}.sums: is missing"));
    assert_refused(scaled(25, &[0; 3]), &format!("{moments_at}.scale: found 25, expected 0 to 24"));
    assert_refused(
        scaled(0, &[0; 2]),
        &format!("{moments_at}.sums: found 2 bytes, expected 3 numbers"),
    );
    assert_refused(
        scaled(0, &[0; 4]),
        &format!("{moments_at}.sums: found 1 more bytes, expected 3 numbers"),
    );
    assert_refused(
        scaled(5, &[0, 0, i128::MAX / 10 + 1]),
        ": found groups, expected such as the query asks for",
    );
    let exact = |sum: proto::Sum, count| {
        let sums = frames::encode(vec![sum; count]);
        move |groups: &mut proto::Groups| {
            moments(groups).sums = Some(moments_column::Sums::Exact(sums));
        }
    };
    assert_refused(
        exact(proto::Sum::default(), 3),
        &format!("{moments_at}.exact[0]: found 0 bytes of decimals, expected 32"),
    );
    let sum = proto::Sum { decimals: Bytes::from_static(&[0; 32]), ..Default::default() };
    assert_refused(
        exact(sum.clone(), 2),
        &format!("{moments_at}.exact: found 2 messages, expected 3"),
    );
    assert_refused(
        exact(sum, 4),
        &format!("{moments_at}.exact: 4 messages; at most 3 are allowed"),
    );
    assert_refused(
        |groups| moments(groups).tallies = Some(proto::Tallies::default()),
        &format!("{moments_at}.tallies.rows: found 0 bytes, expected 3 numbers"),
    );
}

#[test]
fn extremes_are_ranges_of_the_groups_that_have_values() {
    let at = ".states[1].extremes";
    let ranges = |valid: &'static [u8], scale, minima: &[i128], widths: &[u128]| {
        let ranges = proto::Ranges { scale, minima: signed(minima), widths: numbers(widths) };
        move |groups: &mut proto::Groups| {
            extremes(groups).valid = valid.into();
            extremes(groups).extremes = Some(extremes_column::Extremes::Numbers(ranges));
        }
    };
    assert_refused(|groups| extremes(groups).extremes = None, &format!("{at}: is missing"));
    assert_refused(
        ranges(&[], 19, &[0; 3], &[0; 3]),
        &format!("{at}.numbers.scale: found 19, expected 0 to 18"),
    );
    assert_refused(
        ranges(&[0b101], 0, &[0; 3], &[0; 2]),
        &format!("{at}.numbers.minima: found 1 more bytes, expected 2 numbers"),
    );
    assert_refused(
        ranges(&[], 0, &[0, 1, i128::from(i64::MAX)], &[0, 1, 1]),
        &format!("{at}.numbers.widths: found bad number 2, expected 3 numbers in range"),
    );
    assert_refused(
        ranges(&[], 0, &[0, 1, i128::from(i64::MAX) + 1], &[0; 3]),
        &format!("{at}.numbers.minima: found bad number 2, expected 3 numbers in range"),
    );
    assert_refused(
        ranges(&[0b1101], 0, &[0; 3], &[0; 3]),
        &format!("{at}.valid: found bits in 1 bytes, expected 3 bits"),
    );
    let times = proto::Ranges { scale: 1, minima: signed(&[0; 3]), widths: numbers(&[0; 3]) };
    assert_refused(
        |groups| extremes(groups).extremes = Some(extremes_column::Extremes::Times(times)),
        &format!("{at}.times.scale: found 1, expected 0 to 0"),
    );
    let others = |all: &[Value]| {
        let all = extremes_column::Extremes::Others(frames::encode(all.iter().map(encode_value)));
        move |groups: &mut proto::Groups| extremes(groups).extremes = Some(all)
    };
    let (one, two) = (Value::integer(1), Value::integer(2));
    let upside_down =
        format!("{at}.others: found a range upside down or of null, expected min to max");
    assert_refused(
        others(&[one.clone(), one.clone(), two.clone(), one.clone(), one.clone(), two.clone()]),
        &upside_down,
    );
    let nulls = [one.clone(), two.clone(), one.clone(), two.clone(), Value::Null, Value::Null];
    assert_refused(others(&nulls), &upside_down);
    assert_refused(others(&[one, two]), &format!("{at}.others: found 2 messages, expected 6"));
}

/// A query for groups by one key, with this many measures.
fn query_of(kind: StateKind, measures: usize) -> Query {
    let measure = || Measure::new(kind, Expr::Leaf(RowInput::Time));
    let measures = (0..measures).map(|_| measure()).collect();
    let keys = vec![Expr::Leaf(RowInput::Time)];
    Query::new(TableName::new("t").expect("a name"), QueryKind::Groups { keys, measures })
}

#[test]
fn columns_that_take_much_more_than_their_bytes_are_refused() {
    // A group has one byte in each of 16 columns. In memory each takes many times as much.
    let count = LEAF_GROUPS_MAX;
    let query = query_of(StateKind::Moments, 16);
    let zeros = Bytes::from(vec![0; count]);
    let column = proto::StateColumn {
        states: Some(state_column::States::Moments(proto::MomentsColumn {
            tallies: None,
            sums: Some(moments_column::Sums::Scaled(proto::ScaledSums {
                scale: 0,
                sums: zeros.clone(),
            })),
        })),
    };
    let steps: Vec<u128> = [0].into_iter().chain([1].into_iter().cycle()).take(count).collect();
    let signed_steps = [0].into_iter().chain([1].into_iter().cycle()).take(count);
    let groups = proto::Groups {
        cut: None,
        dropped_rows: 0,
        count: u32::try_from(count).expect("small"),
        keys: vec![proto::KeyColumn {
            values: Some(key_column::Values::Integers(numbers(&steps))),
            indexes: encode(signed_steps.map(zigzag)),
        }],
        tallies: Some(proto::Tallies { rows: zeros, row_weight: 1, ..Default::default() }),
        states: vec![column; 16],
    };
    let partial = proto::Partial {
        answering: Some(proto::partial::Answering::Groups(groups)),
        coverage: Some(proto::Coverage::default()),
        stats: Some(proto::ScanStats::default()),
        ..Default::default()
    };
    let error = decode_partial(partial.encode_to_vec().into(), &query).expect_err("a bomb");
    assert!(error.is_limit());
    let memory = format!("needs more than {FRAMES_MEMORY_MAX} bytes of memory");
    assert!(error.to_string().ends_with(&memory), "{error}");
}

#[test]
fn frozen_groups_use_all_compact_columns() {
    let mut partial = proto::Partial::decode(encode_partial(groups_partial())).expect("protobuf");
    let groups = groups_of(&mut partial);
    assert!(matches!(groups.keys[0].values, Some(key_column::Values::Times(_))));
    assert!(matches!(groups.keys[1].values, Some(key_column::Values::Strings(_))));
    assert!(moments(groups).tallies.is_none(), "all rows have a value");
    let empty = Partial::empty(&groups_query());
    assert_eq!(decode_partial(encode_partial(empty.clone()), &groups_query()), Ok(empty));
}
