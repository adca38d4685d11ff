//! Blocks that are read from disk come to memory, while they are read.
//!
//! A block has the same place in both files of its segment, so it stays where it is for the manifest.
//! What was borrowed before is read from disk until it is given back; whoever asks next reads memory.

use super::file::Segment;
use super::pool::Pool;
use super::{BlockBytes, BlockLocation};
use crate::error::Error;
use crate::lock::lock;
use crate::manifest::Checksum;

/// What came of a try to have a block read from memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promotion {
    /// It is read from there now, or was before.
    Done,
    /// There is no room.
    NoMemory,
    /// It stays where it is, for this reason.
    Refused(String),
}

impl Pool {
    /// Has a block of this checksum read from memory that was read from disk, if it is there as it was
    /// written. Takes as long as reading and writing its bytes does.
    pub(crate) fn promote(&self, block: &BlockBytes, checksum: Checksum) -> Promotion {
        let Some((segment, location)) = block.on_disk() else { return Promotion::Done };
        let Some(_opened) = self.while_open() else {
            return Promotion::Refused(Error::Closed.to_string());
        };
        if !checksum.is_known() {
            // Of an early version. What was verified of its columns must not be believed of a copy.
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
        let _one = lock(&self.promoting);
        if block.is_in_memory() {
            return Promotion::Done;
        }
        if segment.memory().is_none()
            && let Some(file) = self.memory_for(segment.number, segment.file.length())
        {
            // Nobody else sets it: this is done by one at a time.
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
