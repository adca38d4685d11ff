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
        Slot::Count => Some(first_by(count, end, |place| sign * groups.weight_at(place))),
        Slot::RawCount => {
            let rows = |place| i128::from(groups.tally_at(place).rows());
            Some(first_by(count, end, |place| sign * rows(place)))
        }
        Slot::Measure(measure, Finish::Sum) => {
            let sums = groups.sum_ranks(*measure)?;
            Some(first_by(count, end, |place| sign * sums[place]))
        }
        Slot::Measure(..) | Slot::Key(_) | Slot::Seconds => None,
    }
}

/// The places, of `count`, whose ranks are among the `end` smallest, and those that tie with the
/// last of these.
fn first_by(count: usize, end: usize, rank: impl Fn(usize) -> i128) -> Vec<usize> {
    // The largest on top: what a rank must be below to be among the smallest so far.
    let mut smallest = BinaryHeap::with_capacity(end);
    for rank in (0..count).map(&rank) {
        if smallest.len() < end {
            smallest.push(rank);
        } else if let Some(mut last) = smallest.peek_mut()
            && rank < *last
        {
            *last = rank;
        }
    }
    let last = smallest.peek().copied();
    (0..count).filter(|&place| last.is_none_or(|last| rank(place) <= last)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_smallest_ranks_and_their_ties_are_found(
            ranks in prop::collection::vec(-9i128..9, 1..60), end in 1usize..60,
        ) {
            let mut sorted = ranks.clone();
            sorted.sort_unstable();
            let last = sorted[end.min(ranks.len()) - 1];
            let expected: Vec<usize> =
                (0..ranks.len()).filter(|&place| ranks[place] <= last).collect();
            prop_assert_eq!(first_by(ranks.len(), end, |place| ranks[place]), expected);
        }
    }
}
