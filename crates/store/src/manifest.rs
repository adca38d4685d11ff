//! The manifest: the one file that says which blocks and frames count.
//!
//! It is a file of records. Each record is one atomic change, appended and synced. Now and then a
//! shorter file is written and renamed into place. The format and the order of steps are in
//! `spec/segments.md`, sections 3 and 4. A copy is kept beside it (`copy.rs`).

mod copy;
mod record;
mod snapshot;
mod state;

use std::sync::Arc;

use hadal_types::limits::FOLDER_FILE_BYTES_MAX;

use crate::append_file::AppendOnlyFile;
use crate::disk::Disk;
use crate::error::Error;
use crate::frame::{Draft, HEADER_BYTES, MANIFEST, first, scan};
use crate::log_marks::LogMarks;
pub(crate) use copy::NAME as COPY_NAME;
use copy::{Copy, CopyContent};
pub(crate) use record::{Reader, Record};
use snapshot::{Agreement, read_manifest};
pub(crate) use snapshot::{ChangesSince, ManifestSnapshot};
pub(crate) use state::State;

/// Bytes beyond the end of the manifest that are kept free, so that drops and expiry still work
/// when the disk is full.
const RESERVE: u64 = 64 << 10;

/// The file name of the manifest.
pub(crate) const NAME: &str = "manifest";
/// The file name of a manifest that is being compacted.
const NEW_NAME: &str = "manifest.new";
/// A damaged manifest that its copy replaced.
const DAMAGED_NAME: &str = "manifest.damaged";
/// The advice for the case that neither can be used.
pub(crate) const REMEDY: &str = "see docs/damage.md, \"A damaged manifest\"";
/// The format version of the whole folder.
const VERSION: u32 = 4;
/// The previous version: its records have no checksums of blocks. It is read, and rewritten.
const VERSION_BEFORE: u32 = 3;
/// The head is read before the salt is known.
const HEAD_SALT: u64 = 0;
/// A manifest is compacted when it has grown to this many times its compacted length.
const GROWTH: u64 = 4;

/// The manifest's file.
#[derive(Debug)]
pub(crate) struct Manifest {
    disk: Arc<dyn Disk>,
    salt: u64,
    append_file: AppendOnlyFile,
    /// `None` if it could not be written.
    copy: Option<Copy>,
    /// How far the log is durable; the copy's next record says so.
    marks: LogMarks,
    /// The manifest's position when it was read.
    read: (u64, u64),
    /// How the copy repaired the manifest, in words.
    mended: Option<String>,
    /// Frames in the file, the head included: the number of the next record.
    next_record: u64,
    bytes_min: u64,
    /// The file is compacted when it is longer than this.
    compact_above: u64,
}

/// The manifest, its state, and the number of torn bytes that were cut off.
pub(crate) type Opened = (Manifest, State, u64);

