//! The errors of a store.

use std::io;
use std::sync::Arc;

use hadal_types::limits::{BLOCK_BYTES_MAX, LOG_QUEUE_BYTES_MAX, TABLE_SETTINGS_BYTES_MAX};
use rustix::io::Errno;

use crate::ids::BlockNumber;

/// Why a store refused or failed. Cheap to clone: every waiter gets the same failure.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The folder belongs to another store, or to a reader of a store that was closed.
    #[error(
        "data folder {0} is in use by another process or by a query that still reads from it; to \
         follow a server: hadal serve --take-over"
    )]
    InUse(String),
    /// Other users have access to the memory for segments, so its bytes could be anyone's.
    #[error("{0} belongs to another user, or others have rights to it")]
    Foreign(String),
    /// The file system is full. The write left nothing behind and may be tried again.
    #[error("no space left for {0}")]
    Full(String),
    /// The file system failed in another way.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The file or folder.
        path: String,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// An earlier write failed, so the content of the disk is unknown. The store must be opened
    /// again.
    #[error("{path} takes no more writes since an earlier failure: {cause}")]
    Poisoned {
        /// The file.
        path: String,
        /// The earlier failure.
        cause: String,
    },
    /// Bytes on disk differ from those that were written.
    #[error("{path} is corrupt: {what}")]
    Corrupt {
        /// The file.
        path: String,
        /// The damage, and its position.
        what: String,
    },
    /// The folder was written by a newer program, or one older than all releases.
    #[error("{path} has format version {version}; this program reads version {supported}")]
    Version {
        /// The file.
        path: String,
        /// The version in the file.
        version: u32,
        /// The latest version that this program reads.
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
    /// A change is larger than a manifest record may be.
    #[error("a change of {0} bytes is too large for one record")]
    ChangeSize(usize),
    /// A change removes a missing block, or adds an existing one.
    #[error("block {0} {1}")]
    Block(BlockNumber, &'static str),
}

impl Error {
    /// Whether a batch that failed with this error may be in the log nevertheless. The next process
    /// finds out.
    #[must_use]
    pub fn may_be_logged(&self) -> bool {
        matches!(self, Self::Poisoned { .. } | Self::Closed)
    }

    /// Whether its text contains a path of this machine.
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

    /// Whether another start over the same files would fail: the files were altered or belong to a
    /// newer program, or the process can open no more files.
    pub(crate) fn refuses_a_start(&self) -> bool {
        let codes = [Errno::MFILE, Errno::NFILE].map(|code| Some(code.raw_os_error()));
        match self {
            Self::Corrupt { .. } | Self::Version { .. } => true,
            Self::Io { source, .. } => codes.contains(&source.raw_os_error()),
            _ => false,
        }
    }

    /// The error of a failed `action` on `path`; a full file system has its own variant.
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

/// Whether the file system, or the user's quota, is full.
pub(crate) fn is_full(error: &io::Error) -> bool {
    let codes = [Errno::NOSPC, Errno::DQUOT].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}
