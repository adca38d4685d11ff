//! Variances of decimals whose rows have a few weights: Σx and Σx² of each cell are summed as the
//! decimals of sums are, and weighted once per cell.

use std::rc::Rc;

use hadal_aggregate::{Groups, State, WeightedCount};
use hadal_query::StateKind;

use crate::aggregate::block_sums::BlockSums;
use crate::aggregate::sum_decimals::SumDecimals;
use crate::column::column_values::{ColumnValues, Numbers};
use crate::column::decimals::{DictionaryMantissas, MantissaColumn};
use crate::group::grouped_rows::GroupedRows;

/// The sums of one block by cell.
pub(crate) struct VarianceSums {
    sums: BlockSums,
    /// The weight of each class in millionths; rows that weigh nothing do not count.
    classes: Vec<i64>,
    scale: u8,
}

impl VarianceSums {
    /// Sums the rows; `classes` has what the rows of each class weigh here. `None` if each
    /// row has its own weight, or if a sum of squares may be too long.
    pub(crate) fn new(
        numbers: &Numbers,
        rows: &GroupedRows<'_>,
        classes: Vec<i64>,
    ) -> Option<Self> {
        let squares = Numbers { mantissas: squares(&numbers.mantissas)?, ..numbers.clone() };
        let columns = [numbers.clone(), squares].map(ColumnValues::Numbers);
        let moments = columns.iter().map(|values| (StateKind::Moments, values));
        let decimals = SumDecimals::new(moments, rows);
        if !decimals.has(0) || !decimals.has(1) {
            return None;
        }
        Some(Self { sums: decimals.up(rows), classes, scale: numbers.scale })
    }

    /// Adds to measure `measure` of all groups. `used_groups` has the group number in this block
    /// and the group index of each group.
    pub(crate) fn add_to(&self, groups: &mut Groups, measure: usize, used_groups: &[(usize, u32)]) {
        // A block without any value has no sums.
        let ([sums, squares], Some(counts)) = (self.sums.sums.as_slice(), self.sums.counts.last())
        else {
            return;
        };
        let states = groups.states_mut(measure);
        for &(number, group_index) in used_groups {
            let State::Comoments(comoments) = &mut states[group_index as usize] else { continue };
            let mut count = WeightedCount::default();
            let (mut sum, mut sum_of_squares) = (0i128, 0i128);
            let first = number * self.classes.len();
            for (cell, &weight) in (first..).zip(&self.classes).filter(|(_, weight)| **weight > 0) {
                let (rows, weight) = (i128::from(counts[cell]), i128::from(weight));
                count.add(counts[cell], rows * weight, rows * weight * weight);
                sum += i128::from(sums[cell].cast_signed()) * weight;
                sum_of_squares += i128::from(squares[cell].cast_signed()) * weight;
            }
            if count.rows() > 0 {
                comoments.add_decimals(count, (sum, sum_of_squares), self.scale);
            }
        }
    }
}

/// The squares of all mantissas; `None` if one may be too long.
fn squares(mantissas: &MantissaColumn) -> Option<MantissaColumn> {
    let (min, max) = mantissas.bounds();
    min.checked_mul(min)?;
    max.checked_mul(max)?;
    let all = |values: &[i64]| Rc::new(values.iter().map(|value| value * value).collect());
    let by_code = |codes, values: &[i64]| {
        MantissaColumn::Dictionary(DictionaryMantissas {
            codes: Rc::clone(codes),
            values: all(values),
        })
    };
    Some(match mantissas {
        MantissaColumn::FrameOfReference(reference) => {
            let value = |k| reference.value(k);
            match (reference.span as usize) < reference.steps.len() {
                true => {
                    let values: Vec<i64> = (0..=reference.span).map(value).collect();
                    by_code(&reference.steps, &values)
                }
                false => {
                    let values: Vec<i64> = reference.steps.iter().map(|&k| value(k)).collect();
                    MantissaColumn::Plain(all(&values))
                }
            }
        }
        MantissaColumn::Dictionary(coded) => by_code(&coded.codes, &coded.values),
        MantissaColumn::Plain(values) => MantissaColumn::Plain(all(values)),
    })
}
