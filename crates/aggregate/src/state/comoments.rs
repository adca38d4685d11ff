//! Variances, covariances and correlations, from exact sums of powers and products.
//!
//! A row of weight w stands for w events: weights are frequencies. The estimators are those of
//! PostgreSQL over the repeated rows; with W events, samples divide by W − 1.

use hadal_types::{Number, Weight};
use num_bigint::BigInt;

use crate::state::exact_sum::{ExactSum, Factor};
use crate::state::quotient::{quotient, square_root};
use crate::state::weighted_count::WeightedCount;

const MILLION: i128 = 1_000_000;

/// n, Σw, Σwx and Σwx² of the rows where x is not null; of pairs also Σwy, Σwy² and Σwxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comoments {
    count: WeightedCount,
    /// Σwx and Σwx²; of pairs also Σwy, Σwy² and Σwxy.
    sums: Vec<ExactSum>,
}

/// The parts of comoments, for encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComomentsParts {
    /// The rows.
    pub count: WeightedCount,
    /// For each sum that of decimals, in units of 10^-42, and that of products with doubles, in
    /// units of 2^-2148 · 10^-42: integers in two's complement, little-endian, as short as can be.
    pub sums: Vec<[Vec<u8>; 2]>,
}

/// How many sums there are of single values and of pairs.
const OF_ONE: usize = 2;
const OF_PAIRS: usize = 5;

/// Sums of the same unit, and products of their deviations.
struct Deviations {
    /// Σw in millionths.
    weight: BigInt,
    /// The unit of all sums.
    unit: BigInt,
    x: BigInt,
    y: BigInt,
    /// (W Σwx² − (Σwx)²), times 10^12 · unit².
    xx: BigInt,
    yy: BigInt,
    xy: BigInt,
}

impl Comoments {
    /// A state without values, of single values.
    #[must_use]
    pub fn of_one() -> Self {
        Self { count: WeightedCount::default(), sums: vec![ExactSum::default(); OF_ONE] }
    }

    /// A state without values, of pairs.
    #[must_use]
    pub fn of_pairs() -> Self {
        Self { count: WeightedCount::default(), sums: vec![ExactSum::default(); OF_PAIRS] }
    }

    /// Whether the state is of pairs.
    #[must_use]
    pub const fn is_of_pairs(&self) -> bool {
        self.sums.len() == OF_PAIRS
    }

    /// Adds one value.
    pub fn add(&mut self, x: Number, weight: Weight) {
        self.count.add_row(weight);
        let x = Factor::of(x);
        if let [sum, squares, ..] = self.sums.as_mut_slice() {
            sum.add(x, Factor::ONE, weight);
            squares.add(x, x, weight);
        }
    }

    /// Adds stored decimals of this scale, at most 18, to a state of single values. The sums are Σ
    /// mantissa · weight and Σ mantissa² · weight, in millionths.
    pub fn add_decimals(&mut self, count: WeightedCount, sums: (i128, i128), scale: u8) {
        self.count.merge(count);
        if let [sum, squares, ..] = self.sums.as_mut_slice() {
            sum.add_decimals(sums.0, [scale, 0]);
            squares.add_decimals(sums.1, [scale; 2]);
        }
    }

