//! Finds the groups that can be among the first of a result. If the order begins with a count or a
//! sum, groups are compared by one integer each, and groups with equal integers by their keys in
//! stored form. The remaining groups are not examined further.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use hadal_query::{AggregateFunction, Expr, GroupInput, OrderKey, Query};

use crate::groups::Groups;
use crate::sort_order::SortDirection;

/// The indexes, ascending, of groups that include the first `end` of the query's order. `None` if
/// these cannot be selected by integers.
pub(crate) fn candidates(query: &Query, groups: &Groups, end: usize) -> Option<Vec<usize>> {
    let needs_all = query.having.is_some() || query.series.is_some();
    if needs_all || end == 0 || end >= groups.len() {
        return None;
    }
    let (first, rest) = query.order.split_first()?;
    let Expr::Leaf(slot) = &first.expr else { return None };
    let sign = if first.descending { -1 } else { 1 };
    let then = keys_of(rest);
    let by = |left: usize, right: usize| {
        then.as_ref().map_or(Ordering::Equal, |keys| groups.cmp_by(keys, left, right))
    };
    match slot {
        GroupInput::Count if let Some(weights) = groups.weights_alone() => {
            let sign = i64::from(sign);
            Some(first_by(weights.map(|weight| sign * weight), end, by))
        }
        GroupInput::Count => {
            let ranks = groups.weights().map(|weight| i128::from(sign) * weight);
            Some(first_by(ranks, end, by))
        }
        GroupInput::RawCount => {
            let rows = |group_index| i128::from(groups.count_at(group_index).rows());
            let ranks = (0..groups.len()).map(|group_index| i128::from(sign) * rows(group_index));
            Some(first_by(ranks, end, by))
        }
        GroupInput::Measure(measure, AggregateFunction::Count) => {
            let counts = groups.count_ranks(*measure)?;
            Some(first_by(counts.iter().map(|count| i128::from(sign) * count), end, by))
        }
        GroupInput::Measure(measure, AggregateFunction::Sum) => {
            let sums = groups.sum_ranks(*measure)?;
            Some(first_by(sums.iter().map(|sum| i128::from(sign) * sum), end, by))
        }
        GroupInput::Measure(..) | GroupInput::Key(_) | GroupInput::Seconds => None,
    }
}

/// The keys that `order` sorts by; `None` if it also sorts by something else.
fn keys_of(order: &[OrderKey]) -> Option<Vec<(usize, SortDirection)>> {
    let key = |order_key: &OrderKey| {
        let direction =
            SortDirection { descending: order_key.descending, nulls_first: order_key.nulls_first };
        match order_key.expr {
            Expr::Leaf(GroupInput::Key(key)) => Some((key, direction)),
            _ => None,
        }
    };
    order.iter().map(key).collect()
}

/// The indexes of the `end` smallest ranks. Of groups that tie with the last of these, the first by
/// `then` are returned, and all that are equal to the last of them by `then`.
fn first_by<T: Ord + Copy>(
    ranks: impl Iterator<Item = T> + Clone,
    end: usize,
    then: impl Fn(usize, usize) -> Ordering,
) -> Vec<usize> {
    // A max-heap: a rank must be below its top to be among the smallest so far.
    let mut smallest = BinaryHeap::with_capacity(end);
    let mut last = None;
    ranks.clone().for_each(|rank| {
        if smallest.len() < end {
            smallest.push(rank);
        } else if last.is_none_or(|last| rank < last)
            && let Some(mut top) = smallest.peek_mut()
            && rank < *top
        {
            *top = rank;
        } else {
            return;
        }
        last = smallest.peek().copied().filter(|_| smallest.len() == end);
    });
    let last = smallest.into_sorted_vec().pop();
    let (mut selected, mut tied) = (Vec::new(), Vec::new());
    // The last kept tie once some were dropped: no kept tie comes after it.
    let mut latest: Option<usize> = None;
    ranks.enumerate().for_each(|(group_index, rank)| match last.map(|last| rank.cmp(&last)) {
        Some(Ordering::Equal) if latest.is_none_or(|latest| then(group_index, latest).is_le()) => {
            tied.push(group_index);
            if tied.len() >= 2 * end.max(TIED_AT_ONCE) && tied.len().is_power_of_two() {
                latest = cut(&mut tied, end, &then).or(latest);
            }
        }
        Some(Ordering::Equal | Ordering::Greater) => {}
        Some(Ordering::Less) | None => selected.push(group_index),
    });
    if let Some(missing) = end.checked_sub(selected.len() + 1) {
        cut(&mut tied, missing + 1, &then);
    }
    selected.extend(tied);
    selected.sort_unstable();
    selected
}

/// Ties are kept up to twice this number before some are dropped.
const TIED_AT_ONCE: usize = 512;

/// Drops the indexes after the first `end` that are not equal to the last of these, which is
/// returned. `None` if there are no more than `end`.
fn cut(
    group_indexes: &mut Vec<usize>,
    end: usize,
    then: impl Fn(usize, usize) -> Ordering,
) -> Option<usize> {
    let last = end.checked_sub(1).filter(|_| end < group_indexes.len())?;
    let (_, &mut last, after) = group_indexes.select_nth_unstable_by(last, |&l, &r| then(l, r));
    let same = after.iter().copied().filter(|&group_index| then(group_index, last).is_eq());
    let same: Vec<usize> = same.collect();
    group_indexes.truncate(end);
    group_indexes.extend(same);
    Some(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_smallest_ranks_are_found_and_ties_told_apart(
            groups in prop::collection::vec((-9i128..9, 0..90), 1..60), end in 1usize..60,
            has_keys in any::<bool>(), times in prop_oneof![Just(1usize), Just(90)],
        ) {
            let groups = groups.repeat(times);
            let end = end.min(groups.len());
            let key = |group_index: usize| if has_keys { groups[group_index].1 } else { 0 };
            let of = |group_index: usize| (groups[group_index].0, key(group_index));
            let mut sorted: Vec<_> = (0..groups.len()).map(of).collect();
            sorted.sort_unstable();
            let expected: Vec<usize> =
                (0..groups.len()).filter(|&group_index| of(group_index) <= sorted[end - 1]).collect();
            let then = |left, right| key(left).cmp(&key(right));
            let selected = first_by(groups.iter().map(|group| group.0), end, then);
            prop_assert_eq!(selected, expected);
        }
    }
}
