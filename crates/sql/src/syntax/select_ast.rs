//! The syntax tree of a SELECT before binding; refuses unsupported clauses.

use std::sync::Arc;

use sqlparser::ast::{self, SetExpr, TableFactor};
use sqlparser::tokenizer::Location;

use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::source_position::place;

/// One item of the SELECT list.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// The expression; `None` for `*`.
    pub(crate) expr: Option<Arc<ast::Expr>>,
    /// The column name in the result: the alias, or else the item as written.
    pub(crate) name: String,
    /// Whether the name was given with AS.
    pub(crate) aliased: bool,
    /// The position where the item begins.
    pub(crate) at: Location,
}

/// The table of FROM.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: Vec<ast::Ident>,
    pub(crate) alias: Option<ast::Ident>,
}

/// The GROUP BY clause.
#[derive(Debug)]
pub(crate) enum Groups {
    None,
    All,
    By(Vec<ast::Expr>),
}

/// The COMPARE clause.
#[derive(Debug)]
pub(crate) struct CompareAst {
    /// The rows of the first side.
    pub(crate) condition: Arc<ast::Expr>,
    /// The rows of the other side; `None`: all that are not of the first.
    pub(crate) against: Option<Arc<ast::Expr>>,
    /// Whether the sides are two time ranges. Then there is no one length of time for rates.
    pub(crate) is_of_times: bool,
    pub(crate) at: Location,
}

/// A parsed SELECT. Expressions are shared, because cloning a long chain would recurse as deep as
/// it is long.
#[derive(Debug)]
pub(crate) struct SelectAst {
    pub(crate) table: Option<Table>,
    pub(crate) distinct: bool,
    pub(crate) items: Vec<Item>,
    /// The conditions; all must be true.
    pub(crate) filters: Vec<Arc<ast::Expr>>,
    pub(crate) groups: Groups,
    pub(crate) having: Option<ast::Expr>,
    pub(crate) order: Vec<Arc<ast::OrderByExpr>>,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: u64,
    /// The number of series, and its position in the text.
    pub(crate) series: Option<(usize, Location)>,
    /// The position of WITH TOTALS.
    pub(crate) totals: Option<Location>,
    pub(crate) compare: Option<CompareAst>,
}

/// What to do where one query of one table does not suffice.
pub(crate) const EXPORT: &str = "export the rows and go on elsewhere: \
                      hadal query --format csv \"SELECT …\" > file";

impl SelectAst {
    /// Whether there is only a SELECT list, apart from clauses that do not change its one row.
    pub(crate) fn has_items_only(&self) -> bool {
        let has_row = self.limit != Some(0) && self.offset == 0;
        has_row
            && self.filters.is_empty()
            && matches!(self.groups, Groups::None)
            && self.having.is_none()
            && !self.distinct
    }

    /// Converts a parsed query. `names` has the names of the items, for those without an alias.
    pub(crate) fn of_query(query: ast::Query, names: Vec<String>) -> Read<Self> {
        refuse_query_extras(&query)?;
        let SetExpr::Select(select) = *query.body else {
            return Err(refuse_body(&query.body));
        };
        refuse_select_extras(&select)?;
        let names = names.into_iter().chain(std::iter::repeat_with(String::new));
        let items = select.projection.into_iter().zip(names);
        let order = match query.order_by.map(|order| order.kind) {
            None => Vec::new(),
            Some(ast::OrderByKind::Expressions(order)) => order,
            Some(ast::OrderByKind::All(_)) => {
                return Err(LocatedError::new("ORDER BY ALL is not supported", NOWHERE)
                    .hint("name the columns, or their positions"));
            }
        };
        let (limit, offset) = query.limit_clause.map_or(Ok((None, 0)), limit_of)?;
        Ok(Self {
            table: table_of(select.from)?,
            distinct: is_distinct(select.distinct.as_ref())?,
            items: items.map(|(item, name)| item_of(item, name)).collect::<Read<_>>()?,
            filters: select.selection.map(Arc::new).into_iter().collect(),
            groups: groups_of(select.group_by)?,
            having: select.having,
            order: order.into_iter().map(Arc::new).collect(),
            limit,
            offset,
            series: None,
            totals: None,
            compare: None,
        })
    }
}

