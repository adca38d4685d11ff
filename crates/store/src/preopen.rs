//! What a process finds of a store before the folder is its own.
//!
//! To open and map the segment files of a large leaf, to read its manifest, and to make something of
//! each block is most of what a start does. Who is to take over does it while the server before still
//! serves, and looks only at what has changed once the folder is locked.

pub(crate) mod adopted;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::config::{Config, Folders, Memory, MemoryConfig, Sizes};
use crate::disk::Folder;
use crate::error::Error;
use crate::lock::lock;
use crate::preopen::adopted::Preopened;
use crate::tmpfs;

/// Looks until what seems to be altered is: who has the folder may have written to it meanwhile.
const LOOKS_MAX: usize = 3;

/// What was found of one leaf, until the store is opened: then it is used, where it still holds.
#[derive(Clone, Debug, Default)]
pub struct PreopenedStore(Arc<Mutex<Option<PreopenedFolders>>>);

#[derive(Debug)]
struct PreopenedFolders {
    blocks: Preopened,
    folders: Folders,
    /// The folders that are to be locked.
    root: Arc<Folder>,
    memory: Option<Arc<Folder>>,
}

impl PreopenedStore {
    /// Looks at what the leaf in a folder has, whoever has the folder: for some milliseconds for ten
    /// thousand row blocks. Changes nothing. What cannot be looked at is left to the start, which says why.
    ///
    /// # Errors
    /// What a start would be refused for: [`Error::Corrupt`], [`Error::Version`], or [`Error::Io`] when this
    /// process can open no more files.
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

    /// What was found, once, with the folders, which are this process's now; `None` where these are
    /// others by now.
    ///
    /// # Errors
    /// [`Error::InUse`] when another still has them; [`Error::Io`].
    pub(crate) fn take(&self, config: &Config) -> Result<Option<(Folders, Preopened)>, Error> {
        let Some(preopened) = lock(&self.0).take().filter(|preopened| preopened.is_of(config))
        else {
            return Ok(None);
        };
        match preopened.lock(&config.folder) {
            Ok(true) => Ok(Some((preopened.folders, preopened.blocks))),
            Ok(false) => Ok(None),
            Err(error) => {
                // Whoever tries again still has it.
                *lock(&self.0) = Some(preopened);
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
                // What others could have planted is not looked at: the start says so.
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

    /// Whether it is what a store of this configuration is about.
    fn is_of(&self, config: &Config) -> bool {
        let budget =
            |memory: &Option<Memory>| memory.as_ref().map(|memory| Arc::as_ptr(&memory.budget));
        let wanted = config.memory.as_ref().map(|memory| Arc::as_ptr(&memory.budget));
        self.root.path() == config.folder
            && budget(&self.folders.memory) == wanted
            && self.blocks.adopted.pool.segment_bytes() == config.sizes.segment_bytes
    }

    /// Locks the folders, as opening them does; false, and nothing locked, where others have their paths by
    /// now.
    fn lock(&self, folder: &Path) -> Result<bool, Error> {
        if !self.root.lock(false)? {
            return Ok(false);
        }
        let Some(memory) = &self.memory else { return Ok(true) };
        // Nobody else can have it for longer than a look: its leaf is locked.
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
