//! Group indexes, by the numbers of their keys.
//!
//! Numbers are small, because each key has its own dictionary (see `groups/key_dictionary.rs`).
//! While there are few combinations of numbers, a plain array maps them to group indexes; otherwise
//! a hash table does. If groups have one key, they mostly come in the order of its numbers. Then
//! the number is the index, and no mapping is stored.

use hashbrown::DefaultHashBuilder;

use crate::groups::hash_table::{BATCH, Slot, TagTable, hasher, tag_by};
use crate::groups::int_table::reserve_spare;

/// No index.
pub(crate) const NO_GROUP: u32 = u32::MAX;
/// The maximum size of the array for several keys, in combinations of their numbers.
const COMBINATIONS_MAX: usize = 1 << 20;
/// Up to this many keys, the numbers of a group are in arrays of exactly that width; beyond, in
/// wider ones.
const EXACT_MAX: usize = 4;

/// Group indexes, from 0.
#[derive(Clone, Debug)]
pub(crate) struct GroupTable {
    /// The number of keys.
    width: usize,
    count: usize,
    /// The numbers of each group, group after group; empty if the numbers are the indexes.
    numbers: Vec<u32>,
    map: GroupMap,
    hasher: DefaultHashBuilder,
}

/// The map from numbers to indexes.
#[derive(Clone, Debug)]
enum GroupMap {
    /// At (number × size of the next key) + next number, and so on.
    ByNumbers {
        sizes: Box<[usize]>,
        group_indexes: Vec<u32>,
    },
    ByHash(TagTable),
}

impl GroupTable {
    /// An empty table for groups with this many keys.
    pub(crate) fn new(width: usize) -> Self {
        let sizes = vec![0; width].into();
        let group_indexes = if width == 0 { vec![NO_GROUP] } else { Vec::new() };
        let map = GroupMap::ByNumbers { sizes, group_indexes };
        Self { width, count: 0, numbers: Vec::new(), map, hasher: hasher() }
    }

    /// The number of groups.
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// Whether each group has one number, which is its index.
    pub(crate) fn are_numbers(&self) -> bool {
        self.width == 1 && self.numbers.is_empty()
    }

    /// Adds groups at the next indexes until there are `count`, if indexes are numbers.
    pub(crate) fn extend_to(&mut self, count: usize) {
        debug_assert!(self.are_numbers(), "the numbers of groups are not known");
        self.count = count;
    }

    /// The index of the group with these numbers, if there is one.
    pub(crate) fn find(&self, numbers: &[u32]) -> Option<u32> {
        if self.are_numbers() {
            return numbers
                .first()
                .copied()
                .filter(|&group_index| (group_index as usize) < self.count);
        }
        match &self.map {
            GroupMap::ByNumbers { sizes, group_indexes } => {
                let group_index =
                    index(numbers, sizes).and_then(|index| group_indexes.get(index).copied());
                group_index.filter(|&group_index| group_index != NO_GROUP)
            }
            GroupMap::ByHash(table) => {
                table.find(self.tag(numbers), |group_index| self.kept(group_index) == Some(numbers))
            }
        }
    }

    /// Whether groups are found by hash, because they are many.
    pub(crate) const fn are_hashed(&self) -> bool {
        matches!(self.map, GroupMap::ByHash(_))
    }

    /// The first bits of the hash of a group's numbers. If groups [are hashed](Self::are_hashed),
    /// look-ups in their order are fast.
    #[inline]
    pub(crate) fn tag(&self, numbers: &[u32]) -> u32 {
        tag_by(&self.hasher, numbers)
    }

