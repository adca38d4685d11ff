//! The archive: files of Parquet in a folder or a bucket, where rows of tables that are set so go
//! before they are dropped.
//!
//! What goes there and when is the leaf's affair ([`hadal_leaf::Archive`]); here it is turned into
//! files that other programs read, as `docs/archive.md` tells.
//!
//! A folder is never made: where it is missing, so may be the disk that it is on, and rows would go to
//! another one. Until it is there rows stay, as while a bucket is out of reach. So that who starts a server
//! learns of either before rows go, a file is written and removed at the start ([`Watch`]).

mod bucket;
mod cells;
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

/// Where the archive is, as a person says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveLocation {
    /// A folder.
    Folder(PathBuf),
    /// A bucket of a store that speaks S3, and what its keys begin with: nothing, or a path.
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
            // What stands before an @ may be somebody's key.
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
    /// The archive at this place, whether it is there or not.
    pub(crate) fn open(&self) -> Result<Arc<Files>, Error> {
        let place: Box<dyn ArchiveStorage> = match self {
            Self::Folder(path) => Box::new(Folder::open(path)?),
            Self::Bucket { name, prefix } => Box::new(Bucket::open(name, prefix)?),
        };
        Ok(Arc::new(Files { place, name: self.to_string() }))
    }
}

/// Says whether whoever writes should give up.
type IsStopping<'a> = &'a (dyn Fn() -> bool + Sync);

/// Where files are kept.
trait ArchiveStorage: fmt::Debug + Send + Sync {
    /// Begins a file; nobody sees it before it is [finished](Upload::finish).
    fn begin<'a>(
        &self,
        path: &str,
        is_stopping: IsStopping<'a>,
    ) -> io::Result<Box<dyn Upload + 'a>>;

    /// Removes a file and what may be left of one that was begun, if they are there.
    fn remove(&self, path: &str) -> io::Result<()>;
}

/// A file that is being written; dropped, it comes to nothing.
trait Upload: Write + Send {
    /// Makes the file visible, and durable.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Files of Parquet at a place.
#[derive(Debug)]
pub(crate) struct Files {
    place: Box<dyn ArchiveStorage>,
    name: String,
}

/// What the name of a file begins with that is there for a moment, to see if there can be any.
const CHECK: &str = "hadal-check";

impl Files {
    /// Writes a file, and removes it.
    pub(crate) fn check(&self) -> Result<(), ArchiveError> {
        // Nobody else's: an archive may be shared.
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
