//! What a manifest's records say, from the beginning on, as far as they were read.

use hadal_types::limits::FOLDER_FILE_BYTES_MAX;

use super::copy::{Found, chain};
use super::record::{BlockPlace, Reader, Record};
use super::state::State;
use super::{HEAD_SALT, NAME, VERSION, VERSION_BEFORE};
use crate::change::BlockNumber;
use crate::disk::Disk;
use crate::error::Error;
use crate::frame::{Draft, Frame, HEADER_BYTES, MANIFEST, first, scan};

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
    pub(super) length: usize,
    pub(super) version: u32,
    pub(super) salt: u64,
    pub(super) state: State,
    /// The number of the record that would follow.
    pub(super) next_record: u64,
    /// What changed since the first time that it was read, where it was read twice.
    pub(super) since: Option<Since>,
    /// Checksums over the bodies: of all but the last, and of all.
    chains: (u64, u64),
}

/// How a copy is to its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    Same,
    /// The last record is not in the copy: its writer was killed in between.
    OneBehind,
    /// The copy has more: the end of the manifest is gone.
    More,
    /// It is of another time, or of another manifest.
    Other,
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
        let (next_record, since, bytes_kept) = (1, None, Vec::new());
        let sum = first(MANIFEST, HEAD_SALT, bytes).map_or(0, |frame| frame.sum);
        let chains = (0, chain(0, sum));
        let head =
            Self { bytes: bytes_kept, length, version, salt, state, next_record, since, chains };
        head.read_on(place, &bytes[length..])
    }

    /// What a copy says, and what of the manifest there is beyond it.
    pub(super) fn of_copy(place: &str, found: &Found, own: &[u8]) -> Result<Self, Error> {
        let other = || Error::corrupt(place, "the copy is of another time");
        let body = found.body(0).unwrap_or_default();
        let draft = Draft::new(MANIFEST, HEAD_SALT, [&[0; HEADER_BYTES][..], body].concat());
        let head = draft.ok_or_else(other)?.seal(HEAD_SALT, 0);
        let mut beginning = Self::of(place, &head)?;
        for (number, body) in found.bodies_from(1) {
            beginning.apply(place, number, body, found.sum(number, body))?;
        }
        if first(MANIFEST, HEAD_SALT, own).is_some_and(|own| Some(own.body) != found.body(0)) {
            return Err(other());
        }
        for frame in scan(MANIFEST, found.salt, own).frames {
            match found.body(frame.sequence) {
                Some(body) if body == frame.body => {}
                None if frame.sequence == beginning.next_record => {
                    beginning.apply(place, frame.sequence, frame.body, frame.sum)?;
                }
                _ => return Err(other()),
            }
        }
        Ok(beginning)
    }

    pub(super) fn agreement(&self, found: &Found) -> Agreement {
        let (count, (before, all)) = (found.count(), self.chains);
        if count >= self.next_record && found.chain_of(self.next_record) == all {
            return if count > self.next_record { Agreement::More } else { Agreement::Same };
        }
        if count + 1 == self.next_record && found.chain_of(count) == before {
            return Agreement::OneBehind;
        }
        Agreement::Other
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
            self.apply(place, frame.sequence, frame.body, frame.sum)?;
        }
        Ok(self)
    }

    /// Applies the next record, which says of itself that it has this number.
    fn apply(&mut self, place: &str, found: u64, body: &[u8], sum: u64) -> Result<(), Error> {
        let number = self.next_record;
        let corrupt = |what: String| Error::corrupt(place, format!("record {number}: {what}"));
        if found != number {
            return Err(corrupt(format!("found number {found} instead")));
        }
        let record = Record::decode(body, self.version >= VERSION);
        let record = record.ok_or_else(|| corrupt("its body does not decode".to_owned()))?;
        if let Some(since) = &mut self.since {
            since.note(&self.state, &record);
        }
        self.state.apply(&record).map_err(|error| corrupt(error.to_string()))?;
        self.next_record += 1;
        self.length += HEADER_BYTES + body.len();
        self.chains = (self.chains.1, chain(self.chains.1, sum));
        Ok(())
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

/// What the file itself says, and how many bytes it has.
pub(super) fn read_own(
    disk: &dyn Disk,
    early: Option<Beginning>,
) -> Result<(Beginning, usize), Error> {
    let place = disk.place(NAME);
    let failed = |error| Error::io("read", &place, error);
    let is_there = disk.list().map_err(failed)?.iter().any(|name| name == NAME);
    if !is_there {
        return Err(Error::corrupt(&place, "it is missing"));
    }
    let more = early.map(|early| early.read_more(disk)).transpose()?.flatten();
    match more {
        Some(read) => Ok(read),
        None => {
            let bytes = disk.read(NAME, FOLDER_FILE_BYTES_MAX).map_err(failed)?;
            Ok((Beginning::of(&place, &bytes)?, bytes.len()))
        }
    }
}
