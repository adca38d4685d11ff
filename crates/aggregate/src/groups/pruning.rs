//! Levels of the tree send only the largest groups of a top list, with a bound of the others.
//!
//! A part that leaves out groups adds its *threshold*: no group that is not in it has more there.
//! Thresholds of merged parts add up. A group *covers* the thresholds of the parts that have it;
//! the rest is its *slack*, so its whole value is between what is known of it, and that plus its
//! slack. Both are sums over parts, so the order of merging does not matter. A threshold is at
//! least one unit: a group without slack has all of its rows, also those that add nothing. A level
//! that merged parts may leave out groups again: its threshold is the most that any of these can
//! have.
//!
//! The root compares with L, the smallest value that is certain for as many groups as the list has
//! rows. If the threshold is below L, then only groups that can have L or more are *candidates*. If
//! one of them has slack, a second round asks for the candidates by key.
//!
//! That is the three-phase algorithm of Cao and Wang ("Efficient Top-K Query Calculation in
//! Distributed Networks", PODC 2004), with the slack of Fagin, Lotem and Naor ("Optimal Aggregation
//! Algorithms for Middleware", PODS 2001) in place of the second phase. Values may also be
//! negative: only those that are left out must not be, which a level sees by itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use hadal_query::{Query, SentGroups};
use hadal_types::Value;
use hadal_types::limits::{LEAF_GROUPS_MAX, TOP_BOUND_MAX, TOP_KEYS_BYTES_MAX, TOP_KEYS_MAX};

use super::Groups;
use crate::state::State;
use crate::top_list::{NextRound, Rank, TopList};

/// What is known of groups that were left out, here or in merged parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Cut {
    threshold: i128,
    groups: u64,
    rows: u64,
    /// By group index: the thresholds of the parts that have the group. May be shorter than the
    /// number of groups.
    covered: Vec<i128>,
}

/// What was left out of groups, for encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutParts {
    /// No group that is not here has more: 1 to [`TOP_BOUND_MAX`], in rows for a count without
    /// weights, else in millionths.
    pub threshold: i128,
    /// Groups that were left out, one for each process that did so. Those that a scan did not even
    /// make are not among them.
    pub groups: u64,
    /// Their rows.
    pub rows: u64,
    /// For each group in ascending order of keys: what it may have in addition, at most the
    /// threshold. Empty if no group has any.
    pub slacks: Vec<i128>,
}

/// The value that a group is ranked by is not below `low` and not above `high`. The order is that
/// of the highest values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Bounds {
    high: i128,
    low: i128,
}

impl Cut {
    fn slack(&self, group_index: usize) -> i128 {
        let covered = self.covered.get(group_index).copied().unwrap_or(0);
        self.threshold.saturating_sub(covered)
    }

    /// The cut of the groups at these indexes only, in this order.
    pub(super) fn kept(&self, group_indexes: &[u32]) -> Self {
        let covered = |index: &u32| self.covered.get(*index as usize).copied().unwrap_or(0);
        Self { covered: group_indexes.iter().map(covered).collect(), ..*self }
    }
}

impl Groups {
    /// Leaves out the groups that the query does not want from another process.
    pub(crate) fn keep_sent(&mut self, query: &Query) {
        // Groups beyond a limit are no longer complete here, and those that are left bound the keys
        // of complete ones elsewhere.
        if self.dropped_rows > 0 || self.key_max.is_some() {
            return;
        }
        match &query.sent {
            SentGroups::All => {}
            SentGroups::Largest => {
                if let Some(list) = TopList::of(query) {
                    self.keep_largest(list.ranked_by, list.groups_max());
                }
            }
            SentGroups::Keys(keys) => self.keep_keys(keys),
        }
    }

    fn keep_keys(&mut self, keys: &[Box<[Value]>]) {
        self.flush_deferred();
        let (mut kept, width): (Vec<u32>, usize) = (Vec::new(), self.key_count());
        for key in keys.iter().filter(|key| key.len() == width) {
            let numbers = self.numbers_for(key);
            kept.extend(self.group_indexes.find(&numbers));
        }
        kept.sort_unstable();
        kept.dedup();
        self.keep(&kept);
    }

