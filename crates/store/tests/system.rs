//! The resources of the system that a store uses, as the system reports them.

#![allow(clippy::expect_used, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hadal_store::{AfterCrash, Change, Config, MemoryConfig, Recovery, Sizes, Store, StoredBlock};
use hadal_types::limits::SEGMENT_BYTES;
use hadal_types::{MemoryPool, TableName};
use tempfile::TempDir;

/// A scratch folder on a disk: a folder for temporary files may be in memory.
fn scratch() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// A store with memory of its own, which is a plain folder here.
fn config(scratch: &TempDir, segment_bytes: u64) -> Config {
    let tmpfs = scratch.path().join("tmpfs");
    fs::create_dir_all(&tmpfs).expect("a folder");
    let memory = MemoryConfig {
        tmpfs,
        budget: MemoryPool::new(usize::MAX),
        after_crash: AfterCrash::Memory,
    };
    let sizes = Sizes { segment_bytes, ..Sizes::default() };
    Config { memory: Some(memory), sizes, ..Config::new(scratch.path().join("leaf-0")) }
}

fn table(name: &str) -> TableName {
    TableName::new(name).expect("a name")
}

fn segments(scratch: &TempDir) -> Vec<PathBuf> {
    let folder = fs::read_dir(scratch.path().join("leaf-0/segments")).expect("a folder");
    folder.map(|entry| entry.expect("an entry").path()).collect()
}

/// Bytes of a file that the system has in memory; `None` if that is unknown.
fn cached(path: &Path) -> Option<u64> {
    let mut command = Command::new("fincore");
    let said = command.args(["--bytes", "--noheadings", "--output", "RES"]).arg(path).output();
    String::from_utf8(said.ok()?.stdout).ok()?.trim().parse().ok()
}

fn all_cached(scratch: &TempDir) -> u64 {
    segments(scratch).iter().map(|path| cached(path).expect("told")).sum()
}

#[test]
fn copies_on_disk_leave_nothing_in_the_system_s_cache() {
    const BLOCKS: u64 = 12;
    const BLOCK_BYTES: usize = 1 << 20;
    let scratch = scratch();
    let probe = scratch.path().join("probe");
    fs::write(&probe, [1; 4_096]).expect("written");
    if cached(&probe) != Some(4_096) {
        return println!("skipped: needs fincore");
    }
    let (store, _) = Store::open(&config(&scratch, 5 << 20)).expect("opened");
    let write = |at: u64| {
        let bytes = vec![at.to_le_bytes()[0]; BLOCK_BYTES];
        store.write_block(&table("t"), 1, bytes).expect("written")
    };
    let adds: Vec<StoredBlock> = (0..BLOCKS).map(write).collect();
    let all = BLOCKS * BLOCK_BYTES as u64;
    // Before the sync, the cache holds them.
    assert!(all_cached(&scratch) >= all);
    store.commit(&Change { adds, ..Change::default() }).expect("committed");
    assert!(all_cached(&scratch) <= all / 16, "{} of {all} bytes", all_cached(&scratch));

    // Memory is empty: all blocks are read from disk.
    store.stop().expect("stopped");
    drop(store);
    fs::remove_dir_all(scratch.path().join("tmpfs")).expect("removed");
    let (store, mut recovery) = Store::open(&config(&scratch, 5 << 20)).expect("opened");
    assert_eq!(brought_back(&store, &mut recovery), BLOCKS);
    store.finish_restoring();
    assert!(all_cached(&scratch) <= all / 16, "{} of {all} bytes", all_cached(&scratch));
}

/// Restores all blocks that wait; returns the number of blocks then.
fn brought_back(store: &Store, recovery: &mut Recovery) -> u64 {
    for table in recovery.tables.values_mut() {
        for block in std::mem::take(&mut table.waiting) {
            table.blocks.extend(store.restore(block).expect("there"));
        }
    }
    let blocks: usize = recovery.tables.values().map(|table| table.blocks.len()).sum();
    blocks as u64
}

/// Descriptors and mappings of this process in a folder.
fn held(folder: &Path) -> (usize, usize) {
    let descriptors = fs::read_dir("/proc/self/fd").expect("listed");
    let places = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let maps = fs::read_to_string("/proc/self/maps").expect("read");
    let name = folder.to_str().expect("plain");
    (
        places.filter(|place| place.starts_with(folder)).count(),
        maps.lines().filter(|line| line.contains(name)).count(),
    )
}

/// Descriptors of a store besides those of its segments: folders, locks, the log, the manifest.
const OTHERS_MAX: usize = 16;

