//! The log file that is written to, and the change to the next log file.

use std::sync::Arc;
use std::time::Instant;

use super::file_name;
use crate::append_file::AppendOnlyFile;
use crate::disk::Disk;
use crate::error::Error;

/// A file without needed frames is left once it has this fraction of its size; a smaller one may as
/// well be written to.
const SPENT_SHARE: u64 = 64;

/// Writes groups of frames to log files of about `file_bytes`.
#[derive(Debug)]
pub(super) struct Writer {
    disk: Arc<dyn Disk>,
    file_bytes: u64,
    current: Option<(u64, AppendOnlyFile)>,
    next_number: u64,
}

/// Where writing resumes: the last log file, and how much of it is whole.
#[derive(Debug)]
pub(crate) struct Resume {
    pub(super) number: u64,
    pub(super) append_file: AppendOnlyFile,
}

impl Writer {
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        file_bytes: u64,
        resume: Option<Resume>,
        next_number: u64,
    ) -> Self {
        let current = resume.map(|resume| (resume.number, resume.append_file));
        Self { disk, file_bytes, current, next_number }
    }

    /// The number of the file that is written to.
    pub(super) fn current(&self) -> Option<u64> {
        self.current.as_ref().map(|(number, _)| *number)
    }

    /// Whether the next group begins a new file. A poisoned file is never left.
    pub(super) fn is_full(&self) -> bool {
        self.current.as_ref().is_none_or(|(_, append_file)| {
            append_file.length() >= self.file_bytes && append_file.check().is_ok()
        })
    }

    /// Begins a new file with a durable name; returns its number.
    pub(super) fn rotate(&mut self) -> Result<u64, Error> {
        // Nothing else syncs the previous file.
        self.sync()?;
        let number = self.next_number;
        let name = file_name(number);
        let path = self.disk.path_of(&name);
        let file = self.disk.create(&name).map_err(|error| Error::io("create", &path, error))?;
        self.next_number = number.saturating_add(1);
        let mut append_file = AppendOnlyFile::new(file, path, 0);
        let synced = self.disk.sync_folder();
        let failed = |error| append_file.poisoned(format!("cannot sync the log's folder: {error}"));
        let result = synced.map_err(failed);
        self.current = Some((number, append_file));
        result.map(|()| number)
    }

    /// Stops writing to a sound file that has at least one [`SPENT_SHARE`]th of its full size, so
    /// that the next group begins another one. Returns whether it did.
    pub(super) fn leave(&mut self) -> bool {
        let bytes_min = self.file_bytes / SPENT_SHARE;
        let may_be_left = |append_file: &AppendOnlyFile| {
            append_file.length() >= bytes_min && append_file.check().is_ok()
        };
        if !self.current.as_ref().is_some_and(|(_, append_file)| may_be_left(append_file)) {
            return false;
        }
        self.current = None;
        true
    }

    /// Bytes of a full file.
    pub(super) const fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Appends a group to the current file, and syncs it if `is_synced`. Returns the file's number
    /// and the group's offset in it.
    pub(super) fn write(
        &mut self,
        frames: &[Vec<u8>],
        is_synced: bool,
    ) -> Result<(u64, u64), Error> {
        let (number, append_file) = self.current.as_mut().ok_or(Error::Closed)?;
        let from = append_file.length();
        match is_synced {
            true => append_file.write(frames)?,
            false => append_file.append(frames)?,
        }
        Ok((*number, from))
    }

    /// Makes all written frames durable.
    pub(super) fn sync(&mut self) -> Result<(), Error> {
        self.current.as_mut().map_or(Ok(()), |(_, append_file)| append_file.sync())
    }

    /// Since when written bytes may not be durable; `None` if all are.
    pub(super) fn unsynced(&self) -> Option<Instant> {
        self.current.as_ref()?.1.unsynced()
    }
}
