//! Segment files that are opened, and blocks that are adopted, while another process has the folder.
//!
//! Nothing is written, removed or given back meanwhile, and what is adopted belongs to nobody yet: blocks
//! count as named, so that nothing of them is given back wherever they are dropped.

use std::sync::Arc;

use super::file::Segment;
use super::open::Named;
use super::pool::{Pool, Shelf, file_name, paged};
use super::{BlockBytes, Place};
use crate::config::Folders;
use crate::disk::{Disk, SegmentFile};
use crate::lock::lock;
use crate::manifest::BlockPlace;

impl Pool {
    /// Opens the segment files that hold the blocks `named` now, and returns the bytes of these in their
    /// order: read from memory where the store has some. `None` for all of a segment whose files are not
    /// as they should be, or with blocks for which there is no room: that is looked into later.
    pub(crate) fn open_early(
        folders: Folders,
        salt: u64,
        segment_bytes: u64,
        named: &[&BlockPlace],
    ) -> (Arc<Self>, Vec<Option<BlockBytes>>) {
        let pool = Arc::new(Self::new(folders, salt, segment_bytes));
        let named = Named::new(named);
        let mut blocks = vec![None; named.blocks.len()];
        for &number in named.by_segment.keys() {
            let Some(mut shelf) = pool.shelf_early(number) else { continue };
            let own = named.of(number);
            let places = || own.iter().map(|&at| named.blocks[at].place);
            if !places().all(|place| shelf.free.take(place.offset, paged(place.length))) {
                continue;
            }
            let adopt = |place| pool.adopted(&shelf.segment, place, true);
            let adopted: Vec<BlockBytes> = places().map(adopt).collect();
            if adopted.iter().any(BlockBytes::is_waiting) {
                continue;
            }
            lock(&pool.shelves).segments.insert(number, shelf);
            for (&at, bytes) in own.iter().zip(adopted) {
                blocks[at] = Some(bytes);
            }
        }
        (pool, blocks)
    }

    fn shelf_early(&self, number: u32) -> Option<Shelf> {
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
        Some(Shelf::of_file(number, file, memory, is_memory_old))
    }

    /// Forgets a block that was adopted: whoever has the folder has removed it. To be called before
    /// anything is adopted that may lie there now.
    pub(crate) fn forget(&self, place: Place) {
        if let Some(shelf) = lock(&self.shelves).segments.get_mut(&place.segment) {
            shelf.free.give(place.offset, paged(place.length));
        }
    }

    /// Whether the files of all segments that have blocks are those that the folders have; the others are
    /// closed.
    pub(crate) fn is_as_in_folders(&self) -> bool {
        let mut shelves = lock(&self.shelves);
        shelves.segments.retain(|_, shelf| !shelf.is_empty());
        shelves.segments.values().all(|shelf| self.is_in_folders(&shelf.segment))
    }

    fn is_in_folders(&self, segment: &Segment) -> bool {
        let is_same = |disk: &dyn Disk, file: &dyn SegmentFile| {
            let now = disk.identity(&file_name(segment.number)).ok();
            now.is_some_and(|now| {
                now.length == file.length() && file.identity().is_ok_and(|own| own == now)
            })
        };
        let is_in_memory = |memory| segment.memory().is_some_and(|file| is_same(memory, file));
        is_same(&*self.folders.segments, &*segment.file) && self.memory().is_none_or(is_in_memory)
    }
}
