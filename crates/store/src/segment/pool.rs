//! The segment files of one store: allocation, writing, freeing.
//!
//! A block takes the first free range that holds it; if there is none, a new segment is made. The
//! layout is in `spec/segments.md`. The manifest, not this file, decides which blocks count.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hadal_types::MemoryPool;
use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use super::file::Segment;
use super::free_ranges::FreeRanges;
use super::layout::BlockLocation;
use super::layout::{PAGE, file_name, header, paged};
use super::{BlockBytes, FileExtent, checked_length};
use crate::disk::{Disk, SegmentFile};
use crate::error::Error;
use crate::folders::Folders;

#[derive(Debug)]
pub(super) struct SegmentEntry {
    pub(super) segment: Arc<Segment>,
    pub(super) free: FreeRanges,
    /// Ranges of dropped blocks: their memory is given back, their disk is not yet.
    given_up: FreeRanges,
}

impl SegmentEntry {
    pub(super) fn new(segment: Arc<Segment>, free: FreeRanges) -> Self {
        Self { segment, free, given_up: FreeRanges::default() }
    }

    /// An entry for existing files in which no range is taken yet.
    pub(super) fn of_file(
        number: u32,
        file: Box<dyn SegmentFile>,
        memory: Option<Box<dyn SegmentFile>>,
        is_memory_old: bool,
    ) -> Self {
        let free = FreeRanges::new(PAGE, file.length() - PAGE);
        let memory = memory.map_or_else(OnceLock::new, OnceLock::from);
        let (is_dirty, readahead) = (AtomicBool::new(false), Mutex::default());
        let segment = Segment { number, file, memory, is_memory_old, is_dirty, readahead };
        Self::new(Arc::new(segment), free)
    }

    /// Whether no range is taken.
    pub(super) fn is_empty(&self) -> bool {
        self.free.is_only(PAGE, self.segment.file.length() - PAGE)
    }

    /// Whether all taken ranges were given up.
    fn is_given_up(&self) -> bool {
        let mut all = self.free.clone();
        self.given_up.iter().for_each(|(offset, length)| all.give(offset, length));
        all.is_only(PAGE, self.segment.file.length() - PAGE)
    }
}

#[derive(Debug, Default)]
pub(super) struct SegmentTable {
    pub(super) segments: BTreeMap<u32, SegmentEntry>,
    pub(super) next_number: u32,
    pub(super) is_folder_dirty: bool,
}

/// The segment files of one store.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Keeps the leaf's folder locked as long as any block bytes live.
    pub(super) folders: Folders,
    pub(super) salt: u64,
    pub(super) segment_bytes: u64,
    pub(super) table: Mutex<SegmentTable>,
    reclaim_failures: AtomicU64,
    /// The number of lost or damaged blocks. While it is above 0, the next process has to verify
    /// all.
    doubts: AtomicUsize,
    /// The number of blocks that are not read from memory.
    not_in_memory: AtomicUsize,
    /// Read-locked by writers and by those that give space back, so that none of them runs once it
    /// is true.
    is_stopped: RwLock<bool>,
    /// Held while a block is copied to memory: nobody may write to a block that another thread has
    /// promoted.
    pub(super) promoting: Mutex<()>,
}

impl Pool {
    pub(super) fn new(folders: Folders, salt: u64, segment_bytes: u64) -> Self {
        Self {
            folders,
            salt,
            segment_bytes,
            table: Mutex::default(),
            reclaim_failures: AtomicU64::new(0),
            doubts: AtomicUsize::new(0),
            not_in_memory: AtomicUsize::new(0),
            is_stopped: RwLock::new(false),
            promoting: Mutex::new(()),
        }
    }

    pub(super) fn path_of(&self, number: u32) -> String {
        self.folders.segments.path_of(&file_name(number))
    }

    pub(super) fn extent(
        self: &Arc<Self>,
        segment: &Arc<Segment>,
        location: BlockLocation,
        is_named: bool,
    ) -> BlockBytes {
        let (pool, segment) = (Arc::clone(self), Arc::clone(segment));
        BlockBytes::in_file(FileExtent::new(pool, segment, location, is_named))
    }

    /// Writes a block to a segment. It is neither synced nor named. If it is never named, its range
    /// is given back with the last of the returned bytes.
    ///
    /// If it may not be in memory, or memory is full, the block is read from disk.
    pub(crate) fn write(
        self: &Arc<Self>,
        bytes: &[u8],
        may_be_in_memory: bool,
    ) -> Result<BlockBytes, Error> {
        let length = checked_length(bytes)?;
        let opened = self.while_open().ok_or(Error::Closed)?;
        let (segment, offset) = self.take(paged(length))?;
        let location = BlockLocation { segment: segment.number, offset, length };
        // From here on a failure gives the range back, by dropping the extent.
        let block = self.extent(&segment, location, false);
        let failed = |error| Error::io("write", &self.path_of(segment.number), error);
        let written = segment.file.write(offset, bytes).and_then(|()| {
            segment.is_dirty.store(true, Ordering::Release);
            self.admit_to_memory(&block, &segment, location, bytes, may_be_in_memory)
        });
        // Before the block can be dropped, because that gives its range back.
        drop(opened);
        written.map_err(failed)?;
        Ok(block)
    }

