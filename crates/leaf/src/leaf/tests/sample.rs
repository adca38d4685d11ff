//! Blocks that are subsampled: which, when, and that no row is sampled twice by accident.

use hadal_types::{AgeLimit, SampleFactor, TableSettings, Weight};

use super::expiry::{Lines, open_at};
use super::recompress::{DAY, aged, configure, settle, settled, table};
use super::*;
use crate::maintenance::sample::{sample_blocks, sampling, write_sampled};

fn sample_after(seconds: i64, keep: u16) -> TableSettings {
    TableSettings {
        age: Some(AgeLimit::Unlimited),
        sample_after: Some(AgeLimit::Seconds(seconds)),
        sample_keep: SampleFactor::new(keep),
        ..TableSettings::default()
    }
}

/// The contents of one block.
#[derive(Clone, Debug, PartialEq)]
struct BlockContents {
    /// Its first time, in days before `NOW`, rounded up.
    day: i64,
    rows: usize,
    kept_one_in: u16,
    /// The number of events that its rows stand for, times a million.
    events: i64,
}

/// The blocks of the table, the newest first.
fn held(bed: &Bed) -> Vec<BlockContents> {
    let blocks = table(bed).snapshot();
    let mut held: Vec<BlockContents> = blocks.iter().map(|block| of_block(block)).collect();
    held.sort_by_key(|held| (held.day, held.rows));
    held
}

fn of_block(block: &Block) -> BlockContents {
    let view = block.view().expect("parses");
    let rates = view.column(Weight::COLUMN, Kind::Number).map(|column| {
        let rates = column.decode().expect("decodes");
        let weight = |row| match rates.value(row) {
            Value::Number(rate) => Weight::from_rate(rate).expect("in range").millionths(),
            _ => Weight::UNIT,
        };
        (0..view.rows()).map(weight).sum::<i64>()
    });
    let unweighted = i64::try_from(view.rows()).expect("fits") * Weight::UNIT;
    BlockContents {
        day: (NOW.seconds_since(block.time_range.0) + DAY - 1) / DAY,
        rows: view.rows(),
        kept_one_in: block.kept_one_in,
        events: rates.unwrap_or(unweighted),
    }
}

/// A day's block of 5,000 rows, sampled to one in `kept_one_in`.
fn day(day: i64, kept_one_in: u16) -> BlockContents {
    let rows = 5_000 / usize::from(kept_one_in);
    BlockContents { day, rows, kept_one_in, events: 5_000 * Weight::UNIT }
}

async fn rows(bed: &Bed) -> Vec<i64> {
    let (values, partial) = values(&bed.leaf).await;
    // Sampling was requested: the coverage is complete, and the only warnings are about expired
    // rows.
    let Coverage { rows_scanned, rows_expected, .. } = partial.coverage;
    assert_eq!((rows_scanned, rows_expected), (values.len() as u64, values.len() as u64));
    let others = partial.warnings.iter().filter(|one| one.code != WarningCode::RowsExpired);
    assert_eq!(others.count(), 0);
    values
}

