//! Weights: how many original events one stored row stands for.
//!
//! A row's `sample_rate` r means "one of r was kept" (Scuba, VLDB 2013, section 1), so the row
//! weighs r. Weights are fixed-point decimals, so that sums of them are exact and order-free.

use crate::number::Number;

/// A weight in millionths: between 0.000001 and 1,000,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(i64);

/// Why a sample rate was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sample_rate {0} is outside 0.000001 to 1000000000")]
pub struct WeightError(pub String);

impl Weight {
    /// The column that holds a row's sample rate.
    pub const COLUMN: &'static str = "sample_rate";
    /// The weight of a row without a sample rate.
    pub const ONE: Self = Self(Self::UNIT);
    /// Millionths in one.
    pub const UNIT: i64 = 1_000_000;
    /// Digits after the point.
    pub const SCALE: u8 = 6;
    /// The largest weight, in millionths.
    pub const MILLIONTHS_MAX: i64 = 1_000_000_000 * Self::UNIT;

    /// Returns the weight of a row with this sample rate, rounded to millionths.
    ///
    /// # Errors
    /// [`WeightError`] when the rate is zero, negative, or outside the range.
    pub fn from_rate(rate: Number) -> Result<Self, WeightError> {
        let millionths = rate.to_scaled(Self::SCALE).unwrap_or(i128::MAX);
        i64::try_from(millionths)
            .ok()
            .and_then(Self::from_millionths)
            .ok_or_else(|| WeightError(rate.to_string()))
    }

    /// Returns the weight of a row with the sample rate mantissa × 10^−scale; one outside the
    /// range. The scale is at most [`Self::SCALE`].
    #[must_use]
    pub fn from_mantissa(mantissa: i64, scale: u8) -> Self {
        let factor = 10i64.checked_pow(u32::from(Self::SCALE.saturating_sub(scale)));
        let millionths = factor.and_then(|factor| mantissa.checked_mul(factor));
        millionths.and_then(Self::from_millionths).unwrap_or(Self::ONE)
    }

    /// Returns the weight, or `None` outside the range.
    #[must_use]
    pub fn from_millionths(millionths: i64) -> Option<Self> {
        (1..=Self::MILLIONTHS_MAX).contains(&millionths).then_some(Self(millionths))
    }

    /// The weight in millionths.
    #[must_use]
    pub fn millionths(self) -> i64 {
        self.0
    }

    /// w(w − 1), rounded to millionths: what a row that was kept with probability 1/w adds to the
    /// estimated variance of a weighted count (Horvitz and Thompson, "A Generalization of Sampling
    /// Without Replacement From a Finite Universe", JASA 1952, with independent rows). `None` if
    /// it is not above zero. At most [`Self::MILLIONTHS_MAX`], so it is too small for weights above
    /// 31,623.
    #[must_use]
    pub fn sampling_variance(self) -> Option<Self> {
        let (unit, weight) = (i128::from(Self::UNIT), i128::from(self.0));
        let variance = i64::try_from(weight * (weight - unit) / unit).unwrap_or(i64::MAX);
        Self::from_millionths(variance.min(Self::MILLIONTHS_MAX))
    }

    /// √(w(w − 1)), rounded down to millionths. Its square times that of a key's sum is what a key
    /// adds to the estimated variance of a sum, if all rows of a key are kept with probability 1/w,
    /// or none. `None` if it is not above zero.
    #[must_use]
    pub fn sampling_deviation(self) -> Option<Self> {
        let (unit, weight) = (i128::from(Self::UNIT), i128::from(self.0));
        let squared = weight * (weight - unit);
        i64::try_from(squared.max(0).isqrt()).ok().and_then(Self::from_millionths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weigh(text: &str) -> Result<Weight, WeightError> {
        Weight::from_rate(text.parse::<Number>().expect("a number"))
    }

    #[test]
    fn a_kept_row_adds_to_the_variance_what_its_weight_exceeds_one() {
        let variance = |rate: &str| weigh(rate).ok().and_then(Weight::sampling_variance);
        assert_eq!(variance("100"), weigh("9900").ok());
        assert_eq!(variance("1.5"), weigh("0.75").ok());
        assert_eq!(variance("31622"), weigh("999919262").ok());
        assert_eq!(variance("31624").map(Weight::millionths), Some(Weight::MILLIONTHS_MAX));
        assert_eq!(variance("1"), None);
        assert_eq!(variance("0.5"), None);
    }

    #[test]
    fn a_deviation_is_the_square_root_of_a_variance() {
        let deviation = |rate: &str| weigh(rate).ok().and_then(Weight::sampling_deviation);
        assert_eq!(deviation("2").map(Weight::millionths), Some(1_414_213));
        assert_eq!(deviation("1.25"), weigh("0.559016").ok());
        let most = deviation("1000000000").map(Weight::millionths);
        assert_eq!(most, Some(Weight::MILLIONTHS_MAX - Weight::UNIT / 2 - 1));
        assert_eq!(deviation("1"), None);
        assert_eq!(deviation("0.5"), None);
    }

    #[test]
    fn a_rate_is_a_positive_bounded_decimal() {
        assert_eq!(weigh("1"), Ok(Weight::ONE));
        assert_eq!(weigh("100").map(Weight::millionths), Ok(100_000_000));
        assert_eq!(weigh("33.333333333333").map(Weight::millionths), Ok(33_333_333));
        assert_eq!(weigh("1000000000").map(Weight::millionths), Ok(Weight::MILLIONTHS_MAX));
        for bad in ["0", "-1", "0.0000001", "1000000001", "1e18", "1e300"] {
            assert!(weigh(bad).is_err(), "{bad}");
        }
    }
}
