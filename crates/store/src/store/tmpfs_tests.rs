//! Stores with memory of their own: stopped cleanly, killed, moved to another machine.

use super::tests::{Tmpfs, add, table};
use super::*;
use crate::options::{AfterCrash, MemoryConfig};
use crate::segment::promote::Promotion;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use hadal_types::MemoryPool;
use tempfile::TempDir;

const ALL: usize = usize::MAX;

/// The folder of a leaf and a tmpfs, which is a plain folder: that makes no difference here.
pub(super) struct Bed {
    scratch: TempDir,
    pub(super) budget: usize,
}

impl Bed {
    pub(super) fn new() -> Self {
        let scratch = TempDir::new().expect("a folder");
        fs::create_dir(scratch.path().join("tmpfs")).expect("a folder");
        Self { scratch, budget: ALL }
    }

    pub(super) fn tmpfs(&self) -> PathBuf {
        self.scratch.path().join("tmpfs")
    }

    pub(super) fn config(&self) -> Config {
        let memory = MemoryConfig {
            tmpfs: self.tmpfs(),
            budget: MemoryPool::new(self.budget),
            after_crash: AfterCrash::Memory,
        };
        let sizes = Sizes { segment_bytes: 64 << 10, ..Sizes::default() };
        let folder = self.scratch.path().join("leaf-0");
        Config { memory: Some(memory), sizes, ..Config::new(folder) }
    }

    pub(super) fn open(&self) -> (Store, Recovery) {
        Store::open(&self.config()).expect("opened")
    }

    /// A store with five blocks of 20,000 bytes, three per segment; also returns their numbers.
    pub(super) fn filled(&self) -> (Store, Vec<BlockNumber>) {
        let (store, _) = self.open();
        let blocks = (0..5u8).map(|at| add(&store, &table("t"), &[at; 20_000]).number).collect();
        (store, blocks)
    }

    pub(super) fn on_disk(&self, number: u32) -> PathBuf {
        self.scratch.path().join(format!("leaf-0/segments/{number:08}.segment"))
    }

    pub(super) fn in_memory(&self, number: u32) -> PathBuf {
        let folder =
            fs::read_dir(self.tmpfs()).expect("listed").next().expect("one").expect("read");
        folder.path().join(format!("{number:08}.segment"))
    }
}

/// Alters one byte in the middle of the first block of a segment.
pub(super) fn alter(path: &Path) {
    let file = OpenOptions::new().read(true).write(true).open(path).expect("a file");
    let mut byte = [0];
    file.read_exact_at(&mut byte, 14_000).expect("read");
    file.write_all_at(&[byte[0] ^ 1], 14_000).expect("written");
}

/// The first bytes of all blocks that are there at once, and the number of those to be restored.
pub(super) fn contents(recovery: &Recovery) -> (Vec<u8>, usize) {
    let Some(recovered) = recovery.tables.get("t") else { return (Vec::new(), 0) };
    (recovered.blocks.iter().map(|block| block.bytes[0]).collect(), recovered.waiting.len())
}

/// Restores all blocks; returns the blocks by content, and the reasons of lost ones.
pub(super) fn brought_back(store: &Store, recovery: &mut Recovery) -> (Vec<u8>, Vec<String>) {
    let (mut there, mut lost) = (Vec::new(), Vec::new());
    for block in std::mem::take(&mut recovery.tables.get_mut("t").expect("a table").waiting) {
        match store.restore(block) {
            Ok(Some(block)) => {
                assert!(block.bytes.iter().all(|byte| *byte == block.bytes[0]));
                assert_eq!(block.bytes.len(), 20_000);
                there.push(block.bytes[0]);
            }
            Ok(None) => {}
            Err(block) => lost.push(block.reason),
        }
    }
    (there, lost)
}

#[test]
fn after_an_orderly_stop_memory_is_believed_and_read_at_once() {
    let bed = Bed::new();
    let (store, _) = bed.filled();
    store.stop().expect("stopped");
    for _ in 0..3 {
        // Bytes that were borrowed from the previous store may still live.
        let (next, recovery) = bed.open();
        assert!(recovery.report.was_stopped);
        assert_eq!(contents(&recovery), (vec![0, 1, 2, 3, 4], 0));
        let stats = next.stats();
        assert_eq!((stats.memory_bytes, stats.block_bytes), (100_000, 100_000));
        next.stop().expect("stopped");
    }
    drop(store);
    // Blocks that were written and freed after the stop do not affect the next process.
    assert_eq!(bed.open().0.stats().blocks, 5);
}

