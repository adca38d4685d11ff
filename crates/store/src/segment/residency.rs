//! Where the blocks of the segment files are read from: from memory, or from the mapped file on
//! disk. Blocks of an earlier process are restored to memory, or stay where they are.

use hadal_types::MemoryReservation;

use super::BlockBytes;
use super::file::Segment;
use super::layout::BlockLocation;
use super::layout::paged;
use super::pool::Pool;
use super::verify::is_verified;
use crate::checksum::Checksum;
use crate::disk::SegmentFile;
use crate::error::Error;

impl Pool {
    /// Restores a block that an earlier process wrote: from memory if its bytes there are intact,
    /// else from disk. A block that may not be in memory is not read but mapped. Fails, in words,
    /// if it is in neither place.
    pub(crate) fn restore(
        &self,
        block: &BlockBytes,
        checksum: Checksum,
        may_be_in_memory: bool,
    ) -> Result<(), String> {
        let Some((segment, location)) = block.waiting() else { return Ok(()) };
        let Some(_opened) = self.while_open() else { return Err(Error::Closed.to_string()) };
        let unmapped = |error| format!("{} cannot be mapped: {error}", block.describe_location());
        if !may_be_in_memory {
            let length = u64::from(location.length);
            return match segment.file.has_hole(location.offset, length).map_err(unmapped)? {
                true => Err(format!("{} was never written there", block.describe_location())),
                false => self.leave_on_disk(block, segment, location).map_err(unmapped),
            };
        }
        if let Some(memory) = segment.memory().filter(|_| segment.is_memory_old)
            && is_verified(memory, location, checksum, self.salt)
            && let Some(held) = self.reserve_memory(location)
        {
            block.reside_in_memory(held);
            return Ok(());
        }
        segment.read_ahead(location);
        let bytes = self.read_from_disk(segment, location, checksum)?;
        segment.forget_large(location);
        self.admit_to_memory(block, segment, location, &bytes, true).map_err(unmapped)
    }

    /// Makes a block that waits to be restored be read from disk.
    pub(crate) fn leave_waiting_on_disk(&self, block: &BlockBytes) -> std::io::Result<()> {
        let Some((segment, location)) = block.waiting() else { return Ok(()) };
        self.leave_on_disk(block, segment, location)
    }

    /// The intact bytes of a block in the file on disk, if its checksum is known. For a block whose
    /// copy elsewhere is damaged.
    pub(crate) fn copy_on_disk(&self, block: &BlockBytes, checksum: Checksum) -> Option<Vec<u8>> {
        let _opened = self.while_open()?;
        let (segment, location) = block.in_segment().filter(|_| checksum.is_known())?;
        let bytes = self.read_from_disk(segment, location, checksum).ok();
        segment.file.forget(location.offset, u64::from(location.length));
        bytes
    }

    pub(super) fn read_from_disk(
        &self,
        segment: &Segment,
        location: BlockLocation,
        checksum: Checksum,
    ) -> Result<Vec<u8>, String> {
        self.bytes_of(&*segment.file, location, checksum)
    }

    /// The bytes of a block in a file, if they are those that were written.
    pub(super) fn bytes_of(
        &self,
        file: &dyn SegmentFile,
        location: BlockLocation,
        checksum: Checksum,
    ) -> Result<Vec<u8>, String> {
        let described =
            || format!("{} at byte {}", self.path_of(location.segment), location.offset);
        let length = usize::try_from(location.length).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length];
        let read = file.read(location.offset, &mut bytes);
        read.map_err(|error| format!("{} cannot be read: {error}", described()))?;
        if checksum.is_known() && Checksum::of(self.salt, &bytes) != checksum {
            return Err(format!("{} is not what was written there", described()));
        }
        Ok(bytes)
    }

    /// Copies a block that is on disk to memory, if it may be there and memory is free. Sets where
    /// it is read from now on.
    pub(super) fn admit_to_memory(
        &self,
        block: &BlockBytes,
        segment: &Segment,
        location: BlockLocation,
        bytes: &[u8],
        may_be_in_memory: bool,
    ) -> std::io::Result<()> {
        if let Some(memory) = segment.memory()
            && may_be_in_memory
            && let Some(held) = self.reserve_memory(location)
            && memory.write(location.offset, bytes).is_ok()
        {
            block.reside_in_memory(held);
            return Ok(());
        }
        self.leave_on_disk(block, segment, location)
    }

    /// Makes a block be read from disk.
    fn leave_on_disk(
        &self,
        block: &BlockBytes,
        segment: &Segment,
        location: BlockLocation,
    ) -> std::io::Result<()> {
        if let Some(memory) = segment.memory() {
            // An earlier process, with more memory, may have left the block there.
            self.count_failure(memory.punch(location.offset, paged(location.length)));
        }
        segment.file.map()?;
        block.reside_on_disk();
        Ok(())
    }

    /// Reserves memory for a block, if some is free.
    pub(super) fn reserve_memory(&self, location: BlockLocation) -> Option<MemoryReservation> {
        let mut held = self.folders.memory.as_ref()?.budget.reservation();
        held.resize(usize::try_from(paged(location.length)).ok()?).ok()?;
        Some(held)
    }
}
