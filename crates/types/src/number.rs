//! Numbers: exact decimals, and doubles where no stored decimal can hold the value.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::decimal::Decimal;
use crate::limits::DECIMAL_SCALE_MAX;

/// A number in canonical form: a decimal wherever one can hold it, else a finite double.
///
/// So the same number is the same value, whichever way it came, and groups with itself.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An exact decimal.
    Decimal(Decimal),
    /// A finite double whose shortest digits do not fit an `i64` mantissa of scale 0 to 18.
    Double(f64),
}

/// Why a text is not a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// The text is not spelled like a number.
    #[error("{0:?} is not a number")]
    Spelling(String),
    /// The number is beyond the range of a double.
    #[error("number {0} is beyond ±1.7976931348623157e308")]
    Range(String),
}

impl Number {
    /// Zero.
    pub const ZERO: Self = Self::Decimal(Decimal::ZERO);

    /// Returns the integer `value`.
    #[must_use]
    pub const fn integer(value: i64) -> Self {
        Self::Decimal(Decimal::integer(value))
    }

    /// Returns the number nearest to what the double's shortest digits say, or `None` for NaN
    /// and the infinities.
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
        let shortest = format!("{value:e}");
        Some(parse_stored(&shortest).map_or(Self::Double(value), Self::Decimal))
    }

    /// The nearest double.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Decimal(decimal) => decimal.to_f64(),
            Self::Double(double) => double,
        }
    }

    /// The number × 10^scale rounded half away from zero, or `None` when it does not fit.
    #[must_use]
    pub fn to_scaled(self, scale: u8) -> Option<i128> {
        match self {
            Self::Decimal(decimal) => scale_decimal(decimal, scale),
            Self::Double(double) => {
                let scaled = (double * 10f64.powi(i32::from(scale))).round();
                #[expect(clippy::cast_possible_truncation, reason = "range checked")]
                (scaled.abs() < 1e38).then_some(scaled as i128)
            }
        }
    }

    /// The integer, when the number is one that fits.
    #[must_use]
    pub fn to_i64(self) -> Option<i64> {
        match self {
            Self::Decimal(decimal) if decimal.is_integer() => decimal.mantissa().try_into().ok(),
            _ => None,
        }
    }

    /// The mantissa and scale under which a row block column stores the number, if it can.
    #[must_use]
    pub fn to_stored(self) -> Option<(i64, u8)> {
        match self {
            Self::Decimal(decimal) if decimal.scale() <= DECIMAL_SCALE_MAX => {
                decimal.mantissa().try_into().ok().map(|mantissa| (mantissa, decimal.scale()))
            }
            _ => None,
        }
    }
}

impl From<Decimal> for Number {
    fn from(decimal: Decimal) -> Self {
        Self::Decimal(decimal)
    }
}

impl FromStr for Number {
    type Err = NumberError;

    /// Reads a number as JSON and SQL spell it: `-12.50e-3`.
    fn from_str(text: &str) -> Result<Self, NumberError> {
        if let Some(decimal) = parse_stored(text) {
            return Ok(Self::Decimal(decimal));
        }
        let spelled = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
        let double: f64 = match text.parse() {
            Ok(double) if spelled => double,
            _ => return Err(NumberError::Spelling(text.to_owned())),
        };
        Self::from_f64(double).ok_or_else(|| NumberError::Range(text.to_owned()))
    }
}

