//! The configuration of a store.

use std::path::PathBuf;

use hadal_types::Micros;

use crate::options::{Durability, MemoryConfig, Sizes};
use crate::preopen::PreopenedStore;

/// The configuration of a store.
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
