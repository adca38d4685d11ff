//! Rows whose groups are looked up later, many at a time; see `groups/radix_partition.rs`. The key
//! of a row is an integer, a string, the form of a string, or the numbers of several keys.

use hadal_encoding::CanonicalStrings;
use hadal_types::Value;
use hadal_types::limits::GROUP_KEYS_MAX;

use super::Groups;
use super::lookup::side_by_side;
use crate::groups::accumulators::layout::{AccumulatorInput, AccumulatorLayout};
use crate::groups::group_table::NO_GROUP;
use crate::groups::int_table::TableInt;
use crate::groups::key_dictionary::{IntKey, LIFTED_LATER_MAX};
use crate::groups::radix_partition::{PARTS, RadixPartitions, WIDTH_MAX};
use crate::groups::string_partition::StringPartitions;

/// Fewer groups than this stay in a cache, whatever the order of look-ups.
pub(super) const GROUPS_MIN: usize = 1 << 16;
const _: () =
    assert!(LIFTED_LATER_MAX <= GROUPS_MIN, "no strings are lifted while rows are deferred");

/// If groups are new, this many times as many more are expected.
const AHEAD: usize = 2;

/// The keys of groups that are looked up later.
#[derive(Clone, Copy, Debug)]
pub enum DeferredKeys<'k> {
    /// Integers.
    Ints(&'k [i64]),
    /// Template strings, if the key [takes](Groups::takes_lifted) them.
    Templates(&'k CanonicalStrings<'k>),
    /// Plain strings, if the key does not store template strings.
    Strings(&'k [&'k str]),
    /// By key: numbers assigned by its dictionary ([`Groups::key_mut`]). Groups may repeat.
    Numbers(&'k [Vec<u32>]),
}

impl DeferredKeys<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Ints(ints) => ints.len(),
            Self::Templates(texts) => texts.len(),
            Self::Strings(texts) => texts.len(),
            Self::Numbers(keys) => keys.iter().map(Vec::len).min().unwrap_or(0),
        }
    }
}

/// The deferred rows.
#[derive(Clone, Debug)]
pub(super) struct DeferredRows {
    by: DeferredBy,
    /// A buffer in which the rows of a block are summed up before they are deferred.
    added_up: Vec<i64>,
}

#[derive(Clone, Debug)]
enum DeferredBy {
    Ints(RadixPartitions<i64>),
    /// Only valid with the dictionary that made the forms.
    Forms(RadixPartitions<u128>),
    Strings(StringPartitions),
    /// Only valid with the dictionaries that assigned the numbers, as the next ones.
    Two(RadixPartitions<[u32; 2]>),
    Three(RadixPartitions<[u32; 3]>),
    Four(RadixPartitions<[u32; 4]>),
    /// For five to eight keys.
    Eight(RadixPartitions<[u32; 8]>),
    /// For more keys.
    Most(RadixPartitions<[u32; GROUP_KEYS_MAX]>),
}

impl DeferredBy {
    /// Empty partitions for groups with these keys, with `width` numbers per row.
    fn new(keys: DeferredKeys<'_>, width: usize) -> Self {
        match keys {
            DeferredKeys::Ints(_) => Self::Ints(RadixPartitions::new(width)),
            DeferredKeys::Templates(_) => Self::Forms(RadixPartitions::new(width)),
            DeferredKeys::Strings(_) => Self::Strings(StringPartitions::new(width)),
            DeferredKeys::Numbers([_, _]) => Self::Two(RadixPartitions::new(width)),
            DeferredKeys::Numbers([_, _, _]) => Self::Three(RadixPartitions::new(width)),
            DeferredKeys::Numbers([_, _, _, _]) => Self::Four(RadixPartitions::new(width)),
            DeferredKeys::Numbers(keys) if keys.len() <= 8 => {
                Self::Eight(RadixPartitions::new(width))
            }
            DeferredKeys::Numbers(_) => Self::Most(RadixPartitions::new(width)),
        }
    }

    /// Whether rows with these keys and this many numbers can be added.
    fn fits(&self, keys: DeferredKeys<'_>, width: usize) -> bool {
        match (self, keys) {
            (Self::Ints(partitions), DeferredKeys::Ints(_)) => partitions.width() == width,
            (Self::Forms(partitions), DeferredKeys::Templates(_)) => partitions.width() == width,
            (Self::Strings(partitions), DeferredKeys::Strings(_)) => partitions.width() == width,
            (Self::Two(partitions), DeferredKeys::Numbers([_, _])) => partitions.width() == width,
            (Self::Three(partitions), DeferredKeys::Numbers([_, _, _])) => {
                partitions.width() == width
            }
            (Self::Four(partitions), DeferredKeys::Numbers([_, _, _, _])) => {
                partitions.width() == width
            }
            // The number of keys of a query does not change.
            (Self::Eight(partitions), DeferredKeys::Numbers(_)) => partitions.width() == width,
            (Self::Most(partitions), DeferredKeys::Numbers(_)) => partitions.width() == width,
            _ => false,
        }
    }
}

