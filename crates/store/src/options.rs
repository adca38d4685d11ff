//! The options of a store that its parts read: durability, memory, and the sizes of files.

use std::path::PathBuf;
use std::sync::Arc;

use hadal_types::MemoryPool;
use hadal_types::limits::{LOG_FILE_BYTES, MANIFEST_BYTES_MIN, SEGMENT_BYTES};

/// When a batch that was appended to the log is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Once it is on disk: then it outlives the machine.
    #[default]
    Sync,
    /// Once it is written to the system; the sync follows within a second. It outlives the process,
    /// but a power loss may lose the last second.
    Async,
}

/// The memory of a store: its location and size.
#[derive(Clone, Debug)]
pub struct MemoryConfig {
    /// The mount point of the tmpfs: the store makes its own folder there.
    pub tmpfs: PathBuf,
    /// The bytes that all stores of the machine may hold there together. Blocks that do not fit are
    /// read from disk.
    pub budget: Arc<MemoryPool>,
    /// Where blocks are restored from after a crash.
    pub after_crash: AfterCrash,
}

/// Where blocks are restored from if the previous process did not stop cleanly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterCrash {
    /// From memory if their bytes there are verified, otherwise from disk.
    #[default]
    Memory,
    /// From disk: the content of memory is deleted.
    Disk,
}

/// The sizes of files, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// One segment; a multiple of 4,096. A larger block gets a segment of its own size.
    pub segment_bytes: u64,
    /// From this size on, a log file is not appended to any more.
    pub log_file_bytes: u64,
    /// Below this a manifest is never compacted.
    pub manifest_bytes_min: u64,
    /// Disk that is reserved for blocks, so that batches can be kept when it is full; 0 for none.
    pub reserve_bytes: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            segment_bytes: SEGMENT_BYTES,
            log_file_bytes: LOG_FILE_BYTES,
            manifest_bytes_min: MANIFEST_BYTES_MIN,
            reserve_bytes: 0,
        }
    }
}
