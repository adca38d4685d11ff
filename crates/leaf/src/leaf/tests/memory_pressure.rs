//! A leaf whose memory for row blocks is nearly full.

use hadal_store::{AfterCrash, MemoryConfig};
use hadal_types::limits::PRESSED_EXPIRY_SECONDS;
use hadal_types::{AgeLimit, TableSettings, TableStorage};

use super::recompress::{DAY, blocks, configure, has_all_rows, settle, table};
use super::*;

const DAYS: i64 = 6;

/// A leaf whose blocks share `budget` bytes of memory.
fn open_in(folder: &Path, budget: usize, clock: Arc<FixedClock>) -> (Bed, Arc<MemoryPool>) {
    let budget = MemoryPool::new(budget);
    let tmpfs = folder.join("tmpfs");
    std::fs::create_dir_all(&tmpfs).expect("a folder");
    let after_crash = AfterCrash::Memory;
    let memory = Some(MemoryConfig { tmpfs, budget: Arc::clone(&budget), after_crash });
    let leaf_folder = folder.join("leaf-0");
    let config = LeafConfig {
        memory,
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        ..config(Some(&leaf_folder))
    };
    (Bed { clock, leaf: Leaf::open(config).expect("opens") }, budget)
}

/// A leaf with one block for each of [`DAYS`] days, and its memory budget. The blocks use all but a
/// twentieth of the budget.
async fn nearly_full(folder: &Path) -> (Bed, Arc<MemoryPool>) {
    let (bed, budget) = open_in(folder, usize::MAX, Arc::new(FixedClock::new(NOW)));
    let bed = settle(bed, DAYS).await;
    bed.leaf.merge_all();
    assert!(!blocks(&bed).iter().any(|(_, is_cold)| *is_cold), "nothing presses");
    let held = budget.reserved();
    bed.leaf.stop().expect("stopped");
    let clock = Arc::clone(&bed.clock);
    drop(bed);
    let (bed, budget) = open_in(folder, held * 20 / 19, clock);
    (bed, budget)
}

fn is_pressed(budget: &MemoryPool) -> bool {
    budget.reserved() * 10 > budget.bytes_max() * 9
}

#[tokio::test]
async fn the_oldest_blocks_become_cold_until_enough_is_free() {
    let folder = tempfile::tempdir().expect("a folder");
    let (bed, budget) = nearly_full(folder.path()).await;
    // Expiry comes first, so recompression takes two rounds. The leaf also makes rounds of its own.
    bed.leaf.merge_all();
    bed.leaf.merge_all();
    assert!(!is_pressed(&budget), "{budget:?}");
    let tiers = blocks(&bed);
    let cold = tiers.iter().filter(|(_, is_cold)| *is_cold).count();
    assert!((1..tiers.len()).contains(&cold), "{tiers:?}");
    assert!(tiers.is_sorted_by_key(|(_, is_cold)| *is_cold), "the oldest are cold: {tiers:?}");
    assert!(has_all_rows(&bed, DAYS).await);
    bed.leaf.merge_all();
    assert_eq!(blocks(&bed), tiers, "no more than has to");
}

#[tokio::test]
async fn old_rows_go_sooner() {
    for presses in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let (bed, budget) = if presses {
            nearly_full(folder.path()).await
        } else {
            let (bed, budget) = open_in(folder.path(), usize::MAX, Arc::new(FixedClock::new(NOW)));
            (settle(bed, DAYS).await, budget)
        };
        bed.clock.pass(1_000);
        bed.leaf.merge_all();
        // In half a minute half of the rows of the oldest block will be too old and will be
        // dropped.
        let half = DAYS * DAY - 2_500 + 1_700;
        let age = Some(AgeLimit::Seconds(half + 30));
        configure(&bed.leaf, TableSettings { age, ..TableSettings::default() }).await;
        bed.leaf.merge_all();
        assert!(has_all_rows(&bed, DAYS).await);
        bed.clock.pass(u32::try_from(PRESSED_EXPIRY_SECONDS).expect("few"));
        // A reservation takes the memory that has become free.
        let _full = presses.then(|| {
            let mut held = budget.reservation();
            held.resize(budget.bytes_max() - budget.reserved()).expect("free");
            held
        });
        bed.leaf.merge_all();
        bed.leaf.merge_all();
        assert_eq!(has_all_rows(&bed, DAYS).await, !presses);
    }
}

#[tokio::test]
async fn blocks_come_to_memory_once_there_is_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let (bed, budget) = open_in(folder.path(), 1 << 30, Arc::new(FixedClock::new(NOW)));
    // Another holder has all of it.
    let mut other = budget.reservation();
    other.resize(budget.bytes_max()).expect("free");
    let bed = settle(bed, DAYS).await;
    let in_memory = |bed: &Bed| {
        let blocks = table(bed).snapshot();
        blocks.iter().map(|block| block.is_in_memory()).collect::<Vec<_>>()
    };
    assert_eq!(in_memory(&bed), [false; 6]);
    other.resize(budget.bytes_max() / 100 * 80).expect("less");
    bed.leaf.merge_all();
    bed.leaf.merge_all();
    assert_eq!(in_memory(&bed), [false; 6], "that is free, but not to spare");
    drop(other);
    bed.leaf.merge_all();
    assert_eq!(in_memory(&bed), [true; 6]);
    let held = budget.reserved();
    assert!(held > 0);
    assert!(has_all_rows(&bed, DAYS).await);
    bed.leaf.merge_all();
    assert_eq!(budget.reserved(), held, "once");
    bed.leaf.stop().expect("stopped");
    let clock = Arc::clone(&bed.clock);
    drop(bed);
    let (bed, _room) = open_in(folder.path(), 1 << 30, clock);
    assert_eq!(in_memory(&bed), [true; 6]);
    assert!(has_all_rows(&bed, DAYS).await);
}

