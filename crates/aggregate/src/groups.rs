//! Groups of rows by key, bounded in number and in bytes.
//!
//! The limit is [`GROUPS_MAX`] groups, or [`LEAF_GROUPS_MAX`] when memory is short or groups are
//! sent. Beyond it, the groups with the smallest keys are kept. A group that is among the smallest
//! of all groups is also among the smallest of every part that has it. So each kept group is
//! complete, whatever the order of adding and merging; the rule "first come, first kept" would not
//! ensure this. The rows of dropped groups are counted.
//!
//! For a query for series, the series with the lowest ranks are dropped instead, and their rows are
//! added to "other". The rank uses the rows known so far. All totals stay right, but a series may
//! lack rows from the time before it was among the best.
//!
//! Groups are stored as columns: a group is an *index* into each column. A group's key is a few
//! dictionary numbers; key values are built only for the groups that a result shows. Most rows are
//! added to accumulators. The columns of counts and states have all other rows, and are only as
//! long as needed.

pub mod accumulate;
pub(crate) mod accumulators;
pub(crate) mod capacity;
pub(crate) mod columns;
pub(crate) mod deferred;
pub(crate) mod group;
pub(crate) mod group_table;
pub(crate) mod group_value;
pub(crate) mod hash_table;
#[cfg(test)]
pub(crate) mod hash_table_tests;
pub(crate) mod int_table;
pub(crate) mod key_dictionary;
pub(crate) mod lookup;
pub(crate) mod radix_partition;
pub(crate) mod state_column;
pub(crate) mod string_partition;
pub(crate) mod string_table;
pub(crate) mod template_strings;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::iter::repeat;
use std::sync::Arc;

use hadal_query::{Measure, Query, StateKind};
use hadal_types::limits::{GROUPS_MAX, LEAF_GROUPS_MAX};
use hadal_types::{Value, Weight};

use crate::groups::accumulators::Accumulators;
use crate::groups::group::{Group, KeyedGroup};
use crate::groups::group_table::GroupTable;
use crate::groups::key_dictionary::KeyDictionary;
use crate::groups::state_column::StateColumn;
use crate::sort_order::SortDirection;
use crate::state::State;
use crate::state::sum::SumOverflow;
use crate::state::weighted_count::WeightedCount;

/// The groups of one query, by key.
#[derive(Clone, Debug)]
pub struct Groups {
    kinds: Box<[StateKind]>,
    /// The dictionary of each key.
    keys: Box<[KeyDictionary]>,
    /// The group indexes, by the numbers of their keys.
    group_indexes: GroupTable,
    /// Recent counts and sums.
    accumulators: Accumulators,
    /// Other counts. May be shorter than the number of groups.
    counts: Vec<WeightedCount>,
    /// By measure: other states.
    states: Box<[StateColumn]>,
    groups_max: usize,
    /// The limit while groups are added; it may be exceeded a little.
    held_max: usize,
    /// Set once groups were dropped, here or in a merged partial result: no kept key is larger.
    key_max: Option<Box<[Value]>>,
    dropped_rows: u64,
    /// For a top list: what other processes left out.
    cut: Option<Box<Cut>>,
    /// For a query for series: how series are ranked and folded.
    series: Option<Box<SeriesFold>>,
    /// Rows whose groups are looked up later, in the layout of the accumulators.
    deferred: Option<Box<DeferredRows>>,
}

/// The query that ranks series, and the groups folded into "other".
#[derive(Clone, Debug)]
struct SeriesFold {
    query: Arc<Query>,
    /// "Other" by time bucket.
    folded: Option<Groups>,
    rows: u64,
}

impl Groups {
    /// An empty set of groups.
    #[must_use]
    pub fn new(query: &Query) -> Self {
        let kinds = query.measures().iter().map(|measure: &Measure| measure.kind).collect();
        let groups = Self::with_max(query.keys().len(), kinds, (LEAF_GROUPS_MAX, GROUPS_MAX));
        groups.of_series(query)
    }

