//! Which groups can be among the first of an answer: told by one integer each, where the order
//! begins with a count or a sum. All others need not be looked at.

use std::collections::BinaryHeap;

use hadal_query::{Expr, Finish, Query, Slot};

use crate::groups::Groups;

/// The places of groups among which are the first `end` of the query's order, ascending; `None`
/// where these cannot be told from the others so.
pub(crate) fn candidates(query: &Query, groups: &Groups, end: usize) -> Option<Vec<usize>> {
    if query.having.is_some() || query.series.is_some() || end == 0 || end >= groups.len() {
        return None;
    }
    let first = query.order.first()?;
    let Expr::Leaf(slot) = &first.expr else { return None };
    let sign = if first.descending { -1 } else { 1 };
    let count = groups.len();
    match slot {
        Slot::Count | Slot::RawCount if let Some(rows) = groups.rows_alone() => {
            let sign = i64::from(sign);
            Some(first_by(rows.map(|rows| sign * rows), end))
        }
        Slot::Count => {
            let ranks = (0..count).map(|place| i128::from(sign) * groups.weight_at(place));
            Some(first_by(ranks, end))
        }
        Slot::RawCount => {
            let rows = |place| i128::from(groups.tally_at(place).rows());
            Some(first_by((0..count).map(|place| i128::from(sign) * rows(place)), end))
        }
        Slot::Measure(measure, Finish::Sum) => {
            let sums = groups.sum_ranks(*measure)?;
            Some(first_by(sums.into_iter().map(|sum| i128::from(sign) * sum), end))
        }
        Slot::Measure(..) | Slot::Key(_) | Slot::Seconds => None,
    }
}

/// The places whose ranks are among the `end` smallest, and those that tie with the last of these.
fn first_by<T: Ord + Copy>(ranks: impl Iterator<Item = T>, end: usize) -> Vec<usize> {
    // The largest on top: what a rank must not be above to be among the smallest so far.
    let mut smallest = BinaryHeap::with_capacity(end);
    let mut last = None;
    let (mut found, mut most) = (Vec::new(), end.saturating_mul(4).max(1_024));
    for (place, rank) in ranks.enumerate() {
        if last.is_some_and(|last| rank > last) {
            continue;
        }
        found.push((rank, place));
        if last.is_none_or(|last| rank < last) {
            if smallest.len() == end {
                smallest.pop();
            }
            smallest.push(rank);
            last = smallest.peek().copied().filter(|_| smallest.len() == end);
        }
        if found.len() >= most {
            found.retain(|own| last.is_none_or(|last| own.0 <= last));
            most = most.max(found.len() * 2);
        }
    }
    let found = found.into_iter().filter(|own| last.is_none_or(|last| own.0 <= last));
    found.map(|own| own.1).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_smallest_ranks_and_their_ties_are_found(
            ranks in prop_oneof![
                prop::collection::vec(-9i64..9, 1..60),
                prop::collection::vec(-99i64..99, 1_000..5_000),
            ],
            end in 1usize..60,
        ) {
            let mut sorted = ranks.clone();
            sorted.sort_unstable();
            let last = sorted[end.min(ranks.len()) - 1];
            let expected: Vec<usize> =
                (0..ranks.len()).filter(|&place| ranks[place] <= last).collect();
            prop_assert_eq!(first_by(ranks.iter().copied(), end), expected);
        }
    }
}
