use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hadal_aggregate::{Coverage, LeafOutcome, PartialBody, QueryErrorCode, SparseRow, WarningCode};
use hadal_block::BlockBuilder;
use hadal_peer::{Admin, Batch, Receipt, Sink, SinkError, TableChange};
use hadal_query::{Expr, QueryKind, RowInput};
use hadal_types::limits::LEAF_QUERY_BYTES_MAX;
use hadal_types::{
    BatchId, ColumnName, FixedClock, Kind, LeafState, Micros, Number, TimeRange, Value,
};
use parking_lot::Mutex;

use super::*;
use crate::maintenance::merge::SEGMENT_ROWS_MIN;
use crate::table::block::Block;

mod archive;
mod crashes;
mod disk;
mod expiry;
mod leaf_group;
mod limits;
mod losses;
mod memory_pressure;
mod overlap;
mod recompress;
mod reports;
mod restart;
mod revoke;
mod revoked_elsewhere;
mod row_queries;
mod sample;
mod unreadable;
mod waiting;

use waiting::{wait_until, wait_until_alive};

impl Leaf {
    fn archive_job(&self) -> ArchiveJob<'_> {
        let (context, archiver) = (&*self.context, &*self.archiver);
        ArchiveJob { archiver, context, schedule: &self.schedule, pressure: &self.pressure }
    }

    /// Archives and drops all rows that are due on the caller's thread. Returns false if something
    /// failed.
    fn archive_all(&self) -> bool {
        self.archive_job().archive_all()
    }
}

const NOW: Micros = Micros(1_700_000_000 * Micros::SECOND);

struct Bed {
    clock: Arc<FixedClock>,
    leaf: Leaf,
}

fn open(folder: Option<&Path>) -> Bed {
    open_with(folder, u64::MAX)
}

fn open_with(folder: Option<&Path>, table_bytes_max: u64) -> Bed {
    let clock = Arc::new(FixedClock::new(NOW));
    let config = LeafConfig {
        limits: LeafLimits { table_bytes_max, ..usual_limits() },
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        ..config(folder)
    };
    Bed { clock, leaf: Leaf::open(config).expect("opens") }
}

/// The usual limits, except that the clock is trusted from the start; tests of clocks override
/// that.
fn usual_limits() -> LeafLimits {
    LeafLimits { clock_proving: Duration::ZERO, ..LeafLimits::of_one_in(1) }
}

pub(crate) fn config(folder: Option<&Path>) -> LeafConfig {
    LeafConfig {
        name: LeafName("leaf-0".into()),
        folder: folder.map(Path::to_path_buf),
        memory: None,
        preopened: PreopenedStore::default(),
        expects_data: false,
        durability: Durability::Sync,
        pool: ScanPool::new(1).expect("a thread"),
        zone_answers: true,
        limits: usual_limits(),
        query_bytes_max: LEAF_QUERY_BYTES_MAX,
        budget: MemoryPool::new(usize::MAX),
        clock: Arc::new(FixedClock::new(NOW)),
        archive: None,
    }
}

fn name(text: &str) -> TableName {
    TableName::new(text).expect("a name")
}

/// A batch of table `t` with these values in the number column `v`.
fn batch(id: &str, content_hash: u64, values: std::ops::Range<i64>) -> Batch {
    let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
    let column = builder.column(&ColumnName::new("v").expect("a name"), Kind::Number);
    let rows = values.clone().count();
    for value in values {
        builder.push_number(column, Number::integer(value)).expect("taken");
        builder.end_row(Micros(NOW.0 + value));
    }
    let id = BatchId::new(id).expect("an id");
    let block = builder.finish(NOW, Some((&id, content_hash))).expect("fits");
    Batch::encoded(name("t"), id, content_hash, rows, block)
}

/// The same batch for another table.
fn in_table(table: &str, mut batch: Batch) -> Batch {
    batch.table = name(table);
    batch
}

