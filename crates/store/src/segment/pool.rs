//! The segment files of one store: allocation, writing, giving back.
//!
//! A block takes the first free range that holds it, else a new segment is made. The layout is in
//! `spec/segments.md`. Nothing here decides what counts: that is the manifest's.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use twox_hash::XxHash3_64;

use super::ranges::FreeRanges;
use super::{BlockBytes, FileExtent, Place, checked_length};
use crate::disk::SegmentFile;
use crate::error::Error;
use crate::lock::lock;
use crate::store::Folders;

/// Blocks start at multiples of this, and the header takes one.
pub(crate) const PAGE: u64 = 4_096;
const MAGIC: [u8; 8] = *b"\x89HDLSEG\x01";
const HEADER_SUMMED: usize = 32;
const HEADER_USED: usize = 40;

/// One segment file.
#[derive(Debug)]
pub(crate) struct Segment {
    number: u32,
    file: Box<dyn SegmentFile>,
    /// Whether something was written since the last sync.
    is_dirty: AtomicBool,
}

impl Segment {
    pub(super) fn bytes(&self, place: Place) -> Option<&[u8]> {
        self.file.bytes(place.offset, usize::try_from(place.length).ok()?)
    }
}

#[derive(Debug)]
struct Shelf {
    segment: Arc<Segment>,
    free: FreeRanges,
}

#[derive(Debug)]
struct Shelves {
    segments: BTreeMap<u32, Shelf>,
    next_number: u32,
    is_folder_dirty: bool,
}

/// The segment files of one store.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Keeps the leaf's folder locked as long as any block bytes live.
    folders: Folders,
    salt: u64,
    segment_bytes: u64,
    shelves: Mutex<Shelves>,
    reclaim_failures: AtomicU64,
}

/// What opening the segment files found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Each named block, in the order asked: its bytes, or why it is lost.
    pub(crate) blocks: Vec<Result<BlockBytes, String>>,
    pub(crate) orphan_segments: u64,
    pub(crate) reclaimed_bytes: u64,
}

/// The file name of segment `number`.
pub(crate) fn file_name(number: u32) -> String {
    format!("{number:08}.segment")
}

/// The number in a segment's file name.
pub(crate) fn number_of(name: &str) -> Option<u32> {
    let number = name.strip_suffix(".segment")?.parse().ok()?;
    (file_name(number) == name).then_some(number)
}

fn header(salt: u64, length: u64, number: u32) -> [u8; HEADER_USED] {
    let mut header = [0; HEADER_USED];
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&salt.to_le_bytes());
    header[16..24].copy_from_slice(&length.to_le_bytes());
    header[24..28].copy_from_slice(&number.to_le_bytes());
    let sum = XxHash3_64::oneshot_with_seed(salt, &header[..HEADER_SUMMED]);
    header[HEADER_SUMMED..].copy_from_slice(&sum.to_le_bytes());
    header
}

fn paged(length: u32) -> u64 {
    u64::from(length).next_multiple_of(PAGE)
}

