//! The SQLite file: it appears only once it is complete, is readable for its owner only, and is
//! never taken for empty when it is damaged.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, DirEntry, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::DefinitionsError;

/// The suffix of a file that is being made; the process id follows.
const NEW: &str = ".new-";

/// Whether the file has to be made first. An empty file was not made by this program.
///
/// # Errors
/// [`DefinitionsError::Damaged`] for an empty file, [`DefinitionsError::File`] if it cannot be
/// examined.
pub(crate) fn is_missing(file: &Path) -> Result<bool, DefinitionsError> {
    let location = file.display().to_string();
    match fs::metadata(file) {
        Ok(facts) if facts.len() == 0 => {
            Err(DefinitionsError::Damaged { location, reason: "the file is empty".to_owned() })
        }
        Ok(_) => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(source) => Err(DefinitionsError::File { action: "read", location, source }),
    }
}

/// Begins a new file under a temporary name; each process has its own.
pub(crate) fn begin(file: &Path) -> Result<PathBuf, DefinitionsError> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(failed("make", folder))?;
    }
    let mut name = file.as_os_str().to_owned();
    name.push(format!("{NEW}{}", std::process::id()));
    let new = PathBuf::from(name);
    // The half-made file of an earlier process with this id.
    remove(&new)?;
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
    made.map_err(failed("make", &new))?;
    Ok(new)
}

/// Gives the new file its name. If another process was quicker, its file is used.
pub(crate) fn finish(new: &Path, file: &Path) -> Result<(), DefinitionsError> {
    match fs::hard_link(new, file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        // The other process has removed this one's file, too.
        Err(error) if error.kind() == ErrorKind::NotFound && file.exists() => {}
        linked => linked.map_err(failed("make", file))?,
    }
    remove(new)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed("sync", folder))
}

/// Removes the files of processes that ended while they made the file, and SQLite's files beside
/// them. The file exists, so they are not needed. Files that cannot be removed do no harm.
pub(crate) fn remove_half_made(file: &Path) {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let (Some(name), Ok(entries)) =
        (file.file_name().and_then(OsStr::to_str), fs::read_dir(folder.unwrap_or(Path::new("."))))
    else {
        return;
    };
    let half_made = format!("{name}{NEW}");
    let is_one = |entry: &DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(&half_made))
    };
    entries.flatten().filter(is_one).for_each(|entry| drop(remove(&entry.path())));
}

fn remove(file: &Path) -> Result<(), DefinitionsError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(failed("remove", file)),
    }
}

fn failed<'p>(
    action: &'static str,
    location: &'p Path,
) -> impl FnOnce(io::Error) -> DefinitionsError + 'p {
    move |source| DefinitionsError::File {
        action,
        location: location.display().to_string(),
        source,
    }
}

/// The URL of an existing file; its path may have any characters.
pub(crate) fn url(file: &Path) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;

    let mut url = "sqlite://".to_owned();
    for &byte in file.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => url.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => url.push(char::from(byte)),
            // Writing to a text does not fail.
            _ => drop(write!(url, "%{byte:02X}")),
        }
    }
    url.push_str("?mode=rw");
    url
}
