//! Rows of quantile sketches, counted by group, weight class and bucket before they are added to
//! the sketches. The counts of many blocks are collected, so that moving the counts to the sketches
//! costs little.
//!
//! A sketch also has its exact smallest and largest value. A bucket's count is *marked* if values
//! of the bucket could change these extremes. The caller must then examine the values of the rows
//! that the count includes. Once a group has some rows, few further rows are in marked buckets.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::state::State;
use crate::state::quantiles::Quantiles;
use crate::state::quantiles::buckets::bucket_of_number;

/// The highest bit of a count is the mark.
const MARK: u16 = 1 << 15;
/// The number of rows of a full count.
const FULL: u64 = 1 << 15;
/// The maximum number of counts; this many stay in the nearer caches.
const COUNTS_MAX: usize = 1 << 18;
/// Extra buckets on either side, because other rows of a column are mostly near.
const SPARE: i32 = 32;
/// The group has no index.
const NO_GROUP: usize = usize::MAX;

/// Counts of the rows of some groups.
#[derive(Clone, Debug, Default)]
pub struct QuantileCounts {
    /// The weight of each class, in millionths.
    classes: Vec<i64>,
    /// The bucket of a cell's second count; the first count is of bucket 0.
    first: i32,
    /// Number of counts of a cell.
    width: usize,
    /// The groups that are counted here; `indexes` has the position of each of them in this list.
    group_indexes: Vec<u32>,
    indexes: Vec<usize>,
    /// A cell for rows that do not count; then the cells of each group, one per class.
    counts: Vec<u16>,
    /// How often each count was full.
    full: BTreeMap<usize, u64>,
}

/// The rows that are about to be counted.
#[derive(Clone, Copy, Debug)]
pub struct BucketInput<'i> {
    /// The weight of each class of rows, in millionths.
    pub classes: &'i [i64],
    /// The first and the last bucket, besides bucket 0. Both are above 0.
    pub ends: (i32, i32),
    /// The caller's number and the index of each group.
    pub group_indexes: &'i [(usize, u32)],
}

impl QuantileCounts {
    /// Makes counts for all incoming rows. Returns `false` and changes nothing if they do not fit
    /// beside the earlier counts.
    pub(crate) fn prepare(&mut self, incoming: &BucketInput<'_>, states: &[State]) -> bool {
        if self.group_indexes.is_empty() {
            self.take_shape(incoming);
        }
        let (first, last) = incoming.ends;
        let has_buckets = self.first <= first && last < self.end();
        let has_classes = incoming.classes.iter().all(|class| self.classes.contains(class));
        let is_known = |group_index: u32| self.index_of(group_index) != NO_GROUP;
        let new = incoming
            .group_indexes
            .iter()
            .map(|group| group.1)
            .filter(|&group_index| !is_known(group_index));
        let new: Vec<u32> = new.collect();
        let fits = has_buckets && has_classes;
        if !fits || self.cells_of(self.group_indexes.len() + new.len()) * self.width > COUNTS_MAX {
            return false;
        }
        new.into_iter().for_each(|group_index| self.add_group(group_index, states));
        true
    }

    /// Takes the buckets and classes of earlier and incoming rows; only of the latter if these do
    /// not fit.
    fn take_shape(&mut self, incoming: &BucketInput<'_>) {
        let before = (self.first, self.end());
        let old_classes = std::mem::take(&mut self.classes);
        let (first, last) = incoming.ends;
        let mut shape = |(first, end): (i32, i32), classes: Vec<i64>| {
            self.first = first.max(1);
            self.width = usize::try_from(end - self.first).unwrap_or(0) + 1;
            self.classes = classes;
            self.cells_of(incoming.group_indexes.len()) * self.width <= COUNTS_MAX
        };
        let mut classes = old_classes.clone();
        classes.extend(incoming.classes.iter().filter(|class| !old_classes.contains(class)));
        let fits = !old_classes.is_empty()
            && shape((before.0.min(first), before.1.max(last + 1)), classes);
        if !fits {
            shape((first - SPARE, last + 1 + SPARE), incoming.classes.to_vec());
        }
        self.counts.clear();
        self.counts.resize(self.width, 0);
    }

    /// Adds counts for a group. All are marked, except those inside the range of its sketch.
    fn add_group(&mut self, group_index: u32, states: &[State]) {
        // Several of the caller's numbers may be of one group.
        if self.index_of(group_index) != NO_GROUP {
            return;
        }
        if self.indexes.len() <= group_index as usize {
            self.indexes.resize(group_index as usize + 1, NO_GROUP);
        }
        self.indexes[group_index as usize] = self.group_indexes.len();
        self.group_indexes.push(group_index);
        self.counts.resize(self.cells_of(self.group_indexes.len()) * self.width, MARK);
        if let Some(State::Quantiles(quantiles)) = states.get(group_index as usize) {
            self.span(group_index, quantiles);
        }
    }

    /// The bucket after the last.
    fn end(&self) -> i32 {
        self.first + i32::try_from(self.width).unwrap_or(1) - 1
    }

