//! The meaning of each function, written again from the documentation of `hadal_query::Function`.

use std::cmp::Ordering;
use std::sync::Arc;

use hadal_query::Function;
use hadal_types::{Micros, Number, Value};

use super::exact::Exact;
use super::{arithmetic, calendar, math, texts};

/// Computes `function`; null for arguments of a wrong number or type.
pub(super) fn call(function: Function, arguments: &[Value]) -> Value {
    match function {
        Function::And => settled(arguments, false),
        Function::Or => settled(arguments, true),
        Function::IsNull => Value::Bool(arguments.iter().all(Value::is_null)),
        Function::Coalesce => first_present(arguments),
        Function::Case => chosen(arguments),
        Function::Concat => joined(arguments),
        Function::In => is_in(arguments),
        Function::Greatest => extreme(arguments, Ordering::Greater),
        Function::Least => extreme(arguments, Ordering::Less),
        _ if arguments.iter().any(Value::is_null) => Value::Null,
        _ => of_present(function, arguments).unwrap_or(Value::Null),
    }
}

/// The boolean `decisive` wins over null, null over the other boolean.
fn settled(arguments: &[Value], decisive: bool) -> Value {
    let mut unknown = false;
    for argument in arguments {
        match argument {
            Value::Bool(truth) if *truth == decisive => return Value::Bool(decisive),
            Value::Bool(_) => {}
            _ => unknown = true,
        }
    }
    if unknown { Value::Null } else { Value::Bool(!decisive) }
}

fn first_present(arguments: &[Value]) -> Value {
    for argument in arguments {
        if !argument.is_null() {
            return argument.clone();
        }
    }
    Value::Null
}

fn chosen(arguments: &[Value]) -> Value {
    let mut at = 0;
    while at + 1 < arguments.len() {
        if arguments[at] == Value::Bool(true) {
            return arguments[at + 1].clone();
        }
        at += 2;
    }
    arguments.get(at).cloned().unwrap_or(Value::Null)
}

fn joined(arguments: &[Value]) -> Value {
    let mut text = String::new();
    for argument in arguments {
        if !argument.is_null() {
            text.push_str(&argument.to_string());
        }
    }
    Value::string(&text)
}

fn is_in(arguments: &[Value]) -> Value {
    let Some((needle, list)) = arguments.split_first() else { return Value::Null };
    let equal: Vec<Value> =
        list.iter().map(|item| call(Function::Equal, &[needle.clone(), item.clone()])).collect();
    // An empty list contains nothing, but for null the result is unknown.
    if needle.is_null() { Value::Null } else { settled(&equal, true) }
}

fn of_present(function: Function, arguments: &[Value]) -> Option<Value> {
    use Value::{Bool, Number, Set, String, Time, Vector};
    Some(match (function, arguments) {
        (Function::Not, [Bool(truth)]) => Bool(!truth),
        (Function::Equal, [left, right]) => Bool(compare(left, right)?.is_eq()),
        (Function::NotEqual, [left, right]) => Bool(compare(left, right)?.is_ne()),
        (Function::Less, [left, right]) => Bool(compare(left, right)?.is_lt()),
        (Function::LessOrEqual, [left, right]) => Bool(compare(left, right)?.is_le()),
        (Function::Greater, [left, right]) => Bool(compare(left, right)?.is_gt()),
        (Function::GreaterOrEqual, [left, right]) => Bool(compare(left, right)?.is_ge()),
        (Function::AddSeconds, [Time(time), Number(seconds)]) => {
            Time(add_seconds(*time, *seconds)?)
        }
        (Function::SecondsBetween, [Time(left), Time(right)]) => {
            whole(exact(left.0).minus(&exact(right.0)).shifted_down(6))?
        }
        (Function::TimeBucket, [Time(time), Number(width)]) => bucket_of(*time, *width, 0)?,
        (Function::TimeBucket, [Time(time), Number(width), Number(origin)]) => {
            bucket_of(*time, *width, origin.to_i64()?)?
        }
        (Function::Extract(field), [Time(time)]) => whole(calendar::extract(field, *time))?,
        (Function::Calendar(function), [Time(time), rest @ ..]) => {
            calendar::call(function, *time, rest)?
        }
        (Function::ToTime, [String(text)]) => hadal_types::time::parse_timestamp(text).map(Time)?,
        (Function::ToTime, [Time(time)]) => Time(*time),
        (Function::Text(function), [String(text), rest @ ..]) => texts::call(function, text, rest)?,
        (Function::Math(function), numbers) => math::call(function, numbers)?,
        (Function::ToNumber, [String(text), String(point)]) => texts::to_number(text, point)?,
        (Function::Lower, [String(text)]) => Value::string(&text.to_lowercase()),
        (Function::Upper, [String(text)]) => Value::string(&text.to_uppercase()),
        (Function::Length, [String(text)]) => {
            Value::integer(i64::try_from(text.chars().count()).ok()?)
        }
        (Function::Length, [Set(list) | Vector(list)]) => {
            Value::integer(i64::try_from(list.len()).ok()?)
        }
        (Function::IsEmpty, [Set(list) | Vector(list)]) => Bool(list.is_empty()),
        (Function::ToText, [value]) => Value::string(&value.to_string()),
        (Function::ToNumber, [value]) => to_number(value)?,
        (_, [Set(list) | Vector(list), words @ ..]) => Bool(includes(function, list, words)?),
        (_, [Number(number)]) => Number(arithmetic::unary(function, *number)?),
        (_, [Number(left), Number(right)]) => Number(arithmetic::binary(function, *left, *right)?),
        _ => return None,
    })
}

