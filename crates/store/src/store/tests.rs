use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::*;
use crate::disk::simulated::{Random, World};
use crate::recovered_table::RecoveredTable;

pub(super) fn table(name: &str) -> TableName {
    TableName::new(name).expect("a name")
}

pub(super) fn batch(name: &str) -> BatchId {
    BatchId::new(name).expect("an id")
}

pub(super) fn open(folder: &TempDir) -> (Store, Recovery) {
    Store::open(&Config::new(folder.path().join("leaf-0"))).expect("opened")
}

pub(super) fn log(store: &Store, table: &TableName, id: &str) -> Sequence {
    let ticket = store.append(table, &batch(id), id.as_bytes()).expect("queued");
    let sequence = ticket.sequence();
    ticket.wait().expect("durable");
    sequence
}

pub(super) fn add(store: &Store, table: &TableName, bytes: &[u8]) -> StoredBlock {
    let block = store.write_block(table, 7, bytes.to_vec()).expect("written");
    store.commit(&Change { adds: vec![block.clone()], ..Change::default() }).expect("committed");
    block
}

fn remove(store: &Store, block: &StoredBlock) {
    store.commit(&Change { removes: vec![block.number], ..Change::default() }).expect("committed");
}

pub(super) fn frames(table: &RecoveredTable) -> Vec<&[u8]> {
    table.frames.iter().map(|frame| &*frame.bytes).collect()
}

pub(super) fn segment(folder: &TempDir, number: u32) -> PathBuf {
    folder.path().join(format!("leaf-0/segments/{number:08}.segment"))
}

pub(super) fn allocated(path: &Path) -> u64 {
    fs::metadata(path).expect("a file").blocks() * 512
}

#[test]
fn a_store_is_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Store>();
    shared::<BlockBytes>();
    shared::<Ticket>();
}

#[test]
fn what_was_acknowledged_is_there_after_a_drop_and_after_a_close() {
    let folder = TempDir::new().expect("a folder");
    let (requests, others) = (table("requests"), table("others"));
    let (store, recovery) = open(&folder);
    assert!(recovery.tables.is_empty());
    let merged = log(&store, &requests, "merged");
    log(&store, &requests, "fresh");
    log(&store, &others, "other");
    let block = store.write_block(&requests, 7, vec![7; 10_000]).expect("written");
    let change = Change {
        adds: vec![block.clone()],
        consumed: vec![merged],
        settings: vec![(requests.clone(), b"time".to_vec())],
        ..Change::default()
    };
    store.commit(&change).expect("committed");
    drop((store, change, block));
    for is_closed in [true, false] {
        let (store, recovery) = open(&folder);
        let recovered = &recovery.tables[&requests];
        assert_eq!(recovered.blocks.len(), 1);
        assert_eq!(*recovered.blocks[0].bytes, [7; 10_000]);
        assert_eq!(recovered.blocks[0].bytes.as_ptr().addr() % 4_096, 0);
        assert_eq!(frames(recovered), [b"fresh"]);
        assert_eq!(recovered.settings.as_deref(), Some(&b"time"[..]));
        assert_eq!(frames(&recovery.tables[&others]), [b"other"]);
        let report = &recovery.report;
        assert_eq!((report.frames_replayed, report.frames_consumed), (2, 1));
        drop(recovery);
        if is_closed {
            store.stop().expect("stopped");
        }
    }
}

#[test]
fn a_second_opener_is_refused_by_name() {
    let folder = TempDir::new().expect("a folder");
    let (store, _) = open(&folder);
    let path = folder.path().join("leaf-0");
    let error = Store::open(&Config::new(&path)).map(drop).expect_err("in use");
    assert!(matches!(&error, Error::InUse(location) if *location == path.display().to_string()));
    assert!(error.to_string().contains("leaf-0 is in use"), "{error}");
    // Block bytes that are still read keep the folder locked: it must not be written under them.
    let block = add(&store, &table("requests"), b"rows");
    drop(store);
    assert!(matches!(Store::open(&Config::new(&path)).map(drop), Err(Error::InUse(_))));
    assert_eq!(*block.bytes, *b"rows");
    drop(block);
    open(&folder);
}

