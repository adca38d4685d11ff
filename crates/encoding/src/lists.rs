//! Lists of codes: sets and vectors of strings, without the strings.
//!
//! ```text
//!  length | lengths: integers(n) | codes of list 0, list 1, ...: integers(sum of lengths)
//! ```
//!
//! Layout to the byte: `spec/row-block.md` section 7.

use hadal_types::limits::{BLOCK_LIST_ELEMENTS_MAX, LIST_ELEMENTS_MAX};

use crate::cursor::{Cursor, write_prefixed};
use crate::{EncodingError, IntsView, StringDictionary, ints, strings};

/// Lists of codes, concatenated, with random access by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists {
    codes: Vec<u32>,
    /// The start of each list, and the end of the last.
    offsets: Vec<u32>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { codes: Vec::new(), offsets: vec![0] }
    }
}

impl Lists {
    /// How many lists there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no lists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The codes of list `index`; `None` if there is no such list.
    #[must_use]
    pub fn get(&self, index: u32) -> Option<&[u32]> {
        let index = index as usize;
        let (from, to) = (*self.offsets.get(index)?, *self.offsets.get(index + 1)?);
        self.codes.get(from as usize..to as usize)
    }

    /// All lists, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.offsets.windows(2).map(|pair| &self.codes[pair[0] as usize..pair[1] as usize])
    }

    /// The codes of all lists, concatenated.
    #[must_use]
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Appends a list.
    pub fn push(&mut self, codes: impl IntoIterator<Item = u32>) {
        self.codes.extend(codes);
        self.offsets.push(u32::try_from(self.codes.len()).unwrap_or(u32::MAX));
    }

    /// Appends all lists to `out`. Each may have at most 4,096 codes, all together at most 2^26.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let lengths: Vec<u32> = self.offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        write_prefixed(out, |out| ints::encode_codes(&lengths, out));
        ints::encode_codes(&self.codes, out);
    }

    /// Reads `count` lists of codes below `code_limit`; sets must strictly ascend.
    ///
    /// # Errors
    /// When `bytes` are not exactly such lists.
    pub fn parse(
        bytes: &[u8],
        count: usize,
        code_limit: usize,
        sets: bool,
    ) -> Result<Self, EncodingError> {
        let mut cursor = Cursor::new(bytes, "lists");
        let lengths = cursor.prefixed()?;
        let offsets =
            strings::parse_offsets(lengths, count, LIST_ELEMENTS_MAX, BLOCK_LIST_ELEMENTS_MAX)?;
        let total = offsets.last().copied().unwrap_or_default() as usize;
        let mut codes = Vec::new();
        IntsView::parse(cursor.rest(), total)?.decode_codes_into(code_limit, &mut codes)?;
        let lists = Self { codes, offsets };
        let descends = |list: &[u32]| list.windows(2).any(|pair| pair[0] >= pair[1]);
        if sets && let Some(index) = lists.iter().position(descends) {
            return Err(EncodingError::Order { what: "set", index });
        }
        Ok(lists)
    }
}

/// Lists by code, and their element strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListDictionary<'a> {
    /// The strings of the lists' codes.
    pub elements: StringDictionary<'a>,
    /// The lists.
    pub lists: Lists,
}

impl ListDictionary<'_> {
    /// How many lists there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// Whether there are no lists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The element codes of a list; `None` if there is no such list.
    #[must_use]
    pub fn get(&self, code: u32) -> Option<&[u32]> {
        self.lists.get(code)
    }

    /// The strings of a list; empty if there is no such list.
    pub fn strings(&self, code: u32) -> impl Iterator<Item = &str> {
        let codes = self.get(code).unwrap_or_default();
        codes.iter().filter_map(|&element| self.elements.get(element))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes_of(lists: &[Vec<u32>]) -> Vec<u8> {
        let mut all = Lists::default();
        lists.iter().for_each(|list| all.push(list.iter().copied()));
        let mut out = Vec::new();
        all.encode(&mut out);
        out
    }

    #[test]
    fn codes_and_sets_are_checked() {
        let bytes = bytes_of(&[vec![], vec![0, 2], vec![2, 1]]);
        let lists = Lists::parse(&bytes, 3, 3, false).expect("vectors");
        assert_eq!(lists.get(0), Some(&[][..]));
        assert_eq!(lists.get(2), Some(&[2, 1][..]));
        assert_eq!(lists.get(3), None);
        let order = EncodingError::Order { what: "set", index: 2 };
        assert_eq!(Lists::parse(&bytes, 3, 3, true), Err(order));
        assert!(Lists::parse(&bytes, 3, 2, false).is_err());
        assert!(Lists::parse(&bytes_of(&[vec![1, 1]]), 1, 2, true).is_err());
        assert!(Lists::parse(&bytes_of(&[vec![0; LIST_ELEMENTS_MAX + 1]]), 1, 1, false).is_err());
    }

    #[test]
    fn many_long_constant_lists_are_refused() {
        // A few bytes that claim 65,536 lists of 4,096 codes.
        let bytes = [3, 0, 0x80, 0x40, 0, 0];
        assert_eq!(Lists::parse(&bytes, 2, 1, false).expect("two").codes().len(), 8_192);
        let error = Lists::parse(&bytes, 65_536, 1, false).expect_err("too many");
        assert!(matches!(error, EncodingError::Limit { what: "total length", .. }), "{error}");
    }

    proptest! {
        #[test]
        fn lists_survive(lists in prop::collection::vec(
            prop::collection::vec(0u32..50, 0..9), 0..300,
        )) {
            let again = Lists::parse(&bytes_of(&lists), lists.len(), 50, false).expect("parses");
            prop_assert!(again.iter().eq(lists.iter().map(Vec::as_slice)));
        }

        #[test]
        fn random_bytes_never_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            lengths in 0u8..8,
            count in 0usize..20,
        ) {
            let bytes: Vec<u8> = [lengths, lengths % 2].into_iter().chain(bytes).collect();
            if let Ok(lists) = Lists::parse(&bytes, count, 30, false) {
                prop_assert!(lists.codes().iter().all(|&code| code < 30));
            }
        }
    }
}
