//! Dictionaries: many strings end to end, found by code.
//!
//! ```text
//!  length | lengths: integers(n) | string 0 string 1 ... string n-1
//! ```
//!
//! Encoded dictionaries are sorted, so that the order of codes is the order of strings. Layout to
//! the byte: `spec/row-block.md` section 5.

use std::borrow::Cow;

use hadal_types::limits::{BLOCK_BYTES_MAX, STRING_BYTES_MAX};

use crate::cursor::{Cursor, write_prefixed};
use crate::{EncodingError, IntsView, ints};

/// Strings by code: borrowed from a block, or decompressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringDictionary<'a> {
    text: Cow<'a, str>,
    /// Where each string begins, and where the last ends.
    offsets: Vec<u32>,
}

/// Appends strings that strictly ascend and are at most 64 KiB long.
pub fn encode<S: AsRef<str>>(entries: &[S], out: &mut Vec<u8>) {
    write_prefixed(out, |out| encode_lengths(entries, out));
    for entry in entries {
        out.extend_from_slice(entry.as_ref().as_bytes());
    }
}

/// Appends the stream of the strings' lengths.
pub(crate) fn encode_lengths<S: AsRef<str>>(entries: &[S], out: &mut Vec<u8>) {
    let length = |entry: &S| u32::try_from(entry.as_ref().len()).unwrap_or(u32::MAX);
    let lengths: Vec<u32> = entries.iter().map(length).collect();
    ints::encode_codes(&lengths, out);
}

/// Reads a stream of `count` lengths, each at most `each_max`, all at most `total_max`; returns
/// where each begins and where the last ends.
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
        // Checked below: it cannot have wrapped unnoticed, because it only grows by 64 KiB a step.
        end = end.saturating_add(*offset);
        *offset = end;
    }
    if end as usize > total_max {
        let (found, most) = (end.into(), total_max as u64);
        return Err(EncodingError::Limit { what: "total length", found, most });
    }
    Ok(offsets)
}

impl<'a> StringDictionary<'a> {
    /// Reads a dictionary of `count` strings; validates all of them. Cost: O(bytes).
    ///
    /// # Errors
    /// When `bytes` are not exactly such a dictionary.
    pub fn parse(bytes: &'a [u8], count: usize) -> Result<Self, EncodingError> {
        if count > bytes.len() {
            // Strings that all differ have a byte each, but for one; so this bounds what follows.
            let (found, most) = (count as u64, bytes.len() as u64);
            return Err(EncodingError::Limit { what: "dictionary entries", found, most });
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

    /// Makes a dictionary of text and offsets: ascending, from 0 to its length.
    pub(crate) fn from_utf8(
        bytes: Cow<'a, [u8]>,
        offsets: Vec<u32>,
    ) -> Result<Self, EncodingError> {
        let text = match bytes {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed),
            Cow::Owned(bytes) => {
                String::from_utf8(bytes).map(Cow::Owned).map_err(|error| error.utf8_error())
            }
        };
        let text = text.map_err(|error| {
            let before = |&offset: &u32| offset as usize <= error.valid_up_to();
            EncodingError::Text { index: offsets.partition_point(before).saturating_sub(1) }
        })?;
        let inside = |&offset: &u32| !text.is_char_boundary(offset as usize);
        match offsets.iter().position(inside) {
            Some(index) => Err(EncodingError::Text { index }),
            None => Ok(Self { text, offsets }),
        }
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

    /// The string of this code, or `None` where there is none.
    #[must_use]
    pub fn get(&self, code: u32) -> Option<&str> {
        let code = code as usize;
        let (from, to) = (*self.offsets.get(code)?, *self.offsets.get(code + 1)?);
        self.text.get(from as usize..to as usize)
    }

    /// All strings, in the order of their codes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        // Every offset is a character boundary, so nothing is lost by the default.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes_of(entries: &[&str]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(entries, &mut out);
        out
    }

    #[test]
    fn strings_are_found_by_code() {
        let huge = "x".repeat(STRING_BYTES_MAX);
        let entries = ["", "a", "aé💧", "b", &huge];
        let bytes = bytes_of(&entries);
        let dictionary = StringDictionary::parse(&bytes, 5).expect("parses");
        assert_eq!(dictionary.iter().collect::<Vec<_>>(), entries);
        assert_eq!(dictionary.get(2), Some("aé💧"));
        assert_eq!(dictionary.get(5), None);
        assert_eq!(dictionary.get(u32::MAX), None);
        let empty = bytes_of(&[]);
        assert!(StringDictionary::parse(&empty, 0).expect("parses").is_empty());
    }

    #[test]
    fn what_is_wrong_is_named() {
        use EncodingError::{Limit, Order, Text, Trailing, Truncated};
        let parse = |bytes: &[u8], count| {
            StringDictionary::parse(bytes, count).map(|_| ()).expect_err("is wrong")
        };
        let order = |index| Order { what: "dictionary entry", index };
        assert_eq!(parse(&bytes_of(&["b", "a"]), 2), order(1));
        assert_eq!(parse(&bytes_of(&["a", "b", "b"]), 3), order(2));
        let mut bytes = bytes_of(&["aa", "bb"]);
        *bytes.last_mut().expect("some") = 0xFF;
        assert_eq!(parse(&bytes, 2), Text { index: 1 });
        // The lengths cut é in two.
        let bytes = [2, 0, 2, 0xC3, 0xA9];
        assert_eq!(parse(&bytes, 2), Text { index: 1 });
        assert!(matches!(parse(&bytes_of(&["aa", "bb"])[..6], 2), Truncated { .. }));
        assert!(matches!(parse(&[2, 0, 2, b'a', b'b'], 1), Trailing { left: 1, .. }));
        let huge = "x".repeat(STRING_BYTES_MAX + 1);
        assert!(matches!(parse(&bytes_of(&[&huge]), 1), Limit { .. }));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            lengths in 0u8..8,
            count in 0usize..20,
        ) {
            let bytes: Vec<u8> = [lengths, lengths % 2].into_iter().chain(bytes).collect();
            if let Ok(dictionary) = StringDictionary::parse(&bytes, count) {
                prop_assert_eq!(dictionary.iter().len(), count);
            }
        }
    }
}
