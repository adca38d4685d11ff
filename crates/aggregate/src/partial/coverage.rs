//! How much of the data a result covers, and the cost of scanning it.

use hadal_types::LeafName;
use hadal_types::limits::LEAVES_MAX;

/// How much of the data was asked for, and how much was scanned.
///
/// Counts of leaves can be added, because each leaf is asked once per query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Leaves that were asked.
    pub leaves_asked: u32,
    /// Leaves that answered.
    pub leaves_answered: u32,
    /// Leaves that answered and have the table.
    pub leaves_with_table: u32,
    /// Rows of the table that should have been scanned.
    pub rows_expected: u64,
    /// Rows of the table that were scanned, or proved not to match.
    pub rows_scanned: u64,
    /// Causes for which more rows may be missing than are expected: losses on leaves with an
    /// unknown number of rows and unknown tables, and silent aggregators that may have taken rows
    /// for leaves without an answer. If there are any, [`Coverage::fraction`] is an upper bound.
    pub unknown_losses: u64,
    /// Each leaf that was asked, in the order of names; at most [`LEAVES_MAX`].
    pub leaves: Vec<LeafCoverage>,
}

/// The outcome of a query on one leaf.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeafCoverage {
    /// The leaf.
    pub name: LeafName,
    /// Whether the leaf answered.
    pub outcome: LeafOutcome,
    /// Rows of the table that the leaf should hold.
    pub rows_expected: u64,
    /// Rows of the table that the leaf scanned.
    pub rows_scanned: u64,
    /// Microseconds from the request to its answer, or to the end of waiting.
    pub micros: u64,
    /// The start of the leaf's process, and a version of the table there: reports of this or an
    /// earlier version may be older than the answer. Zeros if the leaf says none.
    pub as_of: (u64, u64),
}

/// Whether a leaf answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeafOutcome {
    /// The leaf answered.
    Answered,
    /// The leaf did not answer in time.
    Late,
    /// The leaf was not asked, because it is stopping or restarting.
    Restarting,
    /// The leaf cannot be reached.
    Dead,
    /// The leaf's reply was not a valid answer.
    Failed,
}

impl LeafOutcome {
    /// The outcome's name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Late => "late",
            Self::Restarting => "restarting",
            Self::Dead => "dead",
            Self::Failed => "failed",
        }
    }
}

impl Coverage {
    /// The coverage of one leaf; `has_table` is whether it answered and has the table.
    #[must_use]
    pub fn of_leaf(leaf: LeafCoverage, has_table: bool) -> Self {
        Self {
            leaves_asked: 1,
            leaves_answered: u32::from(leaf.outcome == LeafOutcome::Answered),
            leaves_with_table: u32::from(has_table),
            rows_expected: leaf.rows_expected,
            rows_scanned: leaf.rows_scanned,
            unknown_losses: 0,
            leaves: vec![leaf],
        }
    }

    /// The share of the expected rows that was scanned, from 0 to 1; 1 if no rows are expected.
    /// Losses of an unknown number of rows are not expected rows.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        if self.rows_scanned >= self.rows_expected {
            1.0
        } else {
            self.rows_scanned as f64 / self.rows_expected as f64
        }
    }

    /// Adds the coverage of other leaves.
    pub fn merge(&mut self, other: Self) {
        self.leaves_asked = self.leaves_asked.saturating_add(other.leaves_asked);
        self.leaves_answered = self.leaves_answered.saturating_add(other.leaves_answered);
        self.leaves_with_table = self.leaves_with_table.saturating_add(other.leaves_with_table);
        self.rows_expected = self.rows_expected.saturating_add(other.rows_expected);
        self.rows_scanned = self.rows_scanned.saturating_add(other.rows_scanned);
        self.unknown_losses = self.unknown_losses.saturating_add(other.unknown_losses);
        self.merge_leaves(other.leaves);
    }

    /// Merges two lists in the order of names.
    fn merge_leaves(&mut self, others: Vec<LeafCoverage>) {
        let ends = self.leaves.last().zip(others.first());
        if ends.is_none_or(|(last, first)| last <= first) {
            self.leaves.extend(others);
            return self.leaves.truncate(LEAVES_MAX);
        }
        let leaves = std::mem::take(&mut self.leaves);
        let count = (leaves.len() + others.len()).min(LEAVES_MAX);
        let (mut left, mut right) = (leaves.into_iter().peekable(), others.into_iter().peekable());
        let next = || match (left.peek(), right.peek()) {
            (Some(one), Some(other)) if one > other => right.next(),
            (Some(_), _) => left.next(),
            (None, _) => right.next(),
        };
        self.leaves = std::iter::from_fn(next).take(count).collect();
    }
}

