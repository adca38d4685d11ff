//! A leaf with memory of its own when it stops, and when it is killed.

use hadal_store::{AfterCrash, MemoryConfig};
use hadal_types::{TableSettings, TableStorage};

use super::*;

/// Folders of a leaf and of a tmpfs, which is a plain folder in these tests.
struct TestFolders {
    scratch: tempfile::TempDir,
}

impl TestFolders {
    fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(scratch.path().join("tmpfs")).expect("a folder");
        Self { scratch }
    }

    fn tmpfs(&self) -> PathBuf {
        self.scratch.path().join("tmpfs")
    }

    fn folder(&self) -> PathBuf {
        self.scratch.path().join("leaf-0")
    }

    fn open(&self) -> Leaf {
        self.open_with(MemoryPool::new(usize::MAX))
    }

    fn open_with(&self, budget: Arc<MemoryPool>) -> Leaf {
        let memory = Some(MemoryConfig { budget, ..self.memory(AfterCrash::Memory) });
        let limits = LeafLimits { recovery_threads: 3, ..LeafLimits::of_one_in(1) };
        let config = LeafConfig { memory, limits, ..config(Some(&self.folder())) };
        Leaf::open(config).expect("opens")
    }

    fn memory(&self, after_crash: AfterCrash) -> MemoryConfig {
        MemoryConfig { tmpfs: self.tmpfs(), budget: MemoryPool::new(usize::MAX), after_crash }
    }

    /// A leaf with a few blocks in segments, and some fresh rows.
    async fn filled(&self) -> Leaf {
        let leaf = self.open();
        for index in 0..20 {
            let rows = index * 5_000..(index + 1) * 5_000;
            leaf.accept(batch(&format!("b{index}"), 1, rows)).await.expect("taken");
            leaf.merge_all();
        }
        leaf.accept(batch("fresh", 1, 100_000..100_010)).await.expect("taken");
        leaf
    }
}

const ROWS: i64 = 100_010;

async fn all_rows(leaf: &Leaf) -> bool {
    let (values, partial) = values(leaf).await;
    let Coverage { rows_scanned, rows_expected, .. } = partial.coverage;
    assert_eq!((rows_scanned, rows_expected), (100_010, 100_010));
    values == (0..ROWS).collect::<Vec<_>>()
}

#[tokio::test]
async fn a_stopped_leaf_is_there_again_at_once() {
    let folders = TestFolders::new();
    let leaf = folders.filled().await;
    let state = async |leaf: &Leaf| leaf.status(&StatusScope::Leaves).await.leaves[0].state;
    assert_eq!(state(&leaf).await, MemberState::Announced(LeafState::Alive));
    leaf.prepare_to_stop();
    assert_eq!(state(&leaf).await, MemberState::Announced(LeafState::Prepare));
    let last = leaf.accept(batch("fresh", 1, 100_000..100_010)).await;
    assert_eq!(last.map(bare), receipt(10, true, true), "what runs is finished");
    leaf.stop().expect("stopped");
    let late = leaf.accept(batch("late", 1, 0..1)).await;
    assert!(matches!(late, Err(SinkError::Unavailable(_))), "{late:?}");
    for _ in 0..3 {
        // The previous leaf still exists, like a process that has not quite ended.
        let next = folders.open();
        let report = next.recovery_report();
        assert!(report.was_stopped);
        assert_eq!((report.frames_replayed, next.context.state()), (0, LeafState::Alive));
        assert!(all_rows(&next).await);
        assert_eq!(
            next.accept(batch("fresh", 1, 100_000..100_010)).await.map(bare),
            receipt(10, true, true)
        );
        next.stop().expect("stopped");
    }
    drop(leaf);
    assert!(all_rows(&folders.open()).await);
}

