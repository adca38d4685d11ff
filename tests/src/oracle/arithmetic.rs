//! Numbers: decimals as written digits, doubles as the machine has them.
//!
//! A decimal result overflows where its digits, or an operand's at the common scale, do not fit
//! 128 bits, or where more than 36 digits follow the point; then the doubles are asked.

use std::cmp::Ordering;

use hadal_query::Function;
use hadal_types::Number;

use super::exact::Exact;

/// The order of two numbers: where a decimal and a double round to the same double, the decimal
/// comes first.
pub(super) fn compare(left: Number, right: Number) -> Ordering {
    match (left, right) {
        (Number::Decimal(_), Number::Decimal(_)) => {
            Exact::from_number(left).cmp(&Exact::from_number(right))
        }
        (Number::Double(left), Number::Double(right)) => left.total_cmp(&right),
        (Number::Decimal(_), Number::Double(right)) => {
            nearest(left).total_cmp(&right).then(Ordering::Less)
        }
        (Number::Double(left), Number::Decimal(_)) => {
            left.total_cmp(&nearest(right)).then(Ordering::Greater)
        }
    }
}

/// A function of one number.
pub(super) fn unary(function: Function, number: Number) -> Option<Number> {
    if let Number::Double(double) = number {
        return Number::from_f64(match function {
            Function::Negate => -double,
            Function::Abs => double.abs(),
            Function::Floor => double.floor(),
            Function::Ceil => double.ceil(),
            Function::Round => double.round(),
            _ => return None,
        });
    }
    let exact = Exact::from_number(number);
    match function {
        Function::Negate => exact.negated(),
        Function::Abs => exact.abs(),
        Function::Floor => exact.floor(),
        Function::Ceil => exact.negated().floor().negated(),
        Function::Round => exact.rounded(0),
        _ => return None,
    }
    .to_decimal()
}

/// A function of two numbers.
pub(super) fn binary(function: Function, left: Number, right: Number) -> Option<Number> {
    if function == Function::Round {
        return round(left, right);
    }
    if function == Function::Bucket && Exact::from_number(right) <= Exact::default() {
        return None;
    }
    let exact = match (left, right) {
        (Number::Decimal(_), Number::Decimal(_)) => {
            of_decimals(function, &Exact::from_number(left), &Exact::from_number(right))
        }
        _ => None,
    };
    exact.or_else(|| of_doubles(function, nearest(left), nearest(right)))
}

fn round(number: Number, digits: Number) -> Option<Number> {
    let digits = digits.to_i64().filter(|digits| (-18..=255).contains(digits))?;
    let Ok(digits) = usize::try_from(digits) else {
        let unit = Exact::from_text(&format!("1e{}", -digits))?;
        let exact = Exact::from_number(number);
        let rounded = exact.times(&Exact::from_text(&format!("1e{digits}"))?).rounded(0);
        let rounded = rounded.times(&unit);
        // What has no such digits stays the number it is.
        return if rounded == exact { Some(number) } else { rounded.to_decimal().or(Some(number)) };
    };
    match number {
        // A whole double has no digits to lose.
        Number::Double(double) if double.trunc() == double => Some(number),
        _ => Exact::from_number(number).rounded(digits).to_decimal().or(Some(number)),
    }
}

fn of_decimals(function: Function, left: &Exact, right: &Exact) -> Option<Number> {
    let scale = left.scale().max(right.scale());
    let result = match function {
        // The digits are multiplied before any zeros at the end are dropped.
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

fn nearest(number: Number) -> f64 {
    match number {
        Number::Decimal(_) => Exact::from_number(number).to_f64(),
        Number::Double(double) => double,
    }
}