/// The key of a group while its rows are deferred.
pub(super) trait DeferredKey: TableInt {
    /// The first bits of the hash: look-ups in their order are fast.
    fn tag(self, groups: &Groups) -> u32;

    /// The indexes of the groups with these keys; creates groups that are new.
    fn group_indexes(all: &[Self], groups: &mut Groups) -> Vec<u32>;

    /// The number of different keys without a group.
    fn count_new(some: &[Self], groups: &mut Groups) -> usize;

    /// Reserves space for `new` groups. If a table must grow, it grows by `others` in addition.
    fn reserve(groups: &mut Groups, new: usize, others: usize);
}

impl<W: IntKey> DeferredKey for W {
    #[inline]
    fn tag(self, groups: &Groups) -> u32 {
        groups.keys[0].tag_of(self)
    }

    fn group_indexes(all: &[Self], groups: &mut Groups) -> Vec<u32> {
        groups.groups_by_number(|key, numbers| key.numbers_of_all(all, numbers))
    }

    fn count_new(some: &[Self], groups: &mut Groups) -> usize {
        groups.keys[0].count_new(some)
    }

    fn reserve(groups: &mut Groups, new: usize, others: usize) {
        groups.keys[0].reserve::<W>(new, others);
    }
}

impl<const N: usize> DeferredKey for [u32; N] {
    #[inline]
    fn tag(self, groups: &Groups) -> u32 {
        groups.group_indexes.tag(groups.group_indexes.unpadded(&self))
    }

    fn group_indexes(all: &[Self], groups: &mut Groups) -> Vec<u32> {
        groups.groups_of_numbers(all)
    }

    fn count_new(some: &[Self], groups: &mut Groups) -> usize {
        let group_indexes = &groups.group_indexes;
        let is_new = |numbers: &Self| group_indexes.find(group_indexes.unpadded(numbers)).is_none();
        let mut new: Vec<Self> = some.iter().copied().filter(is_new).collect();
        new.sort_unstable();
        new.dedup();
        new.len()
    }

    fn reserve(groups: &mut Groups, new: usize, others: usize) {
        groups.group_indexes.reserve(new, others);
    }
}

impl DeferredRows {
    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let bytes = match &self.by {
            DeferredBy::Ints(partitions) => partitions.bytes(),
            DeferredBy::Forms(partitions) => partitions.bytes(),
            DeferredBy::Strings(partitions) => partitions.bytes(),
            DeferredBy::Two(partitions) => partitions.bytes(),
            DeferredBy::Three(partitions) => partitions.bytes(),
            DeferredBy::Four(partitions) => partitions.bytes(),
            DeferredBy::Eight(partitions) => partitions.bytes(),
            DeferredBy::Most(partitions) => partitions.bytes(),
        };
        bytes + self.added_up.capacity() * size_of::<i64>()
    }
}

impl Groups {
    /// Whether it pays off to look groups up later: they are many, found by hash, and none was
    /// dropped.
    #[must_use]
    pub fn can_defer(&self) -> bool {
        let is_hashed = self.keys.len() == 1 || self.group_indexes.are_hashed();
        is_hashed && self.len() >= GROUPS_MIN && self.key_max.is_none()
    }

