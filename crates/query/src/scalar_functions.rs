//! The meaning of each function for one row's values. This is the reference that every faster form
//! must agree with.

use std::cmp::Ordering;
use std::sync::Arc;

use hadal_types::decimal::power_of_ten;
use hadal_types::limits::DECIMAL_SCALE_MAX;
use hadal_types::{Decimal, Micros, Number, Value};

use crate::calendar;
use crate::function::{Function, TimeField};
use crate::list_predicates;
use crate::math_functions;
use crate::string_limit::{self, StringTooLong};
use crate::text_functions;
use crate::time_zone;

/// Computes `function` of `arguments`. A wrong number or wrong types of arguments give null.
/// `Matches` and the functions of a [`crate::Regexp`] need a compiled pattern and are not computed
/// here.
///
/// # Errors
/// [`StringTooLong`], only from functions that make strings.
pub fn eval_scalar(function: Function, arguments: &[Value]) -> Result<Value, StringTooLong> {
    match (function, arguments) {
        (Function::Concat, values) => {
            string_limit::text_of(values.iter().filter(|value| !value.is_null()))
        }
        (Function::ToText, [value]) if !value.is_null() => string_limit::text_of([value]),
        (Function::Lower, [Value::String(text)]) => string_limit::checked(text.to_lowercase()),
        (Function::Upper, [Value::String(text)]) => string_limit::checked(text.to_uppercase()),
        (Function::Text(function), arguments) => text_functions::eval(function, arguments),
        (Function::Calendar(function), arguments) => calendar::eval(function, arguments),
        _ => Ok(plain(function, arguments)),
    }
}

/// Computes functions that make no string.
fn plain(function: Function, arguments: &[Value]) -> Value {
    let value = match function {
        Function::And => return junction(arguments, false),
        Function::Or => return junction(arguments, true),
        Function::IsNull => return truth(arguments.first().is_none_or(Value::is_null)),
        Function::Coalesce => {
            return arguments.iter().find(|value| !value.is_null()).cloned().unwrap_or(Value::Null);
        }
        Function::Case => return case(arguments),
        Function::Greatest => present(arguments).max().cloned(),
        Function::Least => present(arguments).min().cloned(),
        Function::Math(function) => math_functions::eval(function, arguments),
        Function::In => is_in(arguments),
        Function::IncludesAny
        | Function::IncludesAll
        | Function::IncludesNone
        | Function::IncludesStart
        | Function::IncludesEnd
        | Function::IncludesWithin => includes(function, arguments),
        _ => match arguments {
            [value] => unary(function, value),
            [left, right] => binary(function, left, right),
            [Value::Time(time), Value::Number(width), Value::Number(origin)] => {
                time_bucket(*time, *width, *origin)
            }
            _ => None,
        },
    };
    value.unwrap_or(Value::Null)
}

/// The arguments that are not null.
fn present(arguments: &[Value]) -> impl Iterator<Item = &Value> {
    arguments.iter().filter(|value| !value.is_null())
}

fn truth(truth: bool) -> Value {
    Value::Bool(truth)
}

/// AND and OR in three-valued logic: one `decisive` argument decides the result.
fn junction(arguments: &[Value], decisive: bool) -> Value {
    if arguments.contains(&Value::Bool(decisive)) {
        return truth(decisive);
    }
    if arguments.iter().all(|value| matches!(value, Value::Bool(_))) {
        return truth(!decisive);
    }
    Value::Null
}

fn case(arguments: &[Value]) -> Value {
    let mut rest = arguments;
    while let [condition, value, tail @ ..] = rest {
        if *condition == Value::Bool(true) {
            return value.clone();
        }
        rest = tail;
    }
    rest.first().cloned().unwrap_or(Value::Null)
}

fn is_in(arguments: &[Value]) -> Option<Value> {
    let (needle, list) = arguments.split_first()?;
    if needle.is_null() {
        return None;
    }
    match list.contains(needle) {
        true => Some(truth(true)),
        false if list.contains(&Value::Null) => None,
        false => Some(truth(false)),
    }
}

fn includes(function: Function, arguments: &[Value]) -> Option<Value> {
    let (Value::Set(list) | Value::Vector(list), words) = arguments.split_first()? else {
        return None;
    };
    let words: Vec<&str> = words
        .iter()
        .map(|value| match value {
            Value::String(word) => Some(&**word),
            _ => None,
        })
        .collect::<Option<_>>()?;
    list_predicates::includes(function, list, &words).map(truth)
}

