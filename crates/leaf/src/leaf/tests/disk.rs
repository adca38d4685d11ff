//! A failing or slow disk, and the disk space of the log.

use hadal_store::Folders;
use hadal_store::disk::simulated::World;
use hadal_types::TableSettings;
use hadal_types::limits::LOG_FILES_MAX;

use super::waiting::{hold_syncs, open_with_reads_held};
use super::*;
use crate::write::configure::configure;
use crate::write::drop_table::drop_table;

const SIZES: Sizes = Sizes {
    segment_bytes: 64 * 4_096,
    log_file_bytes: 10_000,
    manifest_bytes_min: 400,
    reserve_bytes: 0,
};

fn open_on(world: &World) -> Leaf {
    open_in(&world.folders())
}

pub(super) fn open_on_memory(world: &World) -> Leaf {
    open_in(&world.folders_with_memory())
}

fn open_in(folders: &Folders) -> Leaf {
    let (store, recovery) = Store::open_on(folders, SIZES).expect("opened");
    // The folder is the simulated one; nothing is archived.
    Leaf::start(config(Some(Path::new("of the world"))), store, recovery).expect("started")
}

#[tokio::test]
async fn a_batch_whose_sync_failed_is_nobody_elses_until_the_next_start_tells() {
    let world = World::new(1);
    let leaf = open_on(&world);
    let id = |text: &str| BatchId::new(text).expect("an id");
    leaf.accept(batch("a", 1, 0..3)).await.expect("taken");
    assert!(leaf.takes_batches());
    world.fail_syncs(true);
    for _ in 0..2 {
        let refused = leaf.accept(batch("b", 1, 3..5)).await;
        assert!(matches!(refused, Err(SinkError::Store(_))), "{refused:?}");
        assert!(leaf.look_up(&name("t"), &id("b")).await.is_known, "it may be there");
        assert!(!leaf.takes_batches());
    }
    // The log is no longer written to, so it has nothing of later batches.
    let refused = leaf.accept(batch("c", 1, 5..9)).await;
    assert!(matches!(refused, Err(SinkError::Store(_))), "{refused:?}");
    assert!(!leaf.look_up(&name("t"), &id("c")).await.is_known);
    assert_eq!(values(&leaf).await.0, [0, 1, 2]);
    drop(leaf);
    world.fail_syncs(false);
    world.kill();
    let leaf = open_on(&world);
    assert!(leaf.takes_batches());
    assert_eq!(values(&leaf).await.0, [0, 1, 2, 3, 4]);
    assert!(leaf.accept(batch("b", 1, 3..5)).await.expect("known").duplicate);
    assert!(!leaf.accept(batch("c", 1, 5..9)).await.expect("taken").duplicate);
}

#[tokio::test]
async fn tables_with_few_rows_do_not_keep_the_log_long() {
    let world = World::new(1);
    let leaf = open_on(&world);
    let (mut most, mut expected) = (0, Vec::new());
    for round in 0..200i64 {
        let rows = round * 1_000..(round + 1) * 1_000;
        let heavy = in_table("heavy", batch(&format!("h{round}"), 1, rows));
        leaf.accept(heavy).await.expect("taken");
        leaf.accept(batch(&format!("t{round}"), 1, round..round + 1)).await.expect("taken");
        expected.push(round);
        leaf.merge_all();
        most = most.max(leaf.context.store.stats().log_files);
    }
    assert!(most <= LOG_FILES_MAX as u64 + 2, "{most} files");
    assert!(most > 1, "the log has several files");
    assert_eq!(values(&leaf).await.0, expected);
    drop(leaf);
    world.crash();
    let leaf = open_on(&world);
    assert_eq!(values(&leaf).await.0, expected);
    for round in [0, 1, 100, 199] {
        let again = batch(&format!("t{round}"), 1, round..round + 1);
        assert!(leaf.accept(again).await.expect("known").duplicate);
    }
}

/// Scanned rows, and expected rows.
async fn coverage(leaf: &Leaf) -> (u64, u64) {
    let Coverage { rows_scanned, rows_expected, .. } = values(leaf).await.1.coverage;
    (rows_scanned, rows_expected)
}

