//! The parts of a question, before names are looked up: what SQL and the JSON spelling have in
//! common. Each part remembers the text that it came from.

use sqlparser::ast::{self, SetExpr, TableFactor};

use crate::error::{Fault, NOWHERE, Read, Source, SqlError};
use crate::place::place;

/// A part and the text that it came from.
#[derive(Debug)]
pub(crate) struct Piece<'s, T> {
    pub(crate) part: T,
    pub(crate) source: &'s Source<'s>,
}

impl<T> Piece<'_, T> {
    /// What `read` makes of the part, its errors placed in the part's text.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&T) -> Read<R>) -> Result<R, SqlError> {
        read(&self.part).map_err(|fault| self.source.error(fault))
    }
}

/// One item of the SELECT list.
#[derive(Debug)]
pub(crate) struct Item {
    /// The expression; `None` for `*`.
    pub(crate) expr: Option<ast::Expr>,
    /// The answer's column name: the alias, or else the item as written.
    pub(crate) name: String,
    /// Whether the name was given with AS.
    pub(crate) aliased: bool,
}

/// The table of FROM.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: Vec<ast::Ident>,
    pub(crate) alias: Option<ast::Ident>,
}

/// What GROUP BY says.
#[derive(Debug)]
pub(crate) enum Groups<'s> {
    None,
    All,
    By(Vec<Piece<'s, ast::Expr>>),
}

/// The parts of a question.
#[derive(Debug)]
pub(crate) struct Parts<'s> {
    pub(crate) table: Option<Table>,
    pub(crate) distinct: bool,
    pub(crate) items: Vec<Piece<'s, Item>>,
    /// All must be true.
    pub(crate) filters: Vec<Piece<'s, ast::Expr>>,
    pub(crate) groups: Groups<'s>,
    pub(crate) having: Option<Piece<'s, ast::Expr>>,
    pub(crate) order: Vec<Piece<'s, ast::OrderByExpr>>,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: u64,
    pub(crate) series: Option<usize>,
}

const EXPORT: &str = "export the rows and go on elsewhere: \
                      hadal query --format csv \"SELECT …\" > file";

impl<'s> Parts<'s> {
    /// Parts that ask for nothing yet.
    pub(crate) fn new() -> Self {
        Self {
            table: None,
            distinct: false,
            items: Vec::new(),
            filters: Vec::new(),
            groups: Groups::None,
            having: None,
            order: Vec::new(),
            limit: None,
            offset: 0,
            series: None,
        }
    }

    /// Whether there is nothing but a SELECT list.
    pub(crate) fn has_items_only(&self) -> bool {
        self.filters.is_empty()
            && matches!(self.groups, Groups::None)
            && self.having.is_none()
            && !self.distinct
    }

    /// The parts of a parsed SELECT, whose items have these names where they have no alias.
    pub(crate) fn of_query(
        query: ast::Query,
        names: Vec<String>,
        source: &'s Source<'s>,
    ) -> Read<Self> {
        refuse_query_extras(&query)?;
        let SetExpr::Select(select) = *query.body else {
            return Err(refuse_body(&query.body));
        };
        refuse_select_extras(&select)?;
        let mut parts = Self::new();
        parts.table = table_of(select.from)?;
        parts.distinct = is_distinct(select.distinct.as_ref())?;
        let mut names = names.into_iter();
        for item in select.projection {
            let name = names.next().unwrap_or_default();
            parts.items.push(Piece { part: item_of(item, name)?, source });
        }
        parts.filters.extend(select.selection.map(|part| Piece { part, source }));
        parts.groups = groups_of(select.group_by, source)?;
        parts.having = select.having.map(|part| Piece { part, source });
        if let Some(order) = query.order_by {
            let ast::OrderByKind::Expressions(order) = order.kind else {
                return Err(Fault::new("ORDER BY ALL is not supported", NOWHERE)
                    .hint("name the columns, or their positions"));
            };
            parts.order = order.into_iter().map(|part| Piece { part, source }).collect();
        }
        if let Some(limit) = query.limit_clause {
            (parts.limit, parts.offset) = limit_of(limit)?;
        }
        Ok(parts)
    }
}

/// The item that the parser found; `name` is used where it has no alias.
pub(crate) fn item_of(item: ast::SelectItem, name: String) -> Read<Item> {
    match item {
        ast::SelectItem::UnnamedExpr(expr) => {
            let name = column_name(&expr).unwrap_or(name);
            Ok(Item { expr: Some(expr), name, aliased: false })
        }
        ast::SelectItem::ExprWithAlias { expr, alias } => {
            Ok(Item { expr: Some(expr), name: alias.value, aliased: true })
        }
        ast::SelectItem::Wildcard(options) => {
            let plain = options.opt_ilike.is_none()
                && options.opt_exclude.is_none()
                && options.opt_except.is_none()
                && options.opt_replace.is_none()
                && options.opt_rename.is_none();
            match plain {
                true => Ok(Item { expr: None, name, aliased: false }),
                false => Err(Fault::new("* takes no options", options.wildcard_token.0.span.start)
                    .hint("name the columns that you want")),
            }
        }
        ast::SelectItem::QualifiedWildcard(_, options) => {
            Err(Fault::new("there is one table only", options.wildcard_token.0.span.start)
                .hint("write * alone"))
        }
        ast::SelectItem::ExprWithAliases { expr, .. } => {
            Err(Fault::new("an item has one alias", place(&expr)))
        }
    }
}

