//! What is opened before the folder is this process's.
//!
//! To open and map the segment files of a large leaf, and to read its manifest, is most of what a
//! start does. Who is to take over does it while the server before still serves. Nothing is
//! believed of such a file but that it is open: it is used only where the folder, once it is
//! locked, has the same file by that name, and all else is looked at then. What the manifest said
//! counts only where it begins with the same bytes then.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};

use crate::config::MemoryConfig;
use crate::disk::{Folder, OpenedFiles};
use crate::lock::lock;
use crate::manifest::Beginning;
use crate::memory;
use crate::segment::pool::number_of;

/// What of one leaf is open already, for as long as this lives: files that are used, and those that are
/// gone meanwhile.
#[derive(Clone, Debug, Default)]
pub struct EarlyFiles {
    segments: Option<Arc<OpenedFiles>>,
    memory: Option<Arc<OpenedFiles>>,
    manifest: Arc<Mutex<Option<Beginning>>>,
}

impl EarlyFiles {
    /// Opens what the leaf in a folder has, whoever has the folder. What cannot be opened is
    /// left to the start, which says why.
    #[must_use]
    pub fn open(folder: &Path, memory: Option<&MemoryConfig>) -> Self {
        let of = |folder: &Path, maps| {
            let is_segment = |name: &str| number_of(name).is_some();
            OpenedFiles::of(folder, is_segment, maps).map(Arc::new)
        };
        let in_memory = |memory: &MemoryConfig| {
            let place = memory::path_of(&memory.tmpfs, folder).map_err(io::Error::other)?;
            of(&place, true)
        };
        let opened = Folder::unlocked(folder).ok();
        let manifest = opened.and_then(|folder| Beginning::read(&folder).ok());
        Self {
            manifest: Arc::new(Mutex::new(manifest)),
            segments: of(&folder.join("segments"), memory.is_none()).ok(),
            memory: memory.and_then(|memory| in_memory(memory).ok()),
        }
    }

    /// What the manifest said, once.
    pub(crate) fn manifest(&self) -> Option<Beginning> {
        lock(&self.manifest).take()
    }

    pub(crate) fn segments(&self) -> Weak<OpenedFiles> {
        self.segments.as_ref().map(Arc::downgrade).unwrap_or_default()
    }

    /// How many files are not in use, on disk and in memory.
    #[cfg(test)]
    pub(crate) fn left(&self) -> (usize, usize) {
        let of = |files: &Option<Arc<OpenedFiles>>| files.as_ref().map_or(0, |files| files.left());
        (of(&self.segments), of(&self.memory))
    }

    pub(crate) fn memory(&self) -> Weak<OpenedFiles> {
        self.memory.as_ref().map(Arc::downgrade).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::disk::Disk;

    const NAME: &str = "00000001.segment";

    /// What a start reads in the file of a folder that had `before` when it was opened early, and has what
    /// `change` makes of it now.
    fn read_after(change: impl FnOnce(&Path)) -> Option<Vec<u8>> {
        let scratch = tempfile::tempdir().expect("a folder");
        let leaf = Folder::open_locked(scratch.path()).expect("opened");
        let segments = scratch.path().join("segments");
        fs::create_dir(&segments).expect("made");
        fs::write(segments.join(NAME), "before").expect("written");
        fs::write(segments.join("notes"), "no segment").expect("written");
        let early = EarlyFiles::open(scratch.path(), None);
        change(&segments);
        let folder = leaf.within("segments").expect("opened").with(early.segments());
        let file = folder.open_segment(NAME).ok()?;
        let length = usize::try_from(file.length()).expect("small");
        let mut bytes = vec![0; length];
        file.read(0, &mut bytes).expect("read");
        file.map().expect("mapped");
        assert_eq!(file.bytes(0, length), Some(&bytes[..]));
        Some(bytes)
    }

    #[test]
    fn a_file_that_is_still_there_is_the_one_that_was_opened() {
        assert_eq!(read_after(|_| ()).expect("there"), b"before");
        let written = |segments: &Path| {
            let file =
                fs::OpenOptions::new().write(true).open(segments.join(NAME)).expect("opened");
            std::os::unix::fs::FileExt::write_all_at(&file, b"a", 0).expect("written");
        };
        assert_eq!(read_after(written).expect("there"), b"aefore");
    }

    #[test]
    fn a_file_that_is_another_one_now_is_opened_anew() {
        let replaced = |segments: &Path| {
            fs::write(segments.join("new"), "behind").expect("written");
            fs::rename(segments.join("new"), segments.join(NAME)).expect("renamed");
        };
        assert_eq!(read_after(replaced).expect("there"), b"behind");
        let grown = |segments: &Path| {
            fs::write(segments.join(NAME), "before and after").expect("written");
        };
        assert_eq!(read_after(grown).expect("there"), b"before and after");
        let removed = |segments: &Path| fs::remove_file(segments.join(NAME)).expect("removed");
        assert!(read_after(removed).is_none());
        let linked = |segments: &Path| {
            fs::rename(segments.join(NAME), segments.join("elsewhere")).expect("renamed");
            std::os::unix::fs::symlink("elsewhere", segments.join(NAME)).expect("linked");
        };
        assert!(read_after(linked).is_none(), "a link is not followed");
    }
}
