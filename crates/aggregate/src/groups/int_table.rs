//! Assigns small numbers to millions of integers of 64 or 128 bits, found by
//! `groups/hash_table.rs`. In batched look-ups, cache misses overlap: the slots of a whole batch
//! are read before the first is compared.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use hashbrown::DefaultHashBuilder;

use crate::groups::hash_table::{BATCH, Slot, TagTable, hasher, tag_by};

/// Keys of one size.
pub(crate) trait TableInt: Copy + Debug + Hash + Ord {
    /// A placeholder.
    const ZERO: Self;
}

impl TableInt for i64 {
    const ZERO: Self = 0;
}

impl TableInt for u128 {
    const ZERO: Self = 0;
}

/// For keys that are stored elsewhere.
impl TableInt for () {
    const ZERO: Self = ();
}

/// Several small integers.
impl<const N: usize> TableInt for [u32; N] {
    const ZERO: Self = [0; N];
}

/// The numbers of integers, found by hash.
#[derive(Clone, Debug)]
pub(crate) struct IntTable<W> {
    table: TagTable,
    hasher: DefaultHashBuilder,
    of: PhantomData<W>,
}

/// The integers of a table, by number.
pub(crate) trait IntStore<W> {
    /// Whether the integer with this number is `int`.
    fn is(&self, number: u32, int: W) -> bool;
    /// Appends an integer, and returns its number.
    fn push(&mut self, int: W) -> u32;
    /// The integer to hash, which is equal wherever `int` stands for the same key.
    #[inline]
    fn hashed(&self, int: W) -> W {
        int
    }
    /// Reserves space for `more` integers.
    fn reserve(&mut self, more: usize);
}

/// Bytes up to which eight times the expected size is reserved.
const SPARE_MAX: usize = 1 << 28;

/// Reserves space for `more` values, and spare space. Memory that is not written costs nothing, but
/// growing again holds the values twice.
pub(crate) fn reserve_spare<T>(values: &mut Vec<T>, more: usize) {
    let needed = values.len() + more;
    if values.capacity() < needed {
        let spare = (needed * 7).min(SPARE_MAX / size_of::<T>()).max(needed);
        values.reserve_exact(more + spare);
    }
}

impl<W> Default for IntTable<W> {
    fn default() -> Self {
        Self { table: TagTable::default(), hasher: hasher(), of: PhantomData }
    }
}

impl<W: TableInt> IntTable<W> {
    /// The number of an integer; a new number at its first occurrence.
    pub(crate) fn number_of(&mut self, int: W, store: &mut impl IntStore<W>) -> u32 {
        self.reserve(1);
        self.find(self.tag(store.hashed(int)), int, store)
    }

    /// Appends the numbers of many integers to `numbers`.
    pub(crate) fn numbers_of(
        &mut self,
        ints: &[W],
        store: &mut impl IntStore<W>,
        numbers: &mut Vec<u32>,
    ) {
        numbers.reserve(ints.len());
        let mut tags = [0; BATCH];
        let mut read = [Slot::FREE; BATCH];
        for batch in ints.chunks(BATCH) {
            self.reserve(batch.len());
            let tags = &mut tags[..batch.len()];
            for (tag, int) in tags.iter_mut().zip(batch) {
                *tag = self.tag(store.hashed(*int));
            }
            self.table.read(tags, &mut read);
            for ((slot, &tag), &int) in read.iter().zip(&*tags).zip(batch) {
                // The slot may be stale, as an earlier key of this batch may have been inserted
                // since. So a hit is final, but a miss is probed again.
                let hit = slot.number_of(tag).filter(|&number| store.is(number, int));
                numbers.push(hit.unwrap_or_else(|| self.find(tag, int, store)));
            }
        }
    }

    /// Whether an integer has a number.
    pub(crate) fn has(&self, int: W, store: &impl IntStore<W>) -> bool {
        let tag = self.tag(store.hashed(int));
        self.table.find(tag, |number| store.is(number, int)).is_some()
    }

    #[inline]
    fn find(&mut self, tag: u32, int: W, store: &mut impl IntStore<W>) -> u32 {
        let matches = |store: &_, number| IntStore::is(store, number, int);
        self.table.find_or_push(tag, store, matches, |store| store.push(int))
    }

    /// The first bits of the hash of an integer, or of its [`IntStore::hashed`]: look-ups in their
    /// order are fast.
    #[inline]
    pub(crate) fn tag(&self, hashed: W) -> u32 {
        tag_by(&self.hasher, hashed)
    }

    /// Reserves space for `more` integers.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.reserve_ahead(more, 0);
    }

    /// The same; if the table must grow, it grows by `others` in addition.
    pub(crate) fn reserve_ahead(&mut self, more: usize, others: usize) {
        self.table.reserve_ahead(more, others);
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Default)]
    struct Met(Vec<i64>);

    impl IntStore<i64> for Met {
        fn is(&self, number: u32, int: i64) -> bool {
            self.0.get(number as usize) == Some(&int)
        }

        fn push(&mut self, int: i64) -> u32 {
            self.0.push(int);
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
            let mut table = IntTable::default();
            let (mut plain, mut met): (HashMap<i64, u32>, Met) = Default::default();
            for (index, ints) in asked.iter().enumerate() {
                let mut expected = Vec::new();
                for int in ints {
                    prop_assert_eq!(table.has(*int, &met), plain.contains_key(int));
                }
                for int in ints {
                    let next = u32::try_from(plain.len()).expect("few");
                    expected.push(*plain.entry(*int).or_insert(next));
                }
                let mut numbers = Vec::new();
                if index % 2 == 0 {
                    table.numbers_of(ints, &mut met, &mut numbers);
                } else {
                    table.reserve(index * 100);
                    numbers.extend(ints.iter().map(|&one| table.number_of(one, &mut met)));
                }
                prop_assert_eq!(numbers, expected);
                prop_assert!(ints.iter().all(|int| table.has(*int, &met)));
            }
            prop_assert!(table.bytes() >= plain.len() * size_of::<Slot>());
        }
    }
}
