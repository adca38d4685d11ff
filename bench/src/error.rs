//! What can go wrong: the disk, mostly.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use thiserror::Error;

/// Why a file is not there, or not whole.
#[derive(Debug, Error)]
pub enum Error {
    /// The disk.
    #[error("cannot {what} {place}: {cause}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file.
        place: String,
        /// Why it failed.
        cause: io::Error,
    },
    /// Parquet.
    #[error("cannot write Parquet: {0}")]
    Parquet(#[from] ParquetError),
    /// Columns of different lengths, or of the wrong type.
    #[error("columns do not fit together: {0}")]
    Columns(#[from] ArrowError),
    /// A format that the table does not have.
    #[error("{table} is written as Parquet only, not as JSON lines")]
    ParquetOnly {
        /// The table.
        table: &'static str,
    },
    /// A thread ended before its work did.
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
