//! Measures of one block: arrays by group number, filled in one pass over the rows. Sketches are
//! filled group by group.

use hadal_aggregate::{Groups, Moments, State, weighted};
use hadal_encoding::Bitmap;
use hadal_query::StateKind;
use hadal_types::Weight;

use crate::aggregate::distinct::{self, DistinctValues};
use crate::aggregate::quantile_buckets::Buckets;
use crate::aggregate::quantiles::QuantileRows;
use crate::aggregate::scatter_add;
use crate::aggregate::sketches::Sketches;
use crate::column::column_values::{Coded, ColumnValues, Doubles, Mixed, Numbers};
use crate::group::group_lookup::GroupLookup;
use crate::group::grouped_rows::GroupedRows;

/// The values of one measure for a block, ready to be added to its groups.
pub(crate) enum MeasureStates<'v> {
    /// The minimum and the maximum of decimals.
    Ranges(&'v Numbers),
    /// Distinct values.
    Distincts(DistinctValues<'v>),
    /// Quantiles of decimals.
    QuantileRows(QuantileRows<'v>),
    /// A state per group number.
    States(Vec<State>),
    /// Values that are added group by group.
    ByGroup(Sketches<'v>),
}

impl<'v> MeasureStates<'v> {
    /// Prepares the measure of this kind over `values`.
    pub(crate) fn new(
        kind: StateKind,
        values: &'v ColumnValues<'_>,
        rows: &GroupedRows<'_>,
    ) -> Self {
        match (kind, values) {
            (StateKind::Moments, ColumnValues::Numbers(numbers)) if numbers.is_plain() => {
                Self::States(moments_of_decimals(numbers, rows))
            }
            (StateKind::Moments, ColumnValues::Doubles(doubles)) => {
                Self::States(moments_of_doubles(doubles, rows))
            }
            (StateKind::Moments, ColumnValues::Mixed(mixed)) => {
                Self::States(moments_of_mixed(mixed, rows))
            }
            (StateKind::Moments, ColumnValues::Coded(coded)) if coded.has_no_numbers() => {
                Self::States(counts(coded, rows))
            }
            (StateKind::MinMax, ColumnValues::Numbers(numbers)) => Self::Ranges(numbers),
            (StateKind::Quantiles, ColumnValues::Numbers(numbers))
                if numbers.is_plain()
                    && let Some(distributions) = QuantileRows::new(numbers, rows) =>
            {
                Self::QuantileRows(distributions)
            }
            (StateKind::Distinct, values) if let Some(values) = DistinctValues::of(values) => {
                Self::Distincts(values)
            }
            _ => Self::ByGroup(Sketches::new(kind, values)),
        }
    }

    /// Adds to measure `measure` of all groups that have an index.
    pub(crate) fn add_to(
        &mut self,
        groups: &mut Groups,
        measure: usize,
        lookup: &GroupLookup,
        rows: &GroupedRows<'_>,
    ) {
        if let Self::Ranges(numbers) = self {
            return widen(groups, measure, numbers, lookup, rows);
        }
        let used_groups = lookup.used_groups(rows);
        if let Self::QuantileRows(all) = self {
            if all.add_to(groups, measure, used_groups, rows) {
                return;
            }
            *self = Self::ByGroup(Sketches::Numbers(all.numbers, Buckets::default()));
        }
        match self {
            Self::Ranges(_) | Self::QuantileRows(_) => {}
            Self::Distincts(values) => distinct::add(*values, groups, measure, used_groups, rows),
            Self::States(block_states) => {
                let states = groups.states_mut(measure);
                for &(number, group_index) in used_groups {
                    states[group_index as usize].merge(&block_states[number]);
                }
            }
            Self::ByGroup(sketches) => {
                let states = groups.states_mut(measure);
                for &(number, group_index) in used_groups {
                    let state = &mut states[group_index as usize];
                    sketches.add_to(state, rows.of_group(number), rows.weights);
                }
            }
        }
    }
}

/// Widens the ranges of all groups that have an index.
fn widen(
    groups: &mut Groups,
    measure: usize,
    numbers: &Numbers,
    lookup: &GroupLookup,
    rows: &GroupedRows<'_>,
) {
    if lookup.is_complete
        && numbers.is_plain()
        && let Some((group_ranges, factor)) =
            groups.ranges_mut(measure, numbers.scale, numbers.mantissas.bounds())
    {
        return scatter_add::widen(numbers, rows, lookup, factor, group_ranges);
    }
    let ranges = ranges(numbers, rows);
    let states = groups.states_mut(measure);
    for &(number, group_index) in lookup.used_groups(rows) {
        let (min, max) = ranges[number];
        if min <= max {
            states[group_index as usize].add(&numbers.value_of(min), Weight::ONE);
            states[group_index as usize].add(&numbers.value_of(max), Weight::ONE);
        }
    }
}

/// Moments of values that are not numbers: only their count.
fn counts(coded: &Coded<'_>, rows: &GroupedRows<'_>) -> Vec<State> {
    let start = |count| State::Moments(Moments { count, ..Moments::default() });
    rows.weighted_counts_where(Some(&coded.valid())).into_iter().map(start).collect()
}

/// Moments of decimals, weighted row by row.
fn moments_of_decimals(numbers: &Numbers, rows: &GroupedRows<'_>) -> Vec<State> {
    let valid = numbers.valid.as_deref();
    let mut moments = moments_without_sums(valid, rows);
    rows.for_each(valid, |number, row| {
        let weight = i128::from(rows.weights.millionths_of(row));
        let product = i128::from(numbers.mantissas.get(row)) * weight;
        moments[number].sum.add_decimal(product, numbers.scale);
    });
    moments.into_iter().map(State::Moments).collect()
}

fn moments_of_doubles(doubles: &Doubles, rows: &GroupedRows<'_>) -> Vec<State> {
    let mut moments = moments_without_sums(doubles.valid.as_deref(), rows);
    rows.for_each(doubles.valid.as_deref(), |number, row| {
        let product = weighted(doubles.values[row], rows.weights.of(row));
        moments[number].sum.add_double(product);
    });
    moments.into_iter().map(State::Moments).collect()
}

fn moments_of_mixed(mixed: &Mixed, rows: &GroupedRows<'_>) -> Vec<State> {
    let mut moments = moments_without_sums(mixed.doubles.valid.as_deref(), rows);
    rows.for_each(mixed.doubles.valid.as_deref(), |number, row| {
        let (sum, value) = (&mut moments[number].sum, mixed.number(row));
        let weight = rows.weights.of(row);
        match value.to_stored() {
            Some(_) => sum.add(value, weight),
            // Equal to adding the number, which would have to search for its double.
            None => sum.add_double(weighted(mixed.doubles.values[row], weight)),
        }
    });
    moments.into_iter().map(State::Moments).collect()
}

/// Moments with counts, whose sums are still missing.
fn moments_without_sums(valid: Option<&Bitmap>, rows: &GroupedRows<'_>) -> Vec<Moments> {
    let start = |count| Moments { count, ..Moments::default() };
    rows.weighted_counts_where(valid).into_iter().map(start).collect()
}

/// The minimum and the maximum mantissa by group number; if a group has none, the minimum is above
/// the maximum.
fn ranges(numbers: &Numbers, rows: &GroupedRows<'_>) -> Vec<(i64, i64)> {
    let mut ranges = vec![(i64::MAX, i64::MIN); rows.space];
    rows.for_each(numbers.valid.as_deref(), |number, row| {
        let (mantissa, range) = (numbers.mantissas.get(row), &mut ranges[number]);
        *range = (range.0.min(mantissa), range.1.max(mantissa));
    });
    ranges
}
