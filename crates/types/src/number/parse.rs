//! Parses the text of a number, whether or not one of the forms can hold that number.

use crate::decimal::{Decimal, power_of_ten};

/// mantissa × 10^exponent, with no trailing zeros in the mantissa. For zero both are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParsedNumber {
    /// `None`: more digits than 128 bits hold.
    mantissa: Option<i128>,
    exponent: i64,
}

impl ParsedNumber {
    /// Reads digits with an optional sign, point and exponent; `None` for any other text.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (digits, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], exponent_of(&text[at + 1..])?),
            None => (text, 0),
        };
        let spelled = Self::of_digits(digits)?;
        Some(match spelled.mantissa {
            Some(0) => spelled,
            _ => Self { exponent: spelled.exponent.saturating_add(exponent), ..spelled },
        })
    }

    fn of_digits(text: &str) -> Option<Self> {
        let negative = text.starts_with('-');
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let mut mantissa = Some(0i128);
        // Zeros that count only if another digit follows, and digits after the point.
        let (mut zeros, mut fraction) = (0i64, 0i64);
        let (mut has_digit, mut has_point) = (false, false);
        for byte in digits.bytes() {
            match byte {
                b'0'..=b'9' => {
                    has_digit = true;
                    fraction += i64::from(has_point);
                    zeros += 1;
                    if byte != b'0' {
                        let digit = i128::from(byte - b'0');
                        let digit = if negative { -digit } else { digit };
                        mantissa = mantissa.and_then(|mantissa| appended(mantissa, zeros, digit));
                        zeros = 0;
                    }
                }
                b'.' if !has_point => has_point = true,
                _ => return None,
            }
        }
        let exponent = if mantissa == Some(0) { 0 } else { zeros - fraction };
        has_digit.then_some(Self { mantissa, exponent })
    }

    /// The number as a decimal, or `None` if no decimal holds it.
    pub(super) fn to_decimal(self) -> Option<Decimal> {
        Decimal::of_digits(self.mantissa?, self.exponent.try_into().ok()?)
    }

    /// Whether the number is digits × 10^exponent, where digits have no trailing zeros.
    pub(super) fn is(self, (digits, exponent): (i128, i32)) -> bool {
        self.mantissa == Some(digits) && self.exponent == i64::from(exponent)
    }
}

/// mantissa × 10^places + digit.
fn appended(mantissa: i128, places: i64, digit: i128) -> Option<i128> {
    const SMALL: u128 = 10u128.pow(37);
    if mantissa == 0 {
        return Some(digit);
    }
    if places == 1 && mantissa.unsigned_abs() < SMALL {
        return Some(mantissa * 10 + digit);
    }
    let unit = power_of_ten(u8::try_from(places).ok()?)?;
    mantissa.checked_mul(unit)?.checked_add(digit)
}

/// An exponent, saturated to 64 bits: beyond that, larger ones make no difference.
fn exponent_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let spelled = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let beyond = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    spelled.then(|| text.parse().unwrap_or(beyond))
}
