//! Parses a query in JSON: each of its texts separately, so that no text can reach beyond its
//! clause.
//!
//! Columns and conditions on times depend on the table: on its time column's name, and on the times
//! of its rows. `spec/bind_spec.rs` adds them when the query is bound.

use std::sync::Arc;

use hadal_query::TimeZone;
use hadal_types::Micros;
use sqlparser::ast;

use crate::bind::time_function::zone_named;
use crate::error::{LocatedError, NOWHERE, Read, Source, Sources, SqlError};
use crate::spec::time::Times;
use crate::syntax::parse;
use crate::syntax::select_ast::{Item, item_of};
use crate::{Compare, QuerySpec, spec};

/// A query in JSON, parsed.
#[derive(Debug)]
pub(crate) struct SpecSyntax {
    pub(crate) spec: QuerySpec,
    /// The time zone that the query names.
    pub(crate) zone: Option<TimeZone>,
    pub(crate) times: Times,
    /// The selected items, groups first; those for times are added by `bind`.
    pub(crate) items: Vec<Parsed<Item>>,
    pub(crate) filters: Vec<Parsed<Arc<ast::Expr>>>,
    pub(crate) order: Vec<Parsed<Arc<ast::OrderByExpr>>>,
    pub(crate) series: Option<Parsed<usize>>,
    /// The conditions that are compared; the second may be the rest.
    pub(crate) compare: Option<(ParsedExpr, Option<ParsedExpr>)>,
    pub(crate) is_grouped: bool,
    pub(crate) sources: Sources,
}

/// The text of an expression, and its syntax.
pub(crate) type ParsedExpr = Parsed<Arc<ast::Expr>>;

/// The text of a field, and its syntax.
#[derive(Debug)]
pub(crate) struct Parsed<T> {
    pub(crate) source: Source,
    pub(crate) syntax: T,
}

impl SpecSyntax {
    /// Parses the texts of `spec`; relative times are relative to `now`.
    pub(crate) fn parse(spec: &QuerySpec, now: Micros) -> Result<Self, SqlError> {
        if spec.table.is_empty() {
            let error = LocatedError::new("the name of a table is missing", NOWHERE);
            return Err(SqlError::of_field("table", error));
        }
        check_compare(spec.compare.as_ref())?;
        let zone = spec.time_zone.as_deref().map(|name| zone_named(name, NOWHERE)).transpose();
        let zone = zone.map_err(|error| SqlError::of_field("time_zone", error))?;
        let times = Times::read(spec, now, zone.as_ref().unwrap_or(&TimeZone::UTC))?;
        let mut sources = Sources::default();
        let groups = all(&mut sources, "group_by", &spec.group_by, parse::parse_item)?;
        let mut aggregates = all(&mut sources, "aggregates", &spec.aggregates, parse::parse_item)?;
        let columns = all(&mut sources, "columns", &spec.columns, parse::parse_item)?;
        let order = all(&mut sources, "order_by", &spec.order_by, order)?;
        let compare = compare(&mut sources, spec.compare.as_ref())?;
        let is_grouped = times.has_bucket()
            || spec.compare.is_some()
            || !(groups.is_empty() && aggregates.is_empty());
        if is_grouped && !columns.is_empty() {
            let message = "columns are of raw rows and cannot stand beside groups";
            let error = LocatedError::new(message, NOWHERE).hint("name them in group_by");
            return Err(SqlError::of_field(&name_of("columns", &spec.columns, 0), error));
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
            zone,
            times,
            items: items.map_err(|error| sources.error(error))?,
            filters,
            order,
            series,
            compare,
            is_grouped,
            sources,
        })
    }
}

/// Refuses a comparison that has neither or both of its forms.
fn check_compare(compare: Option<&Compare>) -> Result<(), SqlError> {
    let Some(Compare { shift, columns, condition, against }) = compare else { return Ok(()) };
    let message = match (shift, condition) {
        (Some(_), None) if against.is_none() => return Ok(()),
        (None, Some(_)) if !*columns => return Ok(()),
        (None, Some(_)) => "columns goes with shift; the sides of where always are columns",
        (None, None) => "a comparison needs shift or where",
        (Some(_), _) => "shift stands alone, without where and against",
    };
    let hint = r#"{"shift": "7d"}, or {"where": "version = 2", "against": "version = 1"}"#;
    Err(SqlError::of_field("compare", LocatedError::new(message, NOWHERE).hint(hint)))
}

/// Parses the conditions of a comparison.
fn compare(
    sources: &mut Sources,
    compare: Option<&Compare>,
) -> Result<Option<(ParsedExpr, Option<ParsedExpr>)>, SqlError> {
    let mut parse = |field: &str, text: Option<&String>| {
        text.map(|text| one(sources.add(Some(field), text), filter)).transpose()
    };
    let first = compare.and_then(|compare| compare.condition.as_ref());
    let against = compare.and_then(|compare| compare.against.as_ref());
    let (first, against) = (parse("compare.where", first)?, parse("compare.against", against)?);
    Ok(first.map(|first| (first, against)))
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
        Err(error) => Err(source.error(error)),
    }
}

/// Parses an item of the SELECT list.
pub(crate) fn item(source: &Source) -> Read<Item> {
    let (item, name) = parse::parse_item(source)?;
    item_of(item, name)
}

fn order(source: &Source) -> Read<Arc<ast::OrderByExpr>> {
    parse::parse_order(source).map(Arc::new)
}

/// Parses an expression.
pub(crate) fn expr(source: &Source) -> Read<Arc<ast::Expr>> {
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

/// The name of one text of a field, for errors.
fn name_of(field: &str, texts: &spec::Texts, index: usize) -> String {
    match texts {
        spec::Texts::One(_) => field.to_owned(),
        spec::Texts::Many(_) => format!("{field}[{index}]"),
    }
}
