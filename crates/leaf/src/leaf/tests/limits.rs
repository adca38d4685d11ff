//! A leaf at the limits of its tables and of its memory.

use hadal_types::limits::BLOCK_BYTES_MAX;

use super::*;
use crate::limits::FreshBytes;

fn open_within(folder: &Path, limits: LeafLimits) -> Bed {
    let clock = Arc::new(FixedClock::new(NOW));
    let config =
        LeafConfig { limits, clock: Arc::clone(&clock) as Arc<dyn Clock>, ..config(Some(folder)) };
    Bed { clock, leaf: Leaf::open(config).expect("opens") }
}

/// A batch of rows with incompressible texts.
pub(super) fn wide_batch(number: i64, rows: i64, width: usize) -> Batch {
    let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
    let column = builder.column(&ColumnName::new("v").expect("a name"), Kind::Number);
    let text = builder.column(&ColumnName::new("text").expect("a name"), Kind::String);
    let mut random = u64::try_from(number).expect("no sign") * 2 + 1;
    for value in number * rows..(number + 1) * rows {
        builder.push_number(column, Number::integer(value)).expect("taken");
        let mut digit = || {
            // xorshift64
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            char::from(b' ' + u8::try_from(random % 95).expect("small"))
        };
        let wide: String = (0..width).map(|_| digit()).collect();
        builder.push_string(text, &wide).expect("taken");
        builder.end_row(Micros(NOW.0 + value));
    }
    let id = BatchId::new(&format!("b{number}")).expect("an id");
    let block = builder.finish(NOW, Some((&id, 1))).expect("fits");
    let rows = usize::try_from(rows).expect("small");
    Batch::encoded(name("t"), id, 1, rows, block)
}

/// Raw bytes of each block of table `t`.
fn raw_bytes(leaf: &Leaf) -> Vec<u64> {
    let table = leaf.context.tables.read().get(&name("t")).cloned().expect("a table");
    table.snapshot().iter().map(|block| block.raw_bytes).collect()
}

#[tokio::test]
async fn memory_is_bounded_whatever_the_rows() {
    const FRESH: u64 = 1 << 20;
    const MERGE: u64 = 600_000;
    let folder = tempfile::tempdir().expect("a folder");
    let limits = || LeafLimits {
        merge_bytes_max: MERGE,
        fresh: FreshBytes::new(FRESH),
        ..LeafLimits::of_one_in(1)
    };
    let bed = open_within(folder.path(), limits());
    let fresh = Arc::clone(&bed.leaf.context.limits.fresh);
    let (mut sent, mut held_most) = (0, 0);
    for number in 0..80 {
        let batch = wide_batch(number, 100, 1_000);
        sent += batch.block().len() as u64;
        while let Err(refused) = bed.leaf.accept(batch.clone()).await {
            // The client must wait until there is room.
            assert_eq!(refused, SinkError::Busy("leaf-0".to_owned()));
            bed.leaf.merge_all();
        }
        held_most = held_most.max(fresh.held());
        assert!(held_most <= FRESH, "{held_most} bytes at batch {number}");
    }
    assert!(sent > 6 * FRESH, "{sent} bytes are too few to show anything");
    bed.leaf.merge_all();
    let all: Vec<i64> = (0..8_000).collect();
    assert_eq!(values(&bed.leaf).await.0, all);
    // Settled rows are regrouped, and no merge exceeds its maximum bytes.
    bed.clock.set(Micros(NOW.0 + 3_600 * Micros::SECOND));
    bed.leaf.merge_all();
    assert_eq!(fresh.held(), 0);
    let raw = raw_bytes(&bed.leaf);
    assert!(raw.len() < 40 && raw.iter().all(|&bytes| bytes <= MERGE), "{raw:?}");
    assert_eq!(values(&bed.leaf).await.0, all);
    drop(bed);
    let bed = open_within(folder.path(), limits());
    assert_eq!(values(&bed.leaf).await.0, all);
    let retry = bed.leaf.accept(wide_batch(7, 100, 1_000)).await;
    assert_eq!(
        retry.map(bare),
        receipt(100, true, true),
        "batches are known wherever their rows are"
    );
}

