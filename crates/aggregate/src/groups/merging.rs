//! Groups of several leaves, or of several workers, made one.

use std::ops::Range;

use super::Groups;
use crate::places::NOWHERE;

/// So many groups are merged between two looks at how many there are.
const MERGED_AT_ONCE: usize = 1 << 14;

impl Groups {
    /// Adds the groups of `other`, which must be of the same query.
    pub fn merge(&mut self, mut other: Self) {
        self.gather();
        other.gather();
        // The order does not matter to what comes out, but to how much has to move.
        if self.len() < other.len() {
            std::mem::swap(self, &mut other);
        }
        self.drop_rows(other.dropped_rows);
        let mut same = other.unknown();
        for first in (0..other.len()).step_by(MERGED_AT_ONCE) {
            if self.make_room() {
                same = other.unknown();
            }
            let chunk = first..other.len().min(first + MERGED_AT_ONCE);
            let places = self.places_in(&other, chunk.clone(), &mut same);
            if !other.cells.is_empty()
                && !self.cells.merge(&other.cells, first, &places, self.len())
            {
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
        self.cut(self.held_max);
    }

    /// Where the groups of the same keys as those of `other` at these places are.
    fn places_in(
        &mut self,
        other: &Self,
        chunk: Range<usize>,
        same: &mut [Vec<Option<u32>>],
    ) -> Vec<Option<u32>> {
        let some = |place: u32| Some(place).filter(|&place| place != NOWHERE);
        if let Some(key) = other.only_key() {
            if let Some(wholes) = key.wholes_in(chunk.clone()) {
                return self.places_of_wholes(wholes).into_iter().map(some).collect();
            }
            if let Some(texts) = key.texts_in(chunk.clone()) {
                return self.places_of_texts(texts).into_iter().map(some).collect();
            }
            if let Some(texts) = key.lifted_in(chunk.clone()) {
                let places = self.places_of_lifted(&texts, 0..texts.len());
                return places.into_iter().map(some).collect();
            }
        }
        chunk.map(|place| self.place_of(other, place, same)).collect()
    }

    /// By key and number: what the number of the same value elsewhere is, which is not known yet.
    fn unknown(&self) -> Vec<Vec<Option<u32>>> {
        self.keys.iter().map(|key| vec![None; key.len()]).collect()
    }

    /// Where the group of the same key as one of `other` is.
    fn place_of(
        &mut self,
        other: &Self,
        place: usize,
        same: &mut [Vec<Option<u32>>],
    ) -> Option<u32> {
        let numbers: Vec<u32> = other
            .places
            .numbers_of(place)
            .enumerate()
            .map(|(key, number)| {
                let value = other.keys[key].value(number);
                *same[key][number as usize].get_or_insert_with(|| self.keys[key].number_of(&value))
            })
            .collect();
        self.place(&numbers)
    }
}
