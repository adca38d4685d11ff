//! Subsampled blocks: the rows that are kept, their weights, and the sample factor in the header.

use std::collections::BTreeMap;

use hadal_types::{BatchId, ColumnName, Kind, Micros, Number, Value, Weight};

use super::cold::with_front;
use super::model::{Random, Row, assert_same, build, cold, name, random_rows, read};
use crate::{BlockError, BlockView, MergeOrder, Sampling, merge, merge_from, sample};

pub(super) fn view(bytes: &[u8]) -> BlockView<'_> {
    let block = BlockView::parse(bytes).expect("parses");
    block.verify().expect("checksums are right");
    block
}

pub(super) const fn one_in(one_in: u16) -> Sampling<'static> {
    Sampling { one_in, key: None, by: &[], least: 1 }
}

/// The single block that results from sampling these bytes.
pub(super) fn sampled(bytes: &[u8], sampling: &Sampling<'_>) -> Vec<u8> {
    let mut made = sample(&view(bytes), sampling).expect("samples");
    assert_eq!(made.len(), 1);
    made.remove(0)
}

/// A row's weight, in millionths.
pub(super) fn weight(row: &Row) -> i64 {
    let rate = match row.cells.get(Weight::COLUMN) {
        Some(Value::Number(rate)) => *rate,
        _ => Number::integer(1),
    };
    Weight::from_rate(rate).unwrap_or(Weight::ONE).millionths()
}

/// A row without its weight.
fn bare(row: &Row) -> Row {
    let mut bare = row.clone();
    bare.cells.remove(Weight::COLUMN);
    bare
}

/// The rows of each group, grouped by these columns.
fn groups<'r>(rows: &'r [Row], by: &[ColumnName]) -> BTreeMap<String, Vec<&'r Row>> {
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key: Vec<_> = by.iter().map(|column| row.cells.get(column.as_str())).collect();
        groups.entry(format!("{key:?}")).or_default().push(row);
    }
    groups
}

/// Asserts all properties of a sample of these rows, which must have distinct values of `row`.
fn assert_sample(before: &[Row], after: &[Row], sampling: &Sampling<'_>) {
    let mut rest = before.iter();
    let mut factors: BTreeMap<String, i64> = BTreeMap::new();
    for row in after {
        let was = rest.find(|was| was.cells["row"] == row.cells["row"]);
        let was = was.expect("every row that is left was there, in this order");
        assert_same(&[bare(row)], &[bare(was)]);
        let factor = weight(row) / weight(was);
        assert_eq!(weight(row), weight(was) * factor, "weights are multiplied by whole numbers");
        let is_allowed = factor == i64::from(sampling.one_in) || factor.count_ones() == 1;
        assert!(is_allowed && factor <= i64::from(sampling.one_in), "{factor}");
        let group = groups(std::slice::from_ref(was), sampling.by).into_keys().next();
        let group = group.expect("one");
        let others = *factors.entry(group).or_insert(factor);
        assert_eq!(others, factor, "rows of a group weigh alike");
    }
    let kept = groups(after, sampling.by);
    for (group, rows) in groups(before, sampling.by) {
        let kept = kept.get(&group).map_or(0, Vec::len);
        let least = usize::try_from(sampling.least).expect("fits");
        assert!(kept >= rows.len().min(least), "{kept} of {} of group {group}", rows.len());
        let factor = factors[&group];
        // The original number is known to within one factor, and no more rows are dropped than
        // requested.
        let stand_for = kept * usize::try_from(factor).expect("positive");
        assert!(stand_for.abs_diff(rows.len()) < usize::try_from(factor).expect("positive"));
        if factor < i64::from(sampling.one_in) {
            let doubled = usize::try_from(factor * 2).expect("positive");
            assert!(rows.len() < doubled * least || factor * 2 > sampling.one_in.into());
        }
    }
}

#[test]
fn any_rows_can_be_sampled() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let count = random.pick(&[1, 2, 20, 300, 3_000]);
        let mut rows = random_rows(&mut random, count);
        for (row, index) in rows.iter_mut().zip(0..) {
            row.cells.insert("row".to_owned(), Value::integer(index));
            if seed % 2 == 0 && index % 3 == 0 {
                let rate = random.pick(&["2.5", "0.000001", "7", "100000", "33.333333"]);
                let rate = Value::Number(rate.parse().expect("a number"));
                row.cells.insert(Weight::COLUMN.to_owned(), rate);
            }
        }
        let columns = [name("c0"), name("c1"), name("nowhere")];
        let by = &columns[..random.below(4)];
        let least = random.pick(&[1, 1, 2, 10, 65_536]);
        let share = random.pick(&[2, 3, 10, 100, 10_000]);
        let sampling = Sampling { one_in: share, key: None, by, least };
        let bytes = build(&rows, BatchId::new("a-batch").as_ref());
        let made = sampled(&bytes, &sampling);
        // The rows as they are read: truths may have become numbers.
        let rows = read(&bytes);
        assert_sample(&rows, &read(&bytes_of(&made)), &sampling);
        let block = view(&made);
        assert_eq!(block.kept_one_in(), sampling.one_in);
        assert_eq!((block.batches(), made[8]), (&[][..], version(&block)));
        assert_eq!(block.created_at(), view(&bytes).created_at());
        assert_eq!(sampled(&bytes, &sampling), made, "the same block keeps the same rows");
        assert_sample(&rows, &read(&sampled(&cold(&bytes), &sampling)), &sampling);
        // Nothing is left to sample, even with other groups.
        assert_eq!(one_in(sampling.one_in).factor(block.kept_one_in()), 1);
    }
}