    /// Adds one pair.
    pub fn add_pair(&mut self, x: Number, y: Number, weight: Weight) {
        self.add(x, weight);
        let (x, y) = (Factor::of(x), Factor::of(y));
        if let [_, _, sum, squares, products] = self.sums.as_mut_slice() {
            sum.add(y, Factor::ONE, weight);
            squares.add(y, y, weight);
            products.add(x, y, weight);
        }
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.count.merge(other.count);
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            sum.merge(other);
        }
    }

    /// The variance of x; of a sample, divided by W − 1 instead of W. `None` if that is not above
    /// zero, and beyond the range of doubles.
    #[must_use]
    pub(crate) fn variance(&self, of_sample: bool) -> Option<Number> {
        let all = self.deviations();
        number(quotient(&all.xx, &all.divisor(of_sample)?))
    }

    /// The square root of the variance.
    #[must_use]
    pub(crate) fn deviation(&self, of_sample: bool) -> Option<Number> {
        let all = self.deviations();
        number(square_root(&all.xx, &all.divisor(of_sample)?))
    }

    /// The covariance of x and y.
    #[must_use]
    pub(crate) fn covariance(&self, of_sample: bool) -> Option<Number> {
        let all = self.deviations();
        number(quotient(&all.xy, &all.divisor(of_sample)?))
    }

    /// The correlation coefficient of x and y. `None` if one of them does not vary.
    #[must_use]
    pub(crate) fn correlation(&self) -> Option<Number> {
        let all = self.deviations();
        let size = square_root(&(&all.xy * &all.xy), &(&all.xx * &all.yy))?;
        number(Some(if all.xy < BigInt::ZERO { -size } else { size }))
    }

    /// The slope of the least squares line of x over y. `None` if y does not vary.
    #[must_use]
    pub(crate) fn slope(&self) -> Option<Number> {
        let all = self.deviations();
        number(quotient(&all.xy, &all.yy))
    }

    /// The value of that line where y is zero.
    #[must_use]
    pub(crate) fn intercept(&self) -> Option<Number> {
        let all = self.deviations();
        let dividend = (&all.x * &all.yy - &all.xy * &all.y) * MILLION;
        number(quotient(&dividend, &(&all.unit * &all.weight * &all.yy)))
    }

    /// The rows.
    pub(crate) const fn count(&self) -> WeightedCount {
        self.count
    }

    /// Σwx and Σwx², and of pairs Σwy, Σwy² and Σwxy; otherwise these are 0. Rounded to doubles;
    /// `None` beyond their range.
    pub(crate) fn sums(&self) -> Option<[f64; OF_PAIRS]> {
        let mut sums = [0.0; OF_PAIRS];
        for (rounded, sum) in sums.iter_mut().zip(&self.sums) {
            *rounded = sum.to_f64()?;
        }
        Some(sums)
    }

    fn deviations(&self) -> Deviations {
        let is_decimal = self.sums.iter().all(ExactSum::is_decimal);
        let sum = |index: usize| {
            self.sums.get(index).map_or(BigInt::ZERO, |sum| sum.to_integer(is_decimal))
        };
        let (unit, weight) = (ExactSum::unit(is_decimal), BigInt::from(self.count.weight()));
        let (x, y) = (sum(0), sum(2));
        let product = |products: BigInt, left: &BigInt, right: &BigInt| {
            (&weight * MILLION) * products * &unit - left * right * (MILLION * MILLION)
        };
        let (xx, yy) = (product(sum(1), &x, &x), product(sum(3), &y, &y));
        let xy = product(sum(4), &x, &y);
        Deviations { weight, unit, x, y, xx, yy, xy }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let sums: usize = self.sums.iter().map(ExactSum::heap_bytes).sum();
        size_of::<Self>() + self.sums.capacity() * size_of::<ExactSum>() + sums
    }

    /// The parts of the state; equal states have equal parts.
    #[must_use]
    pub fn to_parts(&self) -> ComomentsParts {
        let sums = self.sums.iter().map(ExactSum::to_bytes).collect();
        ComomentsParts { count: self.count, sums }
    }

    /// The state of these parts, or `None` if they are out of range.
    #[must_use]
    pub fn from_parts(parts: &ComomentsParts) -> Option<Self> {
        let sums = parts.sums.iter().map(|[decimals, doubles]| {
            ExactSum::of_bytes([decimals.as_slice(), doubles.as_slice()])
        });
        let sums: Vec<ExactSum> = sums.collect::<Option<_>>()?;
        let fits = sums.len() == OF_ONE || sums.len() == OF_PAIRS;
        fits.then_some(Self { count: parts.count, sums })
    }
}

impl Deviations {
    /// W² or W (W − 1), times 10^12 · unit². `None` if that is not above zero.
    fn divisor(&self, of_sample: bool) -> Option<BigInt> {
        let other = if of_sample { &self.weight - MILLION } else { self.weight.clone() };
        let divisor = &self.weight * other * &self.unit * &self.unit;
        (divisor > BigInt::ZERO).then_some(divisor)
    }
}

fn number(double: Option<f64>) -> Option<Number> {
    double.and_then(Number::from_f64)
}

#[cfg(test)]
mod tests;
