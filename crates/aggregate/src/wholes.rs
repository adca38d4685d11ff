//! The small integers that stand for whole numbers of 64 or 128 bits, millions of them.
//!
//! An open hash table whose slots have 32 bits of the hash and the small integer, as in `texts.rs`:
//! half of what a slot with the number itself takes, which counts where the table is in no cache,
//! and growing it looks at no number. Look-ups that come many at a time wait for memory together,
//! because the slots of a whole batch are read before the first of them is compared.

use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::sync::OnceLock;

use hashbrown::DefaultHashBuilder;

/// Look-ups whose slots are read together.
const BATCH: usize = 64;
/// What stands in a slot that is free.
const FREE: u32 = u32::MAX;
/// The bits of the smallest table's index.
const BITS_MIN: u32 = 6;

/// Whole numbers of one size.
pub(crate) trait Whole: Copy + Debug + Default + Hash + Ord {}

impl Whole for i64 {}
impl Whole for u128 {}

/// The numbers of whole numbers, found by hash.
#[derive(Clone, Debug)]
pub(crate) struct Wholes<W> {
    /// A power of two of them, by the first bits of the hash; the next one where that is taken.
    slots: Vec<Slot>,
    len: usize,
    hasher: DefaultHashBuilder,
    of: PhantomData<W>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The first bits of the hash.
    tag: u32,
    number: u32,
}

const FREE_SLOT: Slot = Slot { tag: 0, number: FREE };

/// How numbers and whole numbers belong together.
pub(crate) trait WholeStore<W> {
    /// Whether the whole number of this number is that one.
    fn is(&self, number: u32, whole: W) -> bool;
    /// Puts a whole number after the last value, and returns its number.
    fn push(&mut self, whole: W) -> u32;
    /// What is hashed instead, the same wherever the whole number stands for the same.
    #[inline]
    fn hashed(&self, whole: W) -> W {
        whole
    }
    /// Makes room for so many more.
    fn reserve(&mut self, more: usize);
}

/// Bytes up to which room is made for eight times as many as are expected.
const SPARE_MAX: usize = 1 << 28;

/// Makes room for so many more, and for others that may come: memory that is not written to costs
/// nothing, but growing again costs what is held twice.
pub(crate) fn reserve_spare<T>(values: &mut Vec<T>, more: usize) {
    let wanted = values.len() + more;
    if values.capacity() < wanted {
        let spare = (wanted * 7).min(SPARE_MAX / size_of::<T>()).max(wanted);
        values.reserve_exact(more + spare);
    }
}

/// Makes the hashes of all tables: what one of them got in the order of its slots, another finds in
/// the order of its own.
static HASHER: OnceLock<DefaultHashBuilder> = OnceLock::new();

fn hasher() -> &'static DefaultHashBuilder {
    HASHER.get_or_init(DefaultHashBuilder::default)
}

/// The first bits of the hash of something, the same wherever it is asked for.
pub(crate) fn tag_of(own: impl Hash) -> u32 {
    first_bits(hasher().hash_one(own))
}

const fn first_bits(hash: u64) -> u32 {
    (hash >> 32) as u32
}

impl<W> Default for Wholes<W> {
    fn default() -> Self {
        Self { slots: Vec::new(), len: 0, hasher: hasher().clone(), of: PhantomData }
    }
}

impl<W: Whole> Wholes<W> {
    /// The number of a whole number; a new one where it was not met before.
    pub(crate) fn number_of(&mut self, whole: W, store: &mut impl WholeStore<W>) -> u32 {
        self.reserve(1);
        self.find(self.tag(store.hashed(whole)), whole, store)
    }

    /// The numbers of many whole numbers, put after those that are in `numbers`.
    pub(crate) fn numbers_of(
        &mut self,
        wholes: &[W],
        store: &mut impl WholeStore<W>,
        numbers: &mut Vec<u32>,
    ) {
        numbers.reserve(wholes.len());
        let mut tags = [0; BATCH];
        let mut read = [FREE_SLOT; BATCH];
        for batch in wholes.chunks(BATCH) {
            self.reserve(batch.len());
            for (tag, whole) in tags.iter_mut().zip(batch) {
                *tag = self.tag(store.hashed(*whole));
            }
            for (slot, tag) in read.iter_mut().zip(&tags[..batch.len()]) {
                *slot = self.slots[self.home(*tag)];
            }
            for ((slot, &tag), &whole) in read.iter().zip(&tags).zip(batch) {
                // What was read may be of before another one of the batch came in, so that only
                // what was found is sure.
                let is_it = slot.tag == tag && slot.number != FREE && store.is(slot.number, whole);
                numbers.push(if is_it { slot.number } else { self.find(tag, whole, store) });
            }
        }
    }