    /// Notes that a block is lost or damaged.
    pub(crate) fn doubt(&self) {
        self.doubts.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a damaged block was dropped.
    pub(super) fn end_doubt(&self) {
        self.doubts.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts one block that is not read from memory, or one fewer.
    pub(super) fn note_not_in_memory(&self, is_added: bool) {
        let change = if is_added { AtomicUsize::fetch_add } else { AtomicUsize::fetch_sub };
        change(&self.not_in_memory, 1, Ordering::Relaxed);
    }

    /// Whether all blocks are read from memory.
    pub(crate) fn is_all_in_memory(&self) -> bool {
        self.not_in_memory.load(Ordering::Relaxed) == 0
    }

    /// Whether a block is lost or damaged.
    pub(crate) fn is_doubted(&self) -> bool {
        self.doubts.load(Ordering::Relaxed) > 0
    }

    /// Lets the caller change files while the returned value lives; `None` once they belong to
    /// another process.
    pub(super) fn while_open(&self) -> Option<RwLockReadGuard<'_, bool>> {
        let stopped = self.is_stopped.read();
        (!*stopped).then_some(stopped)
    }

    /// Makes the system forget the files on disk whose blocks are read from memory.
    pub(crate) fn forget_disk(&self) {
        for segment in self.segments().iter().filter(|segment| segment.memory().is_some()) {
            segment.forget_disk();
        }
    }

    fn segments(&self) -> Vec<Arc<Segment>> {
        let table = self.table.lock();
        table.segments.values().map(|entry| Arc::clone(&entry.segment)).collect()
    }

    fn take(&self, length: u64) -> Result<(Arc<Segment>, u64), Error> {
        let taken = self.take_free(length).or_else(|| {
            self.give_back_while_open();
            self.take_free(length)
        });
        if let Some(taken) = taken {
            return Ok(taken);
        }
        let mut table = self.table.lock();
        let segment = self.create(&mut table, self.segment_bytes.max(PAGE + length))?;
        let rest = PAGE + length;
        let free = FreeRanges::new(rest, segment.file.length() - rest);
        table.segments.insert(segment.number, SegmentEntry::new(Arc::clone(&segment), free));
        Ok((segment, PAGE))
    }

    fn take_free(&self, length: u64) -> Option<(Arc<Segment>, u64)> {
        let mut table = self.table.lock();
        let sound = |entry: &&mut SegmentEntry| !entry.segment.has_faults();
        let taken = |entry: &mut SegmentEntry| {
            Some((Arc::clone(&entry.segment), entry.free.take_first(length)?))
        };
        table.segments.values_mut().filter(sound).find_map(taken)
    }

    fn create(&self, table: &mut SegmentTable, length: u64) -> Result<Arc<Segment>, Error> {
        let number = table.next_number;
        table.next_number = number.saturating_add(1);
        let name = file_name(number);
        let failed = |error| Error::io("create", &self.path_of(number), error);
        let file = self.folders.segments.create_segment(&name, length).map_err(failed)?;
        table.is_folder_dirty = true;
        if let Err(error) = file.write(0, &header(self.salt, length, number)) {
            self.count_failure(self.folders.segments.remove(&name));
            return Err(failed(error));
        }
        let memory = self.memory_for(number, length);
        Ok(Arc::new(Segment {
            number,
            file,
            memory: memory.map_or_else(OnceLock::new, OnceLock::from),
            is_memory_old: false,
            is_dirty: AtomicBool::new(true),
            readahead: Mutex::default(),
        }))
    }

    /// A new file in memory for a segment. `None` if the store has no memory of its own or it is
    /// full: then the segment is read from disk.
    pub(super) fn memory_for(&self, number: u32, length: u64) -> Option<Box<dyn SegmentFile>> {
        let memory = self.memory()?;
        let name = file_name(number);
        let make = || {
            let file = memory.create_segment(&name, length)?;
            file.write(0, &header(self.salt, length, number))?;
            file.map()?;
            Ok::<_, std::io::Error>(file)
        };
        make().inspect_err(|_| drop(memory.remove(&name))).ok()
    }

    /// Makes all blocks written so far durable. Not to be called by two threads at once.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        // Taken before the segments: the next sync covers those that are made from now on.
        let is_folder_dirty = std::mem::take(&mut self.table.lock().is_folder_dirty);
        for segment in self.segments() {
            if segment.is_dirty.swap(false, Ordering::AcqRel) {
                let failed = |error| Error::io("sync", &self.path_of(segment.number), error);
                segment.file.sync().map_err(failed)?;
                if segment.memory().is_some() {
                    segment.forget_disk();
                }
            }
        }
        if is_folder_dirty {
            let failed = |error| Error::io("sync", &self.folders.segments.path_of(""), error);
            self.folders.segments.sync_folder().map_err(failed)?;
        }
        Ok(())
    }

