//! Blocks that become cold: which, when, and the effects of a crash.

use hadal_types::{AgeLimit, TableSettings};

use super::*;
use crate::maintenance::recompress::{recompress, write_recompressed};
use crate::maintenance::rewrite::Pass;

pub(super) const DAY: i64 = 86_400;

fn cold_after(seconds: i64) -> TableSettings {
    TableSettings { cold_after: Some(AgeLimit::Seconds(seconds)), ..TableSettings::default() }
}

pub(super) async fn configure(leaf: &Leaf, settings: TableSettings) {
    leaf.apply(TableChange::Configure { table: name("t"), settings }).await.expect("set");
}

/// A batch of `rows` rows, one per second, the first `age` seconds before `NOW`. `v` is the row
/// number, from `first` on. `x` is made of few words, or of random digits, which do not shrink when
/// they become cold.
pub(super) fn aged(id: &str, age: i64, first: i64, rows: i64, is_prose: bool) -> Batch {
    let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
    let v = builder.column(&ColumnName::new("v").expect("a name"), Kind::Number);
    let x = builder.column(&ColumnName::new("x").expect("a name"), Kind::String);
    let mut random = 1u64;
    for row in 0..rows {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
        let word = |place: u32| match (random >> (20 + place)) % 5 {
            0 => "one",
            1 => "tree",
            2 => "a",
            3 => "river",
            _ => "sun",
        };
        let text = match is_prose {
            true => (0..14).map(word).collect::<Vec<_>>().join(" "),
            false => format!("{random:016x}"),
        };
        builder.push_number(v, Number::integer(first + row)).expect("taken");
        builder.push_string(x, &text).expect("taken");
        builder.end_row(Micros(NOW.0 + (row - age) * Micros::SECOND));
    }
    let id = BatchId::new(id).expect("an id");
    let block = builder.finish(NOW, Some((&id, 1))).expect("fits");
    let rows = usize::try_from(rows).expect("not below 0");
    Batch::encoded(name("t"), id, 1, rows, block)
}

/// A leaf with one settled block of 5,000 rows for each of the last `days` days.
pub(super) async fn settled(folder: Option<&Path>, days: i64) -> Bed {
    settle(open(folder), days).await
}

/// Adds such blocks to an open leaf.
pub(super) async fn settle(bed: Bed, days: i64) -> Bed {
    for day in 1..=days {
        let batch = aged(&format!("b{day}"), day * DAY, day * 5_000, 5_000, true);
        bed.leaf.accept(batch).await.expect("taken");
    }
    bed.clock.pass(700);
    bed.leaf.merge_all();
    assert_eq!(
        bed.leaf.blocks(&name("t")).await.blocks.len(),
        usize::try_from(days).expect("fits")
    );
    bed
}

pub(super) fn table(bed: &Bed) -> Arc<Table> {
    Arc::clone(&bed.leaf.context.tables.read()[&name("t")])
}

/// For each block its first time, in days before `NOW`, and whether it is cold; the newest first.
pub(super) fn blocks(bed: &Bed) -> Vec<(i64, bool)> {
    let is_cold = |block: &Block| {
        let view = block.view().expect("parses");
        view.columns().iter().any(|column| column.is_cold())
    };
    let day = |block: &Block| NOW.seconds_since(block.time_range.0) / DAY;
    let blocks = table(bed).snapshot();
    let mut blocks: Vec<_> = blocks.iter().map(|block| (day(block), is_cold(block))).collect();
    blocks.sort_unstable();
    blocks
}

pub(super) async fn has_all_rows(bed: &Bed, days: i64) -> bool {
    values(&bed.leaf).await.0 == (5_000..(days + 1) * 5_000).collect::<Vec<_>>()
}

#[tokio::test]
async fn blocks_become_cold_when_all_of_their_rows_are_old_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = settled(Some(folder.path()), 4).await;
    let before = bed.leaf.blocks(&name("t")).await;
    configure(&bed.leaf, cold_after(2 * DAY)).await;
    bed.leaf.merge_all();
    // Rows of the second day before span 5,000 s: the later ones are younger than two days.
    let expected = [(1, false), (2, false), (3, true), (4, true)];
    assert_eq!(blocks(&bed), expected);
    assert!(has_all_rows(&bed, 4).await);
    let after = bed.leaf.blocks(&name("t")).await;
    let bytes = |blocks: &TableBlocks| blocks.blocks.iter().map(|block| block.bytes).sum::<u64>();
    assert!(bytes(&after) < bytes(&before) * 9 / 10, "{} of {}", bytes(&after), bytes(&before));
    let column = |blocks: &TableBlocks, encoding: &str| {
        let x = ColumnName::new("x").expect("a name");
        let column = blocks.columns.get(&(x, Kind::String, encoding.to_owned())).copied();
        column.unwrap_or_default()
    };
    let cold = column(&after, "cold pages");
    assert_eq!((cold.blocks, cold.rows), (2, 10_000));
    assert!(cold.warm_bytes > cold.bytes);
    assert_eq!(column(&before, "cold pages").blocks, 0);
    drop(bed);
    // Cold blocks stay cold after a restart, and the setting still applies.
    let bed = open(Some(folder.path()));
    assert_eq!(blocks(&bed), expected);
    assert!(has_all_rows(&bed, 4).await);
    bed.clock.pass(5_000);
    bed.leaf.merge_all();
    assert_eq!(blocks(&bed), [(1, false), (2, true), (3, true), (4, true)]);
    assert!(has_all_rows(&bed, 4).await);
}

