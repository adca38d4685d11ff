//! Interns strings, and lists of codes: assigns small numbers in order of first occurrence. New
//! strings are appended to one shared text instead of being allocated one by one, and a repeated
//! string needs no memory.

use std::hash::{BuildHasher, Hasher};
use std::iter;
use std::ops::Range;

use hadal_encoding::lists::Lists;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Strings that are looked up before the interner decides whether strings repeat.
const WINDOW: usize = 4_096;
/// Strings repeat if at least this many of the window were already interned.
const REPEATS_MIN: usize = WINDOW / 8;
/// If strings do not repeat, only those whose hash ends with this many zeros are looked up: one in
/// eight.
const SAMPLE_ZEROS: u32 = 3;

/// Strings by code. They are distinct unless [`Self::add_all`] was used.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringInterner {
    text: String,
    /// The end of each string.
    ends: Vec<usize>,
    table: CodeTable,
    hasher: DefaultHashBuilder,
    /// Memory for the hashes of strings that are added together, and for guesses of their codes.
    hashes: Vec<(u32, Option<u32>)>,
    /// Whether strings rarely repeat.
    are_unique: bool,
    /// Strings that `add` looked up since that decision, and how many of them were found.
    looked_up: usize,
    repeated: usize,
}

impl StringInterner {
    /// Appends a code for each of the strings that end at `ends` in `text`.
    ///
    /// All strings are hashed first, then the slots of all hashes are read, so that look-ups do not
    /// wait for one another.
    pub(crate) fn add_all(&mut self, text: &str, ends: &[u32], codes: &mut Vec<u32>) {
        let starts = iter::once(0).chain(ends.iter().copied());
        let strings = starts.zip(ends).map(|(start, &end)| &text[start as usize..end as usize]);
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(strings.clone().map(|string| (self.hash(string), None)));
        if !self.are_unique {
            hashes.iter_mut().for_each(|(hash, guess)| *guess = self.table.guess(*hash));
        }
        let add = |(&(hash, guess), string)| match guess {
            Some(code) if self.is_equal(code, string) => {
                self.count_look_up(true);
                code
            }
            _ => self.add(hash, string),
        };
        codes.extend(hashes.iter().zip(strings).map(add));
        self.hashes = hashes;
    }

    /// A code of the string: an existing one, or a new one. If strings rarely repeat, most are not
    /// looked up, so that a repeated string may have several codes.
    ///
    /// For distinct texts, look-ups would take most of the time of their column: each one goes to a
    /// new memory location.
    fn add(&mut self, hash: u32, string: &str) -> u32 {
        if self.are_unique && hash.trailing_zeros() < SAMPLE_ZEROS {
            return self.push(string);
        }
        let count = self.len();
        let code = self.intern_hashed(hash, string);
        self.count_look_up(self.len() == count);
        code
    }

    fn count_look_up(&mut self, is_repeated: bool) {
        self.looked_up += 1;
        self.repeated += usize::from(is_repeated);
        // A sample detects sooner that strings repeat.
        let window = if self.are_unique { WINDOW / 64 } else { WINDOW };
        if self.looked_up == window {
            self.are_unique = self.repeated * WINDOW < REPEATS_MIN * window;
            (self.looked_up, self.repeated) = (0, 0);
        }
    }

    /// The string's code; a new one at its first occurrence.
    pub(crate) fn intern(&mut self, string: &str) -> u32 {
        self.intern_hashed(self.hash(string), string)
    }

    fn intern_hashed(&mut self, hash: u32, string: &str) -> u32 {
        if let Some(code) = self.table.find(hash, |code| self.is_equal(code, string)) {
            return code;
        }
        let code = self.push(string);
        self.table.insert(hash, code);
        code
    }

    #[inline]
    fn is_equal(&self, code: u32, string: &str) -> bool {
        are_equal(&self.text.as_bytes()[range_of(&self.ends, code)], string.as_bytes())
    }

    fn push(&mut self, string: &str) -> u32 {
        let code = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.text.push_str(string);
        self.ends.push(self.text.len());
        code
    }

    /// Forgets all strings but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.table.clear();
        (self.are_unique, self.looked_up, self.repeated) = (false, 0, 0);
    }

    /// The number of assigned codes.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The string of an assigned code.
    #[inline]
    pub(crate) fn get(&self, code: u32) -> &str {
        &self.text[range_of(&self.ends, code)]
    }

    /// The length of the string of a code. Cheaper than [`Self::get`], which checks the text.
    pub(crate) fn bytes_of(&self, code: u32) -> usize {
        range_of(&self.ends, code).len()
    }

    fn hash(&self, string: &str) -> u32 {
        let mut state = self.hasher.build_hasher();
        state.write(string.as_bytes());
        #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
        let low = state.finish() as u32;
        low
    }
}

/// The range of a code's string in the text.
fn range_of(ends: &[usize], code: u32) -> Range<usize> {
    let code = code as usize;
    let start = if code == 0 { 0 } else { ends[code - 1] };
    start..ends[code]
}

/// Whether two strings are equal, without a function call. Most strings are short, and equal, since
/// their hashes are. The compared chunks may overlap.
fn are_equal(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    match left.len() {
        16..=32 => left.first_chunk::<16>() == right.first_chunk() && end::<16>(left, right),
        0..4 => left.iter().zip(right).all(|(left, right)| left == right),
        4..8 => left.first_chunk::<4>() == right.first_chunk() && end::<4>(left, right),
        8..16 => left.first_chunk::<8>() == right.first_chunk() && end::<8>(left, right),
        _ => {
            let chunks = left.as_chunks::<16>().0.iter().zip(right.as_chunks().0);
            chunks.fold(true, |are, (left, right)| are & (left == right)) && end::<16>(left, right)
        }
    }
}

