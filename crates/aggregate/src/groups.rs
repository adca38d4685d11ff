//! Groups of rows by key, bounded in number and in bytes.
//!
//! Beyond [`LEAF_GROUPS_MAX`] groups the smallest keys are kept, in the order of keys. A group
//! that is among the smallest of all is among the smallest wherever it was seen, so what is kept
//! is complete, and the same whatever the order of adding and merging; which the rule "first come,
//! first kept" is not. What was dropped is counted in rows.

use std::hash::BuildHasher;

use hadal_query::{Measure, Query, StateKind};
use hadal_types::Value;
use hadal_types::limits::LEAF_GROUPS_MAX;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::state::State;
use crate::tally::Tally;

/// What is kept of the rows of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// All rows of the group.
    pub tally: Tally,
    /// One state per measure of the query.
    pub states: Box<[State]>,
}

impl Group {
    pub(crate) fn new(kinds: &[StateKind]) -> Self {
        let states = kinds.iter().map(|&kind| State::new(kind)).collect();
        Self { tally: Tally::default(), states }
    }

    /// The group of no rows.
    pub(crate) fn empty(query: &Query) -> Self {
        let kinds: Vec<StateKind> = query.measures().iter().map(|measure| measure.kind).collect();
        Self::new(&kinds)
    }

    /// Adds the rows of `other`, which must be of the same query.
    pub fn merge(&mut self, other: &Self) {
        self.tally.merge(other.tally);
        for (own, state) in self.states.iter_mut().zip(&other.states) {
            own.merge(state);
        }
    }

    fn fits(&self, kinds: &[StateKind]) -> bool {
        self.states.iter().map(State::kind).eq(kinds.iter().copied())
    }
}

/// A group and its key.
pub type KeyedGroup = (Box<[Value]>, Group);

/// The groups of one query, by key.
///
/// They stand in a list, in the order in which they came; a table of places finds them by key. A
/// hash table of the groups themselves would be twice as large for half of all sizes.
#[derive(Clone, Debug)]
pub struct Groups {
    key_count: usize,
    kinds: Box<[StateKind]>,
    groups: Vec<KeyedGroup>,
    /// Where in the list each group is.
    places: HashTable<u32>,
    hasher: DefaultHashBuilder,
    groups_max: usize,
    /// Once groups were dropped: no larger key can be among those kept.
    key_max: Option<Box<[Value]>>,
    dropped_rows: u64,
    key_bytes: usize,
    /// How often the groups that there are have changed their places.
    layout: u64,
}

impl Groups {
    /// No groups yet.
    #[must_use]
    pub fn new(query: &Query) -> Self {
        let kinds = query.measures().iter().map(|measure: &Measure| measure.kind).collect();
        Self::with_max(query.keys().len(), kinds, LEAF_GROUPS_MAX)
    }

    pub(crate) fn with_max(key_count: usize, kinds: Box<[StateKind]>, groups_max: usize) -> Self {
        Self {
            key_count,
            kinds,
            groups: Vec::new(),
            places: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            groups_max,
            key_max: None,
            dropped_rows: 0,
            key_bytes: 0,
            layout: 0,
        }
    }

    /// The groups of these parts, or `None` when they are not such as `query` asks for, or too
    /// many. Groups of the same key are merged.
    #[must_use]
    pub fn from_parts(
        query: &Query,
        groups: Vec<(Box<[Value]>, Group)>,
        dropped_rows: u64,
    ) -> Option<Self> {
        let mut all = Self { dropped_rows, ..Self::new(query) };
        let fits = groups.len() <= all.groups_max
            && groups
                .iter()
                .all(|(key, group)| key.len() == all.key_count && group.fits(&all.kinds));
        for (key, group) in fits.then_some(groups)? {
            all.add_group(key, group);
        }
        Some(all)
    }

    /// The group of this key, which is cloned only for a new group.
    ///
    /// `None` when there is no room for it: then the caller hands its rows to
    /// [`Self::drop_rows`]. A key has as many values as the query has keys.
    #[must_use]
    pub fn entry(&mut self, key: &[Value]) -> Option<&mut Group> {
        self.place(key).map(|place| self.at(place))
    }

    /// Where the group of this key is, which is cloned only for a new group; it stays there as long
    /// as [`Self::layout`] is the same. `None` when there is no room for it.
    #[must_use]
    pub fn place(&mut self, key: &[Value]) -> Option<u32> {
        debug_assert_eq!(key.len(), self.key_count, "values of a key");
        self.make_room();
        let place = match self.find(key) {
            Some(place) => place,
            None if self.is_beyond(key) => return None,
            None => {
                self.push(key.into(), Group::new(&self.kinds));
                self.groups.len() - 1
            }
        };
        u32::try_from(place).ok()
    }

    /// The group at a place.
    ///
    /// # Panics
    /// When [`Self::place`] has not told the place since the layout changed.
    #[must_use]
    pub fn at(&mut self, place: u32) -> &mut Group {
        &mut self.groups[place as usize].1
    }

    /// Another number whenever groups have changed their places.
    #[must_use]
    pub const fn layout(&self) -> u64 {
        self.layout
    }

    /// Where in the list the group of this key is.
    fn find(&self, key: &[Value]) -> Option<usize> {
        let is_it = |&at: &u32| *self.groups[at as usize].0 == *key;
        self.places.find(self.hasher.hash_one(key), is_it).map(|&at| at as usize)
    }