/// The receipt without the table's report.
fn bare(receipt: Receipt) -> Receipt {
    Receipt { report: None, ..receipt }
}

fn receipt(rows: usize, duplicate: bool, durable: bool) -> Result<Receipt, SinkError> {
    Ok(Receipt { rows, duplicate, durable, overflowing: false, report: None })
}

/// All values of `v` in the table, sorted, and their partial.
async fn values(leaf: &Leaf) -> (Vec<i64>, Partial) {
    values_in(leaf, TimeRange::ALL).await
}

/// The values of `v` in a time range, sorted, and their partial.
async fn values_in(leaf: &Leaf, range: TimeRange) -> (Vec<i64>, Partial) {
    let column = hadal_query::ColumnRef {
        name: ColumnName::new("v").expect("a name"),
        kind: Kind::Number,
        logical: hadal_types::Logical::Plain,
    };
    let shape = QueryKind::Rows { values: vec![Expr::Leaf(RowInput::Column(column))] };
    let query = Query {
        range,
        limit: 1_000_000,
        now: NOW,
        deadline: Duration::from_secs(60),
        ..Query::new(name("t"), shape)
    };
    let partial = leaf.query(Arc::new(query), Instant::now() + Duration::from_secs(60)).await;
    let PartialBody::Rows(rows) = partial.body.clone() else { panic!("rows") };
    let value = |row: SparseRow| match &row[0] {
        Value::Number(number) => number.to_i64().expect("an integer"),
        other => panic!("{other}"),
    };
    (rows.into_sorted().into_iter().map(value).collect(), partial)
}

#[tokio::test]
async fn a_batch_is_visible_once_it_is_acknowledged() {
    let bed = open(None);
    assert_eq!(bed.leaf.accept(batch("a", 1, 0..3)).await.map(bare), receipt(3, false, false));
    let (values, partial) = values(&bed.leaf).await;
    assert_eq!(values, [0, 1, 2]);
    assert_eq!(partial.coverage.rows_scanned, 3);
    assert_eq!(partial.coverage.leaves[0].outcome, LeafOutcome::Answered);
    let status = bed.leaf.status(&StatusScope::All).await;
    assert_eq!(status.leaves[0].tables[&name("t")].schema.rows, 3);
}

#[tokio::test]
async fn a_leaf_that_does_not_wait_for_the_disk_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let make_config =
        || LeafConfig { durability: Durability::Async, ..config(Some(folder.path())) };
    let leaf = Leaf::open(make_config()).expect("opens");
    assert_eq!(leaf.accept(batch("a", 1, 0..3)).await.map(bare), receipt(3, false, false));
    drop(leaf);
    let leaf = Leaf::open(make_config()).expect("opens");
    assert_eq!(values(&leaf).await.0, [0, 1, 2]);
    assert_eq!(leaf.accept(batch("a", 1, 0..3)).await.map(bare), receipt(3, true, false));
}

#[tokio::test]
async fn a_retry_adds_nothing_and_other_bytes_are_a_conflict() {
    let bed = open(None);
    bed.leaf.accept(batch("a", 1, 0..3)).await.expect("taken");
    assert_eq!(bed.leaf.accept(batch("a", 1, 0..3)).await.map(bare), receipt(3, true, false));
    let conflict = bed.leaf.accept(batch("a", 2, 0..4)).await;
    assert!(matches!(conflict, Err(SinkError::Conflict { .. })), "{conflict:?}");
    assert_eq!(values(&bed.leaf).await.0, [0, 1, 2]);
}

#[tokio::test]
async fn bytes_that_are_no_row_block_are_refused() {
    let bed = open(None);
    let Batch { table, id, content_hash, rows, .. } = batch("a", 1, 0..3);
    let empty = Batch::encoded(table, id, content_hash, rows, Vec::new());
    let refused = bed.leaf.accept(empty).await;
    assert!(matches!(refused, Err(SinkError::Corrupt { .. })), "{refused:?}");
    assert_eq!(bed.leaf.accept(batch("a", 1, 0..3)).await.map(bare), receipt(3, false, false));
}

