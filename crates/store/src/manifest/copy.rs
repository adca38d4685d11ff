//! The manifest's copy. If the manifest is damaged, a start continues with the copy.
//! `spec/segments.md`, section 3.
//!
//! The copy has one frame for each frame of the manifest, with the same number and body. Before the
//! body, the frame says how far each log file was durable at that time. The manifest's own records
//! cannot contain this: the previous version would refuse such records.

use std::ops::Range;
use std::sync::Arc;

use hadal_types::limits::FOLDER_FILE_BYTES_MAX;
use twox_hash::XxHash3_64;

use super::record::Reader;
use super::{HEAD_SALT, RESERVE};
use crate::append_file::AppendOnlyFile;
use crate::disk::Disk;
use crate::error::Error;
use crate::frame::{COPY, Draft, HEADER_BYTES, first, scan};
use crate::log_marks::{LogMark, LogMarks};

/// The file name.
pub(crate) const NAME: &str = "manifest.copy";
/// Its name while it is written.
pub(super) const NEW_NAME: &str = "manifest.copy.new";
/// The range of the salt in a head.
const SALT: Range<usize> = 8..16;

/// The copy, open for writing.
#[derive(Debug)]
pub(super) struct Copy {
    append_file: AppendOnlyFile,
}

impl Copy {
    /// Writes the copy of a manifest with these bodies, including the head's.
    pub(super) fn create<'a>(
        disk: &Arc<dyn Disk>,
        salt: u64,
        bodies: impl Iterator<Item = &'a [u8]>,
        marks: &LogMarks,
    ) -> Result<Self, Error> {
        let path = disk.path_of(NAME);
        let failed = |error| Error::io("write", &path, error);
        if disk.list().map_err(failed)?.iter().any(|name| name == NEW_NAME) {
            disk.remove(NEW_NAME).map_err(failed)?;
        }
        let numbered = (0..).zip(bodies);
        let frames: Result<Vec<_>, _> =
            numbered.map(|(number, body)| seal(salt, number, body, marks)).collect();
        let file = disk.create(NEW_NAME).map_err(failed)?;
        let mut append_file = AppendOnlyFile::new(file, path.clone(), 0).keeping_free(RESERVE);
        append_file.write(&frames?)?;
        disk.rename(NEW_NAME, NAME).and_then(|()| disk.sync_folder()).map_err(failed)?;
        Ok(Self { append_file })
    }

    /// Continues a copy that was read.
    pub(super) fn resume(disk: &Arc<dyn Disk>, content: &CopyContent) -> Result<Self, Error> {
        let path = disk.path_of(NAME);
        let failed = |error| Error::io("open", &path, error);
        let mut file = disk.open(NAME).map_err(failed)?;
        if content.bytes.len() > content.length {
            file.cut(content.length as u64).map_err(failed)?;
        }
        file.sync().map_err(failed)?;
        let append_file = AppendOnlyFile::new(file, path.clone(), content.length as u64);
        Ok(Self { append_file: append_file.keeping_free(RESERVE) })
    }

    /// Appends the body of the manifest's frame of this number, and syncs it.
    pub(super) fn append(
        &mut self,
        salt: u64,
        number: u64,
        body: &[u8],
        marks: &LogMarks,
    ) -> Result<(), Error> {
        self.append_file.write(&[seal(salt, number, body, marks)?])
    }
}

fn seal(salt: u64, number: u64, body: &[u8], marks: &LogMarks) -> Result<Vec<u8>, Error> {
    let salt = if number == 0 { HEAD_SALT } else { salt };
    let mut bytes = vec![0; HEADER_BYTES];
    // The head has none: it is read before the salt is known.
    let marks = marks.iter().filter(|_| number > 0);
    let count = u32::try_from(marks.clone().count()).unwrap_or(u32::MAX);
    bytes.extend(count.to_le_bytes());
    for (file, LogMark { length, next_sequence }) in marks {
        [file, length, next_sequence].iter().for_each(|field| bytes.extend(field.to_le_bytes()));
    }
    bytes.extend(body);
    let length = bytes.len();
    let draft = Draft::new(COPY, salt, bytes).ok_or(Error::ChangeSize(length))?;
    Ok(draft.seal(salt, number))
}

/// Extends a checksum over the bodies of a manifest by the checksum of the next body.
pub(super) fn chain(before: u64, sum: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(before, &sum.to_le_bytes())
}

/// A copy as it was read, up to its first damage.
#[derive(Debug)]
pub(super) struct CopyContent {
    bytes: Vec<u8>,
    /// The ranges of the bodies of the manifest's frames.
    bodies: Vec<Range<usize>>,
    /// Bytes of the whole frames.
    length: usize,
    pub(super) salt: u64,
    /// How far the log was durable at the last frame.
    pub(super) marks: LogMarks,
}

impl CopyContent {
    /// Reads the copy in a folder; `None` if there is none, or its head is not whole.
    pub(super) fn read(disk: &dyn Disk) -> Result<Option<Self>, Error> {
        let failed = |error| Error::io("read", &disk.path_of(NAME), error);
        if !disk.list().map_err(failed)?.iter().any(|name| name == NAME) {
            return Ok(None);
        }
        let bytes = disk.read(NAME, FOLDER_FILE_BYTES_MAX).map_err(failed)?;
        Ok(Self::of(bytes))
    }

    fn of(bytes: Vec<u8>) -> Option<Self> {
        let head = first(COPY, HEAD_SALT, &bytes)?;
        let (count, body) = head.body.split_first_chunk()?;
        let salt = u64::from_le_bytes(body.get(SALT)?.try_into().ok()?);
        (u32::from_le_bytes(*count) == 0).then_some(())?;
        let mut length = head.length();
        let of_head = HEADER_BYTES + size_of::<u32>()..length;
        let mut bodies = Vec::from([of_head]);
        let mut marks = LogMarks::new();
        for frame in scan(COPY, salt, &bytes[length..]).frames {
            let start = head.length() + frame.offset;
            if start != length || frame.sequence != bodies.len() as u64 {
                break;
            }
            let mut reader = Reader(frame.body);
            let read = reader.list(|reader| {
                let (file, length) = (reader.u64()?, reader.u64()?);
                Some((file, LogMark { length, next_sequence: reader.u64()? }))
            });
            let Some(read) = read else { break };
            marks = read.into_iter().collect();
            length += frame.length();
            bodies.push(length - reader.0.len()..length);
        }
        Some(Self { bytes, bodies, length, salt, marks })
    }

    /// The number of frames, including the head.
    pub(super) fn count(&self) -> u64 {
        self.bodies.len() as u64
    }

    /// The body of the manifest's frame of this number.
    pub(super) fn body(&self, number: u64) -> Option<&[u8]> {
        let range = self.bodies.get(usize::try_from(number).ok()?)?;
        self.bytes.get(range.clone())
    }

    /// The bodies from this number on.
    pub(super) fn bodies_from(&self, number: u64) -> impl Iterator<Item = (u64, &[u8])> {
        (number..self.count()).filter_map(|number| Some((number, self.body(number)?)))
    }

    /// The checksum of a body, as in the header of the manifest's frame.
    pub(super) fn sum(&self, number: u64, body: &[u8]) -> u64 {
        let salt = if number == 0 { HEAD_SALT } else { self.salt };
        XxHash3_64::oneshot_with_seed(salt, body)
    }

    /// The checksum over its first `count` bodies.
    pub(super) fn chain_of(&self, count: u64) -> u64 {
        let all = self.bodies_from(0).take_while(|(number, _)| *number < count);
        all.fold(0, |before, (number, body)| chain(before, self.sum(number, body)))
    }
}
