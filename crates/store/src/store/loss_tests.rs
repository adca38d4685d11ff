//! Acknowledged batches that are missing in the log: reported until a person acknowledges the loss.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::tests::{batch, frames, table};
use super::*;
use crate::Loss;
use crate::disk::simulated::Random;
use hadal_types::Micros;

struct Bed {
    folder: TempDir,
    sizes: Sizes,
}

impl Bed {
    fn new(log_file_bytes: u64) -> Self {
        let folder = TempDir::new().expect("a folder");
        Self { folder, sizes: Sizes { log_file_bytes, ..Sizes::default() } }
    }

    fn config(&self) -> Config {
        let folder = self.folder.path().join("leaf-0");
        Config { sizes: self.sizes, now: Micros(5), ..Config::new(folder) }
    }

    fn open(&self) -> (Store, Recovery) {
        Store::open(&self.config()).expect("opened")
    }

    fn log(&self, number: u32) -> PathBuf {
        self.folder.path().join(format!("leaf-0/log/{number:08}.log"))
    }

    /// The reported losses, in words; the store is stopped cleanly.
    fn list(&self) -> Vec<String> {
        let (store, _) = self.open();
        let listed = store.losses().into_iter().map(|loss| loss.what).collect();
        store.stop().expect("stopped");
        listed
    }
}

fn rows(number: u8) -> Vec<u8> {
    Random::new(number.into()).bytes(200)
}

/// Three batches, from the first on.
fn three_taken(store: &Store) -> Vec<Sequence> {
    (1..=3).map(|number| taken(store, number)).collect()
}

fn taken(store: &Store, number: u8) -> Sequence {
    let id = batch(&format!("batch-{number}"));
    let ticket = store.append(&table("t"), &id, &rows(number)).expect("queued");
    let sequence = ticket.sequence();
    ticket.wait().expect("durable");
    sequence
}

/// Reported at each start, even after changes and clean stops; never again once it is forgotten.
fn is_told_until_it_is_forgotten(bed: &Bed, expected: &str) {
    for round in 0..3 {
        let listed = bed.list();
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert!(listed[0].contains(expected), "{listed:?}");
        let (store, _) = bed.open();
        taken(&store, 100 + round);
        store.commit(&Change::default()).expect("committed");
    }
    let (store, _) = bed.open();
    assert!(matches!(&store.losses()[..], [Loss { found: Micros(5), .. }]));
    // It was not found before this time.
    assert!(!store.forget_losses(Some(Micros(5))).expect("looked"));
    assert!(store.forget_losses(None).expect("forgotten"));
    assert_eq!(store.losses(), []);
    drop(store);
    assert_eq!(bed.list(), [""; 0]);
    let (store, _) = bed.open();
    taken(&store, 110);
    drop(store);
    assert_eq!(bed.list(), [""; 0]);
}

#[test]
fn a_log_file_that_is_gone_stays_told() {
    for empties in [false, true] {
        let bed = Bed::new(100);
        let (store, _) = bed.open();
        three_taken(&store);
        drop(store);
        match empties {
            true => fs::write(bed.log(2), b"").expect("emptied"),
            false => fs::remove_file(bed.log(2)).expect("removed"),
        }
        is_told_until_it_is_forgotten(&bed, "LOST: log/00000002.log was missing or empty");
    }
}

#[test]
fn the_only_log_file_that_is_gone_stays_told_and_its_number_is_not_used_again() {
    let bed = Bed::new(1 << 20);
    let (store, _) = bed.open();
    taken(&store, 1);
    drop(store);
    fs::remove_file(bed.log(1)).expect("removed");
    is_told_until_it_is_forgotten(&bed, "LOST: log/00000001.log was missing or empty");
    assert!(!bed.log(1).exists());
}

#[test]
fn a_damaged_middle_of_the_log_stays_told_and_is_not_looked_for_once_it_is_forgotten() {
    let bed = Bed::new(1 << 20);
    let (store, _) = bed.open();
    three_taken(&store);
    drop(store);
    let mut bytes = fs::read(bed.log(1)).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(bed.log(1), bytes).expect("written");
    is_told_until_it_is_forgotten(&bed, "DAMAGED: 256 bytes in one place of log/00000001.log");
    let (_, recovery) = bed.open();
    let replayed = frames(&recovery.tables[&table("t")]);
    assert_eq!(replayed, [1, 3, 100, 101, 102, 110].map(rows), "the rest is there");
}

