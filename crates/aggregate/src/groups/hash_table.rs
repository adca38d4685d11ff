//! An open-addressing hash table of small integers; a slot has a 32-bit hash tag and an integer.
//!
//! The keys are stored elsewhere. So the table is small, which matters where it is in no cache; it
//! grows without reading keys; and keys are compared only if tags match. The first bits of the tag
//! choose the slot, so look-ups in the order of tags stay within a small part of the table.
//!
//! But keys may come in the order of hashes, as from another table that was filled partition by
//! partition. A table that grows with them then gets more keys in its first slots than fit there.
//! So after one window of taken slots, the search continues in a window elsewhere, chosen by the
//! whole tag. However many keys crowd somewhere, each takes few probes. A linear search along all
//! taken slots would take quadratic time.

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;

use hashbrown::DefaultHashBuilder;

/// Look-ups whose slots are read together, so that their cache misses overlap.
pub(crate) const BATCH: usize = 64;
/// The number in a free slot.
const FREE: u32 = u32::MAX;
/// Slots of one window, two or three cache lines; after them, the search continues elsewhere. If
/// hashes are spread, few searches leave their first window.
const WINDOW: usize = 16;
/// Index bits of the smallest table.
const BITS_MIN: u32 = 6;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The first bits of the hash.
    tag: u32,
    number: u32,
}

impl Slot {
    pub(crate) const FREE: Self = Self { tag: 0, number: FREE };

    /// The number in this slot, if its key may have this tag.
    #[inline]
    pub(crate) fn number_of(self, tag: u32) -> Option<u32> {
        Some(self.number).filter(|&number| self.tag == tag && number != FREE)
    }
}

/// The numbers of keys that are stored elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct TagTable {
    /// A power of two of slots, indexed by the first bits of the hash; the next slot if that is
    /// taken.
    table: Vec<Slot>,
    len: usize,
}

/// The hasher of all tables. A table that is filled in the slot order of another one also fills its
/// own slots in order.
static HASHER: OnceLock<DefaultHashBuilder> = OnceLock::new();

/// The hasher of all tables, for callers that hash often.
pub(crate) fn hasher() -> DefaultHashBuilder {
    HASHER.get_or_init(DefaultHashBuilder::default).clone()
}

/// The first bits of the hash of a key; equal in all tables.
pub(crate) fn tag_of(key: impl Hash) -> u32 {
    tag_by(&hasher(), key)
}

/// The same with the given [`hasher`].
#[inline]
pub(crate) fn tag_by(hasher: &DefaultHashBuilder, key: impl Hash) -> u32 {
    (hasher.hash_one(key) >> 32) as u32
}

/// The tag whose home slot begins the window after `window` full windows. For each key it is a
/// different tag for every window, so the search reaches every slot and always finds a free one.
///
/// Multiplies by odd constants: 2^32 / φ, and the first of MurmurHash3's finalizer (A. Appleby).
#[inline]
const fn elsewhere(tag: u32, window: u32) -> u32 {
    (tag ^ window.wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B)
}

