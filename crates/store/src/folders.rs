//! The folders of one store, on disk and in memory.

use std::path::Path;
use std::sync::Arc;

use hadal_types::MemoryPool;

use crate::disk::{Disk, Folder};
use crate::error::Error;
use crate::options::{AfterCrash, MemoryConfig};
use crate::tmpfs;

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
    /// [`Error::InUse`] if another store has the folder; [`Error::Io`] for all else.
    pub fn open(folder: &Path, memory: Option<&MemoryConfig>) -> Result<Self, Error> {
        let root = Folder::open_locked(folder)?;
        let log = Arc::new(root.within("log")?);
        let segments = Arc::new(root.within("segments")?);
        let opened = memory.map(|memory| (memory, tmpfs::open(&memory.tmpfs, folder)));
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
