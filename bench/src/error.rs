//! What can go wrong: the disk, mostly.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use thiserror::Error;

/// Why a file is not there, or not whole.
#[derive(Debug, Error)]
pub(crate) enum Error {
    #[error("cannot {what} {place}: {cause}")]
    Io { what: &'static str, place: String, cause: io::Error },
    #[error("cannot write Parquet: {0}")]
    Parquet(#[from] ParquetError),
    #[error("columns do not fit together: {0}")]
    Columns(#[from] ArrowError),
    #[error("{table} is written as Parquet only, not as JSON lines")]
    ParquetOnly { table: &'static str },
    #[error("a thread that makes rows ended early")]
    Thread,
}

impl Error {
    /// For `map_err` on what was tried with a file.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let place = path.display().to_string();
        move |cause| Error::Io { what, place, cause }
    }

    /// Says it on standard error.
    pub(crate) fn told(&self) -> ExitCode {
        // Nobody is left to hear that this failed, too.
        let _ = writeln!(io::stderr(), "error: {self}");
        ExitCode::FAILURE
    }
}
