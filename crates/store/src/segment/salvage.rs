//! Salvages a segment whose file on disk is missing, or has a wrong header or length: saves each
//! block whose bytes are intact on disk or in memory. `spec/segments.md`, section 5.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::layout::{PAGE, file_name, header};
use super::pool::Pool;
use super::verify::is_verified;
use crate::block_record::BlockRecord;
use crate::disk::{Disk, SegmentFile};
use crate::error::Error;

/// The end of the name of a file that is being made.
const HALF_MADE: &str = ".segment.new";

fn half_made(number: u32) -> String {
    file_name(number) + ".new"
}

/// A segment's rewritten file on disk.
pub(super) struct Salvaged {
    pub(super) file: Box<dyn SegmentFile>,
    /// The indices of the blocks that are intact nowhere.
    pub(super) lost: BTreeSet<usize>,
}

/// Removes the files of a process that ended while it rewrote a segment.
pub(super) fn remove_half_made(disk: &dyn Disk, names: &[String]) -> Result<(), Error> {
    for name in names.iter().filter(|name| name.ends_with(HALF_MADE)) {
        disk.remove(name).map_err(|error| Error::io("remove", &disk.path_of(name), error))?;
    }
    Ok(())
}

impl Pool {
    /// Rewrites a segment's file on disk: each of the blocks `indices` among `named` from memory,
    /// or from the damaged file, whichever has it intact. `None` if no block is left.
    ///
    /// Reads all of its blocks.
    pub(super) fn salvage(
        &self,
        number: u32,
        memory: Option<&dyn SegmentFile>,
        damaged: Option<&dyn SegmentFile>,
        named: &[&BlockRecord],
        indices: &[usize],
    ) -> Result<Option<Salvaged>, Error> {
        let (mut saved, mut lost) = (Vec::with_capacity(indices.len()), BTreeSet::new());
        for &at in indices {
            match self.saved(memory, damaged, named[at]) {
                Some(bytes) => saved.push((named[at].location.offset, bytes)),
                None => drop(lost.insert(at)),
            }
        }
        let end = |(offset, bytes): &(u64, Cow<'_, [u8]>)| offset + paged_length(bytes);
        let Some(end) = saved.iter().map(end).max() else { return Ok(None) };
        let length = memory.map_or(end.max(self.segment_bytes), |memory| memory.length());
        let disk = &*self.folders.segments;
        match self.rewrite_file(number, length, &saved) {
            Ok(file) => Ok(Some(Salvaged { file, lost })),
            Err(error) => {
                drop(disk.remove(&half_made(number)));
                // A full disk must not prevent a start: rows can be dropped only by a running
                // server. Blocks behind the damaged header wait there for a start with free disk.
                // Blocks in memory would be given up.
                match error {
                    Error::Full(_) if memory.is_none() => Ok(None),
                    error => Err(error),
                }
            }
        }
    }

    fn rewrite_file(
        &self,
        number: u32,
        length: u64,
        blocks: &[(u64, Cow<'_, [u8]>)],
    ) -> Result<Box<dyn SegmentFile>, Error> {
        let failed = |error| Error::io("write anew", &self.path_of(number), error);
        let disk = &*self.folders.segments;
        let (name, new) = (file_name(number), half_made(number));
        let file = disk.create_segment(&new, length).map_err(failed)?;
        file.write(0, &header(self.salt, length, number)).map_err(failed)?;
        for (offset, bytes) in blocks {
            file.write(*offset, bytes).map_err(failed)?;
        }
        file.sync().map_err(failed)?;
        disk.rename(&new, &name).and_then(|()| disk.sync_folder()).map_err(failed)?;
        file.forget(0, file.length());
        Ok(file)
    }

    /// The bytes of a block, from the file that has it intact.
    fn saved<'a>(
        &self,
        memory: Option<&'a dyn SegmentFile>,
        damaged: Option<&dyn SegmentFile>,
        block: &BlockRecord,
    ) -> Option<Cow<'a, [u8]>> {
        let &BlockRecord { location, checksum, .. } = block;
        let length = usize::try_from(location.length).ok()?;
        let in_memory = memory
            .filter(|memory| is_verified(*memory, location, checksum, self.salt))
            .and_then(|memory| memory.bytes(location.offset, length));
        in_memory.map(Cow::Borrowed).or_else(|| {
            let file = damaged.filter(|_| checksum.is_known())?;
            let ends = location.offset.checked_add(u64::from(location.length))?;
            // The manifest's length decides how much is read, so it must fit the file.
            let bytes = (ends <= file.length()).then(|| self.bytes_of(file, location, checksum));
            bytes?.ok().map(Cow::Owned)
        })
    }
}

/// The bytes that a block takes in a segment.
fn paged_length(bytes: &[u8]) -> u64 {
    (bytes.len() as u64).next_multiple_of(PAGE)
}
