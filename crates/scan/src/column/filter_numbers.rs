//! Compares columns of numbers and times with a literal, or with each other.
//!
//! Each function returns `None` if its fast form does not apply (another type, or no comparison).
//! The caller then uses `query::call` row by row.

use std::cmp::Ordering;

use hadal_encoding::Bitmap;
use hadal_query::Function;
use hadal_types::{Decimal, Logical, Number, Value};

use crate::column::bitmaps::{bits, both, filled};
use crate::column::column_values::{Doubles, Mixed, Numbers, Truths};

/// Compares `numbers` with a literal.
pub(crate) fn numbers(numbers: &Numbers, function: Function, literal: &Value) -> Option<Truths> {
    let between = |from, to| numbers.mantissas.between(from, to);
    let meaning = (numbers.logical, numbers.scale);
    let yes = mantissas(numbers.mantissas.len(), between, meaning, function, literal)?;
    Some(Truths::where_valid(yes, numbers.valid.as_deref()))
}

/// Compares two columns, row by row.
pub(crate) fn columns(left: &Numbers, function: Function, right: &Numbers) -> Option<Truths> {
    if left.logical != right.logical {
        return None;
    }
    let orders = orders(function)?;
    let scale = left.scale.max(right.scale);
    let factor = |numbers: &Numbers| hadal_types::decimal::power_of_ten(scale - numbers.scale);
    let factors = (factor(left)?, factor(right)?);
    let of = |numbers: &Numbers, row, factor| i128::from(numbers.mantissas.get(row)) * factor;
    let yes = bits(left.mantissas.len(), |row| {
        orders.contains(&of(left, row, factors.0).cmp(&of(right, row, factors.1)))
    });
    let valid = both(left.valid.as_ref(), right.valid.as_ref());
    Some(Truths::where_valid(yes, valid.as_deref()))
}

/// Whether each of the numbers is one of the literals. `None` if a literal is of another type.
pub(crate) fn are_in(numbers: &Numbers, literals: &[&Value]) -> Option<Truths> {
    let mut listed = Vec::with_capacity(literals.len());
    for literal in literals {
        let (floor, is_exact) = floor_of(literal, (numbers.logical, numbers.scale))?;
        listed.extend(i64::try_from(floor).ok().filter(|_| is_exact));
    }
    Some(Truths::where_valid(numbers.mantissas.among(&listed), numbers.valid.as_deref()))
}

/// Compares `count` mantissas with a literal. `between(from, to)` returns the mantissas within
/// `from..=to`.
pub(crate) fn mantissas(
    count: usize,
    between: impl Fn(i64, i64) -> Bitmap,
    meaning: (Logical, u8),
    function: Function,
    literal: &Value,
) -> Option<Bitmap> {
    let (floor, exact) = floor_of(literal, meaning)?;
    compare_mantissas(count, between, function, floor, exact)
}

/// The literal as a mantissa of this meaning and scale, rounded down, and whether that is exact.
fn floor_of(literal: &Value, (logical, scale): (Logical, u8)) -> Option<(i128, bool)> {
    match (logical, literal) {
        (Logical::Time, Value::Time(time)) => Some((time.0.into(), true)),
        (Logical::Plain, Value::Number(literal)) => floor_at(literal.to_decimal()?, scale),
        _ => None,
    }
}

/// Compares each mantissa with a literal. The literal is `floor`, or, if not `exact`, between
/// `floor` and the next integer.
fn compare_mantissas(
    rows: usize,
    between: impl Fn(i64, i64) -> Bitmap,
    function: Function,
    floor: i128,
    exact: bool,
) -> Option<Bitmap> {
    let at_most = |bound: i128| match i64::try_from(bound) {
        Ok(bound) => between(i64::MIN, bound),
        Err(_) => filled(rows, bound > 0),
    };
    let equal = || match i64::try_from(floor) {
        Ok(value) if exact => between(value, value),
        _ => filled(rows, false),
    };
    // The bound is the largest mantissa less than the literal; for `at_most(floor)`, the largest
    // not greater.
    let less = || at_most(if exact { floor.saturating_sub(1) } else { floor });
    let inverted = |mut bits: Bitmap| {
        bits.not();
        bits
    };
    Some(match function {
        Function::Equal => equal(),
        Function::NotEqual => inverted(equal()),
        Function::Less => less(),
        Function::LessOrEqual => at_most(floor),
        Function::Greater => inverted(at_most(floor)),
        Function::GreaterOrEqual => inverted(less()),
        _ => return None,
    })
}

/// Returns the literal × 10^scale, rounded down, and whether that is exact.
fn floor_at(literal: Decimal, scale: u8) -> Option<(i128, bool)> {
    if let Some(mantissa) = literal.mantissa_at(scale) {
        return Some((mantissa, true));
    }
    let down = hadal_types::decimal::power_of_ten(literal.scale().checked_sub(scale)?)?;
    Some((literal.mantissa().div_euclid(down), false))
}

/// Compares `doubles` with a literal.
pub(crate) fn doubles(doubles: &Doubles, function: Function, literal: &Value) -> Option<Truths> {
    compare_nearest(doubles, function, literal, |_| None)
}

/// Compares `mixed` with a literal.
pub(crate) fn mixed(mixed: &Mixed, function: Function, literal: &Value) -> Option<Truths> {
    compare_nearest(&mixed.doubles, function, literal, |row| mixed.exacts.get(row))
}

/// Compares numbers with a literal by their nearest doubles. Rounding keeps their order, so the
/// numbers themselves are compared only if both round to the same double. A row's number is
/// `exact(row)`, or else the value of its double.
fn compare_nearest(
    doubles: &Doubles,
    function: Function,
    literal: &Value,
    exact: impl Fn(usize) -> Option<Number>,
) -> Option<Truths> {
    let Value::Number(literal) = literal else { return None };
    let bound = literal.to_f64();
    let orders = orders(function)?;
    let holds = |order: Ordering| orders.contains(&order);
    let (below, above) = (holds(Ordering::Less), holds(Ordering::Greater));
    let meant = holds(Number::from_f64(bound)?.cmp(literal));
    let yes = bits(doubles.values.len(), |row| {
        let value = doubles.values[row];
        if value == bound {
            exact(row).map_or(meant, |number| holds(number.cmp(literal)))
        } else if value < bound {
            below
        } else {
            above
        }
    });
    Some(Truths::where_valid(yes, doubles.valid.as_deref()))
}

/// The orders for which a comparison is true; `None` if the function is none.
fn orders(function: Function) -> Option<&'static [Ordering]> {
    Some(match function {
        Function::Equal => &[Ordering::Equal],
        Function::NotEqual => &[Ordering::Less, Ordering::Greater],
        Function::Less => &[Ordering::Less],
        Function::LessOrEqual => &[Ordering::Less, Ordering::Equal],
        Function::Greater => &[Ordering::Greater],
        Function::GreaterOrEqual => &[Ordering::Greater, Ordering::Equal],
        _ => return None,
    })
}
