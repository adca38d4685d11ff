//! Histograms whose edges are the powers of a number.
//!
//! A positive number is in the cell of the largest power at or below it. A negative one is in the
//! cell of the largest power below its absolute value, so every bucket includes its lower edge.
//! Zero has a cell of its own. Cells do not depend on other values, so merging is order-free.

use std::sync::Arc;

use hadal_types::limits::HISTOGRAM_BUCKETS_MAX;
use hadal_types::value::HistogramBucket;
use hadal_types::{Decimal, Number, Value, Weight};

use crate::state::sorted_runs::{add_ascending, is_ascending};
use crate::state::weighted_count::number_of_weight;

/// The cell of a positive number is its exponent and this, that of a negative one the same,
/// negative. No double has an exponent below -1,075 or above 1,024.
const OFFSET: i32 = 1_100;
/// The largest cell.
const CELL_MAX: i32 = OFFSET + 1_024;
/// Logarithms nearer to a whole number than this are compared with the edge itself.
const NEAR: f64 = 1e-6;

/// The weights of some numbers, for a histogram with the powers of `base` as edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogHistogram {
    base: u16,
    /// Cells in ascending order, with weights above zero in millionths.
    weights: Vec<(i32, i128)>,
}

impl LogHistogram {
    /// A state without values; the base must be above one.
    #[must_use]
    pub const fn new(base: u16) -> Self {
        Self { base, weights: Vec::new() }
    }

    /// The number whose powers are the edges.
    #[must_use]
    pub(crate) const fn base(&self) -> u16 {
        self.base
    }

    /// Adds one value.
    pub fn add(&mut self, value: Number, weight: Weight) {
        let cell = self.cell_of(value);
        add_ascending(&mut self.weights, [(cell, i128::from(weight.millionths()))]);
    }

    /// Adds the values of `other`, which must have the same base.
    pub fn merge(&mut self, other: &Self) {
        add_ascending(&mut self.weights, other.weights.iter().copied());
    }

    /// Adds cells in ascending order, with their weights in millionths, which must be above zero.
    pub fn add_cells(&mut self, cells: impl IntoIterator<Item = (i32, i128)>) {
        add_ascending(&mut self.weights, cells);
    }

    /// The smallest mantissa above zero whose decimal of this scale is in this cell or a larger
    /// one; the cell must be one of a positive number. `None` if there is none.
    #[must_use]
    pub fn first_mantissa(&self, cell: i32, scale: u8) -> Option<i64> {
        let is_at_least = |mantissa: i64| {
            let decimal = Decimal::new(mantissa.into(), scale);
            decimal.is_some_and(|decimal| self.cell_of(decimal.into()) >= cell)
        };
        // Rounded to the nearest mantissa, so the first is this one or the next.
        let near = edge(self.base, cell - OFFSET)?.to_scaled(scale)?;
        let near = i64::try_from(near).ok()?.max(1);
        [near, near.checked_add(1)?].into_iter().find(|&mantissa| is_at_least(mantissa))
    }

    /// The cell of a number. A larger number has the same or a larger cell.
    #[must_use]
    pub fn cell_of(&self, value: Number) -> i32 {
        if value == Number::ZERO {
            return 0;
        }
        let is_negative = value < Number::ZERO;
        let double = value.to_f64().abs();
        let size = double.ln() / f64::from(self.base).ln();
        #[expect(clippy::cast_possible_truncation, reason = "a double has a small exponent")]
        let (floor, nearest) = (size.floor() as i32, size.round() as i32);
        let is_beyond = |exponent: &i32| {
            let edge = edge(self.base, *exponent);
            edge.is_some_and(|edge| if is_negative { value < negated(edge) } else { edge <= value })
        };
        // The smallest doubles have too few digits for a logarithm.
        let is_certain = double >= f64::MIN_POSITIVE && (size - f64::from(nearest)).abs() > NEAR;
        let exponent = match is_certain {
            true => floor,
            false => {
                let exponents = nearest - 2..=nearest + 1;
                exponents.rev().find(is_beyond).unwrap_or(nearest - 2)
            }
        };
        let cell = (exponent + OFFSET).clamp(1, CELL_MAX);
        if is_negative { -cell } else { cell }
    }