#[test]
fn a_removed_block_is_freed_after_its_last_reader() {
    let folder = TempDir::new().expect("a folder");
    let (store, _) = open(&folder);
    let requests = table("requests");
    let first = add(&store, &requests, &[1; 1 << 20]);
    let second = add(&store, &requests, &[2; 1 << 20]);
    let path = segment(&folder, 1);
    let full = allocated(&path);
    let reader = first.bytes.clone();
    remove(&store, &first);
    drop(first);
    assert_eq!(allocated(&path), full);
    assert_eq!(*reader, [1; 1 << 20]);
    drop(reader);
    assert_eq!(allocated(&path), full, "disk is given back when somebody has the time for it");
    store.give_back();
    assert_eq!(allocated(&path), full - (1 << 20));
    // Its range is used again, by the next block that fits.
    let third = add(&store, &requests, &[3; 4_096]);
    assert_eq!(third.bytes.location().map(|location| location.offset), Some(4_096));
    assert_eq!(*second.bytes, [2; 1 << 20]);
    // A segment without blocks is removed.
    for block in [second, third] {
        remove(&store, &block);
    }
    assert!(path.exists());
    store.give_back();
    assert!(!path.exists());
    assert_eq!(store.stats(), StoreStats { reclaim_failures: 0, ..StoreStats::default() });
}

#[test]
fn a_block_that_is_never_added_leaves_nothing() {
    let folder = TempDir::new().expect("a folder");
    let (store, _) = open(&folder);
    let block = store.write_block(&table("requests"), 7, vec![1; 100]).expect("written");
    assert!(segment(&folder, 1).exists());
    drop(block);
    store.give_back();
    assert!(!segment(&folder, 1).exists());
}

#[test]
fn a_block_larger_than_a_segment_gets_one_of_its_own() {
    let folder = TempDir::new().expect("a folder");
    let sizes = Sizes { segment_bytes: 16 * 4_096, ..Sizes::default() };
    let config = Config { sizes, ..Config::new(folder.path().join("leaf-0")) };
    let (store, _) = Store::open(&config).expect("opened");
    let bytes = Random::new(1).bytes(100_001);
    add(&store, &table("requests"), &bytes);
    let length = fs::metadata(segment(&folder, 1)).expect("a file").len();
    assert_eq!(length, 4_096 + 25 * 4_096);
    drop(store);
    let (_, recovery) = Store::open(&config).expect("opened");
    assert_eq!(*recovery.tables[&table("requests")].blocks[0].bytes, bytes);
}

#[test]
fn space_that_the_manifest_does_not_name_is_reclaimed() {
    let folder = TempDir::new().expect("a folder");
    let (store, _) = open(&folder);
    add(&store, &table("requests"), b"rows");
    drop(store);
    // The state after a crash between writing a block and naming it.
    let path = segment(&folder, 1);
    let before = allocated(&path);
    let file = fs::OpenOptions::new().write(true).open(&path).expect("opened");
    std::os::unix::fs::FileExt::write_all_at(&file, &[9; 1 << 20], 1 << 20).expect("written");
    file.sync_all().expect("synced");
    fs::write(segment(&folder, 5), vec![9; 1 << 20]).expect("written");
    fs::write(folder.path().join("leaf-0/segments/notes.txt"), "mine").expect("written");
    let (_store, recovery) = open(&folder);
    assert_eq!(recovery.report.orphan_segments, 1);
    assert!(recovery.report.reclaimed_bytes >= 2 << 20, "{}", recovery.report.reclaimed_bytes);
    assert_eq!(allocated(&path), before);
    assert!(!segment(&folder, 5).exists());
    assert!(folder.path().join("leaf-0/segments/notes.txt").exists());
}

#[test]
fn lost_blocks_stay_lost_until_their_table_is_dropped() {
    let folder = TempDir::new().expect("a folder");
    let (requests, others) = (table("requests"), table("others"));
    let (store, _) = open(&folder);
    add(&store, &requests, b"gone");
    drop(store);
    fs::remove_file(segment(&folder, 1)).expect("removed");
    for round in 0..3u8 {
        let (store, recovery) = open(&folder);
        let lost: Vec<_> = recovery.report.lost_blocks.iter().map(|lost| lost.rows).collect();
        assert_eq!(lost, [7], "round {round}");
        // It is never forgotten, whatever else happens.
        add(&store, &others, &[round; 10]);
        log(&store, &requests, &format!("batch-{round}"));
        store.stop().expect("stopped");
    }
    let (store, _) = open(&folder);
    store.commit(&Change { drops: vec![requests], ..Change::default() }).expect("dropped");
    drop(store);
    assert_eq!(open(&folder).1.report.lost_blocks, []);
}

