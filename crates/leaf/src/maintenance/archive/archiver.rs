//! The archive of a leaf, and the note of the current pass.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hadal_store::Store;
use parking_lot::Mutex;

use super::Archive;
use super::error::PassError;
use super::note::{self, Note};

/// The archive of a leaf and its state.
#[derive(Debug, Default)]
pub(crate) struct Archiver {
    pub(super) archive: Option<Arc<dyn Archive>>,
    /// The leaf's folder, where the note is kept.
    pub(super) folder: Option<PathBuf>,
    /// The current pass, or the files of a pass that failed. The thread that holds the lock is the
    /// only one that makes a pass.
    pub(super) note: Mutex<Option<Note>>,
    /// Paths of damaged notes: while one exists, it is unknown which files have rows that are still
    /// in the leaf.
    damaged: Vec<PathBuf>,
}

impl Archiver {
    /// Opens the archive of a leaf, and resolves the pass that an earlier process noted in the
    /// folder, if any.
    ///
    /// # Errors
    /// When the outcome cannot be noted: archiving after that could write rows twice.
    pub(crate) fn open(
        archive: Option<Arc<dyn Archive>>,
        folder: Option<PathBuf>,
        store: &Store,
    ) -> Result<Self, hadal_store::Error> {
        let (mut noted, mut damaged) = (None, Vec::new());
        if let Some(folder) = &folder {
            damaged.extend(Some(note::damaged_path(folder)).filter(|aside| note::may_exist(aside)));
            match Note::find(folder) {
                Ok(note) => noted = note,
                Err(error) => {
                    let note = note::put_aside(folder);
                    tracing::error!(note = %note.display(), %error, "nothing is archived: a note of the archive is damaged");
                    damaged.push(note);
                }
            }
            resolve_note(&mut noted, Some(folder), store).map_err(|error| {
                hadal_store::Error::Io {
                    action: "settle",
                    path: note::note_path(folder).display().to_string(),
                    source: Arc::new(error),
                }
            })?;
        }
        Ok(Self { archive, folder, note: Mutex::new(noted), damaged })
    }

    /// Fails while a damaged note exists.
    pub(super) fn check(&self) -> Result<(), PassError> {
        let mut there = self.damaged.iter().filter(|note| note::may_exist(note));
        there.next().map_or(Ok(()), |note| Err(PassError::Damaged(note.display().to_string())))
    }

    /// Whether the leaf has an archive at all.
    pub(crate) fn has_archive(&self) -> bool {
        self.archive.is_some()
    }
}

/// Resolves a noted pass. If its blocks are gone, it was carried out, and the note is dropped.
/// Otherwise only its files are noted from now on, for removal, whatever happens to the blocks.
pub(super) fn resolve_note(
    note: &mut Option<Note>,
    folder: Option<&Path>,
    store: &Store,
) -> io::Result<()> {
    let Some(noted) = note else {
        folder.map(note::clear);
        return Ok(());
    };
    if noted.blocks.is_empty() {
        return Ok(());
    }
    if noted.blocks.iter().any(|number| store.has_block(*number)) {
        return match folder {
            Some(folder) => noted.undo(folder),
            None => {
                noted.blocks.clear();
                Ok(())
            }
        };
    }
    *note = None;
    folder.map_or(Ok(()), Note::remove)
}
