//! Stores that are preopened while another process has them: the result is used once it has left.

use std::fs;
use std::os::unix::fs::FileExt;

use super::tests::{add, table};
use super::tmpfs_tests::{Bed, alter, brought_back, contents};
use super::*;
use crate::disk::{Disk, Folder};
use crate::preopen::PreopenedStore;

/// The recovery of a start that preopened a store of five blocks before `change` was made.
fn after_a_look(bed: &Bed, change: impl FnOnce(Store, &[BlockNumber])) -> (Store, Recovery) {
    let (store, blocks) = bed.filled();
    opened_after_a_look(bed, || change(store, &blocks))
}

/// The same for any store.
fn opened_after_a_look(bed: &Bed, change: impl FnOnce()) -> (Store, Recovery) {
    let config = bed.config();
    let preopened =
        PreopenedStore::find(&config.folder, config.memory.as_ref(), config.sizes).expect("found");
    let config = Config { preopened, ..config };
    assert!(matches!(Store::open(&config), Err(Error::InUse(_))), "it is another's");
    change();
    let is_taken = |config: &Config| {
        let taken = config.preopened.take(&config.folder, config.memory.as_ref(), config.sizes);
        taken.expect("not in use").is_none()
    };
    let opened = Store::open(&config).expect("opened");
    assert!(is_taken(&config), "it is used once");
    opened
}

#[test]
fn what_was_found_while_another_had_the_folder_is_what_it_leaves() {
    let bed = Bed::new();
    let (next, recovery) = after_a_look(&bed, |store, blocks| {
        // Two segments change, and one is made.
        (5..8).for_each(|at| drop(add(&store, &table("t"), &[at; 20_000])));
        store.commit(&Change { removes: vec![blocks[1]], ..Change::default() }).expect("committed");
        store.stop().expect("stopped");
    });
    assert!(recovery.report.was_stopped);
    assert_eq!(contents(&recovery), (vec![0, 2, 3, 4, 5, 6, 7], 0));
    let recovered = &recovery.tables["t"];
    let rows = recovered.blocks.iter().map(|block| u64::from(block.rows)).sum();
    assert_eq!((recovered.block_rows, recovered.block_bytes), (rows, 140_000));
    let stats = next.stats();
    assert_eq!((stats.blocks, stats.memory_bytes, stats.segments), (7, 140_000, 3));
    drop(recovery);
    // The range of the removed block is free.
    add(&next, &table("t"), &[8; 20_000]);
    assert_eq!(next.stats().segments, 3);
    next.stop().expect("stopped");
    drop(next);
    assert_eq!(contents(&bed.open().1), (vec![0, 2, 3, 4, 5, 6, 7, 8], 0));
}

#[test]
fn what_comes_where_a_block_was_that_somebody_had_found_stays_there() {
    let bed = Bed::new();
    let (next, recovery) = after_a_look(&bed, |store, blocks| {
        store
            .commit(&Change { removes: blocks[..3].to_vec(), ..Change::default() })
            .expect("committed");
        store.give_back();
        (5..7).for_each(|at| drop(add(&store, &table("t"), &[at; 20_000])));
        store.stop().expect("stopped");
    });
    assert_eq!(contents(&recovery), (vec![3, 4, 5, 6], 0));
    drop(recovery);
    next.stop().expect("stopped");
    drop(next);
    let (_, recovery) = bed.open();
    assert_eq!(contents(&recovery), (vec![3, 4, 5, 6], 0));
    assert!(recovery.tables["t"].blocks.iter().all(|block| {
        block.bytes.len() == 20_000 && block.bytes.iter().all(|byte| *byte == block.bytes[0])
    }));
}

/// Replaces a file by a copy: the same bytes, but another file.
fn replace(path: &Path) {
    fs::copy(path, path.with_extension("copy")).expect("copied");
    fs::rename(path.with_extension("copy"), path).expect("renamed");
}

#[test]
fn what_was_found_is_not_believed_after_a_kill() {
    let bed = Bed::new();
    let (_, recovery) = after_a_look(&bed, |store, _| drop(store));
    assert!(!recovery.report.was_stopped);
    assert_eq!(contents(&recovery), (Vec::new(), 5), "all are to be verified");
}

#[test]
fn memory_that_is_another_file_by_now_is_the_one_that_is_read() {
    let bed = Bed::new();
    let (_, recovery) = after_a_look(&bed, |store, _| {
        store.stop().expect("stopped");
        replace(&bed.in_memory(1));
        alter(&bed.in_memory(1));
    });
    assert_eq!(contents(&recovery), (vec![0, 1, 2, 3, 4], 0));
    assert!(recovery.tables["t"].blocks[0].bytes.contains(&1), "of the first file it has none");
}

