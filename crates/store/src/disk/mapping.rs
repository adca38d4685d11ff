//! Bytes of a file that is mapped read-only. This file and `sigbus.rs` hold all `unsafe` code of
//! mappings.
//!
//! These rules make it sound. `segment::pool` keeps them, and nothing else writes segment files:
//!
//! 1. A range is written before its bytes are borrowed, and is neither written nor punched while
//!    they are borrowed. (A `BlockBytes` owns its range. The range goes back to the pool when its
//!    last `BlockBytes` is dropped, and only then can it be given to another writer.)
//! 2. A segment file never changes its length, and the folder's lock keeps other stores away.
//! 3. Only ranges of written blocks are borrowed, never holes, so no read needs memory that a full
//!    tmpfs could refuse with a SIGBUS.
//!
//! A file that is truncated from outside, or a disk that fails to read, causes a SIGBUS, which
//! `sigbus.rs` handles.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::slice;

use memmap2::{MmapOptions, MmapRaw, UncheckedAdvice};

use super::sigbus::Watch;

/// A whole file, mapped read-only and shared.
#[derive(Debug)]
pub(crate) struct Mapping {
    // Dropped first.
    watch: Watch,
    map: MmapRaw,
}

impl Mapping {
    /// Maps all of `file`; its length must not be zero.
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        let map = MmapOptions::new().map_raw_read_only(file)?;
        let start = map.as_ptr().addr();
        let watch = Watch::over(start..start + map.len())?;
        Ok(Self { watch, map })
    }

    /// The file's length in bytes when it was mapped.
    pub(crate) fn length(&self) -> u64 {
        self.map.len() as u64
    }

    /// The number of pages that could not be read so far, and are zeros since.
    pub(crate) fn faults(&self) -> u64 {
        self.watch.faults()
    }

    /// Makes the system forget a range of this mapping; the next reader reads it from the file
    /// again. Only advice.
    pub(crate) fn forget(&self, offset: u64, length: u64) {
        let range = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
        let Some((offset, length)) = range else { return };
        if offset.checked_add(length).is_none_or(|end| end > self.map.len()) {
            return;
        }
        // SAFETY: the mapping is shared and of a file, so reads after this see the file's bytes. By
        // the rules above these equal the bytes before, also for code that borrows them now.
        let _ =
            unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, offset, length) };
    }

    /// The bytes of a range that was written; `None` outside of the file.
    pub(crate) fn bytes(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let offset = usize::try_from(offset).ok()?;
        let end = offset.checked_add(length)?;
        if end > self.map.len() {
            return None;
        }
        // SAFETY: offset..end is in the mapping, which lives as long as `self`; u8 has no alignment
        // and no invalid values; by the rules above nobody changes the range while it is borrowed.
        Some(unsafe { slice::from_raw_parts(self.map.as_ptr().add(offset), length) })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn ranges_outside_of_the_file_are_refused() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"0123456789").expect("written");
        let mapping = Mapping::new(&file).expect("mapped");
        assert_eq!(mapping.length(), 10);
        assert_eq!(mapping.bytes(2, 3), Some(&b"234"[..]));
        assert_eq!(mapping.bytes(10, 0), Some(&b""[..]));
        for (offset, length) in [(0, 11), (10, 1), (11, 0), (u64::MAX, 1), (1, usize::MAX)] {
            assert_eq!(mapping.bytes(offset, length), None, "{offset} {length}");
        }
    }
}
