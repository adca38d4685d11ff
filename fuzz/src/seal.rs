//! Corrects the lengths and checksums of an altered row block, so that the decoders have to find
//! its errors. This is an independent implementation of `spec/row-block.md`, sections 1 and 2.

use std::ops::Range;

use twox_hash::XxHash3_64;

const MAGIC: &[u8] = b"\x89HDLBLK";
const HEADER_BYTES: usize = 72;
/// The bytes of the header that hold lengths.
const LENGTHS: Range<usize> = 32..40;
/// Altered lengths may claim larger bodies than this; such a block stays as it is.
const BLOCK_BYTES_MAX: usize = 1 << 20;

/// One entry of the directory: the position of its checksum, and the length of its body with
/// padding.
struct Entry {
    checksum: Range<usize>,
    body_bytes: usize,
}

/// The same block with as many bytes as its directory says, and with their checksums; `None` if
/// even the header cannot be read.
#[must_use]
pub fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    if !bytes.starts_with(MAGIC) {
        return None;
    }
    let [directory, batches] = [0, 4].map(|at| word(bytes, LENGTHS.start + at));
    let directory_end = HEADER_BYTES.checked_add(directory?)?;
    let covered = directory_end.checked_add(batches?)?.checked_next_multiple_of(8)?;
    let entries = entries(bytes.get(..directory_end)?);
    let mut length = covered.checked_add(8)?;
    let mut sealed = bytes.to_vec();
    let bodies = entries.iter().try_fold(length, |end, entry| end.checked_add(entry.body_bytes))?;
    if bodies > BLOCK_BYTES_MAX {
        return None;
    }
    sealed.resize(bodies, 0);
    for Entry { checksum, body_bytes } in entries {
        let body = XxHash3_64::oneshot(&sealed[length..length + body_bytes]);
        sealed[checksum].copy_from_slice(&body.to_le_bytes());
        length += body_bytes;
    }
    sealed[12..16].copy_from_slice(&u32::try_from(length).ok()?.to_le_bytes());
    let front = XxHash3_64::oneshot(&sealed[..covered]);
    sealed[covered..covered + 8].copy_from_slice(&front.to_le_bytes());
    Some(sealed)
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let (word, _) = bytes.get(at..)?.split_first_chunk()?;
    usize::try_from(u32::from_le_bytes(*word)).ok()
}

/// The entries of the directory in `bytes`, up to the first invalid one.
fn entries(bytes: &[u8]) -> Vec<Entry> {
    let mut reader = Reader { bytes, at: HEADER_BYTES };
    std::iter::from_fn(|| reader.entry()).collect()
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn entry(&mut self) -> Option<Entry> {
        let name = self.byte()?;
        self.skip(name.into())?;
        let kind = self.byte()?;
        self.byte()?;
        let encoding = self.byte()?;
        let (code, is_shared) = (encoding & 0x1F, encoding & 0x40 != 0);
        let is_cold = encoding & 0x20 != 0;
        let nulls = self.varint()?;
        if is_shared {
            self.varint()?;
        }
        let value_sections = match (code, kind) {
            (0 | 1 | 3 | 7, _) => 1,
            (2 | 4 | 6, _) => 2,
            (5 | 10, _) => 3,
            _ => return None,
        };
        let mut length = || usize::try_from(self.varint()?).ok();
        let mut body_bytes = 0usize;
        for _ in 0..value_sections {
            body_bytes = body_bytes.checked_add(length()?)?;
        }
        let validity = if nulls > 0 && !is_shared { length()? } else { 0 };
        if is_cold {
            body_bytes = length()?;
        }
        body_bytes = body_bytes.checked_add(validity)?;
        let checksum = self.at..self.at + 8;
        self.skip(8)?;
        self.parameters(code)?;
        Some(Entry { checksum, body_bytes: body_bytes.checked_next_multiple_of(8)? })
    }

    fn parameters(&mut self, code: u8) -> Option<()> {
        let (before, varints, after) = match code {
            0 => (1, 3, 0),
            1 | 6 => (0, 0, 16),
            2 | 4 | 10 => (0, 1, 0),
            5 => (0, 2, 0),
            7 => (1, 1, 16),
            _ => (0, 0, 0),
        };
        self.skip(before)?;
        for _ in 0..varints {
            self.varint()?;
        }
        self.skip(after)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.at = self.at.checked_add(count).filter(|&at| at <= self.bytes.len())?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// Of any length; bits above 64 are dropped.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                break;
            }
        }
        Some(value)
    }
}
