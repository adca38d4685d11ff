//! An open-addressing hash table of small integers; a slot has a 32-bit hash tag and an integer.
//!
//! The keys are stored elsewhere. So the table is small, which matters if it does not fit into a
//! cache. The table grows without reading keys, and keys are compared only if tags match. The first
//! bits of the tag choose the slot, so look-ups in the order of tags stay within a small part of
//! the table.
//!
//! But keys may come in the order of their hashes, for example from another table that was filled
//! partition by partition. A table that grows with such keys gets more keys for its first slots
//! than these slots can hold. So after one window of taken slots, the search continues in a window
//! elsewhere, chosen by the whole tag. However many keys belong to the same slots, each key takes
//! few probes. A linear search along all taken slots would take quadratic time.

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
pub(crate) mod tests;
