//! How much memory the process takes, as whoever put it together measures it.

use std::sync::Arc;

/// Bytes of memory that the process takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// What all of it may take.
    pub max: u64,
    /// Row blocks in memory, those that an earlier process left there included.
    pub row_blocks: u64,
    /// What row blocks may take at this moment.
    pub row_blocks_max: u64,
    /// The process's own memory: that of queries and fresh batches, and all else.
    pub heap: u64,
    /// What queries say that they hold of it.
    pub queries: u64,
    /// Batches that have no place in a segment yet.
    pub fresh: u64,
}

/// What tells how much it is at this moment.
pub type MemoryGauge = Arc<dyn Fn() -> MemoryUse + Send + Sync>;
