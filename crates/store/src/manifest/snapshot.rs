//! The state that a manifest's records give, from the first record to the last one that was read.

use hadal_types::limits::FOLDER_FILE_BYTES_MAX;

use super::copy::{CopyContent, chain};
use super::record::{Reader, Record};
use super::state::State;
use super::{HEAD_SALT, NAME, VERSION, VERSION_BEFORE};
use crate::block_record::BlockRecord;
use crate::disk::Disk;
use crate::error::Error;
use crate::frame::{Draft, Frame, HEADER_BYTES, MANIFEST, first, scan};
use crate::ids::BlockNumber;

/// The head of a manifest.
struct Head {
    version: u32,
    /// Bytes of its frame.
    length: usize,
    salt: u64,
    /// The state before the first record.
    state: State,
}

/// Whole records from the beginning of a manifest, and their state.
#[derive(Debug)]
pub(crate) struct ManifestSnapshot {
    /// Their bytes, if more will be read later.
    bytes: Vec<u8>,
    /// The number of their bytes.
    pub(super) length: usize,
    pub(super) version: u32,
    pub(super) salt: u64,
    pub(super) state: State,
    /// The number of the next record.
    pub(super) next_record: u64,
    /// The changes since the first read, if it was read twice.
    pub(super) since: Option<ChangesSince>,
    /// Checksums over the bodies: all but the last, and all.
    chains: (u64, u64),
}

/// How a copy relates to its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    Same,
    /// The copy lacks the last record: its writer was killed in between.
    OneBehind,
    /// The copy has more: the manifest's end is missing.
    More,
    /// The copy is of another time, or of another manifest.
    Other,
}

/// The changes of blocks since the manifest was preopened.
#[derive(Debug, Default)]
pub(crate) struct ChangesSince {
    /// Blocks that do not count any more.
    pub(crate) removed: Vec<BlockRecord>,
    /// Blocks that count since then, unless they were removed again.
    pub(crate) added: Vec<BlockNumber>,
}

impl ChangesSince {
    /// Notes the changes of a record that is about to be applied.
    fn note(&mut self, state: &State, record: &Record) {
        let removed = record.removes.iter().filter_map(|number| state.blocks.get(number));
        self.removed.extend(removed.cloned());
        self.added.extend(record.adds.iter().map(|block| block.number));
    }
}

impl ManifestSnapshot {
    /// Reads the manifest in a folder; another process may be writing it.
    ///
    /// # Errors
    /// As a start that reads it.
    pub(crate) fn read(disk: &dyn Disk) -> Result<Self, Error> {
        let path = disk.path_of(NAME);
        let bytes = disk.read(NAME, FOLDER_FILE_BYTES_MAX);
        let mut bytes = bytes.map_err(|error| Error::io("read", &path, error))?;
        let snapshot = Self::of(&path, &bytes)?;
        bytes.truncate(snapshot.length);
        Ok(Self { bytes, ..snapshot })
    }

    fn of(path: &str, bytes: &[u8]) -> Result<Self, Error> {
        let Head { version, length, salt, state } = read_head(path, bytes)?;
        let (next_record, since, bytes_kept) = (1, None, Vec::new());
        let sum = first(MANIFEST, HEAD_SALT, bytes).map_or(0, |frame| frame.sum);
        let chains = (0, chain(0, sum));
        let head =
            Self { bytes: bytes_kept, length, version, salt, state, next_record, since, chains };
        head.read_on(path, &bytes[length..])
    }

    /// Reads the state of a copy, and the manifest's records that follow it.
    pub(super) fn of_copy(
        path: &str,
        content: &CopyContent,
        manifest_bytes: &[u8],
    ) -> Result<Self, Error> {
        let other = || Error::corrupt(path, "the copy is of another time");
        let body = content.body(0).unwrap_or_default();
        let draft = Draft::new(MANIFEST, HEAD_SALT, [&[0; HEADER_BYTES][..], body].concat());
        let head = draft.ok_or_else(other)?.seal(HEAD_SALT, 0);
        let mut snapshot = Self::of(path, &head)?;
        for (number, body) in content.bodies_from(1) {
            snapshot.apply(path, number, body, content.sum(number, body))?;
        }
        if first(MANIFEST, HEAD_SALT, manifest_bytes)
            .is_some_and(|head| Some(head.body) != content.body(0))
        {
            return Err(other());
        }
        for frame in scan(MANIFEST, content.salt, manifest_bytes).frames {
            match content.body(frame.sequence) {
                Some(body) if body == frame.body => {}
                None if frame.sequence == snapshot.next_record => {
                    snapshot.apply(path, frame.sequence, frame.body, frame.sum)?;
                }
                _ => return Err(other()),
            }
        }
        Ok(snapshot)
    }

