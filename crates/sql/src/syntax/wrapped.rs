//! A query around another one: `SELECT a, b FROM (SELECT …) AS t WHERE … LIMIT 50`, as tools for
//! business intelligence write it. `select/layers.rs` makes one query of them.

use sqlparser::ast::{self, Ident, SetExpr, TableFactor, TableWithJoins};

use crate::error::Read;
use crate::syntax::select_ast::{SelectAst, Table};

/// Converts a parsed query, which may be around others: from the innermost to the outermost.
/// `names` has the names of the items of each query, from the outermost.
pub(crate) fn of_query(mut query: ast::Query, names: Vec<Vec<String>>) -> Read<Vec<SelectAst>> {
    let mut names = names.into_iter();
    let mut layers = Vec::new();
    loop {
        let inner = take_inner(&mut query);
        let mut select = SelectAst::of_query(query, names.next().unwrap_or_default())?;
        let Some((inner, alias)) = inner else {
            layers.push(select);
            layers.reverse();
            return Ok(layers);
        };
        select.table = alias.map(|alias| Table { name: vec![alias.clone()], alias: Some(alias) });
        layers.push(select);
        query = *inner;
    }
}

/// Takes the query of FROM, and its name, out of another one, if it is all that FROM has.
fn take_inner(query: &mut ast::Query) -> Option<(Box<ast::Query>, Option<Ident>)> {
    let SetExpr::Select(select) = &mut *query.body else { return None };
    let [TableWithJoins { relation, joins }] = select.from.as_slice() else { return None };
    let TableFactor::Derived { lateral: false, alias, .. } = relation else { return None };
    let renames = alias.as_ref().is_some_and(|alias| !alias.columns.is_empty());
    if renames || !joins.is_empty() {
        return None;
    }
    match select.from.pop()?.relation {
        TableFactor::Derived { subquery, alias, .. } => {
            Some((subquery, alias.map(|alias| alias.name)))
        }
        _ => None,
    }
}
