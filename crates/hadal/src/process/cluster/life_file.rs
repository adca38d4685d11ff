//! The file in a data folder that says when a leaf joined its cluster, by its content, and when its
//! process was last alive and knew its revoked batches, by the time of its last change.

use std::fs::{File, FileTimes};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hadal_types::Micros;

use crate::error::Error;
use crate::process::data_folder::read_small;

/// The life of one leaf.
pub(crate) struct LifeFile {
    /// `None` for a leaf without a folder: it begins with its process.
    path: Option<PathBuf>,
    /// When the first process of the leaf joined the cluster.
    pub(crate) joined: Micros,
    /// How long no process of the leaf was alive and knew its revoked batches; `None` if that is
    /// unknown.
    pub(crate) away: Option<Duration>,
}

impl LifeFile {
    /// Reads the file of a leaf, or makes it for a leaf that joins `now`.
    ///
    /// # Errors
    /// If it cannot be read or made.
    pub(crate) fn open(folder: Option<&Path>, index: usize, now: Micros) -> Result<Self, Error> {
        let Some(folder) = folder else {
            return Ok(Self { path: None, joined: now, away: None });
        };
        let path = folder.join(format!("life-{index}"));
        let text = match read_small(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                write(folder, &path, now).map_err(Error::io("write", path.display()))?;
                return Ok(Self { path: Some(path), joined: now, away: None });
            }
            read => read.map_err(Error::io("read", path.display()))?,
        };
        let joined = text.trim_end().parse().map(Micros).map_err(|_| {
            Error::Usage(format!(
                "{} does not say when leaf {index} joined, in microseconds since 1970; remove it, \
                 and the leaf is taken for a new one",
                path.display()
            ))
        })?;
        let changed = std::fs::metadata(&path).and_then(|facts| facts.modified());
        let changed = changed.map_err(Error::io("read", path.display()))?;
        // A clock that was set back says nothing.
        let away = SystemTime::now().duration_since(changed).ok();
        Ok(Self { path: Some(path), joined, away })
    }

    /// Notes that the process is alive and knows its revoked batches.
    pub(crate) fn note_alive(&self) -> std::io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let times = FileTimes::new().set_modified(SystemTime::now());
        File::options().write(true).open(path)?.set_times(times)
    }
}

fn write(folder: &Path, path: &Path, joined: Micros) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let mut written = File::create(&new)?;
    writeln!(written, "{}", joined.0)?;
    written.sync_all()?;
    std::fs::rename(&new, path)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_keeps_the_time_at_which_it_joined() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = LifeFile::open(Some(folder.path()), 1, Micros(7)).expect("made");
        assert_eq!((first.joined, first.away), (Micros(7), None));
        first.note_alive().expect("noted");
        let next = LifeFile::open(Some(folder.path()), 1, Micros(99)).expect("read");
        assert_eq!(next.joined, Micros(7));
        assert!(next.away.is_some_and(|away| away < Duration::from_secs(60)));
        std::fs::write(folder.path().join("life-1"), "soon").expect("written");
        let error = LifeFile::open(Some(folder.path()), 1, Micros(99)).err().expect("refused");
        assert!(error.to_string().contains("life-1 does not say when leaf 1 joined"), "{error}");
        let without = LifeFile::open(None, 1, Micros(5)).expect("no file");
        assert_eq!((without.joined, without.away), (Micros(5), None));
        without.note_alive().expect("nothing to note");
    }
}
