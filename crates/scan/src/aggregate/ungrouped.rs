//! Measures without groups, computed from a column's zone or encoded integers.
//!
//! A query without groups needs no decoded values, if its rows have few different weights. If it
//! takes a whole block, the count, sum, minimum and maximum of a column are in the block's
//! directory, also with weights. Otherwise, or if zones may not be used (to measure, or for values
//! other than plain decimals), the stream is summed vector by vector. Selected rows are given by
//! bits, and no column is decoded (small materialized aggregates, Moerkotte, VLDB 1998). Rows of
//! several weights are summed by `vector_sums.rs`, or else the rows of each weight for themselves.

use std::borrow::Cow;

use hadal_aggregate::{Groups, WeightedCount};
use hadal_block::{BlockError, ColumnView, WeightedSums, Zone};
use hadal_encoding::Bitmap;
use hadal_query::{Measure, Query, RowInput, StateKind, Weighting};
use hadal_types::{Kind, Logical, Weight};

use crate::aggregate::vector_sums::{self, WeighedSum};
use crate::column::column_values::decimal_value;
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::column::weight_classes::{WeightClass, weight_classes};
use crate::expr::plan::{PreparedExpr, PreparedQuery};
use crate::scan_memory::Interrupt;

/// The count, sum and range of a column's values.
#[derive(Clone, Copy)]
struct Ungrouped {
    /// The number of rows that have a value.
    rows: u64,
    sum: i128,
    /// The minimum and the maximum, if they are needed.
    ends: (i64, i64),
    scale: u8,
}

/// Which values of a column are needed beside count and sum, and whether zones may be used.
#[derive(Clone, Copy)]
struct Asked {
    has_extremes: bool,
    use_zones: bool,
}

/// A column's sum; also its extremes, if they are needed and there are any.
type SumAndEnds = (WeighedSum, Option<(i64, i64)>);

/// The weighted sums of some columns over the selected rows.
struct Weighed {
    count: WeightedCount,
    columns: Vec<SumAndEnds>,
    /// Whether some rows do not weigh one.
    has_weights: bool,
}

/// Adds the selected rows of a block to the only group of a query without keys. Returns false if it
/// cannot; then nothing was added.
pub(crate) fn add(
    query: &Query,
    plan: &PreparedQuery,
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
    groups: &mut Groups,
    use_zones: bool,
) -> Result<bool, Interrupt> {
    let counted = (0..).zip(query.measures());
    let counted: Vec<(usize, &Measure)> =
        counted.filter(|(_, measure)| measure.weighting == Weighting::Events).collect();
    let is_simple = |kind| matches!(kind, StateKind::Moments | StateKind::MinMax);
    if !plan.keys.is_empty() || !counted.iter().all(|(_, measure)| is_simple(measure.kind)) {
        return Ok(false);
    }
    let columns_of =
        counted.iter().map(|(index, _)| number_column(&plan.measures[*index], columns));
    let Some(indexes) = columns_of.collect::<Option<Vec<usize>>>() else { return Ok(false) };
    let mut distinct = indexes.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let has_extremes = |index: usize| {
        let mut of_column = counted.iter().zip(&indexes).filter(|(_, column)| **column == index);
        of_column.any(|((_, measure), _)| measure.kind == StateKind::MinMax)
    };
    let asked = |index| Asked { has_extremes: has_extremes(index), use_zones };
    let is_whole = use_zones && selection.chosen().is_none();
    let of_block = if is_whole { Weighed::of_block(columns, &distinct) } else { None };
    let weighed = match of_block {
        Some(weighed) => weighed,
        None => match Weighed::all(columns, &distinct, selection, asked)? {
            Some(weighed) => weighed,
            None => return Ok(false),
        },
    };
    // Rows that weigh one add nothing to variances of estimates.
    let has_variance = |measure: &Measure| measure.weighting == Weighting::SamplingVariance;
    if weighed.has_weights && query.measures().iter().any(has_variance) {
        return Ok(false);
    }
    let Some(group_index) = groups.find_or_insert(&[]) else { return Ok(false) };
    groups.add_count(group_index, weighed.count);
    for (&(index, measure), column) in counted.iter().zip(&indexes) {
        let Ok(place) = distinct.binary_search(column) else { continue };
        let (sum, ends) = &weighed.columns[place];
        match (measure.kind, ends) {
            (StateKind::MinMax, Some((min, max))) => {
                let state = &mut groups.states_mut(index)[group_index as usize];
                state.add(&decimal_value(*min, sum.scale), Weight::ONE);
                state.add(&decimal_value(*max, sum.scale), Weight::ONE);
            }
            (StateKind::MinMax, None) => {}
            _ => groups.add_decimal(index, group_index, sum.count, sum.product, sum.scale),
        }
    }
    Ok(true)
}

