//! Opens segment files and adopts blocks while another process has the folder.
//!
//! Nothing is written, removed or given back here, and adopted blocks belong to no store yet. They
//! count as named by the manifest, so that dropping them frees no range.

use std::sync::Arc;

use super::BlockBytes;
use super::file::Segment;
use super::layout::BlockLocation;
use super::layout::{file_name, paged};
use super::open::Named;
use super::pool::{Pool, SegmentEntry};
use crate::block_record::BlockRecord;
use crate::disk::{Disk, SegmentFile};
use crate::folders::Folders;

impl Pool {
    /// Opens the segment files that hold the blocks `named`, and returns their bytes in order, read
    /// from memory if the store has some. All blocks of a segment are `None` if its files are not
    /// as expected, or if memory for them is missing: the start handles these later.
    pub(crate) fn preopen(
        folders: Folders,
        salt: u64,
        segment_bytes: u64,
        named: &[&BlockRecord],
    ) -> (Arc<Self>, Vec<Option<BlockBytes>>) {
        let pool = Arc::new(Self::new(folders, salt, segment_bytes));
        let named = Named::new(named);
        let mut blocks = vec![None; named.blocks.len()];
        for &number in named.by_segment.keys() {
            let Some(mut entry) = pool.preopen_entry(number) else { continue };
            let indices = named.of(number);
            let locations = || indices.iter().map(|&at| named.blocks[at].location);
            if !locations().all(|location| entry.free.take(location.offset, paged(location.length)))
            {
                continue;
            }
            let adopt = |location| pool.adopted(&entry.segment, location, true);
            let adopted: Vec<BlockBytes> = locations().map(adopt).collect();
            if adopted.iter().any(BlockBytes::is_waiting) {
                continue;
            }
            pool.table.lock().segments.insert(number, entry);
            for (&at, bytes) in indices.iter().zip(adopted) {
                blocks[at] = Some(bytes);
            }
        }
        (pool, blocks)
    }

    fn preopen_entry(&self, number: u32) -> Option<SegmentEntry> {
        let open = |disk: &dyn Disk| {
            let file = disk.open_segment(&file_name(number)).ok()?;
            self.has_header(number, &*file).then_some(file)
        };
        let file = open(&*self.folders.segments)?;
        let memory = match self.memory() {
            Some(memory) => Some(open(memory).filter(|memory| memory.length() == file.length())?),
            None => None,
        };
        memory.as_ref().unwrap_or(&file).map().ok()?;
        let is_memory_old = memory.is_some();
        Some(SegmentEntry::of_file(number, file, memory, is_memory_old))
    }

    /// Forgets an adopted block that the folder's owner has removed. Must be called before a block
    /// is adopted that may be in its place now.
    pub(crate) fn forget(&self, location: BlockLocation) {
        if let Some(entry) = self.table.lock().segments.get_mut(&location.segment) {
            entry.free.give(location.offset, paged(location.length));
        }
    }

    /// Whether the files of all segments with blocks are still those in the folders. Closes all
    /// other files.
    pub(crate) fn is_as_in_folders(&self) -> bool {
        let mut table = self.table.lock();
        table.segments.retain(|_, entry| !entry.is_empty());
        table.segments.values().all(|entry| self.is_in_folders(&entry.segment))
    }

    fn is_in_folders(&self, segment: &Segment) -> bool {
        let is_same = |disk: &dyn Disk, file: &dyn SegmentFile| {
            let now = disk.identity(&file_name(segment.number)).ok();
            now.is_some_and(|now| {
                now.length == file.length() && file.identity().is_ok_and(|identity| identity == now)
            })
        };
        let is_in_memory = |memory| segment.memory().is_some_and(|file| is_same(memory, file));
        is_same(&*self.folders.segments, &*segment.file) && self.memory().is_none_or(is_in_memory)
    }
}
