//! Where small integers lie by the hashes of what they stand for: an open hash table whose slots
//! have 32 bits of the hash and the integer.
//!
//! What the integers stand for is kept elsewhere, so a slot takes little, which counts where the
//! table is in no cache, growing it looks at nothing else, and things are only compared where these
//! bits agree. Slots are laid out by the first bits, so that asking in their order stays within a
//! small part of the table.
//!
//! But what comes in the order of hashes, as from another table that was filled part by part, comes
//! to a table that grows with it in its first slots only, where more is put than there is room for.
//! So a stretch of slots that is taken is left for one elsewhere, which the rest of the hash tells:
//! however many crowd somewhere, each takes a few looks. One search along all slots that are taken
//! would take time that grows with the square of their number.

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;

use hashbrown::DefaultHashBuilder;

/// Look-ups whose slots are read together, so that they wait for memory together.
pub(crate) const BATCH: usize = 64;
/// What stands in a slot that is free.
const FREE: u32 = u32::MAX;
/// Slots that are looked at side by side, two lines of a cache or three; then others are, elsewhere.
/// Where hashes are spread, hardly any search leaves its first stretch.
const STRETCH: usize = 16;
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
pub(crate) struct TagTable {
    /// A power of two of them, by the first bits of the hash; the next one where that is taken.
    table: Vec<Slot>,
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

/// The tag in whose index something of this tag is looked for after so many stretches: of as many
/// stretches as there are tags, each begins elsewhere, so a free slot is always found.
///
/// Multiplies by odd constants: 2^32 / φ, and the first of MurmurHash3's finalizer (A. Appleby).
#[inline]
const fn elsewhere(tag: u32, stretch: u32) -> u32 {
    (tag ^ stretch.wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B)
}

impl TagTable {
    /// The number of something of this tag, which `matches` knows, if it has one.
    #[inline]
    pub(crate) fn find(&self, tag: u32, matches: impl Fn(u32) -> bool) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        self.search(tag, matches).ok()
    }

    /// The same, and the number that `push` gives out where it has none yet. There must be
    /// [room](Self::reserve_ahead).
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

    /// Puts in the number of something of this tag that has none yet. There must be
    /// [room](Self::reserve_ahead).
    pub(crate) fn insert(&mut self, tag: u32, number: u32) {
        if let Err(at) = self.search(tag, |_| false) {
            self.table[at] = Slot { tag, number };
            self.len += 1;
        }
    }

    /// The number, or the free slot that is next to where it is looked for.
    #[inline(always)]
    fn search(&self, tag: u32, matches: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.table.len() - 1;
        let (mut start, mut stretch) = (self.home(tag), 0);
        loop {
            for step in 0..STRETCH {
                let at = (start + step) & mask;
                #[cfg(test)]
                tests::note_look();
                let slot = self.table[at];
                if slot.number == FREE {
                    return Err(at);
                }
                if slot.tag == tag && matches(slot.number) {
                    return Ok(slot.number);
                }
            }
            stretch += 1;
            start = self.home(elsewhere(tag, stretch));
        }
    }

    /// Reads the slots where things of these tags are looked for first.
    ///
    /// # Panics
    /// Before there was room for anything.
    #[inline]
    pub(crate) fn read(&self, tags: &[u32], read: &mut [Slot]) {
        for (slot, tag) in read.iter_mut().zip(tags) {
            *slot = self.table[self.home(*tag)];
        }
    }

    /// Where something of this tag is looked for first.
    #[inline]
    fn home(&self, tag: u32) -> usize {
        tag as usize >> (u32::BITS - self.table.len().trailing_zeros())
    }

    /// Makes room for so many more, and where there is none for some others, too: growing again
    /// costs more than room that is not needed.
    pub(crate) fn reserve_ahead(&mut self, more: usize, others: usize) {
        // At most three of four slots are taken.
        let table = |taken: usize| taken * 4 / 3 + 1;
        if table(self.len + more) <= self.table.len() {
            return;
        }
        let wanted = table(self.len + more + others).next_power_of_two();
        let free = vec![Slot::FREE; wanted.max(1 << BITS_MIN)];
        let old = std::mem::replace(&mut self.table, free);
        // By their first bits: what lay side by side comes to lie side by side.
        for slot in old.into_iter().filter(|slot| slot.number != FREE) {
            if let Err(at) = self.search(slot.tag, |_| false) {
                self.table[at] = slot;
            }
        }
    }

    /// How many things are known.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.table.capacity() * size_of::<Slot>()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static LOOKS: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn note_look() {
        LOOKS.set(LOOKS.get() + 1);
    }

    /// How many slots of all tables this thread looks at meanwhile, while it searches.
    pub(crate) fn looks<T>(work: impl FnOnce() -> T) -> (usize, T) {
        let before = LOOKS.get();
        let done = work();
        (LOOKS.get() - before, done)
    }

    /// Puts in numbers of these tags, so many at a time, and returns the most looks that one of them
    /// takes, and how many all take on average; of one look-up more each.
    fn put_in(table: &mut TagTable, tags: &[u32], at_once: usize) -> (usize, usize) {
        let (mut most, first) = (0, table.len);
        let (all, ()) = looks(|| {
            for tags in tags.chunks(at_once) {
                table.reserve_ahead(tags.len(), 0);
                for &tag in tags {
                    let number = u32::try_from(table.len).expect("few");
                    most = most.max(looks(|| table.insert(tag, number)).0);
                }
            }
            for (number, &tag) in (first..).zip(tags) {
                let matches = |own| own as usize == number;
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
        for known in [0, 1_000, 30_000, 49_000, 60_000, 98_000] {
            for (at_once, sorted) in
                [(1, false), (64, false), (10_000, false), (1, true), (64, true), (10_000, true)]
            {
                let mut table = TagTable::default();
                put_in(&mut table, &tags(known, 0), 64);
                let mut new = tags(60_000, known);
                // As another table was filled, tag by tag or part by part.
                if sorted {
                    new.sort_unstable()
                } else {
                    new.sort_by_key(|tag| tag >> 24)
                }
                let (most, mean) = put_in(&mut table, &new, at_once);
                assert!(
                    most < 500 && mean < 50,
                    "{known} are known, {at_once} at once, sorted {sorted}: {most} looks for one, \
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