    /// The weight in all adjacent buckets around the values. If they are too many, each is as wide
    /// as two, four or more. Null without values.
    #[must_use]
    pub fn finish(&self) -> Value {
        if self.weights.is_empty() {
            return Value::Null;
        }
        let strides = (0..).map(|doublings| 1i32 << doublings);
        let buckets = strides.map(|stride| self.buckets(stride));
        let mut fitting =
            buckets.filter(|buckets| buckets.len() <= usize::from(HISTOGRAM_BUCKETS_MAX));
        fitting.next().map_or(Value::Null, Value::Histogram)
    }

    /// The buckets, each of `stride` powers.
    fn buckets(&self, stride: i32) -> Arc<[HistogramBucket]> {
        let step = |cell: i32| (cell.abs() - OFFSET).div_euclid(stride);
        let steps = |is_negative: bool| {
            let steps = self
                .weights
                .iter()
                .filter(move |entry| if is_negative { entry.0 < 0 } else { entry.0 > 0 });
            let steps = steps.map(|entry| step(entry.0));
            steps.clone().min().zip(steps.max())
        };
        let edge =
            |step: i32| edge(self.base, step * stride).or_else(|| Number::from_f64(f64::MAX));
        let edge = |step: i32| edge(step).unwrap_or(Number::ZERO);
        let (negative, positive) = (steps(true), steps(false));
        let has_zero = self.weights.iter().any(|entry| entry.0 == 0);
        let weight = |is_inside: &dyn Fn(i32) -> bool| {
            let inside = self.weights.iter().filter(|entry| is_inside(entry.0));
            number_of_weight(inside.fold(0i128, |sum, entry| sum.saturating_add(entry.1)))
        };
        let mut buckets = Vec::new();
        for at in negative.into_iter().flat_map(|(low, high)| (low..=high).rev()) {
            let count = weight(&|cell| cell < 0 && step(cell) == at);
            let (from, to) = (negated(edge(at + 1)), negated(edge(at)));
            buckets.push(HistogramBucket { from, to, count });
        }
        if has_zero || (negative.is_some() && positive.is_some()) {
            let from = negative.map_or(Number::ZERO, |(low, _)| negated(edge(low)));
            let to = positive.map_or(Number::ZERO, |(low, _)| edge(low));
            buckets.push(HistogramBucket { from, to, count: weight(&|cell| cell == 0) });
        }
        for at in positive.into_iter().flat_map(|(low, high)| low..=high) {
            let count = weight(&|cell| cell > 0 && step(cell) == at);
            buckets.push(HistogramBucket { from: edge(at), to: edge(at + 1), count });
        }
        buckets.into()
    }

    /// Approximate bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.weights.capacity() * size_of::<(i32, i128)>()
    }

    /// The cells in ascending order, with their weights in millionths. The cell of a positive
    /// number is its exponent + 1,100, that of a negative one the same, negative, and that of zero
    /// is 0.
    #[must_use]
    pub fn cells(&self) -> &[(i32, i128)] {
        &self.weights
    }

    /// The state of these cells, or `None` if they are out of order or range.
    #[must_use]
    pub fn of_cells(base: u16, cells: Vec<(i32, i128)>) -> Option<Self> {
        let fits = base > 1
            && is_ascending(&cells)
            && cells.iter().all(|(cell, weight)| {
                cell.unsigned_abs() <= CELL_MAX.unsigned_abs() && *weight > 0
            });
        fits.then_some(Self { base, weights: cells })
    }
}

/// base^exponent: exact, or the same double on every machine. `None` beyond the range of doubles.
fn edge(base: u16, exponent: i32) -> Option<Number> {
    if base == 10 {
        return format!("1e{exponent}").parse().ok();
    }
    let exact = u32::try_from(exponent).ok().and_then(|power| i128::from(base).checked_pow(power));
    if let Some(exact) = exact.and_then(|exact| Decimal::new(exact, 0)) {
        return Some(exact.into());
    }
    let base = f64::from(base);
    let double = (0..exponent.unsigned_abs())
        .fold(1.0, |product: f64, _| if exponent < 0 { product / base } else { product * base });
    Number::from_f64(double)
}

