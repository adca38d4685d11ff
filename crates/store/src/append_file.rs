//! A file that is appended to and synced, and that refuses writes once it cannot be trusted.
//!
//! A write that finds no space is undone, so the file stays usable. After any other failure it is
//! unknown which bytes are on disk: the file is *poisoned* and refuses further writes. In
//! particular a failed sync is never repeated: the kernel may have dropped the dirty pages and
//! would then report success ("fsyncgate", PostgreSQL 2018).

use std::time::Instant;

use crate::disk::AppendFile;
use crate::error::Error;

/// An append-only file in use.
#[derive(Debug)]
pub(crate) struct AppendOnlyFile {
    file: Box<dyn AppendFile>,
    path: String,
    length: u64,
    /// The number of bytes to keep free beyond the end, and the offset up to which they are.
    reserve: u64,
    free_to: u64,
    /// Since when bytes may not be durable.
    unsynced: Option<Instant>,
    failure: Option<Error>,
}

impl AppendOnlyFile {
    /// Continues a file with `length` durable bytes; `path` is for messages.
    pub(crate) fn new(file: Box<dyn AppendFile>, path: String, length: u64) -> Self {
        Self { file, path, length, reserve: 0, free_to: 0, unsynced: None, failure: None }
    }

    /// Keeps about `bytes` free beyond the end, so that small appends still work when the disk is
    /// full: the changes that free disk are records of the manifest.
    pub(crate) fn keeping_free(mut self, bytes: u64) -> Self {
        self.reserve = bytes;
        self.keep_free();
        self
    }

    fn keep_free(&mut self) {
        let is_enough = self.length.saturating_add(self.reserve / 2) <= self.free_to;
        if !is_enough && self.file.set_aside(self.length, self.reserve).is_ok() {
            self.free_to = self.length.saturating_add(self.reserve);
        }
    }

    /// Bytes of the file.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Fails if the file refuses writes.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Appends all of `frames` and syncs once. They are durable after `Ok`, and not in the file
    /// after [`Error::Full`]. After any other error they may be there or not.
    pub(crate) fn write<B: AsRef<[u8]>>(&mut self, frames: &[B]) -> Result<(), Error> {
        let before = self.length;
        self.append(frames)?;
        self.sync().inspect_err(|_| self.length = before)
    }

    /// Appends all of `frames`. After `Ok` they outlive this process, but not yet the machine.
    /// After [`Error::Full`] they are not in the file.
    pub(crate) fn append<B: AsRef<[u8]>>(&mut self, frames: &[B]) -> Result<(), Error> {
        self.check()?;
        if self.reserve > 0 {
            self.keep_free();
        }
        let mut length = self.length;
        for frame in frames {
            self.file.append(frame.as_ref()).map_err(|error| self.undo(error))?;
            length += frame.as_ref().len() as u64;
        }
        self.length = length;
        self.unsynced.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// Makes all appended bytes durable.
    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        self.check()?;
        if self.unsynced.take().is_some() {
            self.file.sync().map_err(|error| self.poison("sync", error))?;
        }
        Ok(())
    }

    /// Since when bytes may not be durable; `None` if all are.
    pub(crate) const fn unsynced(&self) -> Option<Instant> {
        self.unsynced
    }

    /// Cuts off the remains of a failed append.
    fn undo(&mut self, error: std::io::Error) -> Error {
        match Error::io("append to", &self.path, error) {
            full @ Error::Full(_) => {
                self.free_to = 0;
                match self.file.cut(self.length).and_then(|()| self.file.sync()) {
                    Ok(()) => full,
                    Err(error) => self.poison("cut", error),
                }
            }
            other => self.poisoned(other.to_string()),
        }
    }

    fn poison(&mut self, action: &'static str, error: std::io::Error) -> Error {
        self.poisoned(format!("cannot {action} {}: {error}", self.path))
    }

    /// Refuses writes from now on, because of `cause`.
    pub(crate) fn poisoned(&mut self, cause: String) -> Error {
        let failure = Error::Poisoned { path: self.path.clone(), cause };
        self.failure = Some(failure.clone());
        failure
    }
}
