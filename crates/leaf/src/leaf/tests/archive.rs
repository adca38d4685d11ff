//! Archiving: which rows, when, and that each row is in exactly one place, whatever fails.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;

use hadal_block::Values;
use hadal_types::{AgeLimit, TableSettings};

use super::recompress::{DAY, aged, configure, settle, table};
use super::waiting::Stopping;
use super::*;
use crate::{ArchiveError, ArchivePart};

/// Rows of a day's block.
const ROWS: i64 = 5_000;
/// The file that a leaf's folder has during a pass.
const NOTE: &str = "archiving";

/// An archive that keeps the values of `v`, file by file.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    files: Mutex<BTreeMap<String, Vec<i64>>>,
    writes: AtomicUsize,
    /// Runs at one write, chosen by its number: before the file exists, or after.
    hook: Option<Hook>,
    fails_to_remove: AtomicBool,
    /// A source and a target path, copied at each write.
    copied: Mutex<Option<(PathBuf, PathBuf)>>,
}

type Step = (usize, When);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Before,
    After,
}

#[derive(Debug)]
enum Hook {
    /// The archive fails at this step.
    Fail(Step),
    /// The folder and the archive's files are copied at this step, as a crash would leave them.
    Copy { step: Step, from: PathBuf, to: PathBuf, files: Mutex<BTreeMap<String, Vec<i64>>> },
    /// Nothing is written until the leaf stops.
    Wait,
}

impl Shelf {
    fn with(hook: Hook) -> Arc<Self> {
        Arc::new(Self { hook: Some(hook), ..Self::default() })
    }

    /// All values in its files, sorted.
    pub(super) fn values(&self) -> Vec<i64> {
        let mut values: Vec<i64> = self.files.lock().values().flatten().copied().collect();
        values.sort_unstable();
        values
    }

    /// The days of its files.
    fn days(&self) -> Vec<String> {
        let day = |path: &String| path.split('/').nth(1).unwrap_or_default().to_owned();
        self.files.lock().keys().map(day).collect()
    }

