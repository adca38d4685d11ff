//! Groups of rows by key, bounded in number and in bytes.
//!
//! Beyond [`GROUPS_MAX`] groups, or where memory ends, and beyond [`LEAF_GROUPS_MAX`] where groups
//! travel or all are looked at, the smallest keys are kept, in the order of keys. A group that is
//! among the smallest of all is among the smallest wherever it was seen, so what is kept is
//! complete, and the same whatever the order of adding and merging; which the rule "first come,
//! first kept" is not. What was dropped is counted in rows.
//!
//! Groups are columns: a group is a *place* in each of them. Its key is a few numbers of
//! dictionaries; values are made only for groups that an answer shows. What most rows add to are
//! cells; tallies and states have what does not fit there, and are as long as they need to be.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::BuildHasher;

use hadal_query::{Measure, Query, StateKind};
use hadal_types::limits::{GROUPS_MAX, LEAF_GROUPS_MAX};
use hadal_types::{Value, Weight};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::cells::{Cells, Incoming, Layout};
use crate::group::{Group, KeyedGroup};
use crate::key_dictionary::KeyDictionary;
use crate::state::State;
use crate::state_column::StateColumn;
use crate::sum::SumOverflow;
use crate::tally::Tally;

/// No place.
const NOWHERE: u32 = u32::MAX;
/// So many groups are merged between two looks at how many there are.
const MERGED_AT_ONCE: usize = 1 << 14;

/// The groups of one query, by key.
#[derive(Clone, Debug)]
pub struct Groups {
    kinds: Box<[StateKind]>,
    /// The values of each key.
    keys: Box<[KeyDictionary]>,
    /// The numbers of each group's keys, group after group: empty where they are the places.
    numbers: Vec<u32>,
    /// How many groups there are.
    count: usize,
    /// What was counted and added up lately.
    cells: Cells,
    /// What was counted besides. Shorter where the last groups have nothing.
    tallies: Vec<Tally>,
    /// By measure: what was added up besides.
    states: Box<[StateColumn]>,
    /// The places, found by numbers: of several keys.
    places: HashTable<u32>,
    /// The places by number: of a single key, unless they are the numbers.
    by_number: Vec<u32>,
    hasher: DefaultHashBuilder,
    groups_max: usize,
    /// No more groups than that are held on the way, or not many more.
    held_max: usize,
    /// Once groups were dropped: no larger key can be among those kept.
    key_max: Option<Box<[Value]>>,
    dropped_rows: u64,
}

impl Groups {
    /// No groups yet.
    #[must_use]
    pub fn new(query: &Query) -> Self {
        let kinds = query.measures().iter().map(|measure: &Measure| measure.kind).collect();
        Self::with_max(query.keys().len(), kinds, (LEAF_GROUPS_MAX, GROUPS_MAX))
    }

    /// No groups yet, of which the first of `max` are kept in the end, and the second on the way.
    pub(crate) fn with_max(
        key_count: usize,
        kinds: Box<[StateKind]>,
        (groups_max, held_max): (usize, usize),
    ) -> Self {
        Self {
            keys: vec![KeyDictionary::default(); key_count].into(),
            numbers: Vec::new(),
            count: 0,
            cells: Cells::new(kinds.len()),
            tallies: Vec::new(),
            states: kinds.iter().map(|&kind| StateColumn::new(kind)).collect(),
            kinds,
            places: HashTable::new(),
            by_number: Vec::new(),
            hasher: DefaultHashBuilder::default(),
            groups_max,
            held_max,
            key_max: None,
            dropped_rows: 0,
        }
    }

    /// The groups of these parts, or `None` when they are not such as `query` asks for, or too
    /// many. Groups of the same key are merged.
    #[must_use]
    pub fn from_parts(query: &Query, groups: Vec<KeyedGroup>, dropped_rows: u64) -> Option<Self> {
        let mut all = Self { dropped_rows, ..Self::new(query) };
        let fits = groups.len() <= all.groups_max
            && groups
                .iter()
                .all(|(key, group)| key.len() == all.keys.len() && group.fits(&all.kinds));
        for (key, group) in fits.then_some(groups)? {
            all.add_group(&key, &group);
        }
        Some(all)
    }

    /// The values of a key, by which [`Self::place`] finds groups.
    ///
    /// # Panics
    /// When the query has no key of this index.
    pub fn key_mut(&mut self, key: usize) -> &mut KeyDictionary {
        &mut self.keys[key]
    }