#[tokio::test]
async fn a_folder_keeps_rows_and_ids() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    for index in 0..40i64 {
        let taken = bed.leaf.accept(batch(&format!("b{index}"), 1, index * 5..index * 5 + 5)).await;
        assert_eq!(taken.map(bare), receipt(5, false, true));
    }
    bed.leaf.merge_all();
    drop(bed);
    let bed = open(Some(folder.path()));
    assert_eq!(values(&bed.leaf).await.0, (0..200).collect::<Vec<_>>());
    assert_eq!(bed.leaf.accept(batch("b7", 1, 35..40)).await.map(bare), receipt(5, true, true));
    let conflict = bed.leaf.accept(batch("b7", 2, 35..41)).await;
    assert!(matches!(conflict, Err(SinkError::Conflict { .. })), "{conflict:?}");
}

#[tokio::test]
async fn merging_keeps_every_row_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    let rows = i64::try_from(SEGMENT_ROWS_MIN).expect("small");
    for index in 0..64 {
        let from = index * rows / 16;
        bed.leaf
            .accept(batch(&format!("b{index}"), 1, from..from + rows / 16))
            .await
            .expect("taken");
    }
    bed.leaf.merge_all();
    let expected: Vec<i64> = (0..4 * rows).collect();
    assert_eq!(values(&bed.leaf).await.0, expected);
    // The merger may have taken more than sixteen at a time, and left up to fifteen for the next.
    let blocks = bed.leaf.blocks(&name("t")).await.blocks.len();
    assert!(blocks <= 3 + 15, "{blocks} blocks");
    // Settled rows are regrouped by time.
    bed.clock.set(Micros(NOW.0 + 3_600 * Micros::SECOND));
    bed.leaf.merge_all();
    let TableBlocks { blocks, columns } = bed.leaf.blocks(&name("t")).await;
    assert_eq!(blocks.len(), 1, "{blocks:?}");
    let (first, last) = (Micros(NOW.0), Micros(NOW.0 + 4 * rows - 1));
    assert_eq!((blocks[0].time_range, blocks[0].is_fresh), ((first, last), false));
    let names: Vec<&str> = columns.keys().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["time", "v"]);
    assert!(columns.values().all(|column| (column.blocks, column.rows) == (1, blocks[0].rows)));
    assert!(columns.values().map(|column| column.bytes).sum::<u64>() < blocks[0].bytes);
    assert_eq!(values(&bed.leaf).await.0, expected);
    drop(bed);
    let bed = open(Some(folder.path()));
    assert_eq!(values(&bed.leaf).await.0, expected);
}

#[tokio::test]
async fn a_dropped_table_is_gone_for_good() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    bed.leaf.accept(batch("a", 1, 0..3)).await.expect("taken");
    assert_eq!(bed.leaf.apply(TableChange::Drop { table: name("t") }).await, Ok(3));
    assert_eq!(bed.leaf.apply(TableChange::Drop { table: name("t") }).await, Ok(0));
    assert!(values(&bed.leaf).await.0.is_empty());
    bed.leaf.accept(batch("a", 1, 5..6)).await.expect("the id is free again");
    drop(bed);
    assert_eq!(values(&open(Some(folder.path())).leaf).await.0, [5]);
}

