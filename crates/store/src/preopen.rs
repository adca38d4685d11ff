//! Opens a store before its folder belongs to this process.
//!
//! Most of a start is spent on opening and mapping the segment files of a large leaf, reading its
//! manifest, and decoding each block. A process that takes over does this while the previous server
//! still serves. Once the folder is locked, it only examines what has changed since.

pub(crate) mod preopened;

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::disk::Folder;
use crate::error::Error;
use crate::folders::{Folders, Memory};
use crate::options::{MemoryConfig, Sizes};
use crate::preopen::preopened::Preopened;
use crate::tmpfs;

/// Attempts at a start that seems to be refused: the folder's owner may have written meanwhile.
const LOOKS_MAX: usize = 3;

/// The preopened state of one leaf. Opening the store takes it and uses the parts that still hold.
#[derive(Clone, Debug, Default)]
pub struct PreopenedStore(Arc<Mutex<Option<PreopenedFolders>>>);

#[derive(Debug)]
struct PreopenedFolders {
    blocks: Preopened,
    folders: Folders,
    /// The folders that will be locked.
    root: Arc<Folder>,
    memory: Option<Arc<Folder>>,
}

impl PreopenedStore {
    /// Examines the leaf in a folder, no matter which process owns it: some milliseconds per ten
    /// thousand row blocks. Changes nothing. Anything unreadable is left to the start, which
    /// reports the reason.
    ///
    /// # Errors
    /// The reasons to refuse a start: [`Error::Corrupt`], [`Error::Version`], or [`Error::Io`] if
    /// this process can open no more files.
    pub fn find(folder: &Path, memory: Option<&MemoryConfig>, sizes: Sizes) -> Result<Self, Error> {
        let mut preopened = PreopenedFolders::new(folder, memory, sizes);
        for _ in 1..LOOKS_MAX {
            if !preopened.as_ref().is_err_and(Error::refuses_a_start) {
                break;
            }
            preopened = PreopenedFolders::new(folder, memory, sizes);
        }
        match preopened {
            Err(error) if error.refuses_a_start() => Err(error),
            preopened => Ok(Self(Arc::new(Mutex::new(preopened.ok())))),
        }
    }

    /// Takes the preopened state, once, and locks its folders. `None` if the paths have other
    /// folders by now.
    ///
    /// # Errors
    /// [`Error::InUse`] if another process still has them; [`Error::Io`].
    pub(crate) fn take(
        &self,
        folder: &Path,
        memory: Option<&MemoryConfig>,
        sizes: Sizes,
    ) -> Result<Option<(Folders, Preopened)>, Error> {
        let preopened = self.0.lock().take();
        let Some(preopened) = preopened.filter(|store| store.is_of(folder, memory, sizes)) else {
            return Ok(None);
        };
        match preopened.lock(folder) {
            Ok(true) => Ok(Some((preopened.folders, preopened.blocks))),
            Ok(false) => Ok(None),
            Err(error) => {
                // Kept for the next attempt.
                *self.0.lock() = Some(preopened);
                Err(error)
            }
        }
    }
}

impl PreopenedFolders {
    fn new(folder: &Path, memory: Option<&MemoryConfig>, sizes: Sizes) -> Result<Self, Error> {
        let failed = |error| Error::io("look at", &folder.display().to_string(), error);
        let unlocked = |path: &Path| Folder::unlocked(path).map(Arc::new);
        let root = unlocked(folder).map_err(failed)?;
        let there = |name: &str| root.there(name).map(Arc::new).map_err(io::Error::from);
        let (log, segments) = (there("log").map_err(failed)?, there("segments").map_err(failed)?);
        let memory_folder = match memory {
            Some(memory) => {
                let path = tmpfs::path_of(&memory.tmpfs, folder)?;
                let memory_folder = unlocked(&path).map_err(failed)?;
                // A folder that others could have planted is not examined: the start reports it.
                let shown = || path.display().to_string();
                Some(
                    memory_folder
                        .is_private()
                        .then_some(memory_folder)
                        .ok_or_else(|| Error::Foreign(shown()))?,
                )
            }
            None => None,
        };
        let memory = memory.zip(memory_folder.as_ref()).map(|(memory, folder)| Memory {
            folder: Arc::<Folder>::clone(folder),
            budget: Arc::clone(&memory.budget),
            after_crash: memory.after_crash,
        });
        let root_disk = Arc::<Folder>::clone(&root);
        let folders = Folders { root: root_disk, log, segments, memory, memory_refused: None };
        let blocks = Preopened::find(folders.clone(), sizes)?;
        Ok(Self { blocks, folders, root, memory: memory_folder })
    }

    /// Whether it belongs to a store of this configuration.
    fn is_of(&self, folder: &Path, memory: Option<&MemoryConfig>, sizes: Sizes) -> bool {
        let budget =
            |memory: &Option<Memory>| memory.as_ref().map(|memory| Arc::as_ptr(&memory.budget));
        let configured = memory.map(|memory| Arc::as_ptr(&memory.budget));
        self.root.path() == folder
            && budget(&self.folders.memory) == configured
            && self.blocks.adopted.pool.segment_bytes() == sizes.segment_bytes
    }

    /// Locks the folders, as opening them does. Returns `false`, and locks nothing, if other
    /// folders have their paths by now.
    fn lock(&self, folder: &Path) -> Result<bool, Error> {
        if !self.root.lock(false)? {
            return Ok(false);
        }
        let Some(memory) = &self.memory else { return Ok(true) };
        // Another process can hold it only for a short check, because its leaf is locked.
        let is_locked = memory.is_private() && memory.lock(true)?;
        match is_locked {
            true => tmpfs::note(memory, folder)?,
            false => self
                .folders
                .unlock()
                .map_err(|error| Error::io("unlock", &folder.display().to_string(), error))?,
        }
        Ok(is_locked)
    }
}
