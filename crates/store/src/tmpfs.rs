//! The memory of a store for its segments: a folder of a tmpfs, which outlives the process.
//!
//! ```text
//! /dev/shm/hadal-1000-3f9ae2c1d07b5a66/   of one leaf of user 1000, mode 0700, locked
//!   leaf                                   the path of the leaf's folder
//!   00000001.segment                       the same bytes at the same offsets as on disk
//!   stopped                                the mark of a clean shutdown
//! ```
//!
//! The folder's name is derived from the path of the leaf's folder, so that the next process finds
//! it. The folder is a cache of the files on disk: if anything is wrong with it, blocks are read
//! from disk. `tmpfs_sweep.rs` reads the file `leaf`, and removes folders whose leaf is gone.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

use crate::disk::{Disk, Folder};
use crate::error::Error;

/// The file with the path of the leaf that owns the memory.
pub(crate) const LEAF: &str = "leaf";

/// Opens the memory of the leaf in `folder`, which is locked, beneath `root`. Makes it if it is
/// missing, and locks it for as long as the returned value lives.
///
/// # Errors
/// [`Error::Foreign`] if it belongs to another user or others may write to it; [`Error::Io`] for
/// all else.
pub(crate) fn open(root: &Path, folder: &Path) -> Result<Folder, Error> {
    let path = path_of(root, folder)?;
    // Another process can hold it only for a short check, because its leaf is locked.
    let memory = Folder::open_private(&path, true)?.ok_or_else(|| in_use(&path))?;
    note(&memory, folder)?;
    Ok(memory)
}

/// Records in a memory folder that it belongs to the leaf in `folder`.
///
/// # Errors
/// [`Error::Io`].
pub(crate) fn note(memory: &Folder, folder: &Path) -> Result<(), Error> {
    let failed = |error| Error::io("write", &memory.path_of(LEAF), error);
    let whole = folder.canonicalize().map_err(failed)?;
    match note_leaf(memory, whole.as_os_str().as_bytes()) {
        // The sweep keeps a folder of that name.
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(()),
        // The next start records it. A sweep before that costs one read from disk.
        noted => match noted.map_err(failed) {
            Err(Error::Full(_)) | Ok(()) => Ok(()),
            Err(error) => Err(error),
        },
    }
}

/// Records the owner, unless it is recorded already.
fn note_leaf(memory: &Folder, leaf: &[u8]) -> io::Result<()> {
    let is_there = memory.list()?.iter().any(|name| name == LEAF);
    if is_there && memory.read(LEAF, leaf.len() as u64).is_ok_and(|noted| noted == leaf) {
        return Ok(());
    }
    if is_there {
        memory.remove(LEAF)?;
    }
    let written = memory.create(LEAF).and_then(|mut file| file.append(leaf));
    written.inspect_err(|_| drop(memory.remove(LEAF)))
}

/// Removes the memory of the leaf in `folder`, if any: it is not used any more.
///
/// # Errors
/// [`Error::InUse`] if a process holds it; [`Error::Foreign`] and [`Error::Io`] as for opening it.
pub fn remove(root: &Path, folder: &Path) -> Result<(), Error> {
    let path = path_of(root, folder)?;
    if !path.exists() {
        return Ok(());
    }
    let _locked = Folder::open_private(&path, false)?.ok_or_else(|| in_use(&path))?;
    fs::remove_dir_all(&path)
        .map_err(|error| Error::io("remove", &path.display().to_string(), error))
}

fn in_use(path: &Path) -> Error {
    Error::InUse(path.display().to_string())
}

/// The beginning of the names of all memory folders of this user.
pub(crate) fn prefix() -> String {
    format!("hadal-{}-", rustix::process::geteuid().as_raw())
}

/// The path of the memory of the leaf in `folder`. Other leaves have other ones, even if their
/// folders have the same path in other file systems.
pub(crate) fn path_of(root: &Path, folder: &Path) -> Result<PathBuf, Error> {
    let failed = |error| Error::io("look at", &folder.display().to_string(), error);
    let whole = folder.canonicalize().map_err(failed)?;
    let metadata = fs::metadata(&whole).map_err(failed)?;
    let mut identity = whole.as_os_str().as_bytes().to_vec();
    identity.extend(metadata.dev().to_le_bytes());
    identity.extend(metadata.ino().to_le_bytes());
    let hash = XxHash3_64::oneshot(&identity);
    Ok(root.join(format!("{}{hash:016x}", prefix())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn leaf(scratch: &Path, name: &str) -> PathBuf {
        let folder = scratch.join(name);
        fs::create_dir(&folder).expect("a folder");
        folder
    }

    #[test]
    fn each_leaf_has_memory_of_its_own_and_finds_it_again() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (one, two) = (leaf(scratch.path(), "one"), leaf(scratch.path(), "two"));
        let root = scratch.path().join("tmpfs");
        fs::create_dir(&root).expect("a folder");
        let memory = open(&root, &one).expect("opened");
        memory.create("something").expect("made");
        assert!(matches!(remove(&root, &one), Err(Error::InUse(_))));
        let other = open(&root, &two).expect("opened");
        assert_ne!(memory.path_of(""), other.path_of(""));
        drop(memory);
        let names = open(&root, &one).expect("opened").list().expect("listed");
        assert!(names.contains(&"something".to_owned()), "{names:?}");
        let mode = fs::metadata(path_of(&root, &one).expect("a path")).expect("there").mode();
        assert_eq!(mode & 0o777, 0o700);
        remove(&root, &one).expect("removed");
        assert!(!path_of(&root, &one).expect("a path").exists());
    }

    #[test]
    fn memory_that_others_could_write_to_is_refused() {
        let scratch = tempfile::tempdir().expect("a folder");
        let one = leaf(scratch.path(), "one");
        let path = path_of(scratch.path(), &one).expect("a path");
        fs::create_dir(&path).expect("made");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o770)).expect("opened up");
        assert!(matches!(open(scratch.path(), &one), Err(Error::Foreign(_))));
        fs::remove_dir(&path).expect("removed");
        let elsewhere = leaf(scratch.path(), "elsewhere");
        symlink(&elsewhere, &path).expect("a link");
        let refused = open(scratch.path(), &one);
        assert!(matches!(refused, Err(Error::Io { .. })), "{refused:?}");
    }
}