/// Reads digits with an optional point and exponent, when the value fits an `i64` mantissa with
/// a scale of 0 to 18.
fn parse_stored(text: &str) -> Option<Decimal> {
    let (digits, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || (fraction.is_empty() && digits.contains('.')) {
        return None;
    }
    let mut mantissa: i128 = 0;
    for byte in whole.bytes().chain(fraction.bytes()) {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit <= 9)?;
        mantissa = mantissa.checked_mul(10)?.checked_add(i128::from(digit))?;
    }
    let mut scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    if mantissa == 0 {
        return Some(Decimal::ZERO);
    }
    while scale < 0 {
        mantissa = mantissa.checked_mul(10)?;
        scale += 1;
    }
    while scale > 0 && mantissa % 10 == 0 {
        mantissa /= 10;
        scale -= 1;
    }
    let scale = u8::try_from(scale).ok().filter(|&scale| scale <= DECIMAL_SCALE_MAX)?;
    let mantissa = i64::try_from(if negative { -mantissa } else { mantissa }).ok()?;
    Decimal::new(i128::from(mantissa), scale)
}

fn scale_decimal(decimal: Decimal, scale: u8) -> Option<i128> {
    if let Some(mantissa) = decimal.mantissa_at(scale) {
        return Some(mantissa);
    }
    let down = crate::decimal::power_of_ten(decimal.scale().checked_sub(scale)?)?;
    let half = (down / 2) * decimal.mantissa().signum();
    Some(decimal.mantissa().checked_add(half)? / down)
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
    /// By value. A decimal and a double never hold the same number; where they round to the same
    /// double, the decimal comes first, which keeps the order total.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Decimal(left), Self::Decimal(right)) => left.cmp(right),
            (Self::Double(left), Self::Double(right)) => left.total_cmp(right),
            (Self::Decimal(left), Self::Double(right)) => {
                left.to_f64().total_cmp(right).then(Ordering::Less)
            }
            (Self::Double(_), Self::Decimal(_)) => other.cmp(self).reverse(),
        }
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Decimal(decimal) => decimal.hash(state),
            Self::Double(double) => double.to_bits().hash(state),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decimal(decimal) => decimal.fmt(formatter),
            Self::Double(double) => write!(formatter, "{double:e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number {
        text.parse().expect(text)
    }

    #[test]
    fn spellings_of_one_number_are_one_value() {
        assert_eq!(number("1.50"), number("15e-1"));
        assert_eq!(number("1e3"), Number::integer(1_000));
        assert_eq!(Number::from_f64(0.1), Some(number("0.1")));
        assert_eq!(Number::from_f64(-0.0), Some(Number::ZERO));
        assert_eq!(number("0e999999"), Number::ZERO);
        assert_eq!(number("9223372036854775807").to_i64(), Some(i64::MAX));
        assert_eq!(number("-9223372036854775808").to_i64(), Some(i64::MIN));
    }

    #[test]
    fn what_no_decimal_holds_is_a_double() {
        assert!(matches!(number("18446744073709551615"), Number::Double(_)));
        assert!(matches!(number("1e300"), Number::Double(_)));
        assert!(matches!(number("1e-30"), Number::Double(_)));
        assert_eq!(number("1e300").to_string(), "1e300");
    }

    #[test]
    fn what_is_no_number_says_so() {
        assert!(matches!("1e400".parse::<Number>(), Err(NumberError::Range(_))));
        for bad in ["", "-", "nan", "inf", "1x", "0x10", "1e", "--1"] {
            assert!(matches!(bad.parse::<Number>(), Err(NumberError::Spelling(_))), "{bad}");
        }
        assert_eq!(Number::from_f64(f64::NAN), None);
    }

    proptest! {
        #[test]
        fn doubles_survive(bits in any::<u64>()) {
            let double = f64::from_bits(bits);
            prop_assume!(double.is_finite());
            let number = Number::from_f64(double).expect("finite");
            prop_assert_eq!(number.to_f64(), double);
            prop_assert_eq!(number.to_string().parse::<Number>().expect("shown"), number);
        }

        #[test]
        fn order_agrees_with_doubles(left in any::<f64>(), right in any::<f64>()) {
            prop_assume!(left.is_finite() && right.is_finite());
            let (a, b) = (Number::from_f64(left).expect("finite"), Number::from_f64(right).expect("finite"));
            prop_assert_eq!(a.cmp(&b), left.partial_cmp(&right).expect("finite"));
        }
    }
}
