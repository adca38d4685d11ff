//! A set of log sequences, kept as ranges.

use std::collections::BTreeMap;

use crate::ids::Sequence;

/// A set of sequences: disjoint inclusive ranges that are never adjacent, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SequenceSet {
    /// First to last.
    ranges: BTreeMap<u64, u64>,
}

impl SequenceSet {
    /// Adds all of `first..=last`.
    pub(crate) fn insert(&mut self, first: u64, last: u64) {
        let (mut first, mut last) = (first, last);
        if first > last {
            return;
        }
        // Every range that begins before or just after the end, from the back, while it is
        // adjacent.
        while let Some((&start, &end)) = self.ranges.range(..=last.saturating_add(1)).next_back()
            && end.saturating_add(1) >= first
        {
            self.ranges.remove(&start);
            first = first.min(start);
            last = last.max(end);
        }
        self.ranges.insert(first, last);
    }

    /// Removes all of `first..=last`.
    pub(crate) fn remove_all(&mut self, first: u64, last: u64) {
        while let Some((&start, &end)) = self.ranges.range(..=last).next_back()
            && end >= first
        {
            self.ranges.remove(&start);
            if start < first {
                self.ranges.insert(start, first - 1);
            }
            if end > last {
                self.ranges.insert(last + 1, end);
            }
        }
    }

    /// Whether all of `first..=last` are in the set.
    pub(crate) fn contains_all(&self, first: u64, last: u64) -> bool {
        self.ranges.range(..=first).next_back().is_some_and(|(_, &end)| last <= end)
    }

    /// Whether the sequence is in the set.
    pub(crate) fn contains(&self, sequence: u64) -> bool {
        self.contains_all(sequence, sequence)
    }

    /// The largest sequence in the set.
    pub(crate) fn last(&self) -> Option<u64> {
        self.ranges.values().next_back().copied()
    }

    /// The ranges as (first, last), in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ranges.iter().map(|(&first, &last)| (first, last))
    }

    /// The number of ranges.
    pub(crate) fn range_count(&self) -> usize {
        self.ranges.len()
    }
}

impl FromIterator<Sequence> for SequenceSet {
    fn from_iter<I: IntoIterator<Item = Sequence>>(sequences: I) -> Self {
        let mut set = Self::default();
        for Sequence(sequence) in sequences {
            set.insert(sequence, sequence);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_agree_with_a_plain_set(
            changes in prop::collection::vec((0u64..60, 0u64..8, 0..4), 0..40),
        ) {
            let mut plain = BTreeSet::new();
            let mut set = SequenceSet::default();
            for (first, more, kind) in changes {
                if kind == 0 {
                    plain.retain(|sequence| !(first..=first + more).contains(sequence));
                    set.remove_all(first, first + more);
                } else {
                    plain.extend(first..=first + more);
                    set.insert(first, first + more);
                }
                for sequence in 0..70 {
                    prop_assert_eq!(set.contains(sequence), plain.contains(&sequence));
                    let all = (sequence..=sequence + more).all(|sequence| plain.contains(&sequence));
                    prop_assert_eq!(set.contains_all(sequence, sequence + more), all);
                }
                let ranges: Vec<_> = set.iter().collect();
                for pair in ranges.windows(2) {
                    prop_assert!(pair[0].1 + 1 < pair[1].0, "{:?} touch", pair);
                }
            }
            prop_assert_eq!(set.last(), plain.last().copied());
        }
    }

    #[test]
    fn the_edges_are_ordinary_sequences() {
        let mut set = SequenceSet::default();
        set.insert(u64::MAX - 1, u64::MAX);
        set.insert(0, 0);
        set.insert(5, 4);
        assert!(set.contains(u64::MAX) && set.contains(0) && !set.contains(5));
        assert_eq!(set.range_count(), 2);
        set.remove_all(0, u64::MAX - 1);
        assert!(set.contains(u64::MAX) && set.range_count() == 1);
    }
}