#[tokio::test]
async fn blocks_are_sampled_once_when_all_of_their_rows_are_old_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = settled(Some(folder.path()), 4).await;
    let before = rows(&bed).await;
    configure(&bed.leaf, sample_after(2 * DAY, 10)).await;
    bed.leaf.merge_all();
    // Rows of the second day before span 5,000 s: the later ones are younger than two days.
    let expected = [day(1, 1), day(2, 1), day(3, 10), day(4, 10)];
    assert_eq!(held(&bed), expected);
    let blocks = bed.leaf.blocks(&name("t")).await.blocks;
    let shares: std::collections::BTreeSet<_> =
        blocks.iter().map(|block| (block.rows, block.kept_one_in)).collect();
    assert_eq!(shares, [(500, 10), (5_000, 1)].into());
    let kept = rows(&bed).await;
    assert_eq!(kept.len(), 11_000);
    assert!(kept.iter().all(|row| before.binary_search(row).is_ok()));
    for _ in 0..3 {
        bed.leaf.merge_all();
    }
    assert_eq!(rows(&bed).await, kept, "nothing goes twice");
    drop(bed);
    // Nor after a restart. The setting still applies, from the first expiry pass on.
    let bed = open(Some(folder.path()));
    bed.clock.pass(899);
    bed.leaf.merge_all();
    assert_eq!((held(&bed), rows(&bed).await), (expected.to_vec(), kept.clone()));
    bed.clock.pass(5_000);
    bed.leaf.merge_all();
    assert_eq!(held(&bed), [day(1, 1), day(2, 10), day(3, 10), day(4, 10)]);
    let later = rows(&bed).await;
    assert!(later.iter().all(|row| kept.binary_search(row).is_ok()));
}

#[tokio::test]
async fn nothing_is_sampled_that_nobody_asked_for() {
    let bed = settled(None, 2).await;
    let keep_alone = TableSettings { sample_after: None, ..sample_after(60, 10) };
    for settings in [TableSettings::default(), keep_alone, sample_after(30 * DAY, 10)] {
        configure(&bed.leaf, settings).await;
        bed.leaf.merge_all();
        assert_eq!(held(&bed), [day(1, 1), day(2, 1)]);
    }
}

#[tokio::test]
async fn a_smaller_share_samples_once_more_and_a_larger_one_brings_nothing_back() {
    let bed = settled(None, 2).await;
    let mut before = rows(&bed).await;
    // The largest whole factor that keeps at least the requested share.
    for (keep, kept) in [(10, 10), (15, 10), (25, 20), (10, 10), (2, 20), (100, 100), (10, 100)] {
        configure(&bed.leaf, sample_after(60, keep)).await;
        bed.leaf.merge_all();
        let kept = kept.max(held(&bed)[0].kept_one_in);
        assert_eq!(held(&bed), [day(1, kept), day(2, kept)], "asked for one in {keep}");
        let after = rows(&bed).await;
        assert!(after.iter().all(|row| before.binary_search(row).is_ok()));
        before = after;
    }
    configure(&bed.leaf, TableSettings::default()).await;
    bed.leaf.merge_all();
    assert_eq!(rows(&bed).await, before);
}

#[tokio::test]
async fn groups_keep_so_many_rows_each() {
    let bed = settled(None, 1).await;
    let by = ColumnName::new("v").expect("a name");
    let settings = TableSettings { sample_by: Some(vec![by]), ..sample_after(60, 10) };
    configure(&bed.leaf, settings.clone()).await;
    bed.leaf.merge_all();
    // Each row is a group: all rows stay, and the block is marked as sampled.
    assert_eq!(held(&bed), [BlockContents { kept_one_in: 10, ..day(1, 1) }]);
    let by = ColumnName::new("nowhere").expect("a name");
    let least = TableSettings {
        sample_by: Some(vec![by]),
        sample_least: Some(600),
        ..sample_after(60, 100)
    };
    configure(&bed.leaf, least).await;
    bed.leaf.merge_all();
    let rows = 5_000 / 8;
    assert_eq!(held(&bed), [BlockContents { rows, kept_one_in: 100, ..day(1, 1) }]);
}

/// Keeps one of ten values of `v`.
fn by_number() -> TableSettings {
    let v = ColumnName::new("v").expect("a name");
    TableSettings { sample_key: Some(v), ..sample_after(60, 10) }
}

