//! Possible errors, besides a wrong answer.

use std::io;

use arrow_schema::DataType;
use hadal_aggregate::FinishError;
use hadal_block::{BlockError, PushError};
use hadal_query::PrepareError;
use hadal_sql::SqlError;
use hadal_types::NameError;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Rows(#[from] hadal_bench::Error),
    #[error("column {name} is of type {data_type}, which no table had so far")]
    Type { name: String, data_type: DataType },
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("a row does not fit into a block: {0}")]
    Push(#[from] PushError),
    #[error("a block cannot be made or read: {0}")]
    Block(#[from] BlockError),
    #[error(transparent)]
    Unlooked(#[from] hadal_scan::ScanError),
    #[error("{sql}: {cause}")]
    Sql { sql: String, cause: Box<SqlError> },
    #[error("{0} is no question about a table")]
    NoQuestion(String),
    #[error("the plain way has no answer to {0}")]
    NotPlain(String),
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error("no answer: {0:?}")]
    FinishError(FinishError),
    #[error("cannot write the table: {0}")]
    Told(#[from] io::Error),
}
