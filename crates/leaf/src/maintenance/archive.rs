//! The archive: where rows of a table that is set so are written before they are dropped.
//!
//! Rows that are too old go by whole days of UTC, so that a day is one file for each leaf where rows
//! come in order; where the table is too large its oldest blocks go, down to [`ARCHIVE_TO_PERCENT`]
//! of what it may have, so that a file is not made for every block. Nothing of such a table is dropped
//! before its rows are durable in the archive: while that cannot be written, they stay.
//!
//! **Each row once.** What is about to be written is noted in the leaf's folder first (`note.rs`):
//! the blocks, and the files. Then come the files, then the record of the manifest that takes the
//! blocks out, then the note goes. Who opens a leaf and finds a note removes its files where one of its
//! blocks is still there, for these rows will be written again; where none is, the files stay.
//!
//! All of that has a thread of its own: an archive may be slow, and nobody waits for it. Merges and
//! other passes leave the blocks alone meanwhile.

use std::fmt;

use hadal_block::BlockView;
use hadal_types::Micros;

mod archiver;
mod error;
mod note;
mod pass;

pub(crate) use archiver::Archiver;
pub use error::ArchiveError;
pub(crate) use pass::ArchiveJob;

/// Where rows go before they are dropped. Its files are named by paths of `/`, relative to it.
pub trait Archive: Send + Sync + fmt::Debug {
    /// Writes a file with the rows of these parts, in their order: when it returns, the whole file
    /// is durable. It gives up, with an error, soon after `is_stopping` says so; then the file may be
    /// there in whole, or not at all.
    ///
    /// # Errors
    /// [`ArchiveError`] when the file cannot be written; it may be tried again under another path.
    fn write(
        &self,
        path: &str,
        parts: &[ArchivePart<'_>],
        is_stopping: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), ArchiveError>;

    /// Removes a file, if it is there.
    ///
    /// # Errors
    /// [`ArchiveError`] when that is not certain.
    fn remove(&self, path: &str) -> Result<(), ArchiveError>;
}

/// Rows of a row block, which is verified: those of a half-open range of time.
#[derive(Clone, Debug)]
pub struct ArchivePart<'a> {
    /// The block.
    pub block: BlockView<'a>,
    /// The first time that counts.
    pub from: Micros,
    /// The first time after it that does not.
    pub until: Micros,
}
