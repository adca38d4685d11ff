//! Counts and sums of many groups as plain integers. The integers of one group are adjacent.
//!
//! The most frequent aggregates are the number of rows and sums of decimals. In accumulators, a row
//! costs one addition per aggregate, and the numbers of one group share a cache line. Rows of
//! several weights are weighted as they are added, or counted separately by weight *class* and
//! weighted at the end (see `accumulators/weighting.rs`). The rows with a value are counted
//! separately only if some rows have no value. Measures that have values in the same rows share one
//! such count.
//!
//! The numbers have 64 bits. Before a number could overflow, all numbers are moved to counts and
//! states, which are wider. The owner of the accumulators does this when [`Accumulators::prepare`]
//! refuses.

use hadal_types::decimal::power_of_ten;

use crate::groups::accumulators::bounds::Bounds;
use crate::groups::accumulators::weighting::Weighting;
use crate::groups::int_table::reserve_spare;
use crate::state::weighted_count::WeightedCount;

mod bounds;
pub(crate) mod layout;
mod weighting;

use layout::{AccumulatorColumn, AccumulatorInput, AccumulatorLayout, SumInput};

/// The maximum number of different weights.
const CLASSES_MAX: usize = 16;
/// Number of accumulators up to which the allocation doubles: 64 MiB.
const SPARE_MAX: usize = 1 << 23;
/// The bound of sums, so that additions cannot overflow.
const SUM_MAX: u128 = 1 << 62;
/// The column that counts all rows of a group.
const ALL_ROWS: usize = 0;

/// Counts and sums by group index, weight class and column.
#[derive(Clone, Debug)]
pub(crate) struct Accumulators {
    /// The weight of each class, in millionths. Of weighted rows, only their unit.
    classes: Vec<i64>,
    weighting: Weighting,
    /// Number of accumulators of one group and class.
    width: usize,
    /// By measure: its columns, once it has some.
    measures: Box<[Option<Kept>]>,
    /// At group index × classes × width + class × width + column. May be shorter than the number of
    /// groups.
    numbers: Vec<i64>,
}

/// The columns of one measure.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// The first column with the number of rows that have a value.
    count: usize,
    /// The column with their sum.
    sum: usize,
    scale: u8,
    /// The bound of every sum, of any subset of the rows.
    size_max: u128,
}

/// By measure: its columns; the new columns; and what to add to each column.
type Plan<'p> = (&'p mut [Option<Kept>], &'p mut Vec<Origin>, &'p mut Vec<AccumulatorColumn>);

/// The initial content of a new column.
#[derive(Clone, Copy)]
enum Origin {
    Zeros,
    /// A copy of this column.
    Copy(usize),
}

impl Accumulators {
    /// No groups, for a query with this many measures.
    pub(crate) fn new(measures: usize) -> Self {
        let (classes, weighting) = (Vec::new(), Weighting::ByClass { rows: 0 });
        let measures = vec![None; measures].into();
        Self { classes, weighting, width: 1, measures, numbers: Vec::new() }
    }

    /// The same content, weighted in this unit; `None` if it does not fit.
    fn in_units_of(&self, unit: i64) -> Option<Self> {
        let weighting = Weighting::ByRow(Bounds::default());
        let empty = Self::new(self.measures.len());
        let mut weighted =
            Self { classes: vec![unit], weighting, width: weighting.count_width(), ..empty };
        if !self.is_empty() {
            let sums = self.incoming_sums(0);
            let layout = weighted.extend(&self.as_incoming(&sums, 0))?;
            let groups = self.numbers.len() / (self.width * self.classes.len());
            let numbers = weighted.numbers_mut(groups);
            self.add_to(numbers, &layout, &sums, 0, (0..).take(groups).map(Some));
        }
        Some(weighted)
    }

    /// Whether nothing was added yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Prepares a column for everything that comes in. Returns `None` and changes nothing if it
    /// does not fit beside the earlier content.
    pub(crate) fn prepare(&mut self, incoming: &AccumulatorInput<'_>) -> Option<AccumulatorLayout> {
        if let Weighting::ByClass { .. } = self.weighting
            && let Some(unit) = weighting::unit_of(incoming)
            // Whether it fits depends on bounds alone, so one group is tried first.
            && let Some(mut ahead) = self.kept(&[0]).in_units_of(unit)
            && ahead.extend(incoming).is_some()
            && let Some(weighted) = self.in_units_of(unit)
        {
            *self = weighted;
        }
        self.extend(incoming)
    }

