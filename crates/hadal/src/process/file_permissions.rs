//! Keeps other users from writing to a data folder or reading its token, from the start on.
//!
//! A user who can write to a data folder can plant rows, settings and a token. A folder that no
//! other user can enter needs no further check. If other users can enter a folder that is used by
//! this server only, the permissions of the folder and its contents are corrected. A folder with
//! other uses, such as `/tmp`, is refused, because its permissions may be intended.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::error::Error;
use crate::output;
use crate::process::data_folder::{LEAVES_FILE, TOKEN_FILE};

/// Permissions of the group and of all others.
const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;
const OTHERS_ENTER: u32 = 0o011;
/// The depth of folders within a data folder.
const DEPTH_MAX: usize = 4;

/// Removes the permissions of others on a data folder, and reports so. A folder that does not exist
/// yet will be created without them.
///
/// # Errors
/// [`Error::Usage`] if others can write to the folder and this server may not change that.
pub(crate) fn keep_others_out(folder: &Path) -> Result<(), Error> {
    let metadata = match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata.map_err(Error::io("look at", folder.display()))?,
    };
    if metadata.uid() != geteuid().as_raw() && metadata.uid() != 0 {
        output::say(&format!(
            "{} belongs to user {}, who could write to it: better give it to the user that hadal runs as",
            folder.display(),
            metadata.uid()
        ));
    }
    if metadata.mode() & OTHERS == 0 {
        return Ok(());
    }
    let mut mended = 0;
    if metadata.mode() & OTHERS_WRITE != 0 {
        if !is_for_hadal(folder, &metadata) || take_rights(folder, &metadata, OTHERS_WRITE).is_err()
        {
            return Err(Error::Usage(format!(
                "data folder {0}: others can write to it (mode {1:o}), and so could plant rows and a token; \
                 chmod go-w {0}, or give a folder in it, which is made for this user only",
                folder.display(),
                metadata.mode() & 0o7777
            )));
        }
        mended += 1;
    }
    let can_be_entered = metadata.mode() & OTHERS_ENTER != 0;
    let failed = |error| Error::io("take others' rights to", folder.display())(error);
    if can_be_entered {
        mended += mend_within(folder, DEPTH_MAX).map_err(failed)?;
    }
    if mended > 0 {
        output::say(&format!(
            "others could write to data folder {}, or to what is in it: that right was taken from {}",
            folder.display(),
            output::count(mended, "place")
        ));
    }
    match can_be_entered {
        true => mend_token(&folder.join(TOKEN_FILE)).map_err(failed),
        false => Ok(()),
    }
}

/// Refuses a token file that others can write to: they could give themselves access.
///
/// # Errors
/// [`Error::Usage`].
pub(crate) fn refuse_written_by_others(file: &Path) -> Result<(), Error> {
    // A missing file will be created, and a file that cannot be examined cannot be read.
    let Ok(metadata) = fs::metadata(file) else { return Ok(()) };
    let is_kept = metadata.is_file() || metadata.file_type().is_fifo();
    if is_kept && metadata.mode() & OTHERS_WRITE != 0 {
        return Err(Error::Usage(format!(
            "token file {0}: others can write to it (mode {1:o}), and so could let themselves in; \
             chmod go-w {0}, and put a new token there if somebody may have",
            file.display(),
            metadata.mode() & 0o7777
        )));
    }
    Ok(())
}

/// Whether a folder has no other use: it is a data folder, or it is empty and not shared by all.
fn is_for_hadal(folder: &Path, metadata: &Metadata) -> bool {
    const STICKY: u32 = 0o1000;
    let is_empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    folder.join(LEAVES_FILE).is_file() || metadata.mode() & STICKY == 0 && is_empty()
}

fn take_rights(path: &Path, metadata: &Metadata, rights: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(metadata.mode() & 0o7777 & !rights))
}

/// Removes the permission of others to write to anything in a folder. Returns the number of files
/// and folders changed. Links are neither followed nor changed.
fn mend_within(folder: &Path, depth: usize) -> io::Result<u64> {
    let mut mended = 0;
    for entry in fs::read_dir(folder)? {
        let path: PathBuf = entry?.path();
        let metadata = match fs::symlink_metadata(&path) {
            // A file that disappears meanwhile belongs to a running server, which creates its files
            // private.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        if metadata.is_symlink() {
            continue;
        }
        if metadata.mode() & OTHERS_WRITE != 0 {
            take_rights(&path, &metadata, OTHERS_WRITE)?;
            mended += 1;
        }
        if metadata.is_dir() && depth > 0 {
            mended += mend_within(&path, depth - 1)?;
        }
    }
    Ok(mended)
}

/// Removes the permission of others to read the folder's token.
fn mend_token(file: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(file) else { return Ok(()) };
    if metadata.is_file() && metadata.mode() & OTHERS != 0 {
        take_rights(file, &metadata, OTHERS)?;
        File::open(file)?.sync_all()?;
        output::say(&format!(
            "others could read the token in {}: that right was taken; remove the file for a new token if \
             somebody may have",
            file.display()
        ));
    }
    Ok(())
}
