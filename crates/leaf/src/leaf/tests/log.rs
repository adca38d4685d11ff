//! The log as a leaf sees it: a sync that fails, and files that tables with few rows would keep for long.

use hadal_store::disk::simulated::World;
use hadal_types::limits::LOG_FILES_MAX;

use super::*;

const SIZES: Sizes = Sizes {
    segment_bytes: 64 * 4_096,
    log_file_bytes: 10_000,
    manifest_bytes_min: 400,
    reserve_bytes: 0,
};

fn open_on(world: &World) -> Leaf {
    let (store, recovery) = Store::open_on(&world.folders(), SIZES).expect("opened");
    // Its folder is the simulated one; there is nothing to be archived.
    Leaf::start(config(Some(Path::new("of the world"))), store, recovery).expect("started")
}

#[tokio::test]
async fn a_batch_whose_sync_failed_is_nobody_elses_until_the_next_start_tells() {
    let world = World::new(1);
    let leaf = open_on(&world);
    let id = |text: &str| BatchId::new(text).expect("an id");
    leaf.accept(batch("a", 1, 0..3)).await.expect("taken");
    assert!(leaf.takes());
    world.fail_syncs(true);
    for _ in 0..2 {
        let refused = leaf.accept(batch("b", 1, 3..5)).await;
        assert!(matches!(refused, Err(SinkError::Store(_))), "{refused:?}");
        assert!(leaf.knows(&name("t"), &id("b")).await, "it may be there");
        assert!(!leaf.takes());
    }
    // The log is not written to any more, so of later ones there is nothing.
    let refused = leaf.accept(batch("c", 1, 5..9)).await;
    assert!(matches!(refused, Err(SinkError::Store(_))), "{refused:?}");
    assert!(!leaf.knows(&name("t"), &id("c")).await);
    assert_eq!(values(&leaf).await.0, [0, 1, 2]);
    drop(leaf);
    world.fail_syncs(false);
    world.kill();
    let leaf = open_on(&world);
    assert!(leaf.takes());
    assert_eq!(values(&leaf).await.0, [0, 1, 2, 3, 4]);
    assert!(leaf.accept(batch("b", 1, 3..5)).await.expect("known").duplicate);
    assert!(!leaf.accept(batch("c", 1, 5..9)).await.expect("taken").duplicate);
}

#[tokio::test]
async fn tables_with_few_rows_do_not_keep_the_log_long() {
    let world = World::new(1);
    let leaf = open_on(&world);
    let in_table = |table: &str, own: Batch| Batch { table: name(table), ..own };
    let (mut most, mut expected) = (0, Vec::new());
    for round in 0..200i64 {
        let rows = round * 1_000..(round + 1) * 1_000;
        let heavy = in_table("heavy", batch(&format!("h{round}"), 1, rows));
        leaf.accept(heavy).await.expect("taken");
        leaf.accept(batch(&format!("t{round}"), 1, round..round + 1)).await.expect("taken");
        expected.push(round);
        leaf.merge_all();
        most = most.max(leaf.inner.store.figures().log_files);
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
