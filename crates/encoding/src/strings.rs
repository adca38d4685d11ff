//! Dictionaries: strings, concatenated, with random access by code.
//!
//! ```text
//!  length | lengths: integers(n) | string 0 string 1 ... string n-1         plain
//!  0 | length | shared: integers(n) | length | rests: integers(n) | rests   front-coded
//! ```
//!
//! Encoded dictionaries are sorted, so the order of codes is the order of strings, and neighbours
//! share prefixes. Layout to the byte: `spec/row-block.md` section 5.

pub(crate) mod front_coding;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use hadal_types::limits::{BLOCK_BYTES_MAX, STRING_BYTES_MAX};

use crate::cursor::{Cursor, write_prefixed};
use crate::{EncodingError, IntsView, ints, utf8};

/// Strings by code: borrowed from a block, or decompressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringDictionary<'a> {
    text: Cow<'a, str>,
    /// The start of each string, and the end of the last.
    offsets: Vec<u32>,
}

impl Default for StringDictionary<'_> {
    fn default() -> Self {
        Self { text: Cow::Borrowed(""), offsets: vec![0] }
    }
}

/// First byte of a front-coded dictionary; a plain one begins with a length above 0.
const FRONT: u8 = 0;
/// Dictionaries with less text than this are plain, the form that readers of version 1 of the
/// encodings know.
pub const FRONT_TEXT_BYTES_MIN: usize = 256;

/// Appends strings: plain, or front-coded if that saves an eighth. Strings must strictly ascend and
/// be at most 64 KiB long.
pub fn encode<S: AsRef<str>>(entries: &[S], out: &mut Vec<u8>) {
    let text: usize = entries.iter().map(|entry| entry.as_ref().len()).sum();
    let start = out.len();
    if text >= FRONT_TEXT_BYTES_MIN {
        out.push(FRONT);
        front_coding::encode(entries, out);
        if out.len() - start <= text - text / 8 {
            return;
        }
        out.truncate(start);
    }
    write_prefixed(out, |out| encode_lengths(entries, out));
    for entry in entries {
        out.extend_from_slice(entry.as_ref().as_bytes());
    }
}

/// The same dictionary of `count` strings, with uncompressed text. Does not validate its strings.
///
/// # Errors
/// When `bytes` are not such a dictionary.
pub fn plain(bytes: &[u8], count: usize) -> Result<Cow<'_, [u8]>, EncodingError> {
    match bytes.split_first() {
        Some((&FRONT, rest)) => {
            let mut out = vec![FRONT];
            front_coding::plain(rest, count, &mut out)?;
            Ok(Cow::Owned(out))
        }
        _ => Ok(Cow::Borrowed(bytes)),
    }
}

/// Appends the stream of the strings' lengths.
pub(crate) fn encode_lengths<S: AsRef<str>>(entries: &[S], out: &mut Vec<u8>) {
    encode_numbers(entries.iter().map(|entry| entry.as_ref().len()), out);
}

fn encode_numbers(numbers: impl IntoIterator<Item = usize>, out: &mut Vec<u8>) {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let numbers: Vec<u32> = numbers.into_iter().map(number).collect();
    ints::encode_codes(&numbers, out);
}

/// Reads a stream of `count` lengths, each at most `each_max`, with a sum of at most `total_max`.
/// Returns the start of each string and the end of the last.
pub(crate) fn parse_offsets(
    bytes: &[u8],
    count: usize,
    each_max: usize,
    total_max: usize,
) -> Result<Vec<u32>, EncodingError> {
    let mut offsets = Vec::with_capacity(count + 1);
    offsets.push(0);
    IntsView::parse(bytes, count)?.decode_codes_into(each_max + 1, &mut offsets)?;
    let mut end = 0u32;
    for offset in &mut offsets {
        // A saturated sum fails the check below.
        end = end.saturating_add(*offset);
        *offset = end;
    }
    check_total(end, total_max)?;
    Ok(offsets)
}

