//! Measures that are added group by group: quantiles, and all measures without a form for whole
//! columns.
//!
//! Rows are added to the partial result's states directly. A state per group *and block*, merged
//! later, would cost more than the rows. A sketch already has most buckets that the next block
//! needs.

use hadal_aggregate::State;
use hadal_query::StateKind;

use crate::aggregate::coded_extremes::CodedExtremes;
use crate::aggregate::frequent_values::FrequentValues;
use crate::aggregate::histogram_cells::HistogramCells;
use crate::aggregate::log_cells::LogCells;
use crate::aggregate::quantile_buckets::Buckets;
use crate::aggregate::squares::Squares;
use crate::aggregate::user::UserRows;
use crate::column::column_values::{ColumnValues, Doubles, Mixed, Numbers};
use crate::column::weights::Weights;

/// One such measure of one block.
pub(crate) enum Sketches<'v> {
    /// Quantiles of decimals.
    Numbers(&'v Numbers, Buckets),
    /// Quantiles of doubles.
    Doubles(&'v Doubles, Buckets),
    /// Quantiles of numbers that doubles cannot all represent exactly.
    Mixed(&'v Mixed, Buckets),
    /// Histograms of decimals.
    NumberCells(&'v Numbers, HistogramCells),
    /// Histograms of doubles.
    DoubleCells(&'v Doubles, HistogramCells),
    /// Histograms of decimals with powers as edges.
    LogCells(LogCells<'v>),
    /// The minimum and the maximum of values by code.
    CodedExtremes(CodedExtremes<'v>),
    /// Variances of decimals.
    Squares(Squares<'v>),
    /// The most frequent values.
    Frequent(FrequentValues<'v>),
    /// A user aggregate.
    User(UserRows<'v>),
    /// Row by row, with each row's pair of values.
    Pairs(&'v ColumnValues<'v>, &'v ColumnValues<'v>),
    /// Row by row, with each row's value.
    Rows(&'v ColumnValues<'v>),
}

impl<'v> Sketches<'v> {
    pub(crate) fn new(kind: StateKind, values: &'v ColumnValues<'v>) -> Self {
        match (kind, values) {
            (StateKind::Quantiles, ColumnValues::Numbers(numbers)) if numbers.is_plain() => {
                Self::Numbers(numbers, Buckets::default())
            }
            (StateKind::Quantiles, ColumnValues::Doubles(doubles)) => {
                Self::Doubles(doubles, Buckets::default())
            }
            (StateKind::Quantiles, ColumnValues::Mixed(mixed)) => {
                Self::Mixed(mixed, Buckets::default())
            }
            (StateKind::Histogram(_), ColumnValues::Numbers(numbers)) if numbers.is_plain() => {
                Self::NumberCells(numbers, HistogramCells::default())
            }
            (StateKind::Histogram(_), ColumnValues::Doubles(doubles)) => {
                Self::DoubleCells(doubles, HistogramCells::default())
            }
            (StateKind::LogHistogram(base), ColumnValues::Numbers(numbers))
                if numbers.is_plain() =>
            {
                Self::LogCells(LogCells::new(base, numbers))
            }
            (StateKind::MinMax, ColumnValues::Coded(coded)) => {
                Self::CodedExtremes(CodedExtremes::new(coded))
            }
            (StateKind::Variance, ColumnValues::Numbers(numbers))
                if let Some(squares) = Squares::new(numbers) =>
            {
                Self::Squares(squares)
            }
            (StateKind::TopValues, ColumnValues::Coded(coded)) => {
                Self::Frequent(FrequentValues::new(coded))
            }
            _ => Self::Rows(values),
        }
    }

    /// Adds the values of these rows, all of one group, to the group's state.
    pub(crate) fn add_to(&mut self, state: &mut State, rows: &[u32], weights: &Weights) {
        match (self, state) {
            (Self::Numbers(numbers, buckets), State::Quantiles(quantiles)) => {
                buckets.add_to(quantiles, numbers, rows, weights);
            }
            (Self::Doubles(doubles, buckets), State::Quantiles(quantiles)) => {
                buckets.add_to(quantiles, doubles, rows, weights);
            }
            (Self::Mixed(mixed, buckets), State::Quantiles(quantiles)) => {
                buckets.add_to(quantiles, mixed, rows, weights);
            }
            (Self::NumberCells(numbers, cells), State::Histogram(histogram)) => {
                cells.add_numbers(histogram, numbers, rows, weights);
            }
            (Self::DoubleCells(doubles, cells), State::Histogram(histogram)) => {
                cells.add_doubles(histogram, doubles, rows, weights);
            }
            (Self::LogCells(cells), State::LogHistogram(histogram)) => {
                cells.add_to(histogram, rows, weights);
            }
            (Self::Squares(squares), State::Comoments(comoments)) => {
                squares.add_to(comoments, rows, weights);
            }
            (Self::Squares(_), state) => {
                debug_assert_eq!(state.kind(), StateKind::Variance, "made for variances");
            }
            (Self::Frequent(values), State::TopValues(top)) => values.add_to(top, rows, weights),
            (Self::Frequent(_), state) => {
                debug_assert_eq!(state.kind(), StateKind::TopValues, "made for frequent values");
            }
            (Self::CodedExtremes(extremes), state) => extremes.add_to(state, rows),
            (Self::User(user), State::User(aggregate)) => user.add_to(aggregate, rows, weights),
            (Self::User(user), state) => {
                debug_assert!(false, "{:?} instead of {}", state.kind(), user.aggregate.name());
            }
            (Self::Pairs(values, seconds), state) => {
                for row in rows.iter().map(|&row| row as usize) {
                    let second = seconds.value(row);
                    if state.takes_second(&second) {
                        state.add_pair(&values.value(row), &second, weights.of(row));
                    }
                }
            }
            (Self::Rows(values), state) => {
                for row in rows.iter().map(|&row| row as usize) {
                    state.add(&values.value(row), weights.of(row));
                }
            }
            (Self::Numbers(..) | Self::Doubles(..) | Self::Mixed(..), state) => {
                debug_assert_eq!(state.kind(), StateKind::Quantiles, "made for quantiles");
            }
            (Self::NumberCells(..) | Self::DoubleCells(..) | Self::LogCells(_), state) => {
                let is_histogram = matches!(state, State::Histogram(_) | State::LogHistogram(_));
                debug_assert!(is_histogram, "{:?} instead of a histogram", state.kind());
            }
        }
    }
}
