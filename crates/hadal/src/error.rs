//! What ends a command before its work is done, in words for the person at the terminal.

use std::io;

use hadal_block::{BlockError, PushError};
use hadal_peer::SinkError;
use hadal_types::{BatchIdError, NameError};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The file system or another part of the machine failed.
    #[error("cannot {action} {place}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file, folder or address.
        place: String,
        /// What the system said.
        source: io::Error,
    },
    /// The data folder cannot be used.
    #[error("{0}")]
    Store(#[from] hadal_store::Error),
    /// A table's or column's name is not allowed.
    #[error("{0}")]
    Name(#[from] NameError),
    /// A batch id is not allowed.
    #[error("batch id {0:?} is not 1 to 128 visible ASCII characters")]
    BatchId(String),
    /// The caller's batch id is not allowed.
    #[error("{0}")]
    ClientBatchId(#[from] BatchIdError),
    /// A row block could not be made.
    #[error("cannot make a row block: {0}")]
    Block(#[from] BlockError),
    /// A value did not fit a row block.
    #[error("cannot make a row: {0}")]
    Push(#[from] PushError),
    /// A leaf did not take a batch.
    #[error("{0}")]
    Sink(#[from] SinkError),
    /// No server answers.
    #[error("no server answers at {url}: {reason}; start one with: hadal serve")]
    NoServer {
        /// Where it was looked for.
        url: String,
        /// What the connection's end was.
        reason: String,
    },
    /// Every row was rejected; the report before says why.
    #[error("none of the rows was taken")]
    NothingTaken,
    /// A server took the connection, and that was all.
    #[error("{url} does not answer: nothing came for {seconds} s")]
    Mute {
        /// Where.
        url: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The server refused a request.
    #[error("{0}")]
    Refused(Box<crate::client::Problem>),
    /// What a server answered is not what a Hadal server answers.
    #[error("{url} does not answer like a Hadal server: {reason}")]
    NotHadal {
        /// Where.
        url: String,
        /// What it answered with instead of success.
        status: Option<u16>,
        /// What is wrong.
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
        /// What is wrong, and what can be read.
        reason: String,
    },
    /// The command's arguments do not make sense together.
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

    /// 2 for a mistake in the arguments, as for unknown ones; else 1.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Name(_) | Self::ClientBatchId(_) => 2,
            _ => 1,
        }
    }
}
