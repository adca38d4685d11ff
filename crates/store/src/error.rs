//! What can go wrong in a store.

use std::io;
use std::sync::Arc;

use hadal_types::limits::{BLOCK_BYTES_MAX, LOG_QUEUE_BYTES_MAX, TABLE_SETTINGS_BYTES_MAX};
use rustix::io::Errno;

use crate::change::BlockNumber;

/// Why a store refused or failed. Cheap to clone: one failure is told to every waiter.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The folder belongs to another store, or to a reader of a store that was closed.
    #[error(
        "data folder {0} is in use by another process or by a query that still reads from it; to \
         follow a server: hadal serve --take-over"
    )]
    InUse(String),
    /// Memory for segments is not this user's alone, so its bytes could be anyone's.
    #[error("{0} belongs to another user, or others have rights to it")]
    Foreign(String),
    /// The file system has no room; the write left nothing behind and may be tried again.
    #[error("no space left for {0}")]
    Full(String),
    /// The file system failed in another way.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: String,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// An earlier write failed, so nobody knows what is on disk; the store must be opened anew.
    #[error("{path} takes no more writes since an earlier failure: {cause}")]
    Poisoned {
        /// The file.
        path: String,
        /// The earlier failure.
        cause: String,
    },
    /// Bytes on disk are not what was written.
    #[error("{path} is corrupt: {what}")]
    Corrupt {
        /// The file.
        path: String,
        /// What is wrong, and where.
        what: String,
    },
    /// The folder was written by a newer program, or one older than all releases.
    #[error("{path} has format version {found}; this program reads version {supported}")]
    Version {
        /// The file.
        path: String,
        /// The version in the file.
        found: u32,
        /// The version that is understood.
        supported: u32,
    },
    /// Batches arrive faster than the disk takes them.
    #[error("{0} bytes wait for the log's disk; at most {LOG_QUEUE_BYTES_MAX} may")]
    Busy(usize),
    /// The store was closed before the batch was on disk.
    #[error("the store is closed")]
    Closed,
    /// A block is empty or too large.
    #[error("a block of {0} bytes; 1 to {BLOCK_BYTES_MAX} are allowed")]
    BlockSize(usize),
    /// A batch id cannot be read back: it is longer than an id may be.
    #[error("batch id {0:?} is too long to be logged")]
    BatchId(String),
    /// A table's settings are too large.
    #[error("settings of {0} bytes; at most {TABLE_SETTINGS_BYTES_MAX} are allowed")]
    Settings(usize),
    /// A change spells out more than a manifest record holds.
    #[error("a change of {0} bytes is too large for one record")]
    ChangeSize(usize),
    /// A change removes a block that is not there, or adds one that is there.
    #[error("block {0} {1}")]
    Block(BlockNumber, &'static str),
}

impl Error {
    /// Whether a batch whose ticket says so may be in the log all the same: the next process tells.
    #[must_use]
    pub fn may_be_logged(&self) -> bool {
        matches!(self, Self::Poisoned { .. } | Self::Closed)
    }

    /// Whether its words have a path of this machine in them.
    #[must_use]
    pub fn names_a_path(&self) -> bool {
        match self {
            Self::InUse(_)
            | Self::Foreign(_)
            | Self::Full(_)
            | Self::Io { .. }
            | Self::Poisoned { .. }
            | Self::Corrupt { .. }
            | Self::Version { .. } => true,
            Self::Busy(_)
            | Self::Closed
            | Self::BlockSize(_)
            | Self::BatchId(_)
            | Self::Settings(_)
            | Self::ChangeSize(_)
            | Self::Block(..) => false,
        }
    }

    /// Whether a start over the same files is refused: what is there was altered or is a newer program's, or
    /// the process has no more files to open.
    pub(crate) fn refuses_a_start(&self) -> bool {
        let codes = [Errno::MFILE, Errno::NFILE].map(|code| Some(code.raw_os_error()));
        match self {
            Self::Corrupt { .. } | Self::Version { .. } => true,
            Self::Io { source, .. } => codes.contains(&source.raw_os_error()),
            _ => false,
        }
    }

    /// The error for a failed `action` on `place`, telling a full file system from the rest.
    pub(crate) fn io(action: &'static str, path: &str, source: io::Error) -> Self {
        if is_full(&source) {
            Self::Full(path.to_owned())
        } else {
            Self::Io { action, path: path.to_owned(), source: Arc::new(source) }
        }
    }

    pub(crate) fn corrupt(path: &str, what: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), what: what.into() }
    }
}

/// Whether the file system, or the user's share of it, has no room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    let codes = [Errno::NOSPC, Errno::DQUOT].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}
