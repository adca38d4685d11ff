//! Opens the segment files: finds the blocks that exist, the blocks that must be restored, and the
//! space that belongs to no block. `spec/segments.md`, sections 2 and 5.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use super::BlockBytes;
use super::file::Segment;
use super::free_ranges::FreeRanges;
use super::layout::BlockLocation;
use super::layout::{HEADER_USED, PAGE, file_name, header, number_of, paged};
use super::pool::{Pool, SegmentEntry};
use super::salvage::{Salvaged, remove_half_made};
use crate::block_record::BlockRecord;
use crate::disk::{Disk, SegmentFile};
use crate::error::Error;
use crate::folders::{Folders, Memory};
use crate::ids::BlockNumber;
use crate::options::AfterCrash;

/// From this many segments on, opening them on another thread pays.
const SHARED_FROM: usize = 8;

/// The result of opening the segment files.
#[derive(Debug, Default)]
pub(crate) struct OpenedSegments {
    /// Each named block, in the given order: its bytes, which may have to be restored first, or why
    /// it is lost.
    pub(crate) blocks: Vec<Result<BlockBytes, String>>,
    pub(crate) orphan_segments: u64,
    pub(crate) reclaimed_bytes: u64,
}

/// The blocks that the manifest names, by segment.
pub(super) struct Named<'a> {
    pub(super) blocks: &'a [&'a BlockRecord],
    pub(super) by_segment: BTreeMap<u32, Vec<usize>>,
}

