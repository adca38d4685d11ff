//! Many different strings, each with a small integer as its number, in little more memory than
//! their bytes.
//!
//! Strings are adjacent in large chunks, and are found by `groups/hash_table.rs`. Look-ups are
//! batched, as in `groups/int_table.rs`.

use std::cmp::Ordering;

use crate::groups::hash_table::{BATCH, Slot, TagTable, tag_of};
use crate::groups::int_table::reserve_spare;

/// Bytes of a chunk, unless a string is longer.
const CHUNK_BYTES: usize = 1 << 18;

/// Tables with more strings are outside of the caches; strings that may match are prefetched
/// together.
const FAR_MIN: usize = 1 << 17;

/// The bytes of strings, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringHeap {
    /// Each string follows the four bytes of its length.
    chunks: Vec<Vec<u8>>,
    /// By number: the chunk, and the start of the string in it.
    positions: Vec<(u32, u32)>,
    bytes: usize,
}

impl StringHeap {
    /// The number of strings.
    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Appends a string.
    pub(crate) fn push(&mut self, text: &str) {
        let needed = size_of::<u32>() + text.len();
        let has_room = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() >= needed;
        if !self.chunks.last().is_some_and(has_room) {
            let capacity = needed.max(CHUNK_BYTES.min(self.bytes.max(1 << 10)));
            self.bytes += capacity;
            self.chunks.push(Vec::with_capacity(capacity));
        }
        let index = self.chunks.len().saturating_sub(1);
        if let Some(chunk) = self.chunks.last_mut() {
            self.positions.push((short(index), short(chunk.len())));
            chunk.extend_from_slice(&short(text.len()).to_le_bytes());
            chunk.extend_from_slice(text.as_bytes());
        }
    }

    /// Reserves space for `more` strings, without their bytes.
    pub(crate) fn reserve(&mut self, more: usize) {
        reserve_spare(&mut self.positions, more);
    }

    /// The string with this number.
    pub(crate) fn get(&self, number: u32) -> Option<&str> {
        std::str::from_utf8(self.bytes_of(number)?).ok()
    }

    fn bytes_of(&self, number: u32) -> Option<&[u8]> {
        let (chunk, start) = *self.positions.get(number as usize)?;
        let bytes = self.chunks.get(chunk as usize)?.get(start as usize..)?;
        let (length, rest) = bytes.split_first_chunk()?;
        rest.get(..u32::from_le_bytes(*length) as usize)
    }

    fn is(&self, number: u32, text: &str) -> bool {
        self.bytes_of(number) == Some(text.as_bytes())
    }

    /// The order of the strings of two numbers: that of their bytes.
    pub(crate) fn cmp(&self, left: u32, right: u32) -> Ordering {
        self.bytes_of(left).cmp(&self.bytes_of(right))
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes + self.positions.len() * size_of::<(u32, u32)>()
    }
}

/// For lengths of strings and chunks; all are far below 2^32, because strings are bounded at
/// ingestion.
#[expect(clippy::cast_possible_truncation, reason = "chunks and texts are bounded")]
const fn short(length: usize) -> u32 {
    length as u32
}

/// The numbers of strings, found by hash.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringTable {
    table: TagTable,
}

/// The strings of a table, by number.
pub(crate) trait StringStore {
    /// Whether the string with this number is `text`.
    fn is(&self, number: u32, text: &str) -> bool;
    /// Appends a string, and returns its number.
    fn push(&mut self, text: &str) -> u32;
    /// Reads a byte of the string with this number, which brings it into the cache.
    fn touch(&self, number: u32) -> u32;
}

impl StringStore for StringHeap {
    #[inline]
    fn touch(&self, number: u32) -> u32 {
        let begin = |&(chunk, start): &(u32, u32)| {
            self.chunks.get(chunk as usize)?.get(start as usize).copied()
        };
        self.positions.get(number as usize).and_then(begin).unwrap_or_default().into()
    }

    fn is(&self, number: u32, text: &str) -> bool {
        self.is(number, text)
    }

    fn push(&mut self, text: &str) -> u32 {
        self.push(text);
        short(self.len() - 1)
    }
}

impl StringTable {
    /// The number of a string; a new number at its first occurrence.
    pub(crate) fn number_of(&mut self, text: &str, store: &mut impl StringStore) -> u32 {
        self.table.reserve_ahead(1, 0);
        self.find(tag_of(text), text, store)
    }