#[tokio::test]
async fn a_table_over_its_size_drops_its_oldest_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let size = batch("a", 1, 0..5_000).block().len() as u64;
    let bed = open_with(Some(folder.path()), size * 3);
    for index in 0..6 {
        let from = index * 5_000;
        bed.leaf.accept(batch(&format!("b{index}"), 1, from..from + 5_000)).await.expect("taken");
        bed.leaf.merge_all();
    }
    let kept: BTreeSet<i64> = values(&bed.leaf).await.0.into_iter().collect();
    assert!(kept.contains(&29_999), "the newest rows stay");
    assert!(!kept.contains(&0), "the oldest rows go");
    let status = bed.leaf.status(&StatusScope::All).await;
    let table = &status.leaves[0].tables[&name("t")];
    assert_eq!(table.dropped_rows + kept.len() as u64, 30_000);
    assert!(table.block_bytes <= size * 3);
    drop(bed);
    let reopened: BTreeSet<i64> =
        values(&open(Some(folder.path())).leaf).await.0.into_iter().collect();
    assert_eq!(reopened, kept);
}

/// A folder whose one segment holds one block of [`SEGMENT_ROWS_MIN`] rows of table `t`.
async fn folder_with_a_block() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    let rows = i64::try_from(SEGMENT_ROWS_MIN).expect("small") / 16;
    for index in 0..16 {
        let rows = index * rows..(index + 1) * rows;
        bed.leaf.accept(batch(&format!("b{index}"), 1, rows)).await.expect("taken");
    }
    bed.leaf.merge_all();
    let TableBlocks { blocks, .. } = bed.leaf.blocks(&name("t")).await;
    assert!(matches!(&blocks[..], [block] if !block.is_fresh), "{blocks:?}");
    folder
}

/// The path of the segment, and the offset of its first block.
fn segment(folder: &Path) -> (PathBuf, usize) {
    (folder.join("segments/00000001.segment"), 4_096)
}

/// The block at the start of a segment with these bytes.
fn first_block(leaf: &Leaf, segment: &[u8]) -> Arc<Block> {
    let blocks = leaf.context.tables.read()[&name("t")].snapshot();
    let is_first = |block: &&Arc<Block>| segment[4_096..].starts_with(block.bytes());
    blocks.iter().find(is_first).cloned().expect("a block")
}

fn flip(path: &Path, at: std::ops::Range<usize>) {
    let mut bytes = std::fs::read(path).expect("read");
    bytes[at].iter_mut().for_each(|byte| *byte ^= 1);
    std::fs::write(path, bytes).expect("written");
}

/// Rows that were scanned and expected, and the warnings as code and count.
fn seen_of(partial: &Partial) -> ((u64, u64), Vec<(WarningCode, u64)>) {
    let Coverage { rows_scanned, rows_expected, .. } = partial.coverage;
    let warnings = partial.warnings.iter().map(|warning| (warning.code, warning.count));
    ((rows_scanned, rows_expected), warnings.collect())
}

#[tokio::test]
async fn lost_rows_stay_expected_until_their_table_is_dropped() {
    type Tamper = fn(&Path, usize);
    let tampers: [(Tamper, &str); 3] = [
        (|path, _| std::fs::remove_file(path).expect("removed"), "is missing"),
        (|path, at| std::fs::write(path, vec![7; at]).expect("cut"), "wrong header or length"),
        (|path, at| flip(path, at + 20..at + 21), "at byte 4096 is damaged: "),
    ];
    for (tamper, reason) in tampers {
        let folder = folder_with_a_block().await;
        let (path, at) = segment(folder.path());
        tamper(&path, at);
        let lost = SEGMENT_ROWS_MIN as u64;
        for fresh in 0..3u64 {
            let bed = open(Some(folder.path()));
            let [block] = &bed.leaf.recovery_report().lost_blocks[..] else { panic!("{reason}") };
            assert_eq!((&block.table, u64::from(block.rows)), (&name("t"), lost));
            assert!(block.reason.contains(reason), "{}", block.reason);
            let (_, partial) = values(&bed.leaf).await;
            let warning = (WarningCode::RowsLost, lost);
            assert_eq!(seen_of(&partial), ((fresh, fresh + lost), vec![warning]));
            let status = bed.leaf.status(&StatusScope::All).await;
            let table = &status.leaves[0].tables[&name("t")];
            assert_eq!((table.schema.rows, table.lost_rows), (fresh, lost));
            let from = i64::try_from(fresh).expect("small");
            let row = batch(&format!("fresh-{fresh}"), 1, from..from + 1);
            bed.leaf.accept(row).await.expect("taken");
            bed.leaf.merge_all();
        }
        let bed = open(Some(folder.path()));
        assert_eq!(bed.leaf.apply(TableChange::Drop { table: name("t") }).await, Ok(3));
        bed.leaf.accept(batch("new", 1, 0..1)).await.expect("taken");
        assert_eq!(seen_of(&values(&bed.leaf).await.1), ((1, 1), vec![]));
        drop(bed);
        let bed = open(Some(folder.path()));
        assert_eq!(bed.leaf.recovery_report().lost_blocks, []);
        assert_eq!(seen_of(&values(&bed.leaf).await.1), ((1, 1), vec![]));
    }
}