#[test]
fn a_log_file_that_is_gone_is_missed() {
    let lost = |recovery: &Recovery| recovery.report.log_files_lost.clone();
    for empties in [false, true] {
        let folder = TempDir::new().expect("a folder");
        let sizes = Sizes { log_file_bytes: 100, ..Sizes::default() };
        let config = Config { sizes, ..Config::new(folder.path().join("leaf-0")) };
        let open = || Store::open(&config).expect("opened");
        let path = |number: u32| folder.path().join(format!("leaf-0/log/{number:08}.log"));
        let requests = table("requests");
        let (store, recovery) = open();
        assert_eq!(lost(&recovery), [""; 0]);
        // Each has its own file.
        let long = |number: u8| Random::new(number.into()).bytes(200);
        let sequences: Vec<Sequence> = (1..=4u8)
            .map(|number| {
                let id = batch(&format!("batch-{number}"));
                let ticket = store.append(&requests, &id, &long(number)).expect("queued");
                let sequence = ticket.sequence();
                ticket.wait().expect("durable");
                sequence
            })
            .collect();
        assert!(path(4).exists());
        // A file that is not needed any more is not missed.
        let change = Change { consumed: vec![sequences[1]], ..Change::default() };
        store.commit(&change).expect("committed");
        assert!(!path(2).exists());
        drop(store);
        assert_eq!(lost(&open().1), [""; 0]);
        let gone = [3, 4].map(path);
        for path in &gone {
            match empties {
                true => fs::write(path, b"").expect("emptied"),
                false => fs::remove_file(path).expect("removed"),
            }
        }
        let gone = gone.map(|path| path.display().to_string());
        // The loss is reported until a change is committed, and the remaining rows are served.
        for _ in 0..2 {
            let (_, recovery) = open();
            assert_eq!(lost(&recovery), gone);
            assert_eq!(frames(&recovery.tables[&requests]), [long(1)]);
        }
        let (store, _) = open();
        log(&store, &requests, "new");
        store.commit(&Change::default()).expect("committed");
        drop(store);
        let (_, recovery) = open();
        assert_eq!(lost(&recovery), [""; 0]);
        assert_eq!(frames(&recovery.tables[&requests]), [&long(1)[..], b"new"]);
    }
}

#[test]
fn a_dropped_table_is_gone_and_may_come_back() {
    let folder = TempDir::new().expect("a folder");
    let (store, _) = open(&folder);
    let (requests, others) = (table("requests"), table("others"));
    add(&store, &requests, b"old");
    log(&store, &requests, "old");
    log(&store, &others, "other");
    let settings = vec![(requests.clone(), b"time".to_vec())];
    store.commit(&Change { settings, ..Change::default() }).expect("committed");
    let replacement = store.write_block(&requests, 7, b"new".to_vec()).expect("written");
    let change =
        Change { drops: vec![requests.clone()], adds: vec![replacement], ..Change::default() };
    store.commit(&change).expect("committed");
    log(&store, &requests, "newer");
    drop((store, change));
    let (_, recovery) = open(&folder);
    let recovered = &recovery.tables[&requests];
    assert_eq!(recovered.blocks.iter().map(|block| &*block.bytes).collect::<Vec<_>>(), [b"new"]);
    assert_eq!((frames(recovered), &recovered.settings), (vec![&b"newer"[..]], &None));
    assert_eq!(frames(&recovery.tables[&others]), [b"other"]);
}

#[test]
fn a_change_that_is_wrong_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let (store, _) = open(&folder);
    let requests = table("requests");
    let block = add(&store, &requests, b"rows");
    let foreign = Store::in_memory().write_block(&requests, 7, b"rows".to_vec());
    let foreign = foreign.expect("written");
    let wrong = [
        Change { removes: vec![BlockNumber(77)], ..Change::default() },
        Change { adds: vec![block], ..Change::default() },
        Change { adds: vec![foreign], ..Change::default() },
        Change { settings: vec![(requests, vec![0; (64 << 10) + 1])], ..Change::default() },
    ];
    let messages = [
        "block 77 is to be removed and is not there",
        "block 0 is to be added and is there",
        "block 0 is of another store",
        "settings of 65537 bytes; at most 65536 are allowed",
    ];
    for (change, message) in wrong.iter().zip(messages) {
        assert_eq!(store.commit(change).expect_err("wrong").to_string(), message);
    }
}

#[test]
fn a_store_in_memory_has_the_same_doors() {
    let store = Store::in_memory();
    let requests = table("requests");
    assert_eq!(log(&store, &requests, "one"), Sequence(0));
    assert_eq!(log(&store, &requests, "two"), Sequence(1));
    let block = add(&store, &requests, b"rows");
    assert_eq!(*block.bytes, *b"rows");
    assert_eq!(store.stats(), StoreStats { blocks: 1, block_bytes: 4, ..StoreStats::default() });
    store.commit(&Change { drops: vec![requests.clone()], ..Change::default() }).expect("dropped");
    assert_eq!(store.stats(), StoreStats::default());
    let empty = store.append(&requests, &batch("none"), b"");
    assert!(matches!(empty, Err(Error::BlockSize(0))));
    store.stop().expect("stopped");
}

