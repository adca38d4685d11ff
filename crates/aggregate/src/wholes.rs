//! Whole numbers and the small integers that stand for them, millions of them.
//!
//! An open hash table whose slots hold the number itself, so that a look-up touches one place in
//! memory. That place mostly is in no cache; look-ups that come many at a time wait for it
//! together, because the slots of a whole batch are read before the first of them is compared.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

/// Look-ups whose slots are read together.
const BATCH: usize = 64;
/// What stands in a slot that is free.
const FREE: u32 = u32::MAX;
/// The bits of the smallest table's index.
const BITS_MIN: u32 = 6;

/// Whole numbers, each with a number of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wholes {
    /// A power of two of them, by the first bits of the hash; the next one where that is taken.
    slots: Vec<Slot>,
    len: usize,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    whole: i64,
    number: u32,
}

impl Wholes {
    /// The number of a whole number; what `new` gives out where it was not met before, and is noted.
    pub(crate) fn number_of(&mut self, whole: i64, new: impl FnOnce() -> u32) -> u32 {
        self.reserve(1);
        let at = self.home(whole);
        self.find(at, whole, new)
    }

    /// The numbers of many whole numbers; `new` gives out one to those that were not met before.
    pub(crate) fn numbers_of(
        &mut self,
        wholes: &[i64],
        numbers: &mut Vec<u32>,
        mut new: impl FnMut(i64) -> u32,
    ) {
        const NONE: Slot = Slot { whole: 0, number: FREE };
        numbers.reserve(wholes.len());
        let mut homes = [0; BATCH];
        let mut read = [NONE; BATCH];
        for batch in wholes.chunks(BATCH) {
            self.reserve(batch.len());
            for (home, whole) in homes.iter_mut().zip(batch) {
                *home = self.home(*whole);
            }
            for (slot, home) in read.iter_mut().zip(&homes[..batch.len()]) {
                *slot = self.slots[*home];
            }
            for ((slot, home), &whole) in read.iter().zip(&homes).zip(batch) {
                // What was read may be of before another one of the batch came in, so that only
                // what was found is sure.
                let is_it = slot.number != FREE && slot.whole == whole;
                let found =
                    if is_it { slot.number } else { self.find(*home, whole, || new(whole)) };
                numbers.push(found);
            }
        }
    }

    fn find(&mut self, home: usize, whole: i64, new: impl FnOnce() -> u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = home;
        loop {
            let slot = &mut self.slots[at];
            if slot.number == FREE {
                *slot = Slot { whole, number: new() };
                self.len += 1;
                return slot.number;
            }
            if slot.whole == whole {
                return slot.number;
            }
            at = (at + 1) & mask;
        }
    }

    /// Where a whole number is looked for first.
    #[inline]
    fn home(&self, whole: i64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below the number of slots")]
        let home =
            (self.hasher.hash_one(whole) >> (64 - self.slots.len().trailing_zeros())) as usize;
        home
    }

    /// Makes room for so many more: at most seven of eight slots are taken.
    fn reserve(&mut self, more: usize) {
        let wanted = self.len + more;
        if wanted * 8 <= self.slots.len() * 7 {
            return;
        }
        let bits = (wanted * 8 / 7 + 1).next_power_of_two().trailing_zeros().max(BITS_MIN);
        let free = Slot { whole: 0, number: FREE };
        let old = std::mem::replace(&mut self.slots, vec![free; 1 << bits]);
        self.len = 0;
        // By their first bits: what lay side by side comes to lie side by side.
        for slot in old.into_iter().filter(|slot| slot.number != FREE) {
            let home = self.home(slot.whole);
            self.find(home, slot.whole, || slot.number);
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_has_one_number_however_many_are_asked_for_at_once(
            asked in prop::collection::vec(
                prop::collection::vec(prop_oneof![-40i64..40, any::<i64>()], 0..400), 1..8,
            ),
        ) {
            let mut own = Wholes::default();
            let mut plain: HashMap<i64, u32> = HashMap::new();
            for (index, wholes) in asked.iter().enumerate() {
                let mut expected = Vec::new();
                let mut met = Vec::new();
                for whole in wholes {
                    let next = u32::try_from(plain.len()).expect("few");
                    expected.push(*plain.entry(*whole).or_insert_with(|| { met.push(*whole); next }));
                }
                let (mut numbers, mut new) = (Vec::new(), Vec::new());
                let first = u32::try_from(plain.len() - met.len()).expect("few");
                let mut give = |whole| {
                    new.push(whole);
                    first + u32::try_from(new.len()).expect("few") - 1
                };
                if index % 2 == 0 {
                    own.numbers_of(wholes, &mut numbers, give);
                } else {
                    numbers.extend(wholes.iter().map(|&one| own.number_of(one, || give(one))));
                }
                prop_assert_eq!(numbers, expected);
                prop_assert_eq!(new, met);
            }
            prop_assert!(own.bytes() >= plain.len() * size_of::<Slot>());
        }
    }
}
