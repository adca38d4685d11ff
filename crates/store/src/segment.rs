//! Block bytes: borrowed from a segment, never owned by who reads them.
//!
//! A segment is either a run of heap memory (the bytes of one fresh batch, or of one block of a
//! store without a folder) or a mapped file (merged blocks), which lies on disk, and also in memory
//! where the store has some of its own. [`BlockBytes`] is a range of one. It keeps its segment
//! alive; and the range of a block that was removed is given back when the last `BlockBytes` of it
//! is dropped, so readers need no lock and no epoch.

mod file;
mod free_ranges;
pub(crate) mod mapping;
pub(crate) mod open;
pub(crate) mod pool;
mod preopen;
pub(crate) mod promote;
mod readahead;
mod residency;
mod salvage;
mod sigbus;

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hadal_types::MemoryReservation;
use hadal_types::limits::BLOCK_BYTES_MAX;

use crate::disk::SegmentFile;
use crate::error::Error;
use file::Segment;
use pool::Pool;

/// Block starts in memory are multiples of this.
const ALIGNMENT: usize = 8;

/// The bytes of one block, borrowed from a segment. Cheap to clone; starts at a multiple of 8.
///
/// Bytes of a segment file keep the store's folder locked while they live, also after the store
/// was closed.
#[derive(Clone)]
pub struct BlockBytes(Arc<Extent>);

enum Extent {
    Heap { bytes: Vec<u8>, start: usize },
    File(FileExtent),
}

/// Where a block lies in the segment files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockLocation {
    pub(crate) segment: u32,
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

impl BlockLocation {
    /// The place of all blocks of a store without a folder.
    pub(crate) const IN_MEMORY: Self = Self { segment: 0, offset: 0, length: 0 };
}

/// A range of a segment file. While it lives, the range is nobody else's.
///
/// It waits to be brought back until it is read from disk or from memory; and from disk it may still
/// come to memory, never the other way: what was borrowed stays as it was.
pub(crate) struct FileExtent {
    pool: Arc<Pool>,
    segment: Arc<Segment>,
    location: BlockLocation,
    /// Whether it may be read from the file on disk, which is mapped then.
    is_on_disk: AtomicBool,
    /// The room that it takes in memory, once it is read from there.
    in_memory: OnceLock<MemoryReservation>,
    /// Whether the manifest names the range, so that its bytes must stay when readers go.
    is_named: AtomicBool,
    /// Whether what is read is not what was written.
    is_damaged: AtomicBool,
}

impl FileExtent {
    fn new(
        pool: Arc<Pool>,
        segment: Arc<Segment>,
        location: BlockLocation,
        is_named: bool,
    ) -> Self {
        pool.note_not_in_memory(true);
        Self {
            pool,
            segment,
            location,
            is_on_disk: AtomicBool::new(false),
            in_memory: OnceLock::new(),
            is_named: AtomicBool::new(is_named),
            is_damaged: AtomicBool::new(false),
        }
    }

    fn is_in_memory(&self) -> bool {
        self.in_memory.get().is_some()
    }

    fn is_on_disk(&self) -> bool {
        self.is_on_disk.load(Ordering::Acquire)
    }

    /// The file that it is read from; `None` while it waits.
    fn file(&self) -> Option<&dyn SegmentFile> {
        match self.is_in_memory() {
            true => self.segment.memory(),
            false => self.is_on_disk().then_some(&*self.segment.file),
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        self.file()?.bytes(self.location.offset, usize::try_from(self.location.length).ok()?)
    }

    /// Also those of the file that it was read from before: who has read zeros there is to learn of it.
    fn faults(&self) -> u64 {
        let memory = self.segment.memory().filter(|_| self.is_in_memory());
        let disk = self.is_on_disk().then_some(&*self.segment.file);
        memory.into_iter().chain(disk).map(SegmentFile::faults).sum()
    }
}

impl Drop for FileExtent {
    fn drop(&mut self) {
        if *self.is_damaged.get_mut() {
            self.pool.end_doubt();
        }
        if !self.is_in_memory() {
            self.pool.note_not_in_memory(false);
        }
        if !self.is_named.load(Ordering::Acquire) {
            self.pool.free(&self.segment, self.location);
        }
    }
}

impl BlockBytes {
    fn in_file(extent: FileExtent) -> Self {
        Self(Arc::new(Extent::File(extent)))
    }

    /// How many bytes the block has, also while it waits to be brought back.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        self.location().map_or_else(|| self.len() as u64, |location| u64::from(location.length))
    }

    /// Where the bytes lie, in words, for messages.
    #[must_use]
    pub fn describe_location(&self) -> String {
        match &*self.0 {
            Extent::Heap { .. } => "memory".to_owned(),
            Extent::File(FileExtent { pool, location, .. }) => {
                format!("{} at byte {}", pool.path_of(location.segment), location.offset)
            }
        }
    }

    /// How many pages of its segment could not be read so far. Where that changes between a look at
    /// a checksum and the end of reading, what was read may be zeros.
    #[must_use]
    pub fn faults(&self) -> u64 {
        match &*self.0 {
            Extent::Heap { .. } => 0,
            Extent::File(extent) => extent.faults(),
        }
    }

    /// Notes that what is read is not what was written: after a stop in order the next process verifies all
    /// blocks, as after a crash, so that this one is not believed there.
    pub fn note_damaged(&self) {
        if let Extent::File(extent) = &*self.0
            && !extent.is_damaged.swap(true, Ordering::Relaxed)
        {
            extent.pool.doubt();
        }
    }