/// The version that a sampled block states.
fn version(block: &BlockView<'_>) -> u8 {
    let is_weighted = block.columns().iter().any(|column| column.weighted_sums().is_some());
    if is_weighted { 6 } else { 5 }
}

/// A sampled block after recompression and a merge.
fn bytes_of(made: &[u8]) -> Vec<u8> {
    let chilled = cold(made);
    let expected = (view(made).kept_one_in(), version(&view(made)));
    assert_eq!((view(&chilled).kept_one_in(), chilled[8]), expected);
    let merged = merge(&[view(&chilled)], MergeOrder::Arrival, Micros(78)).expect("merges");
    let [merged] = <[Vec<u8>; 1]>::try_from(merged).expect("one block");
    assert_eq!((view(&merged).kept_one_in(), merged[8]), expected);
    assert_eq!(read(&merged), read(made));
    merged
}

/// `count` rows, one second apart, of a few services, some of them rare.
fn services(count: i64) -> Vec<Row> {
    let row = |index: i64| {
        let rare = index.trailing_zeros();
        let cells = [
            ("v".to_owned(), Value::integer(index)),
            ("service".to_owned(), Value::string(&format!("service-{rare}"))),
        ];
        Row { time: Micros(index * 1_000_000), cells: cells.into() }
    };
    (1..=count).map(row).collect()
}

#[test]
fn every_group_keeps_some_rows() {
    let rows = services(4_096);
    let by = [name("service")];
    let sampling = Sampling { one_in: 100, key: None, by: &by, least: 10 };
    let kept = read(&sampled(&build(&rows, None), &sampling));
    let kept = groups(&kept, &by);
    assert_eq!(kept.len(), 13, "no service is gone");
    let of = |service: u32| {
        let rows = &kept[&format!("[Some({:?})]", Value::string(&format!("service-{service}")))];
        let weights: Vec<i64> = rows.iter().map(|row| weight(row) / Weight::UNIT).collect();
        assert!(weights.iter().all(|weight| *weight == weights[0]));
        (rows.len(), weights[0])
    };
    // With one in 100, 2,048 rows keep 20, and 1,024 keep 10, the minimum.
    assert!(matches!(of(0), (20 | 21, 100)) && matches!(of(1), (10 | 11, 100)));
    // 512 would keep too few, so one in 32 is kept: 16. Smaller groups have smaller factors, until
    // all rows are kept.
    assert_eq!([2, 3, 4, 5].map(of), [(16, 32), (16, 16), (16, 8), (16, 4)]);
    assert_eq!([6, 7, 8, 9].map(of), [(16, 2), (16, 1), (8, 1), (4, 1)]);
    assert_eq!([10, 11, 12].map(of), [(2, 1), (1, 1), (1, 1)]);
    // Without groups most rare services would be lost.
    let kept = read(&sampled(&build(&rows, None), &one_in(100)));
    assert!(groups(&kept, &by).len() < 10 && matches!(kept.len(), 40 | 41));
}

#[test]
fn a_share_that_becomes_smaller_is_sampled_once_more() {
    for (kept, share, factor) in [
        (1, 10, 10),
        (10, 100, 10),
        (10, 25, 2),
        (10, 15, 1),
        (10, 10, 1),
        (100, 10, 1),
        (3, 10, 3),
    ] {
        assert_eq!(one_in(share).factor(kept), factor, "{kept} to {share}");
    }
    let bytes = build(&services(10_000), None);
    let tenth = sampled(&bytes, &one_in(10));
    let hundredth = sampled(&tenth, &one_in(105));
    assert_eq!(view(&hundredth).kept_one_in(), 100);
    let rows = read(&hundredth);
    assert_eq!(rows.len(), 100);
    assert!(rows.iter().all(|row| weight(row) == 100 * Weight::UNIT));
    let tenth = read(&tenth);
    assert!(rows.iter().all(|row| tenth.iter().any(|was| was.time == row.time)));
}