/// The argument that is on this side of all others; nulls are ignored.
fn extreme(arguments: &[Value], side: Ordering) -> Value {
    let mut best = Value::Null;
    for argument in arguments.iter().filter(|argument| !argument.is_null()) {
        if best.is_null() || compare(argument, &best) == Some(side) {
            best = argument.clone();
        }
    }
    best
}

fn exact(integer: i64) -> Exact {
    Exact::from_integer(integer.into())
}

fn whole(number: Exact) -> Option<Value> {
    number.to_decimal().map(Value::Number)
}

/// The order of two values of one type.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    Some(match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => arithmetic::compare(*left, *right),
        (Value::Time(left), Value::Time(right)) => left.0.cmp(&right.0),
        (Value::String(left), Value::String(right)) => left.as_bytes().cmp(right.as_bytes()),
        (Value::Set(left), Value::Set(right)) | (Value::Vector(left), Value::Vector(right)) => {
            left.iter().cmp(right.iter())
        }
        _ => return None,
    })
}

fn add_seconds(time: Micros, seconds: Number) -> Option<Micros> {
    let million = Exact::from_integer(Micros::SECOND.into());
    let micros = Exact::from_number(seconds).times(&million).rounded(0);
    let sum = exact(time.0).plus(&micros).to_integer()?;
    let (first, last) = (i128::from(Micros::MIN.0), i128::from(Micros::MAX.0));
    (first..=last).contains(&sum).then_some(Micros(i64::try_from(sum).ok()?))
}

fn bucket_of(time: Micros, width: Number, origin: i64) -> Option<Value> {
    let width = i128::from(width.to_i64()?);
    if width <= 0 {
        return None;
    }
    let since = i128::from(time.0) - i128::from(origin);
    let mut start = since / width * width;
    if start > since {
        start -= width;
    }
    i64::try_from(start + i128::from(origin)).ok().map(|start| Value::Time(Micros(start)))
}

fn to_number(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::Bool(true) => Some(Value::integer(1)),
        Value::Bool(false) => Some(Value::integer(0)),
        Value::Time(time) => whole(exact(time.0).shifted_down(6)),
        Value::String(text) => text.trim().parse().ok().map(Value::Number),
        _ => None,
    }
}

fn includes(function: Function, list: &[Arc<str>], words: &[Value]) -> Option<bool> {
    let words: Vec<&str> = words
        .iter()
        .map(|word| if let Value::String(word) = word { Some(&**word) } else { None })
        .collect::<Option<_>>()?;
    let list: Vec<&str> = list.iter().map(|element| &**element).collect();
    let included = words.iter().filter(|word| list.contains(word)).count();
    Some(match function {
        Function::IncludesAny => included > 0,
        Function::IncludesAll => included == words.len(),
        Function::IncludesNone => included == 0,
        Function::IncludesStart => list.starts_with(&words),
        Function::IncludesEnd => list.ends_with(&words),
        Function::IncludesWithin => (0..=list.len()).any(|start| list[start..].starts_with(&words)),
        _ => return None,
    })
}
