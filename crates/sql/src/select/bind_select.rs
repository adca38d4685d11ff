//! A parsed SELECT to a statement: with FROM a query, without FROM one row of values.

use hadal_query::TimeZone;

use crate::bind::Binder;
use crate::bind::scope::Scope;
use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::select_ast::{Item, SelectAst};
use crate::{Context, Statement, select};

/// Binds a SELECT, with the calendar of `zone`; without FROM it is one row of values.
pub(crate) fn bind_select(
    parts: &SelectAst,
    context: &Context<'_>,
    zone: &TimeZone,
) -> Read<Statement> {
    let Some(table) = &parts.table else { return without_table(parts, context, zone) };
    let schema = Scope::table_named(&table.name, context)?;
    let scope = Scope::new(context, &schema, table.alias.clone()).in_zone(zone);
    let (query, notes) = select::lower(parts, scope, &schema)?;
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
