//! Front coding (Witten, Moffat and Bell, "Managing Gigabytes", section 4.1): stores each sorted
//! string as a shared length and a rest, relative to the previous string. LZ4 compresses the rests.
//!
//! ```text
//!  /api/carts           shared  0   rest "/api/carts"
//!  /api/carts/items             10       "/items"        rests end to end: one LZ4 text
//!  /api/users                   5        "users"
//! ```
//!
//! Strings of one column look alike, so a dictionary shrinks to a tenth to a half of its text. The
//! dictionary is decoded from the first string to the last. Access to single strings is impossible
//! but not needed, since a dictionary is decoded once per query and block.

use std::borrow::Cow;

use hadal_types::limits::{BLOCK_BYTES_MAX, STRING_BYTES_MAX};

use super::{StringDictionary, encode_numbers, ends_of, parse_offsets};
use crate::cursor::{Cursor, write_prefixed};
use crate::{EncodingError, IntsView, lz4};

/// LZ4 decompresses one byte to at most this many.
const LZ4_RATIO_MAX: usize = 255;
/// A copy of up to this many bytes copies a whole chunk instead: one machine move, no loop.
pub(crate) const CHUNK: usize = 32;

/// Appends strings. They must strictly ascend.
pub(super) fn encode<S: AsRef<str>>(entries: &[S], out: &mut Vec<u8>) {
    let (mut shared, mut rests) = (Vec::new(), Vec::new());
    let mut rest = Vec::new();
    let mut before: &[u8] = &[];
    for entry in entries {
        let entry = entry.as_ref().as_bytes();
        let same = entry.iter().zip(before).take_while(|(left, right)| left == right).count();
        shared.push(same);
        rests.push(entry.len() - same);
        rest.extend_from_slice(&entry[same..]);
        before = entry;
    }
    write_prefixed(out, |out| encode_numbers(shared, out));
    write_prefixed(out, |out| encode_numbers(rests, out));
    lz4::store(&rest, out);
}

/// Appends the same strings, with uncompressed rests.
pub(super) fn plain(bytes: &[u8], count: usize, out: &mut Vec<u8>) -> Result<(), EncodingError> {
    check_count(bytes, count)?;
    let mut cursor = Cursor::new(bytes, "a front-coded dictionary");
    let (shared, rests) = (cursor.prefixed()?, cursor.prefixed()?);
    let ends = parse_offsets(rests, count, STRING_BYTES_MAX, BLOCK_BYTES_MAX)?;
    write_prefixed(out, |out| out.extend_from_slice(shared));
    write_prefixed(out, |out| out.extend_from_slice(rests));
    lz4::restore(cursor.rest(), ends.last().copied().unwrap_or_default() as usize, 0, out)
}

/// All strings but one add at least one byte, so this limits the allocations for `count` strings.
fn check_count(bytes: &[u8], count: usize) -> Result<(), EncodingError> {
    let most = bytes.len().saturating_mul(LZ4_RATIO_MAX);
    if count <= most {
        return Ok(());
    }
    let (value, most) = (count as u64, most as u64);
    Err(EncodingError::Limit { what: "dictionary entries", value, most })
}

/// Reads `count` strings and checks that they strictly ascend. Cost: O(their bytes).
pub(super) fn parse(
    bytes: &[u8],
    count: usize,
) -> Result<StringDictionary<'static>, EncodingError> {
    check_count(bytes, count)?;
    let mut cursor = Cursor::new(bytes, "a front-coded dictionary");
    let mut shared = Vec::new();
    let stream = IntsView::parse(cursor.prefixed()?, count)?;
    stream.decode_codes_into(STRING_BYTES_MAX + 1, &mut shared)?;
    let rests = parse_offsets(cursor.prefixed()?, count, STRING_BYTES_MAX, BLOCK_BYTES_MAX)?;
    let mut rest = Vec::new();
    let total = rests.last().copied().unwrap_or_default() as usize;
    lz4::restore(cursor.rest(), total, 0, &mut rest)?;

    let lengths = rests.windows(2).zip(&shared).map(|(ends, shared)| shared + (ends[1] - ends[0]));
    let offsets = ends_of(lengths, count, STRING_BYTES_MAX, BLOCK_BYTES_MAX)?;
    let text = unfold(&shared, &rests, &mut rest, &offsets)?;
    StringDictionary::from_utf8(Cow::Owned(text), offsets)
}

/// Builds each string from the previous one, and checks that it sorts after it.
fn unfold(
    shared: &[u32],
    rests: &[u32],
    rest: &mut Vec<u8>,
    offsets: &[u32],
) -> Result<Vec<u8>, EncodingError> {
    let total = offsets.last().copied().unwrap_or_default() as usize;
    // Chunks may reach beyond the end.
    rest.resize(rest.len() + CHUNK, 0);
    let mut text = vec![0; total + CHUNK];
    let mut before = 0;
    for (index, &shared) in shared.iter().enumerate() {
        let (start, end) = (offsets[index] as usize, offsets[index + 1] as usize);
        let (from, shared) = (rests[index] as usize, shared as usize);
        let middle = start + shared;
        let ascends = match (start - before).checked_sub(shared) {
            Some(0) => middle < end || index == 0,
            Some(_) => middle < end && rest[from] > text[before + shared],
            None => false,
        };
        if !ascends {
            return Err(EncodingError::Order { what: "dictionary entry", index });
        }
        copy_within(&mut text, before, start, shared);
        copy(&rest[from..], &mut text[middle..], end - middle);
        before = start;
    }
    text.truncate(total);
    Ok(text)
}

/// Copies the first `length` bytes of `from` in chunks. It may also overwrite bytes of `to` after
/// `length`.
#[inline]
pub(crate) fn copy(from: &[u8], to: &mut [u8], length: usize) {
    let mut at = 0;
    while at < length {
        match (from[at..].first_chunk(), to[at..].first_chunk_mut::<CHUNK>()) {
            (Some(source), Some(target)) => *target = *source,
            _ => return to[at..length].copy_from_slice(&from[at..length]),
        }
        at += CHUNK;
    }
}

/// Like [`copy`], within one text.
#[inline]
fn copy_within(text: &mut [u8], from: usize, to: usize, length: usize) {
    if length <= CHUNK
        && let Some(&source) = text[from..].first_chunk::<CHUNK>()
        && let Some(target) = text[to..].first_chunk_mut()
    {
        *target = source;
    } else {
        text.copy_within(from..from + length, to);
    }
}
