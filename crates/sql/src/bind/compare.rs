//! Comparisons: the common type of two sides with different types.
//!
//! | sides | compared as |
//! |---|---|
//! | time with text or number | times; texts are ISO 8601, a number is Unix seconds |
//! | number with text | strings, the number by its decimal text; by `< <= > >=` with a text that spells a number, numbers |
//! | bool with 0, 1, 'true', 'false' | bools |
//! | bool with any other number | numbers 0 and 1 |
//! | anything else that differs | an error |

use hadal_query::{Function, Type};
use hadal_types::{Number, Value, limits};
use sqlparser::ast::{BinaryOperator, Expr};

use crate::bind::Binder;
use crate::bind::bound_expr::TypedExpr;
use crate::bind::cast::truth_of_text;
use crate::bind::literal;
use crate::bind::scope::a;
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::source_position::place;

/// The conversion of one side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
enum As {
    Same,
    Literal(Value),
    Number,
    Text,
    Time,
}

/// The function of a comparison operator; `None` for other operators.
pub(crate) fn operator(op: &BinaryOperator) -> Option<Function> {
    Some(match op {
        BinaryOperator::Eq => Function::Equal,
        BinaryOperator::NotEq => Function::NotEqual,
        BinaryOperator::Lt => Function::Less,
        BinaryOperator::LtEq => Function::LessOrEqual,
        BinaryOperator::Gt => Function::Greater,
        BinaryOperator::GtEq => Function::GreaterOrEqual,
        _ => return None,
    })
}

/// Binds `left function right`.
pub(crate) fn compare_exprs(
    binder: &mut Binder<'_>,
    function: Function,
    left: &Expr,
    right: &Expr,
) -> Read<TypedExpr> {
    let sides = (binder.bind(left)?, binder.bind(right)?);
    // A constant is most often the side that is wrong.
    let blamed = if sides.1.as_literal().is_some() { right } else { left };
    compare(function, sides.0, sides.1).map_err(|error| error.or_at(place(blamed)))
}

/// Compares two bound sides.
pub(crate) fn compare(function: Function, left: TypedExpr, right: TypedExpr) -> Read<TypedExpr> {
    let (left_as, right_as) = meet(function, &left, &right)?;
    let sides = [become_as(left, left_as), become_as(right, right_as)];
    Ok(TypedExpr::call(function, sides, Type::Bool))
}

/// Binds `expr BETWEEN low AND high`; both ends are included.
pub(crate) fn between(
    binder: &mut Binder<'_>,
    expr: &Expr,
    low: &Expr,
    high: &Expr,
) -> Read<TypedExpr> {
    let value = binder.bind(expr)?;
    let again = binder.copy(&value)?;
    let low = compare(Function::GreaterOrEqual, again, binder.bind(low)?)?;
    let high = compare(Function::LessOrEqual, value, binder.bind(high)?)?;
    Ok(TypedExpr::call(Function::And, [low, high], Type::Bool))
}

