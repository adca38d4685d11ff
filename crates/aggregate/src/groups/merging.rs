//! Merges the groups of several leaves, or of several workers.

use std::ops::Range;

use super::Groups;
use super::deferred::{DeferredKeys, GROUPS_MIN};
use crate::groups::group_table::NO_GROUP;
use crate::groups::key_dictionary::{IntKey, KeyDictionary};
use crate::groups::state_column::StateColumn;

/// Number of groups that are merged between two checks of the capacity.
const MERGED_AT_ONCE: usize = 1 << 14;

/// A cache of the numbers here of the keys of the groups to be merged.
#[derive(Debug, Default)]
struct Same {
    /// By key and number there: the number here. Empty until it is needed.
    numbers: Vec<Vec<u32>>,
    /// By template number there: the template number here.
    templates: Vec<Option<u32>>,
}

/// A merge of groups in progress.
#[derive(Debug)]
pub(crate) struct Merging {
    other: Groups,
    /// The first group that is not added yet.
    next: usize,
    same: Same,
}

impl Groups {
    /// Adds the groups of `other`, which must belong to the same query.
    pub fn merge(&mut self, other: Self) {
        let mut merging = self.begin_merge(other);
        while self.merge_step(&mut merging) {}
    }

    /// Begins to add the groups of `other`, which must belong to the same query. Until the last
    /// [step](Self::merge_step), `self` is neither the old nor the merged groups.
    pub(crate) fn begin_merge(&mut self, mut other: Self) -> Merging {
        self.flush_deferred();
        other.flush_deferred();
        // The order does not change the result, but the amount of data that moves.
        if self.len() < other.len() {
            std::mem::swap(self, &mut other);
        }
        self.drop_rows(other.dropped_rows);
        self.merge_cut(&other);
        self.merge_folded(&mut other);
        if let Some(max) = other.key_max.take() {
            self.drop_beyond(max);
        }
        let mut same = Same::default();
        self.expect_those_of(&other, &mut same);
        Merging { other, next: 0, same }
    }

    /// Adds some more groups, which takes a few milliseconds, or longer if groups are dropped.
    /// Returns whether there are further ones.
    pub(crate) fn merge_step(&mut self, merging: &mut Merging) -> bool {
        let Merging { other, next, same } = merging;
        if *next >= other.len() {
            self.cut(self.held_max);
            return false;
        }
        if self.enforce_capacity() {
            *same = Same::default();
        }
        let chunk = *next..other.len().min(*next + MERGED_AT_ONCE);
        *next = chunk.end;
        if !self.merge_later(other, chunk.clone(), same) {
            self.merge_now(other, chunk, same);
        }
        true
    }

    /// Adds the groups of `other` at these indexes.
    fn merge_now(&mut self, other: &mut Self, chunk: Range<usize>, same: &mut Same) {
        let first = chunk.start;
        let group_indexes = self.group_indexes_in(other, chunk.clone(), same);
        self.cover(other, chunk.clone(), &group_indexes);
        if !other.accumulators.is_empty()
            && !self.accumulators.merge(&other.accumulators, first, &group_indexes, self.len())
        {
            self.spill();
            other.spill();
        }
        for (target, group_index) in group_indexes.iter().zip(chunk) {
            match target {
                Some(target) if let Some(&count) = other.counts.get(group_index) => {
                    self.add_count(*target, count);
                }
                Some(_) => {}
                None => self.drop_rows(other.count_at(group_index).rows()),
            }
        }
        let count = self.len();
        for (column, other) in self.states.iter_mut().zip(&other.states) {
            column.merge(other, first, &group_indexes, count);
        }
    }