    /// Leaves out all but the `groups_max` largest groups. Keeps all if their values are unknown,
    /// or if one that would be left out may be negative.
    fn keep_largest(&mut self, rank: Rank, groups_max: usize) {
        self.flush_deferred();
        if self.len() <= groups_max {
            return;
        }
        let before = self.cut.clone().unwrap_or_default();
        let mut cut = Cut { covered: Vec::new(), ..*before };
        // The smallest of the largest so far is on top.
        let mut largest = BinaryHeap::with_capacity(groups_max);
        for group_index in 0..self.len() {
            let Some(bounds) = self.bounds_at(rank, group_index) else { return };
            let entry = Reverse((bounds, Reverse(group_index)));
            let left_out = if largest.len() < groups_max {
                largest.push(entry);
                None
            } else {
                // Most groups are below the top, and move nothing.
                largest.peek_mut().map(|mut top| match entry < *top {
                    true => std::mem::replace(&mut *top, entry),
                    false => entry,
                })
            };
            let Some(Reverse((bounds, Reverse(group_index)))) = left_out else { continue };
            if bounds.low < 0 {
                return;
            }
            cut.threshold = cut.threshold.max(bounds.high).clamp(1, TOP_BOUND_MAX);
            cut.groups = cut.groups.saturating_add(1);
            cut.rows = cut.rows.saturating_add(self.count_at(group_index).rows());
        }
        let index = |Reverse((_, Reverse(index))): Reverse<(Bounds, Reverse<usize>)>| index;
        let mut kept: Vec<u32> =
            largest.into_iter().filter_map(|entry| u32::try_from(index(entry)).ok()).collect();
        kept.sort_unstable();
        let slack = |index: &u32| before.slack(*index as usize).min(cut.threshold);
        cut.covered = kept.iter().map(|index| cut.threshold - slack(index)).collect();
        self.keep(&kept);
        self.cut = Some(Box::new(cut));
    }

    /// What the whole value of a group is between. `None` if it is unknown or too large.
    fn bounds_at(&self, rank: Rank, group_index: usize) -> Option<Bounds> {
        let (low, high) = self.value(rank, group_index)?;
        let slack = self.cut.as_ref().map_or(0, |cut| cut.slack(group_index));
        let fits = low >= -TOP_BOUND_MAX && high <= TOP_BOUND_MAX;
        fits.then(|| Bounds { high: high.saturating_add(slack), low })
    }

    /// What the whole value of each group is between. `None` if some value is unknown, and for too
    /// many groups.
    fn bounds(&self, rank: Rank) -> Option<Vec<Bounds>> {
        let indexes = Some(0..self.len()).filter(|indexes| indexes.len() <= LEAF_GROUPS_MAX)?;
        indexes.map(|group_index| self.bounds_at(rank, group_index)).collect()
    }

    /// What a group has here, rounded down and up.
    fn value(&self, rank: Rank, group_index: usize) -> Option<(i128, i128)> {
        let moments = |measure| match self.state_at(group_index, measure)? {
            State::Moments(moments) => Some(moments),
            _ => None,
        };
        let exact = match rank {
            Rank::RawCount => self.count_at(group_index).rows().into(),
            Rank::Count => self.count_at(group_index).weight(),
            Rank::RawCountOf(measure) => moments(measure)?.count.rows().into(),
            Rank::CountOf(measure) => moments(measure)?.count.weight(),
            // Without values, the sum is null here, and perhaps elsewhere. At the end of the list
            // that is like zero: it comes after every sum above zero.
            Rank::SumOf(measure) => return moments(measure)?.sum.millionths(),
            Rank::NullOrSumOf(measure) => {
                let moments = moments(measure)?;
                return match moments.count.rows() {
                    0 => Some((0, TOP_BOUND_MAX)),
                    _ => moments.sum.millionths(),
                };
            }
        };
        Some((exact, exact))
    }

    /// What the `n`-th largest group has at least, and what all groups have together, in the rank's
    /// [units](Rank::units). `None` if there are fewer groups, or if a value is unknown.
    pub(crate) fn nth_largest(&mut self, rank: Rank, n: usize) -> Option<(i128, i128)> {
        self.flush_deferred();
        let mut lows: Vec<i128> = self.bounds(rank)?.iter().map(|bounds| bounds.low).collect();
        let total = lows.iter().fold(0i128, |total, low| total.saturating_add(*low));
        let last = n.checked_sub(1).filter(|last| *last < lows.len())?;
        let (_, &mut nth, _) = lows.select_nth_unstable_by_key(last, |low| Reverse(*low));
        Some((nth, total))
    }

    /// States that groups were left out before they were made, with `matched` rows less those of
    /// the groups here. Each of them had less than `least`.
    pub(crate) fn note_left_out(&mut self, least: i128, matched: u64) {
        let rows = (0..self.len()).map(|index| self.count_at(index).rows()).sum();
        let threshold = least.saturating_sub(1).clamp(1, TOP_BOUND_MAX);
        let covered = vec![threshold; self.len()];
        let rows = matched.saturating_sub(rows);
        self.cut = Some(Box::new(Cut { threshold, groups: 0, rows, covered }));
    }

