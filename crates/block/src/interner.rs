//! Giving strings, and lists of codes, small numbers: the order in which they were first seen. No
//! allocation per string, none at all for one seen before.

use std::hash::{BuildHasher, Hasher};
use std::iter;
use std::ops::Range;

use hadal_encoding::lists::Lists;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Strings that are looked up before it is told whether they repeat.
const WINDOW: usize = 4_096;
/// They do where so many of them were seen before.
const REPEATS_MIN: usize = WINDOW / 8;
/// Of strings that do not, those are looked up whose hash ends with so many zeros: one in eight.
const SAMPLE_ZEROS: u32 = 3;

/// Strings by code: distinct ones, where none was added by [`Self::add_all`].
#[derive(Clone, Debug, Default)]
pub(crate) struct StringInterner {
    text: String,
    /// Where each string ends.
    ends: Vec<usize>,
    table: CodeTable,
    hasher: DefaultHashBuilder,
    /// Memory for hashes of strings that are added together, and for guesses of their codes.
    hashes: Vec<(u32, Option<u32>)>,
    /// Strings hardly repeat.
    are_unique: bool,
    /// Strings that were looked up by `add` since that was told, and how many of them were found.
    looked_up: usize,
    repeated: usize,
}

impl StringInterner {
    /// Appends a code of each of the strings that end at `ends` in `text`.
    ///
    /// All are hashed first, then all slots are read where their codes should be, so that one
    /// look-up need not wait for the other.
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

    /// A code of the string: the one that it has, or a new one. Where strings hardly repeat most of
    /// them are not looked up, so that a string that does repeat may have several codes.
    ///
    /// To look up texts that are all distinct would take most of the time of their column: each
    /// look-up goes to a place in memory where none was before.
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
        // The sample tells sooner that they do repeat.
        let window = if self.are_unique { WINDOW / 64 } else { WINDOW };
        if self.looked_up == window {
            self.are_unique = self.repeated * WINDOW < REPEATS_MIN * window;
            (self.looked_up, self.repeated) = (0, 0);
        }
    }

    /// The string's code; a new one where it was not seen before.
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

    /// Forgets all strings, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.table.clear();
        (self.are_unique, self.looked_up, self.repeated) = (false, 0, 0);
    }

    /// How many codes were given out.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The string of a code that was given out.
    #[inline]
    pub(crate) fn get(&self, code: u32) -> &str {
        &self.text[range_of(&self.ends, code)]
    }

    /// Its bytes. Cheaper than [`Self::get`], which looks at the text.
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

/// Where the string of a code lies.
fn range_of(ends: &[usize], code: u32) -> Range<usize> {
    let code = code as usize;
    let start = if code == 0 { 0 } else { ends[code - 1] };
    start..ends[code]
}

/// Whether two strings are equal, without a call: most are short, and they are equal, since their
/// hashes are. Ends may overlap.
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

/// Codes by the hash of their string: slots of which half are empty at least, each looked at after
/// the one before. Texts lie far apart in memory, and are looked at where hashes are equal only.
#[derive(Clone, Debug, Default)]
struct CodeTable {
    /// A power of two of them, or none: the hash above the code plus one; 0 where there is none.
    slots: Vec<u64>,
    count: usize,
}

/// Slots of the first code.
const SLOTS_MIN: usize = 64;

impl CodeTable {
    /// The code of this hash that `is_it`.
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

    /// The code of this hash that most likely is the one, without a look at any string.
    fn guess(&self, hash: u32) -> Option<u32> {
        let slot = *self.slots.get(hash as usize & self.slots.len().wrapping_sub(1))?;
        let (slot_hash, code) = halves(slot);
        if slot_hash == hash { code.checked_sub(1) } else { None }
    }

    /// Adds a code that is not there.
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

    /// Forgets all codes, and keeps the memory.
    fn clear(&mut self) {
        self.slots.fill(0);
        self.count = 0;
    }
}

/// The hash, and the code plus one.
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

    /// Forgets all lists.
    pub(crate) fn clear(&mut self) {
        self.lists = Lists::default();
        self.table.clear();
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
    hasher.hash_one(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes of so many strings, each told by a number.
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
        // All distinct, then repeating, then distinct again.
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
