//! Parses a query in JSON: each of its texts by itself, so that no text can end its clause.
//!
//! Columns and conditions on times depend on the table: on its time column's name, and on the times
//! of its rows. They are added when the query is bound.

use std::sync::Arc;
use std::time::Duration;

use hadal_types::{Micros, TableSchema, limits};
use sqlparser::ast::{self, Ident};
use sqlparser::tokenizer::Span;

use crate::bind::scope::TIME;
use crate::error::{Fault, NOWHERE, Read, Source, Sources, SqlError};
use crate::select::bind_select::bind_select;
use crate::spec::time::Times;
use crate::spec::to_sql::{self, quoted, tokens_nowhere};
use crate::syntax::parse;
use crate::syntax::select_ast::{Groups, Item, SelectAst, Table, item_of};
use crate::{Context, QuerySpec, Statement, spec};

/// A query in JSON, parsed.
#[derive(Debug)]
pub(crate) struct SpecSyntax {
    pub(crate) spec: QuerySpec,
    times: Times,
    /// The selected items, groups first; those for times are added by `bind`.
    pub(crate) items: Vec<Parsed<Item>>,
    pub(crate) filters: Vec<Parsed<Arc<ast::Expr>>>,
    pub(crate) order: Vec<Parsed<Arc<ast::OrderByExpr>>>,
    pub(crate) series: Option<Parsed<usize>>,
    pub(crate) is_grouped: bool,
    sources: Sources,
}

/// The text of a field, and its syntax.
#[derive(Debug)]
pub(crate) struct Parsed<T> {
    pub(crate) source: Source,
    syntax: T,
}

/// The texts that are generated for the query's table.
pub(crate) struct Texts {
    pub(crate) table: Source,
    pub(crate) items: Vec<Source>,
    pub(crate) conditions: Vec<Source>,
    /// The keys of GROUP BY; if empty, all items without aggregates.
    pub(crate) groups: Vec<String>,
}

impl SpecSyntax {
    /// Parses the texts of `spec`; relative times are relative to `now`.
    pub(crate) fn parse(spec: &QuerySpec, now: Micros) -> Result<Self, SqlError> {
        if spec.table.is_empty() {
            let fault = Fault::new("the name of a table is missing", NOWHERE);
            return Err(SqlError::of_field("table", fault));
        }
        let times = Times::read(spec, now)?;
        let mut sources = Sources::default();
        let groups = all(&mut sources, "group_by", &spec.group_by, parse::parse_item)?;
        let mut aggregates = all(&mut sources, "aggregates", &spec.aggregates, parse::parse_item)?;
        let columns = all(&mut sources, "columns", &spec.columns, parse::parse_item)?;
        let order = all(&mut sources, "order_by", &spec.order_by, order)?;
        let is_grouped = times.has_bucket()
            || times.is_compared()
            || !(groups.is_empty() && aggregates.is_empty());
        if is_grouped && !columns.is_empty() {
            let message = "columns are of raw rows and cannot stand beside groups";
            let fault = Fault::new(message, NOWHERE).hint("name them in group_by");
            return Err(SqlError::of_field(&name_of("columns", &spec.columns, 0), fault));
        }
        if is_grouped && aggregates.is_empty() {
            let source = sources.add(Some("aggregates"), "count(*)");
            aggregates.push(one(source, parse::parse_item)?);
        }
        let filters = all(&mut sources, "filter", &spec.filter, filter)?;
        let series = spec.series.map(|series| sources.add(Some("series"), &series.to_string()));
        let series = series.map(|source| one(source, parse::parse_series)).transpose()?;
        let items = groups.into_iter().chain(aggregates).chain(columns);
        let items = items.map(|Parsed { source, syntax: (item, name) }| {
            Ok(Parsed { source, syntax: item_of(item, name)? })
        });
        let items: Read<Vec<_>> = items.collect();
        Ok(Self {
            spec: spec.clone(),
            times,
            items: items.map_err(|fault| sources.error(fault))?,
            filters,
            order,
            series,
            is_grouped,
            sources,
        })
    }

    /// Resolves names and checks types.
    pub(crate) fn bind(&self, context: &Context<'_>) -> Result<Statement, SqlError> {
        let mut sources = self.sources.clone();
        let made = self.texts(&mut sources, context)?;
        let bound = to_sql::check(&self.pieces(&made))
            .and_then(|()| self.parts(&made))
            .and_then(|parts| bind_select(&parts, context));
        let mut statement = bound.map_err(|fault| sources.error(fault))?;
        if let Statement::Query { query, .. } = &mut statement {
            query.require_complete = self.spec.require_complete;
            if let Some(deadline_ms) = self.spec.deadline_ms {
                query.deadline = checked_deadline(deadline_ms)?;
            }
        }
        Ok(statement)
    }

    /// The equivalent SQL.
    pub(crate) fn to_sql(&self, context: &Context<'_>) -> Result<String, SqlError> {
        let made = self.texts(&mut Sources::default(), context)?;
        Ok(to_sql::print(&self.pieces(&made)))
    }

