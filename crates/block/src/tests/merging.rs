//! A merge has exactly the rows of its inputs, in the requested order.

use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{BatchId, Kind, Micros, Value};

use super::model::{Random, Row, assert_same, build, name, push, random_rows, read};
use crate::{
    BatchRows, BlockBuilder, BlockError, BlockView, MergeOrder, merge, merge_from, merge_without,
};

const DAY: i64 = 86_400 * Micros::SECOND;

fn merge_bytes(blocks: &[Vec<u8>], order: MergeOrder) -> Vec<Vec<u8>> {
    let views: Vec<_> =
        blocks.iter().map(|block| BlockView::parse(block).expect("parses")).collect();
    merge(&views, order, Micros(99)).expect("merges")
}

/// Blocks that share columns, each of random shapes.
fn random_blocks(random: &mut Random, most: usize) -> Vec<Vec<Row>> {
    let count = 1 + random.below(5);
    (0..count)
        .map(|_| {
            let rows = 1 + random.below(most);
            random_rows(random, rows)
        })
        .collect()
}

#[test]
fn arrival_order_is_concatenation() {
    for seed in 0..80 {
        println!("seed {seed}");
        let inputs = random_blocks(&mut Random::new(seed), 1_500);
        let blocks: Vec<_> = inputs.iter().map(|rows| build(rows, None)).collect();
        let merged = merge_bytes(&blocks, MergeOrder::Arrival);
        assert_eq!(merged.len(), 1);
        assert_same(&read(&merged[0]), &inputs.concat());
    }
}

#[test]
fn time_order_is_a_stable_sort_cut_by_day() {
    for seed in 100..180 {
        println!("seed {seed}");
        let inputs = random_blocks(&mut Random::new(seed), 800);
        let blocks: Vec<_> = inputs.iter().map(|rows| build(rows, None)).collect();
        let merged = merge_bytes(&blocks, MergeOrder::Time);
        let mut expected = inputs.concat();
        expected.sort_by_key(|row| row.time);
        let merged_rows: Vec<Row> = merged.iter().flat_map(|block| read(block)).collect();
        assert_same(&merged_rows, &expected);
        for block in &merged {
            let view = BlockView::parse(block).expect("parses");
            let (first, last) = view.time_range();
            assert_eq!(first.0.div_euclid(DAY), last.0.div_euclid(DAY));
            assert_eq!(view.created_at(), Micros(99));
        }
    }
}

#[test]
fn the_oldest_rows_are_left_out() {
    for seed in 200..260 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let count = 1 + random.below(800);
        let rows = random_rows(&mut random, count);
        let bytes = build(&rows, None);
        let block = || BlockView::parse(&bytes).expect("parses");
        let (first, last) = block().time_range();
        let middle = rows[random.below(rows.len())].time;
        for from in [Micros(i64::MIN), first, middle, last, Micros(last.0 + 1)] {
            let kept = merge_from(block(), from, Micros(99)).expect("merges");
            let kept_rows: Vec<Row> = kept.iter().flat_map(|block| read(block)).collect();
            let mut expected: Vec<Row> = rows.clone();
            expected.retain(|row| row.time >= from);
            expected.sort_by_key(|row| row.time);
            assert_same(&kept_rows, &expected);
            let old = block().rows_before(from).expect("times");
            assert_eq!(old + expected.len(), rows.len());
            assert_eq!(kept.is_empty(), expected.is_empty());
        }
    }
}

#[test]
fn rows_of_batches_are_left_out_and_the_others_told_apart_as_before() {
    for seed in 300..360 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let inputs = random_blocks(&mut random, 300);
        let id = |index: usize| BatchId::new(&format!("b{index}")).expect("valid");
        let batches = inputs.iter().enumerate().map(|(index, rows)| build(rows, Some(&id(index))));
        let whole = merge_bytes(&batches.collect::<Vec<_>>(), MergeOrder::Arrival);
        let [whole] = &whole[..] else { panic!("one block") };
        let view = || BlockView::parse(whole).expect("parses");
        let revoked: Vec<usize> = (0..inputs.len()).filter(|_| random.below(2) == 0).collect();
        let ids: Vec<BatchId> = revoked.iter().map(|&index| id(index)).collect();
        let left = merge_without(view(), &ids, Micros(7)).expect("merges");
        let kept = (0..inputs.len()).filter(|index| !revoked.contains(index));
        let expected: Vec<Row> = kept.clone().flat_map(|index| inputs[index].clone()).collect();
        assert_eq!(left.is_empty(), expected.is_empty());
        let Some(left) = left.first() else { continue };
        assert_same(&read(left), &expected);
        let left = BlockView::parse(left).expect("parses");
        let mut first_row = 0;
        let batch_after = |index: usize| {
            let rows = inputs[index].len();
            let before = view().batches().iter().find(|batch| batch.id == id(index)).cloned();
            first_row += rows;
            BatchRows { first_row: first_row - rows, rows, ..before.expect("there") }
        };
        assert_eq!(left.batches(), kept.map(batch_after).collect::<Vec<_>>());
    }
}