    /// As [`Self::prepare`], without a change of the weighting.
    fn extend(&mut self, incoming: &AccumulatorInput<'_>) -> Option<AccumulatorLayout> {
        let (weighting, weights) = self.weighting.with(&self.classes, incoming)?;
        let (classes, mapped) = self.classes_with(incoming)?;
        let mut measures = self.measures.clone();
        let mut origins: Vec<Origin> = Vec::new();
        let mut columns = vec![AccumulatorColumn::Nothing; self.width];
        self.take_sums(incoming, &weights, (&mut measures, &mut origins, &mut columns))?;
        self.split_counts(incoming, &weights, (&mut measures, &mut origins, &mut columns));
        self.lay_out(classes, &origins);
        (self.measures, self.weighting) = (measures, weighting);
        Some(AccumulatorLayout { classes: mapped, class_count: self.classes.len(), columns })
    }

    /// The classes with the incoming ones, and the class here of each incoming one. `None` if they
    /// are too many.
    fn classes_with(&self, incoming: &AccumulatorInput<'_>) -> Option<(Vec<i64>, Vec<usize>)> {
        let mut classes = self.classes.clone();
        if let Weighting::ByRow(_) = self.weighting {
            return Some((classes, vec![0; incoming.classes.len()]));
        }
        let class_of = |weight: &i64| {
            let position = classes.iter().position(|class| class == weight);
            position.unwrap_or_else(|| {
                classes.push(*weight);
                classes.len() - 1
            })
        };
        let mapped = incoming.classes.iter().map(class_of).collect();
        (classes.len() <= CLASSES_MAX).then_some((classes, mapped))
    }

    /// Assigns columns to the sums, or refuses them.
    fn take_sums(
        &self,
        incoming: &AccumulatorInput<'_>,
        weights: &[i64],
        (measures, origins, columns): Plan<'_>,
    ) -> Option<()> {
        let weight_max = weights.iter().copied().max().unwrap_or(1);
        for (index, sum) in incoming.sums.iter().enumerate() {
            let kept = match measures.get(sum.measure)? {
                Some(kept) => *kept,
                None => {
                    origins.push(Origin::Zeros);
                    columns.push(AccumulatorColumn::Nothing);
                    // `split_counts` assigns the count.
                    let (scale, column) = (sum.scale, columns.len() - 1);
                    Kept { count: usize::MAX, sum: column, scale, size_max: 0 }
                }
            };
            let finer = kept.scale.checked_sub(sum.scale)?;
            let factor = i64::try_from(power_of_ten(finer)?).ok()?;
            let largest = factor.checked_mul(weight_max)?;
            let size = sum.size_max.checked_mul(u128::from(largest.unsigned_abs()))?;
            let size_max = kept.size_max.checked_add(size).filter(|&size| size <= SUM_MAX)?;
            let factors = weights.iter().map(|weight| factor * weight).collect();
            columns[kept.sum] = AccumulatorColumn::Sum { index, factors };
            measures[sum.measure] = Some(Kept { size_max, ..kept });
        }
        Some(())
    }

    /// Splits the shared count of measures that now have values in different rows.
    fn split_counts(
        &self,
        incoming: &AccumulatorInput<'_>,
        weights: &[i64],
        (measures, origins, columns): Plan<'_>,
    ) {
        let factors = self.weighting.count_factors(weights, incoming.weighted.is_some());
        // From the count before (none: no rows) and the incoming set of rows (none: nothing) to the
        // new count.
        let all = Some(ALL_ROWS);
        let mut split = vec![((all, Some(0)), ALL_ROWS)];
        for (measure, kept) in measures.iter_mut().enumerate() {
            let Some(kept) = kept else { continue };
            let sum = incoming.sums.iter().find(|sum| sum.measure == measure);
            let before = match kept.count {
                usize::MAX => all.filter(|_| self.is_empty()),
                count => Some(count),
            };
            let key = (before, sum.map(|sum| sum.valid));
            let count = split.iter().find(|entry| entry.0 == key).map(|entry| entry.1);
            kept.count = count.unwrap_or_else(|| {
                let is_taken = split.iter().any(|entry| entry.0.0 == before);
                let count = match before {
                    Some(before) if !is_taken => before,
                    _ => {
                        let first = columns.len();
                        for at in 0..factors.len() {
                            let copy = |before| Origin::Copy(before + at);
                            origins.push(before.map_or(Origin::Zeros, copy));
                            columns.push(AccumulatorColumn::Nothing);
                        }
                        first
                    }
                };
                split.push((key, count));
                count
            });
            AccumulatorColumn::set_count(&mut columns[kept.count..], key.1, &factors);
        }
        AccumulatorColumn::set_count(&mut columns[ALL_ROWS..], Some(0), &factors);
    }

