//! Segment files that are opened, and blocks that are adopted, while another process has the folder.
//!
//! Nothing is written, removed or given back meanwhile, and what is adopted belongs to nobody yet: blocks
//! count as named, so that nothing of them is given back wherever they are dropped.

use std::sync::Arc;

use super::file::Segment;
use super::open::Named;
use super::pool::{Pool, SegmentEntry, file_name, paged};
use super::{BlockBytes, BlockLocation};
use crate::config::Folders;
use crate::disk::{Disk, SegmentFile};
use crate::lock::lock;
use crate::manifest::BlockRecord;

impl Pool {
    /// Opens the segment files that hold the blocks `named` now, and returns the bytes of these in their
    /// order: read from memory where the store has some. `None` for all of a segment whose files are not
    /// as they should be, or with blocks for which there is no room: that is looked into later.
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
            lock(&pool.table).segments.insert(number, entry);
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

    /// Forgets a block that was adopted: whoever has the folder has removed it. To be called before
    /// anything is adopted that may lie there now.
    pub(crate) fn forget(&self, location: BlockLocation) {
        if let Some(entry) = lock(&self.table).segments.get_mut(&location.segment) {
            entry.free.give(location.offset, paged(location.length));
        }
    }

    /// Whether the files of all segments that have blocks are those that the folders have; the others are
    /// closed.
    pub(crate) fn is_as_in_folders(&self) -> bool {
        let mut table = lock(&self.table);
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