/// Adds rows of one weight.
fn add_rows(count: &mut WeightedCount, rows: u64, millionths: i64) {
    let weight = i128::from(millionths);
    // At most 2^32 rows of a block, and weights below 2^63: only the squares can be too large.
    let weights = i128::from(rows) * weight;
    count.add(rows, weights, weights.saturating_mul(weight));
}

/// The index of the plain numeric column that a measure takes; `None` for any other argument.
fn number_column(argument: &PreparedExpr, columns: &LazyColumns<'_, '_>) -> Option<usize> {
    let PreparedExpr::Leaf(RowInput::Column(asked)) = argument else { return None };
    let is_plain = asked.kind == Kind::Number && asked.logical == Logical::Plain;
    columns.find(asked.name.as_str(), Kind::Number).filter(|_| is_plain)
}

impl Weighed {
    /// The sums over all rows of the block, from its directory; `None` if it lacks one.
    fn of_block(columns: &LazyColumns<'_, '_>, indexes: &[usize]) -> Option<Self> {
        let rates = columns.view(columns.find(Weight::COLUMN, Kind::Number)?);
        let count_of = |column: &ColumnView<'_>, sums: &WeightedSums| {
            let rows = (column.rows() - column.null_count()) as u64;
            WeightedCount::from_parts(rows, sums.weight, sums.squares)
        };
        let mut count = count_of(rates, &rates.weighted_sums()?)?;
        // A row without a rate weighs one.
        count.add_rows(rates.null_count() as u64);
        let of_column = |&index: &usize| {
            let column = columns.view(index);
            let (sums, zone) = (column.weighted_sums()?, column.zone());
            let Zone::Decimals { scale, min, max, .. } = zone else { return None };
            let (count, product) = (count_of(column, &sums)?, sums.product);
            Some((WeighedSum { count, product, scale }, Some((min, max))))
        };
        let of_columns = indexes.iter().map(of_column).collect::<Option<_>>()?;
        Some(Self { count, columns: of_columns, has_weights: true })
    }

    /// Computes the sums of the columns of these indexes; `None` if one is not stored as integers,
    /// or if there are too many weights.
    fn all(
        columns: &LazyColumns<'_, '_>,
        indexes: &[usize],
        selection: &Selection,
        asked: impl Fn(usize) -> Asked,
    ) -> Result<Option<Self>, Interrupt> {
        if let Some(sums) = vector_sums::sum(columns, indexes, selection)? {
            let with_ends = indexes.iter().zip(sums.columns).map(|(&index, sum)| {
                let ends = match asked(index) {
                    Asked { has_extremes: false, .. } => None,
                    asked => match Ungrouped::new(index, columns, selection.chosen(), asked)? {
                        Some(all) => all.ends(),
                        None => None,
                    },
                };
                Ok((sum, ends))
            });
            let of_columns = with_ends.collect::<Result<_, BlockError>>()?;
            return Ok(Some(Self { count: sums.count, columns: of_columns, has_weights: true }));
        }
        let Some(classes) = weight_classes(columns, selection)? else { return Ok(None) };
        let mut count = WeightedCount::default();
        classes.iter().for_each(|class| add_rows(&mut count, class.rows as u64, class.millionths));
        let mut of_columns = Vec::with_capacity(indexes.len());
        for &index in indexes {
            let sum = Self::by_class(index, columns, selection, &classes, asked(index))?;
            let Some(sum) = sum else { return Ok(None) };
            of_columns.push(sum);
        }
        let has_weights = classes.iter().any(|class| class.millionths != Weight::UNIT);
        Ok(Some(Self { count, columns: of_columns, has_weights }))
    }

    /// The sum of a column, class by class; `None` if it is not stored as integers, or if it is
    /// too large.
    fn by_class(
        index: usize,
        columns: &LazyColumns<'_, '_>,
        selection: &Selection,
        classes: &[WeightClass],
        asked: Asked,
    ) -> Result<Option<SumAndEnds>, BlockError> {
        let Some(all) = Ungrouped::new(index, columns, selection.chosen(), asked)? else {
            return Ok(None);
        };
        let mut left = (all.rows, all.sum);
        let mut whole = WeighedSum { scale: all.scale, ..WeighedSum::default() };
        for class in classes {
            let (rows, sum) = match &class.chosen {
                None => left,
                Some(chosen) => {
                    let asked = Asked { has_extremes: false, use_zones: false };
                    let part = Ungrouped::new(index, columns, Some(chosen), asked)?;
                    let Some(part) = part else { return Ok(None) };
                    (part.rows, part.sum)
                }
            };
            left = (left.0.saturating_sub(rows), left.1 - sum);
            add_rows(&mut whole.count, rows, class.millionths);
            let weighed = sum.checked_mul(class.millionths.into());
            let Some(total) = weighed.and_then(|weighed| whole.product.checked_add(weighed)) else {
                return Ok(None);
            };
            whole.product = total;
        }
        let ends = if asked.has_extremes { all.ends() } else { None };
        Ok(Some((whole, ends)))
    }
}