    fn step(&self, path: &str, now: Step) -> Result<(), ArchiveError> {
        match &self.hook {
            Some(Hook::Fail(step)) if *step == now => Err(ArchiveError {
                action: "write",
                path: path.to_owned(),
                reason: "it is full".to_owned(),
            }),
            Some(Hook::Copy { step, from, to, files }) if *step == now => {
                copy(from, to);
                files.lock().clone_from(&self.files.lock());
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Archive for Shelf {
    fn write(
        &self,
        path: &str,
        parts: &[ArchivePart<'_>],
        is_stopping: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), ArchiveError> {
        if matches!(self.hook, Some(Hook::Wait)) {
            while !is_stopping() {
                std::thread::yield_now();
            }
            let reason = "it stops".to_owned();
            return Err(ArchiveError { action: "write", path: path.to_owned(), reason });
        }
        if let Some((from, to)) = &*self.copied.lock() {
            fs::copy(from, to).expect("copied");
        }
        let number = self.writes.fetch_add(1, Ordering::SeqCst);
        self.step(path, (number, When::Before))?;
        let before =
            self.files.lock().insert(path.to_owned(), parts.iter().flat_map(rows).collect());
        assert_eq!(before, None, "{path} is written once");
        self.step(path, (number, When::After))
    }

    fn remove(&self, path: &str) -> Result<(), ArchiveError> {
        if self.fails_to_remove.load(Ordering::SeqCst) {
            let reason = "it is far away".to_owned();
            return Err(ArchiveError { action: "remove", path: path.to_owned(), reason });
        }
        self.files.lock().remove(path);
        Ok(())
    }
}

/// The values of `v` in a part.
fn rows(part: &ArchivePart<'_>) -> Vec<i64> {
    let decimals = |name: &str| {
        let column =
            part.block.column(name, Kind::Number).expect("there").decode().expect("decodes");
        match column.values {
            Values::Decimals { mantissas, .. } => mantissas,
            other => panic!("no decimals but {other:?}"),
        }
    };
    let rows = decimals("time").into_iter().zip(decimals("v"));
    let within = |(time, _): &(i64, i64)| (part.from..part.until).contains(&Micros(*time));
    rows.filter(within).map(|(_, v)| v).collect()
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("read") {
        let entry = entry.expect("read");
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).expect("copied")),
        }
    }
}

fn open_with_archive(folder: Option<&Path>, archive: &Arc<Shelf>) -> Bed {
    let clock = Arc::new(FixedClock::new(NOW));
    let config = LeafConfig {
        archive: Some(Arc::<Shelf>::clone(archive)),
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        ..config(folder)
    };
    Bed { clock, leaf: Leaf::open(config).expect("opens") }
}

pub(super) fn archived(days: i64) -> TableSettings {
    let age = Some(AgeLimit::Seconds(days * DAY));
    TableSettings { age, archive: Some(true), ..TableSettings::default() }
}

/// The values of the blocks of these days before `NOW`.
fn of_days(days: std::ops::RangeInclusive<i64>) -> Vec<i64> {
    (days.start() * ROWS..(days.end() + 1) * ROWS).collect()
}

/// Archives all rows that are too old, with retries. After a start with unchanged settings, ages
/// are first checked fifteen minutes later.
async fn archive_days(bed: &Bed, days: i64) {
    configure(&bed.leaf, archived(days)).await;
    bed.leaf.merge_all();
    while !bed.leaf.archive_all() {
        bed.clock.pass(60);
    }
}

#[tokio::test]
async fn whole_days_go_to_the_archive_and_then_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let shelf = Arc::default();
    let bed = settle(open_with_archive(Some(folder.path()), &shelf), 5).await;
    archive_days(&bed, 2).await;
    // The date is the 14th. Some rows of the second day before are old enough, but not all of that
    // day.
    assert_eq!(shelf.days(), ["2023-11-09", "2023-11-10", "2023-11-11"]);
    assert_eq!(shelf.values(), of_days(3..=5));
    let (kept, partial) = values(&bed.leaf).await;
    assert_eq!(kept, of_days(1..=2));
    assert_eq!(partial.warnings.iter().count(), 0, "it was asked for");
    let forecast = bed.leaf.status(&StatusScope::All).await.leaves[0].tables[&name("t")]
        .expiry
        .expect("a limit");
    assert_eq!((forecast.until.to_string().as_str(), forecast.rows), ("2023-11-12T00:00:00Z", 0));
    assert!(!folder.path().join(NOTE).exists());
    assert!(bed.leaf.archive_all(), "there is nothing left to do");
    assert_eq!(shelf.files.lock().len(), 3);
    drop(bed);
    let bed = open_with_archive(Some(folder.path()), &shelf);
    assert_eq!(values(&bed.leaf).await.0, of_days(1..=2));
    archive_days(&bed, 1).await;
    assert_eq!(shelf.values(), of_days(2..=5));
}

#[tokio::test]
async fn a_block_of_several_days_is_parted() {
    let shelf = Arc::default();
    let bed = open_with_archive(None, &shelf);
    // Begins at 22:13:20 of the 11th, so that the last 3,600 rows are of the 12th.
    bed.leaf.accept(aged("b", 3 * DAY, 0, 10_000, false)).await.expect("taken");
    bed.clock.pass(700);
    bed.leaf.merge_all();
    let midnight = 6_400;
    archive_days(&bed, 2).await;
    assert_eq!(shelf.days(), ["2023-11-11"]);
    assert_eq!(shelf.values(), (0..midnight).collect::<Vec<_>>());
    assert_eq!(values(&bed.leaf).await.0, (midnight..10_000).collect::<Vec<_>>());
    archive_days(&bed, 1).await;
    assert_eq!(shelf.days(), ["2023-11-11", "2023-11-12"]);
    assert_eq!(shelf.values(), (0..10_000).collect::<Vec<_>>());
    assert!(values(&bed.leaf).await.0.is_empty());
}

#[tokio::test]
async fn what_stays_of_a_block_and_cannot_be_read_replaces_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = settle(open_with_archive(Some(folder.path()), &Arc::default()), 3).await;
    configure(&bed.leaf, archived(2)).await;
    bed.leaf.merge_all();
    let path = folder.path().join("segments/00000001.segment");
    let before = fs::read(&path).expect("read");
    let (table, job) = (table(&bed), bed.leaf.archive_job());
    let mut pass = job.plan_pass(&table).expect("a day is old enough");
    let old = Arc::clone(&pass.blocks[0]);
    // As if its other rows were of the next day: merges no longer make such a block.
    pass.until = Micros(NOW.0 + (ROWS / 2 - 3 * DAY) * Micros::SECOND);
    let leaving = [job.verify_for_archive(&table, &old).expect("sound")];
    let rest = job.write_remainder(&pass, &leaving).expect("written");
    // Damages the block that was just written.
    let after = fs::read(&path).expect("read");
    let written = before.iter().zip(&after).position(|(before, after)| before != after);
    let file = fs::File::options().write(true).open(&path).expect("opened");
    file.write_all_at(&[0; 64], written.expect("a block") as u64).expect("written");
    assert!(job.drop_archived(&pass, rest).is_err());
    assert!(job.context.store.has_block(old.number().expect("of a segment")));
    assert_eq!(values(&bed.leaf).await.0, of_days(1..=3));
}

