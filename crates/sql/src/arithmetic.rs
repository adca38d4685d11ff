//! Arithmetic of numbers and of times. A length of time is a number of seconds.

use hadal_query::{Function, Type};
use hadal_types::Value;
use sqlparser::ast::BinaryOperator;
use sqlparser::tokenizer::Location;

use crate::bound::Bound;
use crate::error::{Fault, NOWHERE, Read};
use crate::literal;
use crate::scope::a;

/// `left op right`.
pub(crate) fn binary(op: &BinaryOperator, left: Bound, right: Bound) -> Read<Bound> {
    use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus};
    let (left, right) = match op {
        Minus => (left_time(left, &right)?, right),
        _ => (left, right),
    };
    match (op, left.value_type, right.value_type) {
        (Minus, Type::Time, Type::Time | Type::String) => {
            let right = time(right)?;
            let between = Bound::call(Function::SecondsBetween, [left, right], Type::Number);
            Ok(Bound { whole: true, ..between })
        }
        (Plus, Type::Time, _) => later(left, right),
        (Plus, _, Type::Time) => later(right, left),
        (Minus, Type::Time, _) => {
            let seconds = number(right, NOWHERE)?;
            later(left, Bound::call(Function::Negate, [seconds], Type::Number))
        }
        (Plus, ..) => numbers(Function::Add, left, right),
        (Minus, ..) => numbers(Function::Subtract, left, right),
        (Multiply, ..) => numbers(Function::Multiply, left, right),
        (Modulo, ..) => numbers(Function::Remainder, left, right),
        (Divide, ..) if left.whole && right.whole => numbers(Function::DivideWhole, left, right),
        (Divide, ..) => {
            let quotient = numbers(Function::Divide, left, right)?;
            Ok(Bound { whole: false, ..quotient })
        }
        _ => Err(Fault::new(format!("there is no operator {op}"), NOWHERE)),
    }
}

/// A text from which a time is taken away is a time.
fn left_time(left: Bound, right: &Bound) -> Read<Bound> {
    match right.value_type {
        Type::Time => time(left),
        _ => Ok(left),
    }
}

/// A time: itself, or a constant text that spells one.
pub(crate) fn time(bound: Bound) -> Read<Bound> {
    match (bound.value_type, bound.as_string()) {
        (Type::Time | Type::Null, _) => Ok(bound),
        (_, Some(text)) => literal::time_of_text(text).map(Bound::literal),
        (other, None) => {
            Err(Fault::new(format!("a time is needed; this is {}", a(other)), NOWHERE))
        }
    }
}

/// `time`, so many seconds later.
fn later(time: Bound, seconds: Bound) -> Read<Bound> {
    let seconds = number(seconds, NOWHERE)?;
    let constant =
        seconds.as_number().is_some() && matches!(time.as_literal(), Some(Value::Time(_)));
    let later = Bound::call(Function::AddSeconds, [time, seconds], Type::Time);
    match later.as_literal() {
        Some(Value::Null) if constant => Err(literal::outside()),
        _ => Ok(later),
    }
}

fn numbers(function: Function, left: Bound, right: Bound) -> Read<Bound> {
    let whole = left.whole && right.whole;
    let (left, right) = (number(left, NOWHERE)?, number(right, NOWHERE)?);
    Ok(Bound { whole, ..Bound::call(function, [left, right], Type::Number) })
}

/// A number: itself, or a truth as 0 and 1.
pub(crate) fn number(bound: Bound, at: Location) -> Read<Bound> {
    match bound.value_type {
        Type::Number | Type::Null => Ok(bound),
        Type::Bool => Ok(bound.into_number()),
        Type::String => Err(Fault::new("a number is needed; this is a string", at)
            .hint("to_number(text) reads numbers in text; name::number is a column's number part")),
        other => Err(Fault::new(format!("a number is needed; this is {}", a(other)), at)),
    }
}
