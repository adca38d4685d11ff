//! Blocks that become unreadable after they were verified: their file became shorter, or its bytes
//! changed. (A failing disk looks the same to a reader.)

use std::os::unix::fs::FileExt;

use super::*;
use crate::maintenance::flush::flush;
use crate::maintenance::merge::merge_blocks;
use crate::maintenance::merge_policy::MergeKind;
use crate::maintenance::recompress::write_recompressed;
use crate::maintenance::rewrite::{replace, rewrite};

const ROWS: i64 = 100_000;

/// A leaf that reads from disk, with rows 0 to [`ROWS`] in several blocks, all of them verified.
async fn verified(folder: &Path) -> Leaf {
    let leaf = Leaf::open(config(Some(folder))).expect("opens");
    for index in 0..20 {
        let rows = index * ROWS / 20..(index + 1) * ROWS / 20;
        leaf.accept(batch(&format!("b{index}"), 1, rows)).await.expect("taken");
        leaf.merge_all();
    }
    let (values, _) = values(&leaf).await;
    assert_eq!(values.len(), usize::try_from(ROWS).expect("small"));
    leaf
}

/// Truncates the segment by whole pages; a cut within a page would raise no error.
fn cut(folder: &Path) {
    let path = folder.join("segments/00000001.segment");
    let bytes = std::fs::read(&path).expect("read");
    let used = bytes.iter().rposition(|byte| *byte != 0).expect("blocks");
    let file = std::fs::File::options().write(true).open(&path).expect("opened");
    file.set_len(used as u64 / 4_096 * 4_096).expect("cut");
}

#[tokio::test]
async fn a_file_that_becomes_shorter_costs_the_rows_that_are_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let leaf = verified(folder.path()).await;
    cut(folder.path());
    let (first, partial) = values(&leaf).await;
    let Coverage { rows_scanned, rows_expected, .. } = partial.coverage;
    let unreadable =
        partial.warnings.iter().find(|warning| warning.code == WarningCode::BlocksUnreadable);
    assert!(unreadable.is_some(), "{:?}", partial.warnings);
    assert_eq!((first.len() as u64, rows_expected), (rows_scanned, ROWS.unsigned_abs()));
    assert!((1..ROWS.unsigned_abs()).contains(&rows_scanned), "{rows_scanned}");
    // All reports of the leaf's state agree.
    assert_eq!(rows_and_lost(&leaf).await, (rows_scanned, rows_expected - rows_scanned));
    // No value is invented, and there is no extra zero.
    assert!(first.is_sorted_by(|left, right| left < right));
    assert!(first.iter().all(|value| (0..ROWS).contains(value)));
    // The process lives and continues.
    leaf.merge_all();
    leaf.accept(batch("later", 1, ROWS..ROWS + 5_000)).await.expect("taken");
    leaf.merge_all();
    let (second, _) = values(&leaf).await;
    assert_eq!(second[..first.len()], first);
    assert!(second[first.len()..].iter().copied().eq(ROWS..ROWS + 5_000));
    // Nothing more is written to a segment that has unreadable pages.
    flush(&leaf.context.all_tables(), &leaf.context.store).expect("moved");
    let blocks = leaf.context.all_tables()[0].snapshot();
    let later = blocks.iter().filter(|block| block.time_range.0.0 >= NOW.0 + ROWS);
    let locations: Vec<String> = later.map(|block| block.describe_location()).collect();
    assert!(
        locations.iter().all(|location| location.contains("00000002.segment")),
        "{locations:?}"
    );
    assert_eq!(locations.len(), 1);
}