impl Ungrouped {
    /// Computes the values of a column in the chosen rows, or in all; `None` if it is not stored as
    /// integers.
    fn new(
        index: usize,
        columns: &LazyColumns<'_, '_>,
        chosen: Option<&Bitmap>,
        asked: Asked,
    ) -> Result<Option<Self>, BlockError> {
        let column = columns.view(index);
        let rows = (column.rows() - column.null_count()) as u64;
        if let (true, None, Zone::Decimals { scale, min, max, sum }) =
            (asked.use_zones, chosen, column.zone())
        {
            return Ok(Some(Self { rows, sum, ends: (min, max), scale }));
        }
        let Some(stored) = columns.stored(index)? else { return Ok(None) };
        let Some((integers, scale)) = stored.integers() else { return Ok(None) };
        let positions = match (chosen, stored.valid()) {
            (Some(chosen), _) => Some(Cow::Owned(stored.stream_positions(chosen))),
            (None, Some(valid)) if !column.is_compact() => Some(Cow::Borrowed(&**valid)),
            (None, _) => None,
        };
        let positions = positions.as_deref();
        let rows = positions.map_or(rows, |positions| positions.count_ones() as u64);
        let (sum, ends) = match (asked.has_extremes, positions) {
            (false, None) => (integers.sum(), (0, 0)),
            (false, Some(positions)) => (integers.sum_where(positions), (0, 0)),
            (true, positions) => {
                let fold = positions
                    .map_or_else(|| integers.fold(), |positions| integers.fold_where(positions));
                (fold.sum, (fold.min, fold.max))
            }
        };
        Ok(Some(Self { rows, sum, ends, scale }))
    }

    /// The minimum and the maximum, if they were computed and there are values.
    fn ends(&self) -> Option<(i64, i64)> {
        (self.rows > 0).then_some(self.ends)
    }
}

#[cfg(test)]
mod tests;