    /// The same groups; if the query asks for series, the best series are kept at the limit.
    pub(crate) fn of_series(mut self, query: &Query) -> Self {
        let series_fold = || SeriesFold { query: Arc::new(query.clone()), folded: None, rows: 0 };
        // Prefixes cannot be folded: those of one event are in groups of their own.
        let is_folded = query.series.is_some() && query.prefix_key().is_none();
        self.series = is_folded.then(|| Box::new(series_fold()));
        self
    }

    /// An empty set of groups. The limits are of the final groups, and of groups while they are
    /// added.
    pub(crate) fn with_max(
        key_count: usize,
        kinds: Box<[StateKind]>,
        (groups_max, held_max): (usize, usize),
    ) -> Self {
        Self {
            keys: vec![KeyDictionary::default(); key_count].into(),
            group_indexes: GroupTable::new(key_count),
            accumulators: Accumulators::new(kinds.len()),
            counts: Vec::new(),
            states: kinds.iter().map(|&kind| StateColumn::new(kind)).collect(),
            kinds,
            groups_max,
            held_max,
            key_max: None,
            dropped_rows: 0,
            cut: None,
            series: None,
            deferred: None,
        }
    }

    /// The groups of these parts. `None` if they do not have the keys and states that `query` asks
    /// for, or are too many. Groups with the same key are merged.
    #[must_use]
    pub fn from_parts(query: &Query, groups: Vec<KeyedGroup>, dropped_rows: u64) -> Option<Self> {
        let mut all = Self { dropped_rows, ..Self::new(query) };
        let fits = groups.len() <= all.groups_max
            && groups
                .iter()
                .all(|(key, group)| key.len() == all.keys.len() && group.fits(&all.kinds));
        for (key, group) in fits.then_some(&groups)? {
            all.add_group(key, group);
        }
        if dropped_rows > 0 {
            all.key_max = groups.into_iter().map(|(key, _)| key).max();
        }
        Some(all)
    }

    /// The dictionary of a key. [`Self::find_or_insert`] takes its numbers.
    ///
    /// # Panics
    /// If the query has no key with this index.
    pub fn key_mut(&mut self, key: usize) -> &mut KeyDictionary {
        self.flush_deferred_templates();
        &mut self.keys[key]
    }

    /// Moves the content of the accumulators to counts and states.
    pub(crate) fn spill(&mut self) {
        self.flush_deferred();
        let accumulators =
            std::mem::replace(&mut self.accumulators, Accumulators::new(self.kinds.len()));
        if accumulators.is_empty() {
            return;
        }
        for group_index in (0..).take(self.len()) {
            self.add_count(group_index, accumulators.count(group_index as usize));
        }
        for measure in accumulators.measures() {
            for group_index in (0..).take(self.len()) {
                if let Some((count, product, scale)) =
                    accumulators.decimal(group_index as usize, measure)
                {
                    self.add_decimal(measure, group_index, count, product, scale);
                }
            }
        }
    }

    /// Adds a single group.
    fn add_group(&mut self, key: &[Value], group: &Group) {
        let _ = self.enforce_capacity();
        let numbers = self.numbers_for(key);
        let Some(group_index) = self.find_or_insert(&numbers) else {
            return self.drop_rows(group.count.rows());
        };
        self.add_count(group_index, group.count);
        let count = self.len();
        for (column, state) in self.states.iter_mut().zip(&group.states) {
            column.merge_state(group_index as usize, state, count);
        }
    }

    /// Adds one row with its value for each measure, which is both values of a pair. This is the
    /// reference that every faster path must agree with.
    ///
    /// # Panics
    /// If the number of keys differs from the query's.
    pub fn add_row(&mut self, key: &[Value], values: &[Value], weight: Weight) {
        let mut count = WeightedCount::default();
        count.add_row(weight);
        let states = self.states.iter().zip(values).map(|(column, value)| {
            let mut state = State::new(column.kind());
            match column.kind().is_of_pairs() {
                true => state.add_pair(value, value, weight),
                false => state.add(value, weight),
            }
            state
        });
        let group = Group { count, states: states.collect() };
        self.add_group(key, &group);
    }