#[tokio::test]
async fn a_block_that_cannot_be_read_when_it_is_made_replaces_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let leaf = verified(folder.path()).await;
    let path = folder.path().join("segments/00000001.segment");
    let before = std::fs::read(&path).expect("read");
    let used = before.iter().rposition(|byte| *byte != 0).expect("blocks") as u64;
    let table = Arc::clone(&leaf.context.all_tables()[0]);
    let old = Arc::clone(&table.snapshot()[0]);
    let copied = rewrite(&leaf.context, &table, &[Arc::clone(&old)], |view| {
        Ok(Some(vec![view.bytes().to_vec()]))
    });
    let copied = copied.expect("written");
    let file = std::fs::File::options().write(true).open(&path).expect("opened");
    file.set_len(used.next_multiple_of(4_096)).expect("cut");
    assert!(replace(&leaf.context, &table, copied).is_err());
    assert!(leaf.context.store.has_block(old.number().expect("of a segment")));
    assert_eq!(values(&leaf).await.0.len(), usize::try_from(ROWS).expect("small"));
}

/// Rows present and rows lost, from the status.
async fn rows_and_lost(leaf: &Leaf) -> (u64, u64) {
    let status = leaf.status(&StatusScope::All).await;
    let table = &status.leaves[0].tables[&name("t")];
    (table.schema.rows, table.lost_rows)
}

/// Overwrites half of a block's bytes in the file with zeros, as a hole does; returns its rows.
fn punch(leaf: &Leaf, folder: &Path) -> u64 {
    let path = folder.join("segments/00000001.segment");
    let first = first_block(leaf, &std::fs::read(&path).expect("read"));
    let half = first.byte_count() / 2;
    let file = std::fs::File::options().write(true).open(&path).expect("opened");
    file.write_all_at(&vec![0; half], 4_096 + half as u64).expect("written");
    first.rows as u64
}

#[tokio::test]
async fn what_is_altered_after_it_was_verified_is_found_by_the_next_scrub() {
    let folder = tempfile::tempdir().expect("a folder");
    let leaf = verified(folder.path()).await;
    let all = ROWS.unsigned_abs();
    Scrubber { context: &leaf.context }.scrub_round(|_| true);
    assert_eq!(rows_and_lost(&leaf).await, (all, 0), "nothing is damaged yet");
    let gone = punch(&leaf, folder.path());
    Scrubber { context: &leaf.context }.scrub_round(|_| false);
    assert_eq!(rows_and_lost(&leaf).await, (all, 0), "it was told to stop before the first block");
    for _ in 0..2 {
        Scrubber { context: &leaf.context }.scrub_round(|_| true);
        assert_eq!(rows_and_lost(&leaf).await, (all - gone, gone));
        let (values, partial) = values(&leaf).await;
        let unreadable = (WarningCode::BlocksUnreadable, 1);
        assert_eq!(seen_of(&partial), ((all - gone, all), vec![unreadable]));
        assert_eq!(values.len() as u64, all - gone);
        assert!(values.is_sorted_by(|left, right| left < right));
    }
    // A merge leaves it alone.
    leaf.merge_all();
    assert_eq!(rows_and_lost(&leaf).await, (all - gone, gone));
    // It is detected again after a restart, and is dropped with its table.
    drop(leaf);
    let leaf = Leaf::open(config(Some(folder.path()))).expect("opens");
    Scrubber { context: &leaf.context }.scrub_round(|_| true);
    assert_eq!(rows_and_lost(&leaf).await, (all - gone, gone));
    assert_eq!(leaf.apply(TableChange::Drop { table: name("t") }).await, Ok(all));
    assert!(leaf.status(&StatusScope::All).await.leaves[0].tables.is_empty());
}

/// A leaf with a block in a segment.
async fn with_a_block(folder: &Path, first: i64) -> Leaf {
    let leaf = Leaf::open(config(Some(folder))).expect("opens");
    leaf.accept(batch("a", 1, first..first + ROWS / 20)).await.expect("taken");
    leaf.stop().expect("stopped");
    drop(leaf);
    Leaf::open(config(Some(folder))).expect("opens")
}