    /// Where the group of this key is, told by the number of each of its values; a new one is made
    /// where there is none. It stays there until [`Self::make_room`].
    ///
    /// `None` when there is no room for it: then the caller hands its rows to
    /// [`Self::drop_rows`].
    ///
    /// # Panics
    /// When these are not numbers that the keys' dictionaries gave out, one of each.
    #[must_use]
    pub fn place(&mut self, numbers: &[u32]) -> Option<u32> {
        assert_eq!(numbers.len(), self.keys.len(), "values of a key");
        let found = self.find(numbers);
        if found.is_some() || self.is_beyond(numbers) {
            return found;
        }
        let place = u32::try_from(self.count).ok()?;
        self.note(place, numbers);
        Some(place)
    }

    /// Where the groups of these whole numbers are, each the only value of its key: as
    /// [`Self::place`] for each of them, and sooner found together. `u32::MAX` for those for which
    /// there is no room.
    ///
    /// # Panics
    /// When groups have not one key.
    pub fn places_of_wholes(&mut self, wholes: &[i64]) -> Vec<u32> {
        self.places_of(|key, numbers| key.numbers_of_wholes(wholes, numbers))
    }

    /// The same of these strings.
    ///
    /// # Panics
    /// When groups have not one key.
    pub fn places_of_texts<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Vec<u32> {
        self.places_of(|key, numbers| key.numbers_of_texts(texts, numbers))
    }

