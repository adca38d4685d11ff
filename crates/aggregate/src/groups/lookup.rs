//! Look-ups of group indexes, one by one and batched.

use hadal_encoding::CanonicalStrings;
use hadal_types::limits::GROUP_KEYS_MAX;

use super::Groups;
use crate::groups::group_table::NO_GROUP;
use crate::groups::key_dictionary::KeyDictionary;

impl Groups {
    /// The index of the group with these numbers, one per key; the group is created if it is new.
    /// The index is valid until [`Self::enforce_capacity`].
    ///
    /// `None` if the group is beyond the limit. Then the caller must pass its rows to
    /// [`Self::drop_rows`].
    ///
    /// # Panics
    /// If these are not numbers assigned by the keys' dictionaries, one per key.
    #[must_use]
    pub fn find_or_insert(&mut self, numbers: &[u32]) -> Option<u32> {
        assert_eq!(numbers.len(), self.keys.len(), "values of a key");
        let index = self.group_indexes.find(numbers);
        if index.is_some() || self.is_beyond(numbers) {
            return index;
        }
        self.group_indexes.push(numbers)
    }

    /// The indexes of `count` groups with these numbers, which are given key by key. The same as
    /// [`Self::find_or_insert`] for each, but faster. `u32::MAX` for groups beyond the limit.
    #[must_use]
    pub fn find_or_insert_all(&mut self, keys: &[Vec<u32>], count: usize) -> Vec<u32> {
        match keys {
            [_, _] => self.groups_of_numbers(&side_by_side::<2>(keys)),
            [_, _, _] => self.groups_of_numbers(&side_by_side::<3>(keys)),
            [_, _, _, _] => self.groups_of_numbers(&side_by_side::<4>(keys)),
            [] => vec![self.find_or_insert(&[]).unwrap_or(NO_GROUP); count],
            [_] => self.groups_of_numbers(&side_by_side::<1>(keys)),
            _ if keys.len() <= 8 => self.groups_of_numbers(&side_by_side::<8>(keys)),
            _ => self.groups_of_numbers(&side_by_side::<GROUP_KEYS_MAX>(keys)),
        }
    }

    /// The indexes of the groups with these integers as their only key. The same as
    /// [`Self::find_or_insert`] for each, but faster. `u32::MAX` for groups beyond the limit.
    ///
    /// # Panics
    /// If groups do not have exactly one key.
    pub fn groups_of_ints(&mut self, ints: &[i64]) -> Vec<u32> {
        self.flush_deferred_templates();
        self.groups_by_number(|key, numbers| key.numbers_of_ints(ints, numbers))
    }

    /// As [`Self::groups_of_ints`], for strings.
    ///
    /// # Panics
    /// If groups do not have exactly one key.
    pub fn groups_of_strings<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Vec<u32> {
        self.groups_by_number(|key, numbers| key.numbers_of_strings(texts, numbers))
    }

    /// As [`Self::groups_of_ints`], for strings given by ids; see
    /// [`KeyDictionary::numbers_of_ids`].
    ///
    /// # Panics
    /// If groups do not have exactly one key.
    pub fn groups_of_ids<'t>(
        &mut self,
        source: u64,
        ids: impl Iterator<Item = u32>,
        text_of: impl Fn(u32) -> &'t str,
    ) -> Vec<u32> {
        self.groups_by_number(|key, numbers| key.numbers_of_ids(source, ids, text_of, numbers))
    }

    /// As [`Self::groups_of_ints`], for template strings given by their indexes.
    ///
    /// # Panics
    /// If groups do not have exactly one key.
    pub fn groups_of_templates(
        &mut self,
        texts: &CanonicalStrings<'_>,
        which: impl Iterator<Item = usize>,
    ) -> Vec<u32> {
        self.groups_by_number(|key, numbers| key.numbers_of_lifted(texts, which, numbers))
    }

    /// Whether template strings of the only key can be added without rendering them.
    #[must_use]
    pub fn takes_lifted(&mut self) -> bool {
        if matches!(&*self.keys, [key] if key.is_lifted_in_vain()) {
            self.flush_deferred_templates();
            self.keys.iter_mut().for_each(KeyDictionary::unlift);
        }
        matches!(&*self.keys, [key] if key.takes_lifted())
    }

    /// The dictionary of the only key, if its numbers are the group indexes.
    #[must_use]
    pub fn only_key(&self) -> Option<&KeyDictionary> {
        let [key] = &*self.keys else { return None };
        (self.group_indexes.are_numbers() && key.len() == self.len()).then_some(key)
    }

    pub(super) fn groups_by_number(
        &mut self,
        number: impl FnOnce(&mut KeyDictionary, &mut Vec<u32>),
    ) -> Vec<u32> {
        assert_eq!(self.keys.len(), 1, "values of a key");
        let is_same = self.only_key().is_some();
        let key = &mut self.keys[0];
        let mut group_indexes = Vec::new();
        number(key, &mut group_indexes);
        if is_same && self.key_max.is_none() {
            self.group_indexes.extend_to(key.len());
            return group_indexes;
        }
        for group_index in &mut group_indexes {
            *group_index = self.find_or_insert(&[*group_index]).unwrap_or(NO_GROUP);
        }
        group_indexes
    }

    /// The indexes of the groups with these numbers, one per key; as [`Self::find_or_insert`].
    /// Numbers beyond the key count are ignored.
    pub(super) fn groups_of_numbers<const N: usize>(&mut self, all: &[[u32; N]]) -> Vec<u32> {
        if self.key_max.is_none() && self.group_indexes.are_hashed() {
            return self.group_indexes.of_all(all);
        }
        let width = self.keys.len();
        all.iter()
            .map(|numbers| self.find_or_insert(&numbers[..width]).unwrap_or(NO_GROUP))
            .collect()
    }
}

/// The numbers of each group side by side, padded with zeros.
pub(super) fn side_by_side<const N: usize>(keys: &[Vec<u32>]) -> Vec<[u32; N]> {
    let mut all = vec![[0; N]; keys.first().map_or(0, Vec::len)];
    for (key, numbers) in keys.iter().enumerate().take(N) {
        for (row, &number) in all.iter_mut().zip(numbers) {
            row[key] = number;
        }
    }
    all
}