#[test]
fn of_many_segments_each_has_its_own_blocks() {
    for is_stopped in [true, false] {
        let bed = Bed::new();
        let (store, _) = bed.open();
        let all: Vec<u8> = (0..60).collect();
        all.iter().for_each(|&at| drop(add(&store, &table("t"), &[at; 20_000])));
        assert_eq!(store.stats().segments, 20);
        if is_stopped {
            store.stop().expect("stopped");
        }
        drop(store);
        // One segment is in memory only, one nowhere.
        fs::remove_file(bed.on_disk(12)).expect("removed");
        fs::remove_file(bed.on_disk(17)).expect("removed");
        fs::remove_file(bed.in_memory(17)).expect("removed");
        let (store, mut recovery) = bed.open();
        let lost: Vec<u64> =
            recovery.report.lost_blocks.iter().map(|block| block.number.0).collect();
        assert_eq!(lost.len(), 3, "{lost:?}");
        let mut there = contents(&recovery).0;
        there.extend(brought_back(&store, &mut recovery).0);
        let without = |at: &u8| !(48..51).contains(at);
        assert_eq!(there, all.iter().copied().filter(without).collect::<Vec<_>>());
    }
}

#[test]
fn the_mark_of_a_stop_counts_once() {
    let bed = Bed::new();
    bed.filled().0.stop().expect("stopped");
    let (store, recovery) = bed.open();
    assert!(recovery.report.was_stopped);
    // As if it was killed: not stopped.
    drop((store, recovery));
    let (store, mut recovery) = bed.open();
    assert!(!recovery.report.was_stopped);
    assert_eq!(contents(&recovery), (vec![], 5));
    assert_eq!(brought_back(&store, &mut recovery), (vec![0, 1, 2, 3, 4], vec![]));
}

#[test]
fn what_is_no_file_in_memory_is_not_waited_for_and_all_comes_from_disk() {
    for name in ["stopped", "leaf", "00000001.segment"] {
        for kind in ["pipe", "folder", "link"] {
            let bed = Bed::new();
            bed.filled().0.stop().expect("stopped");
            let path = bed.in_memory(1).with_file_name(name);
            fs::rename(&path, bed.scratch.path().join("elsewhere")).expect("moved");
            make_odd(&path, kind);
            let (store, mut recovery) = bed.open();
            assert_eq!(recovery.report.was_stopped, name != clean_shutdown::NAME, "{name}, {kind}");
            let (mut there, _) = contents(&recovery);
            let (back, lost) = brought_back(&store, &mut recovery);
            there.extend(back);
            there.sort_unstable();
            assert_eq!((there, lost), (vec![0, 1, 2, 3, 4], vec![]), "{name}, {kind}");
            assert_eq!(path.is_dir(), kind == "folder", "{name}, {kind}");
            // If a folder has its name, no mark can be written.
            let is_marked = (name, kind) != (clean_shutdown::NAME, "folder");
            assert_eq!(store.stop().is_ok(), is_marked, "{name}, {kind}");
            assert_eq!(bed.open().1.report.was_stopped, is_marked, "{name}, {kind}");
        }
    }
}

/// Makes a pipe, a folder, or a link to nowhere.
fn make_odd(path: &Path, kind: &str) {
    match kind {
        "folder" => fs::create_dir(path).expect("made"),
        "link" => std::os::unix::fs::symlink("/nowhere", path).expect("made"),
        _ => {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            let node = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, path, node, mode, 0).expect("made");
        }
    }
}

