//! What was counted and added up by integers, or forms of texts, whose groups are not looked
//! for yet.
//!
//! Where groups are millions, whatever finds one of them is in no cache. So what rows add to them
//! waits here, parted by the first bits of the integers' hashes, which is also how the table
//! of them is laid out (see `groups/int_table.rs`): when a part is full, all are brought in part by part, and
//! each of them stays within a slice of the table, and of the accumulators of its new groups, that a
//! cache holds.

use crate::groups::int_table::TableInt;

/// How many bits of a hash tell its part.
const PART_BITS: u32 = 8;
/// How many parts there are.
pub(crate) const PARTS: usize = 1 << PART_BITS;
/// Bytes that a part has room for: 32 MiB in all parts. Some less than a power of two, so that the
/// ends of the parts are not all in the same set of a cache.
pub(crate) const PART_BYTES: usize = (1 << 17) - 192;
/// Entries have no more numbers beside the whole one, so that a part has room for many.
pub(crate) const WIDTH_MAX: usize = 8;

/// The part of something whose hash has these first bits.
#[inline]
pub(crate) const fn part_of(tag: u32) -> usize {
    (tag >> (u32::BITS - PART_BITS)) as usize
}

/// Entries by part: an integer, and what is to be added to its group's numbers.
#[derive(Clone, Debug)]
pub(crate) struct RadixPartitions<W> {
    /// Numbers of an entry beside the whole one, at most [`WIDTH_MAX`].
    width: usize,
    /// Entries that a part has room for.
    room: usize,
    ints: Vec<W>,
    numbers: Vec<i64>,
    /// By part: how many entries it has.
    lengths: Vec<usize>,
}

impl<W: TableInt> RadixPartitions<W> {
    /// No entries, of so many numbers beside the whole one.
    pub(crate) fn new(width: usize) -> Self {
        debug_assert!(width <= WIDTH_MAX, "an entry of {width} numbers");
        let room = PART_BYTES / (size_of::<W>() + width * size_of::<i64>());
        let (ints, numbers) = (vec![W::ZERO; PARTS * room], vec![0; PARTS * room * width]);
        Self { width, room, ints, numbers, lengths: vec![0; PARTS] }
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
    pub(crate) fn push<const N: usize>(&mut self, tag: u32, int: W, numbers: &[i64; N]) -> bool {
        assert_eq!(self.width, N, "numbers of an entry");
        let part = part_of(tag);
        let length = self.lengths[part];
        if length == self.room {
            return false;
        }
        let at = part * self.room + length;
        self.ints[at] = int;
        self.numbers[at * N..][..N].copy_from_slice(numbers);
        self.lengths[part] = length + 1;
        true
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.iter().all(|&length| length == 0)
    }

    /// The integers of a part's entries.
    pub(crate) fn ints(&self, part: usize) -> &[W] {
        &self.ints[part * self.room..][..self.lengths[part]]
    }

    /// The other numbers of a part's entries, those of an entry side by side.
    pub(crate) fn numbers(&self, part: usize) -> &[i64] {
        &self.numbers[part * self.room * self.width..][..self.lengths[part] * self.width]
    }

    /// Forgets all entries, but keeps the room for them.
    pub(crate) fn clear(&mut self) {
        self.lengths.fill(0);
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.ints.capacity() * size_of::<W>() + self.numbers.capacity() * size_of::<i64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds<W: TableInt + From<u32>, const N: usize>() {
        let mut own = RadixPartitions::<W>::new(N);
        assert!(own.is_empty() && own.width() == N);
        let number = |part: usize, at: usize| u32::try_from(part * 100_000 + at).expect("small");
        let most = PART_BYTES / (size_of::<W>() + 8 * N);
        for (part, count) in [(0, 3), (7, most + 2), (PARTS - 1, most)] {
            for at in 0..count {
                let tag = u32::try_from(part << (u32::BITS - PART_BITS) | at).expect("32 bits");
                let numbers = [number(1, at).into(); N];
                assert_eq!(own.push(tag, number(part, at).into(), &numbers), at < most);
            }
            assert_eq!(own.ints(part).len(), count.min(most));
            assert_eq!(own.numbers(part).len(), count.min(most) * N);
            let (entries, _) = own.numbers(part).as_chunks::<N>();
            for (at, own) in own.ints(part).iter().zip(entries).enumerate() {
                let expected = (number(part, at).into(), [number(1, at).into(); N]);
                assert_eq!((*own.0, *own.1), expected);
            }
        }
        assert_eq!((own.ints(1).len(), own.numbers(1).len()), (0, 0));
        assert!(own.bytes() >= PARTS * PART_BYTES * 9 / 10);
        own.clear();
        assert!(own.is_empty() && (0..PARTS).all(|part| own.ints(part).is_empty()));
    }

    #[test]
    fn a_part_has_its_entries_in_their_order_until_it_is_full() {
        holds::<i64, 1>();
        holds::<i64, 5>();
        holds::<u128, 1>();
        holds::<u128, WIDTH_MAX>();
    }
}