    /// Adds a group that is not there yet.
    fn push(&mut self, key: Box<[Value]>, group: Group) -> &mut Group {
        let Self { groups, places, hasher, .. } = self;
        self.key_bytes += key.iter().map(value_bytes).sum::<usize>();
        let hash = hasher.hash_one(&*key);
        groups.push((key, group));
        let last = groups.len() - 1;
        #[expect(clippy::cast_possible_truncation, reason = "too many groups are dropped")]
        places.insert_unique(hash, last as u32, |&at| hasher.hash_one(&*groups[at as usize].0));
        &mut groups[last].1
    }

    /// Notes that so many rows are of groups for which there is no room.
    pub fn drop_rows(&mut self, rows: u64) {
        self.dropped_rows = self.dropped_rows.saturating_add(rows);
    }

    /// Adds the groups of `other`, which must be of the same query.
    pub fn merge(&mut self, mut other: Self) {
        // The order does not matter to what comes out, but to how much has to move.
        if self.groups.len() < other.groups.len() {
            std::mem::swap(self, &mut other);
            self.layout = self.layout.max(other.layout) + 1;
        }
        self.drop_rows(other.dropped_rows);
        for (key, group) in other.groups {
            self.add_group(key, group);
        }
        self.settle();
    }

    fn add_group(&mut self, key: Box<[Value]>, group: Group) {
        self.make_room();
        match self.find(&key) {
            Some(at) => self.groups[at].1.merge(&group),
            None if self.is_beyond(&key) => self.drop_rows(group.tally.rows()),
            None => drop(self.push(key, group)),
        }
    }

    /// Dropping costs a pass over all groups, so it waits until there are many to drop.
    fn make_room(&mut self) {
        if self.groups.len() > self.groups_max + self.groups_max / 8 {
            self.settle();
        }
    }

    /// Drops the groups with the largest keys where there are too many.
    fn settle(&mut self) {
        if self.groups.len() <= self.groups_max {
            return;
        }
        self.layout += 1;
        let last = self.groups_max.saturating_sub(1);
        self.groups.select_nth_unstable_by(last, |left, right| left.0.cmp(&right.0));
        self.key_max = Some(self.groups[last].0.clone());
        for (key, group) in self.groups.drain(self.groups_max..) {
            self.dropped_rows = self.dropped_rows.saturating_add(group.tally.rows());
            self.key_bytes -= key.iter().map(value_bytes).sum::<usize>();
        }
        let Self { groups, places, hasher, .. } = self;
        let hash_at = |&at: &u32| hasher.hash_one(&*groups[at as usize].0);
        places.clear();
        for at in (0..).take(groups.len()) {
            places.insert_unique(hash_at(&at), at, hash_at);
        }
    }

    /// Forgets all groups, and the memory that they took.
    pub(crate) fn clear(&mut self) {
        (self.groups, self.places, self.key_bytes) = (Vec::new(), HashTable::new(), 0);
        self.layout += 1;
    }

    /// Whether there is no room for a new group of this key.
    fn is_beyond(&self, key: &[Value]) -> bool {
        self.key_max.as_deref().is_some_and(|max| key > max)
    }

    /// The groups with their keys in any order, and how many rows are in none of them.
    pub(crate) fn into_unsorted(mut self) -> (Vec<KeyedGroup>, u64) {
        self.settle();
        (self.groups, self.dropped_rows)
    }

    /// The groups with their keys, sorted by key, and how many rows are in none of them.
    #[must_use]
    pub fn into_sorted(self) -> (Vec<KeyedGroup>, u64) {
        let (mut groups, dropped_rows) = self.into_unsorted();
        groups.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        (groups, dropped_rows)
    }

    /// How many groups there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are no groups.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether `other` answers the same question.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        self.key_count == other.key_count && self.kinds == other.kinds
    }

    /// Bytes held, about: to be compared with the query's budget.
    ///
    /// Walks all groups when the query keeps distributions, histograms or distinct values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let grows = |kind: &StateKind| match kind {
            StateKind::Quantiles | StateKind::Distinct | StateKind::Histogram(_) => true,
            StateKind::Moments | StateKind::Extremes => false,
        };
        let heap = if self.kinds.iter().any(grows) {
            let states = self.groups.iter().flat_map(|(_, group)| &group.states);
            states.map(State::heap_bytes).sum()
        } else {
            0
        };
        self.groups.capacity() * size_of::<KeyedGroup>()
            + self.groups.len() * self.kinds.len() * size_of::<State>()
            + self.places.allocation_size()
            + self.key_bytes
            + heap
    }
}

impl PartialEq for Groups {
    /// Whether both are the same once too many groups are dropped.
    fn eq(&self, other: &Self) -> bool {
        self.fits(other) && self.clone().into_sorted() == other.clone().into_sorted()
    }
}

/// Bytes of a value, about.
pub(crate) fn value_bytes(value: &Value) -> usize {
    size_of::<Value>() + heap_bytes(value)
}

/// Bytes that a value holds on the heap, about; text that several values share is counted for
/// each of them.
pub(crate) fn heap_bytes(value: &Value) -> usize {
    const COUNTERS: usize = 16;
    match value {
        Value::String(text) => COUNTERS + text.len(),
        Value::Set(elements) | Value::Vector(elements) => {
            let element = |text: &std::sync::Arc<str>| 2 * COUNTERS + text.len();
            COUNTERS + elements.iter().map(element).sum::<usize>()
        }
        Value::Histogram(buckets) => COUNTERS + size_of_val(&**buckets),
        Value::Bool(_) | Value::Number(_) | Value::Time(_) | Value::Null => 0,
    }
}

#[cfg(test)]
mod tests;
