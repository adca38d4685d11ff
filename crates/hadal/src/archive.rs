//! The archive: Parquet files in a folder or a bucket. A table can be set to write its rows to the
//! archive before they are dropped.
//!
//! The leaf decides which rows are archived and when ([`hadal_leaf::Archive`]). This module writes
//! them as files that other programs read, as `docs/archive.md` describes.
//!
//! A missing folder is never created: its disk may not be mounted, and rows would be written to
//! another disk. Rows stay in their table until the folder exists, or until the bucket is
//! reachable. At the start a check file is written and removed ([`Watch`]), so that an operator
//! learns of a broken archive before rows are due.

mod bucket;
mod column_array;
mod columns;
mod folder;
mod parquet_file;
#[cfg(test)]
mod tests;
mod watch;

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use hadal_leaf::{Archive, ArchiveError, ArchivePart};
use hadal_types::{Clock, SystemClock};

use crate::error::Error;
use bucket::Bucket;
use folder::Folder;
pub(crate) use watch::Watch;

/// The location of the archive, as the user writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveLocation {
    /// A folder.
    Folder(PathBuf),
    /// A bucket of an S3-compatible store. Its keys begin with `prefix`: empty, or a path.
    Bucket { name: String, prefix: String },
}

impl FromStr for ArchiveLocation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            let is_path =
                text.starts_with(['/', '.']) || !text.contains(':') && !text.contains("//");
            return match text {
                "" => Err("it is empty; write a folder, or s3://BUCKET/PREFIX".to_owned()),
                _ if text != text.trim() || !is_path => Err(format!(
                    "{:?} is no folder and no bucket; write a folder (./a:b), or s3://BUCKET/PREFIX",
                    text.rsplit_once('@').map_or(text, |(_, place)| place)
                )),
                _ => Ok(Self::Folder(text.into())),
            };
        };
        if text != text.trim() || rest.contains('@') {
            let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
            return Err(format!(
                "{place:?} has blanks around it or a user part; write s3://BUCKET/PREFIX, and keys in \
                 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            ));
        }
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        match (scheme, name) {
            ("s3", "") => Err(format!("{text:?} names no bucket; write s3://BUCKET/PREFIX")),
            ("s3", _) => {
                let prefix = prefix.trim_matches('/').to_owned();
                Ok(Self::Bucket { name: name.to_owned(), prefix })
            }
            // The text before an @ may be a secret key.
            _ => Err(format!(
                "{}:// is not known; write a folder, or s3://BUCKET/PREFIX",
                scheme.rsplit_once('@').map_or(scheme, |(_, scheme)| scheme)
            )),
        }
    }
}

impl fmt::Display for ArchiveLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(formatter),
            Self::Bucket { name, prefix } if prefix.is_empty() => write!(formatter, "s3://{name}"),
            Self::Bucket { name, prefix } => write!(formatter, "s3://{name}/{prefix}"),
        }
    }
}

impl ArchiveLocation {
    /// Opens the archive at this location, whether or not the location exists.
    pub(crate) fn open(&self) -> Result<Arc<Files>, Error> {
        let place: Box<dyn ArchiveStorage> = match self {
            Self::Folder(path) => Box::new(Folder::open(path)?),
            Self::Bucket { name, prefix } => Box::new(Bucket::open(name, prefix)?),
        };
        Ok(Arc::new(Files { place, name: self.to_string() }))
    }
}

/// Whether a writer should give up.
type IsStopping<'a> = &'a (dyn Fn() -> bool + Sync);

/// The storage that holds the files.
trait ArchiveStorage: fmt::Debug + Send + Sync {
    /// Begins a file. The file is invisible until it is [finished](Upload::finish).
    fn begin<'a>(
        &self,
        path: &str,
        is_stopping: IsStopping<'a>,
    ) -> io::Result<Box<dyn Upload + 'a>>;

    /// Removes a file and the remains of an unfinished upload, if they exist.
    fn remove(&self, path: &str) -> io::Result<()>;
}

/// A file that is being written. Dropping it discards the file.
trait Upload: Write + Send {
    /// Makes the file visible, and durable.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Parquet files in one storage.
#[derive(Debug)]
pub(crate) struct Files {
    place: Box<dyn ArchiveStorage>,
    name: String,
}

/// The first part of the name of a short-lived file that tests whether the archive can be written.
const CHECK: &str = "hadal-check";

impl Files {
    /// Writes a file and removes it.
    pub(crate) fn check(&self) -> Result<(), ArchiveError> {
        // The name is unique: several servers may share an archive.
        let path = format!("{CHECK}-{}-{}", std::process::id(), SystemClock.now().0);
        let write = || {
            let mut file = self.place.begin(&path, &|| false)?;
            file.write_all(b"written to see if it can be\n")?;
            file.finish()
        };
        write().map_err(|error| self.failed("write", &path)(error.to_string()))?;
        self.remove(&path)
    }

    fn failed(&self, action: &'static str, path: &str) -> impl Fn(String) -> ArchiveError {
        let place = format!("{}/{path}", self.name);
        move |reason| ArchiveError { action, path: place.clone(), reason }
    }
}

impl Archive for Files {
    fn write(
        &self,
        path: &str,
        parts: &[ArchivePart<'_>],
        is_stopping: IsStopping<'_>,
    ) -> Result<(), ArchiveError> {
        let failed = self.failed("write", path);
        let file =
            self.place.begin(path, is_stopping).map_err(|error| failed(error.to_string()))?;
        let file = parquet_file::write(file, parts, is_stopping).map_err(&failed)?;
        file.finish().map_err(|error| failed(error.to_string()))
    }

    fn remove(&self, path: &str) -> Result<(), ArchiveError> {
        let failed = self.failed("remove", path);
        self.place.remove(path).map_err(|error| failed(error.to_string()))
    }
}
