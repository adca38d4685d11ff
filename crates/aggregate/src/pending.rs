//! What was counted and added up by whole numbers whose groups are not looked for yet.
//!
//! Where groups are millions, whatever finds one of them is in no cache. So what rows add to them
//! waits here, parted by the first bits of the whole numbers' hashes, which is also how the table
//! of them is laid out (see `wholes.rs`): when a part is full, all are brought in part by part, and
//! each of them stays within a slice of the table, and of the cells of its new groups, that a
//! cache holds.

/// How many bits of a hash tell its part.
const PART_BITS: u32 = 8;
/// How many parts there are.
pub(crate) const PARTS: usize = 1 << PART_BITS;
/// Numbers that a part has room for: 32 MiB in all parts. Some less than a power of two, so that
/// the ends of the parts are not all in the same set of a cache.
const PART_ROOM: usize = (1 << 14) - 24;
/// Entries have no more numbers beside the whole one, so that a part has room for many.
pub(crate) const WIDTH_MAX: usize = 8;

/// Entries by part: a whole number, and what is to be added to its group's numbers.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// Numbers of an entry beside the whole one, at most [`WIDTH_MAX`].
    width: usize,
    numbers: Vec<i64>,
    /// By part: how many numbers it has.
    lengths: Vec<usize>,
    /// What rows are added up in, block by block, before they become entries.
    pub(crate) added_up: Vec<i64>,
}

impl Pending {
    /// No entries, of so many numbers beside the whole one.
    pub(crate) fn new(width: usize) -> Self {
        debug_assert!(width <= WIDTH_MAX, "an entry of {width} numbers");
        let (numbers, lengths) = (vec![0; PARTS * PART_ROOM], vec![0; PARTS]);
        Self { width, numbers, lengths, added_up: Vec::new() }
    }

    /// How many numbers entries have beside the whole one.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// Adds an entry by the first bits of a hash, unless its part is full; returns whether it was
    /// added.
    ///
    /// # Panics
    /// When N is not the width.
    #[inline]
    #[must_use]
    pub(crate) fn push<const N: usize>(
        &mut self,
        tag: u32,
        whole: i64,
        numbers: &[i64; N],
    ) -> bool {
        assert_eq!(self.width, N, "numbers of an entry");
        let part = (tag >> (u32::BITS - PART_BITS)) as usize;
        let start = self.lengths[part];
        if start + N + 1 > PART_ROOM {
            return false;
        }
        let first = part * PART_ROOM + start;
        let entry = &mut self.numbers[first..first + N + 1];
        entry[0] = whole;
        entry[1..].copy_from_slice(numbers);
        self.lengths[part] = start + N + 1;
        true
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.iter().all(|&length| length == 0)
    }

    /// The whole numbers of a part's entries.
    pub(crate) fn wholes(&self, part: usize) -> impl Iterator<Item = i64> {
        self.part(part).iter().step_by(self.width + 1).copied()
    }

    /// The other numbers of a part's entries.
    ///
    /// # Panics
    /// When N is not the width.
    pub(crate) fn entries<const N: usize>(&self, part: usize) -> impl Iterator<Item = &[i64; N]> {
        assert_eq!(self.width, N, "numbers of an entry");
        self.part(part).chunks_exact(N + 1).filter_map(<[i64]>::last_chunk)
    }

    fn part(&self, part: usize) -> &[i64] {
        &self.numbers[part * PART_ROOM..][..self.lengths[part]]
    }

    /// Forgets all entries, but keeps the room for them.
    pub(crate) fn clear(&mut self) {
        self.lengths.fill(0);
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        (self.numbers.capacity() + self.added_up.capacity()) * size_of::<i64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds<const N: usize>() {
        let mut own = Pending::new(N);
        assert!(own.is_empty() && own.width() == N);
        let whole = |part: usize, at: usize| i64::try_from(part * 100_000 + at).expect("small");
        let most = PART_ROOM / (N + 1);
        for (part, count) in [(0, 3), (7, most + 2), (PARTS - 1, most)] {
            for at in 0..count {
                let tag = u32::try_from(part << (u32::BITS - PART_BITS) | at).expect("32 bits");
                assert_eq!(own.push(tag, whole(part, at), &[whole(1, at); N]), at < most);
            }
            let found = || own.wholes(part).zip(own.entries::<N>(part));
            assert_eq!(found().count(), count.min(most));
            for (at, (own, numbers)) in found().enumerate() {
                assert_eq!((own, numbers), (whole(part, at), &[whole(1, at); N]));
            }
        }
        assert_eq!((own.wholes(1).count(), own.entries::<N>(1).count()), (0, 0));
        own.clear();
        assert!(own.is_empty() && (0..PARTS).all(|part| own.wholes(part).count() == 0));
    }

    #[test]
    fn a_part_has_its_entries_in_their_order_until_it_is_full() {
        holds::<1>();
        holds::<5>();
        holds::<WIDTH_MAX>();
    }
}