#[tokio::test]
async fn what_the_log_brings_back_counts_as_fresh() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    let batches = [batch("a", 1, 0..10), batch("b", 1, 10..30)];
    let bytes: usize = batches.iter().map(|batch| batch.block().len()).sum();
    for batch in batches {
        bed.leaf.accept(batch).await.expect("taken");
    }
    assert_eq!(bed.leaf.context.limits.fresh.held(), bytes as u64);
    drop(bed);
    // More than the bound: no batch is accepted before these rows are in a segment.
    let fresh = FreshBytes::new(bytes as u64 / 2);
    let limits = LeafLimits { fresh: Arc::clone(&fresh), ..LeafLimits::of_one_in(1) };
    let bed = open_within(folder.path(), limits);
    bed.leaf.merge_all();
    assert_eq!(fresh.held(), 0);
    assert_eq!(bed.leaf.accept(batch("b", 1, 10..30)).await.map(bare), receipt(20, true, true));
    bed.leaf.accept(batch("c", 1, 30..31)).await.expect("taken");
    assert_eq!(values(&bed.leaf).await.0, (0..31).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_table_of_just_its_size_keeps_all_and_a_byte_more_is_too_many() {
    let batches = || [batch("a", 1, 0..5_000), batch("b", 1, 5_000..10_000)];
    let size: u64 = batches().iter().map(|batch| batch.block().len() as u64).sum();
    for (table_bytes_max, kept) in [(size, 10_000), (size - 1, 5_000)] {
        let bed = open_with(None, table_bytes_max);
        let [first, second] = batches();
        assert_eq!(bed.leaf.accept(first).await.map(bare), receipt(5_000, false, false));
        let receipt = bed.leaf.accept(second).await.expect("taken");
        assert_eq!(receipt.overflowing, kept < 10_000);
        bed.leaf.merge_all();
        let status = bed.leaf.status(&StatusScope::All).await;
        let table = &status.leaves[0].tables[&name("t")];
        assert_eq!((table.schema.rows, table.dropped_rows), (kept, 10_000 - kept));
    }
    const { assert!(hadal_types::limits::TABLE_BYTES_MAX > BLOCK_BYTES_MAX as u64) };
}

/// Rows, bytes and the last time of the rows dropped from table `t`.
async fn dropped(leaf: &Leaf) -> (u64, u64, Option<Micros>) {
    let status = leaf.status(&StatusScope::All).await;
    let table = &status.leaves[0].tables[&name("t")];
    (table.dropped_rows, table.dropped_bytes, table.dropped_until)
}

#[tokio::test]
async fn dropped_rows_are_told_as_long_as_their_table_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let size = batch("a", 1, 0..5_000).block().len() as u64;
    let bed = open_with(Some(folder.path()), size * 3);
    for index in 0..6 {
        let from = index * 5_000;
        bed.leaf.accept(batch(&format!("b{index}"), 1, from..from + 5_000)).await.expect("taken");
        bed.leaf.merge_all();
    }
    let (rows, bytes, until) = dropped(&bed.leaf).await;
    let kept = values(&bed.leaf).await.0;
    assert_eq!(rows + kept.len() as u64, 30_000);
    assert!(bytes >= size * 2, "{bytes}");
    assert_eq!(until, Some(Micros(NOW.0 + kept[0] - 1)), "the last before the first that is kept");
    drop(bed);
    let bed = open(Some(folder.path()));
    assert_eq!(dropped(&bed.leaf).await, (rows, bytes, until));
    let warnings_from = async |from: Option<i64>| {
        let from = from.map(|value| Micros(NOW.0 + value));
        let (_, partial) = values_in(&bed.leaf, TimeRange { from, to: None }).await;
        partial.warnings.iter().map(|w| (w.code, w.subject, w.count, w.until)).collect::<Vec<_>>()
    };
    let warning = (WarningCode::RowsDropped, "t".to_owned(), rows, until);
    assert_eq!(warnings_from(None).await, std::slice::from_ref(&warning));
    assert_eq!(warnings_from(Some(kept[0] - 1)).await, [warning]);
    assert_eq!(warnings_from(Some(kept[0])).await, [], "who asks for what is kept misses nothing");
    bed.leaf.apply(TableChange::Drop { table: name("t") }).await.expect("dropped");
    bed.leaf.accept(batch("new", 1, 0..1)).await.expect("taken");
    assert_eq!(dropped(&bed.leaf).await, (0, 0, None));
    drop(bed);
    assert_eq!(dropped(&open(Some(folder.path())).leaf).await, (0, 0, None));
}

#[tokio::test]
async fn a_table_of_which_all_was_dropped_is_still_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open_with(Some(folder.path()), 1);
    let receipt = bed.leaf.accept(batch("a", 1, 0..3)).await.expect("taken");
    assert!(receipt.overflowing);
    bed.leaf.merge_all();
    drop(bed);
    let bed = open(Some(folder.path()));
    assert_eq!(dropped(&bed.leaf).await.0, 3);
    let (rows, partial) = values(&bed.leaf).await;
    assert!(rows.is_empty());
    assert_eq!(seen_of(&partial), ((0, 0), vec![(WarningCode::RowsDropped, 3)]));
}