/// Whether the last bytes of two strings are equal.
fn end<const BYTES: usize>(left: &[u8], right: &[u8]) -> bool {
    left.last_chunk::<BYTES>() == right.last_chunk()
}

/// Codes by the hash of their string: open addressing with linear probing, at most half full. Texts
/// are scattered in memory, and are compared only if hashes are equal.
#[derive(Clone, Debug, Default)]
struct CodeTable {
    /// A power of two of slots, or none: the hash in the high half, the code plus one in the low
    /// half; 0 if empty.
    slots: Vec<u64>,
    count: usize,
}

/// Initial number of slots.
const SLOTS_MIN: usize = 64;

impl CodeTable {
    /// The code with this hash for which `is_equal` holds.
    #[inline]
    fn find(&self, hash: u32, is_equal: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = hash as usize;
        loop {
            let slot = *self.slots.get(at & self.slots.len().wrapping_sub(1))?;
            let (slot_hash, code) = halves(slot);
            if slot_hash == hash && code != 0 && is_equal(code - 1) {
                return Some(code - 1);
            }
            if code == 0 {
                return None;
            }
            at += 1;
        }
    }

    /// The most likely code of this hash, without comparing strings.
    fn guess(&self, hash: u32) -> Option<u32> {
        let slot = *self.slots.get(hash as usize & self.slots.len().wrapping_sub(1))?;
        let (slot_hash, code) = halves(slot);
        if slot_hash == hash { code.checked_sub(1) } else { None }
    }

    /// Adds a code that is not in the table.
    fn insert(&mut self, hash: u32, code: u32) {
        if 2 * (self.count + 1) > self.slots.len() {
            let slots = vec![0; (2 * self.slots.len()).max(SLOTS_MIN)];
            for slot in std::mem::replace(&mut self.slots, slots) {
                if slot != 0 {
                    self.insert_slot(slot);
                }
            }
        }
        self.insert_slot(u64::from(hash) << 32 | u64::from(code.saturating_add(1)));
        self.count += 1;
    }

    fn insert_slot(&mut self, slot: u64) {
        let mask = self.slots.len() - 1;
        let mut at = (slot >> 32) as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    /// Forgets all codes but keeps the memory.
    fn clear(&mut self) {
        self.slots.fill(0);
        self.count = 0;
    }
}

/// The hash and the code plus one of a slot.
#[expect(clippy::cast_possible_truncation, reason = "one half and the other")]
const fn halves(slot: u64) -> (u32, u32) {
    ((slot >> 32) as u32, slot as u32)
}

/// Distinct lists by code.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListInterner {
    lists: Lists,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl ListInterner {
    /// The list's code; a new one at its first occurrence.
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

    /// Forgets all lists.
    pub(crate) fn clear(&mut self) {
        self.lists = Lists::default();
        self.table.clear();
    }

    /// The number of distinct lists.
    pub(crate) fn len(&self) -> usize {
        self.lists.len()
    }

    /// The list of an assigned code.
    pub(crate) fn get(&self, code: u32) -> &[u32] {
        self.lists.get(code).unwrap_or_default()
    }
}

fn hash_list(hasher: &impl BuildHasher, list: &[u32]) -> u64 {
    hasher.hash_one(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes of strings that are made from these numbers.
    fn codes(interner: &mut StringInterner, numbers: impl Iterator<Item = usize>) -> Vec<u32> {
        let text = |number: usize| format!("the text of number {number}");
        let texts: Vec<String> = numbers.map(text).collect();
        let mut codes = Vec::new();
        for texts in texts.chunks(300) {
            let ends = texts.iter().scan(0, |end, text| {
                *end += u32::try_from(text.len()).expect("short");
                Some(*end)
            });
            interner.add_all(&texts.concat(), &ends.collect::<Vec<_>>(), &mut codes);
        }
        codes
    }

    #[test]
    fn every_byte_makes_strings_differ() {
        for length in 0..70 {
            let left: Vec<u8> = (0..length).collect();
            assert!(are_equal(&left, &left.clone()));
            for at in 0..left.len() {
                let mut right = left.clone();
                right[at] ^= 1;
                assert!(!are_equal(&left, &right), "{at} of {length}");
                assert!(!are_equal(&left, &left[..at]), "{at} of {length}");
            }
        }
    }

    #[test]
    fn a_code_is_that_of_its_string() {
        // First distinct strings, then repeated ones, then distinct ones again.
        let numbers = (0..20_000).chain((0..60_000).map(|index| index % 7_000)).chain(0..20_000);
        let mut interner = StringInterner::default();
        let codes = codes(&mut interner, numbers.clone());
        for (code, number) in codes.into_iter().zip(numbers) {
            assert_eq!(interner.get(code), format!("the text of number {number}"));
            assert_eq!(interner.bytes_of(code), interner.get(code).len());
        }
    }

    #[test]
    fn strings_that_repeat_have_few_codes() {
        for (distinct, codes_max) in [(10, 10), (3_000, 3_000), (10_000, 17_000), (20_000, 42_000)]
        {
            let mut interner = StringInterner::default();
            codes(&mut interner, (0..65_536).map(|index| index % distinct));
            assert!(interner.len() <= codes_max, "{distinct}: {}", interner.len());
        }
    }

    #[test]
    fn strings_that_do_not_repeat_are_not_looked_up() {
        let mut interner = StringInterner::default();
        codes(&mut interner, 0..65_536);
        assert!(interner.table.count < 65_536 / 4, "{}", interner.table.count);
        interner.clear();
        assert_eq!((interner.len(), interner.table.count), (0, 0));
        assert!(!interner.are_unique);
        assert_eq!(codes(&mut interner, [7, 8, 7].into_iter()), [0, 1, 0]);
    }
}
