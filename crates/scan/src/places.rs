//! Where the groups of a block are among those of all blocks so far.
//!
//! Groups are found by numbers, which stand for the values of their keys (see
//! [`hadal_aggregate::Groups`]). A block asks once for each value in its dictionaries that a
//! selected row has.

use hadal_aggregate::Groups;

use crate::keys::{GroupNumbers, KeyValues};
use crate::values::Entries;

/// No number: what a table holds before it was asked.
const UNKNOWN: u32 = u32::MAX;

/// The group numbers of one block, on their way to places.
pub(crate) struct Places<'b, 'v> {
    block: &'b GroupNumbers<'v>,
    /// By key and code: the number of the value.
    known: Vec<Vec<u32>>,
    codes: Vec<usize>,
    numbers: Vec<u32>,
}

impl<'b, 'v> Places<'b, 'v> {
    pub(crate) fn new(block: &'b GroupNumbers<'v>) -> Self {
        let keys = 0..block.key_count();
        let known = keys.map(|key| vec![UNKNOWN; block.codes_in(key)]).collect();
        Self { block, known, codes: Vec::new(), numbers: Vec::new() }
    }

    /// The place of a group number's group; `None` where there is no room for it.
    pub(crate) fn of(&mut self, number: usize, groups: &mut Groups) -> Option<u32> {
        let mut codes = std::mem::take(&mut self.codes);
        self.block.codes_of(number, &mut codes);
        self.numbers.clear();
        for (key, &code) in codes.iter().enumerate() {
            let number = self.number(key, code, groups);
            self.numbers.push(number);
        }
        self.codes = codes;
        groups.place(&self.numbers)
    }

    /// The number of one key's value.
    fn number(&mut self, key: usize, code: usize, groups: &mut Groups) -> u32 {
        let known = self.known[key][code];
        if known != UNKNOWN {
            return known;
        }
        let dictionary = groups.key_mut(key);
        let number = match self.block.values_of(key) {
            KeyValues::Entries(Entries::Strings { dictionary: strings, .. })
                if let Some(text) = u32::try_from(code).ok().and_then(|code| strings.get(code)) =>
            {
                dictionary.number_of_text(text)
            }
            values => match values.whole(code) {
                Some(whole) => dictionary.number_of_whole(whole),
                None => dictionary.number_of(&values.value(code)),
            },
        };
        self.known[key][code] = number;
        number
    }
}
