//! A disk that forgets unsynced bytes, tears writes, counts, fills up and fails on demand.
//!
//! Append-only files are in memory, each with its durable bytes and its present bytes. When the
//! power fails, the unsynced end of a file survives sector by sector, by chance. Of the folder's
//! unsynced changes a prefix survives. Segment files are real files in a separate folder, because
//! they are mapped; their unsynced ranges are spoiled by chance.

#![expect(clippy::expect_used, reason = "for tests only, which may fail")]
#![cfg_attr(not(test), expect(dead_code, reason = "the tests of other crates use some of it only"))]

mod files;
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::sync::Arc;

use hadal_types::MemoryPool;
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::io::Errno;
use tempfile::TempDir;

use super::{AppendFile, Disk, FileIdentity, Folder, SegmentFile};
use crate::folders::{Folders, Memory};
use crate::options::AfterCrash;
use files::{SimulatedFile, SimulatedSegment};
pub(crate) use random::Random;

const SECTOR: usize = 512;
/// The folder that is lost with the power.
const MEMORY: &str = "memory";

#[derive(Debug, Default)]
struct Content {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// For a segment file: the ranges that were written since the last sync.
    unsynced: Vec<Range<u64>>,
    /// The bytes from its beginning on that are allocated, even beyond the file's end.
    aside: usize,
    /// Allocated bytes that were given back since.
    holes: BTreeSet<usize>,
}

impl Content {
    /// Bytes of the disk that it takes.
    fn held(&self) -> usize {
        self.now.len().max(self.aside) - self.holes.len()
    }
}

#[derive(Clone, Debug)]
enum Renaming {
    Put(String, usize),
    Gone(String),
}

#[derive(Debug, Default)]
struct Names {
    now: BTreeMap<String, usize>,
    durable: BTreeMap<String, usize>,
    unsynced: Vec<Renaming>,
}

fn rename(names: &mut BTreeMap<String, usize>, change: &Renaming) {
    match change {
        Renaming::Put(name, file) => drop(names.insert(name.clone(), *file)),
        Renaming::Gone(name) => drop(names.remove(name)),
    }
}

fn size(length: u64) -> usize {
    usize::try_from(length).expect("a short file")
}

/// The state of the simulated machine.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) random: Random,
    folders: BTreeMap<&'static str, Names>,
    files: Vec<Content>,
    /// Operations until the power fails.
    pub(crate) power: Option<u64>,
    pub(crate) is_down: bool,
    /// Bytes until the disk is full.
    pub(crate) free_bytes: Option<usize>,
    /// Bytes that blocks may take in memory.
    pub(crate) memory_bytes_max: usize,
    pub(crate) fails_sync: bool,
    pub(crate) holds_sync: bool,
    /// The number of syncs that wait now.
    held_syncs: usize,
    /// Whether reads of a segment file beyond its header wait.
    holds_reads: bool,
    /// The number of reads that wait now.
    held_reads: usize,
    /// Syncs of append-only files.
    pub(crate) syncs: u64,
    segments: Folder,
}

/// A simulated machine with one store's folders.
#[derive(Clone, Debug)]
pub struct World {
    machine: Arc<Mutex<Machine>>,
    changed: Arc<Condvar>,
    _scratch: Arc<TempDir>,
}