/// The start of each of `count` strings of these lengths and the end of the last, with the same
/// checks.
fn ends_of(
    lengths: impl Iterator<Item = u32>,
    count: usize,
    each_max: usize,
    total_max: usize,
) -> Result<Vec<u32>, EncodingError> {
    let mut offsets = Vec::with_capacity(count + 1);
    offsets.push(0);
    let (mut end, mut longest) = (0u32, 0);
    for length in lengths {
        longest = longest.max(length);
        end = end.saturating_add(length);
        offsets.push(end);
    }
    if longest as usize > each_max {
        let (value, most) = (longest.into(), each_max as u64);
        return Err(EncodingError::Limit { what: "a string's length", value, most });
    }
    check_total(end, total_max)?;
    Ok(offsets)
}

fn check_total(total: u32, total_max: usize) -> Result<(), EncodingError> {
    if total as usize <= total_max {
        return Ok(());
    }
    let (value, most) = (total.into(), total_max as u64);
    Err(EncodingError::Limit { what: "total length", value, most })
}

impl<'a> StringDictionary<'a> {
    /// Reads and validates a dictionary of `count` strings. Cost: O(bytes).
    ///
    /// # Errors
    /// When `bytes` are not exactly such a dictionary.
    pub fn parse(bytes: &'a [u8], count: usize) -> Result<Self, EncodingError> {
        if let Some((&FRONT, rest)) = bytes.split_first() {
            return front_coding::parse(rest, count);
        }
        if count > bytes.len() {
            // Distinct strings have at least one byte each, except the empty one; so this limits
            // the allocation below.
            let (value, most) = (count as u64, bytes.len() as u64);
            return Err(EncodingError::Limit { what: "dictionary entries", value, most });
        }
        let mut cursor = Cursor::new(bytes, "a dictionary");
        let offsets = parse_offsets(cursor.prefixed()?, count, STRING_BYTES_MAX, BLOCK_BYTES_MAX)?;
        let total = offsets.last().copied().unwrap_or_default();
        let text = cursor.take(total as usize)?;
        cursor.end()?;
        let dictionary = Self::from_utf8(Cow::Borrowed(text), offsets)?;
        dictionary.check_order()?;
        Ok(dictionary)
    }

    /// The memory of text and offsets, for reuse.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<u32>) {
        (self.text.into_owned().into_bytes(), self.offsets)
    }

    /// Makes a dictionary of text and offsets, which ascend from 0 to the text's length.
    pub(crate) fn from_utf8(
        bytes: Cow<'a, [u8]>,
        offsets: Vec<u32>,
    ) -> Result<Self, EncodingError> {
        let text = match bytes {
            Cow::Borrowed(bytes) => utf8::str_of(bytes).map(Cow::Borrowed),
            Cow::Owned(bytes) => utf8::string_of(bytes).map(Cow::Owned),
        };
        let text = text.map_err(|valid| {
            let before = |&offset: &u32| offset as usize <= valid;
            EncodingError::Text { index: offsets.partition_point(before).saturating_sub(1) }
        })?;
        let inside = |&offset: &u32| !text.is_char_boundary(offset as usize);
        match offsets.iter().position(inside) {
            Some(index) => Err(EncodingError::Text { index }),
            None => Ok(Self { text, offsets }),
        }
    }

    /// All strings, concatenated.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The start of each string in [`Self::text`], and the end of the last.
    #[must_use]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Bytes of memory that the dictionary owns, without those it borrows.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let text = match &self.text {
            Cow::Borrowed(_) => 0,
            Cow::Owned(text) => text.len(),
        };
        text + size_of_val(&self.offsets[..])
    }

    /// How many strings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no strings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string of this code; `None` if there is no such code.
    #[must_use]
    pub fn get(&self, code: u32) -> Option<&str> {
        let code = code as usize;
        let (from, to) = (*self.offsets.get(code)?, *self.offsets.get(code + 1)?);
        self.text.get(from as usize..to as usize)
    }

    /// All strings, in the order of their codes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        // Every offset is a character boundary, so the default is never used.
        self.offsets
            .windows(2)
            .map(|pair| self.text.get(pair[0] as usize..pair[1] as usize).unwrap_or_default())
    }

    fn check_order(&self) -> Result<(), EncodingError> {
        let following = self.iter().zip(self.iter().skip(1));
        match following.into_iter().position(|(left, right)| left >= right) {
            Some(index) => Err(EncodingError::Order { what: "dictionary entry", index: index + 1 }),
            None => Ok(()),
        }
    }
}
