//! The free ranges of a segment file.

use std::collections::BTreeMap;

/// Free ranges: disjoint, never adjacent, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeRanges {
    /// Offset to length.
    ranges: BTreeMap<u64, u64>,
}

impl FreeRanges {
    /// Returns one free range.
    pub(crate) fn new(offset: u64, length: u64) -> Self {
        let mut free = Self { ranges: BTreeMap::new() };
        free.give(offset, length);
        free
    }

    /// Takes the first range that is long enough; returns its offset.
    pub(crate) fn take_first(&mut self, length: u64) -> Option<u64> {
        let offset = self.iter().find(|&(_, free)| free >= length)?.0;
        self.take(offset, length).then_some(offset)
    }

    /// Takes this exact range. Returns `false`, and takes nothing, if not all of it is free.
    pub(crate) fn take(&mut self, offset: u64, length: u64) -> bool {
        let Some(end) = offset.checked_add(length) else { return false };
        let Some((&start, &free)) = self.ranges.range(..=offset).next_back() else { return false };
        let free_end = start + free;
        if end > free_end {
            return false;
        }
        self.ranges.remove(&start);
        if start < offset {
            self.ranges.insert(start, offset - start);
        }
        if end < free_end {
            self.ranges.insert(end, free_end - end);
        }
        true
    }

    /// Gives back a taken range and unites it with its free neighbours.
    pub(crate) fn give(&mut self, offset: u64, length: u64) {
        let (mut start, mut end) = (offset, offset + length);
        if let Some((&before, &free)) = self.ranges.range(..offset).next_back()
            && before + free == start
        {
            self.ranges.remove(&before);
            start = before;
        }
        if let Some(free) = self.ranges.remove(&end) {
            end += free;
        }
        if start < end {
            self.ranges.insert(start, end - start);
        }
    }

    /// The free ranges as (offset, length), in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ranges.iter().map(|(&offset, &length)| (offset, length))
    }

    /// Whether nothing is free.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether exactly this range is free. For the range of the whole file: whether nothing is
    /// taken.
    pub(crate) fn is_only(&self, offset: u64, length: u64) -> bool {
        self.ranges.len() == 1 && self.ranges.get(&offset) == Some(&length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(offset: u64) -> usize {
        usize::try_from(offset).expect("small")
    }

    #[test]
    fn a_range_is_taken_once() {
        let mut free = FreeRanges::new(10, 10);
        assert!(!free.take(5, 6));
        assert!(!free.take(15, 6));
        assert!(!free.take(u64::MAX, 2));
        assert!(free.take(12, 3));
        assert!(!free.take(14, 1));
        assert_eq!(free.iter().collect::<Vec<_>>(), [(10, 2), (15, 5)]);
        assert_eq!(free.take_first(3), Some(15));
        assert_eq!(free.take_first(3), None);
    }

    proptest! {
        /// Against a plain list of bytes: a taken range is never taken again, and giving all back
        /// leaves one range.
        #[test]
        fn ranges_agree_with_a_byte_map(steps in prop::collection::vec((1u64..9, 0usize..8), 1..60)) {
            let mut free = FreeRanges::new(0, 64);
            let mut used = [false; 64];
            let mut taken: Vec<(u64, u64)> = Vec::new();
            for (length, give) in steps {
                if let Some(offset) = free.take_first(length) {
                    for byte in &mut used[at(offset)..at(offset + length)] {
                        prop_assert!(!*byte);
                        *byte = true;
                    }
                    taken.push((offset, length));
                }
                if give < taken.len() {
                    let (offset, length) = taken.swap_remove(give);
                    used[at(offset)..at(offset + length)].fill(false);
                    free.give(offset, length);
                }
                let total: u64 = free.iter().map(|(_, length)| length).sum();
                prop_assert_eq!(at(total), used.iter().filter(|byte| !**byte).count());
            }
            for (offset, length) in taken {
                free.give(offset, length);
            }
            prop_assert!(free.is_only(0, 64));
        }
    }
}
