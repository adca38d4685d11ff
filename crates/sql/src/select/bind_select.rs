//! A parsed SELECT to a statement: with FROM a query, without FROM one row of values.

use hadal_query::TimeZone;

use crate::bind::Binder;
use crate::bind::scope::Scope;
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::select_ast::{EXPORT, Item, SelectAst};
use crate::{Context, Statement, select};

/// Binds a SELECT and those around it, from the innermost, with the calendar of `zone`. Without
/// FROM it is one row of values.
pub(crate) fn bind_select(
    layers: &[SelectAst],
    context: &Context<'_>,
    zone: &TimeZone,
) -> Read<Statement> {
    let Some((parts, around)) = layers.split_first() else {
        return Err(LocatedError::new("the text holds no statement", NOWHERE));
    };
    let Some(table) = &parts.table else {
        return match around.is_empty() {
            true => without_table(parts, context, zone),
            false => Err(LocatedError::new("the inner query needs a table", NOWHERE).hint(EXPORT)),
        };
    };
    let schema = Scope::table_named(&table.name, context)?;
    let scope = Scope::new(context, &schema, table.alias.clone()).in_zone(zone);
    let (query, notes) = select::lower(layers, scope, &schema)?;
    Ok(Statement::Query { query: Box::new(query), notes })
}

/// `SELECT 1`: values of constants.
fn without_table(parts: &SelectAst, context: &Context<'_>, zone: &TimeZone) -> Read<Statement> {
    if let Some((_, at)) = parts.series.or((!parts.has_items_only()).then_some((0, NOWHERE))) {
        return Err(LocatedError::new("without FROM there is one row of values", at));
    }
    let (mut columns, mut row) = (Vec::new(), Vec::new());
    let mut binder = Binder::new(Scope::without_table(context).in_zone(zone));
    for Item { expr, name, at, .. } in &parts.items {
        let Some(expr) = expr else {
            return Err(LocatedError::new("* needs a table", *at).hint("add FROM and a table"));
        };
        let bound = binder.bind(expr)?;
        row.push(bound.constant().map_err(|error| error.or_at(*at))?);
        columns.push((name.clone(), bound.value_type));
    }
    Ok(Statement::Values { columns, row })
}