#[test]
fn after_a_kill_memory_is_verified_and_the_rest_comes_from_disk() {
    let bed = Bed::new();
    drop(bed.filled());
    // To show which copy is read: on disk, all blocks of the second segment are altered.
    alter(&bed.on_disk(2));
    alter(&bed.in_memory(1));
    let (store, mut recovery) = bed.open();
    assert_eq!(brought_back(&store, &mut recovery), (vec![0, 1, 2, 3, 4], vec![]));
    assert_eq!(store.stats().memory_bytes, 100_000);
    drop((store, recovery));
    // By now the first segment is intact in memory, too; the second is intact nowhere.
    alter(&bed.in_memory(2));
    let (store, mut recovery) = bed.open();
    let (there, lost) = brought_back(&store, &mut recovery);
    assert_eq!(there, [0, 1, 2, 4]);
    let location = bed.on_disk(2).display().to_string();
    assert_eq!(lost, [format!("{location} at byte 4096 is not what was written there")]);
}

#[test]
fn what_was_lost_is_lost_again_after_a_stop_in_order() {
    let bed = Bed::new();
    drop(bed.filled());
    // A readable block in another block's range on disk, and memory that is gone.
    let segment = fs::read(bed.on_disk(1)).expect("read");
    let file = OpenOptions::new().write(true).open(bed.on_disk(1)).expect("opened");
    file.write_all_at(&segment[4_096..24_096], 24_576).expect("written");
    fs::remove_dir_all(bed.tmpfs()).expect("removed");
    fs::create_dir(bed.tmpfs()).expect("made");
    for life in 0..3 {
        let (store, mut recovery) = bed.open();
        assert!(!recovery.report.was_stopped, "life {life}");
        let (there, lost) = brought_back(&store, &mut recovery);
        assert_eq!((there, lost.len()), (vec![0, 2, 3, 4], 1), "life {life}");
        store.stop().expect("stopped");
    }
    // A block that was found damaged is not trusted by the next process.
    let bed = Bed::new();
    let (store, blocks) = bed.filled();
    store.held(blocks[0]).expect("there").0.note_damaged();
    store.stop().expect("stopped");
    assert!(!bed.open().1.report.was_stopped);
}

#[test]
fn without_its_memory_everything_comes_from_disk() {
    let bed = Bed::new();
    bed.filled().0.stop().expect("stopped");
    fs::remove_dir_all(bed.tmpfs()).expect("removed");
    fs::create_dir(bed.tmpfs()).expect("made");
    let (store, mut recovery) = bed.open();
    assert!(!recovery.report.was_stopped);
    assert_eq!(brought_back(&store, &mut recovery), (vec![0, 1, 2, 3, 4], vec![]));
    assert_eq!(store.stats().memory_bytes, 100_000);
    store.stop().expect("stopped");
    assert_eq!(contents(&bed.open().1), (vec![0, 1, 2, 3, 4], 0));
}

#[test]
fn what_a_process_without_memory_leaves_in_order_is_read_from_disk_at_once() {
    let bed = Bed::new();
    bed.filled().0.stop().expect("stopped");
    let on_disk = Config { memory: None, ..bed.config() };
    for (is_stopped, changes) in [(true, true), (true, false), (false, true)] {
        let (store, recovery) = Store::open(&on_disk).expect("opened");
        let mut expected = contents(&recovery).0;
        if changes {
            expected.push(9);
            add(&store, &table("t"), &[9; 20_000]);
        }
        if is_stopped {
            store.stop().expect("stopped");
        }
        drop((store, recovery));
        // The older content of memory must not be used.
        alter(&bed.in_memory(1));
        let (store, mut recovery) = bed.open();
        assert_eq!(recovery.report.was_stopped, is_stopped);
        assert_eq!(contents(&recovery), (vec![], expected.len()));
        let waiting = std::mem::take(&mut recovery.tables.get_mut("t").expect("there").waiting);
        let left = waiting.into_iter().map(|block| store.leave_on_disk(block).expect("there"));
        let left: Vec<_> = left.collect();
        assert_eq!(left.iter().map(|block| block.bytes[0]).collect::<Vec<_>>(), expected);
        assert!(left.iter().all(|block| block.bytes.iter().all(|byte| *byte == block.bytes[0])));
        // The mark may have been removed by a start that was killed just then.
        drop((store, left));
        assert!(!bed.open().1.report.was_stopped);
        bed.open().0.stop().expect("stopped");
    }
}