fn unary(function: Function, value: &Value) -> Option<Value> {
    Some(match (function, value) {
        (_, Value::Null) => return None,
        (Function::Not, Value::Bool(value)) => truth(!value),
        (Function::Negate, Value::Number(number)) => Value::Number(negate(*number)?),
        (Function::Abs, Value::Number(number)) if *number < Number::ZERO => {
            Value::Number(negate(*number)?)
        }
        (Function::Abs, Value::Number(_)) => value.clone(),
        (Function::Round, Value::Number(number)) => Value::Number(round(*number, 0)?),
        (Function::Floor, Value::Number(number)) => Value::Number(floor(*number)?),
        (Function::Ceil, Value::Number(number)) => Value::Number(ceil(*number)?),
        (Function::Extract(field), Value::Time(time)) => Value::Number(extract(field, *time)?),
        (Function::Length, Value::String(text)) => count(text.chars().count())?,
        (Function::Length, Value::Set(list) | Value::Vector(list)) => count(list.len())?,
        (Function::IsEmpty, Value::Set(list) | Value::Vector(list)) => truth(list.is_empty()),
        (Function::ToNumber, value) => Value::Number(to_number(value)?),
        (Function::ToTime, value) => calendar::to_time(value)?,
        _ => return None,
    })
}

fn binary(function: Function, left: &Value, right: &Value) -> Option<Value> {
    if left.is_null() || right.is_null() {
        return None;
    }
    if let Some(truth) = compare(function, left, right) {
        return Some(truth);
    }
    Some(match (left, right) {
        (Value::Number(number), Value::Number(digits)) if function == Function::Round => {
            Value::Number(round_to(*number, digits.to_i64()?)?)
        }
        (Value::Number(left), Value::Number(right)) => {
            Value::Number(arithmetic(function, *left, *right)?)
        }
        (Value::Time(time), Value::Number(seconds)) if function == Function::AddSeconds => {
            Value::Time(time.plus_seconds(*seconds)?)
        }
        (Value::Time(time), Value::Number(width)) if function == Function::TimeBucket => {
            return time_bucket(*time, *width, Number::ZERO);
        }
        (Value::Time(left), Value::Time(right)) if function == Function::SecondsBetween => {
            Value::Number(seconds_between(*left, *right)?)
        }
        (Value::String(text), Value::String(point)) if function == Function::ToNumber => {
            Value::Number(grouped_number(text, point)?)
        }
        _ => return None,
    })
}

fn compare(function: Function, left: &Value, right: &Value) -> Option<Value> {
    let order = left.cmp(right);
    Some(truth(match function {
        Function::Equal => order == Ordering::Equal,
        Function::NotEqual => order != Ordering::Equal,
        Function::Less => order == Ordering::Less,
        Function::LessOrEqual => order != Ordering::Greater,
        Function::Greater => order == Ordering::Greater,
        Function::GreaterOrEqual => order != Ordering::Less,
        _ => return None,
    }))
}

fn arithmetic(function: Function, left: Number, right: Number) -> Option<Number> {
    if function == Function::Bucket && right <= Number::ZERO {
        return None;
    }
    let decimals = left.to_decimal().zip(right.to_decimal());
    let exact = decimals.and_then(|(left, right)| decimal(function, left, right));
    exact.map(Number::from).or_else(|| double(function, left.to_f64(), right.to_f64()))
}

fn decimal(function: Function, left: Decimal, right: Decimal) -> Option<Decimal> {
    match function {
        Function::Add => left.checked_add(right),
        Function::Subtract => left.checked_sub(right),
        Function::Multiply => left.checked_mul(right),
        Function::DivideWhole => {
            let scale = left.scale().max(right.scale());
            let (left, right) = (left.mantissa_at(scale)?, right.mantissa_at(scale)?);
            Decimal::new(left.checked_div(right)?, 0)
        }
        Function::Remainder => {
            let scale = left.scale().max(right.scale());
            let (left, right) = (left.mantissa_at(scale)?, right.mantissa_at(scale)?);
            Decimal::new(left.checked_rem(right)?, scale)
        }
        Function::Bucket => bucket(left, right),
        _ => None,
    }
}