    /// The same of strings that are known elsewhere by ids, as [`KeyDictionary::numbers_of_ids`].
    ///
    /// # Panics
    /// When groups have not one key.
    pub fn places_of_ids<'t>(
        &mut self,
        source: u64,
        ids: impl Iterator<Item = u32>,
        text_of: impl Fn(u32) -> &'t str,
    ) -> Vec<u32> {
        self.places_of(|key, numbers| key.numbers_of_ids(source, ids, text_of, numbers))
    }

    /// The values of the only key, where their numbers are the places of groups.
    #[must_use]
    pub fn only_key(&self) -> Option<&KeyDictionary> {
        let [key] = &*self.keys else { return None };
        (self.by_number.is_empty() && key.len() == self.count).then_some(key)
    }

    fn places_of(&mut self, number: impl FnOnce(&mut KeyDictionary, &mut Vec<u32>)) -> Vec<u32> {
        assert_eq!(self.keys.len(), 1, "values of a key");
        let is_same = self.only_key().is_some();
        let key = &mut self.keys[0];
        let mut places = Vec::new();
        number(key, &mut places);
        if is_same && self.key_max.is_none() {
            self.count = key.len();
            return places;
        }
        for place in &mut places {
            *place = self.place(&[*place]).unwrap_or(NOWHERE);
        }
        places
    }

    /// Where the group of these numbers is, if there is one.
    fn find(&self, numbers: &[u32]) -> Option<u32> {
        if let [number] = numbers {
            if self.by_number.is_empty() {
                return Some(*number).filter(|&place| (place as usize) < self.count);
            }
            return self.by_number.get(*number as usize).copied().filter(|&place| place != NOWHERE);
        }
        let is_it = |&place: &u32| self.numbers_of(place as usize).eq(numbers.iter().copied());
        self.places.find(self.hasher.hash_one(numbers), is_it).copied()
    }

    /// Notes the numbers of the group at the next place.
    fn note(&mut self, place: u32, own: &[u32]) {
        let Self { numbers, places, by_number, hasher, keys, count, .. } = self;
        *count += 1;
        if let [number] = own {
            if by_number.is_empty() && *number == place {
                return;
            }
            if by_number.is_empty() {
                numbers.extend(0..place);
                by_number.extend(0..place);
            }
            numbers.push(*number);
            let end = by_number.len().max(*number as usize + 1);
            by_number.resize(end, NOWHERE);
            by_number[*number as usize] = place;
            return;
        }
        numbers.extend_from_slice(own);
        let width = keys.len();
        let hash_at = |&place: &u32| {
            let start = place as usize * width;
            hasher.hash_one(&numbers[start..start + width])
        };
        places.insert_unique(hasher.hash_one(own), place, hash_at);
    }

    /// Counts rows of a group.
    ///
    /// # Panics
    /// When there is no such group.
    pub fn add_tally(&mut self, place: u32, tally: Tally) {
        assert!((place as usize) < self.count, "a group at {place}");
        if self.tallies.len() <= place as usize {
            self.tallies.resize(self.count, Tally::default());
        }
        self.tallies[place as usize].merge(tally);
    }

    /// Lets `add` add rows to cells, the numbers of groups by their places; the layout says where
    /// they go and what is to be added. Returns whether there was room, which is never missing for
    /// sums within 2^62 and up to 16 classes.
    pub fn add_cells(
        &mut self,
        incoming: &Incoming<'_>,
        add: impl FnOnce(&Layout, &mut [i64]),
    ) -> bool {
        let layout = self.cells.prepare(incoming).or_else(|| {
            self.spill();
            self.cells.prepare(incoming)
        });
        let Some(layout) = layout else { return false };
        add(&layout, self.cells.numbers_mut(self.count));
        true
    }

    /// Moves what cells have to tallies and states.
    pub(crate) fn spill(&mut self) {
        let cells = std::mem::replace(&mut self.cells, Cells::new(self.kinds.len()));
        if cells.is_empty() {
            return;
        }
        for place in (0..).take(self.count) {
            self.add_tally(place, cells.tally(place as usize));
        }
        for measure in cells.measures() {
            for place in (0..).take(self.count) {
                if let Some((tally, product, scale)) = cells.decimal(place as usize, measure) {
                    self.add_decimal(measure, place, tally, product, scale);
                }
            }
        }
    }

    /// Adds to the moments of a group's measure rows of this tally; `product` is
    /// Σ mantissa · weight in millionths, of values of this scale, at most 18.
    ///
    /// # Panics
    /// When there is no such group or measure.
    pub fn add_decimal(
        &mut self,
        measure: usize,
        place: u32,
        tally: Tally,
        product: i128,
        scale: u8,
    ) {
        self.states[measure].add_decimal(place as usize, tally, product, scale, self.count);
    }

    /// The states of a measure by place, to be added to.
    ///
    /// # Panics
    /// When there is no such measure.
    pub fn states_mut(&mut self, measure: usize) -> &mut [State] {
        self.states[measure].states_mut(self.count)
    }

    /// The ranges of a measure of smallest and largest decimals by place, to be widened: see
    /// [`StateColumn::ranges_mut`].
    ///
    /// # Panics
    /// When there is no such measure.
    pub fn ranges_mut(
        &mut self,
        measure: usize,
        scale: u8,
        bounds: (i64, i64),
    ) -> Option<(&mut [(i64, i64)], i64)> {
        self.states[measure].ranges_mut(self.count, scale, bounds)
    }

    /// Notes that so many rows are of groups for which there is no room.
    pub fn drop_rows(&mut self, rows: u64) {
        self.dropped_rows = self.dropped_rows.saturating_add(rows);
    }

    /// Adds the groups of `other`, which must be of the same query.
    pub fn merge(&mut self, mut other: Self) {
        // The order does not matter to what comes out, but to how much has to move.
        if self.len() < other.len() {
            std::mem::swap(self, &mut other);
        }
        self.drop_rows(other.dropped_rows);
        let mut same = other.unknown();
        for first in (0..other.len()).step_by(MERGED_AT_ONCE) {
            if self.make_room() {
                same = other.unknown();
            }
            let chunk = first..other.len().min(first + MERGED_AT_ONCE);
            let places: Vec<Option<u32>> =
                chunk.clone().map(|place| self.place_of(&other, place, &mut same)).collect();
            if !other.cells.is_empty()
                && !self.cells.merge(&other.cells, first, &places, self.count)
            {
                self.spill();
                other.spill();
            }
            for (own, place) in places.iter().zip(chunk) {
                match own {
                    Some(own) if let Some(&tally) = other.tallies.get(place) => {
                        self.add_tally(*own, tally);
                    }
                    Some(_) => {}
                    None => self.drop_rows(other.tally_at(place).rows()),
                }
            }
            for (own, other) in self.states.iter_mut().zip(&other.states) {
                own.merge(other, first, &places, self.count);
            }
        }
        self.cut(self.held_max);
    }

    /// By key and number: what the number of the same value elsewhere is, which is not known yet.
    fn unknown(&self) -> Vec<Vec<Option<u32>>> {
        self.keys.iter().map(|key| vec![None; key.len()]).collect()
    }

    /// Where the group of the same key as one of `other` is.
    fn place_of(
        &mut self,
        other: &Self,
        place: usize,
        same: &mut [Vec<Option<u32>>],
    ) -> Option<u32> {
        let numbers: Vec<u32> = other
            .numbers_of(place)
            .enumerate()
            .map(|(key, number)| {
                let value = other.keys[key].value(number);
                *same[key][number as usize].get_or_insert_with(|| self.keys[key].number_of(&value))
            })
            .collect();
        self.place(&numbers)
    }

    /// Adds a group that came on its own.
    fn add_group(&mut self, key: &[Value], group: &Group) {
        let _ = self.make_room();
        let numbers = self.numbers_for(key);
        let Some(place) = self.place(&numbers) else {
            return self.drop_rows(group.tally.rows());
        };
        self.add_tally(place, group.tally);
        for (column, state) in self.states.iter_mut().zip(&group.states) {
            column.merge_state(place as usize, state, self.count);
        }
    }

    /// Adds one row, with its value for each measure: the plain way, which every faster one must
    /// agree with.
    ///
    /// # Panics
    /// When there are more or fewer keys than the query has.
    pub fn add_row(&mut self, key: &[Value], values: &[Value], weight: Weight) {
        let mut tally = Tally::default();
        tally.add_row(weight);
        let states = self.states.iter().zip(values).map(|(column, value)| {
            let mut state = State::new(column.kind());
            state.add(value, weight);
            state
        });
        let group = Group { tally, states: states.collect() };
        self.add_group(key, &group);
    }

    /// The numbers of these values, one for each key.
    pub(crate) fn numbers_for(&mut self, key: &[Value]) -> Vec<u32> {
        self.keys.iter_mut().zip(key).map(|(own, value)| own.number_of(value)).collect()
    }

    /// Drops groups where there are too many, and returns whether it did: then all numbers and
    /// places are others. Dropping costs a pass over all groups, so it waits until there are many
    /// to drop.
    pub fn make_room(&mut self) -> bool {
        if self.len() > self.held_max + self.held_max / 8 {
            self.cut(self.held_max);
            return true;
        }
        // Values of groups for which there was no room.
        let has_garbage = self.keys.iter().any(|key| key.len() / 2 > self.held_max);
        if has_garbage {
            self.keep(&(0..).take(self.len()).collect::<Vec<u32>>());
        }
        has_garbage
    }

    /// Drops the groups with the largest keys where there are too many for an answer.
    pub(crate) fn settle(&mut self) {
        self.cut(self.groups_max);
    }

    /// Drops groups to save memory, and holds no more from now on than are kept in the end; returns
    /// whether there were any to drop.
    pub(crate) fn cut_back(&mut self) -> bool {
        let has_more = self.len() > self.groups_max;
        self.held_max = self.held_max.min(self.groups_max);
        self.settle();
        has_more
    }

    /// Drops the groups with the largest keys, all but `max`.
    fn cut(&mut self, max: usize) {
        if self.len() <= max {
            return;
        }
        let last = max.saturating_sub(1);
        let mut order: Vec<u32> = (0..).take(self.len()).collect();
        order.select_nth_unstable_by(last, |&left, &right| self.cmp_keys(left, right));
        self.key_max = Some(self.key_of(order[last] as usize));
        for place in order.drain(max..) {
            self.dropped_rows =
                self.dropped_rows.saturating_add(self.tally_at(place as usize).rows());
        }
        self.keep(&order);
    }

    /// Keeps the groups at these places only, and the values of their keys.
    pub(crate) fn keep(&mut self, kept: &[u32]) {
        let states = self.states.iter().map(|column| column.kept(kept)).collect();
        let cells = self.cells.kept(kept);
        let max = (self.groups_max, self.held_max);
        let empty = Self::with_max(self.keys.len(), Box::default(), max);
        let before = std::mem::replace(self, empty);
        for &place in kept {
            let numbers = self.numbers_for(&before.key_of(place as usize));
            let own = u32::try_from(self.count).unwrap_or(u32::MAX);
            self.tallies.push(before.tallies.get(place as usize).copied().unwrap_or_default());
            self.note(own, &numbers);
        }
        self.cells = cells;
        let Self { kinds, key_max, dropped_rows, .. } = before;
        (self.kinds, self.states) = (kinds, states);
        (self.key_max, self.dropped_rows) = (key_max, dropped_rows);
    }

    /// Forgets all groups, and the memory that they took.
    pub(crate) fn clear(&mut self) {
        let kinds = std::mem::take(&mut self.kinds);
        *self = Self::with_max(self.keys.len(), kinds, (self.groups_max, self.held_max));
    }

    /// Whether there is no room for a new group of this key.
    fn is_beyond(&self, numbers: &[u32]) -> bool {
        let values = || self.keys.iter().zip(numbers).map(|(key, &number)| key.value(number));
        self.key_max.as_deref().is_some_and(|max| values().gt(max.iter().map(Cow::Borrowed)))
    }

    /// The groups with their keys in any order, and how many rows are in none of them.
    pub(crate) fn into_unsorted(mut self) -> (Vec<KeyedGroup>, u64) {
        self.settle();
        let group = |place| (self.key_of(place), self.group_at(place));
        ((0..self.len()).map(group).collect(), self.dropped_rows)
    }

    /// The groups with their keys, sorted by key, and how many rows are in none of them.
    #[must_use]
    pub fn into_sorted(self) -> (Vec<KeyedGroup>, u64) {
        let (mut groups, dropped_rows) = self.into_unsorted();
        groups.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        (groups, dropped_rows)
    }

    /// How many rows are in none of the groups.
    pub(crate) const fn dropped_rows(&self) -> u64 {
        self.dropped_rows
    }

    /// How many groups there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no groups.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The numbers of a group's keys.
    fn numbers_of(&self, place: usize) -> impl Iterator<Item = u32> {
        let width = self.keys.len();
        let known = self.numbers.get(place * width..(place + 1) * width);
        // Where none are kept, the place is the number.
        let own = u32::try_from(place).ok().filter(|_| known.is_none());
        known.unwrap_or_default().iter().copied().chain(own)
    }

    /// How many values a group's key has.
    pub(crate) const fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// Fails if a sum is beyond the range of doubles.
    pub(crate) fn check_sums(&self) -> Result<(), SumOverflow> {
        self.states.iter().try_for_each(StateColumn::check_sums)
    }

    /// One value of a group's key.
    pub(crate) fn key_value(&self, place: usize, key: usize) -> Option<Cow<'_, Value>> {
        let number = self.numbers_of(place).nth(key)?;
        Some(self.keys[key].value(number))
    }

    /// A group's key.
    pub(crate) fn key_of(&self, place: usize) -> Box<[Value]> {
        let numbers = self.numbers_of(place);
        numbers.zip(&self.keys).map(|(number, key)| key.value(number).into_owned()).collect()
    }

    fn cmp_keys(&self, left: u32, right: u32) -> Ordering {
        let values = |place: u32| {
            let numbers = self.numbers_of(place as usize);
            numbers.zip(&self.keys).map(|(number, key)| key.value(number))
        };
        values(left).cmp(values(right))
    }

    /// All rows of a group.
    pub(crate) fn tally_at(&self, place: usize) -> Tally {
        let mut tally = self.cells.tally(place);
        tally.merge(self.tallies.get(place).copied().unwrap_or_default());
        tally
    }

    /// What all rows of a group weigh, in millionths.
    pub(crate) fn weight_at(&self, place: usize) -> i128 {
        let besides = self.tallies.get(place).map_or(0, |tally| tally.weight());
        self.cells.weight(place).saturating_add(besides)
    }

    /// The state of a group's measure.
    pub(crate) fn state_at(&self, place: usize, measure: usize) -> Option<State> {
        let mut state = self.states.get(measure)?.state(place);
        if let Some((tally, product, scale)) = self.cells.decimal(place, measure) {
            state.add_decimal(tally, product, scale);
        }
        Some(state)
    }

    /// By place, what groups can be ranked by instead of a measure's sum; `None` where that is not
    /// known, or a group has none.
    pub(crate) fn sum_ranks(&self, measure: usize) -> Option<Vec<i128>> {
        let column = self.states.get(measure)?;
        if self.cells.measures().all(|own| own != measure) {
            return column.sum_ranks(self.count);
        }
        let rank = |place| {
            let (tally, product, _) = self.cells.decimal(place, measure)?;
            (tally.rows() > 0).then_some(product)
        };
        column.is_unused().then(|| (0..self.count).map(rank).collect())?
    }

    fn group_at(&self, place: usize) -> Group {
        let states = (0..self.states.len()).filter_map(|measure| self.state_at(place, measure));
        Group { tally: self.tally_at(place), states: states.collect() }
    }

    /// Whether `other` answers the same question.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        self.keys.len() == other.keys.len() && self.kinds == other.kinds
    }

    /// Bytes held, about: to be compared with the query's budget.
    ///
    /// Walks all groups when the query keeps distributions, histograms or distinct values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.keys.iter().map(KeyDictionary::bytes).sum::<usize>()
            + self.numbers.capacity() * size_of::<u32>()
            + self.cells.bytes()
            + self.tallies.capacity() * size_of::<Tally>()
            + self.states.iter().map(StateColumn::bytes).sum::<usize>()
            + self.places.allocation_size()
            + self.by_number.capacity() * size_of::<u32>()
    }
}

impl PartialEq for Groups {
    /// Whether both are the same once too many groups are dropped.
    fn eq(&self, other: &Self) -> bool {
        self.fits(other) && self.clone().into_sorted() == other.clone().into_sorted()
    }
}

#[cfg(test)]
mod tests;
