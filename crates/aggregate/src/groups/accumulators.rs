//! Counts and sums of many groups as plain integers. The integers of one group are adjacent.
//!
//! The most frequent aggregates are the number of rows and sums of decimals. In accumulators, a row
//! costs one addition per aggregate, and the numbers of one group share a cache line. Rows of
//! different weight are counted separately, by weight *class*, and weighted at the end. The rows
//! with a value are counted separately only if some rows have no value. Measures that have values
//! in the same rows share one such count.
//!
//! The numbers have 64 bits. Before a number could overflow, all numbers are moved to counts and
//! states, which are wider. The owner of the accumulators does this when [`Accumulators::prepare`]
//! refuses.

use hadal_types::decimal::power_of_ten;

use crate::groups::int_table::reserve_spare;
use crate::state::weighted_count::WeightedCount;

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
    /// The weight of each class, in millionths.
    classes: Vec<i64>,
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
    /// The column with the number of rows that have a value.
    count: usize,
    /// The column with their sum.
    sum: usize,
    scale: u8,
    /// The bound of every sum, of any subset of the rows.
    size_max: u128,
}

/// Properties of the rows that are about to be added.
#[derive(Clone, Copy, Debug)]
pub struct AccumulatorInput<'i> {
    /// The weight of each class of rows, in millionths.
    pub classes: &'i [i64],
    /// The sums, each of one measure.
    pub sums: &'i [SumInput],
}

/// Properties of a sum that is about to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumInput {
    /// The index of the measure.
    pub measure: usize,
    /// The scale of its mantissas.
    pub scale: u8,
    /// The set of rows that have a value: 0 is all rows, any other number identifies a set.
    pub valid: usize,
    /// The bound of the absolute value of every sum over any of the rows.
    pub size_max: u128,
}

/// The layout of accumulators. Those of one group and class are adjacent, column by column. The
/// classes of a group follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccumulatorLayout {
    /// By class of the incoming rows: the class here.
    pub classes: Vec<usize>,
    /// The number of classes here.
    pub class_count: usize,
    /// What to add to each column.
    pub columns: Vec<AccumulatorColumn>,
}

/// What to add to one column of accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccumulatorColumn {
    /// Nothing.
    Nothing,
    /// One for each row of this set of rows with a value ([`SumInput::valid`]).
    Count(usize),
    /// The incoming sum of this index, times a factor.
    Sum {
        /// The index among [`AccumulatorInput::sums`].
        index: usize,
        /// Converts to the scale of the column.
        factor: i64,
    },
}

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
        Self {
            classes: Vec::new(),
            width: 1,
            measures: vec![None; measures].into(),
            numbers: Vec::new(),
        }
    }

    /// Whether nothing was added yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Prepares a column for everything that comes in. Returns `None` and changes nothing if it
    /// does not fit beside the earlier content.
    pub(crate) fn prepare(&mut self, incoming: &AccumulatorInput<'_>) -> Option<AccumulatorLayout> {
        let mut classes = self.classes.clone();
        let class_of = |weight: &i64| {
            let position = classes.iter().position(|class| class == weight);
            position.unwrap_or_else(|| {
                classes.push(*weight);
                classes.len() - 1
            })
        };
        let mapped: Vec<usize> = incoming.classes.iter().map(class_of).collect();
        if classes.len() > CLASSES_MAX {
            return None;
        }
        let mut measures = self.measures.clone();
        let mut origins: Vec<Origin> = Vec::new();
        let mut columns = vec![AccumulatorColumn::Nothing; self.width];
        columns[ALL_ROWS] = AccumulatorColumn::Count(0);
        self.take_sums(incoming, &mut measures, &mut origins, &mut columns)?;
        self.split_counts(incoming, &mut measures, &mut origins, &mut columns);
        self.lay_out(classes, &origins);
        self.measures = measures;
        Some(AccumulatorLayout { classes: mapped, class_count: self.classes.len(), columns })
    }

    /// Assigns columns to the sums, or refuses them.
    fn take_sums(
        &self,
        incoming: &AccumulatorInput<'_>,
        measures: &mut [Option<Kept>],
        origins: &mut Vec<Origin>,
        columns: &mut Vec<AccumulatorColumn>,
    ) -> Option<()> {
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
            let size = sum.size_max.checked_mul(u128::from(factor.unsigned_abs()))?;
            let size_max = kept.size_max.checked_add(size).filter(|&size| size <= SUM_MAX)?;
            columns[kept.sum] = AccumulatorColumn::Sum { index, factor };
            measures[sum.measure] = Some(Kept { size_max, ..kept });
        }
        Some(())
    }

    /// Splits the shared count of measures that now have values in different rows.
    fn split_counts(
        &self,
        incoming: &AccumulatorInput<'_>,
        measures: &mut [Option<Kept>],
        origins: &mut Vec<Origin>,
        columns: &mut Vec<AccumulatorColumn>,
    ) {
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
                        origins.push(before.map_or(Origin::Zeros, Origin::Copy));
                        columns.push(AccumulatorColumn::Nothing);
                        columns.len() - 1
                    }
                };
                split.push((key, count));
                count
            });
            columns[kept.count] =
                key.1.map_or(AccumulatorColumn::Nothing, AccumulatorColumn::Count);
        }
        columns[ALL_ROWS] = AccumulatorColumn::Count(0);
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
        classes.map(|numbers| numbers[ALL_ROWS].unsigned_abs()).sum()
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
            weights.map(|(&rows, &weight)| i128::from(rows) * i128::from(weight)).sum()
        })
    }

    /// The number of rows of each group, if all groups have accumulators and all rows weigh the
    /// same.
    pub(crate) fn rows_of_one_class(
        &self,
        count: usize,
    ) -> Option<impl Iterator<Item = i64> + Clone> {
        let is_one = self.classes.len() == 1 && self.numbers.len() == count * self.width;
        is_one.then(|| self.numbers.iter().skip(ALL_ROWS).step_by(self.width).copied())
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
            let (rows, weight) = (numbers[column], i128::from(weight));
            let weighted = i128::from(rows) * weight;
            // Saturates as counts do, beyond 10^8 rows of the largest weight.
            count.add(rows.unsigned_abs(), weighted, weighted.saturating_mul(weight));
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
        let Self { classes, width, measures, .. } = self;
        Self { classes: classes.clone(), width: *width, measures: measures.clone(), numbers }
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
        let Some(layout) = self.prepare(&other.as_incoming(&sums)) else { return false };
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

    /// The properties of all groups, with these [sums](Self::incoming_sums).
    pub(crate) fn as_incoming<'i>(&'i self, sums: &'i [SumInput]) -> AccumulatorInput<'i> {
        AccumulatorInput { classes: &self.classes, sums }
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
        let sources: Vec<(usize, i64)> = layout
            .columns
            .iter()
            .map(|column| match column {
                AccumulatorColumn::Nothing => (ALL_ROWS, 0),
                AccumulatorColumn::Count(column) => (*column, 1),
                AccumulatorColumn::Sum { index, factor } => {
                    let kept = self.measures[sums[*index].measure];
                    (kept.map_or(ALL_ROWS, |kept| kept.sum), *factor)
                }
            })
            .collect();
        let width = layout.columns.len();
        for (target, group_index) in group_indexes.zip(first..) {
            let Some(target) = target else { continue };
            for ((_, from), class) in self.classes_of(group_index).zip(&layout.classes) {
                let start = (target as usize * layout.class_count + class) * width;
                let into = &mut numbers[start..start + width];
                for (into, (column, factor)) in into.iter_mut().zip(&sources) {
                    *into += from[*column] * factor;
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
