//! Measures that are added to a partial's groups group by group: distributions, distinct values,
//! and all that has no form by whole columns.
//!
//! They go straight into the partial's states. One state per group *and block*, merged later,
//! would cost more than the rows do: a sketch already has most buckets, and a set most values, of
//! the next block.

use hadal_aggregate::State;
use hadal_query::StateKind;

use crate::aggregate::histogram_cells::Cells;
use crate::aggregate::idempotent::{Once, OnceSource};
use crate::aggregate::measures::is_plain;
use crate::aggregate::quantile_buckets::Buckets;
use crate::column::column_values::{BlockValues, Doubles, Mixed, Numbers};
use crate::column::weights::Weights;

/// One such measure of one block.
pub(crate) enum Sketching<'v> {
    /// Distributions of decimals.
    Numbers(&'v Numbers, Buckets),
    /// Distributions of doubles.
    Doubles(&'v Doubles, Buckets),
    /// Distributions of numbers that doubles alone do not say.
    Mixed(&'v Mixed, Buckets),
    /// Histograms of decimals.
    NumberCells(&'v Numbers, Cells),
    /// Histograms of doubles.
    DoubleCells(&'v Doubles, Cells),
    /// What each value of a group changes only once.
    Once(Once<'v>),
    /// Row by row, with the value of each.
    Rows(&'v BlockValues<'v>),
}

impl<'v> Sketching<'v> {
    pub(crate) fn new(kind: StateKind, values: &'v BlockValues<'v>) -> Self {
        match (kind, values) {
            (StateKind::Quantiles, BlockValues::Numbers(numbers)) if is_plain(numbers) => {
                Self::Numbers(numbers, Buckets::default())
            }
            (StateKind::Quantiles, BlockValues::Doubles(doubles)) => {
                Self::Doubles(doubles, Buckets::default())
            }
            (StateKind::Quantiles, BlockValues::Mixed(mixed)) => {
                Self::Mixed(mixed, Buckets::default())
            }
            (StateKind::Histogram(_), BlockValues::Numbers(numbers)) if is_plain(numbers) => {
                Self::NumberCells(numbers, Cells::default())
            }
            (StateKind::Histogram(_), BlockValues::Doubles(doubles)) => {
                Self::DoubleCells(doubles, Cells::default())
            }
            (StateKind::Distinct | StateKind::MinMax, BlockValues::Coded(coded)) => {
                Self::Once(Once::new(OnceSource::Codes(coded)))
            }
            (StateKind::Distinct, BlockValues::Numbers(numbers))
                if is_plain(numbers)
                    && let Some(source) = OnceSource::of_numbers(numbers) =>
            {
                Self::Once(Once::new(source))
            }
            _ => Self::Rows(values),
        }
    }

    /// Adds the values of these rows, all of one group, to its state.
    pub(crate) fn add_to(&mut self, own: &mut State, rows: &[u32], weights: &Weights) {
        match (self, own) {
            (Self::Numbers(numbers, buckets), State::Quantiles(own)) => {
                buckets.add_to(own, numbers, rows, weights);
            }
            (Self::Doubles(doubles, buckets), State::Quantiles(own)) => {
                buckets.add_to(own, doubles, rows, weights);
            }
            (Self::Mixed(mixed, buckets), State::Quantiles(own)) => {
                buckets.add_to(own, mixed, rows, weights);
            }
            (Self::NumberCells(numbers, cells), State::Histogram(own)) => {
                cells.add_numbers(own, numbers, rows, weights);
            }
            (Self::DoubleCells(doubles, cells), State::Histogram(own)) => {
                cells.add_doubles(own, doubles, rows, weights);
            }
            (Self::Once(once), own) => once.add_to(own, rows),
            (Self::Rows(values), own) => {
                for row in rows.iter().map(|&row| row as usize) {
                    own.add(&values.value(row), weights.of(row));
                }
            }
            (Self::Numbers(..) | Self::Doubles(..) | Self::Mixed(..), own) => {
                debug_assert_eq!(own.kind(), StateKind::Quantiles, "made for quantiles");
            }
            (Self::NumberCells(..) | Self::DoubleCells(..), own) => {
                let is_histogram = matches!(own, State::Histogram(_));
                debug_assert!(is_histogram, "{:?} instead of a histogram", own.kind());
            }
        }
    }
}