#[tokio::test]
async fn an_archive_that_fails_has_each_row_once_in_the_end() {
    for number in 0..3 {
        for when in [When::Before, When::After] {
            let folder = tempfile::tempdir().expect("a folder");
            let shelf = Shelf::with(Hook::Fail((number, when)));
            let bed = settle(open_with_archive(Some(folder.path()), &shelf), 5).await;
            archive_days(&bed, 2).await;
            assert_eq!(shelf.values(), of_days(3..=5), "{number} {when:?}");
            assert_eq!(values(&bed.leaf).await.0, of_days(1..=2), "{number} {when:?}");
            assert!(!folder.path().join(NOTE).exists());
        }
    }
}

#[tokio::test]
async fn why_an_archive_fails_is_told_until_it_does_no_more() {
    let shelf = Shelf::with(Hook::Fail((0, When::Before)));
    let bed = settle(open_with_archive(None, &shelf), 3).await;
    let archive_error = async || {
        let status = bed.leaf.status(&StatusScope::All).await;
        status.leaves[0].tables[&name("t")].archive_error.clone()
    };
    assert_eq!(archive_error().await, None);
    configure(&bed.leaf, archived(2)).await;
    bed.leaf.merge_all();
    assert!(!bed.leaf.archive_all());
    let error = archive_error().await.expect("an error");
    assert!(error.starts_with("write t/2023-11-11/") && error.ends_with(": it is full"), "{error}");
    assert!(bed.leaf.archive_all());
    assert_eq!(archive_error().await, None);
}

/// A leaf with due rows, and an archive that fails after its second file and removes no file.
async fn about_to_fail(folder: &Path) -> (Bed, Arc<Shelf>) {
    let shelf = Shelf::with(Hook::Fail((1, When::After)));
    shelf.fails_to_remove.store(true, Ordering::SeqCst);
    let bed = settle(open_with_archive(Some(folder), &shelf), 5).await;
    configure(&bed.leaf, archived(2)).await;
    bed.leaf.merge_all();
    (bed, shelf)
}

#[tokio::test]
async fn what_failed_and_cannot_be_removed_stays_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (bed, shelf) = about_to_fail(folder.path()).await;
    for _ in 0..3 {
        assert!(!bed.leaf.archive_all());
        assert_eq!(shelf.files.lock().len(), 2, "nothing is written before these are gone");
        assert_eq!(values(&bed.leaf).await.0, of_days(1..=5), "rows stay");
    }
    drop(bed);
    let bed = open_with_archive(Some(folder.path()), &shelf);
    assert!(folder.path().join(NOTE).exists());
    shelf.fails_to_remove.store(false, Ordering::SeqCst);
    bed.clock.pass(900);
    archive_days(&bed, 2).await;
    assert_eq!(shelf.values(), of_days(3..=5));
    assert_eq!(values(&bed.leaf).await.0, of_days(1..=2));
}