impl World {
    /// A machine with an empty disk. Chance depends on the seed only.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let scratch = TempDir::new().expect("a folder");
        let machine = Machine {
            random: Random::new(seed),
            folders: BTreeMap::new(),
            files: Vec::new(),
            power: None,
            is_down: false,
            free_bytes: None,
            memory_bytes_max: usize::MAX,
            fails_sync: false,
            holds_sync: false,
            held_syncs: 0,
            holds_reads: false,
            held_reads: 0,
            syncs: 0,
            segments: Folder::open_locked(scratch.path()).expect("a folder"),
        };
        let machine = Arc::new(Mutex::new(machine));
        Self { machine, changed: Arc::default(), _scratch: Arc::new(scratch) }
    }

    /// The folders of a store that is read from disk.
    #[must_use]
    pub fn folders(&self) -> Folders {
        let folder = |name| Arc::new(SimulatedFolder { world: self.clone(), name });
        Folders {
            root: folder("root"),
            log: folder("log"),
            segments: folder("segments"),
            memory: None,
            memory_refused: None,
        }
    }

    /// The same, with memory for segments: it outlives the process, but not the power.
    #[must_use]
    pub fn folders_with_memory(&self) -> Folders {
        let folder = Arc::new(SimulatedFolder { world: self.clone(), name: MEMORY });
        let budget = MemoryPool::new(self.machine().memory_bytes_max);
        Folders {
            memory: Some(Memory { folder, budget, after_crash: AfterCrash::Memory }),
            ..self.folders()
        }
    }

    pub(crate) fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock()
    }

    /// Makes the power fail at the operation with this number from now on; 1 is the next.
    pub fn fail_at(&self, operation: u64) {
        self.machine().power = Some(operation);
    }

    /// Whether the power has failed: every operation fails until [`Self::crash`] or [`Self::kill`].
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.machine().is_down
    }

    /// Sets whether syncs of append-only files fail from now on.
    pub fn fail_syncs(&self, fails: bool) {
        self.machine().fails_sync = fails;
    }

    /// Sets whether syncs of append-only files wait from now on.
    pub fn hold_syncs(&self, holds: bool) {
        self.machine().holds_sync = holds;
        self.changed.notify_all();
    }

    /// Whether a sync waits because syncs are held.
    #[must_use]
    pub fn is_sync_held(&self) -> bool {
        self.machine().held_syncs > 0
    }

    /// Sets whether reads of segment files beyond their headers wait from now on.
    pub fn hold_reads(&self, holds: bool) {
        self.machine().holds_reads = holds;
        self.changed.notify_all();
    }

    /// Whether a read waits because reads are held.
    #[must_use]
    pub fn is_read_held(&self) -> bool {
        self.machine().held_reads > 0
    }

    /// The power fails, if it has not yet, and comes back.
    pub fn crash(&self) {
        self.machine().crash();
    }

    /// The process ends, and the machine continues: no written byte is lost.
    pub fn kill(&self) {
        self.machine().restart();
    }

    /// The bytes of an append-only file.
    pub(crate) fn bytes(&self, folder: &'static str, name: &str) -> Vec<u8> {
        let machine = self.machine();
        machine.files[machine.folders[folder].now[name]].now.clone()
    }

    /// Alters an append-only file, durably.
    pub(crate) fn set_bytes(&self, folder: &'static str, name: &str, bytes: Vec<u8>) {
        let mut machine = self.machine();
        let file = machine.folders[folder].now[name];
        let (now, durable) = (bytes.clone(), bytes);
        machine.files[file] = Content { now, durable, ..Content::default() };
    }

    /// The names in a folder, in order.
    pub(crate) fn names(&self, folder: &'static str) -> Vec<String> {
        self.machine().names(folder).now.keys().cloned().collect()
    }
}

impl Machine {
    fn names(&mut self, folder: &'static str) -> &mut Names {
        self.folders.entry(folder).or_default()
    }

    /// Counts an operation. `Err` if the power is off; `Ok(false)` if it fails just now.
    fn operate(&mut self) -> io::Result<bool> {
        if self.is_down {
            return Err(io::Error::other("the power is off"));
        }
        let Some(left) = &mut self.power else { return Ok(true) };
        *left = left.saturating_sub(1);
        self.is_down = *left == 0;
        Ok(!self.is_down)
    }

    /// Does something atomic: if the power fails just now, all of it happens or nothing.
    fn operate_whole(&mut self, act: impl FnOnce(&mut Self)) -> io::Result<()> {
        let is_up = self.operate()?;
        if is_up || self.random.flip() {
            act(self);
        }
        if is_up { Ok(()) } else { Err(io::Error::other("the power failed")) }
    }

    fn change(&mut self, folder: &'static str, changes: Vec<Renaming>) -> io::Result<()> {
        self.operate_whole(|machine| {
            let names = machine.names(folder);
            for change in changes {
                rename(&mut names.now, &change);
                names.unsynced.push(change);
            }
        })
    }

    fn find(&mut self, folder: &'static str, name: &str) -> io::Result<usize> {
        let file = self.names(folder).now.get(name).copied();
        file.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn make(&mut self, folder: &'static str, name: &str) -> io::Result<usize> {
        if self.find(folder, name).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.files.push(Content::default());
        let file = self.files.len() - 1;
        self.change(folder, vec![Renaming::Put(name.to_owned(), file)])?;
        Ok(file)
    }

    /// The number of `length` bytes that fit on the disk, and the error if not all do.
    fn fit(&mut self, length: usize) -> (usize, io::Result<()>) {
        let fits = self.free_bytes.map_or(length, |free_bytes| free_bytes.min(length));
        self.free_bytes = self.free_bytes.map(|free_bytes| free_bytes - fits);
        let full = || io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error());
        (fits, if fits == length { Ok(()) } else { Err(full()) })
    }

    /// Allocates disk for an append-only file up to `end`. Returns the end of the allocation, and
    /// the error if that is less.
    fn grow(&mut self, file: usize, end: usize) -> (usize, io::Result<()>) {
        let content = &self.files[file];
        let held = content.now.len().max(content.aside);
        let (fits, result) = self.fit(end.saturating_sub(held));
        (end.min(held + fits), result)
    }

    /// Counts the disk that a file gave back.
    fn shrunk(&mut self, file: usize, held_before: usize) {
        let given_back = held_before - self.files[file].held();
        self.free_bytes = self.free_bytes.map(|free_bytes| free_bytes + given_back);
    }