#[tokio::test]
async fn leaves_keep_the_same_keys_once_and_for_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = settled(Some(folder.path()), 2).await;
    configure(&bed.leaf, by_number()).await;
    bed.leaf.merge_all();
    let kept = rows(&bed).await;
    // 1,000 expected, with a standard deviation of 30.
    assert!((850..1_150).contains(&kept.len()), "{}", kept.len());
    for BlockContents { rows, kept_one_in, events, .. } in held(&bed) {
        let stand_for = i64::try_from(rows * 10).expect("fits");
        assert_eq!((kept_one_in, events), (10, stand_for * Weight::UNIT));
    }
    bed.leaf.merge_all();
    assert_eq!(rows(&bed).await, kept, "nothing goes twice");
    drop(bed);
    let bed = open(Some(folder.path()));
    bed.clock.pass(1_000);
    bed.leaf.merge_all();
    assert_eq!(rows(&bed).await, kept);
    // Other blocks with the same keys, in a leaf that shares nothing with the first.
    let other = open(None);
    other.leaf.accept(aged("other", 3 * DAY, 8_000, 4_000, false)).await.expect("taken");
    other.clock.pass(700);
    other.leaf.merge_all();
    configure(&other.leaf, by_number()).await;
    other.leaf.merge_all();
    let expected = kept.into_iter().filter(|key| (8_000..12_000).contains(key));
    assert_eq!(rows(&other).await, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn a_block_without_a_key_that_is_kept_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    for key in 20..40 {
        // One day each, so that none are merged.
        let batch = aged(&format!("b{key}"), key * DAY, key, 1, false);
        bed.leaf.accept(batch).await.expect("taken");
    }
    bed.clock.pass(700);
    bed.leaf.merge_all();
    assert_eq!(held(&bed).len(), 20);
    configure(&bed.leaf, by_number()).await;
    // A few blocks at a time.
    (0..20).for_each(|_| bed.leaf.merge_all());
    let kept = rows(&bed).await;
    assert!(kept.len() < 20, "{kept:?}");
    assert!(held(&bed).len() == kept.len() && held(&bed).iter().all(|held| held.kept_one_in == 10));
    drop(bed);
    let bed = open(Some(folder.path()));
    assert_eq!(rows(&bed).await, kept, "what is gone does not come back");
    // Nor does the table disappear with its last block.
    let settings = TableSettings { sample_keep: SampleFactor::new(10_000), ..by_number() };
    configure(&bed.leaf, settings).await;
    bed.leaf.merge_all();
    assert_eq!((rows(&bed).await, held(&bed)), (vec![], vec![]));
    assert_eq!(
        bed.leaf.status(&StatusScope::All).await.leaves[0].tables[&name("t")].schema.rows,
        0
    );
}

#[tokio::test]
async fn a_crash_leaves_the_whole_block_or_the_sampled_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = settled(Some(folder.path()), 3).await;
    let settings = sample_after(60, 10);
    let all = table(&bed).snapshot();
    // Written, but not in the manifest.
    let written = write_sampled(&bed.leaf.context, &table(&bed), &all, &sampling(&settings));
    let written = written.expect("written");
    assert_eq!(written.iter().map(|one| one.rows()).collect::<Vec<_>>(), [(5_000, 500); 3]);
    let bytes = |written: &[crate::maintenance::rewrite::Rewritten]| -> Vec<Vec<u8>> {
        written.iter().flat_map(|one| one.bytes().map(<[u8]>::to_vec)).collect()
    };
    let first = bytes(&written);
    drop((written, all, bed));
    let bed = open(Some(folder.path()));
    assert_eq!(held(&bed), [day(1, 1), day(2, 1), day(3, 1)]);
    // A repeated pass makes the same bytes.
    let all = table(&bed).snapshot();
    let again = write_sampled(&bed.leaf.context, &table(&bed), &all, &sampling(&settings));
    assert_eq!(bytes(&again.expect("written")), first);
    let sampled = sample_blocks(&bed.leaf.context, &table(&bed), &all[..2], &sampling(&settings));
    assert_eq!(sampled.expect("sampled"), 2);
    let kept = rows(&bed).await;
    drop((all, bed));
    let bed = open(Some(folder.path()));
    let mut shares: Vec<u16> = held(&bed).into_iter().map(|held| held.kept_one_in).collect();
    shares.sort_unstable();
    assert_eq!((shares, rows(&bed).await), (vec![1, 10, 10], kept));
    // An interrupted pass continues with the blocks that are left.
    configure(&bed.leaf, settings).await;
    bed.leaf.merge_all();
    assert_eq!(held(&bed), [day(1, 10), day(2, 10), day(3, 10)]);
}