#[test]
fn without_its_manifest_a_folder_is_not_touched() {
    let folder = TempDir::new().expect("a folder");
    let (store, _) = open(&folder);
    log(&store, &table("requests"), "rows");
    drop(store);
    for name in ["manifest", "manifest.copy"] {
        fs::remove_file(folder.path().join("leaf-0").join(name)).expect("removed");
    }
    let error = Store::open(&Config::new(folder.path().join("leaf-0"))).map(drop);
    let error = error.expect_err("no manifest").to_string();
    let expected =
        "it is missing, and so is its copy, and there are log or segment files; see docs/damage.md";
    assert!(error.contains(expected), "{error}");
    assert!(folder.path().join("leaf-0/log/00000001.log").exists());
}

#[test]
fn files_are_the_owners_only_and_links_are_not_followed() {
    let folder = TempDir::new().expect("a folder");
    let (store, _) = open(&folder);
    log(&store, &table("requests"), "rows");
    let block = add(&store, &table("requests"), b"rows");
    let leaf = folder.path().join("leaf-0");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    for name in ["", "log", "segments"] {
        assert_eq!(mode(&leaf.join(name)), 0o700, "{name}");
    }
    for name in ["manifest", "log/00000001.log", "segments/00000001.segment"] {
        assert_eq!(mode(&leaf.join(name)), 0o600, "{name}");
    }
    drop((store, block));
    for name in ["log/00000001.log", "segments/00000001.segment", "manifest", "log"] {
        let outside = folder.path().join("outside");
        fs::rename(leaf.join(name), &outside).expect("moved");
        symlink(&outside, leaf.join(name)).expect("linked");
        let refused = Store::open(&Config::new(&leaf)).map(drop);
        assert!(matches!(refused, Err(Error::Io { .. })), "{name}: {refused:?}");
        fs::remove_file(leaf.join(name)).expect("removed");
        fs::rename(&outside, leaf.join(name)).expect("moved");
    }
    open(&folder);
}

/// The record may be on disk although its sync failed: then the block that it names must be whole.
#[test]
fn a_failed_sync_of_the_manifest_keeps_the_new_block() {
    let mut named = 0;
    for seed in 0..40 {
        let world = World::new(seed);
        let open = || {
            Store::open_with(
                &world.folders(),
                Sizes::default(),
                Durability::Sync,
                false,
                None,
                OpenContext::default(),
            )
            .expect("opened")
        };
        let (store, _) = open();
        let requests = table("requests");
        let block = store.write_block(&requests, 7, vec![5; 9_000]).expect("written");
        let Durable { pool, .. } = store.durable.as_ref().expect("a folder");
        pool.sync().expect("synced");
        world.machine().fails_sync = true;
        let change = Change { adds: vec![block], ..Change::default() };
        let error = store.commit(&change).expect_err("not durable");
        assert!(matches!(error, Error::Poisoned { .. }), "{error}");
        world.machine().fails_sync = false;
        assert!(matches!(store.commit(&Change::default()), Err(Error::Poisoned { .. })));
        drop((store, change));
        world.crash();
        let (_, recovery) = open();
        for block in recovery.tables.values().flat_map(|table| &table.blocks) {
            assert_eq!(*block.bytes, [5; 9_000], "seed {seed}");
            named += 1;
        }
    }
    assert!((1..40).contains(&named), "both outcomes are to be seen, {named} of 40 were named");
}

/// A tmpfs of one MiB, unmounted at the end.
pub(super) struct Tmpfs(pub(super) TempDir);

impl Tmpfs {
    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn mount() -> Option<Self> {
        let folder = TempDir::new().expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "hadal-test"]).arg(folder.path());
        let is_mounted = mount.output().is_ok_and(|output| output.status.success());
        is_mounted.then(|| Self(folder))
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "tmpfs stays mounted");
    }
}

#[test]
fn a_full_tmpfs_is_an_ordinary_error() {
    let Some(tmpfs) = Tmpfs::mount() else { return println!("skipped: needs root") };
    let (store, _) = open(&tmpfs.0);
    let requests = table("requests");
    let first = add(&store, &requests, &[1; 300_000]);
    let second = add(&store, &requests, &[2; 300_000]);
    for _ in 0..3 {
        let refused = store.write_block(&requests, 7, vec![3; 500_000]);
        assert!(matches!(refused, Err(Error::Full(_))), "{refused:?}");
    }
    let rows = Random::new(1).bytes(500_000);
    let ticket = store.append(&requests, &batch("large"), &rows).expect("queued");
    assert!(matches!(ticket.wait(), Err(Error::Full(_))));
    // Reading continues, and so does writing once disk is free.
    assert_eq!(*second.bytes, [2; 300_000]);
    remove(&store, &first);
    drop(first);
    add(&store, &requests, &[3; 250_000]);
    log(&store, &requests, "small");
    assert_eq!(store.stats().reclaim_failures, 0);
    drop((store, second));
    let (_, recovery) = open(&tmpfs.0);
    let recovered = &recovery.tables[&requests];
    assert_eq!(recovered.blocks.iter().map(|block| block.bytes[0]).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(frames(recovered), [b"small"]);
}