    /// Defers rows: `add` adds them to the accumulators of one group per key, followed by one group
    /// for rows without a value. The layout is as for [`Self::add_accumulators`].
    ///
    /// Returns whether the rows were added. They are not if groups [cannot be
    /// deferred](Self::can_defer), or if the rows do not fit into accumulators.
    pub fn defer(
        &mut self,
        keys: DeferredKeys<'_>,
        incoming: &AccumulatorInput<'_>,
        add: impl FnOnce(&AccumulatorLayout, &mut [i64]),
    ) -> bool {
        if !self.can_defer() {
            return false;
        }
        let Some(layout) = self.prepare(incoming) else { return false };
        // Makes the accumulators non-empty: measures that are new later get counts of their own.
        let _ = self.accumulators.numbers_mut(self.group_indexes.len());
        let width = layout.class_count * layout.columns.len();
        if width > WIDTH_MAX {
            return false;
        }
        // Rows deferred by other keys may make the dictionary give up forms, so they are added
        // first.
        if !self.deferred.as_ref().is_some_and(|deferred| deferred.by.fits(keys, width)) {
            self.flush_deferred();
        }
        let is_kept_so = match keys {
            DeferredKeys::Templates(_) => self.takes_lifted(),
            DeferredKeys::Strings(_) => !self.keys[0].is_lifted(),
            DeferredKeys::Ints(_) | DeferredKeys::Numbers(_) => true,
        };
        if !is_kept_so {
            return false;
        }
        let new =
            || Box::new(DeferredRows { by: DeferredBy::new(keys, width), added_up: Vec::new() });
        let mut deferred = self.deferred.take().unwrap_or_else(new);
        let mut numbers = std::mem::take(&mut deferred.added_up);
        numbers.clear();
        numbers.resize((keys.len() + 1) * width, 0);
        add(&layout, &mut numbers);
        self.add_null(numbers.split_off(keys.len() * width));
        self.defer_rows(keys, &mut deferred.by, &numbers, width);
        deferred.added_up = numbers;
        self.deferred = Some(deferred);
        true
    }

    /// Adds rows to the partitions: each has a key, and `width` numbers.
    fn defer_rows(
        &mut self,
        keys: DeferredKeys<'_>,
        by: &mut DeferredBy,
        numbers: &[i64],
        width: usize,
    ) {
        match (keys, by) {
            (DeferredKeys::Ints(ints), DeferredBy::Ints(partitions)) => {
                self.defer_all(partitions, ints, numbers)
            }
            (DeferredKeys::Templates(texts), DeferredBy::Forms(partitions)) => {
                let with_rows = numbers.chunks_exact(width).enumerate();
                let with_rows = with_rows.map(|(index, numbers)| {
                    Some(index).filter(|_| self.accumulators.rows_in(numbers) > 0)
                });
                let forms = self.keys[0].forms_of(texts, with_rows).unwrap_or_default();
                debug_assert_eq!(forms.len(), texts.len(), "the key takes forms");
                self.defer_all(partitions, &forms, numbers);
            }
            (DeferredKeys::Strings(texts), DeferredBy::Strings(partitions)) => {
                self.defer_strings(partitions, texts, numbers)
            }
            (DeferredKeys::Numbers(keys), DeferredBy::Two(partitions)) => {
                self.defer_all(partitions, &side_by_side(keys), numbers);
            }
            (DeferredKeys::Numbers(keys), DeferredBy::Three(partitions)) => {
                self.defer_all(partitions, &side_by_side(keys), numbers);
            }
            (DeferredKeys::Numbers(keys), DeferredBy::Four(partitions)) => {
                self.defer_all(partitions, &side_by_side(keys), numbers);
            }
            (DeferredKeys::Numbers(keys), DeferredBy::Eight(partitions)) => {
                self.defer_all(partitions, &side_by_side(keys), numbers);
            }
            (DeferredKeys::Numbers(keys), DeferredBy::Most(partitions)) => {
                self.defer_all(partitions, &side_by_side(keys), numbers);
            }
            _ => debug_assert!(false, "what waits fits the keys"),
        }
    }

    /// Adds these numbers to the group of rows without a value.
    fn add_null(&mut self, numbers: Vec<i64>) {
        if self.accumulators.rows_in(&numbers) > 0 {
            let null = self.keys[0].number_of(&Value::Null);
            let group_index = self.find_or_insert(&[null]).unwrap_or(NO_GROUP);
            self.add_numbers(&[group_index], &numbers);
        }
    }

    fn defer_all<W: DeferredKey>(
        &mut self,
        partitions: &mut RadixPartitions<W>,
        ints: &[W],
        numbers: &[i64],
    ) {
        match partitions.width() {
            1 => self.defer_chunk::<W, 1>(partitions, ints, numbers),
            2 => self.defer_chunk::<W, 2>(partitions, ints, numbers),
            3 => self.defer_chunk::<W, 3>(partitions, ints, numbers),
            4 => self.defer_chunk::<W, 4>(partitions, ints, numbers),
            5 => self.defer_chunk::<W, 5>(partitions, ints, numbers),
            6 => self.defer_chunk::<W, 6>(partitions, ints, numbers),
            7 => self.defer_chunk::<W, 7>(partitions, ints, numbers),
            _ => self.defer_chunk::<W, WIDTH_MAX>(partitions, ints, numbers),
        }
    }