#[tokio::test]
async fn the_oldest_blocks_leave_memory_that_the_process_takes_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let (bed, budget) = open_in(folder.path(), 1 << 30, Arc::new(FixedClock::new(NOW)));
    let bed = settle(bed, DAYS).await;
    bed.leaf.merge_all();
    let in_memory = || {
        let mut blocks = table(&bed).snapshot().to_vec();
        blocks.sort_by_key(|block| block.time_range.1);
        blocks.iter().map(|block| block.is_in_memory()).collect::<Vec<_>>()
    };
    assert_eq!(in_memory(), [true; 6]);
    let of_blocks = budget.reserved();
    let mut process = budget.reservation();
    // Memory is left for four and a half of the six blocks, which are of similar size.
    process.overdraw(budget.bytes_max() - of_blocks / 12 * 9);
    bed.leaf.merge_all();
    assert_eq!(in_memory(), [false, false, true, true, true, true]);
    assert!(budget.reserved() <= budget.bytes_max(), "{budget:?}");
    assert!(has_all_rows(&bed, DAYS).await);
    bed.leaf.merge_all();
    assert_eq!(in_memory()[1..4], [false, true, true], "no more than has to");
    process.overdraw(budget.bytes_max());
    bed.leaf.merge_all();
    assert_eq!(in_memory(), [false; 6]);
    drop(process);
    bed.leaf.merge_all();
    assert_eq!(in_memory(), [true; 6], "they come back");
    assert!(has_all_rows(&bed, DAYS).await);
}

#[tokio::test]
async fn batches_that_can_be_revoked_leave_memory_and_can_be_revoked_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let (bed, budget) = open_in(folder.path(), 1 << 30, Arc::new(FixedClock::new(NOW)));
    let rows = i64::try_from(SEGMENT_ROWS_MIN).expect("small") / 16;
    let of_batch = |at: i64| batch(&format!("b{at}"), 1, at * rows..(at + 1) * rows);
    for at in 0..16 {
        bed.leaf.accept(of_batch(at)).await.expect("taken");
    }
    bed.leaf.merge_all();
    let in_memory = || {
        let blocks = table(&bed).snapshot();
        assert!(blocks.iter().all(|block| block.has_batches), "{blocks:?}");
        blocks.iter().filter(|block| block.is_in_memory()).count()
    };
    assert!(in_memory() > 0);
    let mut process = budget.reservation();
    process.overdraw(budget.bytes_max());
    bed.leaf.merge_all();
    assert_eq!((in_memory(), budget.reserved()), (0, budget.bytes_max()));
    let id = hadal_types::BatchId::new("b0").expect("an id");
    assert_eq!(
        bed.leaf.apply(TableChange::Revoke { table: name("t"), batch: id }).await,
        Ok(rows.unsigned_abs())
    );
    assert_eq!(values(&bed.leaf).await.0, (rows..16 * rows).collect::<Vec<_>>());
    assert!(bed.leaf.accept(of_batch(1)).await.expect("known").duplicate);
}

#[tokio::test]
async fn a_table_can_be_read_from_disk_while_others_are_in_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(FixedClock::new(NOW));
    let open = || open_in(folder.path(), 1 << 30, Arc::clone(&clock));
    let (bed, budget) = open();
    let mut bed = settle(bed, DAYS).await;
    let in_memory = |bed: &Bed| {
        let blocks = table(bed).snapshot();
        blocks.iter().filter(|block| block.is_in_memory()).count()
    };
    assert_eq!(in_memory(&bed), 6);
    let stored = |storage| TableSettings {
        age: Some(AgeLimit::Unlimited),
        storage: Some(storage),
        ..TableSettings::default()
    };
    configure(&bed.leaf, stored(TableStorage::Mmap)).await;
    bed.leaf.merge_all();
    assert_eq!((in_memory(&bed), budget.reserved()), (0, 0));
    assert!(has_all_rows(&bed, DAYS).await);
    for is_stopped in [true, false] {
        if is_stopped {
            bed.leaf.stop().expect("stopped");
        }
        drop(bed);
        bed = open().0;
        wait_until_alive(&bed.leaf);
        assert!(has_all_rows(&bed, DAYS).await);
        bed.leaf.merge_all();
        assert_eq!(in_memory(&bed), 0, "stopped: {is_stopped}");
    }
    configure(&bed.leaf, stored(TableStorage::Memory)).await;
    bed.leaf.merge_all();
    assert_eq!(in_memory(&bed), 6);
    assert!(has_all_rows(&bed, DAYS).await);
}
