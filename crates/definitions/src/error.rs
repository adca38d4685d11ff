//! Why definitions could not be read or changed.

use std::io;

use hadal_types::{SettingsError, TableName};

/// Why definitions could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionsError {
    /// The text names no location.
    #[error(
        "{0:?} is no place for definitions: write postgres://USER@HOST/DATABASE, or sqlite:FILE"
    )]
    Location(String),
    /// The file or its folder cannot be made or read.
    #[error("cannot {action} {location}: {source}")]
    File {
        /// What was to be done.
        action: &'static str,
        /// The file or folder.
        location: String,
        /// Why not.
        source: io::Error,
    },
    /// What is there is no store of definitions, or not whole.
    #[error(
        "the definitions in {location} are damaged: {reason}; put a copy back, or move the file away \
         to begin anew with the settings that the leaves remember"
    )]
    Damaged {
        /// Where.
        location: String,
        /// What is wrong.
        reason: String,
    },
    /// A later program wrote them.
    #[error(
        "the definitions in {location} are of version {found}, and this program knows versions up to \
         {known}: start the later program"
    )]
    Newer {
        /// Where.
        location: String,
        /// Their version.
        found: i64,
        /// The last one that is known.
        known: i64,
    },
    /// The settings of a table cannot be read.
    #[error("the settings of table {table} in {location} cannot be read: {error}")]
    Settings {
        /// The table's name, as it is there.
        table: String,
        /// Where.
        location: String,
        /// What is wrong with them.
        error: SettingsError,
    },
    /// Somebody else changed them first.
    #[error(
        "the settings of table {table} were changed meanwhile: their version is {current}, and the \
         change is based on version {based_on}"
    )]
    Conflict {
        /// The table.
        table: TableName,
        /// Their version now; 0: there are none.
        current: i64,
        /// The version that the change is based on.
        based_on: i64,
    },
    /// The database cannot be reached, or refuses.
    #[error("cannot {action} the definitions in {location}: {reason}")]
    Database {
        /// What was to be done.
        action: &'static str,
        /// Where.
        location: String,
        /// Why not, without a word of the location's user part.
        reason: String,
    },
}