/// Replaces the first block by a block of another leaf, as restoring a file from a backup does;
/// returns its rows.
async fn exchange(leaf: &Leaf, folder: &Path) -> u64 {
    let elsewhere = tempfile::tempdir().expect("a folder");
    let other = with_a_block(elsewhere.path(), 2 * ROWS).await;
    let segment = |folder: &Path| folder.join("segments/00000001.segment");
    let bytes_of = |folder| std::fs::read(segment(folder)).expect("read");
    let its = first_block(&other, &bytes_of(elsewhere.path()));
    let first = first_block(leaf, &bytes_of(folder));
    assert_eq!((first.rows, first.byte_count()), (its.rows, its.byte_count()));
    let file = std::fs::File::options().write(true).open(segment(folder)).expect("opened");
    file.write_all_at(its.bytes(), 4_096).expect("written");
    first.rows as u64
}

#[tokio::test]
async fn another_block_in_the_place_of_one_is_found_by_the_next_scrub() {
    let folder = tempfile::tempdir().expect("a folder");
    let leaf = with_a_block(folder.path(), 0).await;
    let gone = exchange(&leaf, folder.path()).await;
    leaf.accept(batch("b", 1, ROWS..ROWS + 5_000)).await.expect("taken");
    for round in 0..3 {
        Scrubber { context: &leaf.context }.scrub_round(|_| true);
        let (values, partial) = values(&leaf).await;
        assert!(values.iter().copied().eq(ROWS..ROWS + 5_000), "round {round}");
        let unreadable = (WarningCode::BlocksUnreadable, 1);
        assert_eq!(seen_of(&partial), ((5_000, 5_000 + gone), vec![unreadable]));
    }
    leaf.merge_all();
    drop(leaf);
    let leaf = Leaf::open(config(Some(folder.path()))).expect("opens");
    Scrubber { context: &leaf.context }.scrub_round(|_| true);
    assert_eq!(rows_and_lost(&leaf).await, (5_000, gone));
}

#[tokio::test]
async fn what_is_altered_gets_no_new_checksums() {
    let folder = tempfile::tempdir().expect("a folder");
    let leaf = verified(folder.path()).await;
    let gone = punch(&leaf, folder.path());
    let table = Arc::clone(&leaf.context.tables.read()[&name("t")]);
    let blocks = table.snapshot();
    let written = write_recompressed(&leaf.context, &table, &blocks).expect("written");
    let damaged: Vec<_> = blocks.iter().filter(|block| block.is_damaged()).collect();
    assert_eq!(damaged.iter().map(|block| block.rows as u64).sum::<u64>(), gone);
    assert!(!written.iter().any(|one| Arc::ptr_eq(&one.old, damaged[0])));
}

#[tokio::test]
async fn a_scrub_keeps_no_block_that_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let leaf = verified(folder.path()).await;
    let table = Arc::clone(&leaf.context.tables.read()[&name("t")]);
    let blocks: Vec<_> = table.snapshot().iter().map(Arc::downgrade).collect();
    let mut scrubbed = 0;
    Scrubber { context: &leaf.context }.scrub_round(|_| {
        scrubbed += 1;
        table.clear();
        assert!(blocks.iter().all(|block| block.upgrade().is_none()));
        true
    });
    assert_eq!(scrubbed, 1);
}

#[tokio::test]
async fn a_merge_of_what_cannot_be_read_comes_to_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let leaf = verified(folder.path()).await;
    cut(folder.path());
    let table = Arc::clone(&leaf.context.tables.read()[&name("t")]);
    let inputs = table.snapshot();
    let merged = merge_blocks(&table, &inputs, MergeKind::Settle, NOW);
    assert!(inputs.iter().any(|block| block.faults() > 0));
    assert!(merged.is_err());
    // The next try identifies the damaged blocks, and the others can be merged.
    let _ = merge_blocks(&table, &inputs, MergeKind::Settle, NOW);
    let sound: Vec<_> = inputs.iter().filter(|block| !block.is_damaged()).cloned().collect();
    assert!((1..inputs.len()).contains(&sound.len()), "{} of {}", sound.len(), inputs.len());
    merge_blocks(&table, &sound, MergeKind::Settle, NOW).expect("merged");
}
