//! Sorted strings, each as what it adds to the one before: front coding (Witten, Moffat and Bell,
//! "Managing Gigabytes", section 4.1), and LZ4 over what was added.
//!
//! ```text
//!  /api/carts           shared  0   rest "/api/carts"
//!  /api/carts/items             10       "/items"        rests end to end: one LZ4 text
//!  /api/users                   5        "users"
//! ```
//!
//! Strings of one column look alike, so a dictionary becomes a tenth to a half of its text. It
//! decodes from the first to the last: there is no access to single strings, which nobody needs,
//! since a dictionary is decoded once per query and block.

use std::borrow::Cow;

use hadal_types::limits::{BLOCK_BYTES_MAX, STRING_BYTES_MAX};

use super::{StringDictionary, encode_numbers, ends_of, parse_offsets};
use crate::cursor::{Cursor, write_prefixed};
use crate::{EncodingError, IntsView, lz4};

/// LZ4 makes at most so many bytes of one.
const LZ4_RATIO_MAX: usize = 255;
/// Copies of no more bytes than these are of all of them: one move of the machine, no loop.
pub(crate) const CHUNK: usize = 32;

/// Appends strings that strictly ascend.
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

/// Appends the same strings, their rests not compressed.
pub(super) fn plain(bytes: &[u8], count: usize, out: &mut Vec<u8>) -> Result<(), EncodingError> {
    check_count(bytes, count)?;
    let mut cursor = Cursor::new(bytes, "a front-coded dictionary");
    let (shared, rests) = (cursor.prefixed()?, cursor.prefixed()?);
    let ends = parse_offsets(rests, count, STRING_BYTES_MAX, BLOCK_BYTES_MAX)?;
    write_prefixed(out, |out| out.extend_from_slice(shared));
    write_prefixed(out, |out| out.extend_from_slice(rests));
    lz4::restore(cursor.rest(), ends.last().copied().unwrap_or_default() as usize, 0, out)
}

/// All strings but one add a byte or more; so this bounds what is made of their number.
fn check_count(bytes: &[u8], count: usize) -> Result<(), EncodingError> {
    let most = bytes.len().saturating_mul(LZ4_RATIO_MAX);
    if count <= most {
        return Ok(());
    }
    let (found, most) = (count as u64, most as u64);
    Err(EncodingError::Limit { what: "dictionary entries", found, most })
}

/// Reads `count` strings that strictly ascend. Cost: O(their bytes).
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

/// Puts each string behind the one before; checks that it is above that one.
fn unfold(
    shared: &[u32],
    rests: &[u32],
    rest: &mut Vec<u8>,
    offsets: &[u32],
) -> Result<Vec<u8>, EncodingError> {
    let total = offsets.last().copied().unwrap_or_default() as usize;
    // Chunks may reach over the end.
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

/// Copies the first `length` bytes of `from` by chunks, and perhaps some that follow them: `to` may
/// have any bytes there.
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

/// The same inside of one text.
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
