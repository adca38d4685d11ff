//! Giving each distinct string, and each distinct list of codes, a small number: the order in which
//! they were first seen. No allocation per string, none at all for one seen before.

use std::hash::{BuildHasher, Hash};

use hadal_encoding::lists::Lists;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Distinct strings by code.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringInterner {
    text: String,
    /// Where each string ends.
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl StringInterner {
    /// The string's code; a new one where it was not seen before.
    pub(crate) fn intern(&mut self, string: &str) -> u32 {
        let Self { text, ends, table, hasher } = self;
        let found = |&code: &u32| entry(text, ends, code) == string;
        let hash = hasher.hash_one(string);
        if let Some(&code) = table.find(hash, found) {
            return code;
        }
        let code = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        text.push_str(string);
        ends.push(text.len());
        table.insert_unique(hash, code, |&code| hasher.hash_one(entry(text, ends, code)));
        code
    }

    /// How many distinct strings were seen.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The string of a code that was given out.
    pub(crate) fn get(&self, code: u32) -> &str {
        entry(&self.text, &self.ends, code)
    }
}

fn entry<'a>(text: &'a str, ends: &[usize], code: u32) -> &'a str {
    let code = code as usize;
    let start = if code == 0 { 0 } else { ends[code - 1] };
    &text[start..ends[code]]
}

/// Distinct lists by code.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListInterner {
    lists: Lists,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl ListInterner {
    /// The list's code; a new one where it was not seen before.
    pub(crate) fn intern(&mut self, list: &[u32]) -> u32 {
        let Self { lists, table, hasher } = self;
        let hash = hash_list(hasher, list);
        if let Some(&code) = table.find(hash, |&code| lists.get(code) == Some(list)) {
            return code;
        }
        let code = u32::try_from(lists.len()).unwrap_or(u32::MAX);
        lists.push(list.iter().copied());
        let rehash = |&code: &u32| hash_list(hasher, lists.get(code).unwrap_or_default());
        table.insert_unique(hash, code, rehash);
        code
    }

    /// How many distinct lists were seen.
    pub(crate) fn len(&self) -> usize {
        self.lists.len()
    }

    /// The list of a code that was given out.
    pub(crate) fn get(&self, code: u32) -> &[u32] {
        self.lists.get(code).unwrap_or_default()
    }
}

fn hash_list(hasher: &impl BuildHasher, list: &[u32]) -> u64 {
    let mut state = hasher.build_hasher();
    list.hash(&mut state);
    std::hash::Hasher::finish(&state)
}
