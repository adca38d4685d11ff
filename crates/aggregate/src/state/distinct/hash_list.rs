//! Hashes of few different values.

use std::borrow::Cow;

use hadal_types::limits::DISTINCT_EXACT_VALUES;

/// Hashes in order of arrival, some of them repeated. To append one is faster than to look it up in
/// a set: the sets of some hundred groups exceed the caches. Repeated hashes are removed before the
/// list grows.
#[derive(Clone, Debug, Default)]
pub(super) struct HashList {
    hashes: Vec<u64>,
}

/// Hashes for which a list has room once it has more than a few.
const ROOM_MIN: usize = 16;
/// Hashes for which a list has room at most. Without repeated ones, half of it is free.
const ROOM_MAX: usize = 2 * DISTINCT_EXACT_VALUES;
/// Hashes from which counting their heads is faster than sorting them.
const COUNTED_MIN: usize = 64;
/// Leading bits of a hash that are its head. There are eight heads for each hash of the longest
/// list.
const HEAD_BITS: u32 = 14;
const _: () = assert!(1 << HEAD_BITS == 8 * ROOM_MAX);

impl HashList {
    /// A list of these hashes.
    pub(super) const fn of(hashes: Vec<u64>) -> Self {
        Self { hashes }
    }

    /// Appends a hash. Returns `false`, and does not append the hash, if the list has more than
    /// [`DISTINCT_EXACT_VALUES`] different hashes.
    #[must_use]
    pub(super) fn add(&mut self, hash: u64) -> bool {
        if self.hashes.len() == self.hashes.capacity() && !self.make_room() {
            return false;
        }
        self.hashes.push(hash);
        true
    }

    /// Makes room for more hashes. Returns `false` if there are too many different ones.
    #[cold]
    fn make_room(&mut self) -> bool {
        let room = self.hashes.len();
        let different = least_different(&self.hashes);
        if different > DISTINCT_EXACT_VALUES {
            return false;
        }
        // If many are repeated, less room is enough.
        if different <= room / 2 || room >= ROOM_MAX {
            self.hashes.sort_unstable();
            self.hashes.dedup();
        }
        let different = self.hashes.len();
        if different > room / 2 && room < ROOM_MAX {
            // Grows fourfold, because most sets that grow at all soon become sketches.
            let more = (4 * room).clamp(ROOM_MIN, ROOM_MAX) - different;
            self.hashes.reserve_exact(more);
        }
        different <= DISTINCT_EXACT_VALUES || room < ROOM_MAX
    }

    /// All hashes, some of them repeated.
    pub(super) fn all(&self) -> &[u64] {
        &self.hashes
    }

    /// The different hashes, sorted.
    pub(super) fn different(&self) -> Cow<'_, [u64]> {
        if self.hashes.is_sorted_by(|left, right| left < right) {
            return Cow::Borrowed(&self.hashes);
        }
        let mut sorted = self.hashes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        Cow::Owned(sorted)
    }

    /// Approximate bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.hashes.capacity() * size_of::<u64>()
    }
}

/// A number that the different hashes are not below: the number of different heads; 0 if sorting is
/// faster.
fn least_different(hashes: &[u64]) -> usize {
    const WORDS: usize = 1 << (HEAD_BITS - u64::BITS.ilog2());
    if hashes.len() < COUNTED_MIN {
        return 0;
    }
    let mut heads = [0u64; WORDS];
    for hash in hashes {
        let head = hash >> (u64::BITS - HEAD_BITS);
        heads[(head / 64) as usize % WORDS] |= 1 << (head % 64);
    }
    heads.iter().map(|word| word.count_ones() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::value_hash::hash_decimal;

    #[test]
    fn repeated_hashes_take_no_room() {
        for different in [1, 7, 60, 500, 1_024] {
            let mut list = HashList::default();
            for round in 0..100_000 {
                assert!(list.add(hash_decimal(round * 31 % different, 0)));
            }
            let room = list.heap_bytes() / size_of::<u64>();
            assert!(room <= 8 * usize::try_from(different).expect("fits") + ROOM_MIN, "{room}");
            assert!(room <= ROOM_MAX);
            assert_eq!(i64::try_from(list.different().len()), Ok(different));
        }
    }

    #[test]
    fn a_list_ends_when_there_are_too_many() {
        let mut list = HashList::default();
        let added = (0..10_000).take_while(|value| list.add(hash_decimal(*value, 0))).count();
        assert!((DISTINCT_EXACT_VALUES + 1..=ROOM_MAX).contains(&added), "{added}");
    }

    #[test]
    fn equal_heads_do_not_hide_values() {
        // All hashes have the same head.
        let mut list = HashList::default();
        let added = (0..10_000).take_while(|hash| list.add(*hash)).count();
        assert_eq!(added, ROOM_MAX);
        let mut list = HashList::default();
        assert!((0..100_000).all(|hash| list.add(hash % 1_024)));
        assert_eq!(list.different().len(), 1_024);
    }
}
