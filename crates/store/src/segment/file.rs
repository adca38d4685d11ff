//! A segment file: on disk, and in memory where the store has some.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};

use super::BlockLocation;
use super::pool::PAGE;
use super::readahead::{READAHEAD_BYTES, Readahead};
use crate::disk::SegmentFile;
use crate::lock::lock;

/// From so many bytes on a block is read so long that to forget it costs little beside that.
const LARGE: u32 = 256 << 10;

/// One segment file.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(super) number: u32,
    /// What survives the machine.
    pub(super) file: Box<dyn SegmentFile>,
    /// What is read instead, where the store has memory of its own: the same bytes, at the same
    /// places.
    pub(super) memory: OnceLock<Box<dyn SegmentFile>>,
    /// Whether an earlier process wrote the file in memory.
    pub(super) is_memory_old: bool,
    /// Whether something was written since the last sync.
    pub(super) is_dirty: AtomicBool,
    /// What of the file on disk is read ahead.
    pub(super) readahead: Mutex<Readahead>,
}

impl Segment {
    /// The file in memory, if there is one.
    pub(super) fn memory(&self) -> Option<&dyn SegmentFile> {
        self.memory.get().map(|memory| &**memory)
    }

    /// Has the bytes before a block read ahead where blocks are brought back from the last to the first:
    /// small ones would be waited for one by one. What lies behind it was read, and is forgotten, not
    /// block by block either: that takes as long as to read one.
    pub(super) fn read_ahead(&self, location: BlockLocation) {
        let end = location.offset.saturating_add(u64::from(location.length));
        if let Some(range) = lock(&self.readahead).next(location.offset, end) {
            self.file.expect(range.start, range.end - range.start);
            self.file.forget(end, 2 * READAHEAD_BYTES);
        }
    }

    /// Has what was read of a large block forgotten at once, while a processor still has it: what is
    /// written to memory next takes its place.
    pub(super) fn forget_large(&self, location: BlockLocation) {
        if location.length >= LARGE {
            self.file.forget(location.offset, u64::from(location.length));
        }
    }

    /// Has the system keep nothing of the file on disk but its header, which the next start reads.
    pub(super) fn forget_disk(&self) {
        self.file.forget(PAGE, self.file.length().saturating_sub(PAGE));
    }

    /// Whether some of what is mapped could not be read: there are zeros now, whatever is written.
    pub(super) fn has_faults(&self) -> bool {
        self.file.faults() > 0 || self.memory().is_some_and(|memory| memory.faults() > 0)
    }

    /// Gives back the memory of a range, where it has some.
    pub(super) fn punch_memory(&self, offset: u64, length: u64) -> std::io::Result<()> {
        self.memory().map_or(Ok(()), |memory| memory.punch(offset, length))
    }

    /// Gives back the memory and the disk of a range.
    pub(super) fn punch(&self, offset: u64, length: u64) -> std::io::Result<()> {
        self.punch_memory(offset, length)?;
        self.file.punch(offset, length)
    }
}