    /// Makes space for new classes and columns.
    fn lay_out(&mut self, classes: Vec<i64>, origins: &[Origin]) {
        let width = self.width + origins.len();
        if !self.numbers.is_empty() && (classes.len() > self.classes.len() || width > self.width) {
            let groups = self.numbers.len() / (self.width * self.classes.len());
            let mut numbers = vec![0; groups * classes.len() * width];
            let old = self.numbers.chunks(self.width * self.classes.len());
            for (old, new) in old.zip(numbers.chunks_mut(classes.len() * width)) {
                for (old, new) in old.chunks(self.width).zip(new.chunks_mut(width)) {
                    new[..self.width].copy_from_slice(old);
                    for (origin, new) in origins.iter().zip(&mut new[self.width..]) {
                        if let Origin::Copy(column) = origin {
                            *new = old[*column];
                        }
                    }
                }
            }
            self.numbers = numbers;
        }
        (self.width, self.classes) = (width, classes);
    }

    /// Whether the layout stays the same when this comes in.
    pub(crate) fn is_ready_for(&self, incoming: &AccumulatorInput<'_>) -> bool {
        let mut ahead = self.kept(&[0]);
        ahead.prepare(incoming).is_some()
            && (ahead.classes.len(), ahead.width) == (self.classes.len(), self.width)
    }

    /// The number of rows in the accumulators of one group.
    #[inline]
    pub(crate) fn rows_in(&self, numbers: &[i64]) -> u64 {
        let classes = numbers.chunks_exact(self.width);
        classes.map(|numbers| self.weighting.rows(numbers[ALL_ROWS])).sum()
    }

    /// Reserves space for `more` groups.
    pub(crate) fn reserve(&mut self, more: usize) {
        reserve_spare(&mut self.numbers, more * self.classes.len() * self.width);
    }

    /// The accumulators of this many groups, for additions in the layout of [`Self::prepare`].
    pub(crate) fn numbers_mut(&mut self, groups: usize) -> &mut [i64] {
        let length = groups * self.classes.len() * self.width;
        if self.numbers.capacity() < length {
            // While they are few, growing costs more than spare memory. Later the allocation grows
            // by a quarter, because doubling would hold too much.
            let spare = if length < SPARE_MAX { length } else { length / 4 };
            self.numbers.reserve_exact(length + spare - self.numbers.len());
        }
        self.numbers.resize(length, 0);
        &mut self.numbers
    }

    /// The count of a group's rows.
    pub(crate) fn count(&self, group_index: usize) -> WeightedCount {
        self.count_of(group_index, ALL_ROWS)
    }

    /// The total weight of each group's rows, in millionths, up to the last group with
    /// accumulators.
    pub(crate) fn weights(&self) -> impl Iterator<Item = i128> + Clone {
        let length = (self.classes.len() * self.width).max(1);
        self.numbers.chunks(length).map(|numbers| {
            let rows = numbers.iter().skip(ALL_ROWS).step_by(self.width);
            let weights = rows.zip(&self.classes);
            let weight = |&number: &i64| i128::from(self.weighting.weights(number));
            weights.map(|(number, &unit)| weight(number) * i128::from(unit)).sum()
        })
    }

    /// The total weight of each group's rows in one unit, if there is one and all groups have
    /// accumulators.
    pub(crate) fn weights_of_one_class(
        &self,
        count: usize,
    ) -> Option<impl Iterator<Item = i64> + Clone> {
        let is_one = self.classes.len() == 1 && self.numbers.len() == count * self.width;
        let numbers = || self.numbers.iter().skip(ALL_ROWS).step_by(self.width);
        is_one.then(|| numbers().map(|&number| self.weighting.weights(number)))
    }

    /// The measures that have accumulators.
    pub(crate) fn measures(&self) -> impl Iterator<Item = usize> {
        (0..self.measures.len()).filter(|&measure| self.measures[measure].is_some())
    }

    /// For a measure that has accumulators: the count of a group's rows that have a value, Σ
    /// mantissa · weight in millionths, and the scale.
    pub(crate) fn decimal(
        &self,
        group_index: usize,
        measure: usize,
    ) -> Option<(WeightedCount, i128, u8)> {
        let kept = self.measures.get(measure)?.as_ref()?;
        let product = self
            .classes_of(group_index)
            .map(|(weight, numbers)| i128::from(numbers[kept.sum]) * i128::from(weight));
        Some((self.count_of(group_index, kept.count), product.sum(), kept.scale))
    }

    fn count_of(&self, group_index: usize, column: usize) -> WeightedCount {
        let mut count = WeightedCount::default();
        for (weight, numbers) in self.classes_of(group_index) {
            count.merge(self.weighting.count(&numbers[column..], weight));
        }
        count
    }

