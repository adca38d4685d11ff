//! Moves blocks that are read from disk to memory, while they are read.
//!
//! A block has the same offset in both files of its segment, so the manifest does not change. Bytes
//! that were borrowed before are read from disk until they are given back; later readers use
//! memory.

use super::BlockBytes;
use super::file::Segment;
use super::layout::BlockLocation;
use super::pool::Pool;
use crate::checksum::Checksum;
use crate::error::Error;

/// The outcome of a promotion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promotion {
    /// The block is read from memory now, or was before.
    Done,
    /// Memory is full.
    NoMemory,
    /// The block stays on disk, for this reason.
    Refused(String),
}

impl Pool {
    /// Makes a block that is read from disk be read from memory, if its bytes on disk match this
    /// checksum. Takes as long as reading and writing its bytes.
    pub(crate) fn promote(&self, block: &BlockBytes, checksum: Checksum) -> Promotion {
        let Some((segment, location)) = block.on_disk() else { return Promotion::Done };
        let Some(_opened) = self.while_open() else {
            return Promotion::Refused(Error::Closed.to_string());
        };
        if !checksum.is_known() {
            // A block of an early version. Its columns were verified; a copy must not inherit that.
            return Promotion::Refused(format!("{} has no checksum", block.describe_location()));
        }
        segment.read_ahead(location);
        let bytes = match self.read_from_disk(segment, location, checksum) {
            Ok(bytes) => bytes,
            Err(reason) => return Promotion::Refused(reason),
        };
        let moved = self.write_promoted(block, segment, location, &bytes);
        if moved == Promotion::Done {
            segment.file.forget_mapped(location.offset, u64::from(location.length));
        }
        moved
    }

    fn write_promoted(
        &self,
        block: &BlockBytes,
        segment: &Segment,
        location: BlockLocation,
        bytes: &[u8],
    ) -> Promotion {
        let _one = self.promoting.lock();
        if block.is_in_memory() {
            return Promotion::Done;
        }
        if segment.memory().is_none()
            && let Some(file) = self.memory_for(segment.number, segment.file.length())
        {
            // Cannot be set already: the lock admits one thread at a time.
            let _ = segment.memory.set(file);
        }
        let Some((memory, held)) = segment.memory().zip(self.reserve_memory(location)) else {
            return Promotion::NoMemory;
        };
        if memory.write(location.offset, bytes).is_err() {
            self.count_failure(memory.punch(location.offset, bytes.len() as u64));
            return Promotion::NoMemory;
        }
        block.reside_in_memory(held);
        Promotion::Done
    }
}
