//! Counts the numbers of one group by the cells of a histogram's grid.
//!
//! The grid depends on the minimum and the maximum of the group so far, so these are computed
//! first. After that, each row costs one division.

use hadal_aggregate::Histogram;
use hadal_types::{Decimal, Number};

use crate::aggregate::quantile_buckets::CELLS_PER_VALUE_MAX;
use crate::column::column_values::{Doubles, Numbers};
use crate::column::weights::Weights;

/// Counts values by cell. Its buffers are reused for the next group.
#[derive(Default)]
pub(crate) struct HistogramCells {
    /// The weight of each cell, starting with the group's first cell; used for few cells.
    dense: Vec<i128>,
    /// The cell of each value, relative to the group's first cell, and the value's weight; used for
    /// many cells.
    sparse: Vec<(usize, i128)>,
}

impl HistogramCells {
    /// Adds the numbers of these rows to a histogram.
    pub(crate) fn add_numbers(
        &mut self,
        histogram: &mut Histogram,
        numbers: &Numbers,
        rows: &[u32],
        weights: &Weights,
    ) {
        let has = |row: &usize| numbers.has(*row);
        let rows = || rows.iter().map(|&row| row as usize).filter(has);
        let mantissa = |row: usize| numbers.mantissas.get(row);
        let number = |mantissa: i64| {
            Decimal::new(mantissa.into(), numbers.scale).map_or(Number::ZERO, Number::from)
        };
        let Some((min, max)) = ends(rows().map(mantissa)) else { return };
        histogram.add_cells((number(min), number(max)), |grid| {
            let first = grid.cell_of_decimal(min, numbers.scale);
            let step = |mantissa| to_index(grid.cell_of_decimal(mantissa, numbers.scale) - first);
            let weight = |row| weights.millionths_of(row);
            let values = rows().count();
            match grid.steps(numbers.scale, (min, max)) {
                Some(steps) => {
                    let cell_weights = rows().map(|row| (steps.of(mantissa(row)), weight(row)));
                    self.count(cell_weights, values, steps.of(max));
                }
                None => {
                    let cell_weights = rows().map(|row| (step(mantissa(row)), weight(row)));
                    self.count(cell_weights, values, step(max));
                }
            }
            self.counted(first)
        });
    }

    /// Adds the doubles of these rows to a histogram.
    pub(crate) fn add_doubles(
        &mut self,
        histogram: &mut Histogram,
        doubles: &Doubles,
        rows: &[u32],
        weights: &Weights,
    ) {
        let has = |row: &usize| doubles.has(*row);
        let rows = || rows.iter().map(|&row| row as usize).filter(has);
        let value = |row: usize| doubles.values[row];
        let number = |value: f64| Number::from_f64(value).unwrap_or(Number::ZERO);
        let Some((min, max)) = ends(rows().map(value)) else { return };
        histogram.add_cells((number(min), number(max)), |grid| {
            let cell_of = grid.cells_of_doubles();
            let first = cell_of(min);
            let step = |value| to_index(cell_of(value) - first);
            let cell_weights = rows().map(|row| (step(value(row)), weights.millionths_of(row)));
            self.count(cell_weights, rows().count(), step(max));
            self.counted(first)
        });
    }

    /// Sums the weights of `values` values by cell; `last` is the largest cell.
    fn count(
        &mut self,
        cell_weights: impl Iterator<Item = (usize, i64)>,
        values: usize,
        last: usize,
    ) {
        self.dense.clear();
        self.sparse.clear();
        if last < values.saturating_mul(CELLS_PER_VALUE_MAX) {
            self.dense.resize(last + 1, 0);
            cell_weights.for_each(|(cell, weight)| self.dense[cell] += i128::from(weight));
            return;
        }
        self.sparse.extend(cell_weights.map(|(cell, weight)| (cell, i128::from(weight))));
        self.sparse.sort_unstable_by_key(|entry| entry.0);
        self.sparse.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
    }

    /// The cells that have a weight, with it. `first` is the absolute number of the group's first
    /// cell.
    fn counted(&self, first: i128) -> impl Iterator<Item = (i128, i128)> {
        let dense = self.dense.iter().copied().enumerate().filter(|(_, weight)| *weight > 0);
        let all = dense.chain(self.sparse.iter().copied());
        all.map(move |(cell, weight)| (first + i128::try_from(cell).unwrap_or(0), weight))
    }
}

/// The minimum and the maximum; `None` without values.
fn ends<V: Copy + PartialOrd>(values: impl Iterator<Item = V>) -> Option<(V, V)> {
    values.fold(None, |ends: Option<(V, V)>, value| {
        let (min, max) = ends.unwrap_or((value, value));
        Some((if value < min { value } else { min }, if value > max { value } else { max }))
    })
}