    fn crash(&mut self) {
        for file in &mut self.files {
            file.now = survivors(&mut self.random, &file.durable, &file.now);
            file.durable.clone_from(&file.now);
        }
        for (id, file) in self.files.iter_mut().enumerate() {
            if !file.unsynced.is_empty() {
                let segment = self.segments.open_segment(&id.to_string()).expect("a segment");
                for range in std::mem::take(&mut file.unsynced) {
                    spoil(&mut self.random, &*segment, range);
                }
            }
        }
        for names in self.folders.values_mut() {
            let kept = self.random.below(names.unsynced.len() + 1);
            for change in names.unsynced.drain(..).take(kept) {
                rename(&mut names.durable, &change);
            }
            names.now.clone_from(&names.durable);
        }
        self.folders.remove(MEMORY);
        self.restart();
    }

    fn restart(&mut self) {
        self.is_down = false;
        self.power = None;
        self.free_bytes = None;
    }
}

/// The content of a file after a power failure: any length in between, any sector old or new.
fn survivors(random: &mut Random, durable: &[u8], now: &[u8]) -> Vec<u8> {
    let (short, long) = (durable.len().min(now.len()), durable.len().max(now.len()));
    let mut left = vec![0; short + random.below(long - short + 1)];
    for (at, sector) in left.chunks_mut(SECTOR).enumerate() {
        let source = if random.flip() { now } else { durable };
        let old = source.get(at * SECTOR..).unwrap_or_default();
        let length = old.len().min(sector.len());
        sector[..length].copy_from_slice(&old[..length]);
    }
    left
}

fn spoil(random: &mut Random, segment: &dyn SegmentFile, range: Range<u64>) {
    let mut at = range.start;
    while at < range.end {
        let length = (range.end - at).min(SECTOR as u64);
        if random.flip() {
            segment.write(at, &vec![0xA5; size(length)]).expect("spoiled");
        }
        at += length;
    }
}

#[derive(Debug)]
struct SimulatedFolder {
    world: World,
    name: &'static str,
}

impl SimulatedFolder {
    fn appended(&self, file: usize) -> Box<dyn AppendFile> {
        Box::new(SimulatedFile { world: self.world.clone(), file })
    }

    fn segment(&self, file: usize, real: Box<dyn SegmentFile>) -> Box<dyn SegmentFile> {
        Box::new(SimulatedSegment { world: self.world.clone(), file, real })
    }
}

impl Disk for SimulatedFolder {
    fn path_of(&self, name: &str) -> String {
        format!("{}/{name}", self.name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut machine = self.world.machine();
        machine.operate()?;
        Ok(machine.names(self.name).now.keys().cloned().collect())
    }

    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut machine = self.world.machine();
        machine.operate()?;
        let file = machine.find(self.name, name)?;
        let bytes = &machine.files[file].now;
        if bytes.len() as u64 > bytes_max {
            return Err(io::Error::other("it is too large"));
        }
        Ok(bytes.clone())
    }

    fn identity(&self, name: &str) -> io::Result<FileIdentity> {
        self.open_segment(name)?.identity()
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn AppendFile>> {
        self.world.machine().make(self.name, name).map(|file| self.appended(file))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn AppendFile>> {
        self.world.machine().find(self.name, name).map(|file| self.appended(file))
    }

    fn create_segment(&self, name: &str, length: u64) -> io::Result<Box<dyn SegmentFile>> {
        let mut machine = self.world.machine();
        let (id, made) = (machine.files.len(), machine.make(self.name, name));
        // If the power fails just now, the name may exist, and then the file does, too.
        let real = machine.segments.create_segment(&id.to_string(), length);
        let file = made?;
        Ok(self.segment(file, real?))
    }

    fn open_segment(&self, name: &str) -> io::Result<Box<dyn SegmentFile>> {
        let mut machine = self.world.machine();
        let file = machine.find(self.name, name)?;
        let real = machine.segments.open_segment(&file.to_string())?;
        Ok(self.segment(file, real))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut machine = self.world.machine();
        let file = machine.find(self.name, from)?;
        let changes = vec![Renaming::Gone(from.to_owned()), Renaming::Put(to.to_owned(), file)];
        machine.change(self.name, changes)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut machine = self.world.machine();
        let file = machine.find(self.name, name)?;
        machine.change(self.name, vec![Renaming::Gone(name.to_owned())])?;
        let held = machine.files[file].held();
        machine.free_bytes = machine.free_bytes.map(|free_bytes| free_bytes + held);
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.world.machine().operate_whole(|machine| {
            let names = machine.names(self.name);
            names.unsynced.clear();
            names.durable.clone_from(&names.now);
        })
    }

    fn unlock(&self) -> io::Result<()> {
        Ok(())
    }
}
