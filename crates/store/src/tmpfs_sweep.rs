//! Removes the tmpfs folders of leaves whose own folder is gone.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::disk::{Disk, Folder};
use crate::manifest;
use crate::tmpfs::{LEAF, path_of, prefix};

/// No system has longer paths.
const PATH_BYTES_MAX: u64 = 1 << 20;

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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::tmpfs::open;

    fn leaf(scratch: &Path, name: &str) -> PathBuf {
        let folder = scratch.join(name);
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join(manifest::NAME), "").expect("a manifest");
        folder
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