#[tokio::test]
async fn a_crash_at_any_step_leaves_each_row_in_one_place_in_the_end() {
    for number in 0..3 {
        for when in [When::Before, When::After] {
            let (folder, other) = (tempfile::tempdir(), tempfile::tempdir());
            let (folder, other) = (folder.expect("a folder"), other.expect("a folder"));
            let to = other.path().join("copy");
            let (step, from) = ((number, when), folder.path().to_path_buf());
            let files = Mutex::default();
            let shelf = Shelf::with(Hook::Copy { step, from, to: to.clone(), files });
            let bed = settle(open_with_archive(Some(folder.path()), &shelf), 5).await;
            archive_days(&bed, 2).await;
            drop(bed);
            let Some(Hook::Copy { files, .. }) = &shelf.hook else { panic!("it is that") };
            let copied = files.lock().clone();
            assert_eq!(copied.len(), number + usize::from(when == When::After));
            let after = Arc::new(Shelf { files: Mutex::new(copied), ..Shelf::default() });
            let bed = open_with_archive(Some(&to), &after);
            assert_eq!(values(&bed.leaf).await.0, of_days(1..=5), "{number} {when:?}");
            bed.clock.pass(900);
            archive_days(&bed, 2).await;
            assert_eq!(after.values(), of_days(3..=5), "{number} {when:?}");
            assert_eq!(values(&bed.leaf).await.0, of_days(1..=2), "{number} {when:?}");
            assert!(!to.join(NOTE).exists());
        }
    }
}

#[tokio::test]
async fn a_crash_after_the_change_keeps_the_files() {
    let (folder, other) = (tempfile::tempdir(), tempfile::tempdir());
    let (folder, other) = (folder.expect("a folder"), other.expect("a folder"));
    let (step, from) = ((2, When::After), folder.path().to_path_buf());
    let to = other.path().join("copy");
    let shelf = Shelf::with(Hook::Copy { step, from, to: to.clone(), files: Mutex::default() });
    let bed = settle(open_with_archive(Some(folder.path()), &shelf), 5).await;
    archive_days(&bed, 2).await;
    drop(bed);
    fs::copy(to.join(NOTE), folder.path().join(NOTE)).expect("copied");
    let bed = open_with_archive(Some(folder.path()), &shelf);
    assert!(!folder.path().join(NOTE).exists(), "it is known what became of it");
    assert!(bed.leaf.archive_all());
    assert_eq!(shelf.values(), of_days(3..=5));
    assert_eq!(values(&bed.leaf).await.0, of_days(1..=2));
}

#[tokio::test]
async fn who_stops_does_not_wait_for_the_archive() {
    let folder = tempfile::tempdir().expect("a folder");
    let shelf = Shelf::with(Hook::Wait);
    let bed = settle(open_with_archive(Some(folder.path()), &shelf), 3).await;
    configure(&bed.leaf, archived(1)).await;
    bed.leaf.merge_all();
    std::thread::scope(|scope| {
        let archiving = scope.spawn(|| bed.leaf.archive_all());
        // Without it, the thread would archive forever if the test fails before it stops the leaf.
        let _stopping = Stopping(&bed.leaf);
        wait_until("the pass is noted", || folder.path().join(NOTE).exists());
        bed.leaf.stop().expect("stops");
        assert!(!archiving.join().expect("ends"));
    });
    drop(bed);
    let shelf = Arc::default();
    let bed = open_with_archive(Some(folder.path()), &shelf);
    assert_eq!(values(&bed.leaf).await.0, of_days(1..=3));
    bed.clock.pass(900);
    archive_days(&bed, 1).await;
    assert_eq!(shelf.values(), of_days(2..=3));
}