#[test]
fn what_finds_no_room_in_memory_is_read_from_disk() {
    let mut bed = Bed::new();
    bed.budget = 2 * 20_480;
    let (store, blocks) = bed.filled();
    assert_eq!(store.stats().memory_bytes, 40_000);
    store.stop().expect("stopped");
    drop(store);
    // These blocks were never written to memory, so they are not expected there.
    let (store, mut recovery) = bed.open();
    assert_eq!(contents(&recovery), (vec![0, 1], 3));
    assert_eq!(brought_back(&store, &mut recovery), (vec![2, 3, 4], vec![]));
    assert_eq!(store.stats().memory_bytes, 40_000);
    // Memory that is given back is used again.
    store
        .commit(&Change { removes: blocks[..1].to_vec(), ..Change::default() })
        .expect("committed");
    drop(recovery);
    add(&store, &table("t"), &[9; 20_000]);
    assert_eq!(store.stats().memory_bytes, 40_000);
    // With more memory than before all blocks enter it; with less, some leave it.
    for (budget, expected) in [(ALL, 100_000), (20_480, 20_000), (0, 0)] {
        bed.budget = budget;
        store.stop().expect("stopped");
        let (next, mut recovery) = bed.open();
        let there = contents(&recovery).0.len();
        assert_eq!(there + brought_back(&next, &mut recovery).0.len(), 5);
        assert_eq!(next.stats().memory_bytes, expected, "room for {budget}");
        let taken = |number| super::tests::allocated(&bed.in_memory(number));
        let taken = usize::try_from(taken(1) + taken(2)).expect("small");
        // Besides the two headers.
        assert!(taken <= budget.min(ALL - 8_192) + 8_192, "{taken}, room for {budget}");
        drop((recovery, next));
        bed.open().0.stop().expect("stopped");
    }
}

/// A store without any block in memory, opened by a process that has memory. It was stopped
/// cleanly, and its blocks are read from disk.
fn left_on_disk(bed: &mut Bed, budget: usize) -> (Store, Vec<StoredBlock>) {
    bed.budget = 0;
    bed.filled().0.stop().expect("stopped");
    bed.budget = budget;
    let (store, mut recovery) = bed.open();
    assert!(recovery.report.was_stopped);
    let waiting = std::mem::take(&mut recovery.tables.get_mut("t").expect("a table").waiting);
    let left = |block| store.leave_on_disk(block).expect("mapped");
    let blocks = waiting.into_iter().map(left).collect();
    assert_eq!(store.stats().memory_bytes, 0);
    (store, blocks)
}

#[test]
fn what_is_read_from_disk_comes_to_memory_while_it_is_read() {
    let mut bed = Bed::new();
    let (store, blocks) = left_on_disk(&mut bed, ALL);
    for (at, block) in (0u8..).zip(&blocks) {
        let before = &*block.bytes;
        assert_eq!(store.promote(block.number), Promotion::Done);
        assert_eq!(store.stats().memory_bytes, 20_000 * (u64::from(at) + 1));
        let after = &*block.bytes;
        assert_ne!(before.as_ptr(), after.as_ptr());
        assert_eq!((before, after), (&[at; 20_000][..], &[at; 20_000][..]));
        assert_eq!(store.promote(block.number), Promotion::Done, "it is there");
    }
    assert_eq!(store.stats().memory_bytes, 100_000);
    // Promoted blocks are as good as blocks that were written to memory at once.
    store.stop().expect("stopped");
    drop((store, blocks));
    let (store, recovery) = bed.open();
    assert_eq!(contents(&recovery), (vec![0, 1, 2, 3, 4], 0));
    drop((store, recovery));
    let (store, mut recovery) = bed.open();
    assert_eq!(brought_back(&store, &mut recovery), (vec![0, 1, 2, 3, 4], vec![]));
}