    pub(super) fn agreement(&self, content: &CopyContent) -> Agreement {
        let (count, (before, all)) = (content.count(), self.chains);
        if count >= self.next_record && content.chain_of(self.next_record) == all {
            return if count > self.next_record { Agreement::More } else { Agreement::Same };
        }
        if count + 1 == self.next_record && content.chain_of(count) == before {
            return Agreement::OneBehind;
        }
        Agreement::Other
    }

    /// The salt of every checksum in the folder.
    pub(crate) fn salt(&self) -> u64 {
        self.salt
    }

    /// The state after the records.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Adds the records that the manifest has by now; also returns its bytes. `None` if it is
    /// another manifest, which does not begin with exactly these bytes.
    fn read_more(mut self, disk: &dyn Disk) -> Result<Option<(Self, usize)>, Error> {
        let path = disk.path_of(NAME);
        let rest = disk.read_after(NAME, &self.bytes, FOLDER_FILE_BYTES_MAX);
        let Some(rest) = rest.map_err(|error| Error::io("read", &path, error))? else {
            return Ok(None);
        };
        let all = self.length + rest.len();
        self.since = Some(ChangesSince::default());
        Ok(Some((self.read_on(&path, &rest)?, all)))
    }

    /// Reads the next records from the bytes that follow.
    fn read_on(mut self, path: &str, rest: &[u8]) -> Result<Self, Error> {
        let records = scan(MANIFEST, self.salt, rest);
        if let Some(damage) = records.damage.first() {
            let (from, to) = (self.length + damage.start, self.length + damage.end);
            let what = format!("bytes {from}..{to} are damaged and whole records follow");
            return Err(Error::corrupt(path, what));
        }
        for frame in &records.frames {
            self.apply(path, frame.sequence, frame.body, frame.sum)?;
        }
        Ok(self)
    }

    /// Applies the next record; `frame_number` is the number in its frame.
    fn apply(&mut self, path: &str, frame_number: u64, body: &[u8], sum: u64) -> Result<(), Error> {
        let number = self.next_record;
        let corrupt = |what: String| Error::corrupt(path, format!("record {number}: {what}"));
        if frame_number != number {
            return Err(corrupt(format!("found number {frame_number} instead")));
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

fn read_head(path: &str, bytes: &[u8]) -> Result<Head, Error> {
    let corrupt = || Error::corrupt(path, "its head is missing or damaged");
    let frame: Frame<'_> = first(MANIFEST, HEAD_SALT, bytes).ok_or_else(corrupt)?;
    let mut reader = Reader(frame.body);
    let version = reader.u32().ok_or_else(corrupt)?;
    if !(VERSION_BEFORE..=VERSION).contains(&version) {
        let path = path.to_owned();
        return Err(Error::Version { path, version, supported: VERSION });
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

/// Reads the manifest's file; also returns its bytes.
pub(super) fn read_manifest(
    disk: &dyn Disk,
    preopened: Option<ManifestSnapshot>,
) -> Result<(ManifestSnapshot, usize), Error> {
    let path = disk.path_of(NAME);
    let failed = |error| Error::io("read", &path, error);
    let is_there = disk.list().map_err(failed)?.iter().any(|name| name == NAME);
    if !is_there {
        return Err(Error::corrupt(&path, "it is missing"));
    }
    let more = preopened.map(|preopened| preopened.read_more(disk)).transpose()?.flatten();
    match more {
        Some(read) => Ok(read),
        None => {
            let bytes = disk.read(NAME, FOLDER_FILE_BYTES_MAX).map_err(failed)?;
            Ok((ManifestSnapshot::of(&path, &bytes)?, bytes.len()))
        }
    }
}