#[tokio::test]
async fn a_table_of_which_all_is_lost_can_be_seen_and_dropped() {
    let folder = folder_with_a_block().await;
    std::fs::remove_file(segment(folder.path()).0).expect("removed");
    let bed = open(Some(folder.path()));
    let status = bed.leaf.status(&StatusScope::All).await;
    let table = &status.leaves[0].tables[&name("t")];
    assert_eq!((table.blocks, table.lost_rows), (0, SEGMENT_ROWS_MIN as u64));
    assert_eq!(table.schema.time_range, None);
    assert_eq!(bed.leaf.apply(TableChange::Drop { table: name("t") }).await, Ok(0));
    drop(bed);
    let bed = open(Some(folder.path()));
    assert!(bed.leaf.status(&StatusScope::All).await.leaves[0].tables.is_empty());
}

#[tokio::test]
async fn a_block_that_is_damaged_behind_its_front_is_left_alone() {
    let folder = folder_with_a_block().await;
    let bed = open(Some(folder.path()));
    let TableBlocks { blocks, columns } = bed.leaf.blocks(&name("t")).await;
    drop(bed);
    let (path, at) = segment(folder.path());
    let end = at + usize::try_from(blocks[0].bytes).expect("small");
    // The columns come last.
    let bytes: u64 = columns.values().map(|column| column.bytes).sum();
    flip(&path, end - usize::try_from(bytes).expect("small")..end);
    let bed = open(Some(folder.path()));
    let rows = i64::try_from(SEGMENT_ROWS_MIN).expect("small");
    bed.leaf.accept(batch("more", 1, rows..2 * rows)).await.expect("taken");
    // The due merge detects the damage, and later merges skip the block.
    bed.clock.set(Micros(NOW.0 + 3_600 * Micros::SECOND));
    for _ in 0..2 {
        bed.leaf.merge_all();
        let damaged = |block: &&Arc<Block>| block.is_damaged();
        let table = bed.leaf.context.tables.read().get(&name("t")).cloned().expect("a table");
        let blocks = table.snapshot();
        assert_eq!(blocks.iter().filter(damaged).count(), 1);
        let warning = (WarningCode::BlocksUnreadable, 1);
        let rows = SEGMENT_ROWS_MIN as u64;
        assert_eq!(seen_of(&values(&bed.leaf).await.1), ((rows, 2 * rows), vec![warning]));
    }
    let TableBlocks { blocks, .. } = bed.leaf.blocks(&name("t")).await;
    assert!(blocks.iter().all(|block| !block.is_fresh), "{blocks:?}");
}

#[tokio::test]
async fn a_query_past_its_deadline_says_what_it_did_not_scan() {
    let bed = open(None);
    bed.leaf.accept(batch("a", 1, 0..3)).await.expect("taken");
    let (_, full) = values(&bed.leaf).await;
    assert_eq!(full.coverage.fraction(), 1.0);
    let query = Query {
        limit: 1,
        now: NOW,
        deadline: Duration::ZERO,
        ..Query::new(name("t"), QueryKind::Groups { keys: Vec::new(), measures: Vec::new() })
    };
    let late = bed.leaf.query(Arc::new(query), Instant::now()).await;
    assert_eq!(late.coverage.leaves[0].outcome, LeafOutcome::Late);
    assert_eq!((late.coverage.rows_scanned, late.coverage.rows_expected), (0, 3));
}

