//! The memory use of the process. The part of the process that manages memory measures it.

use std::sync::Arc;

/// Bytes of memory that the process uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// The limit of the process.
    pub max: u64,
    /// Row blocks in memory, including those that an earlier process left there.
    pub row_blocks: u64,
    /// The limit of row blocks now.
    pub row_blocks_max: u64,
    /// The heap: queries, fresh batches, and all else.
    pub heap: u64,
    /// The part of the heap that queries have reserved.
    pub queries: u64,
    /// Batches that are not in a segment yet.
    pub fresh: u64,
}

/// Returns the current memory use of the process.
pub type MemoryGauge = Arc<dyn Fn() -> MemoryUse + Send + Sync>;
