//! Functions over whole columns of numbers and times.
//!
//! Each returns `None` where the fast form does not apply (another type, an overflow, a literal
//! of finer scale); the row-at-a-time meaning of `query::call` is then used instead.

use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use hadal_encoding::Bitmap;
use hadal_query::{Function, TimeField, call};
use hadal_types::{Decimal, Logical, Micros, Number, Value, limits};

use crate::bits::{bits, filled};
use crate::values::{Doubles, Mixed, Numbers, Truths};

/// `numbers` compared with a literal.
pub(crate) fn compare(numbers: &Numbers, function: Function, literal: &Value) -> Option<Truths> {
    let yes = match (numbers.logical, literal) {
        (Logical::Time, Value::Time(time)) => {
            compare_mantissas(&numbers.mantissas, function, time.0.into(), true)?
        }
        (Logical::Plain, Value::Number(literal)) => {
            let literal = literal.to_decimal()?;
            let (floor, exact) = floor_at(literal, numbers.scale)?;
            compare_mantissas(&numbers.mantissas, function, floor, exact)?
        }
        _ => return None,
    };
    Some(Truths::where_valid(yes, numbers.valid.as_deref()))
}

/// Compares each mantissa with a literal that is `floor`, or, where not `exact`, lies between
/// `floor` and the next integer.
fn compare_mantissas(
    mantissas: &[i64],
    function: Function,
    floor: i128,
    exact: bool,
) -> Option<Bitmap> {
    // The largest mantissa that is smaller, and the largest that is not greater.
    let below = if exact { floor - 1 } else { floor };
    let rows = mantissas.len();
    let at_most = |bound: i128, truth: bool| match i64::try_from(bound) {
        Ok(bound) => bits(rows, |row| (mantissas[row] <= bound) == truth),
        Err(_) => filled(rows, (bound > 0) == truth),
    };
    let equal = |truth: bool| match i64::try_from(floor) {
        Ok(value) if exact => bits(rows, |row| (mantissas[row] == value) == truth),
        _ => filled(rows, !truth),
    };
    Some(match function {
        Function::Equal => equal(true),
        Function::NotEqual => equal(false),
        Function::Less => at_most(below, true),
        Function::LessOrEqual => at_most(floor, true),
        Function::Greater => at_most(floor, false),
        Function::GreaterOrEqual => at_most(below, false),
        _ => return None,
    })
}

/// The literal × 10^scale rounded down, and whether nothing was lost.
fn floor_at(literal: Decimal, scale: u8) -> Option<(i128, bool)> {
    if let Some(mantissa) = literal.mantissa_at(scale) {
        return Some((mantissa, true));
    }
    let down = hadal_types::decimal::power_of_ten(literal.scale().checked_sub(scale)?)?;
    Some((literal.mantissa().div_euclid(down), false))
}

/// `doubles` compared with a literal.
pub(crate) fn compare_doubles(
    doubles: &Doubles,
    function: Function,
    literal: &Value,
) -> Option<Truths> {
    compare_nearest(doubles, function, literal, |_| None)
}

/// `mixed` compared with a literal.
pub(crate) fn compare_mixed(mixed: &Mixed, function: Function, literal: &Value) -> Option<Truths> {
    compare_nearest(&mixed.doubles, function, literal, |row| mixed.exacts.get(row))
}