#[tokio::test]
async fn batches_that_can_be_revoked_stay_whole_and_late_rows_are_sampled_alone() {
    let bed = open(None);
    bed.leaf.accept(aged("first", DAY, 5_000, 5_000, true)).await.expect("taken");
    configure(&bed.leaf, sample_after(60, 10)).await;
    bed.leaf.merge_all();
    assert_eq!(held(&bed), [day(1, 1)]);
    bed.clock.pass(700);
    bed.leaf.merge_all();
    assert_eq!(held(&bed), [day(1, 10)]);
    let first = rows(&bed).await;
    for index in 0..16 {
        let batch = aged(&format!("late-{index}"), DAY, 50_000 + index * 500, 500, false);
        bed.leaf.accept(batch).await.expect("taken");
    }
    // They are settled by now, and old enough: so they are sampled at once, and no other block is.
    bed.leaf.merge_all();
    bed.leaf.merge_all();
    let all = rows(&bed).await;
    assert_eq!(all.iter().copied().filter(|row| *row < 50_000).collect::<Vec<_>>(), first);
    assert_eq!(all.len(), 500 + 800);
    assert_eq!(held(&bed).iter().map(|held| held.events).sum::<i64>(), 13_000 * Weight::UNIT);
    assert!(held(&bed).iter().all(|held| held.kept_one_in == 10));
}

#[tokio::test]
async fn what_was_sampled_alike_is_merged_and_says_so() {
    let bed = open(None);
    for index in 0..16 {
        let batch = aged(&format!("b{index}"), DAY, index * 500, 500, false);
        bed.leaf.accept(batch).await.expect("taken");
        bed.clock.pass(700);
        bed.leaf.merge_all();
        let mut settings = sample_after(60, if index < 14 { 10 } else { 7 });
        // Changed each time, which requests an expiry pass.
        settings.bytes = Some((1 << 30) + index.unsigned_abs());
        configure(&bed.leaf, settings).await;
        bed.leaf.merge_all();
    }
    // Sixteen blocks of one size would be merged; these have two sample factors.
    let shares = |bed: &Bed| held(bed).iter().map(|held| held.kept_one_in).collect::<Vec<_>>();
    assert_eq!(shares(&bed).len(), 16);
    configure(&bed.leaf, sample_after(60, 70)).await;
    bed.leaf.merge_all();
    bed.leaf.merge_all();
    assert_eq!(shares(&bed), [70]);
    let events = held(&bed)[0].events / Weight::UNIT;
    assert!((8_000 - 16 * 70..8_000 + 16 * 70).contains(&events), "{events}");
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_samples_nothing() {
    let bed = settle(open_at(None, 0), 1).await;
    configure(&bed.leaf, sample_after(30 * DAY, 10)).await;
    bed.clock.pass(900);
    bed.leaf.merge_all();
    bed.clock.set(Micros(NOW.0 + 365 * DAY * Micros::SECOND));
    for seconds in [1, 100, 799] {
        bed.clock.pass(seconds);
        bed.leaf.merge_all();
        assert_eq!(held(&bed), [day(1, 1)], "after {seconds} s");
    }
    // The clock was not set back, so it is right.
    bed.clock.pass(900);
    bed.leaf.merge_all();
    assert_eq!(held(&bed), [day(1, 10)]);
}

#[tokio::test]
async fn many_rows_go_only_with_a_line_in_the_log() {
    let bed = settled(None, 30).await;
    let settings = sample_after(60, 10);
    for (blocks, level) in [(1, "INFO"), (2, "WARN")] {
        let whole: Vec<Arc<Block>> = table(&bed).snapshot().to_vec();
        let whole = whole.into_iter().filter(|block| block.kept_one_in == 1).take(blocks);
        let whole: Vec<Arc<Block>> = whole.collect();
        let lines = Arc::new(Lines::default());
        tracing::subscriber::with_default(Arc::clone(&lines), || {
            let sampled =
                sample_blocks(&bed.leaf.context, &table(&bed), &whole, &sampling(&settings));
            assert_eq!(sampled.expect("sampled"), blocks);
        });
        let logged = std::mem::take(&mut *lines.0.lock());
        assert_eq!(logged.len(), 1, "{logged:?}");
        let (rows, kept) = (blocks * 5_000, blocks * 500);
        for part in [level, &format!("rows={rows} kept={kept}")] {
            assert!(logged[0].contains(part), "{part}: {}", logged[0]);
        }
    }
}

#[tokio::test]
async fn queries_and_stops_come_between() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = sample_after(60, 10);
    let bed = settled(Some(folder.path()), 2).await;
    // A running query continues with its snapshot.
    let before = table(&bed).snapshot();
    let sampled = sample_blocks(&bed.leaf.context, &table(&bed), &before, &sampling(&settings));
    assert_eq!(sampled.expect("sampled"), 2);
    assert!(before.iter().all(|block| of_block(block).rows == 5_000));
    before.iter().for_each(|block| block.view().expect("parses").verify().expect("as it was"));
    // A stopping leaf changes nothing any more, nor does a table that was dropped meanwhile.
    for is_stopped in [true, false] {
        let bed = settled(None, 1).await;
        let (table, all) = (table(&bed), table(&bed).snapshot());
        match is_stopped {
            true => bed.leaf.stop_taking(),
            false => {
                let change = TableChange::Drop { table: name("t") };
                bed.leaf.apply(change).await.expect("dropped");
            }
        }
        let sampled = sample_blocks(&bed.leaf.context, &table, &all, &sampling(&settings));
        assert_eq!(sampled.expect("nothing fails"), 0);
    }
}

