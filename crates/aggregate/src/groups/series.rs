//! The series of a query's groups: a series consists of the groups that differ only in their time
//! bucket.
//!
//! The numbers of the keys without time identify a series.

use hadal_query::{EvalError, GroupInput, PrepareError, Prepared, Query, SeriesLimit};
use hadal_types::{MemoryReservation, Micros, Value};
use hashbrown::HashMap;

use crate::covered_seconds::{intervals, seconds_of};
use crate::groups::Groups;
use crate::groups::group::Group;
use crate::groups::group_table::GroupTable;
use crate::groups::group_value::of_group;
use crate::query_error::{FinishError, out_of_memory};
use crate::sort_order::{SortDirection, SortKey};

/// The largest first, nulls last.
pub(crate) const RANK: SortDirection = SortDirection { descending: true, nulls_first: false };

/// Groups that are examined between two calls of `is_late`.
pub(crate) const GROUPS_AT_ONCE: usize = 1_024;

/// The group indexes of the best series, and of all others. The best are as many complete series as
/// have at most `groups_max` groups. Series that cannot be ranked come last.
pub(crate) fn best(query: &Query, groups: &Groups, groups_max: usize) -> (Vec<u32>, Vec<u32>) {
    let time_key = query.time_key().map(|(index, _)| index);
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    // This takes a fraction of the memory that is about to be freed.
    let series = AllSeries::new(groups, time_key, &mut MemoryReservation::default(), &|| false);
    let Ok(series) = series else { return (kept, gone) };
    let limit = query.series.as_ref();
    let rank = limit.and_then(|limit| SeriesRank::new(query, limit, groups, &series.times).ok());
    let mut ranked: Vec<(SortKey, usize)> = (0..series.len())
        .map(|number| {
            let value = rank.as_ref();
            let value =
                value.and_then(|rank| rank.value(groups, series.groups_by_number(number)).ok());
            (RANK.key(value.unwrap_or(Value::Null)), number)
        })
        .collect();
    let keys = (0..groups.key_count()).filter(|index| Some(*index) != time_key);
    let keys: Vec<(usize, SortDirection)> =
        keys.map(|key| (key, SortDirection::ASCENDING)).collect();
    let first = |number: usize| series.groups_by_number(number)[0] as usize;
    ranked.sort_unstable_by(|left, right| {
        left.0.cmp(&right.0).then_with(|| groups.cmp_by(&keys, first(left.1), first(right.1)))
    });
    let mut is_full = false;
    for (_, number) in ranked {
        let group_indexes = series.groups_by_number(number);
        is_full |= kept.len() + group_indexes.len() > groups_max;
        if is_full { &mut gone } else { &mut kept }.extend_from_slice(group_indexes);
    }
    (kept, gone)
}

/// Checks from time to time whether anybody still waits.
pub(crate) struct CancelCheck<'l> {
    pub(crate) is_late: &'l dyn Fn() -> bool,
    /// Groups since the last check.
    pub(crate) groups: usize,
}

impl CancelCheck<'_> {
    /// Counts groups that are about to be examined, and checks if they are enough.
    pub(crate) fn pass(&mut self, groups: usize) -> Result<(), FinishError> {
        self.groups += groups;
        if self.groups < GROUPS_AT_ONCE {
            return Ok(());
        }
        self.groups = 0;
        if (self.is_late)() { Err(FinishError::Late) } else { Ok(()) }
    }
}

/// The series of a set of groups; those of one series differ only in the time bucket.
pub(crate) struct AllSeries {
    /// Group indexes, ordered by series.
    group_indexes: Vec<u32>,
    /// The end of each series in `group_indexes`.
    ends: Vec<u32>,
    /// The values of the time key, by number.
    pub(crate) times: HashMap<u32, Value>,
}

impl AllSeries {
    pub(crate) fn new(
        groups: &Groups,
        time_key: Option<usize>,
        held: &mut MemoryReservation,
        is_late: &dyn Fn() -> bool,
    ) -> Result<Self, FinishError> {
        // Each group needs the number of its series, and its index once more.
        let mut hold = |bytes: usize| {
            held.grow(bytes)
                .map_err(|spent| out_of_memory(held.bytes().saturating_add(bytes), spent))
        };
        hold(groups.len() * 2 * size_of::<u32>())?;
        let width = groups.key_count() - usize::from(time_key.is_some());
        let (mut table, mut table_bytes) = (GroupTable::new(width), 0);
        let (mut times, mut sizes): (HashMap<u32, Value>, Vec<u32>) = Default::default();
        let mut numbers = Vec::with_capacity(groups.key_count());
        let mut series_of = Vec::with_capacity(groups.len());
        let mut checks = CancelCheck { is_late, groups: 0 };
        for group_index in 0..groups.len() {
            checks.pass(1)?;
            numbers.clear();
            numbers.extend(groups.numbers_at(group_index));
            if let Some(index) = time_key {
                let number = numbers.remove(index);
                if !times.contains_key(&number)
                    && let Some(time) = groups.key_value(group_index, index)
                {
                    times.insert(number, time.into_owned());
                }
            }
            let number = table.find(&numbers).or_else(|| table.push(&numbers));
            // There are no more series than groups.
            let Some(number) = number else { continue };
            if sizes.len() <= number as usize {
                sizes.push(0);
            }
            sizes[number as usize] += 1;
            series_of.push(number);
            if group_index % GROUPS_AT_ONCE == 0 {
                let bytes = table.bytes() + sizes.capacity() * size_of::<u32>();
                hold(bytes.saturating_sub(table_bytes))?;
                table_bytes = table_bytes.max(bytes);
            }
        }
        drop(table);
        // First the begin of each series; each group that is placed increases it by one.
        let mut ends = sizes;
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        let mut group_indexes = vec![0; series_of.len()];
        for (group_index, number) in (0..).zip(series_of) {
            let at = &mut ends[number as usize];
            group_indexes[*at as usize] = group_index;
            *at += 1;
        }
        Ok(Self { group_indexes, ends, times })
    }