    /// The numbers of a group without the padding after them. Arrays are padded because slices with
    /// a width known only at run time are slower.
    #[inline]
    pub(crate) fn unpadded<'n, const N: usize>(&self, numbers: &'n [u32; N]) -> &'n [u32] {
        unpadded(numbers, self.width)
    }

    /// The indexes of the groups with [these numbers](Self::unpadded), if groups [are
    /// hashed](Self::are_hashed); faster than one by one. Creates groups that are new.
    pub(crate) fn of_all<const N: usize>(&mut self, all: &[[u32; N]]) -> Vec<u32> {
        assert!(self.width == N || N > EXACT_MAX && self.width < N, "numbers of a group");
        let width = self.width;
        let Self { count, numbers: kept, map: GroupMap::ByHash(table), hasher, .. } = self else {
            return vec![NO_GROUP; all.len()];
        };
        let mut group_indexes = Vec::with_capacity(all.len());
        let mut tags = [0; BATCH];
        let mut read = [Slot::FREE; BATCH];
        for batch in all.chunks(BATCH) {
            table.reserve_ahead(batch.len(), 0);
            let tags = &mut tags[..batch.len()];
            for (tag, numbers) in tags.iter_mut().zip(batch) {
                *tag = tag_by(hasher, unpadded(numbers, width));
            }
            table.read(tags, &mut read);
            for ((slot, &tag), numbers) in read.iter().zip(&*tags).zip(batch) {
                let matches = |kept: &[u32], group_index: u32| {
                    if N <= EXACT_MAX {
                        return kept.as_chunks::<N>().0.get(group_index as usize) == Some(numbers);
                    }
                    kept.get(group_index as usize * width..)
                        .is_some_and(|kept| kept.get(..width) == numbers.get(..width))
                };
                // As in `groups/int_table.rs`: a hit is final, a miss is probed again.
                let near = slot.number_of(tag).filter(|&group_index| matches(kept, group_index));
                group_indexes.push(near.unwrap_or_else(|| {
                    let matches = |kept: &Vec<u32>, group_index| matches(kept, group_index);
                    table.find_or_push(tag, kept, matches, |kept| {
                        kept.extend_from_slice(unpadded(numbers, width));
                        *count += 1;
                        short(*count - 1)
                    })
                }));
            }
        }
        group_indexes
    }

    /// Reserves space for `more` groups. If the table must grow, it grows by `others` in addition.
    pub(crate) fn reserve(&mut self, more: usize, others: usize) {
        if let GroupMap::ByHash(table) = &mut self.map {
            table.reserve_ahead(more, others);
            reserve_spare(&mut self.numbers, more * self.width);
        }
    }

    /// Adds a group with these numbers, which must be new. Returns its index, or `None` if there
    /// can be no more groups.
    pub(crate) fn push(&mut self, numbers: &[u32]) -> Option<u32> {
        let group_index =
            u32::try_from(self.count).ok().filter(|&group_index| group_index != NO_GROUP)?;
        if self.are_numbers() {
            if numbers == [group_index] {
                self.count += 1;
                return Some(group_index);
            }
            self.numbers.extend(0..group_index);
            self.rebuild_map();
        }
        self.count += 1;
        self.numbers.extend_from_slice(numbers);
        self.note(group_index);
        Some(group_index)
    }

    /// The numbers of a group.
    pub(crate) fn numbers_of(&self, group_index: usize) -> impl Iterator<Item = u32> {
        let kept = self.numbers.get(group_index * self.width..(group_index + 1) * self.width);
        let index = u32::try_from(group_index).ok().filter(|_| kept.is_none());
        kept.unwrap_or_default().iter().copied().chain(index)
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        let map_bytes = match &self.map {
            GroupMap::ByNumbers { group_indexes, .. } => {
                group_indexes.capacity() * size_of::<u32>()
            }
            GroupMap::ByHash(table) => table.bytes(),
        };
        // Memory that was never written does not count.
        self.numbers.len() * size_of::<u32>() + map_bytes
    }

    fn kept(&self, group_index: u32) -> Option<&[u32]> {
        let start = group_index as usize * self.width;
        self.numbers.get(start..start + self.width)
    }

    /// Adds a group to the map; its numbers must be stored already.
    fn note(&mut self, group_index: u32) {
        let start = group_index as usize * self.width;
        let numbers = &self.numbers[start..start + self.width];
        match &mut self.map {
            GroupMap::ByNumbers { sizes, group_indexes } => {
                if let Some(index) = index(numbers, sizes) {
                    group_indexes[index] = group_index;
                    return;
                }
                // The number is beyond the array: at least doubles it.
                for (size, number) in sizes.iter_mut().zip(numbers) {
                    *size = (*size).max((*number as usize + 1).next_power_of_two());
                }
                self.rebuild_map();
            }
            GroupMap::ByHash(table) => {
                table.reserve_ahead(1, 0);
                table.insert(tag_by(&self.hasher, numbers), group_index);
            }
        }
    }

    /// Rebuilds the map of all groups.
    fn rebuild_map(&mut self) {
        let GroupMap::ByNumbers { sizes, .. } = &mut self.map else { return };
        for (key, size) in sizes.iter_mut().enumerate() {
            let numbers = self.numbers.iter().skip(key).step_by(self.width);
            let most = numbers.max().map_or(0, |&most| most as usize + 1);
            *size = (*size).max(most.next_power_of_two());
        }
        let all = sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
        let sizes = std::mem::take(sizes);
        self.map = match all.filter(|&all| self.width == 1 || all <= COMBINATIONS_MAX) {
            Some(all) => GroupMap::ByNumbers { sizes, group_indexes: vec![NO_GROUP; all] },
            None => GroupMap::ByHash(TagTable::default()),
        };
        let count = self.numbers.len() / self.width.max(1);
        self.reserve(count, 0);
        (0..).take(count).for_each(|group_index| self.note(group_index));
    }
}

/// The numbers of a group with `width` keys.
#[inline]
fn unpadded<const N: usize>(numbers: &[u32; N], width: usize) -> &[u32] {
    if N <= EXACT_MAX { numbers } else { &numbers[..width.min(N)] }
}

#[expect(clippy::cast_possible_truncation, reason = "more groups would not fit the budget")]
const fn short(group_index: usize) -> u32 {
    group_index as u32
}

/// The position of these numbers in the array of indexes; `None` beyond it.
fn index(numbers: &[u32], sizes: &[usize]) -> Option<usize> {
    let mut index = 0;
    for (&number, &size) in numbers.iter().zip(sizes) {
        if number as usize >= size {
            return None;
        }
        index = index * size + number as usize;
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
            let mut group_indexes = GroupTable::new(width);
            let mut plain: HashMap<Vec<u32>, u32> = HashMap::new();
            for (at, asked) in (0u32..).zip(asked) {
                let number = |number: u32| if in_order { at } else { number % numbers_max };
                let numbers: Vec<u32> =
                    asked.iter().take(width).map(|&value| number(value)).collect();
                let expected = plain.get(&numbers).copied();
                prop_assert_eq!(group_indexes.find(&numbers), expected);
                if expected.is_none() {
                    let group_index = group_indexes.push(&numbers).expect("room");
                    prop_assert_eq!(group_index as usize, plain.len());
                    plain.insert(numbers, group_index);
                }
            }
            prop_assert_eq!(group_indexes.len(), plain.len());
            for (numbers, &group_index) in &plain {
                prop_assert_eq!(group_indexes.find(numbers), Some(group_index));
                prop_assert_eq!(&group_indexes.numbers_of(group_index as usize).collect::<Vec<_>>(), numbers);
            }
            let are_equal = || plain.iter().all(|entry| entry.0[0] == *entry.1);
            prop_assert_eq!(group_indexes.are_numbers(), width == 1 && (in_order || are_equal()));
        }
    }
}
