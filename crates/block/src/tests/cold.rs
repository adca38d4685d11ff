//! Cold blocks: the same rows in fewer bytes, read and merged as if they were warm. `model.rs`
//! asserts wherever rows are read that all shapes of rows survive.

use hadal_types::limits::{BLOCK_BYTES_MAX, BLOCK_ROWS_MAX};
use hadal_types::{BatchId, Kind, Micros, Value};
use twox_hash::XxHash3_64;

use super::model::{Random, Row, build, cold, random_rows, read};
use crate::cold::chill_column;
use crate::header::{CHECKSUM_BYTES, HEADER_BYTES, Header};
use crate::{BlockError, BlockView, Chill, ColumnView, MergeOrder, chill, merge, merge_from};

fn view(bytes: &[u8]) -> BlockView<'_> {
    let block = BlockView::parse(bytes).expect("parses");
    block.verify().expect("checksums are right");
    block
}

/// Rows with columns that take fewer bytes when they are cold, and columns that do not.
fn rows(count: usize) -> Vec<Row> {
    let mut random = Random::new(7);
    let row = |index: usize| {
        let mut cells = vec![
            ("few", Value::string(&format!("service {}", random.below(9).pow(3)))),
            ("random", Value::integer(random.next().cast_signed())),
        ];
        let words = ["a", "big", "cat", "does", "every", "fine", "game", "here", "in", "joy"];
        if !index.is_multiple_of(3) {
            let text: Vec<&str> = (0..12).map(|_| random.pick(&words)).collect();
            cells.push(("prose", Value::string(&text.join(" "))));
        }
        let cells = cells.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Row { time: Micros(i64::try_from(index).expect("fits") * 1_000), cells }
    };
    (0..count).map(row).collect()
}

#[test]
fn columns_become_cold_that_save_an_eighth() {
    let rows = rows(5_000);
    let warm = build(&rows, BatchId::new("a-batch").as_ref());
    let cold = chill(&view(&warm), Chill::WhereItSaves).expect("chills").expect("some columns");
    let (warm, cold) = (view(&warm), view(&cold));
    let is_cold = |name, kind| cold.column(name, kind).expect("there").is_cold();
    assert!(is_cold("few", Kind::String) && is_cold("prose", Kind::String));
    assert!(!is_cold("random", Kind::Number));
    for (warm, cold) in warm.columns().iter().zip(cold.columns()) {
        let bytes = [warm, cold].map(ColumnView::encoded_bytes);
        let saves = bytes[1] <= bytes[0] - bytes[0] / 8;
        assert_eq!((cold.is_cold(), warm.is_cold()), (saves, false), "{}", warm.name());
        assert!(warm.warm_bytes() == bytes[0] && cold.warm_bytes() >= bytes[0]);
        // Everything that needs no values is read as before.
        assert_eq!(cold.zone(), warm.zone());
        assert_eq!(cold.validity(), warm.validity());
        let nulls = |column: &ColumnView<'_>| (column.null_count(), column.is_compact());
        assert_eq!(nulls(cold), nulls(warm));
    }
    assert_eq!(cold.batches(), warm.batches());
    assert_eq!(cold.header().raw_bytes, warm.header().raw_bytes);
    assert_eq!((cold.time_range(), cold.created_at()), (warm.time_range(), warm.created_at()));
    assert!(cold.bytes().len() < warm.bytes().len() * 3 / 4, "{}", cold.bytes().len());
    assert_eq!(chill(&cold, Chill::WhereItSaves), Ok(None), "there is nothing left to save");
}

#[test]
fn what_saves_hardly_anything_stays_as_it_is() {
    let mut random = Random::new(1);
    let mut row = |index: i64| {
        let few = Value::Bool(random.below(12) == 0);
        let cells = [("few", few), ("random", Value::integer(random.next().cast_signed()))];
        let cells = cells.map(|(name, value)| (name.to_owned(), value));
        Row { time: Micros(index), cells: cells.into() }
    };
    let rows: Vec<Row> = (0..20_000).map(&mut row).collect();
    let bytes = build(&rows, None);
    let block = view(&bytes);
    let few = block.column("few", Kind::Number).expect("there");
    let chilled = chill_column(few, Chill::WhereItSaves, &mut BLOCK_BYTES_MAX.clone());
    assert!(chilled.expect("chills").is_some(), "a column alone would save an eighth");
    assert_eq!(chill(&block, Chill::WhereItSaves), Ok(None));
}