#[test]
fn a_block_in_order_keeps_its_columns() {
    let at = |times: &[i64]| -> Vec<Row> {
        let cells = |time: &i64| {
            let texts =
                [("n".to_owned(), Value::integer(*time)), ("s".to_owned(), Value::string("x"))];
            Row { time: Micros(*time), cells: texts.into_iter().collect() }
        };
        times.iter().map(cells).collect()
    };
    let id = BatchId::new("b").expect("valid");
    for (times, is_in_order) in [
        (&[7][..], true),
        (&[1, 5, 5, 9], true),
        (&[2, 1], false),
        (&[-1, 0], false),
        (&[0, DAY], false),
    ] {
        let rows = at(times);
        let block = build(&rows, Some(&id));
        let before = BlockView::parse(&block).expect("parses");
        assert_eq!(before.is_in_time_order().expect("sound"), is_in_order, "{times:?}");
        let merged = merge_bytes(std::slice::from_ref(&block), MergeOrder::Time);
        let merged_rows: Vec<Row> = merged.iter().flat_map(|block| read(block)).collect();
        let mut expected = rows;
        expected.sort_by_key(|row| row.time);
        assert_same(&merged_rows, &expected);
        let settled = BlockView::parse(&merged[0]).expect("parses");
        assert!(settled.batches().is_empty());
        if is_in_order {
            assert_eq!((settled.created_at(), settled.rows()), (Micros(99), times.len()));
            assert_eq!(settled.time_range(), before.time_range());
            assert_eq!(settled.raw_bytes(), before.raw_bytes());
            // A block built from the same rows without a batch is identical.
            let mut builder = BlockBuilder::new(name("time"));
            for row in &expected {
                for (name, value) in &row.cells {
                    push(&mut builder, name, value);
                }
                builder.end_row(row.time);
            }
            assert_eq!(merged[0], builder.finish(Micros(99), None).expect("fits"));
        }
    }
    // Every altered byte is detected.
    let block = build(&at(&[1, 2, 3]), Some(&id));
    for byte in 0..block.len() {
        let mut altered = block.clone();
        altered[byte] ^= 1;
        if let Ok(view) = BlockView::parse(&altered) {
            assert!(merge(&[view], MergeOrder::Time, Micros(99)).is_err(), "byte {byte}");
        }
    }
}

#[test]
fn merged_again_is_the_same_as_merged_at_once() {
    let inputs = random_blocks(&mut Random::new(7), 900);
    let blocks: Vec<_> = inputs.iter().map(|rows| build(rows, None)).collect();
    let once = merge_bytes(&blocks, MergeOrder::Arrival);
    let (left, right) = blocks.split_at(blocks.len() / 2);
    let mut halves = merge_bytes(left, MergeOrder::Arrival);
    halves.extend(merge_bytes(right, MergeOrder::Arrival));
    assert_eq!(merge_bytes(&halves, MergeOrder::Arrival), once);
}

#[test]
fn outputs_share_rows_evenly_and_batches_are_cut_with_them() {
    let rows = |count: usize, value: i64| -> Vec<Row> {
        let cells = [("v".to_owned(), Value::integer(value))];
        vec![Row { time: Micros(value), cells: cells.into_iter().collect() }; count]
    };
    let id = |text: &str| BatchId::new(text).expect("valid");
    let blocks = [
        build(&rows(40_000, 1), Some(&id("one"))),
        build(&rows(5, 2), None),
        build(&rows(50_000, 3), Some(&id("three"))),
    ];
    let merged = merge_bytes(&blocks, MergeOrder::Arrival);
    let views: Vec<_> =
        merged.iter().map(|block| BlockView::parse(block).expect("parses")).collect();
    let batches = |view: &BlockView<'_>| {
        let batch = |batch: &BatchRows| (batch.id.to_string(), batch.first_row, batch.rows);
        view.batches().iter().map(batch).collect::<Vec<_>>()
    };
    assert_eq!(views.iter().map(BlockView::rows).collect::<Vec<_>>(), [45_003, 45_002]);
    let first = [("one".to_owned(), 0, 40_000), ("three".to_owned(), 40_005, 4_998)];
    assert_eq!(batches(&views[0]), first);
    assert_eq!(batches(&views[1]), [("three".to_owned(), 0, 45_002)]);

    // Merged again: batches are kept, joined or cut.
    let again = merge_bytes(&merged[1..], MergeOrder::Arrival);
    assert_eq!(
        batches(&BlockView::parse(&again[0]).expect("parses")),
        [("three".to_owned(), 0, 45_002)]
    );
    let full = [1, 2].map(|value| build(&rows(BLOCK_ROWS_MAX, value), None));
    let sizes = merge_bytes(&full, MergeOrder::Arrival)
        .iter()
        .map(|block| BlockView::parse(block).expect("parses").rows())
        .collect::<Vec<_>>();
    assert_eq!(sizes, [BLOCK_ROWS_MAX; 2]);
    let settled = merge_bytes(&merged, MergeOrder::Time);
    assert!(
        settled.iter().all(|block| batches(&BlockView::parse(block).expect("parses")).is_empty())
    );
}