#[tokio::test]
async fn nothing_becomes_cold_that_nobody_asked_for() {
    let bed = settled(None, 2).await;
    for settings in [TableSettings::default(), cold_after(30 * DAY)] {
        configure(&bed.leaf, settings).await;
        bed.leaf.merge_all();
        assert_eq!(blocks(&bed), [(1, false), (2, false)]);
    }
    configure(&bed.leaf, cold_after(60)).await;
    bed.leaf.merge_all();
    assert_eq!(blocks(&bed), [(1, true), (2, true)]);
    // Cold blocks stay cold.
    configure(&bed.leaf, TableSettings::default()).await;
    bed.leaf.merge_all();
    assert_eq!(blocks(&bed), [(1, true), (2, true)]);
    assert!(has_all_rows(&bed, 2).await);
}

#[tokio::test]
async fn batches_that_can_be_revoked_stay_warm() {
    let bed = open(None);
    bed.leaf.accept(aged("b", 9 * DAY, 5_000, 5_000, true)).await.expect("taken");
    configure(&bed.leaf, cold_after(60)).await;
    bed.leaf.merge_all();
    assert_eq!(blocks(&bed), [(9, false)]);
    bed.clock.pass(700);
    bed.leaf.merge_all();
    assert_eq!(blocks(&bed), [(9, true)]);
    assert!(has_all_rows(&bed, 1).await);
}

#[tokio::test]
async fn a_pass_is_some_blocks_and_a_block_is_tried_once() {
    let bed = settled(None, 20).await;
    // The merger makes no pass, as no settings are set.
    let (context, table) = (&bed.leaf.context, table(&bed));
    let pass = || {
        let before = Micros(NOW.0 - 60 * Micros::SECOND);
        let old = Pass::default().take(&table, before, Block::may_be_recompressed);
        (old.len(), recompress(context, &table, &old).expect("chilled"))
    };
    assert_eq!(pass(), (16, 16));
    assert_eq!(blocks(&bed).iter().filter(|(_, is_cold)| *is_cold).count(), 16);
    assert!(has_all_rows(&bed, 20).await);
    assert_eq!((pass(), pass()), ((4, 4), (0, 0)));
    let batch = aged("random", 30 * DAY, 0, 5_000, false);
    bed.leaf.accept(batch).await.expect("taken");
    bed.clock.pass(700);
    bed.leaf.merge_all();
    // The savings of its times and numbers are not worth it.
    assert_eq!(pass(), (1, 0));
    assert_eq!(pass(), (0, 0));
}

#[tokio::test]
async fn a_crash_leaves_the_warm_block_or_the_cold_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = settled(Some(folder.path()), 3).await;
    let all = table(&bed).snapshot();
    // Written, but not in the manifest.
    let cold = write_recompressed(&bed.leaf.context, &table(&bed), &all).expect("written");
    assert_eq!(cold.len(), 3);
    drop((cold, all, bed));
    let bed = open(Some(folder.path()));
    assert_eq!(blocks(&bed), [(1, false), (2, false), (3, false)]);
    assert!(has_all_rows(&bed, 3).await);
    let all = table(&bed).snapshot();
    assert_eq!(recompress(&bed.leaf.context, &table(&bed), &all[..2]).expect("chilled"), 2);
    drop((all, bed));
    let bed = open(Some(folder.path()));
    let mut cold: Vec<bool> = blocks(&bed).into_iter().map(|(_, is_cold)| is_cold).collect();
    cold.sort_unstable();
    assert_eq!(cold, [false, true, true]);
    assert!(has_all_rows(&bed, 3).await);
}

#[tokio::test]
async fn queries_and_stops_come_between() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = settled(Some(folder.path()), 3).await;
    // A running query continues with its snapshot.
    let before = table(&bed).snapshot();
    assert_eq!(recompress(&bed.leaf.context, &table(&bed), &before).expect("chilled"), 3);
    for block in before.iter() {
        block.view().expect("parses").verify().expect("is as it was");
    }
    assert!(has_all_rows(&bed, 3).await);
    // A stopping leaf changes nothing any more.
    let bed = settled(None, 1).await;
    bed.leaf.stop_taking();
    let all = table(&bed).snapshot();
    assert_eq!(recompress(&bed.leaf.context, &table(&bed), &all).expect("nothing fails"), 0);
    assert_eq!(blocks(&bed), [(1, false)]);
    // Nor does a table that was dropped meanwhile.
    let bed = settled(None, 1).await;
    let (table, all) = (table(&bed), table(&bed).snapshot());
    bed.leaf.apply(TableChange::Drop { table: name("t") }).await.expect("dropped");
    assert_eq!(recompress(&bed.leaf.context, &table, &all).expect("nothing fails"), 0);
}

#[tokio::test]
async fn cold_rows_expire_and_are_merged_like_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = settled(Some(folder.path()), 2).await;
    configure(&bed.leaf, cold_after(60)).await;
    bed.leaf.merge_all();
    assert_eq!(blocks(&bed), [(1, true), (2, true)]);
    // Of the second day before, the first 4,000 of 5,000 s are too old now.
    let age = Some(AgeLimit::Seconds(2 * DAY + 700 - 4_000));
    configure(&bed.leaf, TableSettings { age, ..cold_after(60) }).await;
    bed.leaf.merge_all();
    bed.leaf.merge_all();
    let expected: Vec<i64> = (5_000..10_000).chain(14_000..15_000).collect();
    assert_eq!(values(&bed.leaf).await.0, expected);
    assert_eq!(blocks(&bed), [(1, true), (1, true)], "what is left is cold again");
    drop(bed);
    let bed = open(Some(folder.path()));
    assert_eq!(values(&bed.leaf).await.0, expected);
}