impl<'a> Named<'a> {
    pub(super) fn new(blocks: &'a [&'a BlockRecord]) -> Self {
        let mut by_segment: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut at = 0;
        for neighbours in blocks.chunk_by(|one, next| one.location.segment == next.location.segment)
        {
            let indices = by_segment.entry(neighbours[0].location.segment).or_default();
            indices.extend(at..at + neighbours.len());
            at += neighbours.len();
        }
        Self { blocks, by_segment }
    }

    /// The indices of the blocks of a segment.
    pub(super) fn of(&self, number: u32) -> &[usize] {
        self.by_segment.get(&number).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The usable files of one segment.
struct Files {
    stored: Option<Box<dyn SegmentFile>>,
    in_memory: Option<Box<dyn SegmentFile>>,
    /// The file on disk, if it has a wrong header or length.
    damaged: Option<Box<dyn SegmentFile>>,
}

fn names(disk: &dyn Disk) -> Result<Vec<String>, Error> {
    disk.list().map_err(|error| Error::io("list", &disk.path_of(""), error))
}

/// The numbers of the segment files among these names.
fn numbers(names: &[String]) -> BTreeSet<u32> {
    names.iter().filter_map(|name| number_of(name)).collect()
}

/// Removes all segment files of a folder in memory.
pub(crate) fn remove_all(disk: &dyn Disk) -> Result<(), Error> {
    numbers(&names(disk)?).into_iter().try_for_each(|number| remove(disk, number))
}

/// Removes a file that has the name of a segment in memory. A folder with that name stays: nothing
/// reads it, and the blocks are read from disk.
fn remove(memory: &dyn Disk, number: u32) -> Result<(), Error> {
    let name = file_name(number);
    match memory.remove(&name) {
        Err(error) if error.kind() != io::ErrorKind::IsADirectory => {
            Err(Error::io("remove", &memory.path_of(&name), error))
        }
        _ => Ok(()),
    }
}

impl Pool {
    /// Opens the segment files that hold the blocks `named`, and reclaims all other space.
    ///
    /// Segments in memory hold the named blocks but for those `on_disk`, as a clean stop left them.
    /// Without `on_disk` all blocks must be verified.
    pub(crate) fn open(
        folders: Folders,
        salt: u64,
        segment_bytes: u64,
        named: &[&BlockRecord],
        on_disk: Option<&BTreeSet<BlockNumber>>,
    ) -> Result<(Arc<Self>, OpenedSegments), Error> {
        let pool = Arc::new(Self::new(folders, salt, segment_bytes));
        let opened = pool.adopt_all(named, on_disk)?;
        Ok((pool, opened))
    }

    /// The same for a pool that has some of the blocks already: `named` are the others.
    pub(crate) fn adopt_all(
        self: &Arc<Self>,
        named: &[&BlockRecord],
        on_disk: Option<&BTreeSet<BlockNumber>>,
    ) -> Result<OpenedSegments, Error> {
        let disk = &*self.folders.segments;
        let names = names(disk)?;
        remove_half_made(disk, &names)?;
        let stored = numbers(&names);
        let memory = self.folders.memory.as_ref();
        let in_memory =
            memory.map(|memory| self::names(&*memory.folder)).transpose()?.unwrap_or_default();
        let mut in_memory = numbers(&in_memory);
        let is_thrown_away = |memory: &&Memory| memory.after_crash == AfterCrash::Disk;
        if on_disk.is_none()
            && let Some(memory) = memory.filter(is_thrown_away)
        {
            remove_all(&*memory.folder)?;
            in_memory.clear();
        }
        let named = Named::new(named);
        let kept = self.kept();
        let last = {
            let all = stored.iter().chain(&in_memory).chain(named.by_segment.keys());
            all.chain(kept.keys()).copied().max().unwrap_or(0)
        };
        self.table.lock().next_number = last.saturating_add(1);
        let mut opened = OpenedSegments::default();
        // Replaced for each block when its segment is opened.
        opened.blocks.resize_with(named.blocks.len(), || Err(String::new()));
        let is_named =
            |number: &u32| named.by_segment.contains_key(number) || kept.contains_key(number);
        for number in stored.iter().filter(|number| !is_named(number)) {
            self.remove_orphan(*number, &mut opened)?;
        }
        if let Some(memory) = memory {
            for &number in in_memory.iter().filter(|number| !is_named(number)) {
                remove(&*memory.folder, number)?;
            }
        }
        let none = BTreeSet::new();
        for number in kept.keys() {
            let entry = self.table.lock().segments.remove(number);
            let adopted =
                entry.map(|entry| self.take_over(entry, &named, &none, on_disk, &mut opened));
            adopted.transpose()?;
        }
        let new = named.by_segment.keys().filter(|number| !kept.contains_key(number));
        let numbers: Vec<u32> = new.copied().collect();
        let files = self.all_files(&numbers, &stored, &in_memory)?;
        for (number, files) in numbers.into_iter().zip(files) {
            self.adopt(number, files, &named, on_disk, &mut opened)?;
        }
        Ok(opened)
    }

    /// The segments that are open already.
    fn kept(&self) -> BTreeMap<u32, Arc<Segment>> {
        let table = self.table.lock();
        let each = table.segments.iter();
        each.map(|(number, entry)| (*number, Arc::clone(&entry.segment))).collect()
    }

    /// The files of these segments, in order. Two threads open many files: for a large leaf,
    /// opening them is most of a start's wait.
    fn all_files(
        &self,
        numbers: &[u32],
        stored: &BTreeSet<u32>,
        in_memory: &BTreeSet<u32>,
    ) -> Result<Vec<Files>, Error> {
        let open = |numbers: &[u32]| -> Result<Vec<Files>, Error> {
            numbers.iter().map(|&number| self.files_of(number, stored, in_memory)).collect()
        };
        if numbers.len() < SHARED_FROM {
            return open(numbers);
        }
        let (first, second) = numbers.split_at(numbers.len() / 2);
        let mut others = None;
        let files = std::thread::scope(|scope| {
            let work = || others = Some(open(second));
            // Without another thread it takes longer.
            drop(std::thread::Builder::new().name("open".to_owned()).spawn_scoped(scope, work));
            open(first)
        });
        let mut files = files?;
        files.extend(others.unwrap_or_else(|| open(second))?);
        Ok(files)
    }

    /// The files of one segment that exist and have the right header. A file in memory with a wrong
    /// header is removed.
    fn files_of(
        &self,
        number: u32,
        stored: &BTreeSet<u32>,
        in_memory: &BTreeSet<u32>,
    ) -> Result<Files, Error> {
        let name = file_name(number);
        let mut files = Files { stored: None, in_memory: None, damaged: None };
        if stored.contains(&number) {
            let failed = |error| Error::io("open", &self.path_of(number), error);
            let file = self.folders.segments.open_segment(&name).map_err(failed)?;
            match self.has_header(number, &*file) {
                true => files.stored = Some(file),
                false => files.damaged = Some(file),
            }
        }
        if let Some(memory) = self.memory()
            && in_memory.contains(&number)
        {
            let failed = |error| Error::io("open", &memory.path_of(&name), error);
            let file = match memory.open_segment(&name) {
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => None,
                file => Some(file.map_err(failed)?),
            };
            match file.filter(|file| self.has_header(number, &**file)) {
                Some(file) => {
                    file.map().map_err(failed)?;
                    files.in_memory = Some(file);
                }
                None => remove(memory, number)?,
            }
        }
        Ok(files)
    }

    pub(super) fn has_header(&self, number: u32, file: &dyn SegmentFile) -> bool {
        let mut bytes = [0; HEADER_USED];
        file.length() >= PAGE
            && file.read(0, &mut bytes).is_ok()
            && bytes == header(self.salt, file.length(), number)
    }

    /// Takes over the named blocks of one segment.
    fn adopt(
        self: &Arc<Self>,
        number: u32,
        files: Files,
        named: &Named<'_>,
        on_disk: Option<&BTreeSet<BlockNumber>>,
        opened: &mut OpenedSegments,
    ) -> Result<(), Error> {
        let Files { stored, in_memory, damaged } = files;
        let in_memory = in_memory
            .filter(|memory| stored.as_ref().is_none_or(|file| file.length() == memory.length()));
        let salvaged = match stored {
            Some(file) => Some(Salvaged { file, lost: BTreeSet::new() }),
            None => {
                self.salvaged(number, in_memory.as_deref(), damaged.as_deref(), named, opened)?
            }
        };
        let Some(Salvaged { file, lost }) = salvaged else {
            // No block needs the file in memory any more.
            if let (Some(_), Some(memory)) = (in_memory, self.memory()) {
                remove(memory, number)?;
            }
            return Ok(());
        };
        if self.folders.memory.is_none() {
            file.map().map_err(|error| Error::io("map", &self.path_of(number), error))?;
        }
        let is_memory_old = in_memory.is_some();
        let memory = in_memory.or_else(|| self.memory_for(number, file.length()));
        let entry = SegmentEntry::of_file(number, file, memory, is_memory_old);
        self.take_over(entry, named, &lost, on_disk, opened)
    }

    /// Takes over the named blocks of an open segment, but for those that are `lost`. Their ranges
    /// are taken nevertheless.
    fn take_over(
        self: &Arc<Self>,
        mut entry: SegmentEntry,
        named: &Named<'_>,
        lost: &BTreeSet<usize>,
        on_disk: Option<&BTreeSet<BlockNumber>>,
        opened: &mut OpenedSegments,
    ) -> Result<(), Error> {
        let segment = Arc::clone(&entry.segment);
        let trusted = on_disk.filter(|_| segment.is_memory_old);
        let mut is_whole = true;
        for &at in named.of(segment.number) {
            let &BlockRecord { number: block, location, .. } = named.blocks[at];
            let is_free = entry.free.take(location.offset, paged(location.length));
            if lost.contains(&at) {
                continue;
            }
            if is_free {
                let is_in_memory = trusted.is_some_and(|on_disk| !on_disk.contains(&block));
                opened.blocks[at] = Ok(self.adopted(&segment, location, is_in_memory));
            } else {
                is_whole = false;
                let path = self.path_of(segment.number);
                opened.blocks[at] = Err(format!("its range overlaps another or leaves {path}"));
            }
        }
        // If a range is in doubt, the segment is neither punched nor written to.
        if is_whole {
            if trusted.is_none() {
                opened.reclaimed_bytes += self.punch_gaps(&segment, &entry.free)?;
            }
            self.table.lock().segments.insert(segment.number, entry);
        }
        Ok(())
    }

    /// The bytes of a named block, read from memory if they are there and memory is free.
    pub(super) fn adopted(
        self: &Arc<Self>,
        segment: &Arc<Segment>,
        location: BlockLocation,
        is_in_memory: bool,
    ) -> BlockBytes {
        let bytes = self.extent(segment, location, true);
        if self.folders.memory.is_none() {
            bytes.reside_on_disk();
        } else if is_in_memory && let Some(held) = self.reserve_memory(location) {
            bytes.reside_in_memory(held);
        }
        bytes
    }
    /// Rewrites a segment whose file on disk is unusable, if any of its blocks are left. Until its
    /// blocks are found, they count as lost, for the reason given here.
    fn salvaged(
        &self,
        number: u32,
        in_memory: Option<&dyn SegmentFile>,
        damaged: Option<&dyn SegmentFile>,
        named: &Named<'_>,
        opened: &mut OpenedSegments,
    ) -> Result<Option<Salvaged>, Error> {
        let path = self.path_of(number);
        let reason = match damaged {
            Some(_) => format!("{path} has a wrong header or length"),
            None => format!("{path} is missing"),
        };
        named.of(number).iter().for_each(|&at| opened.blocks[at] = Err(reason.clone()));
        self.salvage(number, in_memory, damaged, named.blocks, named.of(number))
    }

    fn punch_gaps(&self, segment: &Segment, free: &FreeRanges) -> Result<u64, Error> {
        let failed = |error| Error::io("reclaim space of", &self.path_of(segment.number), error);
        let before = segment.file.allocated().map_err(failed)?;
        for (offset, length) in free.iter() {
            segment.punch(offset, length).map_err(failed)?;
        }
        Ok(before.saturating_sub(segment.file.allocated().map_err(failed)?))
    }

    fn remove_orphan(&self, number: u32, opened: &mut OpenedSegments) -> Result<(), Error> {
        let disk = &*self.folders.segments;
        let failed = |error| Error::io("remove", &disk.path_of(&file_name(number)), error);
        if let Ok(file) = disk.open_segment(&file_name(number)) {
            opened.reclaimed_bytes += file.allocated().map_err(failed)?;
        }
        disk.remove(&file_name(number)).map_err(failed)?;
        opened.orphan_segments += 1;
        Ok(())
    }
}
