//! Where groups are, by the numbers of their keys.
//!
//! Numbers are small, since each key counts its own values (see `groups/key_dictionary.rs`). While all
//! combinations of them are few, a plain array tells a group's place; only when they are many it
//! takes a hash table. Groups of one key mostly are in the order of its numbers: then the number is
//! the place, and nothing is kept at all.

use hashbrown::DefaultHashBuilder;

use crate::groups::hash_table::{BATCH, Slot, Slots, hasher, tag_by};
use crate::groups::int_table::reserve_spare;

/// No place.
pub(crate) const NOWHERE: u32 = u32::MAX;
/// Combinations of the numbers of several keys that an array is made for.
const COMBINATIONS_MAX: usize = 1 << 20;
/// Groups of so many keys have their numbers in arrays of their own width; those of more, in wider
/// ones.
const EXACT_MAX: usize = 4;

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
    ByHash(Slots),
}

impl Places {
    /// Of no groups, which have so many numbers each.
    pub(crate) fn new(width: usize) -> Self {
        let may_be = vec![0; width].into();
        let places = if width == 0 { vec![NOWHERE] } else { Vec::new() };
        let known = Known::ByNumbers { may_be, places };
        Self { width, count: 0, numbers: Vec::new(), known, hasher: hasher() }
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
            Known::ByHash(slots) => {
                slots.find(self.tag(numbers), |place| self.kept(place) == Some(numbers))
            }
        }
    }

    /// Whether groups are so many that they are found by hash.
    pub(crate) const fn are_hashed(&self) -> bool {
        matches!(self.known, Known::ByHash(_))
    }

    /// The first bits of the hash of a group's numbers: where groups [are hashed](Self::are_hashed),
    /// asking in their order is quick.
    #[inline]
    pub(crate) fn tag(&self, numbers: &[u32]) -> u32 {
        tag_by(&self.hasher, numbers)
    }

    /// Those of these numbers that are a group's: the others stand after them because what is of
    /// any width at run time is slower.
    #[inline]
    pub(crate) fn own<'n, const N: usize>(&self, numbers: &'n [u32; N]) -> &'n [u32] {
        own(numbers, self.width)
    }

    /// Where the groups of [these numbers](Self::own) are, where groups
    /// [are hashed](Self::are_hashed): sooner found together than one by one. New ones are made of
    /// those that there are not yet.
    pub(crate) fn of_all<const N: usize>(&mut self, all: &[[u32; N]]) -> Vec<u32> {
        assert!(self.width == N || N > EXACT_MAX && self.width < N, "numbers of a group");
        let width = self.width;
        let Self { count, numbers: kept, known: Known::ByHash(slots), hasher, .. } = self else {
            return vec![NOWHERE; all.len()];
        };
        let mut places = Vec::with_capacity(all.len());
        let mut tags = [0; BATCH];
        let mut read = [Slot::FREE; BATCH];
        for batch in all.chunks(BATCH) {
            slots.reserve_ahead(batch.len(), 0);
            let tags = &mut tags[..batch.len()];
            for (tag, numbers) in tags.iter_mut().zip(batch) {
                *tag = tag_by(hasher, own(numbers, width));
            }
            slots.read(tags, &mut read);
            for ((slot, &tag), numbers) in read.iter().zip(&*tags).zip(batch) {
                let is_it = |kept: &[u32], place: u32| {
                    if N <= EXACT_MAX {
                        return kept.as_chunks::<N>().0.get(place as usize) == Some(numbers);
                    }
                    kept.get(place as usize * width..)
                        .is_some_and(|kept| kept.get(..width) == numbers.get(..width))
                };
                // As in `groups/int_table.rs`: only what was found is sure.
                let near = slot.number_of(tag).filter(|&place| is_it(kept, place));
                places.push(near.unwrap_or_else(|| {
                    let is_it = |kept: &Vec<u32>, place| is_it(kept, place);
                    slots.find_or_push(tag, kept, is_it, |kept| {
                        kept.extend_from_slice(own(numbers, width));
                        *count += 1;
                        short(*count - 1)
                    })
                }));
            }
        }
        places
    }

    /// Makes room for so many more groups, and where there is none for some others, too.
    pub(crate) fn reserve(&mut self, more: usize, others: usize) {
        if let Known::ByHash(slots) = &mut self.known {
            slots.reserve_ahead(more, others);
            reserve_spare(&mut self.numbers, more * self.width);
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
            Known::ByHash(slots) => slots.bytes(),
        };
        // What was never written to does not count.
        self.numbers.len() * size_of::<u32>() + known
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
            Known::ByHash(slots) => {
                slots.reserve_ahead(1, 0);
                slots.insert(tag_by(&self.hasher, own), place);
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
            None => Known::ByHash(Slots::default()),
        };
        let count = self.numbers.len() / self.width.max(1);
        self.reserve(count, 0);
        (0..).take(count).for_each(|place| self.note(place));
    }
}

/// The numbers of a group of so many keys.
#[inline]
fn own<const N: usize>(numbers: &[u32; N], width: usize) -> &[u32] {
    if N <= EXACT_MAX { numbers } else { &numbers[..width.min(N)] }
}

#[expect(clippy::cast_possible_truncation, reason = "more groups would not fit the budget")]
const fn short(place: usize) -> u32 {
    place as u32
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
