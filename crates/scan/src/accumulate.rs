//! Measures of one block: arrays indexed by group number, filled in one pass over the rows;
//! sketches group by group.

use hadal_aggregate::{Groups, Moments, State, Tally, weighted};
use hadal_encoding::Bitmap;
use hadal_query::{Measure, StateKind};
use hadal_types::{Logical, Weight};

use crate::adding::{Adding, Decimals};
use crate::distributions::Distributions;
use crate::rows::Rows;
use crate::sketching::Sketching;
use crate::values::{BlockValues, Coded, Doubles, Mixed, Numbers};

/// What one measure has to say of the block, ready to be added to its groups.
pub(crate) enum Measured<'v> {
    /// The moments of decimals by group number.
    Decimals(Decimals),
    /// The smallest and the largest mantissa by group number; where a group has none, the
    /// smallest is above the largest.
    Ranges(&'v Numbers, Vec<(i64, i64)>),
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
            (StateKind::Extremes, BlockValues::Numbers(numbers)) => {
                Self::Ranges(numbers, ranges(numbers, rows))
            }
            (StateKind::Quantiles, BlockValues::Numbers(numbers))
                if is_plain(numbers)
                    && let Some(distributions) = Distributions::new(numbers, rows) =>
            {
                Self::Distributions(distributions)
            }
            _ => Self::ByGroup(Sketching::new(kind, values)),
        }
    }

    /// Adds to the measure of this index of all groups: of their number here and their place
    /// there. `tallies` are those of all their rows.
    pub(crate) fn add_to(
        &mut self,
        groups: &mut Groups,
        measure: usize,
        found: &[(usize, u32)],
        rows: &Rows<'_>,
        tallies: &[Tally],
    ) {
        match self {
            Self::Decimals(decimals) => return decimals.add_to(groups, measure, found, tallies),
            Self::Distributions(all) => return all.add_to(groups, measure, found, rows),
            Self::Ranges(..) | Self::States(_) | Self::ByGroup(_) => {}
        }
        let states = groups.states_mut(measure);
        for &(number, place) in found {
            let own = &mut states[place as usize];
            match self {
                Self::Ranges(numbers, ranges) => add_range(own, numbers, ranges[number]),
                Self::States(states) => own.merge(&states[number]),
                Self::ByGroup(sketching) => {
                    sketching.add_to(own, rows.of_group(number), rows.weights);
                }
                Self::Decimals(_) | Self::Distributions(_) => {}
            }
        }
    }
}

fn add_range(own: &mut State, numbers: &Numbers, (min, max): (i64, i64)) {
    if min <= max {
        own.add(&numbers.value_of(min), Weight::ONE);
        own.add(&numbers.value_of(max), Weight::ONE);
    }
}

pub(crate) fn is_plain(numbers: &Numbers) -> bool {
    numbers.logical == Logical::Plain
}

/// The tallies of one block's groups, and its measures.
pub(crate) fn measured<'v>(
    measures: &[Measure],
    values: &'v [BlockValues<'_>],
    rows: &Rows<'_>,
) -> (Vec<Tally>, Vec<Measured<'v>>) {
    let kinds = measures.iter().map(|measure| measure.kind);
    let adding = Adding::new(kinds.clone().zip(values), rows);
    let (tallies, mut added) = adding.up(rows);
    let others =
        kinds.zip(values).enumerate().map(|(index, (kind, values))| match added[index].take() {
            Some(decimals) => Measured::Decimals(decimals),
            None => Measured::new(kind, values, rows),
        });
    let others = others.collect();
    (tallies, others)
}

/// Moments of values that are no numbers: they are only counted.
fn counts(coded: &Coded<'_>, rows: &Rows<'_>) -> Vec<State> {
    let start = |tally| State::Moments(Moments { tally, ..Moments::default() });
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
    let start = |tally| Moments { tally, ..Moments::default() };
    rows.tallies_where(valid).into_iter().map(start).collect()
}

fn ranges(numbers: &Numbers, rows: &Rows<'_>) -> Vec<(i64, i64)> {
    let mut ranges = vec![(i64::MAX, i64::MIN); rows.space];
    rows.for_each(numbers.valid.as_deref(), |number, row| {
        let (mantissa, range) = (numbers.mantissas.get(row), &mut ranges[number]);
        *range = (range.0.min(mantissa), range.1.max(mantissa));
    });
    ranges
}
