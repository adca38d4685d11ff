//! Arithmetic of numbers and times. A duration is a number of seconds.

use hadal_query::{Function, Type};
use hadal_types::Value;
use sqlparser::ast::BinaryOperator;
use sqlparser::tokenizer::Location;

use crate::bind::bound_expr::TypedExpr;
use crate::bind::literal;
use crate::bind::scope::a;
use crate::error::{LocatedError, NOWHERE, Read};

/// Binds `left op right`.
pub(crate) fn binary(op: &BinaryOperator, left: TypedExpr, right: TypedExpr) -> Read<TypedExpr> {
    use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus};
    let (left, right) = match op {
        Minus => (left_time(left, &right)?, right),
        _ => (left, right),
    };
    match (op, left.value_type, right.value_type) {
        (Minus, Type::Time, Type::Time | Type::String) | (Minus, Type::String, Type::String) => {
            let (left, right) = (time(left)?, time(right)?);
            let between = TypedExpr::call(Function::SecondsBetween, [left, right], Type::Number);
            Ok(TypedExpr { whole: true, ..between })
        }
        (Plus, Type::Time, Type::Time) => {
            Err(LocatedError::new("two times cannot be added", NOWHERE)
                .hint("their difference is a number of seconds: time - other"))
        }
        (Plus, Type::Time, _) => later(left, right),
        (Plus, _, Type::Time) => later(right, left),
        (Minus, Type::Time, _) => {
            let seconds = number(right, NOWHERE)?;
            later(left, TypedExpr::call(Function::Negate, [seconds], Type::Number))
        }
        (Plus, ..) => numbers(Function::Add, left, right),
        (Minus, ..) => numbers(Function::Subtract, left, right),
        (Divide | Multiply | Modulo, Type::Time, _) => Err(time_is_no_number(&right)),
        (Multiply, ..) => numbers(Function::Multiply, left, right),
        (Modulo, ..) => numbers(Function::Remainder, left, right),
        (Divide, ..) if left.whole && right.whole => numbers(Function::DivideWhole, left, right),
        (Divide, ..) => {
            let quotient = numbers(Function::Divide, left, right)?;
            Ok(TypedExpr { whole: false, ..quotient })
        }
        _ => Err(LocatedError::new(format!("there is no operator {op}"), NOWHERE)),
    }
}

/// Reads the left side of a subtraction as a time if the right side is one.
fn left_time(left: TypedExpr, right: &TypedExpr) -> Read<TypedExpr> {
    match right.value_type {
        Type::Time => time(left),
        _ => Ok(left),
    }
}

/// Converts to a time: a time stays, a constant text is parsed.
pub(crate) fn time(bound: TypedExpr) -> Read<TypedExpr> {
    match (bound.value_type, bound.as_string()) {
        (Type::Time | Type::Null, _) => Ok(bound),
        (_, Some(text)) => literal::time_of_text(text).map(TypedExpr::literal),
        (Type::String, None) => Ok(bound.into_time()),
        (other, None) => {
            let error =
                LocatedError::new(format!("a time is needed; this is {}", a(other)), NOWHERE);
            Err(match other {
                Type::Number => error.hint(
                    "to_timestamp(seconds) makes a time of a number; of milliseconds, divide them \
                     by 1000",
                ),
                _ => error,
            })
        }
    }
}

/// The error for arithmetic on a time; the hint fits the other side's number of seconds.
fn time_is_no_number(other: &TypedExpr) -> LocatedError {
    let seconds = other.as_number().and_then(hadal_types::Number::to_i64);
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let width = seconds.filter(|&seconds| seconds > 0).and_then(|seconds| {
        let (unit, name) = units.into_iter().find(|(unit, _)| seconds % unit == 0)?;
        let (count, plural) = (seconds / unit, if seconds == unit { "" } else { "s" });
        Some(format!("{count} {name}{plural}"))
    });
    let width = width.unwrap_or_else(|| "1 minute".to_owned());
    LocatedError::new("a time is no number", NOWHERE).hint(format!(
        "time_bucket('{width}', time) rounds times down; epoch(time) is a number of seconds"
    ))
}

/// `time` plus a number of seconds.
pub(crate) fn later(time: TypedExpr, seconds: TypedExpr) -> Read<TypedExpr> {
    let seconds = number(seconds, NOWHERE)?;
    let constant =
        seconds.as_number().is_some() && matches!(time.as_literal(), Some(Value::Time(_)));
    let local = time.local;
    let later = TypedExpr::call(Function::AddSeconds, [time, seconds], Type::Time);
    let later = TypedExpr { local, ..later };
    match later.as_literal() {
        Some(Value::Null) if constant => Err(literal::outside()),
        _ => Ok(later),
    }
}

fn numbers(function: Function, left: TypedExpr, right: TypedExpr) -> Read<TypedExpr> {
    let whole = left.whole && right.whole;
    let (left, right) = (number(left, NOWHERE)?, number(right, NOWHERE)?);
    Ok(TypedExpr { whole, ..TypedExpr::call(function, [left, right], Type::Number) })
}

/// Converts to a number: a number stays, a truth value becomes 0 or 1.
pub(crate) fn number(bound: TypedExpr, at: Location) -> Read<TypedExpr> {
    match bound.value_type {
        Type::Number | Type::Null => Ok(bound),
        Type::Bool => Ok(bound.into_number()),
        Type::String => Err(LocatedError::new("a number is needed; this is a string", at)
            .hint("to_number(text) reads numbers in text; name::number is a column's number part")),
        Type::Time => Err(time_is_no_number(&bound).or_at(at)),
        other => Err(LocatedError::new(format!("a number is needed; this is {}", a(other)), at)),
    }
}
