//! The findings of opening a store.

use hadal_types::TableName;

use crate::ids::BlockNumber;

/// The findings of opening a store. Frames, files and segments are counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The seed of the folder's checksums: no other folder has it, unless one of them is a copy. 0
    /// for a store that keeps nothing.
    pub salt: u64,
    /// Log frames that were replayed.
    pub frames_replayed: u64,
    /// Log frames whose rows are in merged blocks, or were dropped.
    pub frames_consumed: u64,
    /// Log frames with a repeated sequence; they were skipped.
    pub frames_repeated: u64,
    /// Damaged ranges in the middle of the log; acknowledged rows may be lost.
    pub frames_damaged: u64,
    /// Bytes of these ranges.
    pub damaged_bytes: u64,
    /// Bytes of torn tails of log files. A crash leaves them; their batches were not acknowledged.
    pub log_bytes_cut: u64,
    /// Paths of log files that were needed and are missing or have no whole frame: acknowledged
    /// rows may be lost. They are listed again at each open until a change is committed.
    pub log_files_lost: Vec<String>,
    /// Log files without needed frames.
    pub log_files_removed: u64,
    /// How the copy repaired a damaged manifest; in words.
    pub manifest_mended: Option<String>,
    /// Bytes of a torn tail of the manifest.
    pub manifest_bytes_cut: u64,
    /// Why its blocks are not in memory, although that was configured; in words.
    pub memory_refused: Option<String>,
    /// Whether the store was stopped cleanly, so that its segments in memory are trusted.
    pub was_stopped: bool,
    /// Segment files without a block that counts; they were removed.
    pub orphan_segments: u64,
    /// Bytes of segments that belonged to no block that counts; they were given back.
    pub reclaimed_bytes: u64,
    /// Blocks that count and are missing.
    pub lost_blocks: Vec<LostBlock>,
}

/// A block that the manifest names and that cannot be read. It counts until it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostBlock {
    /// The block's number.
    pub number: BlockNumber,
    /// Its table.
    pub table: TableName,
    /// The number of its rows.
    pub rows: u32,
    /// Why it cannot be read.
    pub reason: String,
}