    /// The weight and the accumulators of each class of a group; none if nothing was added to it.
    fn classes_of(&self, group_index: usize) -> impl Iterator<Item = (i64, &[i64])> {
        let length = self.classes.len() * self.width;
        let numbers =
            self.numbers.get(group_index * length..(group_index + 1) * length).unwrap_or_default();
        self.classes.iter().copied().zip(numbers.chunks(self.width))
    }

    /// The groups at these indexes only, in this order.
    pub(crate) fn kept(&self, group_indexes: &[u32]) -> Self {
        let length = self.classes.len() * self.width;
        let mut numbers = Vec::with_capacity(group_indexes.len() * length);
        for group_index in group_indexes.iter().map(|&group_index| group_index as usize) {
            let end = numbers.len() + length;
            let group = self.numbers.get(group_index * length..(group_index + 1) * length);
            numbers.extend_from_slice(group.unwrap_or_default());
            numbers.resize(end, 0);
        }
        let (classes, measures) = (self.classes.clone(), self.measures.clone());
        Self { classes, weighting: self.weighting, width: self.width, measures, numbers }
    }

    /// Adds the groups of `other` from index `first` on to the groups at `group_indexes`; `count`
    /// is the number of groups here. The call with `first` = 0 must come first. Returns whether
    /// they fit; if not, nothing was added.
    pub(crate) fn merge(
        &mut self,
        other: &Self,
        first: usize,
        group_indexes: &[Option<u32>],
        count: usize,
    ) -> bool {
        let sums = other.incoming_sums(first);
        let Some(layout) = self.prepare(&other.as_incoming(&sums, first)) else { return false };
        let numbers = self.numbers_mut(count);
        other.add_to(numbers, &layout, &sums, first, group_indexes.iter().copied());
        true
    }

    /// The sums of the groups from index `first` on, for adding them elsewhere. The call with
    /// `first` = 0 must come first.
    pub(crate) fn incoming_sums(&self, first: usize) -> Vec<SumInput> {
        let sum = |(measure, kept): (usize, &Option<Kept>)| {
            let Kept { count: valid, scale, size_max, .. } = (*kept)?;
            // The bound is of all groups together, so only the first call adds it.
            let size_max = if first == 0 { size_max } else { 0 };
            Some(SumInput { measure, scale, valid, size_max })
        };
        self.measures.iter().enumerate().filter_map(sum).collect()
    }

    /// The properties of the groups from index `first` on, with these
    /// [sums](Self::incoming_sums).
    pub(crate) fn as_incoming<'i>(
        &'i self,
        sums: &'i [SumInput],
        first: usize,
    ) -> AccumulatorInput<'i> {
        let weighting = if first == 0 { self.weighting } else { self.weighting.of_no_rows() };
        let (rows, weighted) = match weighting {
            Weighting::ByClass { rows } => (rows, None),
            Weighting::ByRow(bounds) => (0, Some(bounds)),
        };
        AccumulatorInput { classes: &self.classes, sums, rows, weighted }
    }

    /// Adds the groups from index `first` on to the groups of `numbers` at these indexes. The
    /// layout must be that for these [sums](Self::incoming_sums).
    pub(crate) fn add_to(
        &self,
        numbers: &mut [i64],
        layout: &AccumulatorLayout,
        sums: &[SumInput],
        first: usize,
        group_indexes: impl Iterator<Item = Option<u32>>,
    ) {
        let source = |column: &AccumulatorColumn| match column {
            AccumulatorColumn::Nothing => ALL_ROWS,
            AccumulatorColumn::Count { valid, .. } => *valid,
            AccumulatorColumn::Squares { valid, .. } => valid + self.weighting.count_width() - 1,
            AccumulatorColumn::Sum { index, .. } => {
                self.measures[sums[*index].measure].map_or(ALL_ROWS, |kept| kept.sum)
            }
        };
        let sources: Vec<(usize, &[i64])> =
            layout.columns.iter().map(|column| (source(column), column.factors())).collect();
        let width = layout.columns.len();
        for (target, group_index) in group_indexes.zip(first..) {
            let Some(target) = target else { continue };
            let of_class = self.classes_of(group_index).zip(&layout.classes);
            for (incoming, ((_, from), class)) in of_class.enumerate() {
                let start = (target as usize * layout.class_count + class) * width;
                let into = &mut numbers[start..start + width];
                for (into, (column, factors)) in into.iter_mut().zip(&sources) {
                    *into += factors.get(incoming).map_or(0, |factor| from[*column] * factor);
                }
            }
        }
    }

    /// Bytes of memory; memory that was never written does not count.
    pub(crate) fn bytes(&self) -> usize {
        self.numbers.len() * size_of::<i64>()
    }
}

#[cfg(test)]
mod tests;