    /// The dictionary numbers of these values, one per key.
    pub(crate) fn numbers_for(&mut self, key: &[Value]) -> Vec<u32> {
        self.flush_deferred_templates();
        self.keys
            .iter_mut()
            .zip(key)
            .map(|(dictionary, value)| dictionary.number_of(value))
            .collect()
    }

    /// The groups with their keys in any order, and the number of rows in none of them, which
    /// includes the rows of "other".
    pub(crate) fn into_unsorted(mut self) -> (Vec<KeyedGroup>, u64) {
        self.cut_to_limit();
        let group = |group_index| (self.key_of(group_index), self.group_at(group_index));
        let rows = self.dropped_rows.saturating_add(self.folded().1);
        ((0..self.len()).map(group).collect(), rows)
    }

    /// The groups with their keys, sorted by key, and the number of rows in none of them.
    #[must_use]
    pub fn into_sorted(self) -> (Vec<KeyedGroup>, u64) {
        let (mut groups, dropped_rows) = self.into_unsorted();
        groups.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        (groups, dropped_rows)
    }

    /// The number of rows of dropped groups.
    pub(crate) const fn dropped_rows(&self) -> u64 {
        self.dropped_rows
    }

    /// The groups folded into "other" before all series were ranked, by time bucket, and their
    /// rows.
    pub(crate) fn folded(&self) -> (Option<&Self>, u64) {
        let series = self.series.as_ref();
        (series.and_then(|series| series.folded.as_ref()), series.map_or(0, |series| series.rows))
    }