#[tokio::test]
async fn a_stopping_leaf_takes_nothing_and_still_answers() {
    let bed = open(None);
    bed.leaf.accept(batch("a", 1, 0..3)).await.expect("taken");
    bed.leaf.stop_taking();
    let refused = bed.leaf.accept(batch("b", 1, 3..4)).await;
    assert!(matches!(refused, Err(SinkError::Unavailable(_))), "{refused:?}");
    assert_eq!(values(&bed.leaf).await.0, [0, 1, 2]);
}

#[tokio::test]
async fn leaves_share_threads_that_outlive_each_of_them() {
    let pool = ScanPool::new(2).expect("threads");
    let leaf =
        || Leaf::open(LeafConfig { pool: Arc::clone(&pool), ..config(None) }).expect("opens");
    let (one, other) = (leaf(), leaf());
    one.accept(batch("a", 1, 0..3)).await.expect("taken");
    for index in 0..20 {
        let values = index * 5..index * 5 + 5;
        other.accept(batch(&format!("b{index}"), 1, values)).await.expect("taken");
    }
    let ((few, _), (many, _)) = tokio::join!(values(&one), values(&other));
    assert_eq!((few, many), ((0..3).collect(), (0..100).collect()));
    drop(one);
    let (many, partial) = values(&other).await;
    assert_eq!((many.len(), partial.coverage.rows_scanned), (100, 100));
    drop(other);
    assert_eq!(Arc::strong_count(&pool), 1, "leaves that are gone keep no threads");
}

/// Keeps the log's thread busy in a callback until the sender is dropped.
fn hold_log_thread(leaf: &Leaf) -> std::sync::mpsc::Sender<()> {
    let (entered_sender, entered) = std::sync::mpsc::channel();
    let here = std::thread::current().id();
    for index in 0.. {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let entered_sender = entered_sender.clone();
        let other = batch(&format!("hold-{index}"), 1, 0..1);
        let ticket = leaf.context.store.append(&name("other"), &other.id, other.block());
        ticket.expect("logged").then(move |_| {
            let on_log_thread = std::thread::current().id() != here;
            entered_sender.send(on_log_thread).expect("received");
            if on_log_thread {
                // Ends when the sender is dropped.
                let _ = released.recv();
            }
        });
        // The log may have finished before the callback was set, so the callback ran on this
        // thread.
        if entered.recv() == Ok(true) {
            return release;
        }
    }
    unreachable!("some callback comes later than it is set")
}

#[test]
fn a_leaf_may_end_while_its_log_is_about_to_call_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    let release = hold_log_thread(&bed.leaf);
    // The batch is in the log's queue, and its future is dropped.
    let mut accepting = bed.leaf.accept(batch("a", 1, 0..3));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(accepting.as_mut().poll(&mut context).is_pending());
    drop(accepting);
    let table = bed.leaf.context.tables.read().get(&name("t")).cloned().expect("a table");
    let context = Arc::downgrade(&bed.leaf.context);
    assert_eq!(context.strong_count(), 3, "the leaf and its two threads, and nobody on the log's");
    let ending = std::thread::spawn(move || drop(bed));
    // The leaf ends on that thread, and waits there for the log's callback.
    wait_until("the leaf has ended", || context.strong_count() == 0);
    assert!(table.snapshot().is_empty());
    drop(release);
    ending.join().expect("no panic");
    assert_eq!(table.snapshot().len(), 1, "the log called back before it ended");
    let again = open(Some(folder.path()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    assert_eq!(runtime.block_on(values(&again.leaf)).0, [0, 1, 2]);
}

mod memory;