#[tokio::test]
async fn a_table_that_is_too_large_loses_its_oldest_rows_to_the_archive() {
    let shelf = Arc::default();
    let bed = settle(open_with_archive(None, &shelf), 5).await;
    let bytes = table(&bed).bytes();
    let settings = TableSettings { bytes: Some(bytes - 1), ..archived(30) };
    configure(&bed.leaf, settings).await;
    bed.leaf.merge_all();
    assert_eq!(values(&bed.leaf).await.0, of_days(1..=5), "they do not go before");
    assert!(bed.leaf.archive_all());
    assert_eq!(shelf.values(), of_days(5..=5), "a fifth is more than a tenth");
    let (kept, partial) = values(&bed.leaf).await;
    assert_eq!(kept, of_days(1..=4));
    assert_eq!(partial.warnings.iter().count(), 1, "nobody asked for it: {:?}", partial.warnings);
}

#[tokio::test]
async fn without_an_archive_rows_stay() {
    let bed = settle(open(None), 3).await;
    configure(&bed.leaf, archived(1)).await;
    bed.leaf.merge_all();
    assert!(bed.leaf.archive_all());
    assert_eq!(values(&bed.leaf).await.0, of_days(1..=3));
}

/// Alters the note of a folder.
fn alter_note(folder: &Path, alter: impl FnOnce(String) -> String) {
    let note = folder.join(NOTE);
    fs::write(&note, alter(fs::read_to_string(&note).expect("read"))).expect("written");
}

#[tokio::test]
async fn a_damaged_note_stops_the_archive_and_nothing_else() {
    type Alter = fn(String) -> String;
    let other_block: Alter = |note| {
        // No block of the leaf has any of these numbers.
        let digit = |line: &str| match line.strip_prefix("block ") {
            Some(number) => format!("block 9{number}\n"),
            None => format!("{line}\n"),
        };
        note.lines().map(digit).collect()
    };
    let other_file: Alter = |note| note.replacen("leaf", "leap", 1);
    for alter in [other_block, other_file, |_| "nonsense".to_owned()] {
        let folder = tempfile::tempdir().expect("a folder");
        let (bed, shelf) = about_to_fail(folder.path()).await;
        let (note, kept) = (folder.path().join(NOTE), folder.path().join("kept"));
        // As a crash would leave it: before the note says that the pass failed.
        *shelf.copied.lock() = Some((note.clone(), kept.clone()));
        assert!(!bed.leaf.archive_all());
        *shelf.copied.lock() = None;
        drop(bed);
        fs::rename(&kept, &note).expect("it was copied");
        alter_note(folder.path(), alter);
        shelf.fails_to_remove.store(false, Ordering::SeqCst);
        let files = shelf.files.lock().clone();
        assert_eq!(files.len(), 2);
        let bed = open_with_archive(Some(folder.path()), &shelf);
        bed.clock.pass(900);
        configure(&bed.leaf, archived(2)).await;
        bed.leaf.merge_all();
        assert!(!bed.leaf.archive_all());
        assert_eq!(*shelf.files.lock(), files, "nothing is written, and nothing removed");
        assert_eq!(values(&bed.leaf).await.0, of_days(1..=5), "rows stay");
        let status = bed.leaf.status(&StatusScope::All).await;
        let error = status.leaves[0].tables[&name("t")].archive_error.clone().expect("an error");
        let aside = folder.path().join("archiving.damaged");
        assert!(error.starts_with(&format!("{} was a note", aside.display())), "{error}");
        drop(bed);
        // The next process reports it too, and a person removes it.
        let bed = open_with_archive(Some(folder.path()), &shelf);
        bed.clock.pass(900);
        assert!(!bed.leaf.archive_all());
        shelf.files.lock().clear();
        fs::remove_file(aside).expect("it was put aside");
        archive_days(&bed, 2).await;
        assert_eq!(shelf.values(), of_days(3..=5));
        assert_eq!(values(&bed.leaf).await.0, of_days(1..=2));
    }
}
