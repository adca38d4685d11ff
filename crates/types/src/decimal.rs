//! Exact decimals: mantissa × 10^−scale, always in lowest terms.

use std::cmp::Ordering;
use std::fmt;

/// An exact decimal number. Equal numbers have equal fields: trailing zeros are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Decimal {
    mantissa: i128,
    scale: u8,
}

/// The largest scale a decimal can have; 10^36 fits an `i128`.
const SCALE_MAX: u8 = 36;

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { mantissa: 0, scale: 0 };

    /// Returns mantissa × 10^−scale, or `None` when more than 36 digits follow the point.
    #[must_use]
    pub fn new(mantissa: i128, scale: u8) -> Option<Self> {
        let (mut mantissa, mut scale) = (mantissa, scale);
        while scale > 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            scale = if mantissa == 0 { 0 } else { scale - 1 };
        }
        (scale <= SCALE_MAX).then_some(Self { mantissa, scale })
    }

    /// Returns digits × 10^exponent, or `None` when it does not fit.
    #[must_use]
    pub(crate) fn of_digits(digits: i128, exponent: i32) -> Option<Self> {
        let power = u8::try_from(exponent.unsigned_abs()).ok()?;
        match exponent {
            ..0 => Self::new(digits, power),
            _ => Self::new(digits.checked_mul(power_of_ten(power)?)?, 0),
        }
    }

    /// Returns the integer `value`.
    #[must_use]
    pub const fn integer(value: i64) -> Self {
        Self { mantissa: value as i128, scale: 0 }
    }

    /// The digits without the point.
    #[must_use]
    pub const fn mantissa(self) -> i128 {
        self.mantissa
    }

    /// How many digits follow the point: 0 to 36.
    #[must_use]
    pub const fn scale(self) -> u8 {
        self.scale
    }

    /// Whether no digits follow the point.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        self.scale == 0
    }

    /// The mantissa at a given scale: exact, or `None` if it does not fit or digits are lost.
    #[must_use]
    pub fn mantissa_at(self, scale: u8) -> Option<i128> {
        let up = scale.checked_sub(self.scale)?;
        self.mantissa.checked_mul(power_of_ten(up)?)
    }

    /// The nearest double.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        const EXACT: u128 = 1 << 53;
        if self.scale == 0 {
            self.mantissa as f64
        } else if self.mantissa.unsigned_abs() <= EXACT && self.scale <= 22 {
            // Both are exact doubles, so one division rounds correctly.
            self.mantissa as f64 / 10f64.powi(i32::from(self.scale))
        } else {
            format!("{}e-{}", self.mantissa, self.scale).parse().unwrap_or(f64::NAN)
        }
    }

    /// self + other, or `None` when it does not fit.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let sum = self.mantissa_at(scale)?.checked_add(other.mantissa_at(scale)?)?;
        Self::new(sum, scale)
    }

    /// self − other, or `None` when it does not fit.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.checked_add(other.checked_neg()?)
    }

    /// self × other, or `None` when it does not fit.
    #[must_use]
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        Self::new(self.mantissa.checked_mul(other.mantissa)?, self.scale + other.scale)
    }

    /// −self, or `None` when it does not fit.
    #[must_use]
    pub fn checked_neg(self) -> Option<Self> {
        Some(Self { mantissa: self.mantissa.checked_neg()?, scale: self.scale })
    }

    /// The part before the point (rounded toward zero) and the remainder, as a mantissa at the same
    /// scale.
    #[must_use]
    pub fn split(self) -> (i128, i128) {
        let unit = power_of_ten(self.scale).unwrap_or(1);
        (self.mantissa / unit, self.mantissa % unit)
    }
}

/// Returns 10^exponent, or `None` when it does not fit.
#[must_use]
pub fn power_of_ten(exponent: u8) -> Option<i128> {
    10i128.checked_pow(u32::from(exponent))
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.scale == other.scale {
            return self.mantissa.cmp(&other.mantissa);
        }
        let scale = self.scale.max(other.scale);
        if let (Some(mantissa), Some(other)) = (self.mantissa_at(scale), other.mantissa_at(scale)) {
            return mantissa.cmp(&other);
        }
        let (whole, rest) = self.split();
        let (other_whole, other_rest) = other.split();
        // A remainder is below 10^36, so it fits at any scale up to 36.
        let raise = |rest: i128, scale: u8| rest * power_of_ten(SCALE_MAX - scale).unwrap_or(1);
        whole
            .cmp(&other_whole)
            .then_with(|| raise(rest, self.scale).cmp(&raise(other_rest, other.scale)))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scale == 0 {
            return write!(formatter, "{}", self.mantissa);
        }
        let digits = self.mantissa.unsigned_abs().to_string();
        let scale = usize::from(self.scale);
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, rest) = padded.split_at(padded.len() - scale);
        let sign = if self.mantissa < 0 { "-" } else { "" };
        write!(formatter, "{sign}{whole}.{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(mantissa: i128, scale: u8) -> Decimal {
        Decimal::new(mantissa, scale).expect("in range")
    }

    #[test]
    fn equal_numbers_are_equal_values() {
        assert_eq!(decimal(1_500, 3), decimal(15, 1));
        assert_eq!(decimal(0, 9), Decimal::ZERO);
        assert_eq!(decimal(-100, 2), Decimal::integer(-1));
    }

    #[test]
    fn digits_are_shown_as_written() {
        assert_eq!(decimal(15, 1).to_string(), "1.5");
        assert_eq!(decimal(-5, 3).to_string(), "-0.005");
        assert_eq!(decimal(i128::from(i64::MIN), 18).to_string(), "-9.223372036854775808");
    }

    #[test]
    fn order_is_exact_at_every_scale() {
        assert!(decimal(1, 18) < decimal(1, 17));
        assert!(decimal(-1, 18) > decimal(-1, 17));
        assert!(decimal(i128::MAX, 0) > decimal(i128::MAX, 18));
        assert!(decimal(-5, 1) < Decimal::ZERO);
        assert_eq!(decimal(25, 1).cmp(&decimal(250, 2)), Ordering::Equal);
    }

    #[test]
    fn arithmetic_is_exact_or_refused() {
        let tenth = decimal(1, 1);
        assert_eq!(tenth.checked_add(decimal(2, 1)), Some(decimal(3, 1)));
        assert_eq!(tenth.checked_mul(tenth), Some(decimal(1, 2)));
        assert_eq!(decimal(i128::MAX, 0).checked_add(Decimal::integer(1)), None);
        assert_eq!(tenth.to_f64(), 0.1);
    }
}