    /// What remains to be asked for the top list of `query`.
    pub(crate) fn next_round(&self, query: &Query) -> NextRound {
        let Some(cut) = &self.cut else { return NextRound::None };
        let bounds = TopList::of(query).and_then(|list| Some((list, self.bounds(list.ranked_by)?)));
        let Some((list, bounds)) = bounds.filter(|(list, bounds)| bounds.len() >= list.rows) else {
            return NextRound::All;
        };
        let mut lows: Vec<i128> = bounds.iter().map(|bounds| bounds.low).collect();
        let (_, &mut last, _) = lows.select_nth_unstable_by_key(list.rows - 1, |low| Reverse(*low));
        // A group that was left out everywhere and ties with the last one may come before it.
        if cut.threshold >= last {
            return NextRound::All;
        }
        let can_be_in = |&index: &usize| bounds[index].high >= last;
        let candidates: Vec<usize> = (0..self.len()).filter(can_be_in).collect();
        if candidates.iter().all(|&index| cut.slack(index) == 0) {
            return NextRound::None;
        }
        if candidates.len() > TOP_KEYS_MAX {
            return NextRound::All;
        }
        let mut keys: Vec<Box<[Value]>> =
            candidates.into_iter().map(|index| self.key_of(index)).collect();
        let bytes = |value: &Value| size_of::<Value>() + value.heap_bytes();
        if keys.iter().flatten().map(bytes).sum::<usize>() > TOP_KEYS_BYTES_MAX {
            return NextRound::All;
        }
        keys.sort_unstable();
        NextRound::Keys(keys)
    }

    /// The most that a group may have in addition to what is known of it, of the measure that the
    /// list is ordered by, rounded up.
    pub(crate) fn largest_error(&self, query: &Query) -> u64 {
        let threshold = self.cut.as_ref().map_or(0, |cut| cut.threshold);
        let units = TopList::of(query).map_or(1, |list| list.ranked_by.units());
        let whole = threshold / units + i128::from(threshold % units > 0);
        u64::try_from(whole).unwrap_or(u64::MAX)
    }

    /// Adds the thresholds of `other`, before its groups are added.
    pub(super) fn merge_cut(&mut self, other: &Self) {
        if let Some(other) = &other.cut {
            let cut = self.cut.get_or_insert_default();
            cut.threshold = cut.threshold.saturating_add(other.threshold);
            cut.groups = cut.groups.saturating_add(other.groups);
            cut.rows = cut.rows.saturating_add(other.rows);
        }
    }

    /// Adds what these groups of `other` cover to the groups here.
    pub(super) fn cover(
        &mut self,
        other: &Self,
        chunk: Range<usize>,
        group_indexes: &[Option<u32>],
    ) {
        let (Some(cut), Some(other)) = (&mut self.cut, &other.cut) else { return };
        cut.covered.resize(self.group_indexes.len().max(cut.covered.len()), 0);
        let covered = chunk.map(|index| other.covered.get(index).copied().unwrap_or(0));
        for (target, more) in group_indexes.iter().zip(covered) {
            if let Some(covered) = target.and_then(|index| cut.covered.get_mut(index as usize)) {
                *covered = covered.saturating_add(more);
            }
        }
    }

    /// What was left out, for encoding. Drops groups beyond the limit before.
    pub fn cut_parts(&mut self) -> Option<CutParts> {
        self.cut_to_limit();
        let cut = self.cut.as_deref()?;
        let threshold = cut.threshold.min(TOP_BOUND_MAX);
        let slack = |index: usize| (self.key_of(index), cut.slack(index).clamp(0, threshold));
        let mut slacks: Vec<(Box<[Value]>, i128)> = (0..self.len()).map(slack).collect();
        slacks.sort_unstable();
        let mut slacks: Vec<i128> = slacks.into_iter().map(|(_, slack)| slack).collect();
        if slacks.iter().all(|slack| *slack == 0) {
            slacks.clear();
        }
        Some(CutParts { threshold, groups: cut.groups, rows: cut.rows, slacks })
    }

    /// The same groups, made [from parts](Self::from_parts) in ascending order of keys, with what
    /// was left out of them. `None` if that is out of range.
    #[must_use]
    pub fn with_cut(mut self, parts: CutParts) -> Option<Self> {
        let CutParts { threshold, groups, rows, slacks } = parts;
        let slacks = if slacks.is_empty() { vec![0; self.len()] } else { slacks };
        let fits = (1..=TOP_BOUND_MAX).contains(&threshold)
            && slacks.len() == self.len()
            && slacks.iter().all(|slack| (0..=threshold).contains(slack));
        let covered = slacks.iter().map(|slack| threshold.saturating_sub(*slack)).collect();
        self.cut = Some(Box::new(Cut { threshold, groups, rows, covered }));
        fits.then_some(self)
    }
}

#[cfg(test)]
mod tests;
