//! A segment file: on disk, and in memory where the store has some.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Place, Residence};
use crate::disk::SegmentFile;

/// One segment file.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(super) number: u32,
    /// What survives the machine.
    pub(super) file: Box<dyn SegmentFile>,
    /// What is read instead, where the store has memory of its own: the same bytes, at the same
    /// places.
    pub(super) memory: Option<Box<dyn SegmentFile>>,
    /// Whether an earlier process wrote the file in memory.
    pub(super) is_memory_old: bool,
    /// Whether something was written since the last sync.
    pub(super) is_dirty: AtomicBool,
    /// From where on the file on disk is read ahead.
    pub(super) ahead_from: AtomicU64,
}

/// Bytes of a file that are read ahead of blocks which are brought back.
const AHEAD: u64 = 8 << 20;

impl Segment {
    /// The bytes of a block.
    pub(super) fn bytes(&self, place: Place, residence: &Residence) -> Option<&[u8]> {
        let length = usize::try_from(place.length).ok()?;
        match residence {
            Residence::Disk => self.file.bytes(place.offset, length),
            Residence::Memory(_) => self.memory.as_ref()?.bytes(place.offset, length),
        }
    }

    /// Has the bytes before a block read ahead, from the last block to the first as they are brought
    /// back: small blocks would be waited for one by one.
    pub(super) fn read_ahead(&self, place: Place) {
        let end = place.offset.saturating_add(u64::from(place.length));
        let from = self.ahead_from.load(Ordering::Relaxed).min(end);
        // While half of what was asked for is not read yet, it may well be on its way.
        let is_on_its_way = from < end && from.saturating_add(AHEAD / 2) < end;
        if is_on_its_way || from == 0 {
            return;
        }
        let before = from.saturating_sub(AHEAD);
        self.file.expect(before, from - before);
        self.ahead_from.store(before, Ordering::Relaxed);
    }

    /// How many pages of the file that is read could not be.
    pub(super) fn faults(&self, residence: &Residence) -> u64 {
        match residence {
            Residence::Disk => self.file.faults(),
            Residence::Memory(_) => self.memory.as_ref().map_or(0, |memory| memory.faults()),
        }
    }

    /// Whether some of what is mapped could not be read: there are zeros now, whatever is written.
    pub(super) fn has_faults(&self) -> bool {
        self.file.faults() > 0 || self.memory.as_ref().is_some_and(|memory| memory.faults() > 0)
    }

    /// Gives back the memory of a range, where it has some.
    pub(super) fn punch_memory(&self, offset: u64, length: u64) -> std::io::Result<()> {
        self.memory.as_ref().map_or(Ok(()), |memory| memory.punch(offset, length))
    }

    /// Gives back the memory and the disk of a range.
    pub(super) fn punch(&self, offset: u64, length: u64) -> std::io::Result<()> {
        self.punch_memory(offset, length)?;
        self.file.punch(offset, length)
    }
}