fn double(function: Function, left: f64, right: f64) -> Option<Number> {
    let divides = matches!(
        function,
        Function::Divide | Function::DivideWhole | Function::Remainder | Function::Bucket
    );
    if divides && right == 0.0 {
        return None;
    }
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

fn bucket(value: Decimal, width: Decimal) -> Option<Decimal> {
    let scale = value.scale().max(width.scale());
    let (value, width) = (value.mantissa_at(scale)?, width.mantissa_at(scale)?);
    Decimal::new(value.checked_div_euclid(width)?.checked_mul(width)?, scale)
}

fn negate(number: Number) -> Option<Number> {
    match number.to_decimal().and_then(Decimal::checked_neg) {
        Some(negated) => Some(negated.into()),
        None => Number::from_f64(-number.to_f64()),
    }
}

fn floor(number: Number) -> Option<Number> {
    let Some(decimal) = number.to_decimal() else {
        return Number::from_f64(number.to_f64().floor());
    };
    let (whole, rest) = decimal.split();
    Decimal::new(whole - i128::from(rest < 0), 0).map(Number::from)
}

fn ceil(number: Number) -> Option<Number> {
    let Some(decimal) = number.to_decimal() else {
        return Number::from_f64(number.to_f64().ceil());
    };
    let (whole, rest) = decimal.split();
    Decimal::new(whole + i128::from(rest > 0), 0).map(Number::from)
}

/// Rounds to `digits` digits after the point; a negative number rounds to tens, hundreds and so on.
fn round_to(number: Number, digits: i64) -> Option<Number> {
    match u8::try_from(digits) {
        Ok(digits) => round(number, digits),
        Err(_) => {
            let power = digits.checked_neg().and_then(|power| u8::try_from(power).ok());
            round_whole(number, power.filter(|&power| power <= DECIMAL_SCALE_MAX)?)
        }
    }
}

/// Rounds to a multiple of 10^power.
fn round_whole(number: Number, power: u8) -> Option<Number> {
    let (mantissa, exponent) = number.digits();
    let Some(shift) = i32::from(power).checked_sub(exponent).filter(|&shift| shift > 0) else {
        return Some(number);
    };
    // A missing power is at least 10^39, and no mantissa reaches half of that.
    let unit = u8::try_from(shift).ok().and_then(power_of_ten);
    let Some(unit) = unit else { return Some(Number::ZERO) };
    let (whole, rest) = (mantissa / unit, mantissa % unit);
    let up = rest.abs() >= unit / 2;
    let rounded = whole + if up { mantissa.signum() } else { 0 };
    let rounded = rounded.checked_mul(power_of_ten(power)?);
    let rounded = rounded.and_then(|rounded| Decimal::new(rounded, 0));
    Some(rounded.map_or(number, Number::from))
}

fn round(number: Number, digits: u8) -> Option<Number> {
    let (_, exponent) = number.digits();
    if exponent >= -i32::from(digits) {
        return Some(number);
    }
    // A double that exceeds 128 bits once scaled has no digits to lose.
    let scaled = number.to_scaled(digits).and_then(|scaled| Decimal::new(scaled, digits));
    Some(scaled.map_or(number, Number::from))
}

fn count(length: usize) -> Option<Value> {
    i64::try_from(length).ok().map(Value::integer)
}

fn to_number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Bool(truth) => Some(Number::integer(i64::from(*truth))),
        Value::String(text) => text.trim().parse().ok(),
        Value::Time(time) => Decimal::new(i128::from(time.0), 6).map(Number::from),
        _ => None,
    }
}

/// Reads `1.299,99` if `point` is a comma, `1,299.99` if it is a point. Groups have three digits.
fn grouped_number(text: &str, point: &str) -> Option<Number> {
    let separators: &[char] = match point {
        "," => &['.', ' ', '\'', '\u{a0}', '\u{202f}'],
        "." => &[',', ' ', '\'', '\u{a0}', '\u{202f}'],
        _ => return None,
    };
    let text = text.trim();
    let (whole, fraction) = match text.split_once(point) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let mut groups = whole.split(separators);
    let mut plain = groups.next()?.to_owned();
    let is_grouped = plain.len() < whole.len();
    if is_grouped && plain.trim_start_matches(['-', '+']).len() > 3 {
        return None;
    }
    for group in groups {
        if group.len() != 3 || !group.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        plain.push_str(group);
    }
    if let Some(fraction) = fraction {
        plain.push('.');
        plain.push_str(fraction);
    }
    plain.parse().ok()
}

fn seconds_between(later: Micros, earlier: Micros) -> Option<Number> {
    let micros = i128::from(later.0) - i128::from(earlier.0);
    Decimal::new(micros, 6).map(Number::from)
}

fn time_bucket(time: Micros, width: Number, origin: Number) -> Option<Value> {
    let (width, origin) = (width.to_i64().filter(|&width| width > 0)?, origin.to_i64()?);
    let since = time.0.checked_sub(origin)?;
    let start = since.div_euclid(width).checked_mul(width)?.checked_add(origin)?;
    Some(Value::Time(Micros(start)))
}

fn extract(field: TimeField, time: Micros) -> Option<Number> {
    let civil = time_zone::civil(time)?;
    Some(Number::integer(match field {
        TimeField::Epoch => return to_number(&Value::Time(time)),
        TimeField::Second | TimeField::Millisecond => {
            let micros = time.0.rem_euclid(60 * Micros::SECOND);
            let scale = if field == TimeField::Second { 6 } else { 3 };
            return Decimal::new(i128::from(micros), scale).map(Number::from);
        }
        TimeField::Year => civil.year().into(),
        TimeField::Month => civil.month().into(),
        TimeField::Day => civil.day().into(),
        TimeField::Hour => civil.hour().into(),
        TimeField::Minute => civil.minute().into(),
        TimeField::DayOfWeek => civil.weekday().to_sunday_zero_offset().into(),
        TimeField::Quarter => (i64::from(civil.month()) + 2) / 3,
        TimeField::Week => civil.iso_week_date().week().into(),
        TimeField::IsoYear => civil.iso_week_date().year().into(),
        TimeField::DayOfYear => civil.day_of_year().into(),
        TimeField::IsoDayOfWeek => civil.weekday().to_monday_one_offset().into(),
    }))
}

/// Whether any string of `value` contains `needle`, which must be in lower case.
pub(crate) fn contains_text(value: &Value, needle: &str) -> bool {
    let contains = |text: &Arc<str>| text.to_lowercase().contains(needle);
    match value {
        Value::String(text) => contains(text),
        Value::Set(list) | Value::Vector(list) => list.iter().any(contains),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