/// The cost of scanning, summed up over leaves and threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanStats {
    /// Rows that were examined one by one.
    pub rows_read: u64,
    /// Rows that passed the time range and the filter.
    pub rows_matched: u64,
    /// Row blocks of the table.
    pub blocks: u64,
    /// Row blocks that the time range and the zones proved to have no matching row.
    pub blocks_skipped: u64,
    /// Bytes of the row block columns that were read.
    pub bytes_read: u64,
    /// Microseconds of scanning.
    pub scan_micros: u64,
}

impl ScanStats {
    /// Adds another scan.
    pub fn merge(&mut self, other: Self) {
        for (sum, other) in [
            (&mut self.rows_read, other.rows_read),
            (&mut self.rows_matched, other.rows_matched),
            (&mut self.blocks, other.blocks),
            (&mut self.blocks_skipped, other.blocks_skipped),
            (&mut self.bytes_read, other.bytes_read),
            (&mut self.scan_micros, other.scan_micros),
        ] {
            *sum = sum.saturating_add(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(name: &str, outcome: LeafOutcome, expected: u64, scanned: u64) -> Coverage {
        let leaf = LeafCoverage {
            name: LeafName(name.into()),
            outcome,
            rows_expected: expected,
            rows_scanned: scanned,
            micros: 7,
            as_of: (0, 0),
        };
        Coverage::of_leaf(leaf, outcome == LeafOutcome::Answered)
    }

    #[test]
    fn a_silent_leaf_lowers_the_fraction() {
        let mut coverage = leaf("b", LeafOutcome::Answered, 300, 300);
        coverage.merge(leaf("a", LeafOutcome::Dead, 100, 0));
        assert_eq!((coverage.leaves_asked, coverage.leaves_answered), (2, 1));
        assert_eq!(coverage.leaves_with_table, 1);
        assert_eq!(coverage.fraction(), 0.75);
        assert_eq!(&*coverage.leaves[0].name.0, "a");
    }

    #[test]
    fn of_too_many_leaves_all_are_counted_and_so_many_listed() {
        let all = |count: usize| {
            let names = (0..count).map(|number| format!("leaf-{number:05}"));
            let leaves = names.map(|name| LeafCoverage {
                name: LeafName(name.into()),
                outcome: LeafOutcome::Answered,
                rows_expected: 1,
                rows_scanned: 1,
                micros: 7,
                as_of: (0, 0),
            });
            let mut coverage = Coverage {
                leaves_asked: u32::try_from(count).expect("small"),
                leaves: leaves.collect(),
                ..Coverage::default()
            };
            coverage.merge(leaf("a", LeafOutcome::Dead, 9, 0));
            (coverage.leaves_asked as usize, coverage.leaves.len())
        };
        assert_eq!(all(LEAVES_MAX - 2), (LEAVES_MAX - 1, LEAVES_MAX - 1));
        assert_eq!(all(LEAVES_MAX - 1), (LEAVES_MAX, LEAVES_MAX));
        assert_eq!(all(LEAVES_MAX), (LEAVES_MAX + 1, LEAVES_MAX));
    }

    #[test]
    fn merged_leaves_are_in_order() {
        for left in 0u32..32 {
            for right in 0u32..32 {
                let of = |names: u32| {
                    let mut coverage = Coverage::default();
                    for bit in (0..5).filter(|bit| names >> bit & 1 == 1) {
                        let scanned = u64::from(names);
                        let name = format!("leaf-{bit}");
                        coverage.merge(leaf(&name, LeafOutcome::Answered, 99, scanned));
                    }
                    coverage
                };
                let mut merged = of(left);
                merged.merge(of(right));
                let mut sorted = [of(left).leaves, of(right).leaves].concat();
                sorted.sort_unstable();
                assert_eq!(merged.leaves, sorted, "{left:b} {right:b}");
            }
        }
    }

    #[test]
    fn nothing_expected_is_all_there_is() {
        assert_eq!(Coverage::default().fraction(), 1.0);
        assert_eq!(leaf("a", LeafOutcome::Answered, 10, 11).fraction(), 1.0);
    }
}