    /// Defers these keys with their numbers, N each.
    fn defer_chunk<W: DeferredKey, const N: usize>(
        &mut self,
        partitions: &mut RadixPartitions<W>,
        ints: &[W],
        numbers: &[i64],
    ) {
        let (numbers, _) = numbers.as_chunks::<N>();
        for (&int, numbers) in ints.iter().zip(numbers) {
            // Values of the block that no row has.
            if self.accumulators.rows_in(numbers) == 0 {
                continue;
            }
            let tag = int.tag(self);
            if !partitions.push(tag, int, numbers) {
                self.merge_partitions(partitions);
                partitions.clear();
                let is_in = partitions.push(tag, int, numbers);
                debug_assert!(is_in, "an empty part has room");
            }
        }
    }

    /// Prepares accumulators, as [`crate::groups::accumulators::Accumulators::prepare`]. Deferred
    /// rows have the current layout, so they are added before it changes.
    pub(super) fn prepare(&mut self, incoming: &AccumulatorInput<'_>) -> Option<AccumulatorLayout> {
        if self.deferred.is_some() && !self.accumulators.is_ready_for(incoming) {
            self.flush_deferred();
        }
        self.accumulators.prepare(incoming).or_else(|| {
            self.spill();
            self.accumulators.prepare(incoming)
        })
    }

    /// Adds all deferred rows to their groups.
    pub(crate) fn flush_deferred(&mut self) {
        if let Some(deferred) = self.deferred.take() {
            match &deferred.by {
                DeferredBy::Ints(partitions) => self.merge_partitions(partitions),
                DeferredBy::Forms(partitions) => self.merge_partitions(partitions),
                DeferredBy::Strings(partitions) => self.merge_string_partitions(partitions),
                DeferredBy::Two(partitions) => self.merge_partitions(partitions),
                DeferredBy::Three(partitions) => self.merge_partitions(partitions),
                DeferredBy::Four(partitions) => self.merge_partitions(partitions),
                DeferredBy::Eight(partitions) => self.merge_partitions(partitions),
                DeferredBy::Most(partitions) => self.merge_partitions(partitions),
            }
        }
    }

    /// Adds the rows deferred by form, so that the dictionary may change its forms or give them up.
    pub(super) fn flush_deferred_templates(&mut self) {
        if self
            .deferred
            .as_ref()
            .is_some_and(|deferred| matches!(deferred.by, DeferredBy::Forms(_)))
        {
            self.flush_deferred();
        }
    }

    fn merge_partitions<W: DeferredKey>(&mut self, deferred: &RadixPartitions<W>) {
        if deferred.is_empty() {
            return;
        }
        // Extrapolated from the first partition.
        let new = W::count_new(deferred.ints(0), self) * (PARTS + PARTS / 16);
        self.expect::<W>(new, AHEAD * new);
        for part in 0..PARTS {
            let group_indexes = W::group_indexes(deferred.ints(part), self);
            self.add_numbers(&group_indexes, deferred.numbers(part));
        }
    }

    /// Reserves space for `new` groups. If a table must grow, it grows by `others` in addition.
    pub(super) fn expect<W: DeferredKey>(&mut self, new: usize, others: usize) {
        W::reserve(self, new, others);
        self.accumulators.reserve(new);
    }

    /// Adds to the accumulators of the groups at these indexes; rows of dropped groups are counted.
    fn add_numbers(&mut self, group_indexes: &[u32], numbers: &[i64]) {
        match numbers.len() / group_indexes.len().max(1) {
            1 => self.add_entries::<1>(group_indexes, numbers),
            2 => self.add_entries::<2>(group_indexes, numbers),
            3 => self.add_entries::<3>(group_indexes, numbers),
            4 => self.add_entries::<4>(group_indexes, numbers),
            5 => self.add_entries::<5>(group_indexes, numbers),
            6 => self.add_entries::<6>(group_indexes, numbers),
            7 => self.add_entries::<7>(group_indexes, numbers),
            _ => self.add_entries::<WIDTH_MAX>(group_indexes, numbers),
        }
    }

    fn add_entries<const N: usize>(&mut self, group_indexes: &[u32], numbers: &[i64]) {
        let mut dropped: Vec<&[i64; N]> = Vec::new();
        let (all, _) = self.accumulators.numbers_mut(self.group_indexes.len()).as_chunks_mut::<N>();
        for (&group_index, numbers) in group_indexes.iter().zip(numbers.as_chunks::<N>().0) {
            match all.get_mut(group_index as usize) {
                Some(sums) => sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number),
                None => dropped.push(numbers),
            }
        }
        let rows = dropped.into_iter().map(|numbers| self.accumulators.rows_in(numbers)).sum();
        self.drop_rows(rows);
    }
}

mod strings;
#[cfg(test)]
mod tests;