#[test]
fn a_block_of_which_all_is_kept_only_says_so() {
    let rows = services(9);
    let bytes = cold(&build(&rows, None));
    let sampling = Sampling { one_in: 100, key: None, by: &[], least: 20 };
    let made = sampled(&bytes, &sampling);
    assert_eq!((read(&made), view(&made).kept_one_in()), (rows, 100));
    assert!(view(&made).columns().iter().all(|column| column.is_cold()));
    assert!(view(&made).column(Weight::COLUMN, Kind::Number).is_none());
}

#[test]
fn what_weighs_too_much_to_stand_for_more_stays() {
    let mut rows = services(1_000);
    for (row, rate) in rows.iter_mut().zip([10_000_000, 10_000_001, 1_000_000_000]) {
        row.cells.insert(Weight::COLUMN.to_owned(), Value::integer(rate));
    }
    let sampling = Sampling { one_in: 100, key: None, by: &[name("v")], least: 1 };
    let kept = read(&sampled(&build(&rows, None), &sampling));
    assert_eq!(kept.len(), 1_000, "each row is a group");
    let kept = read(&sampled(&build(&rows, None), &one_in(100)));
    let weights: Vec<i64> = kept.iter().map(|row| weight(row) / Weight::UNIT).collect();
    let heavy = weights.iter().filter(|weight| **weight > 100).copied();
    let heavy: Vec<i64> = heavy.filter(|weight| *weight != 1_000_000_000).collect();
    assert_eq!(heavy, [10_000_001]);
    // The largest weight that can be multiplied is multiplied, if its row is drawn.
    assert!(weights.contains(&1_000_000_000));
}

#[test]
fn a_rate_that_is_a_text_or_a_time_is_none() {
    let mut rows = services(100);
    for row in &mut rows {
        row.cells.insert(Weight::COLUMN.to_owned(), Value::string("7"));
    }
    let kept = read(&sampled(&build(&rows, None), &one_in(10)));
    assert_eq!(kept.len(), 10);
    assert!(kept.iter().all(|row| weight(row) == 10 * Weight::UNIT));
    let mut builder = crate::BlockBuilder::new(name(Weight::COLUMN));
    (1..100).for_each(|time| builder.end_row(Micros(time)));
    let bytes = builder.finish(Micros(0), None).expect("fits");
    let made = sampled(&bytes, &one_in(10));
    assert_eq!((view(&made).rows(), view(&made).kept_one_in()), (99, 10));
}

#[test]
fn only_what_was_sampled_alike_is_merged() {
    let bytes = build(&services(1_000), None);
    let [tenth, fifth] = [10, 5].map(|share| sampled(&bytes, &one_in(share)));
    for order in [MergeOrder::Arrival, MergeOrder::Time] {
        let merged = merge(&[view(&tenth), view(&tenth)], order, Micros(1)).expect("merges");
        assert!(merged.iter().all(|bytes| view(bytes).kept_one_in() == 10));
        for (one, other, factors) in [(&tenth, &fifth, (10, 5)), (&bytes, &tenth, (1, 10))] {
            let refused = merge(&[view(one), view(other)], order, Micros(1));
            assert_eq!(refused, Err(BlockError::Samples { first: factors.0, other: factors.1 }));
        }
    }
    let late = merge_from(view(&tenth), Micros(500_000_000), Micros(1)).expect("merges");
    assert!(late.iter().all(|bytes| view(bytes).kept_one_in() == 10));
    assert!(late.iter().all(|bytes| view(bytes).rows() < view(&tenth).rows()));
}

#[test]
fn headers_that_cannot_be_are_refused() {
    let made = sampled(&build(&services(100), None), &one_in(10));
    let with = |version: u16, kept: u16| {
        let mut bytes = with_front(&made, |header, _| header.encoding_version = version);
        bytes[10..12].copy_from_slice(&kept.to_le_bytes());
        let front = view(&made).header().front_bytes();
        let checksum = twox_hash::XxHash3_64::oneshot(&bytes[..front - 8]);
        bytes[front - 8..front].copy_from_slice(&checksum.to_le_bytes());
        BlockView::parse(&bytes).map(|block| block.kept_one_in()).map_err(|e| e.to_string())
    };
    assert_eq!((with(5, 10), with(5, 0), with(5, 10_000)), (Ok(10), Ok(1), Ok(10_000)));
    for (version, kept) in [(5, 1), (5, 10_001), (4, 10), (1, 10)] {
        let error = with(version, kept).expect_err("refused");
        assert!(error.contains("one row in"), "{error}");
    }
    // Rows that can still be revoked are never sampled.
    let batch = build(&services(100), BatchId::new("a-batch").as_ref());
    let forged = with_front(&batch, |header, _| {
        (header.encoding_version, header.kept_one_in) = (5, 10);
    });
    assert!(BlockView::parse(&forged).is_err_and(|error| error.to_string().contains("batches")));
}
