//! Measures without groups, computed from a column's zone or encoded integers.
//!
//! A query without groups, over rows that all weigh one, needs no decoded values. If it takes a
//! whole block, the count, sum, minimum and maximum of a column are in the block's directory.
//! Otherwise, or if zones may not be used (to measure, or for values other than plain decimals),
//! the stream is summed vector by vector. Selected rows are given by bits, and no column is decoded
//! (small materialized aggregates, Moerkotte, VLDB 1998).

use std::borrow::Cow;

use hadal_aggregate::{Groups, State, WeightedCount};
use hadal_block::{BlockError, Zone};
use hadal_encoding::Bitmap;
use hadal_query::{Measure, Query, RowInput, StateKind, Weighting};
use hadal_types::{Kind, Logical, Weight};

use crate::column::column_values::decimal_value;
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::expr::plan::{PreparedExpr, PreparedQuery};

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

/// Adds the selected rows of a block, each of weight one, to the only group of a query without
/// keys. Returns false if it cannot; then nothing was added.
pub(crate) fn add(
    query: &Query,
    plan: &PreparedQuery,
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
    groups: &mut Groups,
    use_zones: bool,
) -> Result<bool, BlockError> {
    // Rows that weigh one add nothing to variances of estimates.
    let counted: Vec<(usize, &Measure)> = (0..)
        .zip(query.measures())
        .filter(|(_, measure)| measure.weighting == Weighting::Events)
        .collect();
    let is_simple = |kind| matches!(kind, StateKind::Moments | StateKind::MinMax);
    if !plan.keys.is_empty() || !counted.iter().all(|(_, measure)| is_simple(measure.kind)) {
        return Ok(false);
    }
    let columns_of =
        counted.iter().map(|(index, _)| number_column(&plan.measures[*index], columns));
    let Some(indexes) = columns_of.collect::<Option<Vec<usize>>>() else { return Ok(false) };
    let has_extremes = |index: usize| {
        let mut of_column = counted.iter().zip(&indexes).filter(|(_, column)| **column == index);
        of_column.any(|((_, measure), _)| measure.kind == StateKind::MinMax)
    };
    let mut wholes: Vec<Ungrouped> = Vec::with_capacity(counted.len());
    for (measure, &index) in indexes.iter().enumerate() {
        // The sum and the extremes of one column are two measures, but are computed once.
        let before = indexes[..measure].iter().position(|&before| before == index);
        let whole = match before {
            Some(before) => wholes[before],
            None => {
                let asked = Asked { has_extremes: has_extremes(index), use_zones };
                let whole = Ungrouped::new(index, columns, selection.chosen(), asked)?;
                let Some(whole) = whole else { return Ok(false) };
                whole
            }
        };
        wholes.push(whole);
    }
    let mut count = WeightedCount::default();
    count.add_rows(selection.count() as u64);
    let Some(group_index) = groups.find_or_insert(&[]) else { return Ok(false) };
    groups.add_count(group_index, count);
    for (&(index, measure), whole) in counted.iter().zip(&wholes) {
        match measure.kind {
            StateKind::MinMax => whole.widen(&mut groups.states_mut(index)[group_index as usize]),
            _ => {
                let mut count = WeightedCount::default();
                count.add_rows(whole.rows);
                let product = whole.sum * i128::from(Weight::UNIT);
                groups.add_decimal(index, group_index, count, product, whole.scale);
            }
        }
    }
    Ok(true)
}

/// The index of the plain numeric column that a measure takes; `None` for any other argument.
fn number_column(argument: &PreparedExpr, columns: &LazyColumns<'_, '_>) -> Option<usize> {
    let PreparedExpr::Leaf(RowInput::Column(asked)) = argument else { return None };
    let is_plain = asked.kind == Kind::Number && asked.logical == Logical::Plain;
    columns.find(asked.name.as_str(), Kind::Number).filter(|_| is_plain)
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

    fn widen(&self, state: &mut State) {
        if self.rows > 0 {
            state.add(&decimal_value(self.ends.0, self.scale), Weight::ONE);
            state.add(&decimal_value(self.ends.1, self.scale), Weight::ONE);
        }
    }
}
