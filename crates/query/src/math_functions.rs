//! Functions of numbers beyond arithmetic. Their results are doubles, except where a decimal is
//! exact: `sign`, `trunc`, and powers with a small whole exponent.

use hadal_types::decimal::power_of_ten;
use hadal_types::{Decimal, Number, Value};

/// The largest exponent with exact powers, while they fit a decimal.
const EXACT_EXPONENT_MAX: i64 = 64;

/// A function of numbers. A null argument gives null, and so does one outside of the function's
/// domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MathFunction {
    /// The first number to the power of the second. Exact if that is an integer from 0 to 64 and
    /// the result fits a decimal.
    Power,
    /// The square root.
    Sqrt,
    /// The natural logarithm.
    Ln,
    /// The logarithm of the second number to the base of the first. Of one number: to the base 10.
    Log,
    /// e to the power of the number.
    Exp,
    /// −1, 0 or 1.
    Sign,
    /// The number without the digits after the point. The optional second argument is the number
    /// of digits that are kept, from 0 to 36.
    Truncate,
    /// The index of the bucket that contains the first number, of as many buckets of one width as
    /// the fourth says, from the second number to the third. 0 is before the first bucket, and one
    /// more than their number is after the last. If the second number is above the third, buckets
    /// descend.
    WidthBucket,
}

/// Computes `function` of `arguments`; a wrong number or wrong types of arguments give `None`.
pub(crate) fn eval(function: MathFunction, arguments: &[Value]) -> Option<Value> {
    let numbers: Option<Vec<Number>> = arguments
        .iter()
        .map(|value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        })
        .collect();
    let number = match (function, numbers?.as_slice()) {
        (MathFunction::Power, [base, exponent]) => power(*base, *exponent),
        (MathFunction::Sqrt, [number]) => Number::from_f64(number.to_f64().sqrt()),
        (MathFunction::Ln, [number]) => Number::from_f64(number.to_f64().ln()),
        (MathFunction::Log, [number]) => Number::from_f64(number.to_f64().log10()),
        (MathFunction::Log, [base, number]) => {
            Number::from_f64(number.to_f64().ln() / base.to_f64().ln())
        }
        (MathFunction::Exp, [number]) => Number::from_f64(number.to_f64().exp()),
        (MathFunction::Sign, [number]) => Some(sign(*number)),
        (MathFunction::Truncate, [number]) => Some(truncate(*number, 0)),
        (MathFunction::Truncate, [number, digits]) => {
            let digits = digits.to_i64().and_then(|digits| u8::try_from(digits).ok());
            digits.filter(|&digits| digits <= 36).map(|digits| truncate(*number, digits))
        }
        (MathFunction::WidthBucket, [number, low, high, buckets]) => {
            width_bucket(*number, *low, *high, *buckets)
        }
        _ => None,
    };
    number.map(Value::Number)
}

fn power(base: Number, exponent: Number) -> Option<Number> {
    let exact = base.to_decimal().zip(exponent.to_i64()).and_then(|(base, exponent)| {
        if !(0..=EXACT_EXPONENT_MAX).contains(&exponent) {
            return None;
        }
        (0..exponent).try_fold(Decimal::integer(1), |product, _| product.checked_mul(base))
    });
    let double = || Number::from_f64(base.to_f64().powf(exponent.to_f64()));
    exact.map(Number::from).or_else(double)
}

fn sign(number: Number) -> Number {
    Number::integer(match number.cmp(&Number::ZERO) {
        std::cmp::Ordering::Less => -1,
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Greater => 1,
    })
}

/// Drops the digits after the first `digits` after the point.
fn truncate(number: Number, digits: u8) -> Number {
    let Some(decimal) = number.to_decimal() else {
        // A double that no decimal holds is beyond 10^38, or has digits only beyond the 36th.
        return if number.to_f64().abs() < 1.0 { Number::ZERO } else { number };
    };
    let Some(dropped) = decimal.scale().checked_sub(digits).filter(|&dropped| dropped > 0) else {
        return number;
    };
    let kept =
        power_of_ten(dropped).and_then(|unit| Decimal::new(decimal.mantissa() / unit, digits));
    kept.map_or(number, Number::from)
}