fn negated(number: Number) -> Number {
    match number.to_decimal().and_then(Decimal::checked_neg) {
        Some(decimal) => decimal.into(),
        None => Number::from_f64(-number.to_f64()).unwrap_or(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(base: u16, values: &[&str]) -> LogHistogram {
        let mut state = LogHistogram::new(base);
        values.iter().for_each(|text| state.add(text.parse().expect(text), Weight::ONE));
        state
    }

    fn shown(base: u16, values: &[&str]) -> String {
        of(base, values).finish().to_string()
    }

    #[test]
    fn edges_are_powers() {
        assert_eq!(shown(10, &[]), "null");
        assert_eq!(
            shown(10, &["1", "9.99", "10", "2500"]),
            "[1–10: 2, 10–100: 1, 100–1000: 0, 1000–10000: 1]"
        );
        assert_eq!(
            shown(2, &["1", "3", "4", "0.25"]),
            "[0.25–0.5: 1, 0.5–1: 0, 1–2: 1, 2–4: 1, 4–8: 1]"
        );
        assert_eq!(shown(10, &["0.001", "0.00999"]), "[0.001–0.01: 2]");
        assert_eq!(shown(10, &["0"]), "[0–0: 1]");
        assert_eq!(shown(10, &["0", "5"]), "[0–1: 1, 1–10: 1]");
    }

    #[test]
    fn negative_numbers_are_below_zero() {
        assert_eq!(shown(10, &["-1", "-10", "-11"]), "[-100–-10: 1, -10–-1: 1, -1–-0.1: 1]");
        assert_eq!(shown(10, &["-5", "0", "5"]), "[-10–-1: 1, -1–1: 1, 1–10: 1]");
        assert_eq!(shown(10, &["-5", "5"]), "[-10–-1: 1, -1–1: 0, 1–10: 1]");
        assert_eq!(shown(10, &["-5", "0"]), "[-10–-1: 1, -1–0: 1]");
    }

    #[test]
    fn values_at_an_edge_are_above_it() {
        for base in [2, 3, 7, 10, 1_000] {
            for exponent in -1_074..1_024 {
                let Some(edge) = edge(base, exponent).filter(|edge| *edge > Number::ZERO) else {
                    continue;
                };
                let state = LogHistogram::new(base);
                assert_eq!(state.cell_of(edge), exponent + OFFSET, "{base}^{exponent}");
                assert_eq!(
                    state.cell_of(negated(edge)),
                    -(exponent - 1 + OFFSET).max(1),
                    "-{base}^{exponent}"
                );
            }
        }
    }

    #[test]
    fn too_many_buckets_become_wider() {
        let Value::Histogram(buckets) = of(2, &["1e-300", "1", "1e300"]).finish() else {
            panic!("a histogram");
        };
        assert!(buckets.len() <= usize::from(HISTOGRAM_BUCKETS_MAX));
        assert!(buckets.len() > usize::from(HISTOGRAM_BUCKETS_MAX) / 4);
        assert!(buckets.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert_eq!(shown(10, &["1.7976931348623157e308"]), "[1e308–1.7976931348623157e308: 1]");
    }

    #[test]
    fn order_does_not_matter_and_cells_are_checked() {
        let values = ["5", "0", "-2", "700", "0.3", "5"];
        let whole = of(10, &values);
        for cut in 0..values.len() {
            let (left, right) = values.split_at(cut);
            let mut merged = of(10, right);
            merged.merge(&of(10, left));
            assert_eq!(merged, whole, "{cut}");
        }
        assert_eq!(LogHistogram::of_cells(10, whole.cells().to_vec()), Some(whole));
        assert_eq!(LogHistogram::of_cells(1, Vec::new()), None, "no base");
        assert_eq!(LogHistogram::of_cells(10, vec![(2, 1), (1, 1)]), None, "out of order");
        assert_eq!(LogHistogram::of_cells(10, vec![(1, 0)]), None, "no weight");
        assert_eq!(LogHistogram::of_cells(10, vec![(9_999, 1)]), None, "no number");
    }
}