impl TagTable {
    /// The number of the key with this tag for which `matches` is true, if there is one.
    #[inline]
    pub(crate) fn find(&self, tag: u32, matches: impl Fn(u32) -> bool) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        self.search(tag, matches).ok()
    }

    /// As [`Self::find`]; if the key is new, inserts the number that `push` returns. There must be
    /// [space](Self::reserve_ahead).
    // A call for each look-up takes a tenth of its time.
    #[inline(always)]
    pub(crate) fn find_or_push<S>(
        &mut self,
        tag: u32,
        store: &mut S,
        matches: impl Fn(&S, u32) -> bool,
        push: impl FnOnce(&mut S) -> u32,
    ) -> u32 {
        match self.search(tag, |number| matches(store, number)) {
            Ok(number) => number,
            Err(at) => {
                let number = push(store);
                self.table[at] = Slot { tag, number };
                self.len += 1;
                number
            }
        }
    }

    /// Inserts the number of a new key with this tag. There must be [space](Self::reserve_ahead).
    pub(crate) fn insert(&mut self, tag: u32, number: u32) {
        if let Err(at) = self.search(tag, |_| false) {
            self.table[at] = Slot { tag, number };
            self.len += 1;
        }
    }

    /// The number, or the first free slot of the search.
    #[inline(always)]
    fn search(&self, tag: u32, matches: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.table.len() - 1;
        let (mut start, mut window) = (self.home(tag), 0);
        loop {
            for step in 0..WINDOW {
                let at = (start + step) & mask;
                #[cfg(test)]
                tests::note_probe();
                let slot = self.table[at];
                if slot.number == FREE {
                    return Err(at);
                }
                if slot.tag == tag && matches(slot.number) {
                    return Ok(slot.number);
                }
            }
            window += 1;
            start = self.home(elsewhere(tag, window));
        }
    }

    /// Reads the home slots of these tags.
    ///
    /// # Panics
    /// If no space was ever reserved.
    #[inline]
    pub(crate) fn read(&self, tags: &[u32], read: &mut [Slot]) {
        for (slot, tag) in read.iter_mut().zip(tags) {
            *slot = self.table[self.home(*tag)];
        }
    }

    /// The home slot of this tag, where a search begins.
    #[inline]
    fn home(&self, tag: u32) -> usize {
        tag as usize >> (u32::BITS - self.table.len().trailing_zeros())
    }

    /// Reserves space for `more` keys. If the table must grow, it grows by `others` in addition,
    /// because growing again costs more than spare slots.
    pub(crate) fn reserve_ahead(&mut self, more: usize, others: usize) {
        // At most three of four slots are taken.
        let table = |taken: usize| taken * 4 / 3 + 1;
        if table(self.len + more) <= self.table.len() {
            return;
        }
        let slots = table(self.len + more + others).next_power_of_two();
        let free = vec![Slot::FREE; slots.max(1 << BITS_MIN)];
        let old = std::mem::replace(&mut self.table, free);
        // By their first bits: adjacent slots stay near each other.
        for slot in old.into_iter().filter(|slot| slot.number != FREE) {
            if let Err(at) = self.search(slot.tag, |_| false) {
                self.table[at] = slot;
            }
        }
    }

    /// The number of keys.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.table.capacity() * size_of::<Slot>()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static PROBES: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn note_probe() {
        PROBES.set(PROBES.get() + 1);
    }

    /// The number of slots of all tables that this thread probes during `work`.
    pub(crate) fn probes<T>(work: impl FnOnce() -> T) -> (usize, T) {
        let before = PROBES.get();
        let done = work();
        (PROBES.get() - before, done)
    }

    /// Inserts numbers of these tags, `at_once` at a time, and then looks up each. Returns the
    /// maximum number of probes of an insertion, and the mean of all.
    fn put_in(table: &mut TagTable, tags: &[u32], at_once: usize) -> (usize, usize) {
        let (mut most, first) = (0, table.len);
        let (all, ()) = probes(|| {
            for tags in tags.chunks(at_once) {
                table.reserve_ahead(tags.len(), 0);
                for &tag in tags {
                    let number = u32::try_from(table.len).expect("few");
                    most = most.max(probes(|| table.insert(tag, number)).0);
                }
            }
            for (number, &tag) in (first..).zip(tags) {
                let matches = |candidate| candidate as usize == number;
                assert!(table.find(tag, matches).is_some(), "what was put in is found");
            }
        });
        (most, all / tags.len().max(1))
    }

    /// The tags of `count` keys from `first`: `SplitMix64` (Steele et al. 2014), so that each run
    /// counts the same slots.
    fn tags(count: u64, first: u64) -> Vec<u32> {
        let tag = |key: u64| {
            let mut bits = key.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((bits ^ (bits >> 31)) >> 32) as u32
        };
        (first..first + count).map(tag).collect()
    }

    #[test]
    fn what_comes_in_the_order_of_hashes_is_put_in_as_soon_as_what_comes_in_any() {
        for present in [0, 1_000, 30_000, 49_000, 60_000, 98_000] {
            for (at_once, sorted) in
                [(1, false), (64, false), (10_000, false), (1, true), (64, true), (10_000, true)]
            {
                let mut table = TagTable::default();
                put_in(&mut table, &tags(present, 0), 64);
                let mut new = tags(60_000, present);
                // In the order of another table, tag by tag or partition by partition.
                if sorted {
                    new.sort_unstable()
                } else {
                    new.sort_by_key(|tag| tag >> 24)
                }
                let (most, mean) = put_in(&mut table, &new, at_once);
                assert!(
                    most < 500 && mean < 50,
                    "{present} are present, {at_once} at once, sorted {sorted}: {most} looks for one, \
                     {mean} for each"
                );
            }
        }
    }

    #[test]
    fn the_last_free_slot_is_found_from_everywhere() {
        for tag in [0, 1, 77, u32::MAX] {
            let mut table = TagTable { table: vec![Slot { tag: 0, number: 0 }; 64], len: 63 };
            for free in 0..64 {
                table.table[free].number = FREE;
                assert_eq!(table.search(tag, |_| false), Err(free));
                table.table[free].number = 0;
            }
        }
    }
}