/// The name of a column, without the quotes that it may be written in.
fn column_name(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Identifier(ident) => Some(ident.value.clone()),
        ast::Expr::CompoundIdentifier(idents) => Some(crate::scope::joined(idents)),
        _ => None,
    }
}

fn refuse_query_extras(query: &ast::Query) -> Read<()> {
    let extra = if query.with.is_some() {
        "WITH"
    } else if query.fetch.is_some() {
        return Err(Fault::new("FETCH is not supported", NOWHERE).hint("write LIMIT n"));
    } else if !query.locks.is_empty() || query.for_clause.is_some() {
        "FOR"
    } else if query.settings.is_some() || query.format_clause.is_some() {
        "SETTINGS and FORMAT"
    } else if !query.pipe_operators.is_empty() {
        "|>"
    } else {
        return Ok(());
    };
    Err(Fault::new(format!("{extra} is not supported"), NOWHERE))
}

fn refuse_body(body: &SetExpr) -> Fault {
    match body {
        SetExpr::SetOperation { op, .. } => {
            Fault::new(format!("Hadal has no {op}"), NOWHERE).hint(EXPORT)
        }
        _ => Fault::new("Hadal has no subqueries", NOWHERE).hint(EXPORT),
    }
}

fn refuse_select_extras(select: &ast::Select) -> Read<()> {
    let extra = if select.top.is_some() {
        return Err(Fault::new("TOP is not supported", NOWHERE).hint("write LIMIT n at the end"));
    } else if select.into.is_some() {
        "INTO"
    } else if !select.named_window.is_empty() || select.qualify.is_some() {
        return Err(Fault::new("Hadal has no window functions", NOWHERE).hint(EXPORT));
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
        return Err(Fault::new("SELECT names no columns", select.select_token.0.span.end)
            .hint("write SELECT * or SELECT count(*)"));
    } else {
        return Ok(());
    };
    Err(Fault::new(format!("{extra} is not supported"), NOWHERE))
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
            let name = idents_of(name)?;
            Ok(Some(Table { name, alias: alias.map(|alias| alias.name) }))
        }
        TableFactor::Derived { .. } => {
            Err(Fault::new("Hadal has no subqueries", NOWHERE).hint(EXPORT))
        }
        _ => Err(Fault::new("FROM takes the name of one table", NOWHERE)),
    }
}

fn no_joins(other: &TableFactor) -> Fault {
    let at = match other {
        TableFactor::Table { name, .. } => {
            name.0.first().and_then(|part| part.as_ident()).map_or(NOWHERE, |id| id.span.start)
        }
        _ => NOWHERE,
    };
    Fault::new("Hadal has no joins; a query asks one table", at).hint(EXPORT)
}

fn idents_of(name: ast::ObjectName) -> Read<Vec<ast::Ident>> {
    name.0
        .into_iter()
        .map(|part| match part {
            ast::ObjectNamePart::Identifier(ident) => Ok(ident),
            ast::ObjectNamePart::Function(function) => {
                Err(Fault::new("FROM takes the name of one table", function.name.span.start))
            }
        })
        .collect()
}

fn is_distinct(distinct: Option<&ast::Distinct>) -> Read<bool> {
    match distinct {
        None | Some(ast::Distinct::All) => Ok(false),
        Some(ast::Distinct::Distinct) => Ok(true),
        Some(ast::Distinct::On(_)) => Err(Fault::new("DISTINCT ON is not supported", NOWHERE)
            .hint("GROUP BY the columns and take min, max or count of the others")),
    }
}

fn groups_of<'s>(groups: ast::GroupByExpr, source: &'s Source<'s>) -> Read<Groups<'s>> {
    match groups {
        ast::GroupByExpr::All(modifiers) if modifiers.is_empty() => Ok(Groups::All),
        ast::GroupByExpr::Expressions(list, modifiers) if modifiers.is_empty() => {
            let by: Vec<_> = list.into_iter().map(|part| Piece { part, source }).collect();
            Ok(if by.is_empty() { Groups::None } else { Groups::By(by) })
        }
        _ => Err(Fault::new("GROUP BY takes a plain list of columns", NOWHERE)),
    }
}

fn limit_of(limit: ast::LimitClause) -> Read<(Option<u64>, u64)> {
    let (limit, offset) = match limit {
        ast::LimitClause::LimitOffset { limit, offset, limit_by } if limit_by.is_empty() => {
            (limit, offset.map(|offset| offset.value))
        }
        ast::LimitClause::OffsetCommaLimit { offset, limit } => (Some(limit), Some(offset)),
        ast::LimitClause::LimitOffset { .. } => {
            return Err(Fault::new("LIMIT BY is not supported", NOWHERE));
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
        Fault::new(format!("{clause} takes a whole number that is not negative"), place(expr))
    })
}
