//! The double nearest to a quotient of exact numbers.

use hadal_types::Number;

/// Digits after the point that are computed; they decide how a double is rounded.
const DIGITS: usize = 40;

/// The number nearest to total / (weight × 10^-6). `None` if the weight is not positive or the
/// quotient is beyond the range of doubles.
pub(crate) fn average(total: Number, weight: i128) -> Option<Number> {
    if weight <= 0 {
        return None;
    }
    let quotient = total
        .to_decimal()
        .and_then(|decimal| divide(decimal.mantissa(), weight, 6 - i32::from(decimal.scale())));
    Number::from_f64(quotient.unwrap_or_else(|| total.to_f64() / (weight as f64 / 1e6)))
}

/// The double nearest to mantissa / divisor × 10^exponent, by long division. `None` if the divisor
/// is too large for that.
fn divide(mantissa: i128, divisor: i128, exponent: i32) -> Option<f64> {
    let divisor = divisor.unsigned_abs();
    divisor.checked_mul(10)?;
    let mut text = String::from(if mantissa < 0 { "-" } else { "" });
    let mut rest = mantissa.unsigned_abs();
    text.push_str(&(rest / divisor).to_string());
    text.push('.');
    rest %= divisor;
    for _ in 0..DIGITS {
        rest *= 10;
        text.push_str(&(rest / divisor).to_string());
        rest %= divisor;
    }
    // Further digits only matter in whether they are all zero.
    text.push(if rest == 0 { '0' } else { '1' });
    text.push_str(&format!("e{exponent}"));
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        text.parse().expect("a number")
    }

    #[test]
    fn quotients_are_rounded_once() {
        assert_eq!(average(number("1"), 3_000_000), Some(number("0.3333333333333333")));
        assert_eq!(average(number("-7.5"), 2_500_000), Some(number("-3")));
        assert_eq!(average(number("0"), 1), Some(Number::ZERO));
        assert_eq!(average(number("1e300"), 2_000_000), Some(number("5e299")));
        assert_eq!(average(number("1"), 0), None);
        // 2^53 + 1 is halfway between two doubles; the last digit decides.
        let just_above = number("9007199254740993.1");
        assert_eq!(average(just_above, 1_000_000), Some(number("9007199254740994")));
    }
}
