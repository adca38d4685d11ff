//! Where small integers lie by the hashes of what they stand for: an open hash table whose slots
//! have 32 bits of the hash and the integer.
//!
//! What the integers stand for is kept elsewhere, so a slot takes little, which counts where the
//! table is in no cache, growing it looks at nothing else, and things are only compared where these
//! bits agree. Slots are laid out by the first bits, so that asking in their order stays within a
//! small part of the table.

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;

use hashbrown::DefaultHashBuilder;

/// Look-ups whose slots are read together, so that they wait for memory together.
pub(crate) const BATCH: usize = 64;
/// What stands in a slot that is free.
const FREE: u32 = u32::MAX;
/// The bits of the smallest table's index.
const BITS_MIN: u32 = 6;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The first bits of the hash.
    tag: u32,
    number: u32,
}

impl Slot {
    pub(crate) const FREE: Self = Self { tag: 0, number: FREE };

    /// The number here, where it may be of something with this tag.
    #[inline]
    pub(crate) fn number_of(self, tag: u32) -> Option<u32> {
        Some(self.number).filter(|&number| self.tag == tag && number != FREE)
    }
}

/// The numbers of some things that are told apart elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// A power of two of them, by the first bits of the hash; the next one where that is taken.
    slots: Vec<Slot>,
    len: usize,
}

/// Makes the hashes of all tables: what one of them got in the order of its slots, another finds in
/// the order of its own.
static HASHER: OnceLock<DefaultHashBuilder> = OnceLock::new();

/// What makes the hashes of all tables, for those who ask often.
pub(crate) fn hasher() -> DefaultHashBuilder {
    HASHER.get_or_init(DefaultHashBuilder::default).clone()
}

/// The first bits of the hash of something, the same wherever it is asked for.
pub(crate) fn tag_of(own: impl Hash) -> u32 {
    tag_by(&hasher(), own)
}

/// The same by the one [`hasher`].
#[inline]
pub(crate) fn tag_by(hasher: &DefaultHashBuilder, own: impl Hash) -> u32 {
    (hasher.hash_one(own) >> 32) as u32
}

impl Slots {
    /// The number of something of this tag, which `is_it` knows, if it has one.
    #[inline]
    pub(crate) fn find(&self, tag: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.search(tag, is_it).ok()
    }

    /// The same, and the number that `push` gives out where it has none yet. There must be
    /// [room](Self::reserve_ahead).
    // A call for each look-up takes a tenth of its time.
    #[inline(always)]
    pub(crate) fn find_or_push<S>(
        &mut self,
        tag: u32,
        store: &mut S,
        is_it: impl Fn(&S, u32) -> bool,
        push: impl FnOnce(&mut S) -> u32,
    ) -> u32 {
        match self.search(tag, |number| is_it(store, number)) {
            Ok(number) => number,
            Err(at) => {
                let number = push(store);
                self.slots[at] = Slot { tag, number };
                self.len += 1;
                number
            }
        }
    }

    /// Puts in the number of something of this tag that has none yet. There must be
    /// [room](Self::reserve_ahead).
    pub(crate) fn insert(&mut self, tag: u32, number: u32) {
        if let Err(at) = self.search(tag, |_| false) {
            self.slots[at] = Slot { tag, number };
            self.len += 1;
        }
    }

    /// The number, or the free slot that is next to where it is looked for.
    #[inline(always)]
    fn search(&self, tag: u32, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = self.home(tag);
        loop {
            let slot = self.slots[at];
            if slot.number == FREE {
                return Err(at);
            }
            if slot.tag == tag && is_it(slot.number) {
                return Ok(slot.number);
            }
            at = (at + 1) & mask;
        }
    }

    /// Reads the slots where things of these tags are looked for first.
    ///
    /// # Panics
    /// Before there was room for anything.
    #[inline]
    pub(crate) fn read(&self, tags: &[u32], read: &mut [Slot]) {
        for (slot, tag) in read.iter_mut().zip(tags) {
            *slot = self.slots[self.home(*tag)];
        }
    }

    /// Where something of this tag is looked for first.
    #[inline]
    fn home(&self, tag: u32) -> usize {
        tag as usize >> (u32::BITS - self.slots.len().trailing_zeros())
    }

    /// Makes room for so many more, and where there is none for some others, too: growing again
    /// costs more than room that is not needed.
    pub(crate) fn reserve_ahead(&mut self, more: usize, others: usize) {
        // At most three of four slots are taken.
        let slots = |taken: usize| taken * 4 / 3 + 1;
        if slots(self.len + more) <= self.slots.len() {
            return;
        }
        let wanted = slots(self.len + more + others).next_power_of_two();
        let free = vec![Slot::FREE; wanted.max(1 << BITS_MIN)];
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

    /// How many things are known.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }
}
