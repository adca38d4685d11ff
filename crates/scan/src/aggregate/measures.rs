//! Measures of one block: arrays indexed by group number, filled in one pass over the rows;
//! sketches group by group.

use hadal_aggregate::{Groups, Moments, State, weighted};
use hadal_encoding::Bitmap;
use hadal_query::StateKind;
use hadal_types::{Logical, Weight};

use crate::aggregate::distinct;
use crate::aggregate::idempotent::OnceSource;
use crate::aggregate::quantile_buckets::Buckets;
use crate::aggregate::quantiles::Distributions;
use crate::aggregate::scatter_add;
use crate::aggregate::sketches::Sketching;
use crate::column::column_values::{BlockValues, Coded, Doubles, Mixed, Numbers};
use crate::group::group_lookup::Placed;
use crate::group::grouped_rows::Rows;

/// What one measure has to say of the block, ready to be added to its groups.
pub(crate) enum Measured<'v> {
    /// The smallest and the largest of decimals.
    Ranges(&'v Numbers),
    /// Different decimals, of which few rows have the same.
    Distincts(&'v Numbers),
    /// The distributions of decimals.
    Distributions(Distributions<'v>),
    /// A state by group number.
    States(Vec<State>),
    /// Added group by group.
    ByGroup(Sketching<'v>),
}

impl<'v> Measured<'v> {
    /// The measure of this kind of `values`.
    pub(crate) fn new(kind: StateKind, values: &'v BlockValues<'_>, rows: &Rows<'_>) -> Self {
        match (kind, values) {
            (StateKind::Moments, BlockValues::Numbers(numbers)) if is_plain(numbers) => {
                Self::States(moments_of_decimals(numbers, rows))
            }
            (StateKind::Moments, BlockValues::Truths(truths)) => {
                let numbers = truths.to_numbers(rows.selection.block_rows());
                Self::States(moments_of_decimals(&numbers, rows))
            }
            (StateKind::Moments, BlockValues::Doubles(doubles)) => {
                Self::States(moments_of_doubles(doubles, rows))
            }
            (StateKind::Moments, BlockValues::Mixed(mixed)) => {
                Self::States(moments_of_mixed(mixed, rows))
            }
            (StateKind::Moments, BlockValues::Coded(coded)) if coded.has_no_numbers() => {
                Self::States(counts(coded, rows))
            }
            (StateKind::MinMax, BlockValues::Numbers(numbers)) => Self::Ranges(numbers),
            (StateKind::Quantiles, BlockValues::Numbers(numbers))
                if is_plain(numbers)
                    && let Some(distributions) = Distributions::new(numbers, rows) =>
            {
                Self::Distributions(distributions)
            }
            (StateKind::Distinct, BlockValues::Numbers(numbers))
                if is_plain(numbers) && OnceSource::of_numbers(numbers).is_none() =>
            {
                Self::Distincts(numbers)
            }
            _ => Self::ByGroup(Sketching::new(kind, values)),
        }
    }

    /// Adds to the measure of this index of all groups that have a place.
    pub(crate) fn add_to(
        &mut self,
        groups: &mut Groups,
        measure: usize,
        placed: &Placed,
        rows: &Rows<'_>,
    ) {
        if let Self::Ranges(numbers) = self {
            return widen(groups, measure, numbers, placed, rows);
        }
        let found = placed.found(rows);
        if let Self::Distributions(all) = self {
            if all.add_to(groups, measure, found, rows) {
                return;
            }
            *self = Self::ByGroup(Sketching::Numbers(all.numbers, Buckets::default()));
        }
        match self {
            Self::Ranges(_) | Self::Distributions(_) => {}
            Self::Distincts(numbers) => distinct::add(numbers, groups, measure, found, rows),
            Self::States(own) => {
                let states = groups.states_mut(measure);
                for &(number, place) in found {
                    states[place as usize].merge(&own[number]);
                }
            }
            Self::ByGroup(sketching) => {
                let states = groups.states_mut(measure);
                for &(number, place) in found {
                    let own = &mut states[place as usize];
                    sketching.add_to(own, rows.of_group(number), rows.weights);
                }
            }
        }
    }
}

/// Widens the ranges of all groups that have a place.
fn widen(groups: &mut Groups, measure: usize, numbers: &Numbers, placed: &Placed, rows: &Rows<'_>) {
    if placed.is_complete
        && is_plain(numbers)
        && let Some((own, factor)) =
            groups.ranges_mut(measure, numbers.scale, numbers.mantissas.bounds())
    {
        return scatter_add::widen(numbers, rows, placed, factor, own);
    }
    let ranges = ranges(numbers, rows);
    let states = groups.states_mut(measure);
    for &(number, place) in placed.found(rows) {
        let (min, max) = ranges[number];
        if min <= max {
            states[place as usize].add(&numbers.value_of(min), Weight::ONE);
            states[place as usize].add(&numbers.value_of(max), Weight::ONE);
        }
    }
}

pub(crate) fn is_plain(numbers: &Numbers) -> bool {
    numbers.logical == Logical::Plain
}

/// Moments of values that are no numbers: they are only counted.
fn counts(coded: &Coded<'_>, rows: &Rows<'_>) -> Vec<State> {
    let start = |count| State::Moments(Moments { count, ..Moments::default() });
    rows.tallies_where(Some(&coded.valid())).into_iter().map(start).collect()
}

/// Moments of decimals, weighted row by row.
fn moments_of_decimals(numbers: &Numbers, rows: &Rows<'_>) -> Vec<State> {
    let valid = numbers.valid.as_deref();
    let mut moments = tallied(valid, rows);
    rows.for_each(valid, |number, row| {
        let weight = i128::from(rows.weights.millionths_of(row));
        let product = i128::from(numbers.mantissas.get(row)) * weight;
        moments[number].sum.add_decimal(product, numbers.scale);
    });
    moments.into_iter().map(State::Moments).collect()
}

fn moments_of_doubles(doubles: &Doubles, rows: &Rows<'_>) -> Vec<State> {
    let mut moments = tallied(doubles.valid.as_deref(), rows);
    rows.for_each(doubles.valid.as_deref(), |number, row| {
        let product = weighted(doubles.values[row], rows.weights.of(row));
        moments[number].sum.add_double(product);
    });
    moments.into_iter().map(State::Moments).collect()
}

fn moments_of_mixed(mixed: &Mixed, rows: &Rows<'_>) -> Vec<State> {
    let mut moments = tallied(mixed.doubles.valid.as_deref(), rows);
    rows.for_each(mixed.doubles.valid.as_deref(), |number, row| {
        let (sum, value) = (&mut moments[number].sum, mixed.number(row));
        let weight = rows.weights.of(row);
        match value.to_stored() {
            Some(_) => sum.add(value, weight),
            // The same as adding the number, which would have to look for its double.
            None => sum.add_double(weighted(mixed.doubles.values[row], weight)),
        }
    });
    moments.into_iter().map(State::Moments).collect()
}

/// Moments of which the sums are still to be added up.
fn tallied(valid: Option<&Bitmap>, rows: &Rows<'_>) -> Vec<Moments> {
    let start = |count| Moments { count, ..Moments::default() };
    rows.tallies_where(valid).into_iter().map(start).collect()
}

/// The smallest and the largest mantissa by group number; where a group has none, the smallest is
/// above the largest.
fn ranges(numbers: &Numbers, rows: &Rows<'_>) -> Vec<(i64, i64)> {
    let mut ranges = vec![(i64::MAX, i64::MIN); rows.space];
    rows.for_each(numbers.valid.as_deref(), |number, row| {
        let (mantissa, range) = (numbers.mantissas.get(row), &mut ranges[number]);
        *range = (range.0.min(mantissa), range.1.max(mantissa));
    });
    ranges
}
