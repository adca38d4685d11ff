//! Frames: the units of the log and the manifest. `spec/wal.md`, section 1.
//!
//! ```text
//! magic 8 | sequence 8 | length 4 | zero 4 | body checksum 8 | header checksum 8 | body
//! ```
//!
//! The header's own checksum makes the length safe to follow. A salt in every checksum keeps
//! clients' bytes from passing for a frame.

use std::ops::Range;

use hadal_types::limits::BLOCK_BYTES_MAX;
use twox_hash::XxHash3_64;

/// Bytes of a frame's header.
pub(crate) const HEADER_BYTES: usize = 40;
const HEADER_SUMMED: usize = 32;

/// The kind of a file of frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    magic: [u8; 8],
    body_bytes_max: usize,
}

/// Frames of the log.
pub(crate) const LOG: Kind =
    Kind { magic: *b"\x89HDLLOG\x01", body_bytes_max: BLOCK_BYTES_MAX + 4_096 };
/// Frames of the manifest.
pub(crate) const MANIFEST: Kind = Kind { magic: *b"\x89HDLMAN\x01", body_bytes_max: 1 << 30 };
/// Frames of the manifest's copy: each has the body of one of the manifest's frames, and a little
/// more.
pub(crate) const COPY: Kind =
    Kind { magic: *b"\x89HDLCPY\x01", body_bytes_max: (1 << 30) + (1 << 20) };
/// The one frame of the record of losses.
pub(crate) const LOSSES: Kind = Kind { magic: *b"\x89HDLLOS\x01", body_bytes_max: 1 << 26 };

/// A frame without its sequence; the costly part, the body's checksum, is done.
#[derive(Debug)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
}

impl Draft {
    /// Makes a frame of `bytes`, whose first [`HEADER_BYTES`] are reserved for the header. `None`
    /// if the body is longer than the kind allows.
    pub(crate) fn new(kind: Kind, salt: u64, mut bytes: Vec<u8>) -> Option<Self> {
        let (header, body) = bytes.split_at_mut_checked(HEADER_BYTES)?;
        if body.len() > kind.body_bytes_max {
            return None;
        }
        header.fill(0);
        header[..8].copy_from_slice(&kind.magic);
        header[16..20].copy_from_slice(&u32::try_from(body.len()).ok()?.to_le_bytes());
        header[24..32].copy_from_slice(&XxHash3_64::oneshot_with_seed(salt, body).to_le_bytes());
        Some(Self { bytes })
    }

    /// Bytes of the frame.
    pub(crate) fn length(&self) -> usize {
        self.bytes.len()
    }

    /// The finished frame.
    pub(crate) fn seal(mut self, salt: u64, sequence: u64) -> Vec<u8> {
        self.bytes[8..16].copy_from_slice(&sequence.to_le_bytes());
        let sum = XxHash3_64::oneshot_with_seed(salt, &self.bytes[..HEADER_SUMMED]);
        self.bytes[HEADER_SUMMED..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
        self.bytes
    }
}

/// A whole frame in a file.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    /// Where it begins.
    pub(crate) offset: usize,
    pub(crate) sequence: u64,
    pub(crate) body: &'a [u8],
    /// The body's checksum.
    pub(crate) sum: u64,
}

impl Frame<'_> {
    /// Bytes of the frame.
    pub(crate) fn length(&self) -> usize {
        HEADER_BYTES + self.body.len()
    }
}

/// The content of a file of frames.
#[derive(Debug, Default)]
pub(crate) struct Scan<'a> {
    /// Whole frames, in the order of the file.
    pub(crate) frames: Vec<Frame<'a>>,
    /// Damaged ranges that are followed by a whole frame.
    pub(crate) damage: Vec<Range<usize>>,
    /// The end of the last whole frame; later bytes are a torn tail.
    pub(crate) end: usize,
}

/// A header with a correct checksum.
struct Header {
    sequence: u64,
    length: usize,
    body_sum: u64,
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn read_header(kind: Kind, salt: u64, bytes: &[u8]) -> Option<Header> {
    let sum = u64::from_le_bytes(field(bytes, HEADER_SUMMED)?);
    let is_sound = bytes.starts_with(&kind.magic)
        && XxHash3_64::oneshot_with_seed(salt, &bytes[..HEADER_SUMMED]) == sum
        && field(bytes, 20)? == [0; 4];
    let length = usize::try_from(u32::from_le_bytes(field(bytes, 16)?)).ok()?;
    (is_sound && length <= kind.body_bytes_max).then_some(Header {
        sequence: u64::from_le_bytes(field(bytes, 8)?),
        length,
        body_sum: u64::from_le_bytes(field(bytes, 24)?),
    })
}

/// The frame that `bytes` begin with, if it is whole.
pub(crate) fn first(kind: Kind, salt: u64, bytes: &[u8]) -> Option<Frame<'_>> {
    at(kind, salt, bytes, 0)
}

/// Whether bytes that begin with no whole frame may be the start of one, as an interrupted write
/// leaves it. Altered bytes of a whole frame are not.
pub(crate) fn is_beginning(kind: Kind, salt: u64, bytes: &[u8]) -> bool {
    if bytes.len() < HEADER_BYTES {
        let zeros = bytes.get(20..bytes.len().min(24)).unwrap_or_default();
        let length = bytes.len().min(kind.magic.len());
        return bytes[..length] == kind.magic[..length] && zeros.iter().all(|&byte| byte == 0);
    }
    let header = read_header(kind, salt, bytes);
    header.is_some_and(|header| bytes.len() - HEADER_BYTES < header.length)
}

/// The frame that begins at `offset`, if it is whole.
fn at(kind: Kind, salt: u64, bytes: &[u8], offset: usize) -> Option<Frame<'_>> {
    let bytes = bytes.get(offset..)?;
    let header = read_header(kind, salt, bytes)?;
    let body = bytes.get(HEADER_BYTES..HEADER_BYTES + header.length)?;
    let is_sound = XxHash3_64::oneshot_with_seed(salt, body) == header.body_sum;
    is_sound.then_some(Frame { offset, sequence: header.sequence, body, sum: header.body_sum })
}

/// Reads all frames of a file; skips damage up to the next whole frame.
pub(crate) fn scan(kind: Kind, salt: u64, bytes: &[u8]) -> Scan<'_> {
    let mut scan = Scan::default();
    let mut damage = Vec::new();
    let mut offset = 0;
    while offset < bytes.len() {
        if let Some(frame) = at(kind, salt, bytes, offset) {
            offset += frame.length();
            scan.frames.push(frame);
            scan.damage.append(&mut damage);
            scan.end = offset;
        } else {
            let next = next_header(kind, salt, bytes, offset);
            damage.push(offset..next);
            offset = next;
        }
    }
    scan
}

/// The next position after `at` with a correct header: where scanning continues after damage.
///
/// It is not the end of the damaged frame according to its header: if bytes were lost, whole frames
/// begin before that.
fn next_header(kind: Kind, salt: u64, bytes: &[u8], at: usize) -> usize {
    let is_header = |&at: &usize| read_header(kind, salt, &bytes[at..]).is_some();
    let mut starts = (at + 1..bytes.len()).filter(|&at| bytes[at] == kind.magic[0]);
    starts.find(is_header).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests;
