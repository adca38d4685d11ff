//! Block bytes, borrowed from a segment; readers never own them.
//!
//! A segment is heap memory or a mapped file. Heap memory holds one fresh batch, or one block of a
//! store without a folder. A mapped file holds merged blocks; it is on disk, and also in memory if
//! the store has memory of its own. [`BlockBytes`] is a range of a segment and keeps it alive. The
//! range of a removed block is given back when the last `BlockBytes` of it is dropped, so readers
//! need no lock and no epoch.

mod file;
mod free_ranges;
pub(crate) mod layout;
pub(crate) mod open;
pub(crate) mod pool;
mod preopen;
pub(crate) mod promote;
mod readahead;
mod residency;
mod salvage;
mod verify;

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hadal_types::MemoryReservation;
use hadal_types::limits::BLOCK_BYTES_MAX;

use crate::disk::SegmentFile;
use crate::error::Error;
use file::Segment;
use layout::BlockLocation;
use pool::Pool;

/// Block starts in memory are multiples of this.
const ALIGNMENT: usize = 8;

/// The bytes of one block, borrowed from a segment. Cheap to clone; starts at a multiple of 8.
///
/// Bytes of a segment file keep the store's folder locked while they live, even after the store was
/// closed.
#[derive(Clone)]
pub struct BlockBytes(Arc<Extent>);

enum Extent {
    Heap { bytes: Vec<u8>, start: usize },
    File(FileExtent),
}

/// A range of a segment file. While it lives, no other block gets the range.
///
/// It waits to be restored until it is read from disk or from memory. A range that is read from
/// disk may later be read from memory, but never the other way: borrowed bytes must stay unchanged.
pub(crate) struct FileExtent {
    pool: Arc<Pool>,
    segment: Arc<Segment>,
    location: BlockLocation,
    /// Whether it may be read from the file on disk, which is mapped then.
    is_on_disk: AtomicBool,
    /// Its reservation of memory, once it is read from there.
    in_memory: OnceLock<MemoryReservation>,
    /// Whether the manifest names the range, so that its bytes must stay when readers go.
    is_named: AtomicBool,
    /// Whether the bytes that are read differ from those that were written.
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

    /// The file that it is read from; `None` while it waits to be restored.
    fn file(&self) -> Option<&dyn SegmentFile> {
        match self.is_in_memory() {
            true => self.segment.memory(),
            false => self.is_on_disk().then_some(&*self.segment.file),
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        self.file()?.bytes(self.location.offset, usize::try_from(self.location.length).ok()?)
    }

    /// Includes the faults of the file that it was read from before: a reader that got zeros there
    /// must notice.
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

    /// The block's length in bytes, even while it waits to be restored.
    #[must_use]
    pub fn byte_count(&self) -> u64 {
        self.location().map_or_else(|| self.len() as u64, |location| u64::from(location.length))
    }

    /// The position of the bytes, in words, for messages.
    #[must_use]
    pub fn describe_location(&self) -> String {
        match &*self.0 {
            Extent::Heap { .. } => "memory".to_owned(),
            Extent::File(FileExtent { pool, location, .. }) => {
                format!("{} at byte {}", pool.path_of(location.segment), location.offset)
            }
        }
    }

    /// The number of pages of its segment that could not be read so far. If it changes between
    /// verifying a checksum and the end of reading, the bytes that were read may be zeros.
    #[must_use]
    pub fn faults(&self) -> u64 {
        match &*self.0 {
            Extent::Heap { .. } => 0,
            Extent::File(extent) => extent.faults(),
        }
    }

    /// Notes that the bytes that are read differ from those that were written. After a clean stop
    /// the next process then verifies all blocks, as after a crash, so that it does not trust this
    /// one.
    pub fn note_damaged(&self) {
        if let Extent::File(extent) = &*self.0
            && !extent.is_damaged.swap(true, Ordering::Relaxed)
        {
            extent.pool.doubt();
        }
    }

    /// The block's position in the segment files; `None` if it is in heap memory.
    pub(crate) fn location(&self) -> Option<BlockLocation> {
        match &*self.0 {
            Extent::Heap { .. } => None,
            Extent::File(extent) => Some(extent.location),
        }
    }

    /// The block's segment and its position there; `None` if it is in heap memory.
    fn in_segment(&self) -> Option<(&Segment, BlockLocation)> {
        match &*self.0 {
            Extent::Heap { .. } => None,
            Extent::File(extent) => Some((&extent.segment, extent.location)),
        }
    }

    /// The position of a block that waits to be restored; `None` for all others.
    fn waiting(&self) -> Option<(&Segment, BlockLocation)> {
        match &*self.0 {
            Extent::File(extent) if extent.is_in_memory() || extent.is_on_disk() => None,
            _ => self.in_segment(),
        }
    }

    /// The position of a block that is read from disk; `None` for all others.
    fn on_disk(&self) -> Option<(&Segment, BlockLocation)> {
        match &*self.0 {
            Extent::File(extent) if extent.is_on_disk() && !extent.is_in_memory() => {
                self.in_segment()
            }
            _ => None,
        }
    }

    /// Makes the block be read from the file in memory from now on.
    fn reside_in_memory(&self, held: MemoryReservation) {
        if let Extent::File(extent) = &*self.0
            // Set once: nobody may write bytes that may be borrowed.
            && extent.in_memory.set(held).is_ok()
        {
            extent.pool.note_not_in_memory(false);
        }
    }

    /// Makes the block be read from the file on disk, which is mapped.
    fn reside_on_disk(&self) {
        if let Extent::File(extent) = &*self.0 {
            extent.is_on_disk.store(true, Ordering::Release);
        }
    }

    /// Whether an earlier process left the block's segment in memory.
    pub(crate) fn has_old_memory(&self) -> bool {
        self.in_segment().is_some_and(|(segment, _)| segment.is_memory_old)
    }

    /// Announces to the system that a waiting block will soon be read from disk. Does nothing if an
    /// earlier process left its segment in memory.
    pub(crate) fn expect(&self) {
        if let Some((segment, location)) = self.waiting().filter(|_| !self.has_old_memory()) {
            segment.file.expect(location.offset, u64::from(location.length));
        }
    }

    /// Whether the block waits to be restored.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting().is_some()
    }

    /// Whether the block is read from a file in memory.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        matches!(&*self.0, Extent::File(extent) if extent.is_in_memory())
    }

    /// Whether the block is in the segment files of `pool`.
    pub(crate) fn is_in(&self, pool: &Arc<Pool>) -> bool {
        matches!(&*self.0, Extent::File(extent) if Arc::ptr_eq(&extent.pool, pool))
    }

    /// Sets whether the manifest names the block. The range of an unnamed block is given back when
    /// its last reader goes.
    pub(crate) fn set_named(&self, is_named: bool) {
        if let Extent::File(extent) = &*self.0 {
            extent.is_named.store(is_named, Ordering::Release);
        }
    }
}

impl From<Vec<u8>> for BlockBytes {
    /// Takes over a heap segment of one block. Copies it only if it is not aligned.
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
