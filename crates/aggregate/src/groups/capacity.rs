//! The maximum number of groups, and which groups are dropped beyond it.

use std::borrow::Cow;

use hadal_types::Value;

use super::{Groups, SeriesFold};
use crate::groups::series;

impl Groups {
    /// Drops groups if there are too many. Returns whether it did: value numbers and group indexes
    /// are different then. Dropping costs a pass over all groups, so it waits until many are to be
    /// dropped.
    pub fn enforce_capacity(&mut self) -> bool {
        if self.len() > self.held_max + self.held_max / 8 {
            self.cut(self.held_max);
            return true;
        }
        // Many values are only of groups that were refused.
        let has_garbage = self.keys.iter().any(|key| key.len() / 2 > self.held_max);
        if has_garbage {
            self.flush_deferred();
            self.keep(&(0..).take(self.len()).collect::<Vec<u32>>());
        }
        has_garbage
    }

    /// Drops the groups with the largest keys if there are too many for a result.
    pub(crate) fn cut_to_limit(&mut self) {
        self.flush_deferred();
        self.cut(self.groups_max);
    }

    /// Drops groups to save memory. From now on, the limit while groups are added is that of final
    /// groups. Returns whether there was anything to save.
    pub(crate) fn cut_back(&mut self) -> bool {
        let has_waiting = self.deferred.is_some();
        self.flush_deferred();
        let has_more = self.len() > self.groups_max;
        self.held_max = self.held_max.min(self.groups_max);
        self.cut_to_limit();
        has_waiting || has_more
    }

    /// Drops all groups but `max`: those with the largest keys, or, for a query for series, the
    /// last ranks.
    pub(super) fn cut(&mut self, max: usize) {
        if self.len() <= max {
            return;
        }
        // Deferred rows refer to value numbers that are about to change.
        self.flush_deferred();
        if let Some(series_fold) = self.series.take() {
            return self.fold(series_fold, max);
        }
        let last = max.saturating_sub(1);
        let mut order: Vec<u32> = (0..).take(self.len()).collect();
        order.select_nth_unstable_by(last, |&left, &right| self.cmp_keys(left, right));
        self.key_max = Some(self.key_of(order[last] as usize));
        self.drop_groups(order.split_off(max));
        self.keep(&order);
    }

    /// Keeps the best series, with at most `max` groups together, and adds the others to "other".
    fn fold(&mut self, mut series_fold: Box<SeriesFold>, max: usize) {
        let time_key = series_fold.query.time_key().map(|(index, _)| index);
        let (mut kept, gone) = series::best(&series_fold.query, self, max);
        let mut folded = series_fold.folded.take().unwrap_or_else(|| {
            let width = usize::from(time_key.is_some());
            Self::with_max(width, self.kinds.clone(), (self.held_max, self.held_max))
        });
        for group_index in gone {
            let (key, group) =
                (self.key_of(group_index as usize), self.group_at(group_index as usize));
            let time: Vec<Value> =
                time_key.and_then(|index| key.get(index)).cloned().into_iter().collect();
            folded.add_group(&time, &group);
            series_fold.rows = series_fold.rows.saturating_add(group.count.rows());
        }
        series_fold.folded = Some(folded);
        self.series = Some(series_fold);
        kept.sort_unstable();
        self.keep(&kept);
    }

    /// Adds the groups of `other` that were folded into "other".
    pub(super) fn merge_folded(&mut self, other: &mut Self) {
        let (Some(series), Some(other)) = (&mut self.series, &mut other.series) else { return };
        series.rows = series.rows.saturating_add(std::mem::take(&mut other.rows));
        match (&mut series.folded, other.folded.take()) {
            (Some(folded), Some(other)) => folded.merge(other),
            (folded @ None, Some(other)) => *folded = Some(other),
            (_, None) => {}
        }
    }

    /// Drops the groups with larger keys than `max`, now and from now on. Some of them were dropped
    /// elsewhere, so their rows here would be incomplete.
    pub(super) fn drop_beyond(&mut self, max: Box<[Value]>) {
        if self.key_max.as_ref().is_some_and(|key_max| *key_max <= max) {
            return;
        }
        self.flush_deferred();
        self.key_max = Some(max);
        let is_beyond = |&group_index: &u32| {
            let numbers = self.group_indexes.numbers_of(group_index as usize);
            self.is_beyond(&numbers.collect::<Vec<u32>>())
        };
        let (beyond, kept): (Vec<u32>, Vec<u32>) = (0..).take(self.len()).partition(is_beyond);
        if !beyond.is_empty() {
            self.drop_groups(beyond);
            self.keep(&kept);
        }
    }

    /// Counts the rows of groups that are about to be dropped.
    fn drop_groups(&mut self, group_indexes: Vec<u32>) {
        group_indexes
            .into_iter()
            .for_each(|group_index| self.drop_rows(self.count_at(group_index as usize).rows()));
    }

    /// Keeps only the groups at these indexes, and the values of their keys.
    pub(crate) fn keep(&mut self, kept: &[u32]) {
        let states = self.states.iter().map(|column| column.kept(kept)).collect();
        let accumulators = self.accumulators.kept(kept);
        let max = (self.groups_max, self.held_max);
        let empty = Self::with_max(self.keys.len(), Box::default(), max);
        let before = std::mem::replace(self, empty);
        for &group_index in kept {
            let numbers = self.numbers_for(&before.key_of(group_index as usize));
            self.counts.push(before.counts.get(group_index as usize).copied().unwrap_or_default());
            let _ = self.group_indexes.push(&numbers);
        }
        self.accumulators = accumulators;
        let Self { kinds, key_max, dropped_rows, deferred, series, cut, .. } = before;
        (self.kinds, self.states) = (kinds, states);
        self.cut = cut.map(|cut| Box::new(cut.kept(kept)));
        self.series = series;
        (self.key_max, self.dropped_rows, self.deferred) = (key_max, dropped_rows, deferred);
    }

    /// Drops all groups, and frees their memory.
    pub(crate) fn clear(&mut self) {
        let (kinds, series) = (std::mem::take(&mut self.kinds), self.series.take());
        let empty = Self::with_max(self.keys.len(), kinds, (self.groups_max, self.held_max));
        *self = empty;
        self.series =
            series.map(|series| Box::new(SeriesFold { folded: None, rows: 0, ..*series }));
    }

    /// Whether a new group with this key is beyond the limit.
    pub(super) fn is_beyond(&self, numbers: &[u32]) -> bool {
        let values = || self.keys.iter().zip(numbers).map(|(key, &number)| key.value(number));
        self.key_max.as_deref().is_some_and(|max| values().gt(max.iter().map(Cow::Borrowed)))
    }
}
