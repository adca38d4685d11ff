//! Numbers: exact decimals, and doubles where no decimal can hold the value.
//!
//! Equal numbers are equal values, however they were made. Every number is made here, in one
//! canonical form: the first of these forms that is exactly the number:
//!
//! 1. a decimal that a row block column can store: 64 bits, 0 to 18 digits after the point;
//! 2. a double whose shortest digits are the number;
//! 3. any other decimal: 128 bits, up to 36 digits after the point.
//!
//! A number without such a form is rounded: to the shortest digits of the nearest double. The
//! meaning of a number (its order, text and arithmetic) never depends on its form.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::decimal::{Decimal, power_of_ten};
use crate::limits::DECIMAL_SCALE_MAX;

mod parse;

use parse::ParsedNumber;

/// A number in canonical form. `from` makes it of a [`Decimal`], [`Number::from_f64`] of a double,
/// `parse` of a text.
#[derive(Clone, Copy)]
pub struct Number(NumberRepr);

/// The form of a [`Number`].
#[derive(Clone, Copy, Debug)]
pub enum NumberRepr {
    /// An exact decimal.
    Decimal(Decimal),
    /// A finite double. It stands for the number that its shortest digits spell. These digits do
    /// not fit an `i64` mantissa of scale 0 to 18.
    Double(f64),
}

/// Why a text is not a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// The text does not have a number's syntax.
    #[error("{0:?} is not a number")]
    Spelling(String),
    /// The number is beyond the range of a double.
    #[error("number {0} is beyond ±1.7976931348623157e308")]
    Range(String),
}

impl Number {
    /// Zero.
    pub const ZERO: Self = Self(NumberRepr::Decimal(Decimal::ZERO));

    /// Returns the integer `value`.
    #[must_use]
    pub const fn integer(value: i64) -> Self {
        Self(NumberRepr::Decimal(Decimal::integer(value)))
    }

    /// Returns the number that the double's shortest digits spell, or `None` for NaN and the
    /// infinities.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.trunc() == value && value.abs() < EXACT {
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
            return Some(Self::integer(value as i64));
        }
        let decimal = decimal_of(value).filter(|decimal| stored(*decimal).is_some());
        Some(Self(decimal.map_or(NumberRepr::Double(value), NumberRepr::Decimal)))
    }

    /// Reads a number in the syntax of JSON and SQL, `-12.50e-3`. Also returns whether it was
    /// rounded because it has more digits than are kept.
    ///
    /// # Errors
    /// [`NumberError`].
    pub fn read(text: &str) -> Result<(Self, bool), NumberError> {
        let spelling = || NumberError::Spelling(text.to_owned());
        let spelled = ParsedNumber::of(text).ok_or_else(spelling)?;
        if let Some(decimal) = spelled.to_decimal() {
            return Ok((decimal.into(), false));
        }
        let double: f64 = text.parse().map_err(|_| spelling())?;
        let number = Self::from_f64(double).ok_or_else(|| NumberError::Range(text.to_owned()))?;
        Ok((number, !spelled.is(number.digits())))
    }

    /// The form of the number.
    #[must_use]
    pub const fn form(self) -> NumberRepr {
        self.0
    }

    /// The nearest double.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self.0 {
            NumberRepr::Decimal(decimal) => decimal.to_f64(),
            NumberRepr::Double(double) => double,
        }
    }

    /// The number as a decimal, or `None` if no decimal holds it.
    #[must_use]
    pub fn to_decimal(self) -> Option<Decimal> {
        match self.0 {
            NumberRepr::Decimal(decimal) => Some(decimal),
            NumberRepr::Double(double) => decimal_of(double),
        }
    }

    /// The number as digits × 10^exponent.
    #[must_use]
    pub fn digits(self) -> (i128, i32) {
        match self.0 {
            NumberRepr::Decimal(decimal) => (decimal.mantissa(), -i32::from(decimal.scale())),
            NumberRepr::Double(double) => shortest_digits(double),
        }
    }

    /// The number × 10^scale rounded half away from zero, or `None` when it does not fit.
    #[must_use]
    pub fn to_scaled(self, scale: u8) -> Option<i128> {
        let (digits, exponent) = self.digits();
        let shift = exponent.saturating_add(i32::from(scale));
        let unit = u8::try_from(shift.unsigned_abs()).ok().and_then(power_of_ten);
        if shift >= 0 {
            return digits.checked_mul(unit?);
        }
        // No digits reach half of 10^39.
        let Some(unit) = unit else { return Some(0) };
        let (whole, rest) = (digits / unit, digits % unit);
        Some(whole + if rest.abs() >= unit / 2 { rest.signum() } else { 0 })
    }

    /// Whether the number has no digits after the point.
    #[must_use]
    pub fn is_integer(self) -> bool {
        match self.0 {
            NumberRepr::Decimal(decimal) => decimal.is_integer(),
            NumberRepr::Double(double) => double.trunc() == double,
        }
    }

    /// The number as an integer, or `None` if it is none or does not fit.
    #[must_use]
    pub fn to_i64(self) -> Option<i64> {
        match self.0 {
            NumberRepr::Decimal(decimal) if decimal.is_integer() => {
                decimal.mantissa().try_into().ok()
            }
            _ => None,
        }
    }

    /// The mantissa and scale with which a row block column stores the number, if it can.
    #[must_use]
    pub fn to_stored(self) -> Option<(i64, u8)> {
        match self.0 {
            NumberRepr::Decimal(decimal) => stored(decimal),
            NumberRepr::Double(_) => None,
        }
    }
}

