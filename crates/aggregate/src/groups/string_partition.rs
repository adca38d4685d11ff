//! As `groups/radix_partition.rs`, by texts that are kept whole: what waits are the texts themselves, since the
//! block that they are of is gone when they are looked for.
//!
//! Those of a part lie one after the other, so they are compared, and put where they stay, in the
//! order in which they lie.

use crate::groups::radix_partition::{PART_BYTES, PARTS, RadixPartitions, part_of};

/// Bytes before each text: its length.
const LENGTH_BYTES: usize = size_of::<u32>();

/// Longer texts do not wait: a few of them would fill a part.
const TEXT_BYTES_MAX: usize = 1 << 12;

/// Entries by part: a text, and what is to be added to its group's numbers.
#[derive(Clone, Debug)]
pub(crate) struct StringPartitions {
    numbers: RadixPartitions<()>,
    /// By part: its texts, each after its length.
    texts: Vec<u8>,
    /// By part: how many of these bytes it has.
    lengths: Vec<usize>,
}

impl StringPartitions {
    /// No entries, of so many numbers beside the text.
    pub(crate) fn new(width: usize) -> Self {
        let texts = vec![0; PARTS * PART_BYTES];
        Self { numbers: RadixPartitions::new(width), texts, lengths: vec![0; PARTS] }
    }

    /// How many numbers entries have beside the text.
    pub(crate) const fn width(&self) -> usize {
        self.numbers.width()
    }

    /// Whether a text may wait at all.
    pub(crate) const fn takes(text: &str) -> bool {
        text.len() <= TEXT_BYTES_MAX
    }

    /// Adds an entry of a text that it [takes](Self::takes), by the first bits of its hash, unless
    /// its part is full; returns whether it was added.
    ///
    /// # Panics
    /// When N is not the width.
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
        if end > PART_BYTES || !self.numbers.push(tag, (), numbers) {
            return false;
        }
        let own = &mut self.texts[part * PART_BYTES + start..part * PART_BYTES + end];
        let (length, bytes) = own.split_at_mut(LENGTH_BYTES);
        // Bounded by what it takes.
        length.copy_from_slice(&u32::try_from(text.len()).unwrap_or_default().to_le_bytes());
        bytes.copy_from_slice(text.as_bytes());
        self.lengths[part] = end;
        true
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.iter().all(|&length| length == 0)
    }

    /// The texts of a part's entries.
    pub(crate) fn texts(&self, part: usize) -> impl Iterator<Item = &str> {
        let mut rest = &self.texts[part * PART_BYTES..][..self.lengths[part]];
        std::iter::from_fn(move || {
            let (length, after) = rest.split_first_chunk()?;
            let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = after;
            // Put here as a text, so it is one.
            Some(std::str::from_utf8(text).unwrap_or_default())
        })
    }

    /// The numbers of a part's entries, those of an entry side by side.
    pub(crate) fn numbers(&self, part: usize) -> &[i64] {
        self.numbers.numbers(part)
    }

    /// Forgets all entries, but keeps the room for them.
    pub(crate) fn clear(&mut self) {
        self.numbers.clear();
        self.lengths.fill(0);
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.numbers.bytes() + self.texts.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_texts_in_their_order_until_it_is_full() {
        let mut own = StringPartitions::new(2);
        assert!(own.is_empty() && own.width() == 2 && own.texts(0).next().is_none());
        let all = ["", "é", "a longer one", "", "x"];
        for (at, text) in (0..).zip(all) {
            assert!(own.push(7 << 24 | 5, text, &[at, -at]));
            assert!(own.push(u32::MAX, "last", &[1, 1]));
        }
        assert!(own.texts(7).eq(all) && own.texts(PARTS - 1).eq(["last"; 5]));
        assert_eq!(own.numbers(7), [0, 0, 1, -1, 2, -2, 3, -3, 4, -4]);
        assert!(!own.is_empty() && own.texts(6).next().is_none() && own.numbers(6).is_empty());
        own.clear();
        assert!(own.is_empty() && own.texts(7).next().is_none() && own.numbers(7).is_empty());
        assert!(own.bytes() >= PARTS * PART_BYTES);
    }

    #[test]
    fn it_is_full_of_bytes_or_of_numbers() {
        let long = "x".repeat(TEXT_BYTES_MAX);
        assert!(StringPartitions::takes(&long) && !StringPartitions::takes(&(long.clone() + "x")));
        for (text, most) in [(&*long, PART_BYTES / (TEXT_BYTES_MAX + 4)), ("", PART_BYTES / 8)] {
            let mut own = StringPartitions::new(1);
            let count = (0..).take_while(|&at| own.push(3 << 24, text, &[at])).count();
            assert_eq!(count, most);
            assert_eq!((own.texts(3).count(), own.numbers(3).len()), (most, most));
            assert!(own.texts(3).all(|one| one == text));
        }
    }
}
