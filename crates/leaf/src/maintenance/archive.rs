//! Archiving: rows of a table with the setting `archive` are written to the archive before they are
//! dropped.
//!
//! Rows that are too old are archived by whole UTC days, so a day is one file per leaf if rows come
//! in order. A table that is too large loses its oldest blocks, down to `ARCHIVE_TO_PERCENT` of
//! its maximum size, so that not every block makes a file. No row of such a table is dropped before
//! it is durable in the archive; while the archive cannot be written, rows stay.
//!
//! **Each row once.** A note in the leaf's folder (`note.rs`) names the blocks and the files before
//! any file is written. Then the files are written, then the record of the manifest that removes
//! the blocks; then the note is removed. A leaf that finds a note when it is opened checks the
//! blocks. If a block still exists, the note's files are removed, because the rows will be written
//! again. If no block exists, the files stay.
//!
//! Archiving has a thread of its own: an archive may be slow, and nothing else waits for it. Merges
//! and other passes leave the blocks alone while they are being archived.

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

/// Where rows are written before they are dropped. Files are named by paths relative to it, with
/// `/` as the separator.
pub trait Archive: Send + Sync + fmt::Debug {
    /// Writes a file with the rows of these parts, in their order. When it returns, the whole file
    /// is durable. It fails soon after `is_stopping` returns true; the file then exists as a whole,
    /// or not at all.
    ///
    /// # Errors
    /// [`ArchiveError`] when the file cannot be written; the caller may try again under another
    /// path.
    fn write(
        &self,
        path: &str,
        parts: &[ArchivePart<'_>],
        is_stopping: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), ArchiveError>;

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// [`ArchiveError`] when it is uncertain whether the file is gone.
    fn remove(&self, path: &str) -> Result<(), ArchiveError>;
}

/// Rows of a verified row block: those of a half-open range of time.
#[derive(Clone, Debug)]
pub struct ArchivePart<'a> {
    /// The block.
    pub block: BlockView<'a>,
    /// The first time that is included.
    pub from: Micros,
    /// The first time after `from` that is excluded.
    pub until: Micros,
}
