//! Possible errors, mostly of the disk.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use thiserror::Error;

/// Why a file is missing or incomplete.
#[derive(Debug, Error)]
pub enum Error {
    /// The disk.
    #[error("cannot {what} {place}: {cause}")]
    Io {
        /// The action that failed.
        what: &'static str,
        /// The file.
        place: String,
        /// The system's error.
        cause: io::Error,
    },
    /// Writing Parquet failed.
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
    /// Makes the error of an action on a file, for `map_err`.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let place = path.display().to_string();
        move |cause| Error::Io { what, place, cause }
    }

    /// Prints the error on standard error.
    pub(crate) fn report(&self) -> ExitCode {
        // A failure of this write cannot be reported either.
        let _ = writeln!(io::stderr(), "error: {self}");
        ExitCode::FAILURE
    }
}