#[test]
fn threads_that_move_the_same_blocks_are_not_in_each_other_s_way() {
    let mut bed = Bed::new();
    let (store, blocks) = left_on_disk(&mut bed, ALL);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for block in blocks.iter().rev() {
                    assert!(block.bytes.iter().all(|byte| *byte == block.bytes[0]));
                    assert_eq!(store.promote(block.number), Promotion::Done);
                    assert!(block.bytes.iter().all(|byte| *byte == block.bytes[0]));
                }
            });
        }
    });
    assert_eq!(store.stats().memory_bytes, 100_000);
    let budget = store.memory_budget().expect("some").reserved();
    assert_eq!(budget, 5 * 20_480, "each takes its room once");
    let numbers = blocks.iter().map(|block| block.number).collect();
    drop(blocks);
    store.commit(&Change { removes: numbers, ..Change::default() }).expect("committed");
    assert_eq!(store.memory_budget().expect("some").reserved(), 0);
}

#[test]
fn what_cannot_come_to_memory_stays_where_it_is() {
    let mut bed = Bed::new();
    let (store, blocks) = left_on_disk(&mut bed, 20_480);
    let stays = |number| match store.promote(number) {
        Promotion::Refused(reason) => reason,
        moved => panic!("{moved:?}"),
    };
    alter(&bed.on_disk(1));
    let location = bed.on_disk(1).display().to_string();
    let altered = stays(blocks[0].number);
    assert_eq!(altered, format!("{location} at byte 4096 is not what was written there"));
    store.keep_on_disk(&table("t"), true);
    assert_eq!(stays(blocks[1].number), "block 1 is kept on disk");
    store.keep_on_disk(&table("t"), false);
    assert_eq!(stays(BlockNumber(99)), "block 99 is not there any more");
    assert_eq!(store.promote(blocks[1].number), Promotion::Done);
    assert_eq!(store.promote(blocks[2].number), Promotion::NoMemory);
    assert_eq!(store.stats().memory_bytes, 20_000);
    store.stop().expect("stopped");
    assert_eq!(stays(blocks[2].number), Error::Closed.to_string());
    assert!(blocks[1..].iter().zip(1..).all(|(block, at)| *block.bytes == [at; 20_000]));
    // Blocks that were not promoted are still on disk for the next process.
    drop((store, blocks));
    let (store, mut recovery) = bed.open();
    assert_eq!(contents(&recovery), (vec![1], 4));
    assert_eq!(brought_back(&store, &mut recovery).0, [2, 3, 4]);
}

#[test]
fn a_change_behind_its_back_makes_memory_unbelieved() {
    let bed = Bed::new();
    let (store, blocks) = bed.filled();
    store.stop().expect("stopped");
    drop(store);
    let on_disk = Config { memory: None, ..bed.config() };
    let (store, _) = Store::open(&on_disk).expect("opened");
    store
        .commit(&Change { removes: blocks[..1].to_vec(), ..Change::default() })
        .expect("committed");
    add(&store, &table("t"), &[7; 20_000]);
    drop(store);
    let (store, mut recovery) = bed.open();
    assert!(!recovery.report.was_stopped);
    // The new block has the range of the removed one, which memory still holds.
    assert_eq!(brought_back(&store, &mut recovery), (vec![1, 2, 3, 4, 7], vec![]));
}

#[test]
fn a_block_whose_table_is_dropped_meanwhile_does_not_come_back() {
    let bed = Bed::new();
    drop(bed.filled());
    let (store, mut recovery) = bed.open();
    let drops = vec![table("t")];
    store.commit(&Change { drops, ..Change::default() }).expect("committed");
    assert_eq!(brought_back(&store, &mut recovery), (vec![], vec![]));
    drop(recovery);
    store.give_back();
    assert_eq!(store.stats(), StoreStats::default());
    assert!(!bed.in_memory(1).exists() && !bed.on_disk(1).exists());
}

#[test]
fn a_stopped_store_takes_nothing_and_gives_nothing_back() {
    let bed = Bed::new();
    let (store, blocks) = bed.filled();
    let unnamed = store.write_block(&table("t"), 1, vec![8; 20_000]).expect("written");
    store.stop().expect("stopped");
    store.stop().expect("stopped, as it was");
    let removes = Change { removes: blocks, ..Change::default() };
    assert!(matches!(store.commit(&removes), Err(Error::Closed)));
    assert!(matches!(store.write_block(&table("t"), 1, vec![8; 10]), Err(Error::Closed)));
    let id = BatchId::new("late").expect("an id");
    assert!(matches!(store.append(&table("t"), &id, b"late"), Err(Error::Closed)));
    let (next, recovery) = bed.open();
    // Its range may belong to another block by now.
    let block = add(&next, &table("t"), &[9; 20_000]);
    drop(unnamed);
    assert_eq!(*block.bytes, [9; 20_000]);
    assert_eq!(contents(&recovery), (vec![0, 1, 2, 3, 4], 0));
}

