//! Possible errors, besides a wrong answer.

use std::io;

use hadal_block::{BlockError, PushError};
use hadal_peer::SinkError;
use hadal_rpc::IdentityError;
use hadal_sql::SqlError;
use hadal_types::NameError;

/// Why nothing more was measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("a row does not fit into a block: {0}")]
    Push(#[from] PushError),
    #[error("a block cannot be made: {0}")]
    Block(#[from] BlockError),
    #[error("a leaf takes no batch: {0}")]
    Sink(#[from] SinkError),
    #[error("a leaf does not open: {0}")]
    Store(String),
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error("{sql}: {cause}")]
    Sql { sql: String, cause: Box<SqlError> },
    #[error("{0} is no question about a table")]
    NoQuestion(String),
    #[error("{question}: an answer has {got} rows, not {expected}: {why}")]
    Wrong { question: String, got: u64, expected: u64, why: String },
    #[error("{question}: this machine cannot play this cluster: {why}")]
    Overloaded { question: String, why: String },
    #[error("no samples were taken")]
    NoSamples,
}
