//! `x = ANY(ARRAY[…])`, `x <> ALL(ARRAY[…])` and the like, and `IS [NOT] DISTINCT FROM`.

use std::borrow::Cow;

use hadal_query::{Function, Type};
use hadal_types::{Value, limits};
use sqlparser::ast::{self, BinaryOperator, DataType, Expr};

use crate::bind::bound_expr::{TypedExpr, nodes};
use crate::bind::compare;
use crate::bind::{Binder, strip};
use crate::error::{LocatedError, Read};
use crate::syntax::source_position::place;

/// Binds `left op ANY(right)`.
pub(crate) fn any(
    binder: &mut Binder<'_>,
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
) -> Read<TypedExpr> {
    match (op, elements(right)) {
        (BinaryOperator::Eq, Some(elements)) => compare::in_list(binder, left, &elements),
        (_, Some(elements)) => each(binder, left, op, &elements, Function::Or),
        (BinaryOperator::Eq, None) => member(binder, left, right, Function::IncludesAny),
        (_, None) => Err(needs_array(right)),
    }
}

/// Binds `left op ALL(right)`.
pub(crate) fn all(
    binder: &mut Binder<'_>,
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
) -> Read<TypedExpr> {
    match (op, elements(right)) {
        (BinaryOperator::NotEq, Some(elements)) => {
            compare::in_list(binder, left, &elements).map(TypedExpr::negated)
        }
        (_, Some(elements)) => each(binder, left, op, &elements, Function::And),
        (BinaryOperator::NotEq, None) => member(binder, left, right, Function::IncludesNone),
        (_, None) => Err(needs_array(right)),
    }
}

/// The elements of `ARRAY[…]`, or of a text `'{a,b}'`, which is how drivers write a list. A cast of
/// it has no effect.
pub(crate) fn elements(expr: &Expr) -> Option<Cow<'_, [Expr]>> {
    match strip(expr) {
        Expr::Array(array) => Some(Cow::Borrowed(&array.elem)),
        Expr::Cast { expr, data_type: DataType::Array(_), .. } => elements(expr),
        Expr::Value(value) => match &value.value {
            ast::Value::SingleQuotedString(text) => elements_of_text(text).map(Cow::Owned),
            _ => None,
        },
        _ => None,
    }
}

/// The elements of `{a,"b, c"}`; `None` for other texts.
fn elements_of_text(text: &str) -> Option<Vec<Expr>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut elements: Vec<(String, bool)> = Vec::new();
    let (mut element, mut is_open, mut was_quoted) = (String::new(), false, false);
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => element.push(characters.next()?),
            '"' => (is_open, was_quoted) = (!is_open, true),
            ',' if !is_open => {
                elements.push((std::mem::take(&mut element), was_quoted));
                was_quoted = false;
            }
            '{' | '}' if !is_open => return None,
            other => element.push(other),
        }
    }
    if !inner.trim().is_empty() {
        elements.push((element, was_quoted));
    }
    let value = |(text, was_quoted): (String, bool)| match was_quoted {
        true => ast::Value::SingleQuotedString(text),
        false if text.trim().eq_ignore_ascii_case("null") => ast::Value::Null,
        false => ast::Value::SingleQuotedString(text.trim().to_owned()),
    };
    (!is_open).then(|| elements.into_iter().map(value).map(Expr::value).collect())
}

fn needs_array(right: &Expr) -> LocatedError {
    LocatedError::new("ANY and ALL take a list of values", place(right))
        .hint("x = ANY(ARRAY['a', 'b']), or x IN ('a', 'b'); Hadal has no subqueries")
}

/// The conditions `left op element` of all elements, joined by AND or OR.
fn each(
    binder: &mut Binder<'_>,
    left: &Expr,
    op: &BinaryOperator,
    elements: &[Expr],
    junction: Function,
) -> Read<TypedExpr> {
    if let Some(beyond) = elements.get(limits::IN_ITEMS_MAX) {
        let (length, most) = (elements.len(), limits::IN_ITEMS_MAX);
        let message = format!("a list of {length} items; at most {most} are allowed");
        return Err(LocatedError::new(message, place(beyond)));
    }
    let mut conditions = Vec::with_capacity(elements.len());
    for element in elements {
        let condition = binder.binary(left, left, op, element)?;
        if condition.value_type != Type::Bool {
            return Err(LocatedError::new(format!("{op} is no comparison"), place(left)));
        }
        // The left side is repeated.
        binder.count_copies(nodes(&condition.expr))?;
        conditions.push(condition);
    }
    Ok(TypedExpr::call_all(junction, conditions, Type::Bool))
}

/// `'a' = ANY(tags)`: the column is the list.
fn member(
    binder: &mut Binder<'_>,
    element: &Expr,
    list: &Expr,
    function: Function,
) -> Read<TypedExpr> {
    if matches!(strip(list), Expr::Subquery(_)) {
        return Err(needs_array(list));
    }
    let (element_bound, list_bound) = (binder.bind(element)?, binder.bind(list)?);
    if !matches!(list_bound.value_type, Type::Set | Type::Vector) {
        return Err(needs_array(list));
    }
    match element_bound.as_literal() {
        Some(Value::String(_) | Value::Number(_)) => {
            let element = element_bound.into_text();
            Ok(TypedExpr::call(function, [list_bound, element], Type::Bool))
        }
        _ => Err(LocatedError::new("the element is a constant text", place(element))
            .hint("includes_any(column, 'a', 'b')")),
    }
}

/// Binds `left IS NOT DISTINCT FROM right`: equal, or both null.
pub(crate) fn is_same(binder: &mut Binder<'_>, left: &Expr, right: &Expr) -> Read<TypedExpr> {
    let (one, other) = (binder.bind(left)?, binder.bind(right)?);
    let is_null = |bound: &TypedExpr| bound.as_literal() == Some(&Value::Null);
    if is_null(&other) {
        return binder.is_null(left);
    }
    if is_null(&one) {
        return binder.is_null(right);
    }
    let if_null = match one.as_literal().or(other.as_literal()) {
        Some(_) => TypedExpr::literal(Value::Bool(false)),
        None => {
            let nulls = [binder.copy(&one)?, binder.copy(&other)?]
                .map(|side| TypedExpr::call(Function::IsNull, [side], Type::Bool));
            TypedExpr::call(Function::And, nulls, Type::Bool)
        }
    };
    let equal = compare::compare(Function::Equal, one, other);
    let equal = equal.map_err(|error| error.or_at(place(right)))?;
    Ok(TypedExpr::call(Function::Coalesce, [equal, if_null], Type::Bool))
}
