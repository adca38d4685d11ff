//! A query around another one: `SELECT a, b FROM (SELECT …) AS t WHERE … LIMIT 50`, as tools for
//! business intelligence write it.
//!
//! If the outer query only selects, filters, sorts and limits rows of the inner one, both are one
//! query. Its conditions become those of the inner query: `WHERE` for rows, `HAVING` for groups.
//! Anything else, such as groups of groups, is refused.

use std::sync::Arc;

use sqlparser::ast::{self, BinaryOperator, Expr, SetExpr, TableFactor, TableWithJoins};

use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::select_ast::{Groups, Item, SelectAst};
use crate::syntax::source_position::place;

const ADVICE: &str = "around a query there may be a selection of its columns, WHERE, ORDER BY and \
                      LIMIT; put the rest into the inner query";

/// Converts a parsed query, which may be around others. `names` has the names of the items of each
/// query, from the outermost.
pub(crate) fn of_query(mut query: ast::Query, names: Vec<Vec<String>>) -> Read<SelectAst> {
    let mut names = names.into_iter();
    let mut outer = Vec::new();
    loop {
        let inner = take_inner(&mut query);
        let select = SelectAst::of_query(query, names.next().unwrap_or_default())?;
        match inner {
            Some(inner) => {
                outer.push(select);
                query = *inner;
            }
            None => {
                return outer
                    .into_iter()
                    .rev()
                    .try_fold(select, |inner, outer| unwrap(outer, inner));
            }
        }
    }
}

/// Takes the query of FROM out of another one, if it is all that FROM has.
fn take_inner(query: &mut ast::Query) -> Option<Box<ast::Query>> {
    let SetExpr::Select(select) = &mut *query.body else { return None };
    let [TableWithJoins { relation, joins }] = select.from.as_slice() else { return None };
    let TableFactor::Derived { lateral: false, alias, .. } = relation else { return None };
    let renames = alias.as_ref().is_some_and(|alias| !alias.columns.is_empty());
    if renames || !joins.is_empty() {
        return None;
    }
    match select.from.pop()?.relation {
        TableFactor::Derived { subquery, .. } => Some(subquery),
        _ => None,
    }
}

/// The one query that means `outer` around `inner`.
fn unwrap(outer: SelectAst, mut inner: SelectAst) -> Read<SelectAst> {
    refuse_others(&outer)?;
    let is_limited = inner.limit.is_some() || inner.offset > 0 || inner.series.is_some();
    if is_limited && !(outer.filters.is_empty() && outer.order.is_empty()) {
        return Err(refused("WHERE and ORDER BY around a query with LIMIT", &outer));
    }
    for filter in &outer.filters {
        filter_by(&mut inner, filter)?;
    }
    if !outer.order.is_empty() {
        inner.order = outer.order;
    }
    if let Some(items) = selected(&outer.items, &inner)? {
        // Both depend on the items that are there.
        if inner.distinct || has_positions(&inner) {
            let at = items.first().map_or(NOWHERE, |item| item.at);
            let message = "Hadal has no selection around DISTINCT or ORDER BY 1";
            return Err(LocatedError::new(message, at).hint(ADVICE));
        }
        inner.items = items;
    }
    inner.limit = match (inner.limit.map(|limit| limit.saturating_sub(outer.offset)), outer.limit) {
        (Some(inner), Some(outer)) => Some(inner.min(outer)),
        (inner, outer) => inner.or(outer),
    };
    inner.offset = inner.offset.saturating_add(outer.offset);
    Ok(inner)
}

fn refuse_others(outer: &SelectAst) -> Read<()> {
    let is_plain = matches!(outer.groups, Groups::None)
        && outer.having.is_none()
        && !outer.distinct
        && outer.series.is_none();
    if is_plain { Ok(()) } else { Err(refused("GROUP BY or DISTINCT around a query", outer)) }
}

fn refused(what: &str, outer: &SelectAst) -> LocatedError {
    let at = outer.items.first().map_or(NOWHERE, |item| item.at);
    LocatedError::new(format!("Hadal has no {what}"), at).hint(ADVICE)
}

/// The items of the outer query in terms of the inner one; `None` if it selects all.
fn selected(outer: &[Item], inner: &SelectAst) -> Read<Option<Vec<Item>>> {
    if let [Item { expr: None, .. }] = outer {
        return Ok(None);
    }
    let item = |item: &Item| {
        let name = item.expr.as_deref().and_then(column_name);
        let name = name.ok_or_else(|| {
            LocatedError::new("Hadal has no expressions around a query", item.at).hint(ADVICE)
        })?;
        let named = inner.items.iter().find(|inner| inner.expr.is_some() && inner.name == name);
        let has_all = inner.items.iter().any(|item| item.expr.is_none());
        match (named, has_all) {
            (Some(inner), _) => {
                Ok(Item { name: item.name.clone(), aliased: true, ..inner.clone() })
            }
            // A column of the table, which `*` selects.
            (None, true) => Ok(item.clone()),
            (None, false) => {
                let message = format!("there is no column {name}");
                Err(LocatedError::new(message, item.at))
            }
        }
    };
    outer.iter().map(item).collect::<Read<_>>().map(Some)
}

/// The last part of a column's name: the part before it can only be the alias of the inner query.
fn column_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(name.value.clone()),
        Expr::CompoundIdentifier(names) => names.last().map(|name| name.value.clone()),
        _ => None,
    }
}

/// Adds a condition of the outer query to the inner one.
fn filter_by(inner: &mut SelectAst, filter: &Arc<Expr>) -> Read<()> {
    let has_groups = !matches!(inner.groups, Groups::None) || inner.distinct;
    if has_groups {
        // HAVING knows the names of the outputs.
        let condition = Expr::Nested(Box::new(Expr::clone(filter)));
        inner.having = Some(match inner.having.take() {
            Some(having) => Expr::BinaryOp {
                left: Box::new(Expr::Nested(Box::new(having))),
                op: BinaryOperator::And,
                right: Box::new(condition),
            },
            None => condition,
        });
        return Ok(());
    }
    // WHERE knows the names of the table, which must be those of the outputs.
    let is_renamed = |item: &Item| match item.expr.as_deref() {
        None => false,
        Some(expr) => column_name(expr).as_deref() != Some(item.name.as_str()),
    };
    if let Some(renamed) = inner.items.iter().find(|item| is_renamed(item)) {
        let message = format!("Hadal has no WHERE around a query that computes {}", renamed.name);
        return Err(LocatedError::new(message, place(filter)).hint(ADVICE));
    }
    inner.filters.push(Arc::clone(filter));
    Ok(())
}

/// Whether the order names positions of the SELECT list.
fn has_positions(inner: &SelectAst) -> bool {
    let is_number = |expr: &ast::Expr| matches!(expr, Expr::Value(value) if matches!(value.value, ast::Value::Number(..)));
    inner.order.iter().any(|order| is_number(&order.expr))
}
