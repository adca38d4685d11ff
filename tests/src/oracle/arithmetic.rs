//! Arithmetic on decimal digits; doubles count with their shortest digits.
//!
//! A result overflows if its digits, or an operand's at the common scale, do not fit 128 bits, or
//! if more than 36 digits follow the point. Then doubles are used.

use std::cmp::Ordering;

use hadal_query::Function;
use hadal_types::Number;

use super::exact::Exact;

/// The order of two numbers.
pub(super) fn compare(left: Number, right: Number) -> Ordering {
    Exact::from_number(left).cmp(&Exact::from_number(right))
}

/// A function of one number.
pub(super) fn unary(function: Function, number: Number) -> Option<Number> {
    let exact = Exact::from_number(number);
    nearest(&match function {
        Function::Negate => exact.negated(),
        Function::Abs => exact.abs(),
        Function::Floor => exact.floor(),
        Function::Ceil => exact.negated().floor().negated(),
        Function::Round => exact.rounded(0),
        _ => return None,
    })
}

/// A function of two numbers.
pub(super) fn binary(function: Function, left: Number, right: Number) -> Option<Number> {
    if function == Function::Round {
        return round(left, right);
    }
    if function == Function::Bucket && Exact::from_number(right) <= Exact::default() {
        return None;
    }
    let (left, right) = (Exact::from_number(left), Exact::from_number(right));
    let decimals = left.to_decimal().is_some() && right.to_decimal().is_some();
    let exact = if decimals { of_decimals(function, &left, &right) } else { None };
    exact.or_else(|| of_doubles(function, left.to_f64(), right.to_f64()))
}

fn round(number: Number, digits: Number) -> Option<Number> {
    let digits = digits.to_i64().filter(|digits| (-18..=255).contains(digits))?;
    let Ok(digits) = usize::try_from(digits) else {
        let unit = Exact::from_text(&format!("1e{}", -digits))?;
        let exact = Exact::from_number(number);
        let rounded = exact.times(&Exact::from_text(&format!("1e{digits}"))?).rounded(0);
        let rounded = rounded.times(&unit);
        // A number without such a decimal stays as it is.
        return if rounded == exact { Some(number) } else { rounded.to_decimal().or(Some(number)) };
    };
    Exact::from_number(number).rounded(digits).to_decimal().or(Some(number))
}

fn of_decimals(function: Function, left: &Exact, right: &Exact) -> Option<Number> {
    let scale = left.scale().max(right.scale());
    let result = match function {
        // The digits are multiplied before trailing zeros are dropped.
        Function::Multiply => {
            let digits = Exact::from_integer(left.mantissa()?);
            digits.times(&Exact::from_integer(right.mantissa()?)).mantissa()?;
            return left.times(right).to_decimal();
        }
        _ if !left.fits_at(scale) || !right.fits_at(scale) => return None,
        Function::Add => left.plus(right),
        Function::Subtract => left.minus(right),
        Function::DivideWhole => return left.divide(right)?.0.to_decimal(),
        Function::Remainder => left.divide(right)?.1,
        Function::Bucket => {
            let (quotient, rest) = left.divide(right)?;
            let below = i128::from(rest.is_negative());
            right.times(&quotient.minus(&Exact::from_integer(below)))
        }
        _ => return None,
    };
    if result.fits_at(scale) { result.to_decimal() } else { None }
}

fn of_doubles(function: Function, left: f64, right: f64) -> Option<Number> {
    // A quotient by zero is not finite, so it is null like every result beyond the doubles.
    Number::from_f64(match function {
        Function::Add => left + right,
        Function::Subtract => left - right,
        Function::Multiply => left * right,
        Function::Divide => left / right,
        Function::DivideWhole => (left / right).trunc(),
        Function::Remainder => left % right,
        Function::Bucket => (left / right).floor() * right,
        _ => return None,
    })
}

/// The decimal, or otherwise the nearest double.
fn nearest(exact: &Exact) -> Option<Number> {
    exact.to_decimal().or_else(|| Number::from_f64(exact.to_f64()))
}