fn to_index(step: i128) -> usize {
    usize::try_from(step).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use hadal_encoding::Bitmap;
    use hadal_types::{Logical, Weight};
    use proptest::prelude::*;

    use super::*;
    use crate::column::decimals::MantissaColumn;

    /// Compares histograms of two groups' rows, counted by cell and one by one, with a value added
    /// before.
    fn agree(
        rows: usize,
        buckets: u16,
        before: Option<Number>,
        value: impl Fn(usize) -> Option<Number>,
        weights: &Weights,
        mut add: impl FnMut(&mut Histogram, &[u32]),
    ) {
        let mut start = Histogram::new(buckets);
        before.into_iter().for_each(|number| start.add(number, Weight::ONE));
        for odd in [false, true] {
            let group: Vec<u32> =
                (0..).take(rows).filter(|row: &u32| (row % 2 == 1) == odd).collect();
            let (mut counted, mut one_by_one) = (start.clone(), start.clone());
            add(&mut counted, &group);
            for row in group.iter().map(|&row| row as usize) {
                value(row).into_iter().for_each(|value| one_by_one.add(value, weights.of(row)));
            }
            assert_eq!(counted, one_by_one);
        }
    }

    fn before() -> impl Strategy<Value = Option<Number>> {
        let value = prop_oneof![-1e3..1e3, -1e20..1e20, Just(1e300), Just(1e-300)];
        proptest::option::of(value.prop_map(|value| Number::from_f64(value).expect("finite")))
    }

    fn buckets() -> impl Strategy<Value = u16> {
        prop_oneof![1u16..100, Just(1_000)]
    }

    fn mantissas() -> impl Strategy<Value = Vec<i64>> {
        let reference = prop::collection::vec(-40i64..1_000, 1..900);
        let wide = prop::collection::vec(-9_000_000i64..9_000_000_000, 1..900);
        let far = prop::collection::vec(any::<i64>(), 1..900);
        let ends = prop::collection::vec(prop_oneof![Just(i64::MIN), Just(i64::MAX)], 1..5);
        let high = prop::collection::vec(i64::MAX - 50..i64::MAX, 1..900);
        let same = (any::<i64>(), 1usize..9).prop_map(|(value, rows)| vec![value; rows]);
        prop_oneof![reference, wide, far, ends, high, same]
    }

    proptest! {
        #[test]
        fn numbers_counted_by_cell_are_those_added_one_by_one(
            mantissas in mantissas(), scale in 0u8..=18, weight in 1i64..5_000_000_000,
            has_nulls in any::<bool>(), before in before(), buckets in buckets(),
        ) {
            let rows = mantissas.len();
            let words = (0..rows.div_ceil(64)).map(|word| 0x7fff_f7df_fdff_7ffd ^ word as u64);
            let valid = Bitmap::from_words(words.collect(), rows);
            let weights = Weights::ByRow((weight..).step_by(7).take(rows).collect());
            let numbers = Numbers {
                mantissas: MantissaColumn::new(mantissas),
                scale,
                logical: Logical::Plain,
                valid: has_nulls.then(|| Rc::new(valid)),
            };
            let value = |row: usize| {
                let decimal = Decimal::new(numbers.mantissas.get(row).into(), scale);
                numbers.has(row).then(|| decimal.expect("in range").into())
            };
            let mut cells = HistogramCells::default();
            let add = |histogram: &mut Histogram, rows: &[u32]| {
                cells.add_numbers(histogram, &numbers, rows, &weights);
            };
            agree(rows, buckets, before, value, &weights, add);
        }

        #[test]
        fn doubles_counted_by_cell_are_those_added_one_by_one(
            values in prop_oneof![
                prop::collection::vec(
                    prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
                    1..600,
                ),
                prop::collection::vec(-10.0..1_000.0, 1..600),
                prop::collection::vec((-80i32..800).prop_map(|n| f64::from(n) / 8.0), 1..600),
            ],
            before in before(), buckets in buckets(),
        ) {
            let rows = values.len();
            let doubles = Doubles { values: Rc::new(values), valid: None };
            let value = |row: usize| Number::from_f64(doubles.values[row]);
            let mut cells = HistogramCells::default();
            let add = |histogram: &mut Histogram, rows: &[u32]| {
                cells.add_doubles(histogram, &doubles, rows, &Weights::One);
            };
            agree(rows, buckets, before, value, &Weights::One, add);
        }
    }
}