impl Pool {
    /// Opens the segment files that hold the blocks at `named`, and reclaims all other space.
    pub(crate) fn open(
        folders: Folders,
        salt: u64,
        segment_bytes: u64,
        named: &[Place],
    ) -> Result<(Arc<Self>, Found), Error> {
        let failed = |error| Error::io("list", &folders.segments.place(""), error);
        let names = folders.segments.list().map_err(failed)?;
        let on_disk: Vec<u32> = names.iter().filter_map(|name| number_of(name)).collect();
        let last = on_disk.iter().copied().chain(named.iter().map(|place| place.segment)).max();
        let shelves = Shelves {
            segments: BTreeMap::new(),
            next_number: last.unwrap_or(0).saturating_add(1),
            is_folder_dirty: false,
        };
        let pool = Arc::new(Self {
            folders,
            salt,
            segment_bytes,
            shelves: Mutex::new(shelves),
            reclaim_failures: AtomicU64::new(0),
        });
        let mut found = Found::default();
        let mut wanted: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, place) in named.iter().enumerate() {
            found.blocks.push(Err(format!("{} is missing", pool.place(place.segment))));
            wanted.entry(place.segment).or_default().push(at);
        }
        for number in on_disk {
            match wanted.get(&number) {
                Some(blocks) => pool.adopt(number, named, blocks, &mut found)?,
                None => pool.remove_orphan(number, &mut found)?,
            }
        }
        Ok((pool, found))
    }

    pub(super) fn place(&self, number: u32) -> String {
        self.folders.segments.place(&file_name(number))
    }

    fn adopt(
        self: &Arc<Self>,
        number: u32,
        named: &[Place],
        blocks: &[usize],
        found: &mut Found,
    ) -> Result<(), Error> {
        let failed = |error| Error::io("open", &self.place(number), error);
        let file = self.folders.segments.open_segment(&file_name(number)).map_err(failed)?;
        if !self.has_header(number, &*file) {
            for &at in blocks {
                let place = self.place(number);
                found.blocks[at] = Err(format!("{place} has a wrong header or length"));
            }
            return Ok(());
        };
        let mut free = FreeRanges::new(PAGE, file.length() - PAGE);
        let segment = Arc::new(Segment { number, file, is_dirty: AtomicBool::new(false) });
        let mut is_whole = true;
        for &at in blocks {
            let place = named[at];
            if free.take(place.offset, paged(place.length)) {
                found.blocks[at] = Ok(self.extent(&segment, place, true));
            } else {
                is_whole = false;
                let place = self.place(number);
                found.blocks[at] = Err(format!("its range overlaps another or leaves {place}"));
            }
        }
        // With a range in doubt nothing is punched, and nothing more is written there.
        if is_whole {
            found.reclaimed_bytes += self.punch_gaps(&segment, &free)?;
            lock(&self.shelves).segments.insert(number, Shelf { segment, free });
        }
        Ok(())
    }

    fn has_header(&self, number: u32, file: &dyn SegmentFile) -> bool {
        let expected = header(self.salt, file.length(), number);
        file.length() >= PAGE && file.bytes(0, HEADER_USED) == Some(&expected)
    }

    fn punch_gaps(&self, segment: &Segment, free: &FreeRanges) -> Result<u64, Error> {
        let failed = |error| Error::io("reclaim space of", &self.place(segment.number), error);
        let before = segment.file.allocated().map_err(failed)?;
        for (offset, length) in free.iter() {
            segment.file.punch(offset, length).map_err(failed)?;
        }
        Ok(before.saturating_sub(segment.file.allocated().map_err(failed)?))
    }

    fn remove_orphan(&self, number: u32, found: &mut Found) -> Result<(), Error> {
        let failed = |error| Error::io("remove", &self.place(number), error);
        if let Ok(file) = self.folders.segments.open_segment(&file_name(number)) {
            found.reclaimed_bytes += file.allocated().map_err(failed)?;
        }
        self.folders.segments.remove(&file_name(number)).map_err(failed)?;
        found.orphan_segments += 1;
        Ok(())
    }

    fn extent(self: &Arc<Self>, segment: &Arc<Segment>, place: Place, named: bool) -> BlockBytes {
        BlockBytes::in_file(FileExtent {
            pool: Arc::clone(self),
            segment: Arc::clone(segment),
            place,
            is_named: AtomicBool::new(named),
        })
    }

    /// Writes a block to a segment. It is neither synced nor named; if it never is, its range is
    /// given back with the last of the returned bytes.
    pub(crate) fn write(self: &Arc<Self>, bytes: &[u8]) -> Result<BlockBytes, Error> {
        let length = checked_length(bytes)?;
        let (segment, offset) = self.take(paged(length))?;
        let place = Place { segment: segment.number, offset, length };
        // From here on a failure gives the range back, by dropping the extent.
        let block = self.extent(&segment, place, false);
        let failed = |error| Error::io("write", &self.place(segment.number), error);
        segment.file.write(offset, bytes).map_err(failed)?;
        segment.is_dirty.store(true, Ordering::Release);
        Ok(block)
    }

    fn take(&self, length: u64) -> Result<(Arc<Segment>, u64), Error> {
        let mut shelves = lock(&self.shelves);
        for shelf in shelves.segments.values_mut() {
            if let Some(offset) = shelf.free.take_first(length) {
                return Ok((Arc::clone(&shelf.segment), offset));
            }
        }
        let segment = self.create(&mut shelves, self.segment_bytes.max(PAGE + length))?;
        let rest = PAGE + length;
        let free = FreeRanges::new(rest, segment.file.length() - rest);
        let shelf = Shelf { segment: Arc::clone(&segment), free };
        shelves.segments.insert(segment.number, shelf);
        Ok((segment, PAGE))
    }

    fn create(&self, shelves: &mut Shelves, length: u64) -> Result<Arc<Segment>, Error> {
        let number = shelves.next_number;
        shelves.next_number = number.saturating_add(1);
        let name = file_name(number);
        let failed = |error| Error::io("create", &self.place(number), error);
        let file = self.folders.segments.create_segment(&name, length).map_err(failed)?;
        shelves.is_folder_dirty = true;
        if let Err(error) = file.write(0, &header(self.salt, length, number)) {
            self.count_failure(self.folders.segments.remove(&name));
            return Err(failed(error));
        }
        Ok(Arc::new(Segment { number, file, is_dirty: AtomicBool::new(true) }))
    }

    /// Makes all blocks written so far durable. Not to be called by two threads at once.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        let mut shelves = lock(&self.shelves);
        let is_folder_dirty = std::mem::take(&mut shelves.is_folder_dirty);
        let segments: Vec<_> =
            shelves.segments.values().map(|shelf| Arc::clone(&shelf.segment)).collect();
        drop(shelves);
        for segment in segments {
            if segment.is_dirty.swap(false, Ordering::AcqRel) {
                let failed = |error| Error::io("sync", &self.place(segment.number), error);
                segment.file.sync().map_err(failed)?;
            }
        }
        if is_folder_dirty {
            let failed = |error| Error::io("sync", &self.folders.segments.place(""), error);
            self.folders.segments.sync_folder().map_err(failed)?;
        }
        Ok(())
    }

    /// Gives back the range of a block that has no more readers and is not named.
    pub(super) fn free(&self, segment: &Arc<Segment>, place: Place) {
        let length = paged(place.length);
        if !self.count_failure(segment.file.punch(place.offset, length)) {
            // The range stays taken until the store is opened anew.
            return;
        }
        let mut shelves = lock(&self.shelves);
        let Some(shelf) = shelves.segments.get_mut(&segment.number) else { return };
        shelf.free.give(place.offset, length);
        if shelf.free.is_only(PAGE, segment.file.length() - PAGE) {
            shelves.segments.remove(&segment.number);
            self.count_failure(self.folders.segments.remove(&file_name(segment.number)));
        }
    }

    fn count_failure(&self, result: std::io::Result<()>) -> bool {
        if result.is_err() {
            self.reclaim_failures.fetch_add(1, Ordering::Relaxed);
        }
        result.is_ok()
    }

    /// How many segment files there are.
    pub(crate) fn segment_count(&self) -> u64 {
        lock(&self.shelves).segments.len() as u64
    }

    /// How often space could not be given back.
    pub(crate) fn reclaim_failures(&self) -> u64 {
        self.reclaim_failures.load(Ordering::Relaxed)
    }
}
