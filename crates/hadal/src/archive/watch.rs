//! Checks at the start whether the archive can be written, and again until it can.

use std::sync::Arc;
use std::time::Duration;

use hadal_types::limits::ARCHIVE_RETRY_SECONDS;
use parking_lot::Mutex;

use super::Files;
use crate::error::Error;
use crate::output;

/// The error of the last check of the archive, if it failed.
pub(crate) type Trouble = Arc<Mutex<Option<String>>>;

/// A watch over the archive. It ends at the first success: from then on archive passes report
/// errors.
pub(crate) struct Watch {
    files: Arc<Files>,
    trouble: Trouble,
}

impl Watch {
    /// Starts the watch on its own thread: an unreachable archive must not delay the start of a
    /// server, and may take long to fail.
    pub(crate) fn start(files: Arc<Files>, trouble: Trouble) -> Result<(), Error> {
        let watch = Self { files, trouble };
        let thread = std::thread::Builder::new().name("hadal-archive-watch".to_owned());
        let watching = move || {
            while !watch.look() {
                std::thread::sleep(Duration::from_secs(ARCHIVE_RETRY_SECONDS));
            }
        };
        thread.spawn(watching).map_err(Error::io("start", "a thread that checks the archive"))?;
        Ok(())
    }

    /// Checks whether the archive can be written, and reports a change.
    fn look(&self) -> bool {
        let error = self.files.check().err().map(|error| error.to_string());
        let mut trouble = self.trouble.lock();
        let before = std::mem::replace(&mut *trouble, error.clone());
        drop(trouble);
        match (&before, &error) {
            (None, Some(error)) => output::say(&format!(
                "the archive CANNOT BE WRITTEN: {error}; rows of tables with archive=on stay until it can be"
            )),
            (Some(_), None) => output::say("the archive can be written now"),
            _ => {}
        }
        error.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::ArchiveLocation;

    #[test]
    fn a_folder_is_awaited_and_not_made() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("old");
        let files = ArchiveLocation::Folder(folder.clone()).open().expect("set up");
        let watch = Watch { files, trouble: Trouble::default() };
        let trouble = || watch.trouble.lock().clone();
        assert!(!watch.look());
        let error = trouble().expect("an error");
        assert!(error.contains("there is no folder "), "{error}");
        assert!(!folder.exists());
        std::fs::create_dir(&folder).expect("made");
        assert!(watch.look());
        assert_eq!(trouble(), None);
        let left = std::fs::read_dir(&folder).expect("read").count();
        assert_eq!(left, 0, "nothing is left of it");
    }
}
