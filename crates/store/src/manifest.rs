//! The manifest: the one file that says what counts.
//!
//! It is a file of records, each one atomic change, appended and synced; now and then it is
//! written anew, shorter, and renamed into place. The format and the order of things are in
//! `spec/segments.md`, sections 3 and 4.

mod record;
mod sequences;
mod state;

use std::sync::Arc;

use hadal_types::limits::FOLDER_FILE_BYTES_MAX;

use crate::change::BlockNumber;
use crate::disk::Disk;
use crate::error::Error;
use crate::frame::{Draft, Frame, HEADER_BYTES, MANIFEST, first, scan};
use crate::journal::Journal;
use record::Reader;
pub(crate) use record::{BlockPlace, Checksum, Record};
pub(crate) use sequences::Sequences;
pub(crate) use state::State;

/// Bytes beyond the end of the manifest that are kept free: drops and expiry go on when the disk is full.
const RESERVE: u64 = 64 << 10;

/// The file name of the manifest.
pub(crate) const NAME: &str = "manifest";
/// The file name of a manifest that is being compacted.
const NEW_NAME: &str = "manifest.new";
/// The format version of the whole folder.
const VERSION: u32 = 4;
/// The version before: its records have no checksums of blocks. It is read, and written anew.
const VERSION_BEFORE: u32 = 3;
/// The head is read before the salt is known.
const HEAD_SALT: u64 = 0;
/// A manifest is compacted when it has grown to so many times its compacted length.
const GROWTH: u64 = 4;

/// The manifest's file.
#[derive(Debug)]
pub(crate) struct Manifest {
    disk: Arc<dyn Disk>,
    salt: u64,
    journal: Journal,
    /// Frames in the file, the head included: the number of the next record.
    next_record: u64,
    bytes_min: u64,
    /// The file is compacted when it is longer than this.
    compact_above: u64,
}

/// The manifest, what it says, and how many torn bytes were cut off.
pub(crate) type Opened = (Manifest, State, u64);

