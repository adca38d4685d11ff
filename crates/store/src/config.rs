//! The configuration of a store: its folders on disk and in memory, and the sizes of its files.

use std::path::PathBuf;
use std::sync::Arc;

use hadal_types::limits::{LOG_FILE_BYTES, MANIFEST_BYTES_MIN, SEGMENT_BYTES};
use hadal_types::{MemoryPool, Micros};

use crate::disk::{Disk, Folder};
use crate::error::Error;
use crate::preopen::PreopenedStore;
use crate::tmpfs;

/// The folders of a store, and the sizes of its files.
#[derive(Clone, Debug)]
pub struct Config {
    /// The leaf's folder; it is made if it is missing.
    pub folder: PathBuf,
    /// The sizes of its files.
    pub sizes: Sizes,
    /// The memory that segments are read from. `None`: they are read from disk, through the
    /// system's page cache.
    pub memory: Option<MemoryConfig>,
    /// When a batch is acknowledged.
    pub durability: Durability,
    /// The preopened state of the folder.
    pub preopened: PreopenedStore,
    /// The current time, for losses.
    pub now: Micros,
    /// Whether the folder had a store before: if it is empty now, that is a loss.
    pub expects_data: bool,
}

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

impl Config {
    /// A store in this folder, with files of the default sizes, which are read from disk.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            sizes: Sizes::default(),
            memory: None,
            durability: Durability::Sync,
            preopened: PreopenedStore::default(),
            now: Micros(0),
            expects_data: false,
        }
    }

    /// The same at this time; `expects_data` says whether the folder had a store before.
    #[must_use]
    pub fn expecting(self, expects_data: bool, now: Micros) -> Self {
        Self { expects_data, now, ..self }
    }
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

/// The folders of one store.
#[derive(Clone, Debug)]
pub struct Folders {
    /// Holds the manifest.
    pub root: Arc<dyn Disk>,
    /// Holds the log files.
    pub log: Arc<dyn Disk>,
    /// Holds the segment files.
    pub segments: Arc<dyn Disk>,
    /// Holds segment files with the same names and bytes, which are read instead.
    pub memory: Option<Memory>,
    /// Why there is no memory although it was configured; in words.
    pub memory_refused: Option<String>,
}

/// The memory of one store.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Holds the segment files, as long as the machine runs.
    pub folder: Arc<dyn Disk>,
    /// The bytes that all blocks in such folders may take together.
    pub budget: Arc<MemoryPool>,
    /// Whether the content that a crash left there is used.
    pub after_crash: AfterCrash,
}

impl Folders {
    /// Opens the real folders of a store, and makes them if they are missing. Locks them for as
    /// long as a clone of the returned value lives. Memory that belongs to another user, or cannot
    /// be opened, is not used: it is a copy of the files on disk.
    ///
    /// # Errors
    /// [`Error::InUse`] if another store has it; [`Error::Io`] for all else.
    pub fn open(config: &Config) -> Result<Self, Error> {
        let Config { folder, memory, .. } = config;
        let root = Folder::open_locked(folder)?;
        let log = Arc::new(root.within("log")?);
        let segments = Arc::new(root.within("segments")?);
        let opened = memory.as_ref().map(|memory| (memory, tmpfs::open(&memory.tmpfs, folder)));
        let (memory, memory_refused) = match opened {
            None => (None, None),
            Some((MemoryConfig { budget, after_crash, .. }, Ok(folder))) => {
                let (folder, budget) = (Arc::new(folder), Arc::clone(budget));
                (Some(Memory { folder, budget, after_crash: *after_crash }), None)
            }
            Some((_, Err(error))) if error.refuses_a_start() => return Err(error),
            Some((_, Err(error))) => (None, Some(error.to_string())),
        };
        Ok(Self { root: Arc::new(root), log, segments, memory, memory_refused })
    }

    /// Gives up the locks.
    pub(crate) fn unlock(&self) -> std::io::Result<()> {
        self.memory.as_ref().map_or(Ok(()), |memory| memory.folder.unlock())?;
        self.root.unlock()
    }
}
