//! Groups of several leaves, or of several workers, made one.

use std::ops::Range;

use super::Groups;
use super::deferred::{DeferredKeys, GROUPS_MIN};
use crate::groups::group_index::NOWHERE;
use crate::groups::key_dictionary::{KeyDictionary, KeyWhole};
use crate::groups::state_column::StateColumn;

/// So many groups are merged between two looks at how many there are.
const MERGED_AT_ONCE: usize = 1 << 14;

/// What the groups to be merged have for keys, as far as it is known here.
#[derive(Debug, Default)]
struct Same {
    /// By key and number: the number of the same value. Empty until it is asked for.
    numbers: Vec<Vec<u32>>,
    /// The same of the templates of lifted texts.
    templates: Vec<Option<u32>>,
}

/// Groups that are being added to others, a step at a time.
#[derive(Debug)]
pub(crate) struct Merging {
    other: Groups,
    /// The first that is not added yet.
    next: usize,
    same: Same,
}

impl Groups {
    /// Adds the groups of `other`, which must be of the same query.
    pub fn merge(&mut self, other: Self) {
        let mut merging = self.begin_merge(other);
        while self.merge_step(&mut merging) {}
    }

    /// Begins to add the groups of `other`, which must be of the same query. Until the last
    /// [step](Self::merge_step) these are not the groups of either.
    pub(crate) fn begin_merge(&mut self, mut other: Self) -> Merging {
        self.gather();
        other.gather();
        // The order does not matter to what comes out, but to how much has to move.
        if self.len() < other.len() {
            std::mem::swap(self, &mut other);
        }
        self.drop_rows(other.dropped_rows);
        self.merge_folded(&mut other);
        if let Some(max) = other.key_max.take() {
            self.drop_beyond(max);
        }
        let mut same = Same::default();
        self.expect_those_of(&other, &mut same);
        Merging { other, next: 0, same }
    }

    /// Adds some more groups, which takes a few milliseconds, or longer where some are dropped;
    /// returns whether there are further ones.
    pub(crate) fn merge_step(&mut self, merging: &mut Merging) -> bool {
        let Merging { other, next, same } = merging;
        if *next >= other.len() {
            self.cut(self.held_max);
            return false;
        }
        if self.make_room() {
            *same = Same::default();
        }
        let chunk = *next..other.len().min(*next + MERGED_AT_ONCE);
        *next = chunk.end;
        if !self.merge_later(other, chunk.clone(), same) {
            self.merge_now(other, chunk, same);
        }
        true
    }

    /// Adds the groups of `other` at these places.
    fn merge_now(&mut self, other: &mut Self, chunk: Range<usize>, same: &mut Same) {
        let first = chunk.start;
        let places = self.places_in(other, chunk.clone(), same);
        if !other.cells.is_empty() && !self.cells.merge(&other.cells, first, &places, self.len()) {
            self.spill();
            other.spill();
        }
        for (own, place) in places.iter().zip(chunk) {
            match own {
                Some(own) if let Some(&tally) = other.tallies.get(place) => {
                    self.add_tally(*own, tally);
                }
                Some(_) => {}
                None => self.drop_rows(other.tally_at(place).rows()),
            }
        }
        let count = self.len();
        for (own, other) in self.states.iter_mut().zip(&other.states) {
            own.merge(other, first, &places, count);
        }
    }

    /// Where the groups of the same keys as those of `other` at these places are.
    fn places_in(
        &mut self,
        other: &Self,
        chunk: Range<usize>,
        same: &mut Same,
    ) -> Vec<Option<u32>> {
        let some = |place: u32| Some(place).filter(|&place| place != NOWHERE);
        if let Some(key) = other.only_key() {
            if let Some(wholes) = key.wholes_in(chunk.clone()) {
                return self.places_of_wholes(wholes).into_iter().map(some).collect();
            }
            if let Some(forms) = self.keys[0].forms_in(key, chunk.clone(), &mut same.templates) {
                let places = self.places_of(|key, numbers| key.numbers_of_all(&forms, numbers));
                return places.into_iter().map(some).collect();
            }
            if let Some(texts) = key.texts_in(chunk.clone()) {
                return self.places_of_texts(texts).into_iter().map(some).collect();
            }
        }
        let count = chunk.len();
        let keys = self.numbers_in(other, chunk, same);
        self.places(&keys, count).into_iter().map(some).collect()
    }

    /// Lets the groups of `other` at these places wait, where that can be and they are nothing but
    /// cells; returns whether it was done.
    fn merge_later(&mut self, other: &Self, chunk: Range<usize>, same: &mut Same) -> bool {
        let is_cells = other.tallies.is_empty() && other.states.iter().all(StateColumn::is_unused);
        if other.len() < GROUPS_MIN || !is_cells || !self.can_wait() || self.keys.len() == 1 {
            return false;
        }
        let keys = self.numbers_in(other, chunk.clone(), same);
        let sums = other.cells.incoming_sums(chunk.start);
        let incoming = other.cells.as_incoming(&sums);
        self.add_later(DeferredKeys::Numbers(&keys), &incoming, |layout, numbers| {
            other.cells.add_to(
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
            return vec![self.keys[0].numbers_in(key, chunk)];
        }
        if same.numbers.is_empty() {
            let keys = self.keys.iter_mut().zip(&other.keys);
            let all = |(own, other): (&mut KeyDictionary, &KeyDictionary)| {
                own.numbers_in(other, 0..other.len())
            };
            same.numbers = keys.map(all).collect();
        }
        let mut keys = vec![Vec::with_capacity(chunk.len()); self.keys.len()];
        for place in chunk {
            for (key, number) in other.places.numbers_of(place).enumerate() {
                keys[key].push(same.numbers[key][number as usize]);
            }
        }
        keys
    }

    /// Makes room for the groups of `other` that are not known here: about as many in each chunk as
    /// in the last. Without it what comes in the order of hashes would crowd where they begin.
    fn expect_those_of(&mut self, other: &Self, same: &mut Same) {
        let Some(key) = other.only_key().filter(|_| !other.is_empty()) else { return };
        let last = other.len().saturating_sub(MERGED_AT_ONCE)..other.len();
        if let Some(wholes) = key.wholes_in(last.clone()) {
            self.expect_among(wholes, other.len());
        } else if let Some(forms) = self.keys[0].forms_in(key, last.clone(), &mut same.templates) {
            self.expect_among(&forms, other.len());
        } else if let Some(texts) = key.texts_in(last.clone()).filter(|_| !self.keys[0].is_lifted())
        {
            let new = self.keys[0].count_new_texts(texts) * other.len() / last.len();
            self.expect_texts(new, 0);
        }
    }

    /// The same where these are some of so many.
    fn expect_among<W: KeyWhole>(&mut self, some: &[W], count: usize) {
        let new = self.keys[0].count_new(some) * count / some.len().max(1);
        self.expect::<W>(new, 0);
    }
}