#[test]
fn large_rows_that_come_together_are_cut_finer() {
    // Half of the rows of one block are huge, so by the average all rows fit together.
    let text = "x".repeat(60_000);
    let mut builder = BlockBuilder::new(name("time"));
    let id = builder.column(&name("s"), Kind::String);
    for _ in 0..2_200 {
        builder.push_string(id, &text).expect("taken");
        builder.end_row(Micros(5));
    }
    let large = builder.finish(Micros(0), None).expect("fits");
    let mut builder = BlockBuilder::new(name("time"));
    (0..60_000).for_each(|_| builder.end_row(Micros(5)));
    let small = builder.finish(Micros(0), None).expect("fits");
    let blocks = vec![small, large.clone(), large];
    for order in [MergeOrder::Arrival, MergeOrder::Time] {
        let merged = merge_bytes(&blocks, order);
        let views = merged.iter().map(|block| BlockView::parse(block).expect("parses"));
        let rows: Vec<usize> = views.map(|view| view.rows()).collect();
        assert_eq!(rows.iter().sum::<usize>(), 64_400, "{rows:?}");
        assert!(rows.len() > 1, "{rows:?}");
    }
}

#[test]
fn columns_that_only_some_blocks_have_are_null_in_the_others() {
    let row = |time, column: &str, value| Row {
        time: Micros(time),
        cells: [(column.to_owned(), value)].into_iter().collect(),
    };
    let rows = [
        row(1, "a", Value::string("x")),
        row(2, "a", Value::integer(1)),
        row(3, "b", Value::set(["x", "a"])),
        row(4, "a", Value::Bool(true)),
        row(5, "c", Value::Bool(true)),
    ];
    let blocks: Vec<_> = rows.iter().map(|row| build(std::slice::from_ref(row), None)).collect();
    let merged = merge_bytes(&blocks, MergeOrder::Time);
    let mut expected = rows.to_vec();
    // A truth among numbers is the number 1.
    expected[3].cells.insert("a".to_owned(), Value::integer(1));
    assert_eq!(read(&merged[0]), expected);
}

#[test]
fn one_huge_number_alters_no_other() {
    let id = || Value::integer(9_007_199_254_740_993);
    let huge = Value::Number("1e300".parse().expect("a number"));
    let row = |(time, value): (i64, Value)| Row {
        time: Micros(time),
        cells: [("id".to_owned(), value)].into_iter().collect(),
    };
    let values = (0..140).map(|index| if index == 70 { huge.clone() } else { id() });
    let rows: Vec<Row> = (0i64..).zip(values).map(row).collect();
    let encoding = |block: &[u8]| {
        let view = BlockView::parse(block).expect("parses");
        view.column("id", Kind::Number).expect("exists").encoding_name()
    };
    let blocks: Vec<_> = rows.iter().map(|row| build(std::slice::from_ref(row), None)).collect();
    let merged = merge_bytes(&blocks, MergeOrder::Arrival);
    assert_eq!(read(&merged[0]), rows);
    assert_eq!((encoding(&blocks[70]), encoding(&merged[0])), ("doubles", "mixed"));
    // Separated from the huge number, the other rows are encoded as if it had never been there.
    let halves = [&rows[..70], &rows[70..]].map(|rows| build(rows, None));
    assert_eq!(halves.each_ref().map(|block| encoding(block)), ["decimals: constant", "mixed"]);
    assert_eq!(merge_bytes(&halves, MergeOrder::Arrival), merged);
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let block = |column: &str| {
        let mut builder = BlockBuilder::new(name(column));
        builder.end_row(Micros(1));
        builder.finish(Micros(0), None).expect("fits")
    };
    let (left, right) = (block("time"), block("ts"));
    let views = [&left, &right].map(|block| BlockView::parse(block).expect("parses"));
    let error = merge(&views, MergeOrder::Time, Micros(0)).expect_err("different time columns");
    assert_eq!(error.to_string(), "time column ts in a merge of blocks with time column time");
    assert_eq!(merge(&[], MergeOrder::Time, Micros(0)), Ok(vec![]));
    let mut altered = left;
    *altered.last_mut().expect("some") ^= 1;
    let view = BlockView::parse(&altered).expect("the front is whole");
    assert!(matches!(merge(&[view], MergeOrder::Time, Micros(0)), Err(BlockError::Checksum(_))));
}