    /// The number of groups.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.group_indexes.len()
    }

    /// Whether there are no groups.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.group_indexes.len() == 0
    }

    /// The number of values of a group's key.
    pub(crate) const fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// The number of measures.
    pub(crate) const fn measure_count(&self) -> usize {
        self.kinds.len()
    }

    /// The dictionary numbers of a group's key.
    pub(crate) fn numbers_at(&self, group_index: usize) -> impl Iterator<Item = u32> {
        self.group_indexes.numbers_of(group_index)
    }

    /// Fails if a sum is beyond the range of doubles.
    pub(crate) fn check_sums(&self) -> Result<(), SumOverflow> {
        self.states.iter().try_for_each(StateColumn::check_sums)
    }

    /// One value of a group's key.
    pub(crate) fn key_value(&self, group_index: usize, key: usize) -> Option<Cow<'_, Value>> {
        let number = self.group_indexes.numbers_of(group_index).nth(key)?;
        Some(self.keys[key].value(number))
    }

    /// A group's key.
    pub(crate) fn key_of(&self, group_index: usize) -> Box<[Value]> {
        let numbers = self.group_indexes.numbers_of(group_index);
        numbers.zip(&self.keys).map(|(number, key)| key.value(number).into_owned()).collect()
    }

    fn cmp_keys(&self, left: u32, right: u32) -> Ordering {
        self.cmp_by(&[], left as usize, right as usize)
    }

    /// The order of two groups by these keys, and then by all keys.
    pub(crate) fn cmp_by(
        &self,
        first: &[(usize, SortDirection)],
        left: usize,
        right: usize,
    ) -> Ordering {
        let all = (0..self.keys.len()).map(|key| (key, SortDirection::ASCENDING));
        let mut orders = first.iter().copied().chain(all).map(|(key, direction)| {
            let number = |group_index| self.group_indexes.numbers_of(group_index).nth(key);
            let (left, right) = number(left).zip(number(right))?;
            Some(self.keys[key].cmp(left, right, direction))
        });
        orders.find_map(|order| order.filter(|order| order.is_ne())).unwrap_or(Ordering::Equal)
    }

    /// The count of all rows of a group.
    pub(crate) fn count_at(&self, group_index: usize) -> WeightedCount {
        let mut count = self.accumulators.count(group_index);
        count.merge(self.counts.get(group_index).copied().unwrap_or_default());
        count
    }

    /// The total weight of each group's rows, in millionths.
    pub(crate) fn weights(&self) -> impl Iterator<Item = i128> + Clone {
        let besides = self.counts.iter().map(|count| count.weight()).chain(repeat(0));
        let weights = self.accumulators.weights().chain(repeat(0)).zip(besides).take(self.len());
        weights.map(|(weight, besides)| weight.saturating_add(besides))
    }

    /// The total weight of each group's rows, by index, in one unit; `None` if there is none.
    pub(crate) fn weights_alone(&self) -> Option<impl Iterator<Item = i64> + Clone> {
        self.accumulators.weights_of_one_class(self.len()).filter(|_| self.counts.is_empty())
    }

    /// The state of a group's measure.
    pub(crate) fn state_at(&self, group_index: usize, measure: usize) -> Option<State> {
        let mut state = self.states.get(measure)?.state(group_index);
        if let Some((count, product, scale)) = self.accumulators.decimal(group_index, measure) {
            state.add_decimal(count, product, scale);
        }
        Some(state)
    }

    /// Adds a state of the measure's kind to that of a group.
    pub(crate) fn merge_state_at(&mut self, group_index: usize, measure: usize, state: &State) {
        let count = self.len();
        if let Some(column) = self.states.get_mut(measure) {
            column.merge_state(group_index, state, count);
        }
    }

    /// By group index: a rank with the same order as the measure's sum. `None` if the ranks are
    /// unknown or a group has no sum.
    pub(crate) fn sum_ranks(&self, measure: usize) -> Option<Vec<i128>> {
        self.ranks(measure, StateColumn::sum_ranks, |count, sum| (count.rows() > 0).then_some(sum))
    }

    /// By group index: a rank with the same order as the count of the measure's values. `None` if
    /// the ranks are unknown.
    pub(crate) fn count_ranks(&self, measure: usize) -> Option<Vec<i128>> {
        self.ranks(measure, StateColumn::count_ranks, |count, _| Some(count.weight()))
    }

    /// By group index: the rank that `of_column` gives a measure in states, or that `rank` gives
    /// its count and sum in accumulators. `None` if a rank is unknown.
    fn ranks(
        &self,
        measure: usize,
        of_column: impl Fn(&StateColumn, usize) -> Option<Vec<i128>>,
        rank: impl Fn(WeightedCount, i128) -> Option<i128>,
    ) -> Option<Vec<i128>> {
        let column = self.states.get(measure)?;
        if self.accumulators.measures().all(|other| other != measure) {
            return of_column(column, self.len());
        }
        let rank = |group_index| {
            let (count, sum, _) = self.accumulators.decimal(group_index, measure)?;
            rank(count, sum)
        };
        column.is_unused().then(|| (0..self.len()).map(rank).collect())?
    }

    /// A copy of one group.
    pub(crate) fn group_at(&self, group_index: usize) -> Group {
        let states =
            (0..self.states.len()).filter_map(|measure| self.state_at(group_index, measure));
        Group { count: self.count_at(group_index), states: states.collect() }
    }

    /// Whether `other` belongs to the same query.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        self.keys.len() == other.keys.len() && self.kinds == other.kinds
    }

    /// Approximate bytes of memory, for comparison with the query's memory limit.
    ///
    /// Walks all groups if the query has quantiles, histograms or distinct measures.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.keys.iter().map(KeyDictionary::bytes).sum::<usize>()
            + self.group_indexes.bytes()
            + self.accumulators.bytes()
            + self.deferred.as_ref().map_or(0, |deferred| deferred.bytes())
            + self.folded().0.map_or(0, Self::bytes)
            + self.counts.capacity() * size_of::<WeightedCount>()
            + self.states.iter().map(StateColumn::bytes).sum::<usize>()
    }
}

impl PartialEq for Groups {
    /// Whether both are the same after groups beyond the limit are dropped.
    fn eq(&self, other: &Self) -> bool {
        let (mut left, mut right) = (self.clone(), other.clone());
        self.fits(other)
            && left.cut_parts() == right.cut_parts()
            && left.into_sorted() == right.into_sorted()
    }
}

use deferred::DeferredRows;
use pruning::Cut;

mod merging;
pub(crate) mod pruning;
pub(crate) mod series;
#[cfg(test)]
mod tests;
