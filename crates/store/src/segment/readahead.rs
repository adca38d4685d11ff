//! Reads a file ahead while its blocks are read from its end to its beginning.

use std::ops::Range;

/// Bytes that are read ahead at once.
pub(super) const READAHEAD_BYTES: u64 = 8 << 20;
/// Blocks with at most this many bytes between them count as neighbours: several threads do not
/// keep the exact order.
const NEIGHBOUR_BYTES: u64 = 1 << 20;

/// The range that was requested so far. Requests begin when two neighbours are read, so that
/// reading single blocks all over the file causes none.
#[derive(Debug, Default)]
pub(super) struct Readahead {
    /// The requested range that is still followed.
    asked: Range<u64>,
    /// The offset of the block that was read last.
    last: Option<u64>,
}

impl Readahead {
    /// The range to request now that the block at `start..end` is read; `None` while enough is
    /// requested.
    pub(super) fn next(&mut self, start: u64, end: u64) -> Option<Range<u64>> {
        let is_neighbour =
            self.last.replace(start).is_some_and(|last| last.abs_diff(end) <= NEIGHBOUR_BYTES);
        let is_asked = self.asked.start < end && end <= self.asked.end;
        if !is_asked && !is_neighbour {
            return None;
        }
        if !is_asked {
            self.asked = end..end;
        }
        let until = self.asked.start;
        // While half of the range is unread, the next one is not needed yet.
        if until == 0 || until.saturating_add(READAHEAD_BYTES / 2) < end {
            return None;
        }
        self.asked.start = until.saturating_sub(READAHEAD_BYTES);
        Some(self.asked.start..until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// The requests while blocks of this length are read from `from` down to the beginning.
    fn asked(readahead: &mut Readahead, from: u64, length: u64) -> Vec<(u64, u64)> {
        let ends = (1..=from / length).rev().map(|block| block * length);
        let next = ends.filter_map(|end| readahead.next(end - length, end));
        next.map(|range| (range.start / MIB, range.end / MIB)).collect()
    }

    #[test]
    fn neighbours_are_read_ahead_each_byte_once() {
        for length in [50_000, MIB / 2, 3 * MIB] {
            let from = 30 * MIB / length * length;
            let asked = asked(&mut Readahead::default(), from, length);
            assert_eq!(asked.last().map(|range| range.0), Some(0), "{length}");
            let joined = asked.windows(2).all(|pair| pair[0].0 == pair[1].1);
            assert!(joined && asked.len() >= 3, "{asked:?}");
        }
    }

    #[test]
    fn single_blocks_have_nothing_read_ahead_and_are_in_nobody_s_way() {
        let mut readahead = Readahead::default();
        for end in [60, 5, 40, 10, 0, 20] {
            assert_eq!(readahead.next(end * MIB, end * MIB + 4_096), None);
        }
        let asked = asked(&mut readahead, 30 * MIB, MIB);
        assert_eq!(asked[0], (21, 29));
        assert_eq!(asked.last(), Some(&(0, 5)));
        // A jump to another position.
        assert_eq!(readahead.next(59 * MIB, 60 * MIB), None);
        assert_eq!(readahead.next(58 * MIB, 59 * MIB), Some(51 * MIB..59 * MIB));
    }

    #[test]
    fn two_threads_that_change_places_are_no_trouble() {
        let mut readahead = Readahead::default();
        let ends = [40, 39, 37, 38, 36, 34, 35, 33, 32, 31].map(|at| at * MIB);
        let asked: Vec<_> = ends.iter().filter_map(|end| readahead.next(end - MIB, *end)).collect();
        assert_eq!(asked, [31 * MIB..39 * MIB, 23 * MIB..31 * MIB]);
    }
}
