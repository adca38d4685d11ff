//! Counts the numbers of one group by the buckets of the quantile sketch.

use hadal_aggregate::Quantiles;
use hadal_aggregate::accumulate::{bucket_of, bucket_of_decimal};
use hadal_types::{Number, Value};

use crate::column::column_values::{Doubles, Mixed, Numbers};
use crate::column::weights::Weights;

/// The maximum number of table cells per counted value.
pub(crate) const CELLS_PER_VALUE_MAX: usize = 8;

/// A column of numbers that have buckets.
pub(crate) trait Measurable {
    /// The column's representation of a value, ordered like the numbers.
    type Raw: Copy + PartialOrd;

    /// The row's value, if it has one.
    fn raw(&self, row: usize) -> Option<Self::Raw>;

    /// The bucket of a value.
    fn bucket(&self, raw: Self::Raw) -> i32;

    /// The value as a number.
    fn number(&self, raw: Self::Raw) -> Number;

    /// Whether a value is an integer.
    fn is_integer(&self, raw: Self::Raw) -> bool;

    /// Whether all values are known to be integers.
    fn are_integers(&self) -> bool {
        false
    }
}

/// Counts values by bucket. Its buffers are reused for the next group.
#[derive(Default)]
pub(crate) struct Buckets {
    /// The bucket and the weight of each value.
    values: Vec<(i32, i64)>,
    cells: Vec<i128>,
    counted: Vec<(i32, i128)>,
}

impl Buckets {
    /// Adds the values of these rows to a distribution.
    pub(crate) fn add_to<M: Measurable>(
        &mut self,
        quantiles: &mut Quantiles,
        column: &M,
        rows: &[u32],
        weights: &Weights,
    ) {
        let mut ends: Option<(M::Raw, M::Raw)> = None;
        self.values.clear();
        for row in rows.iter().map(|&row| row as usize) {
            let Some(raw) = column.raw(row) else { continue };
            ends = Some(ends.map_or((raw, raw), |(min, max)| {
                (if raw < min { raw } else { min }, if raw > max { raw } else { max })
            }));
            self.values.push((column.bucket(raw), weights.millionths_of(row)));
        }
        let Some((min, max)) = ends else { return };
        let count = self.values.len() as u64;
        if quantiles.takes_buckets(count) {
            self.count();
            let ends = (column.number(min), column.number(max));
            quantiles.add_rows(count, ends).add_weights(self.counted.iter().copied());
            let mut raws = rows.iter().filter_map(|&row| column.raw(row as usize));
            if !column.are_integers()
                && quantiles.may_be_integers()
                && !raws.all(|raw| column.is_integer(raw))
            {
                quantiles.note_fraction();
            }
            return;
        }
        for row in rows.iter().map(|&row| row as usize) {
            if let Some(raw) = column.raw(row) {
                quantiles.add(column.number(raw), weights.of(row));
            }
        }
    }

    /// Sums the weights of `values` by bucket, in ascending order.
    fn count(&mut self) {
        self.counted.clear();
        let layout = Layout::of(&self.values);
        if layout.cells() <= self.values.len().saturating_mul(CELLS_PER_VALUE_MAX) {
            self.cells.clear();
            self.cells.resize(layout.cells(), 0);
            for &(bucket, weight) in &self.values {
                self.cells[layout.cell(bucket)] += i128::from(weight);
            }
            let cells = layout.buckets().zip(&self.cells).filter(|(_, weight)| **weight > 0);
            self.counted.extend(cells.map(|(bucket, &weight)| (bucket, weight)));
            return;
        }
        self.values.sort_unstable_by_key(|value| value.0);
        for same in self.values.chunk_by(|left, right| left.0 == right.0) {
            let weight = same.iter().map(|value| i128::from(value.1)).sum();
            self.counted.push((same[0].0, weight));
        }
    }
}

/// Cells for the used buckets: those of negative numbers, of zero, and of positive numbers. Between
/// them are the many buckets of tiny numbers, so a table from the first to the last bucket would be
/// too large.
struct Layout {
    negative: std::ops::Range<i32>,
    positive: std::ops::Range<i32>,
}

impl Layout {
    fn of(values: &[(i32, i64)]) -> Self {
        let span = |is_inside: fn(i32) -> bool| {
            let inside = values.iter().map(|value| value.0).filter(|&bucket| is_inside(bucket));
            let (first, last) = inside.fold((i32::MAX, i32::MIN), |(first, last), bucket| {
                (first.min(bucket), last.max(bucket))
            });
            if first <= last { first..last + 1 } else { 0..0 }
        };
        Self { negative: span(|bucket| bucket < 0), positive: span(|bucket| bucket > 0) }
    }

