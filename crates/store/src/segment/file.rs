//! A segment file: on disk, and also in memory if the store has some.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;

use super::layout::BlockLocation;
use super::layout::PAGE;
use super::readahead::{READAHEAD_BYTES, Readahead};
use crate::disk::SegmentFile;

/// From this size in bytes on, reading a block takes so long that forgetting it adds little.
const LARGE: u32 = 256 << 10;

/// One segment file.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(super) number: u32,
    /// The file that survives the machine.
    pub(super) file: Box<dyn SegmentFile>,
    /// The file that is read instead, if the store has memory of its own: the same bytes at the
    /// same offsets.
    pub(super) memory: OnceLock<Box<dyn SegmentFile>>,
    /// Whether an earlier process wrote the file in memory.
    pub(super) is_memory_old: bool,
    /// Whether bytes were written since the last sync.
    pub(super) is_dirty: AtomicBool,
    /// The state of reading the file on disk ahead.
    pub(super) readahead: Mutex<Readahead>,
}

impl Segment {
    /// The file in memory, if there is one.
    pub(super) fn memory(&self) -> Option<&dyn SegmentFile> {
        self.memory.get().map(|memory| &**memory)
    }

    /// Has the bytes before a block read ahead while blocks are restored from the last to the
    /// first: otherwise each small block would be waited for. The bytes behind the block were read,
    /// and are forgotten. This is not done per block either, because it takes as long as reading
    /// one.
    pub(super) fn read_ahead(&self, location: BlockLocation) {
        let end = location.offset.saturating_add(u64::from(location.length));
        if let Some(range) = self.readahead.lock().next(location.offset, end) {
            self.file.expect(range.start, range.end - range.start);
            self.file.forget(end, 2 * READAHEAD_BYTES);
        }
    }

    /// Makes the system forget a large block at once, while it is still in a processor's cache. The
    /// block's copy in memory, which is written next, takes its place.
    pub(super) fn forget_large(&self, location: BlockLocation) {
        if location.length >= LARGE {
            self.file.forget(location.offset, u64::from(location.length));
        }
    }

    /// Makes the system forget the file on disk but for its header, which the next start reads.
    pub(super) fn forget_disk(&self) {
        self.file.forget(PAGE, self.file.length().saturating_sub(PAGE));
    }

    /// Whether mapped pages could not be read. They are zeros now, whatever is written.
    pub(super) fn has_faults(&self) -> bool {
        self.file.faults() > 0 || self.memory().is_some_and(|memory| memory.faults() > 0)
    }

    /// Gives back the memory of a range, if it has some.
    pub(super) fn punch_memory(&self, offset: u64, length: u64) -> std::io::Result<()> {
        self.memory().map_or(Ok(()), |memory| memory.punch(offset, length))
    }

    /// Gives back the memory and the disk of a range.
    pub(super) fn punch(&self, offset: u64, length: u64) -> std::io::Result<()> {
        self.punch_memory(offset, length)?;
        self.file.punch(offset, length)
    }
}