    /// Whether a whole number has a number.
    pub(crate) fn has(&self, whole: W, store: &impl WholeStore<W>) -> bool {
        if self.slots.is_empty() {
            return false;
        }
        let (tag, mask) = (self.tag(store.hashed(whole)), self.slots.len() - 1);
        let mut at = self.home(tag);
        loop {
            let slot = self.slots[at];
            if slot.number == FREE {
                return false;
            }
            if slot.tag == tag && store.is(slot.number, whole) {
                return true;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn find(&mut self, tag: u32, whole: W, store: &mut impl WholeStore<W>) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = self.home(tag);
        loop {
            let slot = self.slots[at];
            if slot.number == FREE {
                let number = store.push(whole);
                self.slots[at] = Slot { tag, number };
                self.len += 1;
                return number;
            }
            if slot.tag == tag && store.is(slot.number, whole) {
                return slot.number;
            }
            at = (at + 1) & mask;
        }
    }

    /// The first bits of the hash of a whole number, or of what is [hashed](WholeStore::hashed)
    /// instead: asking in their order is quick.
    #[inline]
    pub(crate) fn tag(&self, hashed: W) -> u32 {
        first_bits(self.hasher.hash_one(hashed))
    }

    /// Where a whole number of this tag is looked for first.
    #[inline]
    fn home(&self, tag: u32) -> usize {
        tag as usize >> (u32::BITS - self.slots.len().trailing_zeros())
    }

    /// Makes room for so many more.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.reserve_ahead(more, 0);
    }

    /// The same, and where there is none for some others, too: growing again costs more than room
    /// that is not needed.
    pub(crate) fn reserve_ahead(&mut self, more: usize, others: usize) {
        // At most three of four slots are taken.
        let slots = |taken: usize| taken * 4 / 3 + 1;
        if slots(self.len + more) <= self.slots.len() {
            return;
        }
        let wanted = slots(self.len + more + others).next_power_of_two();
        let free = vec![FREE_SLOT; wanted.max(1 << BITS_MIN)];
        let old = std::mem::replace(&mut self.slots, free);
        let mask = self.slots.len() - 1;
        // By their first bits: what lay side by side comes to lie side by side.
        for slot in old.into_iter().filter(|slot| slot.number != FREE) {
            let mut at = self.home(slot.tag);
            while self.slots[at].number != FREE {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
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

    #[derive(Default)]
    struct Met(Vec<i64>);

    impl WholeStore<i64> for Met {
        fn is(&self, number: u32, whole: i64) -> bool {
            self.0.get(number as usize) == Some(&whole)
        }

        fn push(&mut self, whole: i64) -> u32 {
            self.0.push(whole);
            u32::try_from(self.0.len() - 1).expect("few")
        }

        fn reserve(&mut self, more: usize) {
            self.0.reserve(more);
        }
    }

    proptest! {
        #[test]
        fn each_has_one_number_however_many_are_asked_for_at_once(
            asked in prop::collection::vec(
                prop::collection::vec(prop_oneof![-40i64..40, any::<i64>()], 0..400), 1..8,
            ),
        ) {
            let mut own = Wholes::default();
            let (mut plain, mut met): (HashMap<i64, u32>, Met) = Default::default();
            for (index, wholes) in asked.iter().enumerate() {
                let mut expected = Vec::new();
                for whole in wholes {
                    prop_assert_eq!(own.has(*whole, &met), plain.contains_key(whole));
                }
                for whole in wholes {
                    let next = u32::try_from(plain.len()).expect("few");
                    expected.push(*plain.entry(*whole).or_insert(next));
                }
                let mut numbers = Vec::new();
                if index % 2 == 0 {
                    own.numbers_of(wholes, &mut met, &mut numbers);
                } else {
                    own.reserve(index * 100);
                    numbers.extend(wholes.iter().map(|&one| own.number_of(one, &mut met)));
                }
                prop_assert_eq!(numbers, expected);
                prop_assert!(wholes.iter().all(|whole| own.has(*whole, &met)));
            }
            prop_assert!(own.bytes() >= plain.len() * size_of::<Slot>());
        }
    }
}
