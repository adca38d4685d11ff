//! Errors of archiving.

use std::io;

use hadal_block::BlockError;

use crate::maintenance::merge::MergeError;

/// Why a file of the archive could not be written or removed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{action} {path}: {reason}")]
pub struct ArchiveError {
    /// The operation: `write`, `remove`.
    pub action: &'static str,
    /// The file.
    pub path: String,
    /// The cause.
    pub reason: String,
}

/// Why a pass failed: all rows are where they were before.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PassError {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Rows(#[from] MergeError),
    #[error("cannot note in {path} what is archived: {source}")]
    Note { path: String, source: io::Error },
    #[error("whether the blocks of the last pass are gone is known at the next start")]
    Unknown,
    #[error(
        "{0} was a note of the archive and is damaged: it does not tell any more which files have rows \
         that are in the table, too; docs/archive.md says what to do"
    )]
    Damaged(String),
    #[error("the leaf stops")]
    Stopping,
}

impl From<BlockError> for PassError {
    fn from(error: BlockError) -> Self {
        Self::Rows(error.into())
    }
}

impl From<hadal_store::Error> for PassError {
    fn from(error: hadal_store::Error) -> Self {
        Self::Rows(error.into())
    }
}