#[test]
fn a_segment_that_is_another_file_by_now_is_the_one_that_is_written_to() {
    let bed = Bed::new();
    let (next, recovery) = after_a_look(&bed, |store, _| {
        store.stop().expect("stopped");
        replace(&bed.on_disk(2));
    });
    drop(recovery);
    add(&next, &table("t"), &[5; 20_000]);
    drop(next);
    fs::remove_dir_all(bed.tmpfs()).expect("removed");
    fs::create_dir(bed.tmpfs()).expect("a folder");
    let (store, mut recovery) = bed.open();
    assert_eq!(brought_back(&store, &mut recovery), (vec![0, 1, 2, 3, 4, 5], Vec::new()));
}

#[test]
fn a_folder_in_the_place_of_the_one_that_was_found_is_opened_instead() {
    let bed = Bed::new();
    let (next, recovery) = after_a_look(&bed, |store, _| {
        store.stop().expect("stopped");
        drop(store);
        let folder = bed.config().folder;
        fs::rename(&folder, folder.with_extension("old")).expect("renamed");
    });
    assert_eq!((recovery.tables.len(), next.stats().blocks), (0, 0));
}

#[test]
fn blocks_that_are_not_in_memory_when_it_stops_are_not_taken_for_there() {
    let bed = Bed::new();
    let (_, recovery) = after_a_look(&bed, |store, _| {
        store.keep_on_disk(&table("t"), true);
        drop(add(&store, &table("t"), &[5; 20_000]));
        store.keep_on_disk(&table("t"), false);
        drop(add(&store, &table("t"), &[6; 20_000]));
        store.stop().expect("stopped");
    });
    assert_eq!(contents(&recovery), (vec![0, 1, 2, 3, 4, 6], 1));
}

fn damage_header(path: &Path) {
    let file = fs::OpenOptions::new().write(true).open(path).expect("a file");
    file.write_all_at(&[0; 8], 0).expect("written");
}

#[test]
fn a_segment_that_is_damaged_when_somebody_looks_is_saved_as_it_always_is() {
    let bed = Bed::new();
    let (store, _) = bed.filled();
    damage_header(&bed.on_disk(1));
    let (next, recovery) = opened_after_a_look(&bed, || store.stop().expect("stopped"));
    assert_eq!(
        contents(&recovery),
        (vec![0, 1, 2, 3, 4], 0),
        "by number, wherever they were found"
    );
    drop((next, recovery));
    fs::remove_dir_all(bed.tmpfs()).expect("removed");
    fs::create_dir(bed.tmpfs()).expect("a folder");
    let (store, mut recovery) = bed.open();
    assert_eq!(brought_back(&store, &mut recovery), (vec![0, 1, 2, 3, 4], Vec::new()));
}

#[test]
fn memory_that_is_damaged_when_somebody_looks_is_not_believed() {
    let bed = Bed::new();
    let (store, _) = bed.filled();
    damage_header(&bed.in_memory(1));
    let (next, mut recovery) = opened_after_a_look(&bed, || store.stop().expect("stopped"));
    assert_eq!(contents(&recovery), (vec![3, 4], 3));
    assert_eq!(brought_back(&next, &mut recovery), (vec![0, 1, 2], Vec::new()));
}

#[test]
fn blocks_for_which_there_is_no_room_are_brought_back_as_they_always_are() {
    let mut bed = Bed::new();
    let (store, _) = bed.filled();
    bed.budget = 70_000;
    let (next, mut recovery) = opened_after_a_look(&bed, || store.stop().expect("stopped"));
    assert_eq!(contents(&recovery), (vec![0, 1, 2], 2));
    assert_eq!(brought_back(&next, &mut recovery), (vec![3, 4], Vec::new()));
}

#[test]
fn what_follows_a_beginning_is_read_only_where_it_is_that() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = Folder::open_locked(scratch.path()).expect("opened");
    let bytes: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
    fs::write(scratch.path().join("file"), &bytes).expect("written");
    let after = |beginning: &[u8]| folder.read_after("file", beginning, 200_000).expect("read");
    for length in [0, 1, 65_535, 65_536, 65_537, 199_999, 200_000] {
        assert_eq!(after(&bytes[..length]).as_deref(), Some(&bytes[length..]));
        for at in [0, length / 2, length.saturating_sub(1)].into_iter().filter(|at| *at < length) {
            let mut other = bytes[..length].to_vec();
            other[at] ^= 1;
            assert_eq!(after(&other), None, "{length} {at}");
        }
    }
    assert_eq!(after(&[&bytes[..], &[1]].concat()), None, "it is shorter");
    let error = folder.read_after("file", b"", 199_999).expect_err("too long");
    assert!(error.to_string().contains("it has 200000 bytes"), "{error}");
}
