//! The archive: files of Parquet in a folder or a bucket, where rows of tables that are set so go
//! before they are dropped.
//!
//! What goes there and when is the leaf's affair ([`hadal_leaf::Archive`]); here it is turned into
//! files that other programs read. `docs/archive.md` tells people, `spec/archive.md` programs.

mod bucket;
mod cells;
mod columns;
mod folder;
mod parquet_file;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use hadal_leaf::{Archive, ArchiveError, ArchivePart};

use crate::error::Error;
use bucket::Bucket;
use folder::Folder;

/// Where the archive is, as a person says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArchivePlace {
    /// A folder.
    Folder(PathBuf),
    /// A bucket of a store that speaks S3, and what its keys begin with: nothing, or a path.
    Bucket { name: String, prefix: String },
}

impl FromStr for ArchivePlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return match text {
                "" => Err("it is empty; write a folder, or s3://BUCKET/PREFIX".to_owned()),
                _ => Ok(Self::Folder(text.into())),
            };
        };
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        match (scheme, name) {
            ("s3", "") => Err(format!("{text:?} names no bucket; write s3://BUCKET/PREFIX")),
            ("s3", _) => {
                let prefix = prefix.trim_matches('/').to_owned();
                Ok(Self::Bucket { name: name.to_owned(), prefix })
            }
            _ => Err(format!("{scheme}:// is not known; write a folder, or s3://BUCKET/PREFIX")),
        }
    }
}

impl fmt::Display for ArchivePlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(formatter),
            Self::Bucket { name, prefix } if prefix.is_empty() => write!(formatter, "s3://{name}"),
            Self::Bucket { name, prefix } => write!(formatter, "s3://{name}/{prefix}"),
        }
    }
}

impl ArchivePlace {
    /// The archive at this place. A bucket is not asked for before something is written.
    pub(crate) fn open(&self) -> Result<Arc<dyn Archive>, Error> {
        let place: Box<dyn Place> = match self {
            Self::Folder(path) => Box::new(Folder::open(path)?),
            Self::Bucket { name, prefix } => Box::new(Bucket::open(name, prefix)?),
        };
        Ok(Arc::new(Files { place, name: self.to_string() }))
    }
}

/// Says whether whoever writes should give up.
type IsStopping<'a> = &'a (dyn Fn() -> bool + Sync);

/// Where files are kept.
trait Place: fmt::Debug + Send + Sync {
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
struct Files {
    place: Box<dyn Place>,
    name: String,
}

impl Files {
    fn failed(&self, action: &'static str, path: &str) -> impl Fn(String) -> ArchiveError {
        let place = format!("{}/{path}", self.name);
        move |reason| ArchiveError { action, place: place.clone(), reason }
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