#[test]
fn a_thousand_tables_of_a_hundred_small_blocks_take_few_descriptors_and_mappings() {
    const TABLES: usize = 1_000;
    const BLOCKS: usize = 100;
    // Tables per commit.
    const AT_ONCE: usize = 50;
    let scratch = scratch();
    let names: Vec<TableName> = (0..TABLES).map(|at| table(&format!("t{at}"))).collect();
    let (store, _) = Store::open(&config(&scratch, SEGMENT_BYTES)).expect("opened");
    for some in names.chunks(AT_ONCE) {
        let write = |name| store.write_block(name, 1, vec![7; 10]).expect("written");
        let adds = some.iter().flat_map(|name| (0..BLOCKS).map(move |_| write(name))).collect();
        store.commit(&Change { adds, ..Change::default() }).expect("committed");
    }
    let bounded = |what: &str| {
        let (descriptors, mappings) = held(scratch.path());
        // Each segment has a file on disk and one in memory.
        let files = 2 * segments(&scratch).len();
        assert!(files < 2 * TABLES / 50, "{what}: {files} files");
        assert!(descriptors <= files + OTHERS_MAX, "{what}: {descriptors}, {files} files");
        assert!((1..=files).contains(&mappings), "{what}: {mappings}, {files} files");
    };
    bounded("written");
    store.stop().expect("stopped");
    drop(store);
    let (_store, recovery) = Store::open(&config(&scratch, SEGMENT_BYTES)).expect("opened");
    let blocks = recovery.tables.values().flat_map(|table| &table.blocks);
    let read = blocks.filter(|block| block.bytes.iter().all(|byte| *byte == 7)).count();
    assert_eq!(read, TABLES * BLOCKS);
    bounded("opened again");
}

/// A small separate disk: a file system in a file.
struct SmallDisk {
    image: PathBuf,
    at: PathBuf,
}

impl SmallDisk {
    /// `None` if this process may not mount one.
    fn made(scratch: &TempDir) -> Option<Self> {
        let (image, at) = (scratch.path().join("image"), scratch.path().join("disk"));
        fs::File::create(&image).and_then(|file| file.set_len(64 << 20)).expect("a file");
        fs::create_dir(&at).expect("a folder");
        run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image))?;
        let disk = Self { image, at };
        disk.mount().map(|()| disk)
    }

    fn mount(&self) -> Option<()> {
        run(Command::new("mount").args(["-o", "loop"]).arg(&self.image).arg(&self.at))
    }

    /// Empties the system's cache of it.
    fn mount_again(&self) {
        run(Command::new("umount").arg(&self.at)).expect("unmounted");
        self.mount().expect("mounted");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Even while it is in use, as by a test that fails.
        let _ = run(Command::new("umount").arg("-l").arg(&self.at));
    }
}

/// Runs a command that may be missing, or be refused.
fn run(command: &mut Command) -> Option<()> {
    command.output().ok()?.status.success().then_some(())
}

#[test]
fn a_disk_that_fails_to_read_ends_no_process() {
    let scratch = scratch();
    let Some(disk) = SmallDisk::made(&scratch) else {
        return println!("skipped: needs a loop device");
    };
    let sizes = Sizes { segment_bytes: 16 << 20, ..Sizes::default() };
    let config = Config { sizes, ..Config::new(disk.at.join("leaf-0")) };
    let (store, _) = Store::open(&config).expect("opened");
    let write = |at| store.write_block(&table("t"), 1, vec![at; 4 << 20]).expect("written");
    let adds: Vec<StoredBlock> = (1..=3).map(write).collect();
    store.commit(&Change { adds, ..Change::default() }).expect("committed");
    drop(store);
    disk.mount_again();
    let (_store, recovery) = Store::open(&config).expect("opened");
    let blocks = &recovery.tables[&table("t")].blocks;
    assert_eq!(blocks.len(), 3);
    let is_whole = |at: u8| blocks[usize::from(at) - 1].bytes.iter().all(|byte| *byte == at);
    assert!(is_whole(3));
    assert_eq!(blocks[2].bytes.faults(), 0);
    // From now on reading the disk is an input/output error.
    let image = fs::OpenOptions::new().write(true).open(&disk.image);
    image.and_then(|file| file.set_len(0)).expect("cut");
    let segment = disk.at.join("leaf-0/segments/00000001.segment");
    let error = fs::read(segment).expect_err("not readable");
    assert_eq!(error.raw_os_error(), Some(5), "{error}");
    assert!(!is_whole(1));
    assert!(blocks[0].bytes.faults() > 0);
}