impl Manifest {
    /// Opens the manifest, or makes one with this salt if there is none. What somebody has read of it
    /// before need not be read again; then it is also returned what has changed since, unless this is
    /// another manifest.
    ///
    /// `bytes_min` is the length below which it is never compacted.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        salt: u64,
        bytes_min: u64,
        early: Option<Beginning>,
    ) -> Result<(Opened, Option<Since>), Error> {
        let place = disk.place(NAME);
        let failed = |error| Error::io("open", &place, error);
        let names = disk.list().map_err(failed)?;
        if names.iter().any(|name| name == NEW_NAME) {
            let failed = |error| Error::io("remove", &disk.place(NEW_NAME), error);
            disk.remove(NEW_NAME).map_err(failed)?;
        }
        if names.iter().any(|name| name == NAME) {
            return Self::read(disk, bytes_min, early);
        }
        let state = State::default();
        let (journal, next_record) = write_new(&*disk, salt, &state)?;
        let mut manifest =
            Self { disk, salt, journal, next_record, bytes_min, compact_above: bytes_min };
        manifest.swap()?;
        Ok(((manifest, state, 0), None))
    }

    fn read(
        disk: Arc<dyn Disk>,
        bytes_min: u64,
        early: Option<Beginning>,
    ) -> Result<(Opened, Option<Since>), Error> {
        let place = disk.place(NAME);
        let failed = |error| Error::io("read", &place, error);
        let more = early.map(|early| early.read_more(&*disk)).transpose()?.flatten();
        let (beginning, all) = match more {
            Some(beginning) => beginning,
            None => {
                let bytes = disk.read(NAME, FOLDER_FILE_BYTES_MAX).map_err(failed)?;
                (Beginning::of(&place, &bytes)?, bytes.len())
            }
        };
        let Beginning { version, salt, state, next_record, length, since, .. } = beginning;
        let torn = (all - length) as u64;
        let mut file = disk.open(NAME).map_err(|error| Error::io("open", &place, error))?;
        if torn > 0 {
            let cut = file.cut(length as u64);
            cut.map_err(|error| Error::io("cut the torn tail of", &place, error))?;
        }
        // What an earlier process wrote and did not sync is believed from here on.
        let synced = file.sync().and_then(|()| disk.sync_folder());
        synced.map_err(|error| Error::io("sync", &place, error))?;
        let journal = Journal::new(file, place, length as u64).keeping_free(RESERVE);
        let compact_above = bytes_min.max(length as u64);
        let mut manifest = Self { disk, salt, journal, next_record, bytes_min, compact_above };
        if version != VERSION {
            manifest.compact(&state)?;
        }
        Ok(((manifest, state, torn), since))
    }

    /// The salt of every checksum in the folder.
    pub(crate) fn salt(&self) -> u64 {
        self.salt
    }

    /// How far the manifest has come: the number of its next record, and its bytes.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.next_record, self.journal.length())
    }

    /// Fails when an earlier failure was such that nothing can be written any more.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.journal.check()
    }

    /// Takes no more records from now on, because of `cause`.
    pub(crate) fn poison(&mut self, cause: String) -> Error {
        self.journal.poisoned(cause)
    }

    /// Appends a record and syncs it. After [`Error::Full`] and [`Error::ChangeSize`] it is not
    /// there; after any other error it may be.
    pub(crate) fn append(&mut self, record: &Record) -> Result<(), Error> {
        let frame = seal(record, self.salt, self.next_record)?;
        self.journal.write(&[frame])?;
        self.next_record += 1;
        Ok(())
    }

    /// Whether the file has grown enough to be worth compacting.
    pub(crate) fn wants_compaction(&self) -> bool {
        self.journal.length() > self.compact_above
    }

    /// Writes the manifest anew, as short as `state` allows, and puts it in place.
    ///
    /// When there is no room, the file stays as it is, and is next tried when it has doubled.
    pub(crate) fn compact(&mut self, state: &State) -> Result<(), Error> {
        self.check()?;
        self.compact_above = self.journal.length().saturating_mul(2);
        let (journal, next_record) = match write_new(&*self.disk, self.salt, state) {
            Ok(new) => new,
            Err(error) => {
                // Whatever is left of it is removed at the next try, or the next open.
                drop(self.disk.remove(NEW_NAME));
                return Err(error);
            }
        };
        self.journal = journal;
        self.next_record = next_record;
        self.compact_above = self.bytes_min.max(self.journal.length().saturating_mul(GROWTH));
        self.swap()
    }

    /// Puts the new file, which is in use already, in the place of the old.
    ///
    /// After a failure nobody knows which of the two a crash would leave: no more records.
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