#[test]
fn cold_blocks_merge_to_the_bytes_that_warm_ones_merge_to() {
    for seed in 0..60 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let warm: Vec<Vec<u8>> = (0..1 + random.below(4))
            .map(|_| {
                let count = 1 + random.below(1_500);
                build(&random_rows(&mut random, count), None)
            })
            .collect();
        // Two of three blocks are cold.
        let mixed: Vec<Vec<u8>> = (0..)
            .zip(&warm)
            .map(|(index, warm)| if (seed + index) % 3 == 1 { warm.clone() } else { cold(warm) })
            .collect();
        let views = |blocks: &'static [Vec<u8>]| blocks.iter().map(|b| view(b)).collect::<Vec<_>>();
        let (warm, mixed) = (views(warm.leak()), views(mixed.leak()));
        for order in [MergeOrder::Arrival, MergeOrder::Time] {
            if warm.len() > 1 {
                let merged = merge(&mixed, order, Micros(99)).expect("merges");
                assert_eq!(merged, merge(&warm, order, Micros(99)).expect("merges"));
            }
        }
        for (warm, mixed) in warm.into_iter().zip(mixed) {
            let (Micros(first), Micros(last)) = warm.time_range();
            let from = Micros(first + (last - first) / 2);
            assert_eq!(mixed.rows_before(from), warm.rows_before(from));
            assert_eq!(mixed.is_in_time_order(), warm.is_in_time_order());
            assert_eq!(merge_from(mixed, from, Micros(9)), merge_from(warm, from, Micros(9)));
        }
    }
}

#[test]
fn a_cold_block_in_order_stays_cold_when_it_loses_its_batch() {
    let bytes = cold(&build(&rows(200), BatchId::new("a-batch").as_ref()));
    let merged = merge(&[view(&bytes)], MergeOrder::Time, Micros(99)).expect("merges");
    let [settled] = &merged[..] else { panic!("one block") };
    assert!(view(settled).batches().is_empty());
    assert!(view(settled).columns().iter().all(ColumnView::is_cold));
    assert_eq!(read(settled), read(&bytes));
}

/// The block with a changed header or directory, and the front's checksum made to fit.
pub(super) fn with_front(
    bytes: &[u8],
    change: impl FnOnce(&mut Header, &mut Vec<crate::directory::Entry>),
) -> Vec<u8> {
    let block = view(bytes);
    let mut header = *block.header();
    let mut entries = block.columns().iter().map(|column| column.entry.clone()).collect();
    change(&mut header, &mut entries);
    let mut directory = Vec::new();
    entries.iter().for_each(|entry| entry.write(&mut directory));
    let bodies = &bytes[block.header().front_bytes()..];
    header.directory_bytes = directory.len();
    header.block_bytes = header.front_bytes() + bodies.len();
    let mut changed = Vec::new();
    header.write(&mut changed);
    assert_eq!(changed.len(), HEADER_BYTES);
    changed.extend(directory);
    changed.resize(header.front_bytes() - CHECKSUM_BYTES, 0);
    let checksum = XxHash3_64::oneshot(&changed);
    changed.extend(checksum.to_le_bytes());
    changed.extend(bodies);
    changed
}

#[test]
fn a_cold_block_is_of_version_4() {
    let bytes = cold(&build(&rows(3), None));
    assert_eq!(bytes[8], 4);
    let older = with_front(&bytes, |header, _| header.encoding_version = 3);
    let error = BlockView::parse(&older).expect_err("is not of version 3").to_string();
    assert!(error.ends_with("is not of version 3, expected 4"), "{error}");
}

#[test]
fn what_is_wrong_with_a_frame_is_told_by_its_column() {
    let bytes = cold(&build(&rows(300), None));
    for more in [1, 1 << 20] {
        let altered = with_front(&bytes, |_, entries| entries[0].sections[0] += more);
        let block = BlockView::parse(&altered).expect("the front is in order");
        let error = block.columns()[0].decode().map(drop).expect_err("another length");
        assert!(matches!(error, BlockError::Encoding { .. }), "{error}");
        assert!(error.to_string().contains("it is no frame of"), "{error}");
        // The other columns are still readable, and reading only the nulls decompresses nothing.
        assert!(block.columns()[1].decode().is_ok() && block.columns()[0].validity().is_ok());
    }
}

#[test]
fn thawed_blocks_are_no_larger_than_blocks() {
    let bytes = cold(&build(&rows(300), None));
    let altered = with_front(&bytes, |_, entries| {
        entries[0].sections[0] = BLOCK_BYTES_MAX - 1_000;
    });
    let error = BlockView::parse(&altered).expect_err("too large").to_string();
    assert!(error.contains("thawed, the block has "), "{error}");
    // Recompression does not exceed the limit either: texts stay warm if, uncompressed, they would
    // exceed it.
    let bytes = build(&rows(300), None);
    let block = view(&bytes);
    let prose = block.column("prose", Kind::String).expect("there");
    let chilled = |mut room| chill_column(prose, Chill::WhereItSaves, &mut room).expect("chills");
    let (entry, _) = chilled(BLOCK_BYTES_MAX).expect("it saves an eighth");
    let more = entry.value_bytes() - prose.entry.value_bytes();
    assert!(more > 0 && chilled(more).is_some() && chilled(more - 1).is_none());
}

#[test]
fn full_blocks_are_read_from_what_each_column_was_thawed_to() {
    let bytes = cold(&build(&rows(BLOCK_ROWS_MAX), None));
    let block = view(&bytes);
    let column = block.column("few", Kind::String).expect("there");
    // Decompressed once, even through a copy of the column.
    let text = |column: &ColumnView<'_>| {
        let entries = column.string_entries().expect("decodes");
        (entries.text().as_ptr(), entries.len())
    };
    assert_eq!(text(column), text(&column.clone()));
    assert_eq!(
        column.string_codes().expect("decodes").map(|(_, count)| count),
        Some(text(column).1)
    );
}