fn width_bucket(number: Number, low: Number, high: Number, buckets: Number) -> Option<Number> {
    let count = buckets.to_i64().filter(|&count| count > 0)?;
    let after = Number::integer(count.checked_add(1)?);
    let ascends = low < high;
    if low == high {
        return None;
    }
    let (before, beyond) =
        if ascends { (number < low, number >= high) } else { (number > low, number <= high) };
    if before || beyond {
        return Some(if before { Number::ZERO } else { after });
    }
    let (number, low, high) = (number.to_f64(), low.to_f64(), high.to_f64());
    let index = ((number - low) / (high - low) * count as f64).floor();
    Number::from_f64(index.min(count as f64 - 1.0) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Function, eval_scalar};

    fn of(function: MathFunction, numbers: &[&str]) -> String {
        let numbers: Vec<Value> =
            numbers.iter().map(|text| Value::Number(text.parse().expect(text))).collect();
        eval_scalar(Function::Math(function), &numbers).expect("no string").to_string()
    }

    #[test]
    fn decimals_stay_exact_where_they_can() {
        assert_eq!(of(MathFunction::Power, &["1.1", "2"]), "1.21");
        assert_eq!(of(MathFunction::Power, &["10", "38"]), format!("1{}", "0".repeat(38)));
        assert_eq!(of(MathFunction::Power, &["10", "300"]), "1e300");
        assert_eq!(of(MathFunction::Power, &["2", "-1"]), "0.5");
        assert_eq!(of(MathFunction::Power, &["0", "0"]), "1");
        assert_eq!(of(MathFunction::Truncate, &["-2.789"]), "-2");
        assert_eq!(of(MathFunction::Truncate, &["-2.789", "2"]), "-2.78");
        assert_eq!(of(MathFunction::Truncate, &["1e300", "2"]), "1e300");
        assert_eq!(of(MathFunction::Truncate, &["1e-300"]), "0");
        assert_eq!(of(MathFunction::Sign, &["-0.5"]), "-1");
    }

    #[test]
    fn roots_and_logarithms() {
        assert_eq!(of(MathFunction::Sqrt, &["2.25"]), "1.5");
        assert_eq!(of(MathFunction::Ln, &["1"]), "0");
        assert_eq!(of(MathFunction::Log, &["1000"]), "3");
        assert_eq!(of(MathFunction::Log, &["2", "8"]), "3");
        assert_eq!(of(MathFunction::Exp, &["0"]), "1");
    }

    #[test]
    fn outside_of_the_domain_is_null() {
        for (function, numbers) in [
            (MathFunction::Sqrt, vec!["-1"]),
            (MathFunction::Ln, vec!["0"]),
            (MathFunction::Log, vec!["1", "5"]),
            (MathFunction::Power, vec!["-1", "0.5"]),
            (MathFunction::Power, vec!["0", "-1"]),
            (MathFunction::Exp, vec!["1000"]),
            (MathFunction::WidthBucket, vec!["5", "0", "0", "3"]),
            (MathFunction::WidthBucket, vec!["5", "0", "10", "0"]),
            (MathFunction::Truncate, vec!["5", "37"]),
        ] {
            assert_eq!(of(function, &numbers), "null", "{function:?} {numbers:?}");
        }
    }

    #[test]
    fn buckets_of_one_width() {
        let bucket = |number| of(MathFunction::WidthBucket, &[number, "0", "10", "5"]);
        assert_eq!(
            ["-1", "0", "1.99", "2", "9.99", "10"].map(bucket),
            ["0", "1", "1", "2", "5", "6"]
        );
        let down = |number| of(MathFunction::WidthBucket, &[number, "10", "0", "5"]);
        assert_eq!(["11", "10", "8", "0"].map(down), ["0", "1", "2", "6"]);
    }
}
