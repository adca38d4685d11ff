//! The errors that end a command early, worded for the person at the terminal.

use std::io;

use hadal_block::{BlockError, PushError};
use hadal_peer::SinkError;
use hadal_types::{BatchIdError, NameError};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The file system or another part of the system failed.
    #[error("cannot {action} {place}: {source}")]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The file, folder or address.
        place: String,
        /// The system's error.
        source: io::Error,
    },
    /// The data folder cannot be used.
    #[error("{0}")]
    Store(#[from] hadal_store::Error),
    /// The name of a table or column is not allowed.
    #[error("{0}")]
    Name(#[from] NameError),
    /// A batch id is not allowed.
    #[error("batch id {0:?} is not 1 to 128 visible ASCII characters")]
    BatchId(String),
    /// The client's batch id is not allowed.
    #[error("{0}")]
    ClientBatchId(#[from] BatchIdError),
    /// A row block could not be made.
    #[error("cannot make a row block: {0}")]
    Block(#[from] BlockError),
    /// A value did not fit a row block.
    #[error("cannot make a row: {0}")]
    Push(#[from] PushError),
    /// A leaf refused a batch.
    #[error("{0}")]
    Sink(#[from] SinkError),
    /// No server answers.
    #[error("no server answers at {url}: {reason}; start one with: hadal serve")]
    NoServer {
        /// The URL that was tried.
        url: String,
        /// Why the connection failed.
        reason: String,
    },
    /// Every row was rejected; the report before this error has the reasons.
    #[error("none of the rows was taken")]
    NothingTaken,
    /// Some rows were rejected; the report before this error has the reasons.
    #[error(
        "{} not taken; --allow-rejects {rejected} ends the command without an error",
        if *rejected == 1 { "1 row was".to_owned() } else { format!("{rejected} rows were") }
    )]
    RowsRejected {
        /// The number of rejected rows.
        rejected: u64,
    },
    /// Some of several files could not be read; the errors have been reported.
    #[error("{failed} of {of} files could not be read to the end")]
    FilesFailed {
        /// The number of these files.
        failed: usize,
        /// The number of all files.
        of: usize,
    },
    /// A server accepted the connection but sent nothing.
    #[error("{url} does not answer: nothing came for {seconds} s")]
    Mute {
        /// The server's URL.
        url: String,
        /// The time waited, in seconds.
        seconds: u64,
    },
    /// The server refused a request.
    #[error("{0}")]
    Refused(Box<crate::client::Problem>),
    /// The answer is not one that a Hadal server sends.
    #[error("{url} does not answer like a Hadal server: {reason}")]
    NotHadal {
        /// The server's URL.
        url: String,
        /// The status, if it was not success.
        status: Option<u16>,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The server could not be run.
    #[error("{0}")]
    Server(String),
    /// A file's rows cannot be read.
    #[error("{place}: {reason}")]
    Input {
        /// The file, and the line if one can be named.
        place: String,
        /// What is wrong, and which inputs can be read.
        reason: String,
    },
    /// The command's arguments are wrong or contradict each other.
    #[error("{0}")]
    Usage(String),
    /// A thread ended in a panic, which it has reported itself.
    #[error("thread {0} failed")]
    Thread(String),
}

impl Error {
    /// Makes the error of a failed `action` on `place`.
    pub(crate) fn io(action: &'static str, place: impl ToString) -> impl FnOnce(io::Error) -> Self {
        let place = place.to_string();
        move |source| Self::Io { action, place, source }
    }

    /// Whether an input is the reason, so that other inputs may be read.
    pub(crate) fn is_of_input(&self) -> bool {
        matches!(self, Self::Input { .. } | Self::Io { action: "read" | "open", .. })
    }

    /// Returns 2 for a mistake in the arguments, as for unknown arguments; otherwise 1.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Name(_) | Self::ClientBatchId(_) => 2,
            _ => 1,
        }
    }
}
