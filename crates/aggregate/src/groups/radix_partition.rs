//! Counts and sums of rows whose groups are not looked up yet, partitioned by the hash of the rows'
//! key. A key is an integer or the form of a string.
//!
//! The tables of millions of groups do not fit into a cache. So rows are buffered here, partitioned
//! by the first bits of the key's hash, which also order the slots of the key's table (see
//! `groups/int_table.rs`). When one partition is full, all partitions are added to the groups, one
//! after the other. Each partition touches only a slice of the table and a slice of the
//! accumulators of new groups. These slices fit into a cache.

use crate::groups::int_table::TableInt;

/// Number of bits of a hash that choose the partition.
const PART_BITS: u32 = 8;
/// Number of partitions.
pub(crate) const PARTS: usize = 1 << PART_BITS;
/// The largest bytes of one partition: 32 MiB in all. A little less than a power of two, so that
/// the ends of the partitions are not all in the same cache set.
pub(crate) const PART_BYTES_MAX: usize = (1 << 17) - 192;
/// The bytes of one partition until it was full once. Few rows then need little memory: zeroing 32
/// MiB took a tenth of a query about a million groups.
pub(crate) const PART_BYTES_FIRST: usize = PART_BYTES_MAX / 4;
/// The maximum number of numbers beside the key, so that a partition holds many entries.
pub(crate) const WIDTH_MAX: usize = 8;

/// The partition of a key whose hash begins with these bits.
#[inline]
pub(crate) const fn part_of(tag: u32) -> usize {
    (tag >> (u32::BITS - PART_BITS)) as usize
}

/// The bytes of a partition after it was full.
pub(crate) fn larger(part_bytes: usize) -> usize {
    PART_BYTES_MAX.min(2 * part_bytes)
}

/// Entries by partition: a key, and what to add to the numbers of its group.
#[derive(Clone, Debug)]
pub(crate) struct RadixPartitions<W> {
    /// Number of numbers of an entry beside the key, at most [`WIDTH_MAX`].
    width: usize,
    /// Bytes of a partition.
    part_bytes: usize,
    /// The capacity of a partition, in entries.
    room: usize,
    ints: Vec<W>,
    numbers: Vec<i64>,
    /// By partition: the number of entries.
    lengths: Vec<usize>,
}

impl<W: TableInt> RadixPartitions<W> {
    /// Empty partitions, with `width` numbers per entry beside the key.
    pub(crate) fn new(width: usize) -> Self {
        debug_assert!(width <= WIDTH_MAX, "an entry of {width} numbers");
        Self::of(width, PART_BYTES_FIRST)
    }

    /// Empty partitions of this many bytes each.
    fn of(width: usize, part_bytes: usize) -> Self {
        let room = part_bytes / (size_of::<W>() + width * size_of::<i64>());
        let (ints, numbers) = (vec![W::ZERO; PARTS * room], vec![0; PARTS * room * width]);
        Self { width, part_bytes, room, ints, numbers, lengths: vec![0; PARTS] }
    }

    /// The number of numbers of an entry beside the key.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// Adds an entry by the first bits of a hash, unless its partition is full. Returns whether it
    /// was added.
    ///
    /// # Panics
    /// If N is not the width.
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

    /// The keys of a partition's entries.
    pub(crate) fn ints(&self, part: usize) -> &[W] {
        &self.ints[part * self.room..][..self.lengths[part]]
    }

    /// The numbers of a partition's entries; those of an entry are adjacent.
    pub(crate) fn numbers(&self, part: usize) -> &[i64] {
        &self.numbers[part * self.room * self.width..][..self.lengths[part] * self.width]
    }

    /// Drops all entries after a partition was full. Partitions grow to twice their size, up to
    /// [`PART_BYTES_MAX`].
    pub(crate) fn clear(&mut self) {
        if self.part_bytes < PART_BYTES_MAX {
            // Frees the memory before it takes more.
            (self.ints, self.numbers) = (Vec::new(), Vec::new());
            *self = Self::of(self.width, larger(self.part_bytes));
        } else {
            self.lengths.fill(0);
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.ints.capacity() * size_of::<W>() + self.numbers.capacity() * size_of::<i64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds<W: TableInt + From<u32>, const N: usize>() {
        let mut partitions = RadixPartitions::<W>::new(N);
        assert!(partitions.is_empty() && partitions.width() == N);
        let number = |part: usize, at: usize| u32::try_from(part * 100_000 + at).expect("small");
        for part_bytes in [PART_BYTES_FIRST, 2 * PART_BYTES_FIRST, PART_BYTES_MAX, PART_BYTES_MAX] {
            let most = part_bytes / (size_of::<W>() + 8 * N);
            for (part, count) in [(0, 3), (7, most + 2), (PARTS - 1, most)] {
                for at in 0..count {
                    let tag = u32::try_from(part << (u32::BITS - PART_BITS) | at).expect("32 bits");
                    let numbers = [number(1, at).into(); N];
                    assert_eq!(partitions.push(tag, number(part, at).into(), &numbers), at < most);
                }
                assert_eq!(partitions.ints(part).len(), count.min(most));
                assert_eq!(partitions.numbers(part).len(), count.min(most) * N);
                let (entries, _) = partitions.numbers(part).as_chunks::<N>();
                for (at, entry) in partitions.ints(part).iter().zip(entries).enumerate() {
                    let expected = (number(part, at).into(), [number(1, at).into(); N]);
                    assert_eq!((*entry.0, *entry.1), expected);
                }
            }
            assert_eq!((partitions.ints(1).len(), partitions.numbers(1).len()), (0, 0));
            let bytes = PARTS * part_bytes;
            assert!((bytes * 9 / 10..=bytes).contains(&partitions.bytes()));
            partitions.clear();
            assert!(
                partitions.is_empty() && (0..PARTS).all(|part| partitions.ints(part).is_empty())
            );
        }
    }

    #[test]
    fn a_part_has_its_entries_in_their_order_until_it_is_full() {
        holds::<i64, 1>();
        holds::<i64, 5>();
        holds::<u128, 1>();
        holds::<u128, WIDTH_MAX>();
    }
}