    /// Appends the numbers of many strings to `numbers`.
    pub(crate) fn numbers_of<'t>(
        &mut self,
        texts: impl Iterator<Item = &'t str>,
        store: &mut impl StringStore,
        numbers: &mut Vec<u32>,
    ) {
        let mut texts = texts.peekable();
        let mut batch: Vec<&str> = Vec::with_capacity(BATCH);
        let mut tags: Vec<u32> = Vec::with_capacity(BATCH);
        let mut read = [Slot::FREE; BATCH];
        while texts.peek().is_some() {
            batch.clear();
            batch.extend(texts.by_ref().take(BATCH));
            tags.clear();
            tags.extend(batch.iter().map(tag_of));
            self.table.reserve_ahead(batch.len(), 0);
            // Loads all slots of the batch into the cache together.
            self.table.read(&tags, &mut read);
            std::hint::black_box(&read);
            if self.table.len() > FAR_MIN {
                let candidates =
                    read.iter().zip(&tags).filter_map(|(slot, &tag)| slot.number_of(tag));
                let touched = candidates.fold(0, |all: u32, number| all ^ store.touch(number));
                std::hint::black_box(touched);
            }
            numbers.extend(tags.iter().zip(&batch).map(|(&tag, text)| self.find(tag, text, store)));
        }
    }

    /// Whether a string has a number.
    pub(crate) fn has(&self, text: &str, store: &impl StringStore) -> bool {
        self.table.find(tag_of(text), |number| store.is(number, text)).is_some()
    }

    /// Reserves space for `more` strings. If the table must grow, it grows by `others` in addition.
    pub(crate) fn reserve_ahead(&mut self, more: usize, others: usize) {
        self.table.reserve_ahead(more, others);
    }

    fn find(&mut self, tag: u32, text: &str, store: &mut impl StringStore) -> u32 {
        let matches = |store: &_, number| StringStore::is(store, number, text);
        self.table.find_or_push(tag, store, matches, |store| store.push(text))
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
    }
}

/// Different strings, numbered from 0 in the order of first occurrence.
#[derive(Clone, Debug, Default)]
pub struct StringInterner {
    texts: StringHeap,
    table: StringTable,
}

impl StringInterner {
    /// Appends the numbers of many strings to `numbers`; new strings get the next numbers.
    pub fn numbers_of<'t>(&mut self, texts: impl Iterator<Item = &'t str>, numbers: &mut Vec<u32>) {
        self.table.numbers_of(texts, &mut self.texts, numbers);
    }

    /// The number of a string; a new number at its first occurrence.
    pub(crate) fn number_of(&mut self, text: &str) -> u32 {
        self.table.number_of(text, &mut self.texts)
    }

    /// The number of strings.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The bytes of the string with this number.
    pub(crate) fn bytes_of(&self, number: u32) -> Option<&[u8]> {
        self.texts.bytes_of(number)
    }

    /// The string with this number; `None` if the number was not assigned.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&str> {
        self.texts.get(number)
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.texts.bytes() + self.table.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_of_any_length_are_kept() {
        let mut texts = StringHeap::default();
        let all: Vec<String> =
            [0, 1, 7, 1_000, CHUNK_BYTES - 4, CHUNK_BYTES, CHUNK_BYTES + 1, 3, 1 << 20, 0]
                .iter()
                .map(|&length| "é".repeat(length / 2) + &"x".repeat(length % 2))
                .collect();
        all.iter().for_each(|text| texts.push(text));
        for (number, text) in (0..).zip(&all) {
            assert_eq!(texts.get(number), Some(text.as_str()));
            assert!(texts.is(number, text) && !texts.is(number, "another"));
        }
        assert_eq!((texts.len(), texts.get(10)), (10, None));
        assert!(texts.bytes() >= all.iter().map(String::len).sum());
    }

    proptest! {
        #[test]
        fn each_has_one_number_however_many_are_asked_for_at_once(
            asked in prop::collection::vec(prop::collection::vec("[a-c]{0,5}|.{0,9}", 0..300), 1..6),
        ) {
            let (mut table, mut texts) = (StringTable::default(), StringHeap::default());
            let mut plain: HashMap<&str, u32> = HashMap::new();
            for (index, asked) in asked.iter().enumerate() {
                let mut number = |text| {
                    let next = short(plain.len());
                    *plain.entry(text).or_insert(next)
                };
                let expected: Vec<u32> = asked.iter().map(|text| number(text)).collect();
                let mut numbers = Vec::new();
                if index % 2 == 0 {
                    let asked = asked.iter().map(String::as_str);
                    table.numbers_of(asked, &mut texts, &mut numbers);
                } else {
                    numbers.extend(asked.iter().map(|text| table.number_of(text, &mut texts)));
                }
                prop_assert_eq!(numbers, expected);
            }
            for (text, &number) in &plain {
                prop_assert_eq!(texts.get(number), Some(*text));
            }
            prop_assert_eq!(texts.len(), plain.len());
        }
    }
}
