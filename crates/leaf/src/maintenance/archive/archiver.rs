//! The archive of a leaf, and the note of the pass that is under way.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hadal_store::Store;

use super::Archive;
use super::error::PassError;
use super::note::{self, Note};

/// What a leaf archives with.
#[derive(Debug, Default)]
pub(crate) struct Archiver {
    pub(super) archive: Option<Arc<dyn Archive>>,
    /// The leaf's folder, where the note is kept.
    pub(super) folder: Option<PathBuf>,
    /// The pass that is under way, or the files of one that came to nothing. Whoever has the lock is
    /// the one that makes a pass.
    pub(super) note: Mutex<Option<Note>>,
    /// Notes that were damaged: while one is there, nobody knows which files have rows that are still in
    /// the leaf.
    damaged: Vec<PathBuf>,
}

impl Archiver {
    /// With what became of the pass that an earlier process noted in the folder, if one did.
    ///
    /// # Errors
    /// When that cannot be noted: who archived then could write rows twice.
    pub(crate) fn open(
        archive: Option<Arc<dyn Archive>>,
        folder: Option<PathBuf>,
        store: &Store,
    ) -> Result<Self, hadal_store::Error> {
        let (mut noted, mut damaged) = (None, Vec::new());
        if let Some(folder) = &folder {
            damaged.extend(Some(note::damaged_path(folder)).filter(|aside| note::may_exist(aside)));
            match Note::find(folder) {
                Ok(found) => noted = found,
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

    /// Fails while a note is there that was damaged.
    pub(super) fn check(&self) -> Result<(), PassError> {
        let mut there = self.damaged.iter().filter(|note| note::may_exist(note));
        there.next().map_or(Ok(()), |note| Err(PassError::Damaged(note.display().to_string())))
    }

    /// Whether rows can be archived at all.
    pub(crate) fn has_archive(&self) -> bool {
        self.archive.is_some()
    }
}

/// Finds out what became of a noted pass. Where its blocks are gone it was carried out, and there is
/// nothing to note any more; else all that is noted of it from now on is that its files are to go,
/// whatever becomes of the blocks.
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
