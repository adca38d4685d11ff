//! Functions of sets and vectors (Scuba, VLDB 2013, section 3.4): `includes_any(col, 'a', 'b')`.

use hadal_query::{Function, Type};
use hadal_types::{ColumnSchema, Kind, Value};
use sqlparser::ast::Expr;

use crate::bind::bound_expr::TypedExpr;
use crate::bind::scope::{Column, a};
use crate::bind::{Binder, strip};
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::source_position::place;

/// The list function of this name.
pub(crate) fn of_name(name: &str) -> Option<Function> {
    Some(match name {
        "includes_any" => Function::IncludesAny,
        "includes_all" => Function::IncludesAll,
        "includes_none" => Function::IncludesNone,
        "includes_start" => Function::IncludesStart,
        "includes_end" => Function::IncludesEnd,
        "includes_within" => Function::IncludesWithin,
        "is_empty" => Function::IsEmpty,
        "unnest" => Function::Unnest,
        "prefixes" => Function::Prefixes,
        _ => return None,
    })
}

/// Binds a call; the elements may be given as an ARRAY.
pub(crate) fn bind(
    binder: &mut Binder<'_>,
    function: Function,
    name: &str,
    exprs: &[&Expr],
) -> Read<TypedExpr> {
    let Some((list, words)) = exprs.split_first() else {
        return Err(LocatedError::new(format!("{name} takes a set or vector first"), NOWHERE));
    };
    let mut arguments = vec![list_of(binder, function, name, list)?];
    for word in words {
        match strip(word) {
            Expr::Array(array) => {
                for element in &array.elem {
                    arguments.push(element_of(binder, name, element)?);
                }
            }
            element => arguments.push(element_of(binder, name, element)?),
        }
    }
    let value_type = match function {
        Function::Unnest => Type::String,
        Function::Prefixes => Type::Vector,
        _ => Type::Bool,
    };
    let is_unnested = function.is_unnesting();
    if (is_unnested || function == Function::IsEmpty) && arguments.len() > 1 {
        let message = format!("{name} takes a set or vector and nothing else");
        return Err(LocatedError::new(message, NOWHERE));
    }
    if is_unnested {
        binder.unnest_at = place(list);
    }
    Ok(TypedExpr::call_all(function, arguments, value_type))
}

fn needs_order(function: Function) -> bool {
    matches!(
        function,
        Function::IncludesStart
            | Function::IncludesEnd
            | Function::IncludesWithin
            | Function::Prefixes
    )
}

/// Binds the set or vector argument. A column with several kinds gives the part that is a list.
fn list_of(
    binder: &mut Binder<'_>,
    function: Function,
    name: &str,
    expr: &Expr,
) -> Read<TypedExpr> {
    let bound = match binder.as_column(expr)? {
        Some(Column::Known(column)) => list_part(function, column),
        Some(column) => column.bind(),
        None => binder.bind(expr)?,
    };
    match bound.value_type {
        Type::Vector | Type::Null => Ok(bound),
        Type::Set if !needs_order(function) => Ok(bound),
        Type::Set => {
            let hint = match function {
                Function::Prefixes => "a set has no order; GROUP BY unnest(…)",
                _ => "a set has no order; ask includes_all",
            };
            Err(LocatedError::new(format!("{name} needs a vector; this is a set"), place(expr))
                .hint(hint))
        }
        other => {
            let message = format!("{name} needs a set or vector; this is {}", a(other));
            let error = LocatedError::new(message, place(expr));
            Err(match other {
                Type::String => error.hint("compare strings with =, IN, LIKE or ~"),
                _ => error,
            })
        }
    }
}

fn list_part(function: Function, column: &ColumnSchema) -> TypedExpr {
    let main = column.main_part().map(|part| part.kind);
    let fits = |kind: &Kind| match kind {
        Kind::Vector => true,
        Kind::Set => !needs_order(function),
        Kind::Number | Kind::String => false,
    };
    let parts = column.parts.iter().map(|part| part.kind);
    match main.filter(fits).or_else(|| parts.rev().find(fits)) {
        Some(kind) => TypedExpr::part(column, kind),
        None => Column::Known(column).bind(),
    }
}

fn element_of(binder: &mut Binder<'_>, name: &str, expr: &Expr) -> Read<TypedExpr> {
    let bound = binder.bind(expr)?;
    match bound.as_literal() {
        Some(Value::String(_)) => Ok(bound),
        Some(Value::Number(number)) => Ok(TypedExpr::literal(Value::string(&number.to_string()))),
        _ => Err(LocatedError::new(format!("{name} takes constant texts"), place(expr))),
    }
}
