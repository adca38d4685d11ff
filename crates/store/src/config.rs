//! Where a store lives: its folders on disk and in memory, and how it cuts its files.

use std::path::PathBuf;
use std::sync::Arc;

use hadal_types::limits::{LOG_FILE_BYTES, MANIFEST_BYTES_MIN, SEGMENT_BYTES};
use hadal_types::{MemoryPool, Micros};

use crate::disk::{Disk, Folder};
use crate::error::Error;
use crate::preopen::PreopenedStore;
use crate::tmpfs;

/// Where a store lives and how it cuts its files.
#[derive(Clone, Debug)]
pub struct Config {
    /// The leaf's folder; it is made if need be.
    pub folder: PathBuf,
    /// How large files become.
    pub sizes: Sizes,
    /// The memory that segments are read from; `None`: they are read from disk, through the
    /// system's cache.
    pub memory: Option<MemoryConfig>,
    /// When a batch counts as taken.
    pub durability: Durability,
    /// What was found in the folder before it is this process's.
    pub preopened: PreopenedStore,
    /// What time it is, for what is found lost.
    pub now: Micros,
    /// Whether there was a store in the folder: where nothing of it is there, that is a loss.
    pub expects_data: bool,
}

/// When a batch that was appended to the log counts as taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Once it is on disk: then it outlives the machine.
    #[default]
    Sync,
    /// Once it is handed to the system, which writes it within a second: it outlives the process,
    /// but a machine that loses its power may lose the last second.
    Async,
}

/// Where the memory of a store is, and how much of it there is.
#[derive(Clone, Debug)]
pub struct MemoryConfig {
    /// Where the tmpfs is mounted: the store makes a folder of its own in it.
    pub tmpfs: PathBuf,
    /// What all stores of the machine may hold there together. Blocks that find no room are read
    /// from disk.
    pub budget: Arc<MemoryPool>,
    /// Where blocks come from after a crash.
    pub after_crash: AfterCrash,
}

/// Where blocks come from when the process before did not stop in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterCrash {
    /// From memory, where they are verified; from disk, where they are not as they were written.
    #[default]
    Memory,
    /// From disk: what is in memory is thrown away.
    Disk,
}

impl Config {
    /// A store in this folder, with files of the usual sizes, which are read from disk.
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

    /// The same at this time, where it is known whether there was a store in the folder.
    #[must_use]
    pub fn expecting(self, expects_data: bool, now: Micros) -> Self {
        Self { expects_data, now, ..self }
    }
}

/// How large files become, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// One segment; a multiple of 4,096. A larger block gets a segment of its own size.
    pub segment_bytes: u64,
    /// A log file that has reached this is not appended to again.
    pub log_file_bytes: u64,
    /// Below this a manifest is never compacted.
    pub manifest_bytes_min: u64,
    /// Disk that is set aside for blocks, from which batches are kept where it is full; none where 0.
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
    /// Holds segment files of the same names, places and bytes, which are read instead.
    pub memory: Option<Memory>,
    /// Why there is none where one was wanted; in words.
    pub memory_refused: Option<String>,
}

/// The memory of one store.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Holds the segment files, as long as the machine runs.
    pub folder: Arc<dyn Disk>,
    /// What all blocks in such folders may take together, in bytes.
    pub budget: Arc<MemoryPool>,
    /// Whether what a crash left there is looked at.
    pub after_crash: AfterCrash,
}

impl Folders {
    /// Opens the real folders of a store, making them if need be, and locks them for as long as a clone of
    /// the returned value lives. Memory that is another user's, or cannot be opened, is not used: it is a copy
    /// of what is on disk.
    ///
    /// # Errors
    /// [`Error::InUse`] when another store has it; [`Error::Io`] for all else.
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
