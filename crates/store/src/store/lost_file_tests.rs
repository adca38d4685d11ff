//! Segment files that are missing or damaged: the blocks that are saved, and those that are
//! reported lost.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use tempfile::TempDir;

use super::tests::{Tmpfs, add, segment, table};
use super::tmpfs_tests::{Bed, brought_back, contents};
use super::*;

#[test]
fn missing_and_damaged_segments_are_lost_blocks() {
    let folder = TempDir::new().expect("a folder");
    let sizes = Sizes { segment_bytes: 2 * 4_096, ..Sizes::default() };
    let config = Config { sizes, ..Config::new(folder.path().join("leaf-0")) };
    let (store, _) = Store::open(&config).expect("opened");
    let requests = table("requests");
    let blocks: Vec<_> = (0..5u8).map(|at| add(&store, &requests, &[at; 50]).number).collect();
    drop(store);
    fs::remove_file(segment(&folder, 1)).expect("removed");
    let truncate = |number, length| {
        let file = fs::OpenOptions::new().write(true).open(segment(&folder, number));
        file.and_then(|file| file.set_len(length)).expect("truncated");
    };
    truncate(2, 0);
    truncate(3, 4_096);
    let mut bytes = fs::read(segment(&folder, 4)).expect("read");
    bytes[17] ^= 1;
    fs::write(segment(&folder, 4), bytes).expect("written");
    let (store, recovery) = Store::open(&config).expect("opened");
    let lost: Vec<_> = recovery.report.lost_blocks.iter().map(|lost| lost.number).collect();
    assert_eq!(lost, blocks[..3]);
    let reasons = [(0, "is missing"), (2, "has a wrong header or length")];
    for (at, reason) in reasons {
        let lost = &recovery.report.lost_blocks[at];
        let path = segment(&folder, u32::try_from(at + 1).expect("small"));
        assert_eq!((&lost.table, lost.rows), (&requests, 7));
        assert_eq!(lost.reason, format!("{} {reason}", path.display()));
    }
    // Intact blocks in a file with a wrong header are saved.
    let there = &recovery.tables[&requests].blocks;
    assert_eq!([&*there[0].bytes, &*there[1].bytes], [&[3; 50], &[4; 50]]);
    // No new block is written to a doubtful file; the lost blocks can be removed.
    let added = add(&store, &requests, b"new");
    assert_eq!(added.bytes.location().map(|location| location.segment), Some(6));
    store.commit(&Change { removes: lost, ..Change::default() }).expect("committed");
    drop((store, recovery, added));
    let (_, recovery) = Store::open(&config).expect("opened");
    assert_eq!(recovery.report.lost_blocks, []);
    assert_eq!(recovery.report.orphan_segments, 2);
    assert_eq!(recovery.tables[&requests].blocks.len(), 3);
}

#[test]
fn a_copy_that_is_gone_from_disk_is_written_anew_from_memory() {
    for is_stopped in [true, false] {
        let bed = Bed::new();
        let (store, _) = bed.filled();
        if is_stopped {
            store.stop().expect("stopped");
        }
        drop(store);
        fs::remove_file(bed.on_disk(1)).expect("removed");
        fs::write(bed.on_disk(2), "nonsense").expect("written");
        let (store, mut recovery) = bed.open();
        assert_eq!(recovery.report.lost_blocks, []);
        drop(brought_back(&store, &mut recovery));
        drop((store, recovery));
        fs::remove_dir_all(bed.tmpfs()).expect("removed");
        fs::create_dir(bed.tmpfs()).expect("made");
        let (store, mut recovery) = bed.open();
        assert_eq!(brought_back(&store, &mut recovery), (vec![0, 1, 2, 3, 4], vec![]));
    }
}

#[test]
fn of_a_file_that_is_gone_or_damaged_each_block_is_saved_that_is_somewhere() {
    let open = |bed: &Bed| {
        let (store, mut recovery) = bed.open();
        let mut there = contents(&recovery).0;
        there.extend(brought_back(&store, &mut recovery).0);
        let lost = std::mem::take(&mut recovery.report.lost_blocks);
        drop(recovery);
        (store, there, lost.into_iter().map(|block| block.reason).collect::<Vec<_>>())
    };
    // The first segment has three blocks. Memory has two of them; the third is on disk.
    for (is_stopped, header) in [(true, None), (false, None), (true, Some([7; 40]))] {
        let mut bed = Bed::new();
        bed.budget = 2 * 20_480;
        let (store, _) = bed.filled();
        if is_stopped {
            store.stop().expect("stopped");
        }
        drop(store);
        match header {
            None => fs::remove_file(bed.on_disk(1)).expect("removed"),
            Some(header) => {
                let file = OpenOptions::new().write(true).open(bed.on_disk(1)).expect("a file");
                file.write_all_at(&header, 0).expect("written");
            }
        }
        // The half-made file of an earlier process that salvaged it, too.
        let half_made = bed.on_disk(1).with_extension("segment.new");
        fs::write(&half_made, "half").expect("written");
        let (store, there, lost) = open(&bed);
        assert!(!half_made.exists());
        let location = bed.on_disk(1).display().to_string();
        let expected = match header {
            None => (vec![0, 1, 3, 4], vec![format!("{location} is missing")]),
            Some(_) => (vec![0, 1, 2, 3, 4], vec![]),
        };
        assert_eq!((there, lost), expected);
        drop(store);
        // Saved blocks are on disk; lost ones stay lost, with a reason.
        fs::remove_dir_all(bed.tmpfs()).expect("removed");
        fs::create_dir(bed.tmpfs()).expect("made");
        let (_, there, _) = open(&bed);
        assert_eq!(there, expected.0);
    }
}

#[test]
fn memory_of_which_nothing_is_left_on_disk_nor_saved_is_given_back() {
    let bed = Bed::new();
    bed.filled().0.stop().expect("stopped");
    fs::remove_file(bed.on_disk(2)).expect("removed");
    let memory = bed.in_memory(2);
    let file = OpenOptions::new().write(true).open(&memory).expect("a file");
    file.write_all_at(&[7; 60_000], 4_096).expect("written");
    let (store, recovery) = bed.open();
    assert_eq!(contents(&recovery), (vec![0, 1, 2], 0));
    assert_eq!(recovery.report.lost_blocks.len(), 2);
    assert!(!memory.exists());
    assert_eq!(store.stats().memory_bytes, 60_000);
}

#[test]
fn a_full_disk_keeps_nobody_from_its_start_and_what_is_damaged_waits_for_room() {
    let Some(tmpfs) = Tmpfs::mount() else { return println!("skipped: needs root") };
    let config = Config::new(tmpfs.path().join("leaf-0"));
    let (store, _) = Store::open(&config).expect("opened");
    add(&store, &table("t"), &[1; 300_000]);
    drop(store);
    let damaged = config.folder.join("segments/00000001.segment");
    let file = OpenOptions::new().write(true).open(&damaged).expect("a file");
    file.write_all_at(&[7; 40], 0).expect("written");
    let ballast = tmpfs.path().join("ballast");
    fs::write(&ballast, vec![7; 500_000]).expect("written");
    let (store, recovery) = Store::open(&config).expect("it starts");
    let reason = format!("{} has a wrong header or length", damaged.display());
    assert_eq!(recovery.report.lost_blocks[0].reason, reason);
    assert_eq!(fs::read_dir(config.folder.join("segments")).expect("listed").count(), 1);
    drop((store, recovery));
    fs::remove_file(ballast).expect("removed");
    let (_, recovery) = Store::open(&config).expect("opened");
    assert_eq!(contents(&recovery), (vec![1], 0));
}