impl Manifest {
    /// Opens the manifest, or makes one with this salt if there is none. Records that were
    /// preopened are not read again. In that case also returns the changes since, unless this is
    /// another manifest.
    ///
    /// `bytes_min` is the length below which it is never compacted.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        salt: u64,
        bytes_min: u64,
        preopened: Option<ManifestSnapshot>,
    ) -> Result<(Opened, Option<ChangesSince>), Error> {
        let path = disk.path_of(NAME);
        let failed = |error| Error::io("open", &path, error);
        let names = disk.list().map_err(failed)?;
        if names.iter().any(|name| name == NEW_NAME) {
            let failed = |error| Error::io("remove", &disk.path_of(NEW_NAME), error);
            disk.remove(NEW_NAME).map_err(failed)?;
        }
        if names.iter().any(|name| [NAME, copy::NAME].contains(&name.as_str())) {
            return Self::read(disk, bytes_min, preopened);
        }
        let state = State::default();
        let (append_file, bodies) = write_new(&*disk, salt, &state)?;
        let mut manifest = Self::on(disk, salt, append_file, bodies.len() as u64, bytes_min);
        manifest.swap()?;
        manifest.renew_copy(bodies.iter().map(Vec::as_slice));
        Ok(((manifest, state, 0), None))
    }

    fn on(
        disk: Arc<dyn Disk>,
        salt: u64,
        append_file: AppendOnlyFile,
        next_record: u64,
        bytes_min: u64,
    ) -> Self {
        let read = (next_record, append_file.length());
        let compact_above = bytes_min.max(append_file.length());
        let (copy, marks, mended) = (None, LogMarks::new(), None);
        Self {
            disk,
            salt,
            append_file,
            copy,
            marks,
            read,
            mended,
            next_record,
            bytes_min,
            compact_above,
        }
    }

    fn read(
        disk: Arc<dyn Disk>,
        bytes_min: u64,
        preopened: Option<ManifestSnapshot>,
    ) -> Result<(Opened, Option<ChangesSince>), Error> {
        let path = disk.path_of(NAME);
        let content = CopyContent::read(&*disk)?;
        let (snapshot, all) = match (read_manifest(&*disk, preopened), &content) {
            (Err(why @ Error::Corrupt { .. }), Some(content)) => {
                return Self::from_copy(disk, bytes_min, content, &why);
            }
            (Err(Error::Corrupt { path, what }), None) => {
                let what = format!("{what}; there is no copy of it that can be used; {REMEDY}");
                return Err(Error::Corrupt { path, what });
            }
            (read, _) => read?,
        };
        let torn = (all - snapshot.length) as u64;
        let agrees = content.as_ref().map(|content| snapshot.agreement(content));
        if let (Some(Agreement::More), Some(content)) = (agrees, &content) {
            let ManifestSnapshot { next_record, .. } = snapshot;
            let count = content.count() - next_record;
            let why = Error::corrupt(&path, format!("its last {count} records are gone"));
            return Self::from_copy(disk, bytes_min, content, &why);
        }
        let ManifestSnapshot { version, salt, state, next_record, length, since, .. } = snapshot;
        let mut file = disk.open(NAME).map_err(|error| Error::io("open", &path, error))?;
        if torn > 0 {
            let cut = file.cut(length as u64);
            cut.map_err(|error| Error::io("cut the torn tail of", &path, error))?;
        }
        // Records that an earlier process wrote and did not sync are trusted from here on.
        let synced = file.sync().and_then(|()| disk.sync_folder());
        synced.map_err(|error| Error::io("sync", &path, error))?;
        let append_file = AppendOnlyFile::new(file, path, length as u64).keeping_free(RESERVE);
        let mut manifest = Self::on(disk, salt, append_file, next_record, bytes_min);
        if version != VERSION {
            manifest.compact(&state)?;
            return Ok(((manifest, state, torn), since));
        }
        if let (Some(Agreement::Same | Agreement::OneBehind), Some(content)) = (agrees, &content) {
            manifest.marks.clone_from(&content.marks);
        }
        match (agrees, &content) {
            (Some(Agreement::Same), Some(content)) => {
                manifest.copy = Copy::resume(&manifest.disk, content).ok();
            }
            _ => {
                manifest.restore_copy();
            }
        }
        Ok(((manifest, state, torn), since))
    }

    /// Continues with the copy because the manifest cannot be used, for the reason `why`. The rest
    /// of the manifest must be equal to the copy or follow it: otherwise the copy is of an earlier
    /// time.
    fn from_copy(
        disk: Arc<dyn Disk>,
        bytes_min: u64,
        content: &CopyContent,
        why: &Error,
    ) -> Result<(Opened, Option<ChangesSince>), Error> {
        let path = disk.path_of(NAME);
        let failed = |error| Error::io("read", &path, error);
        let is_there = disk.list().map_err(failed)?.iter().any(|name| name == NAME);
        let bytes = match is_there {
            true => disk.read(NAME, FOLDER_FILE_BYTES_MAX).map_err(failed)?,
            false => Vec::new(),
        };
        let snapshot = ManifestSnapshot::of_copy(&path, content, &bytes).map_err(|other| {
            let what = format!("{why}, and its copy cannot be used: {other}; {REMEDY}");
            Error::corrupt(&path, what)
        })?;
        if is_there {
            let renamed = disk.rename(NAME, DAMAGED_NAME);
            renamed.map_err(|error| Error::io("rename", &path, error))?;
        }
        let ManifestSnapshot { salt, state, next_record, length, .. } = snapshot;
        let (append_file, bodies) = write_new(&*disk, salt, &state)?;
        let mut manifest = Self::on(disk, salt, append_file, bodies.len() as u64, bytes_min);
        manifest.swap()?;
        manifest.marks.clone_from(&content.marks);
        manifest.renew_copy(bodies.iter().map(Vec::as_slice));
        manifest.read = (next_record, length as u64);
        let kept = if is_there { "; what it was is kept as manifest.damaged" } else { "" };
        manifest.mended =
            Some(format!("{why}: its copy took its place, and nothing is lost by that{kept}"));
        Ok(((manifest, state, 0), None))
    }

    /// How the copy repaired the manifest, in words.
    pub(crate) fn mended(&self) -> Option<&str> {
        self.mended.as_deref()
    }

    /// How far the log was durable when the last record was written.
    pub(crate) fn marks(&self) -> &LogMarks {
        &self.marks
    }

    /// Sets how far the log is durable, for the copy's next record.
    pub(crate) fn note_marks(&mut self, marks: LogMarks) {
        self.marks = marks;
    }

    /// The manifest's position when it was read: the number of its next record, and its bytes.
    pub(crate) fn position_read(&self) -> (u64, u64) {
        self.read
    }

    /// Rewrites the copy from these bodies. The manifest works without it. A failed copy is tried
    /// again at the next compaction and at the next start.
    fn renew_copy<'a>(&mut self, bodies: impl Iterator<Item = &'a [u8]>) {
        self.copy = Copy::create(&self.disk, self.salt, bodies, &self.marks).ok();
        if self.copy.is_none() {
            self.forget_copy();
        }
    }

    /// Rewrites the copy from the file, if there is none; returns whether there is one then.
    pub(crate) fn restore_copy(&mut self) -> bool {
        if self.copy.is_some() {
            return true;
        }
        if let Ok(bytes) = self.disk.read(NAME, FOLDER_FILE_BYTES_MAX)
            && let Some(head) = first(MANIFEST, HEAD_SALT, &bytes)
        {
            let records = scan(MANIFEST, self.salt, &bytes[head.length()..]);
            let bodies = std::iter::once(head.body);
            let bodies: Vec<&[u8]> =
                bodies.chain(records.frames.iter().map(|frame| frame.body)).collect();
            if bodies.len() as u64 == self.next_record {
                self.renew_copy(bodies.into_iter());
            }
        }
        self.copy.is_some()
    }

    /// Removes an outdated copy, so that it is never taken for a later manifest.
    fn forget_copy(&mut self) {
        self.copy = None;
        for name in [copy::NAME, copy::NEW_NAME] {
            drop(self.disk.remove(name));
        }
    }

    /// The salt of every checksum in the folder.
    pub(crate) fn salt(&self) -> u64 {
        self.salt
    }

    /// The manifest's position: the number of its next record, and its bytes.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.next_record, self.append_file.length())
    }

    /// Fails if nothing can be written any more after an earlier failure.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.append_file.check()
    }

    /// Refuses records from now on, because of `cause`.
    pub(crate) fn poison(&mut self, cause: String) -> Error {
        self.append_file.poisoned(cause)
    }

    /// Appends a record and syncs it. After [`Error::Full`] and [`Error::ChangeSize`] it is not in
    /// the file; after any other error it may be.
    pub(crate) fn append(&mut self, record: &Record) -> Result<(), Error> {
        let frame = seal(record, self.salt, self.next_record)?;
        self.append_file.write(&[&frame])?;
        if let Some(copy) = &mut self.copy {
            let body = &frame[HEADER_BYTES..];
            if copy.append(self.salt, self.next_record, body, &self.marks).is_err() {
                self.forget_copy();
            }
        }
        self.next_record += 1;
        Ok(())
    }

    /// Whether the file has grown enough to be worth compacting.
    pub(crate) fn wants_compaction(&self) -> bool {
        self.append_file.length() > self.compact_above
    }

    /// Rewrites the manifest, as short as `state` allows, and puts it in place.
    ///
    /// If the disk is full the file stays unchanged, and is next tried when it has doubled.
    pub(crate) fn compact(&mut self, state: &State) -> Result<(), Error> {
        self.check()?;
        self.compact_above = self.append_file.length().saturating_mul(2);
        let (append_file, bodies) = match write_new(&*self.disk, self.salt, state) {
            Ok(new) => new,
            Err(error) => {
                // Its remains are removed at the next try, or the next open.
                drop(self.disk.remove(NEW_NAME));
                return Err(error);
            }
        };
        self.append_file = append_file;
        self.next_record = bodies.len() as u64;
        self.compact_above = self.bytes_min.max(self.append_file.length().saturating_mul(GROWTH));
        self.swap()?;
        self.renew_copy(bodies.iter().map(Vec::as_slice));
        Ok(())
    }

    /// Puts the new file, which is in use already, in the place of the old.
    ///
    /// After a failure it is unknown which of the two a crash would leave: no more records.
    fn swap(&mut self) -> Result<(), Error> {
        let renamed = self.disk.rename(NEW_NAME, NAME).and_then(|()| self.disk.sync_folder());
        renamed.map_err(|error| self.poison(format!("cannot rename {NEW_NAME}: {error}")))
    }
}