    /// Gives back the memory of a block that has no more readers and is not named. Gives up its
    /// disk, which [`Self::give_back`] then frees: that takes ten times as long, and nothing waits
    /// for it.
    pub(super) fn free(&self, segment: &Arc<Segment>, location: BlockLocation) {
        // Once the folder belongs to another process, that one frees all unnamed ranges.
        let Some(_opened) = self.while_open() else { return };
        let length = paged(location.length);
        if !self.count_failure(segment.punch_memory(location.offset, length)) {
            // The range stays taken until the store is opened again.
            return;
        }
        if let Some(entry) = self.table.lock().segments.get_mut(&segment.number) {
            entry.given_up.give(location.offset, length);
        }
    }

    /// Frees the disk of dropped blocks, adjacent ones at once. A segment without other blocks
    /// loses its whole file.
    pub(crate) fn give_back(&self) {
        if let Some(_opened) = self.while_open() {
            self.give_back_while_open();
        }
    }

    /// The same for a caller that keeps the pool open already. Opening it twice would deadlock: the
    /// second waits for a stop, which waits for the first.
    fn give_back_while_open(&self) {
        for (segment, given_up) in self.take_given_up() {
            for (offset, length) in given_up.iter() {
                if self.count_failure(segment.file.punch(offset, length))
                    && let Some(entry) = self.table.lock().segments.get_mut(&segment.number)
                {
                    entry.free.give(offset, length);
                }
            }
        }
    }

    /// The given up ranges of segments that have other blocks. Removes segments without any.
    fn take_given_up(&self) -> Vec<(Arc<Segment>, FreeRanges)> {
        let mut table = self.table.lock();
        let (mut ranges, mut empty) = (Vec::new(), Vec::new());
        for (&number, entry) in &mut table.segments {
            if entry.given_up.is_empty() {
                continue;
            }
            if entry.is_given_up() {
                empty.push(number);
                continue;
            }
            ranges.push((Arc::clone(&entry.segment), std::mem::take(&mut entry.given_up)));
        }
        for number in empty {
            let removed = table.segments.remove(&number);
            let name = file_name(number);
            self.count_failure(self.folders.segments.remove(&name));
            let in_memory = removed.is_some_and(|entry| entry.segment.memory().is_some());
            if let Some(memory) = self.memory().filter(|_| in_memory) {
                self.count_failure(memory.remove(&name));
            }
        }
        ranges
    }

    pub(super) fn count_failure(&self, result: std::io::Result<()>) -> bool {
        if result.is_err() {
            self.reclaim_failures.fetch_add(1, Ordering::Relaxed);
        }
        result.is_ok()
    }

    /// From now on the files belong to another process: nothing is written or freed any more.
    /// Returns when no write is running.
    pub(crate) fn stop(&self) {
        *self.is_stopped.write() = true;
    }

    /// Allocates a range as a write does, while a stop waits for that write.
    #[cfg(test)]
    pub(crate) fn take_while_a_stop_waits(&self, length: u64) -> Result<u64, Error> {
        std::thread::scope(|scope| {
            let opened = self.while_open();
            scope.spawn(|| self.stop());
            while self.is_stopped.try_read().is_some() {
                std::thread::yield_now();
            }
            let taken = self.take(length);
            drop(opened);
            taken.map(|(_, offset)| offset)
        })
    }

    /// Gives up the locks on the folders.
    pub(crate) fn unlock(&self) -> Result<(), Error> {
        let failed = |error| Error::io("unlock", &self.folders.root.path_of(""), error);
        self.folders.unlock().map_err(failed)
    }

    /// The folder of the store.
    pub(crate) fn root(&self) -> &dyn Disk {
        &*self.folders.root
    }

    /// The folder in memory, if the store has one.
    pub(crate) fn memory(&self) -> Option<&dyn Disk> {
        self.folders.memory.as_ref().map(|memory| &*memory.folder)
    }

    /// The memory pool of all blocks in memory.
    pub(crate) fn memory_budget(&self) -> Option<&MemoryPool> {
        self.folders.memory.as_ref().map(|memory| &*memory.budget)
    }

    /// The size of a segment in bytes.
    pub(crate) fn segment_bytes(&self) -> u64 {
        self.segment_bytes
    }

    /// The salt of the checksums in the folder.
    pub(crate) fn salt(&self) -> u64 {
        self.salt
    }

    /// The number of segment files.
    pub(crate) fn segment_count(&self) -> u64 {
        self.table.lock().segments.len() as u64
    }

    /// How often space could not be given back.
    pub(crate) fn reclaim_failures(&self) -> u64 {
        self.reclaim_failures.load(Ordering::Relaxed)
    }
}
