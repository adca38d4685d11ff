//! A data folder: the folders of its leaves, how many there are, and its small files.

use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hadal_types::limits::{DISK_RESERVE_BYTES, DISK_RESERVE_PART};

use crate::error::Error;
use crate::process::system::Holdings;

/// The file in a data folder that holds the number of its leaves.
pub(crate) const LEAVES_FILE: &str = "leaves";
/// The name of the admin token's file in a data folder.
pub(crate) const TOKEN_FILE: &str = "admin-token";
/// The number of bytes that are read of a file that should have one line.
const SMALL_FILE_BYTES_MAX: u64 = 4_096;
/// The maximum number of leaves in one process.
pub(crate) const LEAVES_IN_PROCESS_MAX: usize = 64;

/// The name of a leaf and of its folder.
pub(crate) fn leaf_name(index: usize) -> String {
    format!("leaf-{index}")
}

/// The leaves that a data folder should have.
#[derive(Default)]
pub(crate) struct KnownLeaves {
    pub(crate) count: usize,
    /// The number that was written down: of these leaves, none may be missing.
    pub(crate) noted: usize,
}

/// Counts the leaves of a data folder: the larger one of the number written down and the highest
/// number of a leaf's folder, so that none is left out. Leaves beyond the number written down may
/// be unfinished, from a start that failed. Nothing was acknowledged before the number was written,
/// so such leaves lose no rows.
pub(crate) fn leaves_in(folder: &Path) -> Result<KnownLeaves, Error> {
    make_folder(folder)?;
    let at = |index: &usize| folder.join(leaf_name(*index));
    let last = (0..LEAVES_IN_PROCESS_MAX).rev().find(|index| at(index).is_dir());
    let noted = noted_leaves(folder)?;
    let count = noted.max(last.map_or(0, |index| index + 1));
    Ok(KnownLeaves { count, noted })
}

/// Bytes of disk that all leaves of a data folder reserve together: a part of the disk, up to a
/// limit. Zero if the system does not report the disk's size.
pub(crate) fn disk_reserve_in(folder: &Path) -> u64 {
    let Ok(stats) = rustix::fs::statvfs(folder) else { return 0 };
    let disk = stats.f_frsize.saturating_mul(stats.f_blocks);
    (disk / DISK_RESERVE_PART).min(DISK_RESERVE_BYTES)
}

/// Counts the leaves and segments for which a server over `folder` will keep files open, as far as
/// they exist. Creates nothing.
pub(crate) fn holdings(folder: &Path, leaves: usize) -> Holdings {
    let there: Vec<PathBuf> = (0..LEAVES_IN_PROCESS_MAX)
        .map(|index| folder.join(leaf_name(index)))
        .filter(|leaf| leaf.is_dir())
        .collect();
    let segments_in = |leaf: &PathBuf| {
        std::fs::read_dir(leaf.join("segments")).map_or(0, std::iter::Iterator::count)
    };
    Holdings { leaves: leaves.max(there.len()), segments: there.iter().map(segments_in).sum() }
}

/// Creates a folder and its parents for this user only. An existing folder stays as it is.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(Error::io("make", folder.display()))
}

/// Returns the text of a small file of a data folder. Refuses anything but a regular file without
/// waiting for it, and reads at most [`SMALL_FILE_BYTES_MAX`].
pub(crate) fn read_small(file: &Path) -> std::io::Result<String> {
    read_some(open_regular(file)?)
}

/// Opens a file to read. Refuses anything but a regular file without waiting for it.
pub(crate) fn open_regular(file: &Path) -> std::io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = File::options().read(true).custom_flags(flags).open(file)?;
    match opened.metadata()?.is_file() {
        true => Ok(opened),
        false => Err(std::io::Error::other("it is no regular file")),
    }
}