    fn cells(&self) -> usize {
        self.negative.len() + 1 + self.positive.len()
    }

    fn cell(&self, bucket: i32) -> usize {
        let cell = match bucket {
            ..0 => bucket - self.negative.start,
            0 => self.negative.end - self.negative.start,
            1.. => self.negative.end - self.negative.start + 1 + bucket - self.positive.start,
        };
        usize::try_from(cell).unwrap_or(0)
    }

    fn buckets(&self) -> impl Iterator<Item = i32> {
        self.negative.clone().chain([0]).chain(self.positive.clone())
    }
}

impl Measurable for &Numbers {
    type Raw = i64;

    #[inline]
    fn raw(&self, row: usize) -> Option<i64> {
        self.has(row).then(|| self.mantissas.get(row))
    }

    #[inline]
    fn bucket(&self, mantissa: i64) -> i32 {
        bucket_of_decimal(mantissa, self.scale)
    }

    fn number(&self, mantissa: i64) -> Number {
        match self.value_of(mantissa) {
            Value::Number(number) => number,
            _ => Number::ZERO,
        }
    }

    fn is_integer(&self, mantissa: i64) -> bool {
        mantissa % 10i64.pow(self.scale.into()) == 0
    }

    fn are_integers(&self) -> bool {
        self.scale == 0
    }
}

impl Measurable for &Doubles {
    type Raw = f64;

    #[inline]
    fn raw(&self, row: usize) -> Option<f64> {
        self.has(row).then(|| self.values[row])
    }

    #[inline]
    fn bucket(&self, value: f64) -> i32 {
        bucket_of(value)
    }

    fn number(&self, value: f64) -> Number {
        Number::from_f64(value).unwrap_or(Number::ZERO)
    }

    fn is_integer(&self, value: f64) -> bool {
        value.trunc() == value
    }
}

impl Measurable for &Mixed {
    type Raw = (f64, Number);

    fn raw(&self, row: usize) -> Option<(f64, Number)> {
        self.doubles.has(row).then(|| (self.doubles.values[row], Mixed::number(self, row)))
    }

    fn bucket(&self, (double, _): (f64, Number)) -> i32 {
        bucket_of(double)
    }

    fn number(&self, (_, number): (f64, Number)) -> Number {
        number
    }

    fn is_integer(&self, (_, number): (f64, Number)) -> bool {
        number.is_integer()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use hadal_encoding::Bitmap;
    use hadal_types::Logical;
    use proptest::prelude::*;

    use super::*;
    use crate::column::decimals::MantissaColumn;

    /// Compares distributions of two groups' rows, counted by bucket and one by one, after `before`
    /// other values.
    fn agree<M: Measurable>(column: M, rows: usize, weights: &Weights, before: i64) {
        let mut start = Quantiles::default();
        (0..before).for_each(|value| start.add(Number::integer(value), weights.of(0)));
        let mut buckets = Buckets::default();
        for odd in [false, true] {
            let group: Vec<u32> =
                (0..).take(rows).filter(|row: &u32| (row % 2 == 1) == odd).collect();
            let (mut counted, mut one_by_one) = (start.clone(), start.clone());
            buckets.add_to(&mut counted, &column, &group, weights);
            for row in group.iter().map(|&row| row as usize) {
                if let Some(raw) = column.raw(row) {
                    one_by_one.add(column.number(raw), weights.of(row));
                }
            }
            assert_eq!(counted, one_by_one);
        }
    }

    fn mantissas() -> impl Strategy<Value = Vec<i64>> {
        let reference = prop::collection::vec(-40i64..1_000, 1..1_500);
        let far = prop::collection::vec(any::<i64>(), 1..1_500);
        let tiny = prop::collection::vec(-3i64..4, 1..1_500);
        prop_oneof![reference, far, tiny]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn numbers_counted_by_bucket_are_those_added_one_by_one(
            mantissas in mantissas(), scale in 0u8..=18, weight in 1i64..5_000_000_000,
            has_nulls in any::<bool>(), before in 0i64..300,
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
            agree(&numbers, rows, &weights, before);
        }

        #[test]
        fn doubles_counted_by_bucket_are_those_added_one_by_one(
            values in prop::collection::vec(
                prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 1..900,
            ),
            before in 0i64..300, are_integers in any::<bool>(),
        ) {
            let rows = values.len();
            let values = if are_integers { values.into_iter().map(f64::trunc).collect() } else { values };
            let doubles = Doubles { values: Rc::new(values), valid: None };
            agree(&doubles, rows, &Weights::One, before);
        }
    }
}
