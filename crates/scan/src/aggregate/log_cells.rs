//! Counts the numbers of one group by the cells of a histogram whose edges are powers.
//!
//! Edges do not depend on the values. So the smallest mantissa of each cell is computed once per
//! block, and a row costs a few comparisons instead of a logarithm.

use hadal_aggregate::LogHistogram;
use hadal_types::{Decimal, Number};

use crate::column::column_values::Numbers;
use crate::column::weights::Weights;

/// The cells of a block's numbers.
pub(crate) struct LogCells<'v> {
    numbers: &'v Numbers,
    edges: Option<Edges>,
    /// The weights of the group in work: of zero, then of each cell.
    weights: Vec<i128>,
}

/// The cells that the positive numbers of a block may be in.
struct Edges {
    /// The cell of the smallest number.
    first_cell: i32,
    /// The smallest mantissa of each cell after the first, in ascending order.
    starts: Vec<i64>,
    /// By the number of bits of a mantissa: how many of `starts` have fewer bits.
    by_bits: Vec<usize>,
}

impl Edges {
    /// `None` without positive numbers.
    fn new(histogram: &LogHistogram, numbers: &Numbers) -> Option<Self> {
        let (min, max) = numbers.mantissas.bounds();
        let cell = |mantissa: i64| histogram.cell_of(number(mantissa, numbers.scale));
        let (first, last) = (min.max(1), max);
        if last < first {
            return None;
        }
        let first_cell = cell(first);
        let cells = first_cell + 1..=cell(last);
        let starts = cells.map(|cell| histogram.first_mantissa(cell, numbers.scale));
        let starts = starts.collect::<Option<Vec<i64>>>()?;
        let fewer = |bits: usize| starts.partition_point(|start| bits_of(*start) < bits);
        let by_bits = (0..=bits_of(i64::MAX)).map(fewer).collect();
        Some(Self { first_cell, by_bits, starts })
    }

    /// The index of a positive mantissa's cell.
    #[inline]
    fn index(&self, mantissa: i64) -> usize {
        let mut index = self.by_bits[bits_of(mantissa)];
        while self.starts.get(index).is_some_and(|&start| start <= mantissa) {
            index += 1;
        }
        index
    }
}

#[inline]
fn bits_of(mantissa: i64) -> usize {
    (i64::BITS - mantissa.leading_zeros()) as usize
}

fn number(mantissa: i64, scale: u8) -> Number {
    Decimal::new(mantissa.into(), scale).map_or(Number::ZERO, Number::from)
}

impl<'v> LogCells<'v> {
    pub(crate) fn new(base: u16, numbers: &'v Numbers) -> Self {
        let edges = Edges::new(&LogHistogram::new(base), numbers);
        let cells = edges.as_ref().map_or(0, |edges| edges.starts.len() + 1);
        Self { numbers, edges, weights: vec![0; cells + 1] }
    }

    /// Adds the numbers of these rows to a histogram of the same base.
    pub(crate) fn add_to(&mut self, histogram: &mut LogHistogram, rows: &[u32], weights: &Weights) {
        self.weights.fill(0);
        for row in rows.iter().map(|&row| row as usize).filter(|&row| self.numbers.has(row)) {
            let mantissa = self.numbers.mantissas.get(row);
            let slot = match &self.edges {
                _ if mantissa == 0 => 0,
                Some(edges) if mantissa > 0 => edges.index(mantissa) + 1,
                _ => {
                    histogram.add(number(mantissa, self.numbers.scale), weights.of(row));
                    continue;
                }
            };
            self.weights[slot] += i128::from(weights.millionths_of(row));
        }
        let first_cell = self.edges.as_ref().map_or(0, |edges| edges.first_cell);
        let cells = [0].into_iter().chain(first_cell..);
        let counted = cells.zip(self.weights.iter().copied());
        histogram.add_cells(counted.filter(|(_, weight)| *weight > 0));
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

    /// Mantissas around powers, and any others.
    fn mantissa() -> impl Strategy<Value = i64> {
        let power = (1i64..12, 0u32..18).prop_map(|(base, power)| base.saturating_pow(power));
        let around = (power, -2i64..=2).prop_map(|(power, by)| power.saturating_add(by));
        prop_oneof![around, any::<i64>(), -5i64..1_000, Just(0), Just(i64::MAX), Just(i64::MIN)]
    }

    proptest! {
        #[test]
        fn numbers_counted_by_cell_are_those_added_one_by_one(
            mantissas in prop::collection::vec(mantissa(), 1..200), scale in 0u8..=18,
            base in prop_oneof![2u16..12, Just(1_000), Just(u16::MAX)],
            weight in 1i64..5_000_000_000, has_nulls in any::<bool>(),
        ) {
            let rows = mantissas.len();
            let valid = has_nulls.then(|| {
                let words = (0..rows.div_ceil(64)).map(|word| 0x7fff_f7df_fdff_7ffd ^ word as u64);
                Rc::new(Bitmap::from_words(words.collect(), rows))
            });
            let weights = Weights::ByRow((weight..).step_by(7).take(rows).collect());
            let mantissas = MantissaColumn::new(mantissas);
            let numbers = Numbers { mantissas, scale, logical: Logical::Plain, valid };
            let mut cells = LogCells::new(base, &numbers);
            let (mut counted, mut one_by_one) = (LogHistogram::new(base), LogHistogram::new(base));
            for odd in [0, 1] {
                let group: Vec<u32> = (odd..u32::try_from(rows).expect("few")).step_by(2).collect();
                cells.add_to(&mut counted, &group, &weights);
                for row in group.into_iter().map(|row| row as usize) {
                    if numbers.has(row) {
                        one_by_one.add(number(numbers.mantissas.get(row), scale), weights.of(row));
                    }
                }
            }
            prop_assert_eq!(counted, one_by_one);
        }
    }
}