    /// Where the block lies in the segment files; `None` when it lies in memory.
    pub(crate) fn location(&self) -> Option<BlockLocation> {
        match &*self.0 {
            Extent::Heap { .. } => None,
            Extent::File(extent) => Some(extent.location),
        }
    }

    /// The segment that the block lies in, and where; `None` when it lies in memory.
    fn in_segment(&self) -> Option<(&Segment, BlockLocation)> {
        match &*self.0 {
            Extent::Heap { .. } => None,
            Extent::File(extent) => Some((&extent.segment, extent.location)),
        }
    }

    /// Where a block lies that waits to be brought back; `None` for all others.
    fn waiting(&self) -> Option<(&Segment, BlockLocation)> {
        match &*self.0 {
            Extent::File(extent) if extent.is_in_memory() || extent.is_on_disk() => None,
            _ => self.in_segment(),
        }
    }

    /// Where a block lies that is read from disk; `None` for all others.
    fn on_disk(&self) -> Option<(&Segment, BlockLocation)> {
        match &*self.0 {
            Extent::File(extent) if extent.is_on_disk() && !extent.is_in_memory() => {
                self.in_segment()
            }
            _ => None,
        }
    }

    /// Says that the block is read from the file in memory from now on.
    fn reside_in_memory(&self, held: MemoryReservation) {
        if let Extent::File(extent) = &*self.0
            // Said once: nobody writes what may be borrowed.
            && extent.in_memory.set(held).is_ok()
        {
            extent.pool.note_not_in_memory(false);
        }
    }

    /// Says that the block is read from the file on disk, which is mapped.
    fn reside_on_disk(&self) {
        if let Extent::File(extent) = &*self.0 {
            extent.is_on_disk.store(true, Ordering::Release);
        }
    }

    /// Whether an earlier process left the block's segment in memory.
    pub(crate) fn has_old_memory(&self) -> bool {
        self.in_segment().is_some_and(|(segment, _)| segment.is_memory_old)
    }

    /// Tells the system that a block which waits is read from disk before long, unless an earlier
    /// process left its segment in memory.
    pub(crate) fn expect(&self) {
        if let Some((segment, location)) = self.waiting().filter(|_| !self.has_old_memory()) {
            segment.file.expect(location.offset, u64::from(location.length));
        }
    }

    /// Whether the block waits to be brought back.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting().is_some()
    }

    /// Whether the block lies in a file in memory.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        matches!(&*self.0, Extent::File(extent) if extent.is_in_memory())
    }

    /// Whether the block lies in the segment files of `pool`.
    pub(crate) fn is_in(&self, pool: &Arc<Pool>) -> bool {
        matches!(&*self.0, Extent::File(extent) if Arc::ptr_eq(&extent.pool, pool))
    }

    /// Says whether the manifest names the block. The range of a block that is not named is given
    /// back when its last reader goes.
    pub(crate) fn set_named(&self, is_named: bool) {
        if let Extent::File(extent) = &*self.0 {
            extent.is_named.store(is_named, Ordering::Release);
        }
    }
}

impl From<Vec<u8>> for BlockBytes {
    /// Takes over a heap segment of one block; copies only if it starts at an odd place.
    fn from(bytes: Vec<u8>) -> Self {
        let past = |bytes: &[u8]| bytes.as_ptr().addr() % ALIGNMENT;
        if past(&bytes) == 0 {
            return Self(Arc::new(Extent::Heap { bytes, start: 0 }));
        }
        let mut padded = Vec::with_capacity(bytes.len() + ALIGNMENT);
        let start = (ALIGNMENT - past(&padded)) % ALIGNMENT;
        padded.resize(start, 0);
        padded.extend_from_slice(&bytes);
        Self(Arc::new(Extent::Heap { bytes: padded, start }))
    }
}

impl Deref for BlockBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.0 {
            Extent::Heap { bytes, start } => bytes.get(*start..).unwrap_or_default(),
            // The range was checked against the file's length when the extent was made.
            Extent::File(extent) => extent.bytes().unwrap_or_default(),
        }
    }
}

impl AsRef<[u8]> for BlockBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for BlockBytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location() {
            None => write!(formatter, "BlockBytes({} bytes of heap)", self.len()),
            Some(location) => write!(formatter, "BlockBytes({location:?})"),
        }
    }
}

/// The length of a block that may be stored.
pub(crate) fn checked_length(bytes: &[u8]) -> Result<u32, Error> {
    match u32::try_from(bytes.len()) {
        Ok(length) if (1..=BLOCK_BYTES_MAX).contains(&bytes.len()) => Ok(length),
        _ => Err(Error::BlockSize(bytes.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heap_blocks_start_at_a_multiple_of_eight() {
        for length in 0..100u8 {
            let content: Vec<u8> = (0..length).collect();
            let bytes = BlockBytes::from(content.clone());
            assert_eq!(&*bytes, content);
            assert_eq!(bytes.as_ptr().addr() % ALIGNMENT, 0);
            assert_eq!(bytes.clone().as_ptr(), bytes.as_ptr());
        }
    }

    #[test]
    fn empty_and_huge_blocks_are_refused() {
        assert!(matches!(checked_length(&[]), Err(Error::BlockSize(0))));
        assert!(matches!(checked_length(&[1]), Ok(1)));
    }
}
