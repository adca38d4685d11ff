//! The memory of a store for its segments: a folder of a tmpfs, which outlives the process.
//!
//! ```text
//! /dev/shm/hadal-1000-3f9ae2c1d07b5a66/   of one leaf of user 1000, mode 0700, locked
//!   leaf                                   the path of the leaf's folder, for the sweep
//!   00000001.segment                       the same bytes at the same offsets as on disk
//!   stopped                                the mark of a clean shutdown
//! ```
//!
//! The folder's name is derived from the path of the leaf's folder, so that the next process finds
//! it. It is a cache of the files on disk: if anything is wrong with it, blocks are read from disk.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

use crate::disk::{Disk, Folder};
use crate::error::Error;
use crate::manifest;

/// The file with the path of the leaf that owns the memory.
const LEAF: &str = "leaf";
/// No system has longer paths.
const PATH_BYTES_MAX: u64 = 1 << 20;

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

/// Removes memory of this user beneath `root` whose leaf is gone and which no process holds.
/// Returns the number of removed folders. Folders that cannot be examined or removed stay.
pub fn sweep(root: &Path) -> usize {
    let prefix = prefix();
    let Ok(entries) = fs::read_dir(root) else { return 0 };
    let of_user = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)));
    of_user.filter(|entry| sweep_one(root, &entry.path()).unwrap_or(false)).count()
}

/// Removes one folder if its leaf is gone or unknown.
fn sweep_one(root: &Path, path: &Path) -> Option<bool> {
    let name = path.file_name()?.to_str()?.strip_prefix(&prefix())?;
    if name.len() != 16 || !name.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let memory = Folder::open_private(path, false).ok()??;
    let leaf = match memory.read(LEAF, PATH_BYTES_MAX) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return None,
        leaf => leaf.unwrap_or_default(),
    };
    let leaf = Path::new(std::ffi::OsStr::from_bytes(&leaf));
    let has_leaf = leaf.join(manifest::NAME).exists() && path_of(root, leaf).ok()? == path;
    Some(!has_leaf && fs::remove_dir_all(path).is_ok())
}

/// The beginning of the names of all memory folders of this user.
fn prefix() -> String {
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
        fs::write(folder.join(manifest::NAME), "").expect("a manifest");
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

    #[test]
    fn memory_goes_with_its_leaf_unless_somebody_holds_it() {
        let scratch = tempfile::tempdir().expect("a folder");
        let root = scratch.path().join("tmpfs");
        fs::create_dir(&root).expect("a folder");
        fs::create_dir(root.join(format!("{}not-ours", prefix()))).expect("made");
        let [kept, gone, held] = ["kept", "gone", "held"].map(|name| leaf(scratch.path(), name));
        drop((open(&root, &kept).expect("opened"), open(&root, &gone).expect("opened")));
        let holder = open(&root, &held).expect("opened");
        assert_eq!(sweep(&root), 0);
        fs::remove_dir_all(&gone).expect("removed");
        fs::remove_dir_all(&held).expect("removed");
        assert_eq!(sweep(&root), 1);
        drop(holder);
        assert_eq!(sweep(&root), 1);
        assert!(open(&root, &kept).is_ok());
        assert_eq!(sweep(&scratch.path().join("nowhere")), 0);
    }

    #[test]
    fn whose_memory_it_is_is_noted_once_there_is_room() {
        let scratch = tempfile::tempdir().expect("a folder");
        let root = scratch.path().join("tmpfs");
        fs::create_dir(&root).expect("a folder");
        let one = leaf(scratch.path(), "one");
        let path = path_of(&root, &one).expect("a path");
        drop(open(&root, &one).expect("opened"));
        // As a start leaves it when the tmpfs is full.
        fs::write(path.join(LEAF), "").expect("written");
        drop(open(&root, &one).expect("opened"));
        let noted = fs::read(path.join(LEAF)).expect("noted");
        assert_eq!(noted, one.canonicalize().expect("a path").as_os_str().as_bytes());
        assert_eq!(sweep(&root), 0);
        for unknown in ["", "nothing"] {
            drop(open(&root, &one).expect("opened"));
            fs::write(path.join(LEAF), unknown).expect("written");
            assert_eq!(sweep(&root), 1, "{unknown:?}");
            assert!(!path.exists());
        }
        let held = open(&root, &one).expect("opened");
        fs::remove_file(path.join(LEAF)).expect("removed");
        assert_eq!(sweep(&root), 0, "somebody holds it");
        drop(held);
        assert_eq!(sweep(&root), 1);
    }
}