/// Binds `expr IN (list)`.
pub(crate) fn in_list(binder: &mut Binder<'_>, expr: &Expr, list: &[Expr]) -> Read<TypedExpr> {
    if let Some(beyond) = list.get(limits::IN_ITEMS_MAX) {
        let (length, most) = (list.len(), limits::IN_ITEMS_MAX);
        let message = format!("an IN list of {length} items; at most {most} are allowed");
        return Err(LocatedError::new(message, place(beyond)));
    }
    let value = binder.bind(expr)?;
    let (mut literals, mut sides, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for item in list {
        let bound = binder.bind(item)?;
        match bound.as_literal() {
            Some(_) if value.as_literal().is_none() => {
                let met = meet(Function::Equal, &value, &bound);
                sides.push(met.map_err(|error| error.or_at(place(item)))?);
                literals.push(bound);
            }
            _ => {
                let same = compare(Function::Equal, binder.copy(&value)?, bound);
                others.push(same.map_err(|error| error.or_at(place(item)))?);
            }
        }
    }
    if !literals.is_empty() {
        others.insert(0, in_literals(value, literals, sides));
    }
    Ok(match others.len() {
        1 => others.remove(0),
        _ => TypedExpr::call_all(Function::Or, others, Type::Bool),
    })
}

/// Makes an IN of literals. The value is compared with all of them, so it can have only one type.
fn in_literals(value: TypedExpr, literals: Vec<TypedExpr>, sides: Vec<(As, As)>) -> TypedExpr {
    let wants = |target: &As| sides.iter().any(|(value, _)| value == target);
    let common = match () {
        () if wants(&As::Time) => As::Time,
        () if wants(&As::Text) => As::Text,
        () if wants(&As::Number) => As::Number,
        () => As::Same,
    };
    // A literal that was converted otherwise is converted again to the value's type.
    let items = literals.into_iter().zip(sides);
    let items =
        items.map(|(literal, (_, side))| become_as(become_as(literal, side), common.clone()));
    let items: Vec<TypedExpr> = items.collect();
    let value = become_as(value, common);
    let arguments = std::iter::once(value).chain(items).collect();
    TypedExpr::call_all(Function::In, arguments, Type::Bool)
}

fn become_as(bound: TypedExpr, target: As) -> TypedExpr {
    match target {
        As::Same => bound,
        As::Literal(value) => TypedExpr::literal(value),
        As::Number => bound.into_number(),
        As::Time => bound.into_time(),
        // A null stays null in every conversion.
        As::Text if bound.value_type == Type::Null => bound,
        As::Text => bound.into_text(),
    }
}

/// Returns the conversions that make the two sides comparable.
fn meet(function: Function, left: &TypedExpr, right: &TypedExpr) -> Read<(As, As)> {
    let pair = (left.value_type, right.value_type);
    if pair.0 == Type::Null || pair.1 == Type::Null {
        return Ok((As::Same, As::Same));
    }
    if pair.0 == pair.1 {
        return match pair.0 {
            Type::Set | Type::Vector | Type::Histogram if is_order(function) => {
                Err(cannot(function, left, right))
            }
            _ => Ok((As::Same, As::Same)),
        };
    }
    if let Some(sides) = meet_ordered(function, left, right)? {
        return Ok(sides);
    }
    match meet_ordered(function, right, left)? {
        Some((right, left)) => Ok((left, right)),
        None => Err(cannot(function, left, right)),
    }
}

/// As [`meet`], for one order of the sides; `None` if that order does not apply.
fn meet_ordered(function: Function, left: &TypedExpr, right: &TypedExpr) -> Read<Option<(As, As)>> {
    Ok(match (left.value_type, right.value_type) {
        (Type::Time, Type::String) => match right.as_string() {
            Some(text) => Some((As::Same, As::Literal(literal::time_of_text(text)?))),
            None => Some((As::Same, As::Time)),
        },
        (Type::Time, Type::Number) => match right.as_number() {
            Some(number) => Some((As::Same, As::Literal(literal::time_of_number(number)?))),
            None => Some((As::Number, As::Same)),
        },
        (Type::Number, Type::String) => meet_text(function, left, right),
        (Type::Bool, Type::Number) => match right.as_number() {
            Some(number) if number == Number::ZERO => {
                Some((As::Same, As::Literal(Value::Bool(false))))
            }
            Some(one) if one == Number::integer(1) => {
                Some((As::Same, As::Literal(Value::Bool(true))))
            }
            _ => Some((As::Number, As::Same)),
        },
        (Type::Bool, Type::String) => right
            .as_string()
            .and_then(truth_of_text)
            .map(|truth| (As::Same, As::Literal(Value::Bool(truth)))),
        _ => None,
    })
}

/// Compares a number with a text: as numbers, if `function` is an order and the text is a number;
/// else as strings.
fn meet_text(function: Function, number: &TypedExpr, text: &TypedExpr) -> Option<(As, As)> {
    if !is_order(function) {
        return Some((As::Text, As::Same));
    }
    match text.as_string()?.trim().parse() {
        Ok(spelled) => Some((As::Same, As::Literal(Value::Number(spelled)))),
        Err(_) if number.as_number().is_none() => Some((As::Text, As::Same)),
        Err(_) => None,
    }
}

fn is_order(function: Function) -> bool {
    !matches!(function, Function::Equal | Function::NotEqual)
}

fn cannot(function: Function, left: &TypedExpr, right: &TypedExpr) -> LocatedError {
    let (left, right) = (left.value_type, right.value_type);
    let message = format!("{} cannot be compared with {}", a(left), a(right));
    let error = LocatedError::new(message, NOWHERE);
    match (left, right) {
        (Type::Set | Type::Vector, _) | (_, Type::Set | Type::Vector) => {
            error.hint("ask what it includes: includes_any(column, 'x')")
        }
        (Type::Number, Type::String) | (Type::String, Type::Number) if is_order(function) => {
            error.hint("to_number(text) reads numbers in text")
        }
        _ => error,
    }
}