/// The end of a log of three batches, damaged by `damage`. After a commit the manifest's copy says
/// how far the log was durable.
fn damaged_end(commits: bool, damage: impl Fn(&mut Vec<u8>)) -> Bed {
    let bed = Bed::new(1 << 20);
    let (store, _) = bed.open();
    three_taken(&store);
    if commits {
        store.commit(&Change::default()).expect("committed");
    }
    drop(store);
    let mut bytes = fs::read(bed.log(1)).expect("read");
    damage(&mut bytes);
    fs::write(bed.log(1), bytes).expect("written");
    bed
}

#[test]
fn an_altered_last_batch_is_damage_and_stays_told() {
    for commits in [false, true] {
        for back in [1, 150, 250] {
            let bed = damaged_end(commits, |bytes| {
                let at = bytes.len() - back;
                bytes[at] ^= 1;
            });
            is_told_until_it_is_forgotten(&bed, "DAMAGED: 256 bytes in one place");
            // The file stays unchanged, for an examination.
            let (_, recovery) = bed.open();
            let replayed = frames(&recovery.tables[&table("t")]);
            assert_eq!(replayed, [1, 2, 100, 101, 102, 110].map(rows));
        }
    }
}

#[test]
fn zeros_for_the_last_batch_are_damage_and_stay_told() {
    for commits in [false, true] {
        let bed = damaged_end(commits, |bytes| {
            let from = bytes.len() - 256;
            bytes[from..].fill(0);
        });
        is_told_until_it_is_forgotten(&bed, "DAMAGED: 256 bytes in one place");
    }
}

#[test]
fn an_end_that_is_cut_is_damage_where_it_was_known_to_be_durable() {
    for cut in [1, 100, 230, 256, 300] {
        let cut_off = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - cut);
        is_told_until_it_is_forgotten(
            &damaged_end(true, cut_off),
            "in one place of log/00000001.log",
        );
        // Otherwise it looks like an interrupted write.
        assert_eq!(damaged_end(false, cut_off).list(), [""; 0], "{cut}");
    }
}

#[test]
fn an_end_that_was_begun_and_never_acknowledged_is_no_loss() {
    let bed = damaged_end(true, |_| {});
    let total_loss = fs::read(bed.log(1)).expect("read");
    let (store, _) = bed.open();
    taken(&store, 4);
    drop(store);
    let longer = fs::read(bed.log(1)).expect("read");
    for end in total_loss.len()..longer.len() {
        fs::write(bed.log(1), &longer[..end]).expect("written");
        assert_eq!(bed.list(), [""; 0], "{end}");
    }
}

#[test]
fn batches_that_are_consumed_are_missed_by_nobody() {
    let bed = Bed::new(1 << 20);
    let (store, _) = bed.open();
    let consumed = three_taken(&store);
    store.commit(&Change { consumed, ..Change::default() }).expect("committed");
    drop(store);
    let mut bytes = fs::read(bed.log(1)).expect("read");
    let length = bytes.len();
    for at in [length / 2, length - 1] {
        bytes[at] ^= 1;
        fs::write(bed.log(1), &bytes).expect("written");
        assert_eq!(bed.list(), [""; 0]);
    }
}

#[test]
fn a_folder_that_was_known_and_has_nothing_is_a_loss_itself() {
    let bed = Bed::new(1 << 20);
    let config = Config { expects_data: true, ..bed.config() };
    drop(Store::open(&config).expect("opened"));
    is_told_until_it_is_forgotten(&bed, "LOST: its folder was missing or empty");
}

#[test]
fn no_crash_on_the_way_forgets_a_loss() {
    use crate::disk::simulated::World;
    for power in 0..60 {
        let world = World::new(power);
        let sizes = Sizes { log_file_bytes: 100, ..Sizes::default() };
        let (store, _) = Store::open_on(&world.folders(), sizes).expect("opened");
        three_taken(&store);
        drop(store);
        world.folders().log.remove("00000002.log").expect("removed");
        world.folders().log.sync_folder().expect("synced");
        world.machine().power = Some(power);
        if let Ok((store, _)) = Store::open_on(&world.folders(), sizes) {
            drop(store.commit(&Change::default()));
            drop(store);
        }
        world.crash();
        let (store, _) = Store::open_on(&world.folders(), sizes).expect("opened");
        assert_eq!(store.losses().len(), 1, "power for {power} operations");
    }
}