    /// The indexes here of the groups with the keys of these groups of `other`.
    fn group_indexes_in(
        &mut self,
        other: &Self,
        chunk: Range<usize>,
        same: &mut Same,
    ) -> Vec<Option<u32>> {
        let some =
            |group_index: u32| Some(group_index).filter(|&group_index| group_index != NO_GROUP);
        if let Some(key) = other.only_key() {
            if let Some(ints) = key.ints_in(chunk.clone()) {
                return self.groups_of_ints(ints).into_iter().map(some).collect();
            }
            if let Some(forms) = self.keys[0].forms_in(key, chunk.clone(), &mut same.templates) {
                let group_indexes =
                    self.groups_by_number(|key, numbers| key.numbers_of_all(&forms, numbers));
                return group_indexes.into_iter().map(some).collect();
            }
            if let Some(texts) = key.strings_in(chunk.clone()) {
                return self.groups_of_strings(texts).into_iter().map(some).collect();
            }
        }
        let count = chunk.len();
        let keys = self.numbers_in(other, chunk, same);
        self.find_or_insert_all(&keys, count).into_iter().map(some).collect()
    }

    /// Defers these groups of `other`, if that is possible and they consist of accumulators only.
    /// Returns whether it was done.
    fn merge_later(&mut self, other: &Self, chunk: Range<usize>, same: &mut Same) -> bool {
        let is_cells = other.counts.is_empty() && other.states.iter().all(StateColumn::is_unused);
        if other.len() < GROUPS_MIN
            || other.cut.is_some()
            || !is_cells
            || !self.can_defer()
            || self.keys.len() == 1
        {
            return false;
        }
        let keys = self.numbers_in(other, chunk.clone(), same);
        let sums = other.accumulators.incoming_sums(chunk.start);
        let incoming = other.accumulators.as_incoming(&sums, chunk.start);
        self.defer(DeferredKeys::Numbers(&keys), &incoming, |layout, numbers| {
            other.accumulators.add_to(
                numbers,
                layout,
                &sums,
                chunk.start,
                (0..).map(Some).take(chunk.len()),
            );
        })
    }

    /// By key: the numbers here of the values of these groups of `other`.
    fn numbers_in(&mut self, other: &Self, chunk: Range<usize>, same: &mut Same) -> Vec<Vec<u32>> {
        if let Some(key) = other.only_key() {
            return vec![self.keys[0].numbers_in(key, chunk, &mut same.templates)];
        }
        if same.numbers.is_empty() {
            let keys = self.keys.iter_mut().zip(&other.keys);
            let all = |(dictionary, other): (&mut KeyDictionary, &KeyDictionary)| {
                dictionary.numbers_in(other, 0..other.len(), &mut Vec::new())
            };
            same.numbers = keys.map(all).collect();
        }
        let mut keys = vec![Vec::with_capacity(chunk.len()); self.keys.len()];
        for group_index in chunk {
            for (key, number) in other.group_indexes.numbers_of(group_index).enumerate() {
                keys[key].push(same.numbers[key][number as usize]);
            }
        }
        keys
    }

    /// Reserves space for the groups of `other` that are new here, extrapolated from the last
    /// chunk. Without it, groups that come in the order of hashes would crowd the first slots of
    /// the table.
    fn expect_those_of(&mut self, other: &Self, same: &mut Same) {
        let Some(key) = other.only_key().filter(|_| !other.is_empty()) else { return };
        let last = other.len().saturating_sub(MERGED_AT_ONCE)..other.len();
        if let Some(ints) = key.ints_in(last.clone()) {
            self.expect_among(ints, other.len());
        } else if let Some(forms) = self.keys[0].forms_in(key, last.clone(), &mut same.templates) {
            self.expect_among(&forms, other.len());
        } else if let Some(texts) =
            key.strings_in(last.clone()).filter(|_| !self.keys[0].is_lifted())
        {
            let new = self.keys[0].count_new_strings(texts) * other.len() / last.len();
            self.expect_strings(new, 0);
        }
    }

    /// The same, extrapolated from `some` of `count` groups.
    fn expect_among<W: IntKey>(&mut self, some: &[W], count: usize) {
        let new = self.keys[0].count_new(some) * count / some.len().max(1);
        self.expect::<W>(new, 0);
    }
}
