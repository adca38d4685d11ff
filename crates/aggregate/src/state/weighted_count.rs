//! Counts of rows, their weights, and the squares of the weights.

use hadal_types::{Decimal, Number, Weight};

/// n, Σw and Σw² of some rows. Σw estimates the number of events before sampling
/// (Horvitz–Thompson); Σw² gives the variance of that estimate.
///
/// All three only grow, and additions saturate. Real rows reach a limit only in Σw², beyond 10^8
/// rows of the largest weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WeightedCount {
    rows: u64,
    weight: i128,
    weight_squares: i128,
}

impl WeightedCount {
    /// A count of `rows` rows with these sums. `None` if a sum is negative, or if there are weights
    /// without rows.
    ///
    /// `weight` is in millionths, `weight_squares` in 10^-12.
    #[must_use]
    pub fn from_parts(rows: u64, weight: i128, weight_squares: i128) -> Option<Self> {
        let fits = weight >= 0 && weight_squares >= 0;
        let hollow = rows == 0 && (weight != 0 || weight_squares != 0);
        (fits && !hollow).then_some(Self { rows, weight, weight_squares })
    }

    /// Adds one row.
    pub fn add_row(&mut self, weight: Weight) {
        let weight = i128::from(weight.millionths());
        self.add(1, weight, weight * weight);
    }

    /// Adds `rows` rows of weight one.
    pub fn add_rows(&mut self, rows: u64) {
        let unit = i128::from(Weight::UNIT);
        self.add(rows, i128::from(rows) * unit, i128::from(rows) * unit * unit);
    }

    /// Adds `rows` rows. Their weights sum up to `weight` millionths, and the squares of these to
    /// `squares` × 10^-12. Neither may be negative.
    pub fn add(&mut self, rows: u64, weight: i128, squares: i128) {
        debug_assert!(weight >= 0, "a sum of weights is {weight}");
        debug_assert!(squares >= 0, "a sum of squares is {squares}");
        self.rows = self.rows.saturating_add(rows);
        self.weight = self.weight.saturating_add(weight);
        self.weight_squares = self.weight_squares.saturating_add(squares);
    }

    /// Adds the rows of `other`.
    pub fn merge(&mut self, other: Self) {
        self.add(other.rows, other.weight, other.weight_squares);
    }

    /// The number of rows, without weights.
    #[must_use]
    pub const fn rows(self) -> u64 {
        self.rows
    }

    /// Σw, in millionths.
    #[must_use]
    pub const fn weight(self) -> i128 {
        self.weight
    }

    /// Σw², in 10^-12.
    #[must_use]
    pub const fn weight_squares(self) -> i128 {
        self.weight_squares
    }

    /// Σw: the number of rows, each counted with its weight.
    #[must_use]
    pub fn count(self) -> Number {
        number_of_weight(self.weight)
    }
}

/// The number that is `millionths` × 10^-6.
pub(crate) fn number_of_weight(millionths: i128) -> Number {
    Decimal::new(millionths, Weight::SCALE).map_or(Number::ZERO, Number::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_weigh_what_they_stand_for() {
        let mut count = WeightedCount::default();
        count.add_row(Weight::from_millionths(2_500_000).expect("in range"));
        count.add_rows(3);
        assert_eq!(count.rows(), 4);
        assert_eq!(count.count(), "5.5".parse().expect("a number"));
        assert_eq!(count.weight_squares(), 9_250_000_000_000);
    }

    #[test]
    fn parts_from_outside_are_checked() {
        assert!(WeightedCount::from_parts(1, 1, 1).is_some());
        assert_eq!(WeightedCount::from_parts(0, 0, 0), Some(WeightedCount::default()));
        assert_eq!(WeightedCount::from_parts(1, -1, 1), None);
        assert_eq!(WeightedCount::from_parts(1, 1, -1), None);
        assert_eq!(WeightedCount::from_parts(0, 1, 1), None);
    }

    #[test]
    fn the_largest_tallies_do_not_wrap() {
        let mut count = WeightedCount::from_parts(u64::MAX, i128::MAX, i128::MAX).expect("valid");
        count.merge(count);
        assert_eq!(count.rows(), u64::MAX);
        assert_eq!(count.weight(), i128::MAX);
    }
}
