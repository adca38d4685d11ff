//! Partitions rows as `groups/radix_partition.rs` does, for plain strings. The strings themselves
//! are buffered, because their block is gone when the strings are looked up.
//!
//! The strings of a partition are adjacent. They are compared and moved to the dictionary in the
//! order in which they are buffered.

use crate::groups::radix_partition::{PART_BYTES_FIRST, PARTS, RadixPartitions, larger, part_of};

/// Bytes of the length before each string.
const LENGTH_BYTES: usize = size_of::<u32>();

/// Longer strings are not deferred: a few of them would fill a partition.
const TEXT_BYTES_MAX: usize = 1 << 12;

/// Entries by partition: a string, and what to add to the numbers of its group.
#[derive(Clone, Debug)]
pub(crate) struct StringPartitions {
    numbers: RadixPartitions<()>,
    /// Bytes of the strings of a partition.
    part_bytes: usize,
    /// By partition: its strings, each after its length.
    texts: Vec<u8>,
    /// By partition: the number of bytes in use.
    lengths: Vec<usize>,
}

impl StringPartitions {
    /// Empty partitions, with `width` numbers per entry beside the string.
    pub(crate) fn new(width: usize) -> Self {
        let (part_bytes, texts) = (PART_BYTES_FIRST, vec![0; PARTS * PART_BYTES_FIRST]);
        Self { numbers: RadixPartitions::new(width), part_bytes, texts, lengths: vec![0; PARTS] }
    }

    /// The number of numbers of an entry beside the string.
    pub(crate) const fn width(&self) -> usize {
        self.numbers.width()
    }

    /// Whether a string can be deferred.
    pub(crate) const fn takes(text: &str) -> bool {
        text.len() <= TEXT_BYTES_MAX
    }

    /// Adds an entry by the first bits of the string's hash, unless its partition is full. The
    /// string must be one that it [takes](Self::takes). Returns whether the entry was added.
    ///
    /// # Panics
    /// If N is not the width.
    #[inline]
    #[must_use]
    pub(crate) fn push<const N: usize>(
        &mut self,
        tag: u32,
        text: &str,
        numbers: &[i64; N],
    ) -> bool {
        let part = part_of(tag);
        let (start, end) = (self.lengths[part], self.lengths[part] + LENGTH_BYTES + text.len());
        if end > self.part_bytes || !self.numbers.push(tag, (), numbers) {
            return false;
        }
        let entry = &mut self.texts[part * self.part_bytes..][start..end];
        let (length, bytes) = entry.split_at_mut(LENGTH_BYTES);
        // [`Self::takes`] bounds the length.
        length.copy_from_slice(&u32::try_from(text.len()).unwrap_or_default().to_le_bytes());
        bytes.copy_from_slice(text.as_bytes());
        self.lengths[part] = end;
        true
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.iter().all(|&length| length == 0)
    }

    /// The strings of a partition's entries.
    pub(crate) fn texts(&self, part: usize) -> impl Iterator<Item = &str> {
        let mut rest = &self.texts[part * self.part_bytes..][..self.lengths[part]];
        std::iter::from_fn(move || {
            let (length, after) = rest.split_first_chunk()?;
            let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = after;
            // The bytes come from a string, so they are UTF-8.
            Some(std::str::from_utf8(text).unwrap_or_default())
        })
    }

    /// The numbers of a partition's entries; those of an entry are adjacent.
    pub(crate) fn numbers(&self, part: usize) -> &[i64] {
        self.numbers.numbers(part)
    }

    /// Drops all entries after a partition was full. Partitions grow, as those of
    /// [`RadixPartitions`].
    pub(crate) fn clear(&mut self) {
        self.numbers.clear();
        self.lengths.fill(0);
        if larger(self.part_bytes) > self.part_bytes {
            self.part_bytes = larger(self.part_bytes);
            // Frees the memory before it takes more.
            self.texts = Vec::new();
            self.texts = vec![0; PARTS * self.part_bytes];
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.numbers.bytes() + self.texts.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::radix_partition::PART_BYTES_MAX;

    #[test]
    fn a_part_has_its_texts_in_their_order_until_it_is_full() {
        let mut partitions = StringPartitions::new(2);
        assert!(
            partitions.is_empty()
                && partitions.width() == 2
                && partitions.texts(0).next().is_none()
        );
        let all = ["", "é", "a longer one", "", "x"];
        for (at, text) in (0..).zip(all) {
            assert!(partitions.push(7 << 24 | 5, text, &[at, -at]));
            assert!(partitions.push(u32::MAX, "last", &[1, 1]));
        }
        assert!(partitions.texts(7).eq(all) && partitions.texts(PARTS - 1).eq(["last"; 5]));
        assert_eq!(partitions.numbers(7), [0, 0, 1, -1, 2, -2, 3, -3, 4, -4]);
        assert!(
            !partitions.is_empty()
                && partitions.texts(6).next().is_none()
                && partitions.numbers(6).is_empty()
        );
        partitions.clear();
        assert!(
            partitions.is_empty()
                && partitions.texts(7).next().is_none()
                && partitions.numbers(7).is_empty()
        );
        assert!(partitions.bytes() >= 2 * PARTS * PART_BYTES_FIRST);
    }

    #[test]
    fn it_is_full_of_bytes_or_of_numbers() {
        let long = "x".repeat(TEXT_BYTES_MAX);
        assert!(StringPartitions::takes(&long) && !StringPartitions::takes(&(long.clone() + "x")));
        for (text, bytes) in [(&*long, TEXT_BYTES_MAX + LENGTH_BYTES), ("", 8)] {
            let mut partitions = StringPartitions::new(1);
            for part_bytes in
                [PART_BYTES_FIRST, 2 * PART_BYTES_FIRST, PART_BYTES_MAX, PART_BYTES_MAX]
            {
                let count = (0..).take_while(|&at| partitions.push(3 << 24, text, &[at])).count();
                assert_eq!(count, part_bytes / bytes);
                let counts = (partitions.texts(3).count(), partitions.numbers(3).len());
                assert_eq!(counts, (count, count));
                assert!(partitions.texts(3).all(|one| one == text));
                partitions.clear();
            }
        }
    }
}