#[tokio::test]
async fn a_killed_leaf_answers_and_takes_batches_before_it_has_read_anything_back() {
    let world = World::new(1);
    let leaf = open_on_memory(&world);
    for at in 0..16 {
        leaf.accept(batch(&format!("b{at}"), 1, at * 500..(at + 1) * 500)).await.expect("taken");
    }
    leaf.merge_all();
    leaf.accept(batch("fresh", 1, 8_000..8_010)).await.expect("taken");
    drop(leaf);
    // A power failure loses the contents of memory.
    world.crash();
    let (leaf, held) = open_with_reads_held(&world, open_on_memory);
    assert_eq!(coverage(&leaf).await, (10, 8_010));
    assert_eq!(
        leaf.accept(batch("more", 1, 8_010..8_015)).await.map(bare),
        receipt(5, false, true)
    );
    assert!(leaf.accept(batch("b3", 1, 1_500..2_000)).await.expect("known").duplicate);
    assert_eq!(coverage(&leaf).await, (15, 8_015));
    assert_eq!(leaf.context.state(), LeafState::DiskRecovery);
    drop(held);
    wait_until_alive(&leaf);
    assert_eq!(values(&leaf).await.0, (0..8_015).collect::<Vec<_>>());
}

#[tokio::test]
async fn while_rows_are_brought_back_only_fresh_ones_are_merged() {
    let world = World::new(1);
    let leaf = open_on_memory(&world);
    let mut next = 0;
    let mut take = async |leaf: &Leaf, batches: i64| {
        for at in next..next + batches {
            let rows = at * 256..(at + 1) * 256;
            leaf.accept(batch(&format!("b{at}"), 1, rows)).await.expect("taken");
            // Sixteen blocks are merged into one in a segment.
            if at % 16 == 15 {
                leaf.merge_all();
            }
        }
        next += batches;
    };
    let blocks = |leaf: &Leaf| {
        let table = leaf.context.all_tables().pop().expect("one");
        let is_in_log: Vec<bool> =
            table.snapshot().iter().map(|block| block.origin.is_log()).collect();
        is_in_log
    };
    // So that the table has some rows at once after the start.
    take(&leaf, 17).await;
    drop(leaf);
    world.crash();
    let (leaf, held) = open_with_reads_held(&world, open_on_memory);
    take(&leaf, 15 + 15 * 16).await;
    let meanwhile = (leaf.context.state(), blocks(&leaf));
    drop(held);
    assert_eq!(meanwhile, (LeafState::DiskRecovery, vec![false; 16]));
    wait_until_alive(&leaf);
    leaf.merge_all();
    assert!(blocks(&leaf).len() <= 2, "{:?}", blocks(&leaf));
    assert_eq!(values(&leaf).await.0, (0..17 * 256 + 255 * 256).collect::<Vec<_>>());
}

type Changing = Box<dyn Fn(&LeafContext, &ExpirySchedule) + Send>;

#[tokio::test]
async fn questions_do_not_wait_for_a_disk_that_takes_long() {
    let world = World::new(1);
    let leaf = open_on(&world);
    leaf.accept(batch("a", 1, 0..3)).await.expect("taken");
    let other = in_table("other", batch("b", 1, 0..3));
    leaf.accept(other).await.expect("taken");
    let set = TableSettings { bytes: Some(1 << 30), ..TableSettings::default() };
    let changes: [Changing; 2] = [
        Box::new(move |context, schedule| {
            configure(context, schedule, &name("other"), &set).expect("set")
        }),
        Box::new(|context, _| assert_eq!(drop_table(context, &name("other")).expect("dropped"), 3)),
    ];
    let mut thirds = 0;
    for change in changes {
        let held = hold_syncs(&world);
        let (context, schedule) = (Arc::clone(&leaf.context), Arc::clone(&leaf.schedule));
        let changing = std::thread::spawn(move || change(&context, &schedule));
        // Until it waits for the disk, with the locks that it then holds.
        wait_until("a sync waits for the disk", || world.is_sync_held());
        // A new table each time: it is added to the map of tables, and its batch to the queue.
        thirds += 1;
        let third = name(&format!("third-{thirds}"));
        let mut taking = leaf.accept(in_table(third.as_str(), batch("c", 1, 0..1)));
        tokio::select! {
            biased;
            taken = &mut taking => panic!("{taken:?} though the disk waits"),
            () = std::future::ready(()) => {}
        }
        assert_eq!(values(&leaf).await.0, [0, 1, 2]);
        assert!(leaf.status(&StatusScope::All).await.leaves[0].tables.contains_key(&name("t")));
        drop(held);
        changing.join().expect("changed");
        taking.await.expect("taken");
    }
    assert!(!leaf.status(&StatusScope::All).await.leaves[0].tables.contains_key(&name("other")));
}
