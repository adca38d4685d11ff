//! Checks the coverage that a child returned, before it counts.
//!
//! The rows of a partial are not labelled by leaf. So a partial with rows of a leaf
//! that was not asked for, or of one leaf twice, is useless as a whole: rows could count twice.

use std::collections::HashSet;

use hadal_aggregate::{Coverage, LeafOutcome};
use hadal_types::LeafName;

/// Whether the coverage is of no other leaves than these, and of each at most once.
pub(crate) fn is_of(coverage: &Coverage, leaves: &[LeafName]) -> bool {
    let mut asked: HashSet<&LeafName> = leaves.iter().collect();
    coverage.leaves.iter().all(|leaf| asked.remove(&leaf.name))
}

/// Makes the sums those of the listed leaves.
pub(crate) fn sum_up(coverage: &mut Coverage) {
    let leaves = &coverage.leaves;
    let answered = leaves.iter().filter(|leaf| leaf.outcome == LeafOutcome::Answered).count();
    coverage.leaves_asked = u32::try_from(leaves.len()).unwrap_or(u32::MAX);
    coverage.leaves_answered = u32::try_from(answered).unwrap_or(u32::MAX);
    coverage.leaves_with_table = coverage.leaves_with_table.min(coverage.leaves_asked);
    let sum = |rows: &mut dyn Iterator<Item = u64>| rows.fold(0, u64::saturating_add);
    coverage.rows_expected = sum(&mut leaves.iter().map(|leaf| leaf.rows_expected));
    coverage.rows_scanned = sum(&mut leaves.iter().map(|leaf| leaf.rows_scanned));
}

#[cfg(test)]
mod tests {
    use hadal_aggregate::LeafCoverage;

    use super::*;

    fn leaf(name: &str, outcome: LeafOutcome) -> LeafCoverage {
        let name = LeafName(name.into());
        LeafCoverage { name, outcome, rows_expected: 5, rows_scanned: 3, micros: 1, as_of: (0, 0) }
    }

    fn coverage(names: &[&str]) -> Coverage {
        let leaves = names.iter().map(|name| leaf(name, LeafOutcome::Answered)).collect();
        Coverage { leaves, rows_scanned: 1_000, ..Coverage::default() }
    }

    #[test]
    fn only_leaves_that_were_asked_count_and_each_once() {
        let asked = ["a", "b"].map(|name| LeafName(name.into()));
        for names in [&[][..], &["a"], &["b", "a"]] {
            assert!(is_of(&coverage(names), &asked), "{names:?}");
        }
        for names in [&["c"][..], &["a", "a"], &["a", "b", "c"]] {
            assert!(!is_of(&coverage(names), &asked), "{names:?}");
        }
    }

    #[test]
    fn the_sums_are_those_of_the_leaves() {
        let mut coverage = coverage(&["a", "b"]);
        coverage.leaves.push(leaf("c", LeafOutcome::Dead));
        coverage.leaves_with_table = 9;
        sum_up(&mut coverage);
        assert_eq!((coverage.leaves_asked, coverage.leaves_answered), (3, 2));
        assert_eq!((coverage.rows_expected, coverage.rows_scanned), (15, 9));
        assert_eq!(coverage.leaves_with_table, 3);
    }
}
