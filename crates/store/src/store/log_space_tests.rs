//! What the log takes of the disk, and what is left of it after kills and full disks.

use std::fs;

use tempfile::TempDir;

use super::tests::{Tmpfs, batch, log, open, table};
use super::*;
use crate::disk::simulated::{Random, World};

#[test]
fn a_log_of_which_nothing_is_needed_takes_no_disk() {
    let folder = TempDir::new().expect("a folder");
    let (store, _) = open(&folder);
    let requests = table("requests");
    let files = || {
        let log = fs::read_dir(folder.path().join("leaf-0/log")).expect("there");
        let mut names: Vec<_> = log.map(|file| file.expect("read").file_name()).collect();
        names.sort();
        names
    };
    let large = Random::new(1).bytes(2 << 20);
    store.append(&requests, &batch("large"), &large).expect("queued").wait().expect("durable");
    store.give_back();
    assert_eq!(files(), ["00000001.log"], "it is needed");
    store
        .commit(&Change { drops: vec![requests.clone()], ..Change::default() })
        .expect("committed");
    store.give_back();
    assert!(files().is_empty(), "{:?}", files());
    log(&store, &requests, "small");
    store.give_back();
    assert_eq!(files(), ["00000002.log"]);
    drop(store);
    let (_, recovery) = open(&folder);
    assert_eq!(recovery.report.log_files_lost, [""; 0]);
    assert_eq!(recovery.tables[&requests].frames.len(), 1);
}

#[test]
fn a_log_gives_back_what_was_consumed_of_it_where_disk_is_short() {
    let world = World::new(3);
    let sizes = Sizes { log_file_bytes: 64 << 10, ..Sizes::default() };
    let context = OpenContext::default();
    let open = || Store::open_with(&world.folders(), sizes, Durability::Sync, false, None, context);
    let (store, _) = open().expect("opened");
    let append = |store: &Store, name: &str, id: &str, length: usize| {
        let ticket = store.append(&table(name), &batch(id), &Random::new(9).bytes(length));
        store.step_log();
        ticket.expect("queued").wait()
    };
    for round in 0..3 {
        append(&store, "gone", &format!("gone-{round}"), 3_000).expect("durable");
        append(&store, "kept", &format!("kept-{round}"), 10).expect("durable");
    }
    // The disk is not short yet.
    store.commit(&Change { drops: vec![table("other")], ..Change::default() }).expect("committed");
    store.give_back();
    world.machine().free_bytes = Some(2_000);
    assert!(matches!(append(&store, "kept", "large", 3_000), Err(Error::Full(_))));
    store.give_back();
    assert_eq!(world.machine().free_bytes, Some(2_000), "all of it is needed");
    assert!(matches!(append(&store, "kept", "large", 3_000), Err(Error::Full(_))));
    store.commit(&Change { drops: vec![table("gone")], ..Change::default() }).expect("committed");
    store.give_back();
    let free_bytes = world.machine().free_bytes.expect("set");
    assert!((9_000..12_000).contains(&free_bytes), "{free_bytes}");
    append(&store, "kept", "large", 3_000).expect("there is room");
    store.give_back();
    for is_killed in [true, false] {
        if is_killed {
            world.kill()
        } else {
            world.crash()
        }
        let (_, recovery) = open().expect("opened");
        let report = &recovery.report;
        assert_eq!(
            (report.frames_damaged, report.log_bytes_cut, report.frames_replayed),
            (0, 0, 4)
        );
        assert_eq!(recovery.tables[&table("kept")].frames.len(), 4);
        assert!(!recovery.tables.contains_key(&table("gone")));
    }
    // Real damage is still reported.
    let mut bytes = world.bytes("log", "00000001.log");
    let within_a_small_frame = bytes.len() - 3_080;
    bytes[within_a_small_frame] ^= 1;
    world.set_bytes("log", "00000001.log", bytes);
    let (_, recovery) = open().expect("opened");
    let report = &recovery.report;
    assert!(report.frames_replayed == 3 && report.frames_damaged > 0, "{report:?}");
}

#[test]
fn sequences_that_a_killed_process_did_not_write_are_no_damage() {
    let world = World::new(4);
    let sizes = Sizes { log_file_bytes: 64 << 10, ..Sizes::default() };
    let context = OpenContext::default();
    let open = || Store::open_with(&world.folders(), sizes, Durability::Sync, false, None, context);
    let append = |store: &Store, name: &str, id: &str, length: usize| {
        let ticket = store.append(&table(name), &batch(id), &Random::new(9).bytes(length));
        store.step_log();
        ticket.expect("queued").wait()
    };
    let (store, _) = open().expect("opened");
    append(&store, "gone", "before", 3_000).expect("durable");
    world.machine().free_bytes = Some(2_000);
    assert!(matches!(append(&store, "gone", "unwritten", 3_000), Err(Error::Full(_))));
    append(&store, "gone", "after", 10).expect("there is room");
    append(&store, "kept", "kept", 10).expect("there is room");
    // Killed before a change recorded that the log has no frame of this sequence.
    world.kill();
    let (store, _) = open().expect("opened");
    world.machine().free_bytes = Some(2_000);
    assert!(matches!(append(&store, "kept", "large", 3_000), Err(Error::Full(_))));
    store.commit(&Change { drops: vec![table("gone")], ..Change::default() }).expect("committed");
    store.give_back();
    assert!(world.machine().free_bytes > Some(4_000), "frames on both sides are given back");
    world.kill();
    let (_, recovery) = open().expect("opened");
    let report = &recovery.report;
    assert_eq!((report.frames_damaged, report.log_bytes_cut, report.frames_replayed), (0, 0, 1));
    assert_eq!(recovery.tables[&table("kept")].frames.len(), 1);
}

#[test]
fn changes_go_on_when_the_disk_is_full() {
    let Some(tmpfs) = Tmpfs::mount() else { return println!("skipped: needs root") };
    let (store, _) = open(&tmpfs.0);
    let requests = table("requests");
    let mut ballast = fs::File::create(tmpfs.path().join("ballast")).expect("made");
    while std::io::Write::write_all(&mut ballast, &[1; 4_096]).is_ok() {}
    // More than a page of the manifest.
    for number in 0..100 {
        let settings = vec![(requests.clone(), format!("{number:0100}").into_bytes())];
        store.commit(&Change { settings, ..Change::default() }).expect("committed");
    }
    drop(store);
    let (store, recovery) = open(&tmpfs.0);
    let settings = recovery.tables[&requests].settings.as_deref().expect("set");
    assert_eq!(settings, format!("{:0100}", 99).as_bytes());
    drop((store, recovery, ballast));
}