impl From<Decimal> for Number {
    fn from(decimal: Decimal) -> Self {
        if stored(decimal).is_none() && has_digits_of_double(decimal) {
            let double = decimal.to_f64();
            if decimal_of(double) == Some(decimal) {
                return Self(NumberRepr::Double(double));
            }
        }
        Self(NumberRepr::Decimal(decimal))
    }
}

impl FromStr for Number {
    type Err = NumberError;

    /// Reads a number in the syntax of JSON and SQL: `-12.50e-3`.
    fn from_str(text: &str) -> Result<Self, NumberError> {
        Self::read(text).map(|(number, _)| number)
    }
}

/// The mantissa and scale, if a row block column can store them.
fn stored(decimal: Decimal) -> Option<(i64, u8)> {
    let mantissa = decimal.mantissa().try_into().ok()?;
    (decimal.scale() <= DECIMAL_SCALE_MAX).then_some((mantissa, decimal.scale()))
}

/// Whether the digits are few enough to be the shortest digits of a double.
fn has_digits_of_double(decimal: Decimal) -> bool {
    const DIGITS_MAX: u32 = 17;
    let size = decimal.mantissa().unsigned_abs();
    let zeros = size.checked_ilog10().map_or(0, |log| (log + 1).saturating_sub(DIGITS_MAX));
    // A multiple of 10^n is a multiple of 2^n, and that is cheaper to test.
    size.trailing_zeros() >= zeros && size.is_multiple_of(10u128.pow(zeros))
}

/// The decimal that a finite double's shortest digits spell, or `None` if no decimal holds it.
fn decimal_of(double: f64) -> Option<Decimal> {
    let (digits, exponent) = shortest_digits(double);
    Decimal::of_digits(digits, exponent)
}

/// A finite double's shortest digits without trailing zeros, and the power of ten of the last
/// digit.
fn shortest_digits(double: f64) -> (i128, i32) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(double);
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    let (size, places) = digits.bytes().fold((0u128, None), |(size, places), byte| match byte {
        b'.' => (size, Some(0)),
        b'0'..=b'9' => (size * 10 + u128::from(byte - b'0'), places.map(|places: i32| places + 1)),
        _ => (size, places),
    });
    let mut exponent = exponent - places.unwrap_or(0);
    // Up to 17 digits, and zeros up to the point or after it.
    let mut size = i128::try_from(size).unwrap_or(0);
    if size == 0 {
        return (0, 0);
    }
    while size % 10 == 0 {
        (size, exponent) = (size / 10, exponent + 1);
    }
    (if double < 0.0 { -size } else { size }, exponent)
}

impl fmt::Debug for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    /// By value.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (NumberRepr::Decimal(left), NumberRepr::Decimal(right)) => left.cmp(&right),
            (NumberRepr::Double(left), NumberRepr::Double(right)) => left.total_cmp(&right),
            (NumberRepr::Decimal(left), NumberRepr::Double(right)) => {
                left.to_f64().total_cmp(&right).then_with(|| to_own_double(left, right))
            }
            (NumberRepr::Double(_), NumberRepr::Decimal(_)) => other.cmp(self).reverse(),
        }
    }
}

/// The order of a decimal and the number that its nearest double stands for.
fn to_own_double(decimal: Decimal, double: f64) -> Ordering {
    // The nearest double has no more shortest digits than the decimal. The doubles nearest to 2^127
    // have shortest digits below 2^127. So a decimal holds them.
    decimal_of(double).map_or(Ordering::Equal, |meant| decimal.cmp(&meant))
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            NumberRepr::Decimal(decimal) => decimal.hash(state),
            NumberRepr::Double(double) => double.to_bits().hash(state),
        }
    }
}

impl fmt::Display for Number {
    /// All digits. A double that is not an integer below 2^127 gets its shortest digits and an
    /// exponent.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            NumberRepr::Decimal(decimal) => decimal.fmt(formatter),
            NumberRepr::Double(double) => {
                match decimal_of(double).filter(|whole| whole.is_integer()) {
                    Some(whole) => whole.fmt(formatter),
                    None => write!(formatter, "{double:e}"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
