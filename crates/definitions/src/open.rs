//! Opens the store: makes it, migrates it, and checks it.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::definitions::Definitions;
use crate::error::DefinitionsError;
use crate::file;
use crate::location::Location;
use crate::migrate::{VERSIONS, Version, migrate};

impl Definitions {
    /// Opens the definitions: makes them if there are none, migrates those of an earlier program to
    /// this program's version, and checks that a file is whole.
    ///
    /// # Errors
    /// [`DefinitionsError::Damaged`], [`DefinitionsError::Newer`], or the reason why the location
    /// cannot be reached.
    pub async fn open(location: &Location) -> Result<Self, DefinitionsError> {
        Self::open_with(location, &VERSIONS).await
    }

    /// The same by a program that knows these versions of the store, as a later program will know
    /// more. For tests of migrations.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_with(
        location: &Location,
        versions: &[Version],
    ) -> Result<Self, DefinitionsError> {
        match location {
            Location::Memory => {
                let definitions = Self::connect(location, &new_memory()).await?;
                migrate(&definitions, versions).await?;
                Ok(definitions)
            }
            Location::Postgres(url) => {
                let definitions = Self::connect(location, url).await?;
                migrate(&definitions, versions).await?;
                Ok(definitions)
            }
            Location::File(path) => {
                if file::is_missing(path)? {
                    Self::make(location, path, versions).await?;
                }
                file::remove_half_made(path);
                let definitions = Self::connect(location, &file::url(path)).await?;
                definitions.check().await?;
                migrate(&definitions, versions).await?;
                Ok(definitions)
            }
        }
    }

    /// Makes a file that gets its name only once it is whole.
    async fn make(
        location: &Location,
        path: &Path,
        versions: &[Version],
    ) -> Result<(), DefinitionsError> {
        let new = file::begin(path)?;
        let definitions = Self::connect(location, &file::url(&new)).await?;
        migrate(&definitions, versions).await?;
        definitions.pool().close().await;
        file::finish(&new, path)
    }
}

/// The URL of a new database in memory.
fn new_memory() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("sqlite:file:hadal-definitions-{number}?mode=memory&cache=shared")
}