/// Converts a parsed item; `name` is used if it has no alias.
pub(crate) fn item_of(item: ast::SelectItem, name: String) -> Read<Item> {
    match item {
        ast::SelectItem::UnnamedExpr(expr) => {
            let name = column_name(&expr).unwrap_or(name);
            let at = place(&expr);
            Ok(Item { expr: Some(Arc::new(expr)), name, aliased: false, at })
        }
        ast::SelectItem::ExprWithAlias { expr, alias } => {
            let at = place(&expr);
            Ok(Item { expr: Some(Arc::new(expr)), name: alias.value, aliased: true, at })
        }
        ast::SelectItem::Wildcard(options) => {
            let plain = options.opt_ilike.is_none()
                && options.opt_exclude.is_none()
                && options.opt_except.is_none()
                && options.opt_replace.is_none()
                && options.opt_rename.is_none();
            let at = options.wildcard_token.0.span.start;
            match plain {
                true => Ok(Item { expr: None, name, aliased: false, at }),
                false => Err(LocatedError::new("* takes no options", at)
                    .hint("name the columns that you want")),
            }
        }
        ast::SelectItem::QualifiedWildcard(_, options) => {
            Err(LocatedError::new("there is one table only", options.wildcard_token.0.span.start)
                .hint("write * alone"))
        }
        ast::SelectItem::ExprWithAliases { expr, .. } => {
            Err(LocatedError::new("an item has one alias", place(&expr)))
        }
    }
}

/// The name of a column, without quotes.
fn column_name(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Identifier(ident) => Some(ident.value.clone()),
        ast::Expr::CompoundIdentifier(idents) => Some(joined(idents)),
        _ => None,
    }
}

fn refuse_query_extras(query: &ast::Query) -> Read<()> {
    let extra = if query.with.is_some() {
        "WITH"
    } else if query.fetch.is_some() {
        return Err(LocatedError::new("FETCH is not supported", NOWHERE).hint("write LIMIT n"));
    } else if !query.locks.is_empty() || query.for_clause.is_some() {
        "FOR"
    } else if query.settings.is_some() || query.format_clause.is_some() {
        "SETTINGS and FORMAT"
    } else if !query.pipe_operators.is_empty() {
        "|>"
    } else {
        return Ok(());
    };
    Err(LocatedError::new(format!("{extra} is not supported"), NOWHERE))
}

fn refuse_body(body: &SetExpr) -> LocatedError {
    match body {
        SetExpr::SetOperation { op, .. } => {
            LocatedError::new(format!("Hadal has no {op}"), NOWHERE).hint(EXPORT)
        }
        _ => LocatedError::new("Hadal has no subqueries", NOWHERE).hint(EXPORT),
    }
}

fn refuse_select_extras(select: &ast::Select) -> Read<()> {
    let extra = if select.top.is_some() {
        return Err(
            LocatedError::new("TOP is not supported", NOWHERE).hint("write LIMIT n at the end")
        );
    } else if select.into.is_some() {
        "INTO"
    } else if !select.named_window.is_empty() || select.qualify.is_some() {
        return Err(LocatedError::new("Hadal has no window functions", NOWHERE).hint(EXPORT));
    } else if !select.lateral_views.is_empty() {
        "LATERAL"
    } else if select.prewhere.is_some() {
        "PREWHERE"
    } else if !select.connect_by.is_empty() {
        "CONNECT BY"
    } else if !(select.cluster_by.is_empty()
        && select.distribute_by.is_empty()
        && select.sort_by.is_empty())
    {
        "CLUSTER BY, DISTRIBUTE BY or SORT BY"
    } else if select.exclude.is_some() || select.value_table_mode.is_some() {
        "EXCLUDE"
    } else if select.projection.is_empty() {
        return Err(LocatedError::new("SELECT names no columns", select.select_token.0.span.end)
            .hint("write SELECT * or SELECT count(*)"));
    } else {
        return Ok(());
    };
    Err(LocatedError::new(format!("{extra} is not supported"), NOWHERE))
}