/// Compares numbers, of which these are the nearest doubles, with a literal: rounding keeps their
/// order, so only where both round alike are the numbers themselves asked. They are what `exact`
/// says, or else what the double means.
fn compare_nearest(
    doubles: &Doubles,
    function: Function,
    literal: &Value,
    exact: impl Fn(usize) -> Option<Number>,
) -> Option<Truths> {
    let Value::Number(literal) = literal else { return None };
    let bound = literal.to_f64();
    let orders: &[Ordering] = match function {
        Function::Equal => &[Ordering::Equal],
        Function::NotEqual => &[Ordering::Less, Ordering::Greater],
        Function::Less => &[Ordering::Less],
        Function::LessOrEqual => &[Ordering::Less, Ordering::Equal],
        Function::Greater => &[Ordering::Greater],
        Function::GreaterOrEqual => &[Ordering::Greater, Ordering::Equal],
        _ => return None,
    };
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

/// `function` of a column and a literal, in this order.
pub(crate) fn with_literal(
    numbers: &Numbers,
    function: Function,
    literals: &[&Value],
) -> Option<Numbers> {
    match (function, literals) {
        (Function::Add, [Value::Number(other)]) => shift(numbers, *other, 1),
        (Function::Subtract, [Value::Number(other)]) => shift(numbers, *other, -1),
        (Function::Multiply, [Value::Number(other)]) => multiply(numbers, *other),
        (Function::DivideWhole, [Value::Number(other)]) => divide_whole(numbers, other.to_i64()?),
        (Function::Bucket, [Value::Number(width)]) => bucket(numbers, *width),
        (Function::SecondsBetween, [Value::Time(earlier)]) => seconds_since(numbers, *earlier, 1),
        (Function::TimeBucket, [Value::Number(width)]) => time_bucket(numbers, width.to_i64()?, 0),
        (Function::TimeBucket, [Value::Number(width), Value::Number(origin)]) => {
            time_bucket(numbers, width.to_i64()?, origin.to_i64()?)
        }
        (Function::Extract(field), []) => extract(numbers, field),
        (Function::AddSeconds, [Value::Number(seconds)]) => {
            if numbers.logical != Logical::Time {
                return None;
            }
            let micros = i64::try_from(exact_at(*seconds, 6)?).ok()?;
            let later = map(numbers, 0, Logical::Time, |time| time.checked_add(micros))?;
            in_range(later)
        }
        _ => None,
    }
}

/// `function` of a literal and a column, in this order.
pub(crate) fn of_literal(
    literal: &Value,
    function: Function,
    numbers: &Numbers,
) -> Option<Numbers> {
    match (function, literal) {
        (Function::Add, Value::Number(other)) => shift(numbers, *other, 1),
        (Function::Multiply, Value::Number(other)) => multiply(numbers, *other),
        (Function::SecondsBetween, Value::Time(later)) => seconds_since(numbers, *later, -1),
        (Function::AddSeconds, Value::Time(time)) if numbers.logical == Logical::Plain => {
            if numbers.scale != 0 {
                return None;
            }
            let later = map(numbers, 0, Logical::Time, |seconds| {
                seconds.checked_mul(Micros::SECOND)?.checked_add(time.0)
            })?;
            let step = numbers.step.checked_mul(Micros::SECOND).unwrap_or(1);
            in_range(Numbers { step, ..later })
        }
        _ => None,
    }
}

/// −x.
pub(crate) fn negate(numbers: &Numbers) -> Option<Numbers> {
    plain(numbers)?;
    let negated = map(numbers, numbers.scale, Logical::Plain, i64::checked_neg)?;
    Some(Numbers { step: numbers.step, ..negated })
}

fn plain(numbers: &Numbers) -> Option<()> {
    (numbers.logical == Logical::Plain).then_some(())
}

/// The number × 10^scale, when that is an integer.
fn exact_at(number: Number, scale: u8) -> Option<i128> {
    number.to_decimal()?.mantissa_at(scale)
}

/// Applies `function` to every mantissa; `None` if it fails for a row that has a value.
fn map(
    numbers: &Numbers,
    scale: u8,
    logical: Logical,
    function: impl Fn(i64) -> Option<i64>,
) -> Option<Numbers> {
    let mut failed = false;
    let mut mantissas: Vec<i64> = Vec::with_capacity(numbers.mantissas.len());
    for (row, &mantissa) in numbers.mantissas.iter().enumerate() {
        let result = function(mantissa);
        failed |= result.is_none() && numbers.has(row);
        mantissas.push(result.unwrap_or_default());
    }
    (!failed).then(|| Numbers {
        mantissas: Rc::new(mantissas),
        scale,
        logical,
        valid: numbers.valid.clone(),
        step: 1,
    })
}

fn shift(numbers: &Numbers, other: Number, sign: i64) -> Option<Numbers> {
    plain(numbers)?;
    let other = other.to_decimal()?;
    let scale = numbers.scale.max(other.scale());
    if scale > limits::DECIMAL_SCALE_MAX {
        return None;
    }
    let factor = factor(scale - numbers.scale)?;
    let by = i64::try_from(other.mantissa_at(scale)?).ok()?.checked_mul(sign)?;
    map(numbers, scale, Logical::Plain, |mantissa| mantissa.checked_mul(factor)?.checked_add(by))
}

fn multiply(numbers: &Numbers, other: Number) -> Option<Numbers> {
    plain(numbers)?;
    let (by, other_scale) = other.to_stored()?;
    let scale = numbers.scale.checked_add(other_scale)?;
    if scale > limits::DECIMAL_SCALE_MAX {
        return None;
    }
    let product = map(numbers, scale, Logical::Plain, |mantissa| mantissa.checked_mul(by))?;
    let step = numbers.step.checked_mul(by).and_then(i64::checked_abs).unwrap_or(1).max(1);
    Some(Numbers { step, ..product })
}

fn divide_whole(numbers: &Numbers, by: i64) -> Option<Numbers> {
    plain(numbers)?;
    if numbers.scale != 0 || by == 0 {
        return None;
    }
    map(numbers, 0, Logical::Plain, |mantissa| mantissa.checked_div(by))
}

fn bucket(numbers: &Numbers, width: Number) -> Option<Numbers> {
    plain(numbers)?;
    let width = i64::try_from(exact_at(width, numbers.scale)?).ok().filter(|&width| width > 0)?;
    let floored = map(numbers, numbers.scale, Logical::Plain, |mantissa| {
        mantissa.div_euclid(width).checked_mul(width)
    })?;
    Some(Numbers { step: width, ..floored })
}

fn seconds_since(numbers: &Numbers, other: Micros, sign: i64) -> Option<Numbers> {
    if numbers.logical != Logical::Time {
        return None;
    }
    map(numbers, 0, Logical::Plain, |time| {
        time.checked_sub(other.0).map(|micros| micros / Micros::SECOND * sign)
    })
}

fn time_bucket(numbers: &Numbers, width: i64, origin: i64) -> Option<Numbers> {
    if numbers.logical != Logical::Time || width <= 0 {
        return None;
    }
    let floored = map(numbers, 0, Logical::Time, |time| {
        let since = time.checked_sub(origin)?;
        since.div_euclid(width).checked_mul(width)?.checked_add(origin)
    })?;
    Some(Numbers { step: width, ..floored })
}

/// A field of times. The calendar is asked once for each run of rows of one day.
fn extract(numbers: &Numbers, field: TimeField) -> Option<Numbers> {
    const HOUR: i64 = 3_600 * Micros::SECOND;
    const DAY: i64 = 24 * HOUR;
    if numbers.logical != Logical::Time {
        return None;
    }
    let of_clock = |scale, function: fn(i64) -> i64| {
        map(numbers, scale, Logical::Plain, |time| Some(function(time)))
    };
    match field {
        TimeField::Hour => of_clock(0, |time| time.rem_euclid(DAY) / HOUR),
        TimeField::Minute => of_clock(0, |time| time.rem_euclid(HOUR) / (60 * Micros::SECOND)),
        TimeField::Second => of_clock(6, |time| time.rem_euclid(60 * Micros::SECOND)),
        TimeField::Epoch => of_clock(6, |time| time),
        TimeField::Year | TimeField::Month | TimeField::Day | TimeField::DayOfWeek => {
            let known = Cell::new(None);
            map(numbers, 0, Logical::Plain, |time| {
                let day = time.div_euclid(DAY);
                if let Some((of, value)) = known.get()
                    && of == day
                {
                    return Some(value);
                }
                let value = call(Function::Extract(field), &[Value::Time(Micros(time))]);
                let Value::Number(number) = value else { return None };
                let value = number.to_i64()?;
                known.set(Some((day, value)));
                Some(value)
            })
        }
    }
}

/// Times outside the years 1 to 9999 are null, which only the slow form can say.
fn in_range(times: Numbers) -> Option<Numbers> {
    let fits = |&time: &i64| Micros(time).in_range().is_some();
    times.mantissas.iter().all(fits).then_some(times)
}

fn factor(exponent: u8) -> Option<i64> {
    10i64.checked_pow(u32::from(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_times_are_those_of_the_slow_form() {
        const DAY: i64 = 86_400 * Micros::SECOND;
        let times: Vec<i64> = (-40..40)
            .flat_map(|n| [n * 97 * DAY - 1, n * 97 * DAY, n * 97 * DAY + 45_296_789_012])
            .chain([Micros(0).0, 951_782_400 * Micros::SECOND])
            .collect();
        let numbers = Numbers {
            mantissas: Rc::new(times.clone()),
            scale: 0,
            logical: Logical::Time,
            valid: None,
            step: 1,
        };
        for field in [
            TimeField::Year,
            TimeField::Month,
            TimeField::Day,
            TimeField::Hour,
            TimeField::Minute,
            TimeField::Second,
            TimeField::DayOfWeek,
            TimeField::Epoch,
        ] {
            let fast = with_literal(&numbers, Function::Extract(field), &[]).expect("a fast form");
            for (row, &time) in times.iter().enumerate() {
                let slow = call(Function::Extract(field), &[Value::Time(Micros(time))]);
                assert_eq!(fast.value_of(fast.mantissas[row]), slow, "{field:?} of {time}");
            }
        }
    }
}