    /// The number of series.
    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// The group indexes of a series, ascending; there is at least one.
    pub(crate) fn groups_by_number(&self, number: usize) -> &[u32] {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.group_indexes[begin as usize..self.ends[number] as usize]
    }

    /// The time bucket of a group; null if there is no time key.
    pub(crate) fn time_of(
        &self,
        groups: &Groups,
        group_index: usize,
        time_key: Option<usize>,
    ) -> Value {
        let number = time_key.and_then(|index| groups.numbers_at(group_index).nth(index));
        number.and_then(|number| self.times.get(&number)).cloned().unwrap_or(Value::Null)
    }
}

/// The rank of series.
pub(crate) struct SeriesRank<'q> {
    query: &'q Query,
    time_key: Option<usize>,
    /// The key of prefixes. Prefixes are ranked over all groups that have them, so the other keys
    /// are null.
    prefix_key: Option<usize>,
    value: Prepared<GroupInput>,
    /// The measures in the rank expression; only these are merged.
    measures: Vec<usize>,
    seconds: Value,
}

impl<'q> SeriesRank<'q> {
    pub(crate) fn new(
        query: &'q Query,
        limit: &SeriesLimit,
        groups: &Groups,
        times: &HashMap<u32, Value>,
    ) -> Result<Self, PrepareError> {
        let mut measures = Vec::new();
        limit.rank.for_each_leaf(&mut |slot| {
            if let GroupInput::Measure(index, _) = slot {
                measures.push(*index);
            }
        });
        measures.retain(|&index| index < groups.measure_count());
        measures.sort_unstable();
        measures.dedup();
        Ok(Self {
            query,
            time_key: query.time_key().map(|(index, _)| index),
            prefix_key: query.prefix_key(),
            value: Prepared::with_functions(&limit.rank, &query.functions)?,
            measures,
            seconds: whole_range(query, times),
        })
    }

    /// The rank of the series that consists of these groups.
    pub(crate) fn value(&self, groups: &Groups, group_indexes: &[u32]) -> Result<Value, EvalError> {
        let mut whole = Group::empty(self.query);
        for &group_index in group_indexes {
            whole.count.merge(groups.count_at(group_index as usize));
            for &measure in &self.measures {
                if let Some(state) = groups.state_at(group_index as usize, measure) {
                    whole.states[measure].merge(&state);
                }
            }
        }
        self.value.value(&|slot: &GroupInput| match slot {
            GroupInput::Key(index) => self.key_of(groups, group_indexes, *index),
            GroupInput::Seconds => self.seconds.clone(),
            other => of_group(&whole, other),
        })
    }

    /// The key of the series; its time bucket is null.
    pub(crate) fn key(&self, groups: &Groups, group_indexes: &[u32]) -> Box<[Value]> {
        (0..groups.key_count()).map(|index| self.key_of(groups, group_indexes, index)).collect()
    }

    pub(crate) fn key_of(&self, groups: &Groups, group_indexes: &[u32], index: usize) -> Value {
        let is_common =
            Some(index) != self.time_key && self.prefix_key.is_none_or(|key| key == index);
        let first = group_indexes.first().filter(|_| is_common);
        let value = first.and_then(|&group_index| groups.key_value(group_index as usize, index));
        value.map_or(Value::Null, std::borrow::Cow::into_owned)
    }
}

/// The seconds of the whole range; where it is open, the buckets that have rows bound it.
fn whole_range(query: &Query, times: &HashMap<u32, Value>) -> Value {
    let mut intervals = intervals(query);
    if let Some((_, buckets)) = query.time_key() {
        let starts = times.values().filter_map(|time| match time {
            Value::Time(start) => Some(*start),
            _ => None,
        });
        if let Some(first) = intervals.first_mut() {
            first.from = first.from.or_else(|| starts.clone().min());
        }
        if let Some(last) = intervals.last_mut() {
            let end = || starts.max().and_then(|last: Micros| buckets.range(last).to);
            last.to = last.to.or_else(end);
        }
    }
    seconds_of(&intervals)
}