#[tokio::test]
async fn sampled_rows_expire_and_become_cold_like_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = settled(Some(folder.path()), 2).await;
    let cold = TableSettings { cold_after: Some(AgeLimit::Seconds(60)), ..sample_after(60, 2) };
    configure(&bed.leaf, cold.clone()).await;
    bed.leaf.merge_all();
    let are_cold = |bed: &Bed| {
        let is_cold = |block: &Arc<Block>| {
            block.view().expect("parses").columns().iter().any(|column| column.is_cold())
        };
        table(bed).snapshot().iter().all(is_cold)
    };
    assert_eq!((held(&bed), are_cold(&bed)), (vec![day(1, 2), day(2, 2)], true));
    // A cold block is sampled again, and stays cold.
    configure(&bed.leaf, TableSettings { sample_keep: SampleFactor::new(10), ..cold.clone() })
        .await;
    bed.leaf.merge_all();
    assert_eq!((held(&bed), are_cold(&bed)), (vec![day(1, 10), day(2, 10)], true));
    // Of the second day before, the first 4,000 of 5,000 s are too old now.
    let age = Some(AgeLimit::Seconds(2 * DAY + 700 - 4_000));
    let settings = TableSettings { age, sample_keep: SampleFactor::new(10), ..cold };
    configure(&bed.leaf, settings).await;
    bed.leaf.merge_all();
    bed.leaf.merge_all();
    let left = held(&bed);
    assert_eq!((left.len(), &left[0].kept_one_in, left[1].kept_one_in), (2, &10, 10));
    assert!((500 + 60..500 + 140).contains(&rows(&bed).await.len()), "{left:?}");
    let all = rows(&bed).await;
    drop(bed);
    assert_eq!(rows(&open(Some(folder.path()))).await, all);
}