fn table_of(from: Vec<ast::TableWithJoins>) -> Read<Option<Table>> {
    let mut from = from.into_iter();
    let Some(table) = from.next() else { return Ok(None) };
    if let Some(join) = table.joins.first() {
        return Err(no_joins(&join.relation));
    }
    if let Some(second) = from.next() {
        return Err(no_joins(&second.relation));
    }
    match table.relation {
        TableFactor::Table { name, alias, args: None, sample: None, .. } => {
            if let Some(column) = alias.as_ref().and_then(|alias| alias.columns.first()) {
                let at = column.name.span.start;
                return Err(LocatedError::new("columns cannot be renamed after FROM", at)
                    .hint("SELECT column AS name"));
            }
            let name = idents_of(name)?;
            Ok(Some(Table { name, alias: alias.map(|alias| alias.name) }))
        }
        TableFactor::Derived { .. } => {
            Err(LocatedError::new("Hadal has no subqueries", NOWHERE).hint(EXPORT))
        }
        _ => Err(LocatedError::new("FROM takes the name of one table", NOWHERE)),
    }
}

fn no_joins(other: &TableFactor) -> LocatedError {
    let at = match other {
        TableFactor::Table { name, .. } => {
            name.0.first().and_then(|part| part.as_ident()).map_or(NOWHERE, |id| id.span.start)
        }
        _ => NOWHERE,
    };
    LocatedError::new("Hadal has no joins; a query asks one table", at).hint(EXPORT)
}

fn idents_of(name: ast::ObjectName) -> Read<Vec<ast::Ident>> {
    name.0
        .into_iter()
        .map(|part| match part {
            ast::ObjectNamePart::Identifier(ident) => Ok(ident),
            ast::ObjectNamePart::Function(function) => {
                Err(LocatedError::new("FROM takes the name of one table", function.name.span.start))
            }
        })
        .collect()
}

fn is_distinct(distinct: Option<&ast::Distinct>) -> Read<bool> {
    match distinct {
        None | Some(ast::Distinct::All) => Ok(false),
        Some(ast::Distinct::Distinct) => Ok(true),
        Some(ast::Distinct::On(_)) => {
            Err(LocatedError::new("DISTINCT ON is not supported", NOWHERE)
                .hint("GROUP BY the columns and take min, max or count of the others"))
        }
    }
}

fn groups_of(groups: ast::GroupByExpr) -> Read<Groups> {
    match groups {
        ast::GroupByExpr::All(modifiers) if modifiers.is_empty() => Ok(Groups::All),
        ast::GroupByExpr::Expressions(list, modifiers) if modifiers.is_empty() => {
            Ok(if list.is_empty() { Groups::None } else { Groups::By(list) })
        }
        _ => Err(LocatedError::new("GROUP BY takes a plain list of columns", NOWHERE)),
    }
}

fn limit_of(limit: ast::LimitClause) -> Read<(Option<u64>, u64)> {
    let (limit, offset) = match limit {
        ast::LimitClause::LimitOffset { limit, offset, limit_by } if limit_by.is_empty() => {
            (limit, offset.map(|offset| offset.value))
        }
        ast::LimitClause::OffsetCommaLimit { offset, limit } => (Some(limit), Some(offset)),
        ast::LimitClause::LimitOffset { .. } => {
            return Err(LocatedError::new("LIMIT BY is not supported", NOWHERE));
        }
    };
    let limit = limit.as_ref().map(|expr| whole(expr, "LIMIT")).transpose()?;
    let offset = offset.as_ref().map(|expr| whole(expr, "OFFSET")).transpose()?;
    Ok((limit, offset.unwrap_or(0)))
}

/// The number of LIMIT or OFFSET.
fn whole(expr: &ast::Expr, clause: &str) -> Read<u64> {
    let number = match expr {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(digits, _) => digits.parse().ok(),
            _ => None,
        },
        _ => None,
    };
    number.ok_or_else(|| {
        LocatedError::new(
            format!("{clause} takes a whole number that is not negative"),
            place(expr),
        )
    })
}

/// A name as written, joined by dots.
pub(crate) fn joined(parts: &[ast::Ident]) -> String {
    let names: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
    names.join(".")
}
