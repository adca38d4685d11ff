//! Where groups are, by the numbers of their keys.
//!
//! Numbers are small, since each key counts its own values (see `key_dictionary.rs`). While all
//! combinations of them are few, a plain array tells a group's place; only when they are many it
//! takes a hash table. Groups of one key mostly are in the order of its numbers: then the number is
//! the place, and nothing is kept at all.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// No place.
pub(crate) const NOWHERE: u32 = u32::MAX;
/// Combinations of the numbers of several keys that an array is made for.
const COMBINATIONS_MAX: usize = 1 << 20;

/// The places of groups, 0 and on.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// How many numbers a group has.
    width: usize,
    count: usize,
    /// The numbers of each group, group after group: none where they are the places.
    numbers: Vec<u32>,
    known: Known,
    hasher: DefaultHashBuilder,
}

/// How places are found.
#[derive(Clone, Debug)]
enum Known {
    /// By number × (how many numbers there may be of the next) + the next.
    ByNumbers {
        may_be: Box<[usize]>,
        places: Vec<u32>,
    },
    ByHash(HashTable<u32>),
}

impl Places {
    /// Of no groups, which have so many numbers each.
    pub(crate) fn new(width: usize) -> Self {
        let may_be = vec![0; width].into();
        let places = if width == 0 { vec![NOWHERE] } else { Vec::new() };
        let known = Known::ByNumbers { may_be, places };
        let hasher = DefaultHashBuilder::default();
        Self { width, count: 0, numbers: Vec::new(), known, hasher }
    }

    /// How many groups there are.
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// Whether each group has one number, which is its place.
    pub(crate) fn are_numbers(&self) -> bool {
        self.width == 1 && self.numbers.is_empty()
    }

    /// Adds groups at the next places until there are so many, where places are numbers.
    pub(crate) fn extend_to(&mut self, count: usize) {
        debug_assert!(self.are_numbers(), "the numbers of groups are not known");
        self.count = count;
    }

    /// Where the group of these numbers is, if there is one.
    pub(crate) fn find(&self, numbers: &[u32]) -> Option<u32> {
        if self.are_numbers() {
            return numbers.first().copied().filter(|&place| (place as usize) < self.count);
        }
        match &self.known {
            Known::ByNumbers { may_be, places } => {
                let place = index(numbers, may_be).and_then(|index| places.get(index).copied());
                place.filter(|&place| place != NOWHERE)
            }
            Known::ByHash(table) => {
                let is_it = |&place: &u32| self.kept(place) == Some(numbers);
                table.find(self.hasher.hash_one(numbers), is_it).copied()
            }
        }
    }

    /// Adds a group of these numbers, which there is not yet; returns its place, or `None` when
    /// there can be no more.
    pub(crate) fn push(&mut self, numbers: &[u32]) -> Option<u32> {
        let place = u32::try_from(self.count).ok().filter(|&place| place != NOWHERE)?;
        if self.are_numbers() {
            if numbers == [place] {
                self.count += 1;
                return Some(place);
            }
            self.numbers.extend(0..place);
            self.find_anew();
        }
        self.count += 1;
        self.numbers.extend_from_slice(numbers);
        self.note(place);
        Some(place)
    }

    /// The numbers of a group.
    pub(crate) fn numbers_of(&self, place: usize) -> impl Iterator<Item = u32> {
        let known = self.numbers.get(place * self.width..(place + 1) * self.width);
        let own = u32::try_from(place).ok().filter(|_| known.is_none());
        known.unwrap_or_default().iter().copied().chain(own)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let known = match &self.known {
            Known::ByNumbers { places, .. } => places.capacity() * size_of::<u32>(),
            Known::ByHash(table) => table.allocation_size(),
        };
        self.numbers.capacity() * size_of::<u32>() + known
    }

    fn kept(&self, place: u32) -> Option<&[u32]> {
        let start = place as usize * self.width;
        self.numbers.get(start..start + self.width)
    }

    /// Lets a group be found whose numbers are kept.
    fn note(&mut self, place: u32) {
        let start = place as usize * self.width;
        let own = &self.numbers[start..start + self.width];
        match &mut self.known {
            Known::ByNumbers { may_be, places } => {
                if let Some(index) = index(own, may_be) {
                    places[index] = place;
                    return;
                }
                // A number beyond the array: another one of at least twice the size.
                for (may_be, number) in may_be.iter_mut().zip(own) {
                    *may_be = (*may_be).max((*number as usize + 1).next_power_of_two());
                }
                self.find_anew();
            }
            Known::ByHash(table) => {
                let (numbers, width, hasher) = (&self.numbers, self.width, &self.hasher);
                let hash_at = |&place: &u32| {
                    let start = place as usize * width;
                    hasher.hash_one(&numbers[start..start + width])
                };
                table.insert_unique(hash_at(&place), place, hash_at);
            }
        }
    }

    /// Makes what finds all groups anew.
    fn find_anew(&mut self) {
        let Known::ByNumbers { may_be, .. } = &mut self.known else { return };
        for (key, may_be) in may_be.iter_mut().enumerate() {
            let own = self.numbers.iter().skip(key).step_by(self.width);
            let most = own.max().map_or(0, |&most| most as usize + 1);
            *may_be = (*may_be).max(most.next_power_of_two());
        }
        let all = may_be.iter().try_fold(1usize, |all, &may_be| all.checked_mul(may_be));
        let may_be = std::mem::take(may_be);
        self.known = match all.filter(|&all| self.width == 1 || all <= COMBINATIONS_MAX) {
            Some(all) => Known::ByNumbers { may_be, places: vec![NOWHERE; all] },
            None => Known::ByHash(HashTable::new()),
        };
        let count = self.numbers.len() / self.width.max(1);
        (0..).take(count).for_each(|place| self.note(place));
    }
}

/// Where the array of places has these numbers; `None` beyond it.
fn index(numbers: &[u32], may_be: &[usize]) -> Option<usize> {
    let mut index = 0;
    for (&number, &may_be) in numbers.iter().zip(may_be) {
        if number as usize >= may_be {
            return None;
        }
        index = index * may_be + number as usize;
    }
    Some(index)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn groups_are_where_they_were_put(
            width in 0usize..4, numbers_max in prop_oneof![Just(3u32), Just(40), Just(5_000)],
            asked in prop::collection::vec(any::<[u32; 3]>(), 1..300), in_order in any::<bool>(),
        ) {
            let mut places = Places::new(width);
            let mut plain: HashMap<Vec<u32>, u32> = HashMap::new();
            for (at, asked) in (0u32..).zip(asked) {
                let number = |number: u32| if in_order { at } else { number % numbers_max };
                let numbers: Vec<u32> = asked.iter().take(width).map(|&own| number(own)).collect();
                let expected = plain.get(&numbers).copied();
                prop_assert_eq!(places.find(&numbers), expected);
                if expected.is_none() {
                    let place = places.push(&numbers).expect("room");
                    prop_assert_eq!(place as usize, plain.len());
                    plain.insert(numbers, place);
                }
            }
            prop_assert_eq!(places.len(), plain.len());
            for (numbers, &place) in &plain {
                prop_assert_eq!(places.find(numbers), Some(place));
                prop_assert_eq!(&places.numbers_of(place as usize).collect::<Vec<_>>(), numbers);
            }
            prop_assert_eq!(places.are_numbers(), width == 1 && (in_order || plain.iter().all(|own| own.0[0] == *own.1)));
        }
    }
}