fn seal(record: &Record, salt: u64, number: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; HEADER_BYTES];
    record.encode(&mut bytes);
    let length = bytes.len();
    let draft = Draft::new(MANIFEST, salt, bytes).ok_or(Error::ChangeSize(length))?;
    Ok(draft.seal(salt, number))
}

/// Writes a whole manifest under its new name; returns it and the bodies of its frames.
fn write_new(
    disk: &dyn Disk,
    salt: u64,
    state: &State,
) -> Result<(AppendOnlyFile, Vec<Vec<u8>>), Error> {
    let path = disk.path_of(NAME);
    let mut frames = vec![head(salt, state)?];
    for (number, record) in (1..).zip(state.records()) {
        frames.push(seal(&record, salt, number)?);
    }
    let file = disk.create(NEW_NAME).map_err(|error| Error::io("create", &path, error))?;
    let mut append_file = AppendOnlyFile::new(file, path, 0).keeping_free(RESERVE);
    append_file.write(&frames)?;
    let body = |mut frame: Vec<u8>| frame.split_off(HEADER_BYTES);
    Ok((append_file, frames.into_iter().map(body).collect()))
}

fn head(salt: u64, state: &State) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(salt.to_le_bytes());
    bytes.extend(state.next_block.to_le_bytes());
    bytes.extend(state.next_sequence.to_le_bytes());
    let draft = Draft::new(MANIFEST, HEAD_SALT, bytes).ok_or(Error::ChangeSize(0))?;
    Ok(draft.seal(HEAD_SALT, 0))
}

#[cfg(test)]
mod copy_tests;
#[cfg(test)]
mod tests;