#[test]
fn a_full_tmpfs_is_no_error_at_all() {
    let Some(tmpfs) = Tmpfs::mount() else { return println!("skipped: needs root") };
    let scratch = TempDir::new().expect("a folder");
    let memory = MemoryConfig {
        tmpfs: tmpfs.path().to_owned(),
        budget: MemoryPool::new(ALL),
        after_crash: AfterCrash::Memory,
    };
    let config = Config { memory: Some(memory), ..Config::new(scratch.path().join("leaf-0")) };
    let (store, _) = Store::open(&config).expect("opened");
    let contents: Vec<u8> = (0..8).collect();
    let blocks: Vec<_> =
        contents.iter().map(|&at| add(&store, &table("t"), &[at; 300_000])).collect();
    let memory = store.stats().memory_bytes;
    assert!((300_000..1 << 20).contains(&memory), "{memory}");
    for is_stopped in [true, false] {
        assert!(blocks.iter().zip(&contents).all(|(block, &at)| *block.bytes == [at; 300_000]));
        if is_stopped {
            store.stop().expect("stopped");
        }
        let (next, mut recovery) = match is_stopped {
            true => Store::open(&config).expect("opened"),
            false => break,
        };
        let recovered = recovery.tables.get_mut("t").expect("a table");
        let waiting = std::mem::take(&mut recovered.waiting);
        assert_eq!(recovered.blocks.len() + waiting.len(), blocks.len());
        for block in waiting {
            let block = next.restore(block).expect("read").expect("there");
            assert_eq!(*block.bytes, [block.bytes[0]; 300_000]);
        }
        assert_eq!(next.stats().memory_bytes, memory);
    }
    drop((store, blocks));
}

#[test]
fn memory_is_back_with_the_last_reader_and_disk_when_there_is_time() {
    let bed = Bed::new();
    let (store, _) = bed.open();
    let [first, second] = [1, 2].map(|byte| add(&store, &table("t"), &[byte; 20_000]));
    let taken = || [bed.in_memory(1), bed.on_disk(1)].map(|path| super::tests::allocated(&path));
    let remove = |number| {
        store.commit(&Change { removes: vec![number], ..Change::default() }).expect("committed");
    };
    let [memory, disk] = taken();
    remove(first.number);
    drop(first);
    assert_eq!(taken(), [memory - 20_480, disk], "nobody waits for the disk");
    assert_eq!(store.stats().memory_bytes, 20_000);
    // A given up range is used again before a new segment is made.
    let offset = |block: &StoredBlock| block.bytes.location().map(|location| location.offset);
    let third = add(&store, &table("t"), &[3; 20_000]);
    let fourth = add(&store, &table("t"), &[4; 20_000]);
    assert_eq!([&third, &fourth].map(offset), [Some(4_096 + 2 * 20_480), Some(4_096)]);
    assert_eq!((store.stats().segments, second.bytes[0], fourth.bytes[0]), (1, 2, 4));
    // A store that ends has given back everything, too.
    let full = taken();
    remove(third.number);
    drop(third);
    store.stop().expect("stopped");
    assert_eq!(taken(), full.map(|bytes| bytes - 20_480));
}

#[test]
fn a_stop_that_waits_for_a_write_does_not_keep_it_from_its_end() {
    let bed = Bed::new();
    let (store, blocks) = bed.filled();
    store.commit(&Change { removes: blocks, ..Change::default() }).expect("committed");
    let pool = &store.durable.as_ref().expect("with a folder").pool;
    // No segment has that much free, so given up ranges are given back before a segment is made.
    assert_eq!(pool.take_while_a_stop_waits(1 << 20).expect("made"), 4_096);
    store.stop().expect("stopped");
}
