//! The content of a store in numbers.

use std::sync::atomic::Ordering;

use super::Store;

/// The content of a store at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Merged blocks that count.
    pub blocks: u64,
    /// Bytes of these blocks.
    pub block_bytes: u64,
    /// Bytes of the blocks that are read from the store's own memory.
    pub memory_bytes: u64,
    /// Segment files.
    pub segments: u64,
    /// Log files.
    pub log_files: u64,
    /// Log frames that are not consumed.
    pub live_frames: u64,
    /// How often space could not be given back since the store was opened: a hole not punched, a
    /// file not removed, a manifest not compacted. It is tried again later.
    pub reclaim_failures: u64,
}

impl Store {
    /// The current numbers. Costs a pass over the list of blocks.
    #[must_use]
    pub fn stats(&self) -> StoreStats {
        let catalog = self.catalog.lock();
        let in_memory = catalog.held.values().filter(|bytes| bytes.is_in_memory());
        let mut stats = StoreStats {
            blocks: catalog.state.blocks.len() as u64,
            block_bytes: catalog.held.values().map(|bytes| bytes.len() as u64).sum(),
            memory_bytes: in_memory.map(|bytes| bytes.len() as u64).sum(),
            reclaim_failures: self.reclaim_failures.load(Ordering::Relaxed),
            ..StoreStats::default()
        };
        drop(catalog);
        if let Some(durable) = &self.durable {
            stats.segments = durable.pool.segment_count();
            (stats.log_files, stats.live_frames) = durable.log.counts();
            stats.reclaim_failures += durable.pool.reclaim_failures();
        }
        stats
    }
}