/// Returns at most [`SMALL_FILE_BYTES_MAX`] bytes of a file's text.
pub(crate) fn read_some(file: File) -> std::io::Result<String> {
    let mut text = String::new();
    file.take(SMALL_FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns the number of leaves that was written down in a data folder; 0 for a new folder.
fn noted_leaves(folder: &Path) -> Result<usize, Error> {
    let file = folder.join(LEAVES_FILE);
    let text = match read_small(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        read => read.map_err(Error::io("read", file.display()))?,
    };
    let count = text.trim().parse().ok().filter(|count| *count <= LEAVES_IN_PROCESS_MAX);
    count.ok_or_else(|| {
        let place = file.display();
        Error::Usage(format!(
            "{place} does not hold a number of leaves, 0 to {LEAVES_IN_PROCESS_MAX}; it may be \
             removed if no leaf's folder is missing"
        ))
    })
}

/// Writes down the number of leaves of a data folder. To be called once all of them exist.
pub(crate) fn note_leaves(folder: &Path, count: usize) -> Result<(), Error> {
    if noted_leaves(folder)? == count {
        return Ok(());
    }
    let (file, new) = (folder.join(LEAVES_FILE), folder.join(format!("{LEAVES_FILE}.new")));
    let write = || {
        let mut written = File::create(&new)?;
        writeln!(written, "{count}")?;
        written.sync_all()?;
        std::fs::rename(&new, &file)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(Error::io("write", file.display()))
}

#[cfg(test)]
mod tests {
    use hadal_store::{Config, Store};

    use super::*;

    fn lost_in(folder: &Path) -> (usize, Vec<String>) {
        let KnownLeaves { count, noted } = leaves_in(folder).expect("read");
        let is_lost = |index: &usize| !Store::is_in(&folder.join(leaf_name(*index)));
        (count, (0..noted).filter(is_lost).map(leaf_name).collect())
    }

    #[test]
    fn a_leaf_that_is_gone_is_missed() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("data");
        assert_eq!(lost_in(&folder), (0, vec![]));
        for index in 0..3 {
            let leaf = Store::open(&Config::new(folder.join(leaf_name(index))));
            drop(leaf.expect("made"));
        }
        // The folder is from before the number was written down.
        assert_eq!(lost_in(&folder), (3, vec![]));
        note_leaves(&folder, 3).expect("noted");
        assert_eq!(lost_in(&folder), (3, vec![]));
        let leaf = |index| folder.join(leaf_name(index));
        std::fs::remove_dir_all(leaf(1)).expect("removed");
        std::fs::remove_dir_all(leaf(2)).expect("removed");
        std::fs::create_dir(leaf(2)).expect("made");
        assert_eq!(lost_in(&folder), (3, vec!["leaf-1".to_owned(), "leaf-2".to_owned()]));
    }

    #[test]
    fn a_leaf_that_was_never_whole_is_not_missed() {
        let folder = tempfile::tempdir().expect("a folder");
        let leaf = |index| folder.path().join(leaf_name(index));
        std::fs::create_dir(leaf(1)).expect("made");
        assert_eq!(lost_in(folder.path()), (2, vec![]));
        drop(Store::open(&Config::new(leaf(0))).expect("made"));
        note_leaves(folder.path(), 1).expect("noted");
        assert_eq!(lost_in(folder.path()), (2, vec![]));
    }

    #[test]
    fn what_is_no_file_is_refused_and_nobody_waits_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(LEAVES_FILE);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let node = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &file, node, mode, 0).expect("made");
        let refused = leaves_in(folder.path()).err().expect("refused").to_string();
        assert!(refused.contains("it is no regular file"), "{refused}");
        std::fs::remove_file(&file).expect("removed");
        let huge = File::create(&file).and_then(|file| file.set_len(1 << 40));
        huge.expect("made");
        assert!(matches!(leaves_in(folder.path()), Err(Error::Usage(_))));
    }

    #[test]
    fn a_number_that_is_none_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in ["", "many", "-1", "65"] {
            std::fs::write(folder.path().join(LEAVES_FILE), text).expect("written");
            assert!(matches!(leaves_in(folder.path()), Err(Error::Usage(_))), "{text}");
        }
    }
}
