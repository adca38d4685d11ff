//! What is saved of a segment whose file on disk is gone, or has a wrong header or length: each block
//! that is somewhere as it was written. `spec/segments.md`, section 5.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::open::is_verified;
use super::pool::{PAGE, Pool, file_name, header};
use crate::disk::{Disk, SegmentFile};
use crate::error::Error;
use crate::manifest::BlockPlace;

/// The end of the name of a file that is being made.
const HALF_MADE: &str = ".segment.new";

fn half_made(number: u32) -> String {
    file_name(number) + ".new"
}

/// A segment's file on disk that was written anew.
pub(super) struct Renewed {
    pub(super) file: Box<dyn SegmentFile>,
    /// Which of the blocks were nowhere.
    pub(super) lost: BTreeSet<usize>,
}

/// Removes what a process left that ended while it wrote a segment anew.
pub(super) fn remove_half_made(disk: &dyn Disk, names: &[String]) -> Result<(), Error> {
    for name in names.iter().filter(|name| name.ends_with(HALF_MADE)) {
        disk.remove(name).map_err(|error| Error::io("remove", &disk.place(name), error))?;
    }
    Ok(())
}

impl Pool {
    /// Writes a segment's file on disk anew: each of the blocks `of_it` among those `named` from
    /// memory, or from the damaged file, whichever has it as it was written. `None` when no block is left.
    ///
    /// All of its blocks are read.
    pub(super) fn renew(
        &self,
        number: u32,
        memory: Option<&dyn SegmentFile>,
        damaged: Option<&dyn SegmentFile>,
        named: &[&BlockPlace],
        of_it: &[usize],
    ) -> Result<Option<Renewed>, Error> {
        let (mut saved, mut lost) = (Vec::with_capacity(of_it.len()), BTreeSet::new());
        for &at in of_it {
            match self.saved(memory, damaged, named[at]) {
                Some(bytes) => saved.push((named[at].place.offset, bytes)),
                None => drop(lost.insert(at)),
            }
        }
        let end = |(offset, bytes): &(u64, Cow<'_, [u8]>)| offset + paged_length(bytes);
        let Some(end) = saved.iter().map(end).max() else { return Ok(None) };
        let length = memory.map_or(end.max(self.segment_bytes), |memory| memory.length());
        let disk = &*self.folders.segments;
        match self.write_anew(number, length, &saved) {
            Ok(file) => Ok(Some(Renewed { file, lost })),
            Err(error) => {
                drop(disk.remove(&half_made(number)));
                // A full disk must not keep a server from its start: rows can be dropped only by
                // one. What lies behind the damaged header waits there for a start with room; what
                // memory has would be given up.
                match error {
                    Error::Full(_) if memory.is_none() => Ok(None),
                    error => Err(error),
                }
            }
        }
    }

    fn write_anew(
        &self,
        number: u32,
        length: u64,
        blocks: &[(u64, Cow<'_, [u8]>)],
    ) -> Result<Box<dyn SegmentFile>, Error> {
        let failed = |error| Error::io("write anew", &self.place(number), error);
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

    /// The bytes of a block, from where it is as it was written.
    fn saved<'a>(
        &self,
        memory: Option<&'a dyn SegmentFile>,
        damaged: Option<&dyn SegmentFile>,
        block: &BlockPlace,
    ) -> Option<Cow<'a, [u8]>> {
        let &BlockPlace { place, checksum, .. } = block;
        let length = usize::try_from(place.length).ok()?;
        let in_memory = memory
            .filter(|memory| is_verified(*memory, place, checksum, self.salt))
            .and_then(|memory| memory.bytes(place.offset, length));
        in_memory.map(Cow::Borrowed).or_else(|| {
            let file = damaged.filter(|_| checksum.is_known())?;
            let ends = place.offset.checked_add(u64::from(place.length))?;
            // What is said of its length decides how much is read.
            let bytes = (ends <= file.length()).then(|| self.bytes_of(file, place, checksum));
            bytes?.ok().map(Cow::Owned)
        })
    }
}

/// Bytes of a segment that a block takes.
fn paged_length(bytes: &[u8]) -> u64 {
    (bytes.len() as u64).next_multiple_of(PAGE)
}