    /// The number of cells that `groups` groups have, including the one for rows that do not count.
    fn cells_of(&self, groups: usize) -> usize {
        1 + groups * self.classes.len()
    }

    fn index_of(&self, group_index: u32) -> usize {
        self.indexes.get(group_index as usize).copied().unwrap_or(NO_GROUP)
    }

    /// The counts of a group, class after class; empty if it has none.
    fn of_group(&self, group_index: u32) -> Range<usize> {
        match self.index_of(group_index) {
            NO_GROUP => 0..0,
            index => self.cells_of(index) * self.width..self.cells_of(index + 1) * self.width,
        }
    }

    /// The bucket of a cell's second count; further counts are of the next buckets. The first count
    /// is of bucket 0.
    #[must_use]
    pub fn first(&self) -> i32 {
        self.first
    }

    /// The start of the cell of a group's rows of this weight; else the cell for rows that do not
    /// count.
    #[must_use]
    pub fn start_of(&self, group_index: u32, weight: i64) -> usize {
        let class = self.classes.iter().position(|class| *class == weight);
        match (self.index_of(group_index), class) {
            (NO_GROUP, _) | (_, None) => 0,
            (index, Some(class)) => (self.cells_of(index) + class) * self.width,
        }
    }

    /// All counts. The caller may add up to 2^15 − 1 to each; the highest bit is the mark.
    pub fn counts_mut(&mut self) -> &mut [u16] {
        &mut self.counts
    }

    /// Records that these counts reached 2^15 and restarted at zero, once per entry.
    pub fn note_full(&mut self, full: &[u32]) {
        full.iter().for_each(|&at| *self.full.entry(at as usize).or_default() += 1);
    }

    /// The number of rows of a group that were counted.
    #[must_use]
    pub fn rows_of(&self, group_index: u32) -> u64 {
        let range = self.of_group(group_index);
        let full: u64 = self.full.range(range.clone()).map(|(_, times)| times * FULL).sum();
        self.counts[range].iter().map(|count| u64::from(count & !MARK)).sum::<u64>() + full
    }

    /// Drops the rows of a group.
    pub fn forget(&mut self, group_index: u32) {
        let range = self.of_group(group_index);
        self.full.retain(|at, _| !range.contains(at));
        self.counts[range].fill(MARK);
    }

    /// Removes the marks inside the current range of the group's sketch.
    pub fn span(&mut self, group_index: u32, quantiles: &Quantiles) {
        let Some((min, max)) = quantiles.ends() else { return };
        let (min, max) = (bucket_of_number(min), bucket_of_number(max));
        let at = |bucket: i32| usize::try_from(bucket.saturating_sub(self.first)).unwrap_or(0) + 1;
        // The counts strictly between the two, except that of bucket 0.
        let inner = at(min.saturating_add(1))..at(max).min(self.width);
        let has_zero = min < 0 && 0 < max;
        let range = self.of_group(group_index);
        for cell in self.counts[range].chunks_mut(self.width.max(1)) {
            let zero = cell.iter_mut().take(usize::from(has_zero));
            zero.for_each(|count| *count &= !MARK);
            let inner = cell.get_mut(inner.clone()).unwrap_or_default();
            inner.iter_mut().for_each(|count| *count &= !MARK);
        }
    }

    /// Adds the rows of a group to its sketch.
    pub(crate) fn add_to(&self, group_index: u32, state: &mut State) {
        let (rows, State::Quantiles(quantiles)) = (self.rows_of(group_index), state) else {
            return;
        };
        let Some(ends) = quantiles.ends().filter(|_| rows > 0) else { return };
        let (weights, width, group) =
            (quantiles.add_rows(rows, ends), self.width.max(1), self.of_group(group_index));
        for (start, weight) in group.step_by(width).zip(&self.classes) {
            let (cell, weight) = (start..start + width, weight.unsigned_abs());
            let counts = self.counts[cell.clone()].iter().map(|count| u32::from(count & !MARK));
            let counts: Vec<u32> = counts.collect();
            let (zeros, others) = counts.split_at(1);
            weights.add_counts(0, zeros, weight);
            weights.add_counts(self.first, others, weight);
            let full = self.full.range(cell).map(|(at, times)| {
                let bucket = i32::try_from(at - start).unwrap_or(0) + self.first - 1;
                let weight = i128::from(*times) * i128::from(FULL) * i128::from(weight);
                (if *at == start { 0 } else { bucket }, weight)
            });
            weights.add_weights(full);
        }
    }

    /// Moves all rows to their sketches.
    pub(crate) fn move_to(&mut self, states: &mut [State]) {
        for group_index in std::mem::take(&mut self.group_indexes) {
            if let Some(state) = states.get_mut(group_index as usize) {
                self.add_to(group_index, state);
            }
        }
        self.indexes.clear();
        self.full.clear();
    }

    /// Approximate bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u16>()
            + self.group_indexes.capacity() * size_of::<u32>()
            + self.indexes.capacity() * size_of::<usize>()
            + self.full.len() * size_of::<(usize, u64)>()
    }
}
