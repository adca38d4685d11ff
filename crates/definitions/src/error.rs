//! Why definitions could not be read or changed.

use std::io;

use hadal_types::limits::FUNCTIONS_MAX;
use hadal_types::{DocumentKind, LeafName, SettingsError, TableName};

/// Why definitions could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionsError {
    /// The text is not a location.
    #[error(
        "{0:?} is no place for definitions: write postgres://USER@HOST/DATABASE, or sqlite:FILE"
    )]
    Location(String),
    /// The file or its folder cannot be made or read.
    #[error("cannot {action} {location}: {source}")]
    File {
        /// The action that failed.
        action: &'static str,
        /// The file or folder.
        location: String,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a store of definitions, or is damaged.
    #[error(
        "the definitions in {location} are damaged: {reason}; put a copy back, or move the file away \
         to begin anew with the settings that the leaves remember"
    )]
    Damaged {
        /// Its location.
        location: String,
        /// The damage.
        reason: String,
    },
    /// A later program wrote the definitions.
    #[error(
        "the definitions in {location} are of version {version}, and this program knows versions up to \
         {supported}: start the later program"
    )]
    Newer {
        /// Their location.
        location: String,
        /// Their version.
        version: i64,
        /// The latest version that this program knows.
        supported: i64,
    },
    /// The settings of a table cannot be read.
    #[error("the settings of table {table} in {location} cannot be read: {error}")]
    Settings {
        /// The table's name in the store.
        table: String,
        /// Its location.
        location: String,
        /// The error in the settings.
        error: SettingsError,
    },
    /// Another change came first.
    #[error(
        "the settings of table {table} were changed meanwhile: their version is {current}, and the \
         change is based on version {based_on}"
    )]
    Conflict {
        /// The table.
        table: TableName,
        /// The current version of the settings; 0 if there are none.
        current: i64,
        /// The version that the change is based on.
        based_on: i64,
    },
    /// Another change of a function came first.
    #[error(
        "function {name} was changed meanwhile: its version is {current}, and the change is based on \
         version {based_on}"
    )]
    FunctionConflict {
        /// The function.
        name: String,
        /// The current version of the function; 0 if there is none.
        current: i64,
        /// The version that the change is based on.
        based_on: i64,
    },
    /// No further function can be defined.
    #[error("there are {FUNCTIONS_MAX} functions, and no more are allowed: drop one first")]
    TooManyFunctions,
    /// Another change of a document came first.
    #[error(
        "{} {name} was changed meanwhile: its version is {current}, and the change is based on \
         version {based_on}",
        kind.name()
    )]
    DocumentConflict {
        /// The document's kind.
        kind: DocumentKind,
        /// Its name.
        name: String,
        /// Its current version; 0 if there is none.
        current: i64,
        /// The version that the change is based on.
        based_on: i64,
    },
    /// No further document can be stored: why, in words.
    #[error("{0}")]
    DocumentsFull(String),
    /// The member of the cluster that has the definitions cannot be reached.
    #[error(
        "the definitions are on {member}, which cannot be reached ({reason}): start {member} again"
    )]
    MemberAway {
        /// The member.
        member: LeafName,
        /// Why not.
        reason: String,
    },
    /// No member of the cluster is known to have the definitions.
    #[error(
        "no member of the cluster has the definitions: start the first member of --join again, or \
         give every member --definitions postgres://USER@HOST/DATABASE"
    )]
    NoMember,
    /// The member that has the definitions failed.
    #[error("{member}, which was asked for the definitions, failed: {reason}")]
    Member {
        /// The member.
        member: LeafName,
        /// Its error.
        reason: String,
    },
    /// The database cannot be reached, or refuses.
    #[error("cannot {action} the definitions in {location}: {reason}")]
    Database {
        /// The action that failed.
        action: &'static str,
        /// Its location.
        location: String,
        /// The reason, with the location's user part removed.
        reason: String,
    },
}
