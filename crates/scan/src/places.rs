//! Where the groups of a block are among those of all blocks so far.
//!
//! Finding a group by its key's values costs more than adding up what a block has for it. But
//! blocks have mostly the same values. So each value of a key gets a number that stays the same for
//! the whole scan; numbers of several keys are paired into one, as often as needed; and that leads
//! to the group's place. A block asks once for each value in its dictionaries.

use std::hash::BuildHasher;

use hadal_aggregate::{Group, Groups};
use hadal_types::Value;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::keys::{GroupNumbers, KeyValues};
use crate::values::Entries;

/// No number or place: what a table holds before it was asked.
const UNKNOWN: u32 = u32::MAX;

/// Numbers of keys, and places of groups.
#[derive(Debug, Default)]
pub(crate) struct Places {
    keys: Vec<KeyNumbers>,
    /// By the key: the number of all keys before and of this one, as one number.
    pairs: Vec<HashMap<(u32, u32), u32>>,
    /// By the number of all keys.
    places: Vec<u32>,
    /// The layout of the groups that the places are of.
    layout: u64,
}

/// The values of one key so far.
#[derive(Debug, Default)]
struct KeyNumbers {
    count: u32,
    values: HashMap<Value, u32>,
    texts: Vec<(Box<str>, u32)>,
    /// Where among the texts each is.
    by_text: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Places {
    /// The groups of one block's group numbers, one after the other.
    pub(crate) fn of_block<'p, 'b>(&'p mut self, numbers: &'b GroupNumbers<'b>) -> Block<'p, 'b> {
        let keys = numbers.key_count();
        self.keys.resize_with(keys, KeyNumbers::default);
        self.pairs.resize_with(keys, HashMap::default);
        let known = (0..keys).map(|key| vec![UNKNOWN; numbers.codes_in(key)]).collect();
        Block { places: self, numbers, known, codes: Vec::new() }
    }

    /// Bytes held, about.
    pub(crate) fn bytes(&self) -> usize {
        let of_key = |key: &KeyNumbers| {
            key.values.allocation_size()
                + key.by_text.allocation_size()
                + key.texts.capacity() * size_of::<(Box<str>, u32)>()
                + key.texts.iter().map(|(text, _)| text.len()).sum::<usize>()
        };
        self.keys.iter().map(of_key).sum::<usize>()
            + self.pairs.iter().map(HashMap::allocation_size).sum::<usize>()
            + self.places.capacity() * size_of::<u32>()
    }
}

impl KeyNumbers {
    fn of_text(&mut self, text: &str) -> u32 {
        let Self { count, texts, by_text, hasher, .. } = self;
        let hash = hasher.hash_one(text);
        let is_it = |&at: &u32| &*texts[at as usize].0 == text;
        if let Some(&at) = by_text.find(hash, is_it) {
            return texts[at as usize].1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 texts fit the budget")]
        let at = texts.len() as u32;
        texts.push((text.into(), *count));
        by_text.insert_unique(hash, at, |&at| hasher.hash_one(&*texts[at as usize].0));
        next(count)
    }

    fn of_value(&mut self, value: Value) -> u32 {
        let Self { count, values, .. } = self;
        *values.entry(value).or_insert_with(|| next(count))
    }
}

fn next(count: &mut u32) -> u32 {
    *count += 1;
    *count - 1
}

/// The group numbers of one block, on their way to groups.
pub(crate) struct Block<'p, 'b> {
    places: &'p mut Places,
    numbers: &'b GroupNumbers<'b>,
    /// By key and code: the key's number.
    known: Vec<Vec<u32>>,
    codes: Vec<usize>,
}

impl Block<'_, '_> {
    /// The group of a group number; `None` where there is no room for it.
    pub(crate) fn group<'g>(
        &mut self,
        number: usize,
        groups: &'g mut Groups,
    ) -> Option<&'g mut Group> {
        let whole = self.whole(number) as usize;
        let Places { places, layout, .. } = &mut *self.places;
        if *layout != groups.layout() {
            places.clear();
            *layout = groups.layout();
        }
        if places.len() <= whole {
            places.resize(whole + 1, UNKNOWN);
        }
        if places[whole] == UNKNOWN {
            let place = groups.place(&self.numbers.keys_of(number))?;
            // Making room for it may have moved all others.
            if *layout == groups.layout() {
                places[whole] = place;
            }
            return Some(groups.at(place));
        }
        Some(groups.at(places[whole]))
    }

    /// The number of all of the group's keys.
    fn whole(&mut self, number: usize) -> u32 {
        let mut codes = std::mem::take(&mut self.codes);
        self.numbers.codes_of(number, &mut codes);
        let mut whole = 0;
        for (key, &code) in codes.iter().enumerate() {
            let own = self.number(key, code);
            whole = match key {
                0 => own,
                _ => {
                    let pairs = &mut self.places.pairs[key];
                    let next = u32::try_from(pairs.len()).unwrap_or(UNKNOWN);
                    *pairs.entry((whole, own)).or_insert(next)
                }
            };
        }
        self.codes = codes;
        whole
    }

    /// The number of one key's value.
    fn number(&mut self, key: usize, code: usize) -> u32 {
        let known = self.known[key][code];
        if known != UNKNOWN {
            return known;
        }
        let numbers = &mut self.places.keys[key];
        let number = match self.numbers.values_of(key) {
            KeyValues::Entries(Entries::Strings { dictionary, .. })
                if let Some(text) =
                    u32::try_from(code).ok().and_then(|code| dictionary.get(code)) =>
            {
                numbers.of_text(text)
            }
            values => numbers.of_value(values.value(code)),
        };
        self.known[key][code] = number;
        number
    }
}
