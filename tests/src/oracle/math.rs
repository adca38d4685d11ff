//! Functions of numbers: exact ones on digits of any length, the others on doubles.

use hadal_query::MathFunction;
use hadal_types::{Number, Value};

use super::exact::Exact;

/// A function of numbers that are not null.
pub(super) fn call(function: MathFunction, arguments: &[Value]) -> Option<Value> {
    let mut numbers = Vec::new();
    for argument in arguments {
        let Value::Number(number) = argument else { return None };
        numbers.push(*number);
    }
    let double = |value: f64| Number::from_f64(value);
    let number = match (function, numbers.as_slice()) {
        (MathFunction::Power, [base, exponent]) => power(*base, *exponent),
        (MathFunction::Sqrt, [number]) => double(number.to_f64().sqrt()),
        (MathFunction::Ln, [number]) => double(number.to_f64().ln()),
        (MathFunction::Log, [number]) => double(number.to_f64().log10()),
        (MathFunction::Log, [base, number]) => double(number.to_f64().ln() / base.to_f64().ln()),
        (MathFunction::Exp, [number]) => double(number.to_f64().exp()),
        (MathFunction::Sign, [number]) => {
            let exact = Exact::from_number(*number);
            Some(Number::integer(match (exact.is_negative(), exact == Exact::default()) {
                (true, _) => -1,
                (false, true) => 0,
                (false, false) => 1,
            }))
        }
        (MathFunction::Truncate, [number]) => truncated(*number, 0),
        (MathFunction::Truncate, [number, digits]) => {
            let digits = digits.to_i64().filter(|digits| (0..=36).contains(digits))?;
            truncated(*number, digits)
        }
        _ => None,
    };
    number.map(Value::Number)
}

fn power(base: Number, exponent: Number) -> Option<Number> {
    if let Some(times) = exponent.to_i64().filter(|times| (0..=64).contains(times)) {
        let mut product = Some(Exact::from_integer(1));
        let base = Exact::from_number(base);
        for _ in 0..times {
            // Every product must fit a decimal before its trailing zeros are dropped.
            product = product.and_then(|product| {
                let digits = Exact::from_integer(product.mantissa()?);
                digits.times(&Exact::from_integer(base.mantissa()?)).mantissa()?;
                let next = product.times(&base);
                next.to_decimal().map(|_| next)
            });
        }
        let decimal = base.to_decimal().and(product).and_then(|product| product.to_decimal());
        if decimal.is_some() {
            return decimal;
        }
    }
    Number::from_f64(base.to_f64().powf(exponent.to_f64()))
}

/// Without the digits after the first `digits` after the point.
fn truncated(number: Number, digits: i64) -> Option<Number> {
    let exact = Exact::from_number(number);
    let unit = Exact::from_text(&format!("1e{digits}"))?;
    let part = exact.abs().times(&unit).floor();
    let part = part.times(&Exact::from_text(&format!("1e-{digits}"))?);
    let part = if exact.is_negative() { part.negated() } else { part };
    // If no decimal holds the digits that are kept, the number stays as it is.
    part.to_decimal().or(Some(number))
}
