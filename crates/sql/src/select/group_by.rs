//! The group keys: expressions, output columns by name or position, ALL, or, with DISTINCT, all
//! selected columns.

use sqlparser::ast::{self, Expr};

use crate::bind::bound_expr::TypedExpr;
use crate::bind::{Aggregates, Binder, strip};
use crate::error::{LocatedError, NOWHERE, Read};
use crate::select::output_slots::OutputSlots;
use crate::select::selected::Selected;
use crate::syntax::select_ast::{Groups, SelectAst};
use crate::syntax::source_position::place;

/// Whether the query is for groups, not for raw rows.
pub(crate) fn is_grouped(parts: &SelectAst, selected: &[Selected]) -> bool {
    parts.distinct
        || parts.having.is_some()
        || !matches!(parts.groups, Groups::None)
        || selected.iter().any(|item| item.bound.has_aggregate())
}

/// The output slots of the query's groups. `written` has the indexes in `selected` of the columns
/// as they were written, which COMPARE may have multiplied.
pub(crate) fn slots(
    binder: &mut Binder<'_>,
    parts: &SelectAst,
    selected: &[Selected],
    written: &[usize],
) -> Read<OutputSlots> {
    refuse_wildcard(parts)?;
    let keys = match &parts.groups {
        Groups::None if parts.distinct => distinct(selected)?,
        _ if parts.distinct => {
            let error = LocatedError::new("DISTINCT beside GROUP BY is not supported", NOWHERE);
            return Err(error.hint("groups are distinct already"));
        }
        Groups::None => Vec::new(),
        Groups::All => plain(selected),
        Groups::By(list) => {
            binder.aggregates = Aggregates::NotIn("GROUP BY");
            let mut keys = Vec::with_capacity(list.len());
            for expr in list {
                keys.push(key(binder, expr, (selected, written))?);
            }
            keys
        }
    };
    OutputSlots::groups(keys)
}

fn refuse_wildcard(parts: &SelectAst) -> Read<()> {
    let wildcard = parts.items.iter().find(|item| item.expr.is_none());
    match wildcard {
        Some(_) if parts.distinct => Ok(()),
        Some(item) => {
            Err(LocatedError::new("* selects raw rows and cannot stand beside groups", item.at)
                .hint("name the columns, or write count(*)"))
        }
        None => Ok(()),
    }
}

/// All selected expressions that contain no aggregate.
fn plain(selected: &[Selected]) -> Vec<TypedExpr> {
    selected
        .iter()
        .map(|item| &item.bound)
        .filter(|bound| !bound.has_aggregate() && bound.as_literal().is_none())
        .cloned()
        .collect()
}

fn distinct(selected: &[Selected]) -> Read<Vec<TypedExpr>> {
    if selected.iter().any(|item| item.bound.has_aggregate()) {
        let error = LocatedError::new("DISTINCT beside an aggregate is not supported", NOWHERE);
        return Err(error.hint("count(DISTINCT x) counts different values"));
    }
    // Constants are keys, too: without rows there is no group.
    Ok(selected.iter().map(|item| item.bound.clone()).collect())
}

fn key(
    binder: &mut Binder<'_>,
    expr: &Expr,
    (selected, written): (&[Selected], &[usize]),
) -> Read<TypedExpr> {
    if let Some(position) = position(expr) {
        let bound = &selected[*at_position(position, expr, written)?].bound;
        return match bound.has_aggregate() {
            true => Err(LocatedError::new(
                format!("output {position} is an aggregate and cannot be grouped by"),
                place(expr),
            )),
            false => binder.copy(bound),
        };
    }
    // A bare name refers to an output column first; inside an expression it refers to a column.
    let alias = match strip(expr) {
        Expr::Identifier(ident) => binder.alias(std::slice::from_ref(ident))?,
        _ => None,
    };
    alias.map_or_else(|| binder.bind(expr), Ok)
}

/// The position of an output column, given as a bare whole number.
pub(crate) fn position(expr: &Expr) -> Option<&str> {
    match strip(expr) {
        Expr::Value(value) => match &value.value {
            ast::Value::Number(digits, _) => Some(digits),
            _ => None,
        },
        _ => None,
    }
}

/// The output column at a position, counted from 1.
pub(crate) fn at_position<'s, T>(position: &str, expr: &Expr, outputs: &'s [T]) -> Read<&'s T> {
    let index = position.parse::<usize>().ok().and_then(|position| position.checked_sub(1));
    index.and_then(|index| outputs.get(index)).ok_or_else(|| {
        let count = outputs.len();
        LocatedError::new(format!("there is no output {position}; there are {count}"), place(expr))
    })
}