#[tokio::test]
async fn what_a_stop_left_on_disk_is_there_at_once() {
    let folders = TestFolders::new();
    let budget = MemoryPool::new(usize::MAX);
    folders.filled().await.stop().expect("stopped");
    let leaf = folders.open_with(Arc::clone(&budget));
    let all = budget.reserved();
    leaf.stop().expect("stopped");
    let in_memory = |leaf: &Leaf| {
        let blocks = leaf.context.tables.read()[&name("t")].snapshot();
        (blocks.iter().filter(|block| block.is_in_memory()).count(), blocks.len())
    };
    // The first of these starts finds blocks in memory without room for them; the second finds them
    // on disk.
    for _ in 0..2 {
        let leaf = folders.open_with(MemoryPool::new(all / 2));
        assert!(leaf.recovery_report().was_stopped);
        assert_eq!(leaf.context.state(), LeafState::Alive);
        assert!(all_rows(&leaf).await);
        let (some, blocks) = in_memory(&leaf);
        assert!((1..blocks).contains(&some), "{some} of {blocks}");
        leaf.stop().expect("stopped");
    }
    // There is room again: queries need not wait until all of it is used.
    let leaf = folders.open();
    assert_eq!(leaf.context.state(), LeafState::Alive);
    assert!(all_rows(&leaf).await);
    while in_memory(&leaf).0 < in_memory(&leaf).1 {
        assert!(all_rows(&leaf).await);
    }
    leaf.stop().expect("stopped");
    let leaf = folders.open();
    assert_eq!(in_memory(&leaf).0, in_memory(&leaf).1);
    assert!(all_rows(&leaf).await);
}

