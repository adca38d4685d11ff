//! Blocks that are read from disk come to memory, while they are read.
//!
//! A block has the same place in both files of its segment, so it stays where it is for the manifest.
//! What was borrowed before is read from disk until it is given back; whoever asks next reads memory.

use super::file::Segment;
use super::pool::Pool;
use super::{BlockBytes, Place};
use crate::error::Error;
use crate::lock::lock;
use crate::manifest::Checksum;

/// What came of a try to have a block read from memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It is read from there now, or was before.
    Yes,
    /// There is no room.
    NoRoom,
    /// It stays where it is, for this reason.
    Stays(String),
}

impl Pool {
    /// Has a block of this checksum read from memory that was read from disk, if it is there as it was
    /// written. Takes as long as reading and writing its bytes does.
    pub(crate) fn move_to_memory(&self, block: &BlockBytes, checksum: Checksum) -> Moved {
        let Some((segment, place)) = block.on_disk() else { return Moved::Yes };
        let Some(_opened) = self.while_open() else {
            return Moved::Stays(Error::Closed.to_string());
        };
        if !checksum.is_known() {
            // Of an early version. What was verified of its columns must not be believed of a copy.
            return Moved::Stays(format!("{} has no checksum", block.location()));
        }
        segment.read_ahead(place);
        let bytes = match self.read_from_disk(segment, place, checksum) {
            Ok(bytes) => bytes,
            Err(reason) => return Moved::Stays(reason),
        };
        let moved = self.write_moved(block, segment, place, &bytes);
        if moved == Moved::Yes {
            segment.file.forget_mapped(place.offset, u64::from(place.length));
        }
        moved
    }

    fn write_moved(
        &self,
        block: &BlockBytes,
        segment: &Segment,
        place: Place,
        bytes: &[u8],
    ) -> Moved {
        let _one = lock(&self.moving);
        if block.is_in_memory() {
            return Moved::Yes;
        }
        if segment.memory().is_none()
            && let Some(file) = self.memory_for(segment.number, segment.file.length())
        {
            // Nobody else sets it: this is done by one at a time.
            let _ = segment.memory.set(file);
        }
        let Some((memory, held)) = segment.memory().zip(self.room_for(place)) else {
            return Moved::NoRoom;
        };
        if memory.write(place.offset, bytes).is_err() {
            self.count_failure(memory.punch(place.offset, bytes.len() as u64));
            return Moved::NoRoom;
        }
        block.reside_in_memory(held);
        Moved::Yes
    }
}