/// Writes a whole manifest under its new name; returns it and the number of its next record.
fn write_new(disk: &dyn Disk, salt: u64, state: &State) -> Result<(Journal, u64), Error> {
    let place = disk.place(NAME);
    let mut frames = vec![head(salt, state)?];
    for (number, record) in (1..).zip(state.records()) {
        frames.push(seal(&record, salt, number)?);
    }
    let file = disk.create(NEW_NAME).map_err(|error| Error::io("create", &place, error))?;
    let mut journal = Journal::new(file, place, 0).keeping_free(RESERVE);
    journal.write(&frames)?;
    Ok((journal, frames.len() as u64))
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

/// The head of a manifest.
struct Head {
    version: u32,
    /// Bytes of its frame.
    length: usize,
    salt: u64,
    /// What the records begin with.
    state: State,
}

/// Whole records from the beginning of a manifest on, and what they say.
#[derive(Debug)]
pub(crate) struct Beginning {
    /// Their bytes, where more is to be read later.
    bytes: Vec<u8>,
    /// How many bytes they have.
    length: usize,
    version: u32,
    salt: u64,
    state: State,
    /// The number of the record that would follow.
    next_record: u64,
    /// What changed since the first time that it was read, where it was read twice.
    since: Option<Since>,
}

/// What has become of blocks since somebody read the manifest.
#[derive(Debug, Default)]
pub(crate) struct Since {
    /// Those that do not count any more.
    pub(crate) removed: Vec<BlockPlace>,
    /// Those that count only since, unless they are removed again.
    pub(crate) added: Vec<BlockNumber>,
}

impl Since {
    /// Notes what a record is about to change.
    fn note(&mut self, state: &State, record: &Record) {
        let removed = record.removes.iter().filter_map(|number| state.blocks.get(number));
        self.removed.extend(removed.cloned());
        self.added.extend(record.adds.iter().map(|block| block.number));
    }
}

impl Beginning {
    /// What the manifest in a folder says just now, which another process may be writing.
    ///
    /// # Errors
    /// As a start that reads it.
    pub(crate) fn read(disk: &dyn Disk) -> Result<Self, Error> {
        let place = disk.place(NAME);
        let bytes = disk.read(NAME, FOLDER_FILE_BYTES_MAX);
        let mut bytes = bytes.map_err(|error| Error::io("read", &place, error))?;
        let beginning = Self::of(&place, &bytes)?;
        bytes.truncate(beginning.length);
        Ok(Self { bytes, ..beginning })
    }

    fn of(place: &str, bytes: &[u8]) -> Result<Self, Error> {
        let Head { version, length, salt, state } = read_head(place, bytes)?;
        let (next_record, since) = (1, None);
        let head = Self { bytes: Vec::new(), length, version, salt, state, next_record, since };
        head.read_on(place, &bytes[length..])
    }

    /// The salt of every checksum in the folder.
    pub(crate) fn salt(&self) -> u64 {
        self.salt
    }

    /// What the records amount to.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// With the records that a manifest has by now, and how many bytes it has in all; `None` where it is
    /// another manifest, and does not begin with these very bytes.
    fn read_more(mut self, disk: &dyn Disk) -> Result<Option<(Self, usize)>, Error> {
        let place = disk.place(NAME);
        let rest = disk.read_after(NAME, &self.bytes, FOLDER_FILE_BYTES_MAX);
        let Some(rest) = rest.map_err(|error| Error::io("read", &place, error))? else {
            return Ok(None);
        };
        let all = self.length + rest.len();
        self.since = Some(Since::default());
        Ok(Some((self.read_on(&place, &rest)?, all)))
    }

    /// Reads the records that follow in the bytes that follow.
    fn read_on(mut self, place: &str, rest: &[u8]) -> Result<Self, Error> {
        let records = scan(MANIFEST, self.salt, rest);
        if let Some(damage) = records.damage.first() {
            let (from, to) = (self.length + damage.start, self.length + damage.end);
            let what = format!("bytes {from}..{to} are damaged and whole records follow");
            return Err(Error::corrupt(place, what));
        }
        for frame in &records.frames {
            let number = self.next_record;
            let corrupt = |what: String| Error::corrupt(place, format!("record {number}: {what}"));
            if frame.sequence != number {
                return Err(corrupt(format!("found number {} instead", frame.sequence)));
            }
            let record = Record::decode(frame.body, self.version >= VERSION);
            let record = record.ok_or_else(|| corrupt("its body does not decode".to_owned()))?;
            if let Some(since) = &mut self.since {
                since.note(&self.state, &record);
            }
            self.state.apply(&record).map_err(|error| corrupt(error.to_string()))?;
            self.next_record += 1;
        }
        self.length += records.end;
        Ok(self)
    }
}

fn read_head(place: &str, bytes: &[u8]) -> Result<Head, Error> {
    let corrupt = || Error::corrupt(place, "its head is missing or damaged");
    let frame: Frame<'_> = first(MANIFEST, HEAD_SALT, bytes).ok_or_else(corrupt)?;
    let mut reader = Reader(frame.body);
    let version = reader.u32().ok_or_else(corrupt)?;
    if !(VERSION_BEFORE..=VERSION).contains(&version) {
        let place = place.to_owned();
        return Err(Error::Version { place, found: version, known: VERSION });
    }
    let fields = (reader.u32(), reader.u64(), reader.u64(), reader.u64());
    match fields {
        (Some(0), Some(salt), Some(next_block), Some(next_sequence)) if reader.0.is_empty() => {
            let state = State { next_block, next_sequence, ..State::default() };
            Ok(Head { version, length: frame.length(), salt, state })
        }
        _ => Err(corrupt()),
    }
}

#[cfg(test)]
mod tests;