#[tokio::test]
async fn a_killed_leaf_answers_with_growing_coverage() {
    for (is_memory_gone, after_crash) in
        [(false, AfterCrash::Memory), (true, AfterCrash::Memory), (false, AfterCrash::Disk)]
    {
        let folders = TestFolders::new();
        drop(folders.filled().await);
        if is_memory_gone {
            std::fs::remove_dir_all(folders.tmpfs()).expect("removed");
            std::fs::create_dir(folders.tmpfs()).expect("made");
        }
        let memory = Some(folders.memory(after_crash));
        let config = Config { memory, ..Config::new(folders.folder()) };
        let (store, recovery) = Store::open(&config).expect("opened");
        let fresh = LeafLimits::of_one_in(1).fresh;
        let Recovered { tables, mut waiting, moving, report } =
            recovery::recover_tables(recovery, &store, &fresh, Duration::ZERO);
        assert!(!report.was_stopped && moving.is_empty());
        assert!(waiting.len() >= 2, "{}", waiting.len());
        let table = &tables[&name("t")];
        let mut before = 0;
        while let Some(next) = waiting.pop() {
            let rows: u64 = table.snapshot().iter().map(|block| block.rows as u64).sum();
            let (lost, missing) = table.missing_rows();
            assert_eq!((lost, rows + missing), (0, 100_010));
            assert!(rows > before, "the newest, and the fresh, are there from the start");
            before = rows;
            let status = table.status(NOW).expect("a table");
            assert_eq!((status.schema.rows, status.waiting_rows), (rows, missing));
            let state = match (is_memory_gone, after_crash) {
                (false, AfterCrash::Memory) => LeafState::MemoryRecovery,
                _ => LeafState::DiskRecovery,
            };
            assert_eq!((table.state(), status.state), (state, state));
            recovery::restore_all(vec![next], &store, 1, || false);
        }
        assert_eq!(table.missing_rows(), (0, 0));
        assert_eq!(table.state(), LeafState::Alive);
        drop((tables, store));
        let leaf = folders.open();
        // It may be stopped before it has restored all blocks; that loses nothing.
        drop(leaf);
        let leaf = folders.open();
        wait_until_alive(&leaf);
        assert!(all_rows(&leaf).await);
        drop(leaf);
        let leaf = folders.open();
        let taken = leaf.accept(batch("more", 1, ROWS..ROWS + 10)).await;
        assert_eq!(taken.map(bare), receipt(10, false, true), "whatever is not back yet");
        drop(leaf);
        let leaf = folders.open();
        wait_until_alive(&leaf);
        assert_eq!(values(&leaf).await.0, (0..ROWS + 10).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_block_that_is_nowhere_is_lost_and_expected() {
    let folders = TestFolders::new();
    drop(folders.filled().await);
    std::fs::remove_dir_all(folders.tmpfs()).expect("removed");
    std::fs::create_dir(folders.tmpfs()).expect("made");
    let (path, at) = segment(&folders.folder());
    flip(&path, at + 200..at + 201);
    let leaf = folders.open();
    wait_until_alive(&leaf);
    let (values, partial) = values(&leaf).await;
    let ((scanned, expected), warnings) = seen_of(&partial);
    assert_eq!((values.len() as u64, expected), (scanned, 100_010));
    let lost = expected - scanned;
    assert!(lost > 0);
    assert_eq!(warnings, [(WarningCode::RowsLost, lost)]);
}

#[tokio::test]
async fn what_is_altered_in_memory_is_found_before_it_is_used() {
    let folders = TestFolders::new();
    let leaf = folders.filled().await;
    leaf.stop().expect("stopped");
    let memory = std::fs::read_dir(folders.tmpfs()).expect("listed").next().expect("one");
    let segment = memory.expect("read").path().join("00000001.segment");
    let content = std::fs::read(&segment).expect("read");
    let table = |leaf: &Leaf| leaf.context.tables.read().get(&name("t")).cloned().expect("a table");
    let first = first_block(&leaf, &content);
    let (rows, middle) = (first.rows as u64, 4_096 + first.byte_count() * 3 / 4);
    flip(&segment, middle..middle + 1);
    let leaf = folders.open();
    assert!(leaf.recovery_report().was_stopped);
    let (values, partial) = values(&leaf).await;
    let ((scanned, expected), _) = seen_of(&partial);
    assert_eq!((values.len() as u64, expected), (scanned, 100_010));
    assert_eq!(expected - scanned, rows);
    let lost = async |leaf: &Leaf| {
        leaf.status(&StatusScope::All).await.leaves[0].tables[&name("t")].lost_rows
    };
    assert_eq!(lost(&leaf).await, rows);
    // The disk's copy is intact.
    Scrubber { context: &leaf.context }.scrub_round(|_| true);
    assert_eq!(lost(&leaf).await, 0);
    assert!(all_rows(&leaf).await);
    leaf.merge_all();
    leaf.stop().expect("stopped");
    let leaf = folders.open();
    Scrubber { context: &leaf.context }.scrub_round(|_| true);
    assert!(all_rows(&leaf).await);
    assert!(!table(&leaf).snapshot().iter().any(|block| block.is_damaged()));
}

/// A batch of `rows` values that take nearly all of its block.
fn unlike_each_other(id: &str, rows: usize) -> Batch {
    let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
    let column = builder.column(&ColumnName::new("v").expect("a name"), Kind::Number);
    let mut value = 1i64;
    for _ in 0..rows {
        value = value * 48_271 % 0x7fff_ffff;
        builder.push_number(column, Number::integer(value)).expect("taken");
        builder.end_row(NOW);
    }
    let id = BatchId::new(id).expect("an id");
    let block = builder.finish(NOW, Some((&id, 1))).expect("fits");
    Batch::encoded(name("t"), id, 1, rows, block)
}

#[tokio::test]
async fn what_is_altered_on_disk_is_found_before_it_is_used_also_where_it_is_mapped() {
    let folders = TestFolders::new();
    let leaf = folders.open();
    let storage = Some(TableStorage::Mmap);
    let settings = TableSettings { storage, ..TableSettings::default() };
    leaf.apply(TableChange::Configure { table: name("t"), settings }).await.expect("set");
    leaf.accept(unlike_each_other("b", 5_000)).await.expect("taken");
    leaf.stop().expect("stopped");
    let leaf = folders.open();
    let (on_disk, at) = segment(&folders.folder());
    let bytes = leaf.context.tables.read()[&name("t")].bytes();
    // Killed.
    drop(leaf);
    let bytes = usize::try_from(bytes).expect("small");
    let middle = at + bytes * 3 / 4;
    flip(&on_disk, middle..middle + 1);
    let leaf = folders.open();
    wait_until_alive(&leaf);
    assert!(!leaf.recovery_report().was_stopped);
    let (values, partial) = values(&leaf).await;
    assert_eq!(seen_of(&partial).0, (values.len() as u64, 5_000));
    assert!(values.is_empty(), "{} values of a damaged column", values.len());
}

#[tokio::test]
async fn a_front_that_is_altered_in_memory_is_read_from_disk() {
    let folders = TestFolders::new();
    folders.filled().await.stop().expect("stopped");
    let memory = std::fs::read_dir(folders.tmpfs()).expect("listed").next().expect("one");
    flip(&memory.expect("read").path().join("00000001.segment"), 4_096..4_100);
    for _ in 0..2 {
        let leaf = folders.open();
        assert!(leaf.recovery_report().was_stopped);
        // The first round begins with the leaf.
        wait_until("the disk's front is read", || {
            let table = leaf.context.tables.read()[&name("t")].clone();
            table.open_deferred();
            table.missing_rows().0 == 0
        });
        assert!(all_rows(&leaf).await);
        leaf.stop().expect("stopped");
    }
}

#[tokio::test]
async fn what_is_altered_in_both_places_is_lost() {
    let folders = TestFolders::new();
    let leaf = folders.filled().await;
    let (on_disk, at) = segment(&folders.folder());
    let first = first_block(&leaf, &std::fs::read(&on_disk).expect("read"));
    let memory = std::fs::read_dir(folders.tmpfs()).expect("listed").next().expect("one");
    for path in [on_disk, memory.expect("read").path().join("00000001.segment")] {
        let file = std::fs::File::options().write(true).open(path).expect("opened");
        let middle = (at + first.byte_count() / 2) as u64;
        std::os::unix::fs::FileExt::write_all_at(&file, &[7; 64], middle).expect("written");
    }
    Scrubber { context: &leaf.context }.scrub_round(|_| true);
    let status = leaf.status(&StatusScope::All).await;
    let table = &status.leaves[0].tables[&name("t")];
    assert_eq!(table.lost_rows, first.rows as u64);
    assert_eq!(table.schema.rows + table.lost_rows, 100_010);
}

#[tokio::test]
async fn who_follows_one_without_memory_has_all_rows_at_once() {
    let folders = TestFolders::new();
    folders.filled().await.stop().expect("stopped");
    let leaf = Leaf::open(config(Some(&folders.folder()))).expect("opens");
    assert!(all_rows(&leaf).await);
    leaf.stop().expect("stopped");
    drop(leaf);
    let leaf = folders.open();
    assert_eq!(leaf.context.state(), LeafState::Alive);
    assert!(all_rows(&leaf).await);
}

#[tokio::test]
async fn what_a_stop_left_in_memory_is_believed_whatever_is_wished_for_after_a_crash() {
    let folders = TestFolders::new();
    folders.filled().await.stop().expect("stopped");
    let memory = Some(folders.memory(AfterCrash::Disk));
    let leaf = Leaf::open(LeafConfig { memory, ..config(Some(&folders.folder())) }).expect("opens");
    assert!(leaf.recovery_report().was_stopped);
    assert_eq!(leaf.context.state(), LeafState::Alive);
    assert!(all_rows(&leaf).await);
}

#[tokio::test]
async fn a_table_is_told_of_without_a_look_at_others() {
    let bed = open(None);
    let of = |table: &str| in_table(table, batch("a", 1, 0..3));
    for table in ["t", "u", "v"] {
        assert!(bed.leaf.accept(of(table)).await.is_ok());
    }
    let all = bed.leaf.status(&StatusScope::All).await.leaves.remove(0);
    let asked = vec![name("u"), name("nothing"), name("v")];
    let status = bed.leaf.status(&StatusScope::Tables(asked)).await.leaves.remove(0);
    assert_eq!(status.tables.keys().collect::<Vec<_>>(), [&name("u"), &name("v")]);
    assert!(status.tables.iter().all(|(name, table)| all.tables[name] == *table));
    assert_eq!(status.block_bytes * 3, all.block_bytes * 2);
}