    /// Generates the texts that depend on the table.
    fn texts(&self, sources: &mut Sources, context: &Context<'_>) -> Result<Texts, SqlError> {
        let schema = context.catalog.table(&self.spec.table);
        let schema = schema.as_deref();
        let times = self.times.texts(&time_name(schema), schema, context.now)?;
        let mut add = |field: &str, text: &str| sources.add(Some(field), text);
        let mut conditions: Vec<Source> =
            times.conditions.iter().map(|(field, text)| add(field, text)).collect();
        if let Some(search) = self.spec.search.as_deref().filter(|text| !text.is_empty()) {
            conditions.push(add("search", &format!("search({})", quoted(search, '\''))));
        }
        let first = times.items.len() + 1;
        let groups = match times.bucket {
            Some(bucket) if self.times.is_compared() => {
                let positions = first..first + self.spec.group_by.as_slice().len();
                let positions = positions.map(|position| position.to_string());
                std::iter::once(bucket).chain(positions).collect()
            }
            _ => Vec::new(),
        };
        Ok(Texts {
            table: add("table", &quoted(&self.spec.table, '"')),
            items: times.items.iter().map(|(field, text)| add(field, text)).collect(),
            conditions,
            groups,
        })
    }

    /// Builds the syntax tree of the SELECT.
    fn parts(&self, made: &Texts) -> Read<SelectAst> {
        let mut items = made.items.iter().map(item).collect::<Read<Vec<Item>>>()?;
        items.extend(self.items.iter().map(|item| item.syntax.clone()));
        if items.is_empty() {
            let name = "*".to_owned();
            items.push(Item { expr: None, name, aliased: false, at: NOWHERE });
        }
        let mut filters = made.conditions.iter().map(expr).collect::<Read<Vec<_>>>()?;
        filters.extend(self.filters.iter().map(|filter| filter.syntax.clone()));
        let group = |text: &String| parse_nowhere(text);
        let groups = match made.groups.as_slice() {
            _ if !self.is_grouped => Groups::None,
            [] => Groups::All,
            groups => Groups::By(groups.iter().map(group).collect::<Read<_>>()?),
        };
        Ok(SelectAst {
            table: Some(Table { name: vec![self.table_ident(&made.table)], alias: None }),
            distinct: false,
            items,
            filters,
            groups,
            having: None,
            order: self.order.iter().map(|order| order.syntax.clone()).collect(),
            limit: self.spec.limit,
            offset: self.spec.offset.unwrap_or(0),
            series: self.series.as_ref().map(|series| (series.syntax, series.source.start())),
        })
    }

    /// The table's name as a quoted identifier, which matches exactly this table.
    fn table_ident(&self, source: &Source) -> Ident {
        let span = Span { start: source.start(), end: source.start() };
        Ident { value: self.spec.table.clone(), quote_style: Some('"'), span }
    }
}

/// Parses the texts of a field.
fn all<T>(
    sources: &mut Sources,
    field: &str,
    texts: &spec::Texts,
    parse: fn(&Source) -> Read<T>,
) -> Result<Vec<Parsed<T>>, SqlError> {
    let text = |(index, text): (usize, &String)| {
        one(sources.add(Some(&name_of(field, texts, index)), text), parse)
    };
    texts.as_slice().iter().enumerate().map(text).collect()
}

fn one<T>(source: Source, parse: fn(&Source) -> Read<T>) -> Result<Parsed<T>, SqlError> {
    match parse(&source) {
        Ok(syntax) => Ok(Parsed { source, syntax }),
        Err(fault) => Err(source.error(fault)),
    }
}

fn item(source: &Source) -> Read<Item> {
    let (item, name) = parse::parse_item(source)?;
    item_of(item, name)
}

fn order(source: &Source) -> Read<Arc<ast::OrderByExpr>> {
    parse::parse_order(source).map(Arc::new)
}

fn expr(source: &Source) -> Read<Arc<ast::Expr>> {
    parse::parse_expr(source, parse::tokenize(source)?).map(Arc::new)
}

fn filter(source: &Source) -> Read<Arc<ast::Expr>> {
    let plain = expr(source)?;
    match parse::begins_query(&parse::tokenize(source)?) {
        // In the parentheses of the equivalent SQL, this text would be a subquery.
        true => parse::parse_nested(source).map(Arc::new),
        false => Ok(plain),
    }
}

/// Parses a generated expression.
fn parse_nowhere(text: &str) -> Read<ast::Expr> {
    parse::parse_expr(&Sources::default().add(None, text), tokens_nowhere(text)?)
}

/// The name of one text of a field, for errors.
fn name_of(field: &str, texts: &spec::Texts, index: usize) -> String {
    match texts {
        spec::Texts::One(_) => field.to_owned(),
        spec::Texts::Many(_) => format!("{field}[{index}]"),
    }
}

/// The name of the time column: `time`, unless another column has that name.
fn time_name(table: Option<&TableSchema>) -> String {
    match table {
        Some(table) if table.time_column.as_str() != TIME && table.column(TIME).is_some() => {
            quoted(table.time_column.as_str(), '"')
        }
        _ => TIME.to_owned(),
    }
}

fn checked_deadline(deadline_ms: u64) -> Result<Duration, SqlError> {
    let most = limits::QUERY_DEADLINE_MS_MAX;
    if (1..=most).contains(&deadline_ms) {
        return Ok(Duration::from_millis(deadline_ms));
    }
    let message = format!("a deadline of {deadline_ms} ms; it may be 1 to {most}");
    Err(SqlError::of_field("deadline_ms", Fault::new(message, NOWHERE)))
}
