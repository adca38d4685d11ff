//! Measures of one block: arrays indexed by group number, filled in one pass over the rows;
//! sketches group by group.

use std::rc::Rc;

use hadal_aggregate::{Moments, State, Tally, weighted};
use hadal_query::StateKind;
use hadal_types::{Logical, Weight};

use crate::mantissas::{Mantissas, Near};
use crate::rows::Rows;
use crate::sketching::Sketching;
use crate::values::{BlockValues, Coded, Doubles, Mixed, Numbers};
use crate::weights::Weights;

/// What one measure has to say of the block, ready to be added to its groups.
pub(crate) enum Measured<'v> {
    /// The moments of decimals by group number.
    Decimals(Decimals),
    /// The smallest and the largest mantissa by group number; where a group has none, the
    /// smallest is above the largest.
    Ranges(&'v Numbers, Vec<(i64, i64)>),
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
                Self::Decimals(Decimals::new(numbers, rows))
            }
            (StateKind::Moments, BlockValues::Truths(truths)) => {
                let numbers = truths.to_numbers(rows.selection.block_rows());
                Self::Decimals(Decimals::new(&numbers, rows))
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
            _ => Self::ByGroup(Sketching::new(kind, values)),
        }
    }

    /// Adds to `own` the rows of a group number.
    pub(crate) fn add_to(&mut self, own: &mut State, number: usize, rows: &Rows<'_>) {
        match self {
            Self::Decimals(decimals) => decimals.add_to(own, number),
            Self::Ranges(numbers, ranges) => {
                let (min, max) = ranges[number];
                if min <= max {
                    own.add(&numbers.value_of(min), Weight::ONE);
                    own.add(&numbers.value_of(max), Weight::ONE);
                }
            }
            Self::States(states) => own.merge(&states[number]),
            Self::ByGroup(sketching) => sketching.add_to(own, rows.of_group(number), rows.weights),
        }
    }
}

pub(crate) fn is_plain(numbers: &Numbers) -> bool {
    numbers.logical == Logical::Plain
}

/// n, Σw, Σw² and Σwx of decimals, by group number.
pub(crate) struct Decimals {
    tallies: Vec<Tally>,
    /// Σ mantissa · weight in millionths.
    products: Vec<i128>,
    scale: u8,
}

impl Decimals {
    fn new(numbers: &Numbers, rows: &Rows<'_>) -> Self {
        let tallies = rows.tallies(numbers.valid.as_ref());
        let products = match (&numbers.mantissas, rows.weights) {
            (Mantissas::Near(near), Weights::One | Weights::Classes { .. }) => {
                products_of_near(near, numbers, rows)
            }
            _ => products_by_row(numbers, rows),
        };
        Self { tallies, products, scale: numbers.scale }
    }

    fn add_to(&self, own: &mut State, number: usize) {
        let State::Moments(own) = own else { return };
        own.tally.merge(self.tallies[number]);
        own.sum.add_decimal(self.products[number], self.scale);
    }
}

fn products_of_near(near: &Near, numbers: &Numbers, rows: &Rows<'_>) -> Vec<i128> {
    let present = rows.present(numbers.valid.as_ref());
    let sums = rows.sums(&present, &near.steps);
    let cells = rows.by_group(&present.counts).zip(rows.by_group(&sums));
    cells.map(|(counts, sums)| rows.product(counts, sums, near.from, near.step)).collect()
}

fn products_by_row(numbers: &Numbers, rows: &Rows<'_>) -> Vec<i128> {
    let mut products = vec![0i128; rows.space];
    rows.for_each(numbers.valid.as_deref(), |number, row| {
        let weight = rows.weights.millionths_of(row);
        products[number] += i128::from(numbers.mantissas.get(row)) * i128::from(weight);
    });
    products
}

/// Moments of values that are no numbers: they are only counted.
fn counts(coded: &Coded<'_>, rows: &Rows<'_>) -> Vec<State> {
    let start = |tally| State::Moments(Moments { tally, ..Moments::default() });
    rows.tallies(Some(&Rc::new(coded.valid()))).into_iter().map(start).collect()
}

fn moments_of_doubles(doubles: &Doubles, rows: &Rows<'_>) -> Vec<State> {
    let mut moments = tallied(doubles, rows);
    rows.for_each(doubles.valid.as_deref(), |number, row| {
        let product = weighted(doubles.values[row], rows.weights.of(row));
        moments[number].sum.add_double(product);
    });
    moments.into_iter().map(State::Moments).collect()
}

fn moments_of_mixed(mixed: &Mixed, rows: &Rows<'_>) -> Vec<State> {
    let mut moments = tallied(&mixed.doubles, rows);
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
fn tallied(doubles: &Doubles, rows: &Rows<'_>) -> Vec<Moments> {
    let start = |tally| Moments { tally, ..Moments::default() };
    rows.tallies(doubles.valid.as_ref()).into_iter().map(start).collect()
}

fn ranges(numbers: &Numbers, rows: &Rows<'_>) -> Vec<(i64, i64)> {
    let mut ranges = vec![(i64::MAX, i64::MIN); rows.space];
    rows.for_each(numbers.valid.as_deref(), |number, row| {
        let (mantissa, range) = (numbers.mantissas.get(row), &mut ranges[number]);
        *range = (range.0.min(mantissa), range.1.max(mantissa));
    });
    ranges
}
