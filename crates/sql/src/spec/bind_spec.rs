//! Binds a query in JSON, and prints its SQL, including the texts that depend on the table.

use std::sync::Arc;
use std::time::Duration;

use hadal_query::TimeZone;
use hadal_types::{TableSchema, limits};
use sqlparser::ast::{self, Ident};
use sqlparser::tokenizer::Span;

use crate::bind::scope::TIME;
use crate::error::{LocatedError, NOWHERE, Read, Source, Sources, SqlError};
use crate::select::bind_select::bind_select;
use crate::spec::syntax::{SpecSyntax, expr, item};
use crate::spec::to_sql::{Pieces, quoted, tokens_nowhere};
use crate::syntax::parse;
use crate::syntax::select_ast::{CompareAst, Groups, Item, SelectAst, Table};
use crate::{Context, Statement};

/// The texts that are generated for the query's table.
struct Texts {
    table: Source,
    items: Vec<Source>,
    conditions: Vec<Source>,
    /// The condition of the side `now`, if the sides of a comparison of times are columns.
    now_side: Option<Source>,
    /// The keys of GROUP BY; if empty, all items without aggregates.
    groups: Vec<String>,
}

impl SpecSyntax {
    /// Resolves names and checks types; `zone` is the time zone of a query that names none.
    pub(crate) fn bind(
        &self,
        context: &Context<'_>,
        zone: &TimeZone,
    ) -> Result<Statement, SqlError> {
        let zone = self.zone.as_ref().unwrap_or(zone);
        let mut sources = self.sources.clone();
        let made = self.texts(&mut sources, context)?;
        let bound = self
            .pieces(&made)
            .check()
            .and_then(|()| self.parts(&made))
            .and_then(|parts| bind_select(std::slice::from_ref(&parts), context, zone));
        let mut statement = bound.map_err(|error| sources.error(error))?;
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
        Ok(self.pieces(&made).print())
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
            Some(bucket) if self.times.has_side_rows() => {
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
            now_side: times.now_side.iter().map(|text| add("compare", text)).next(),
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
            totals: self.spec.totals.then_some(NOWHERE),
            compare: self.compare(made)?,
        })
    }

    /// The sides that are columns.
    fn compare(&self, made: &Texts) -> Read<Option<CompareAst>> {
        if let Some(now_side) = &made.now_side {
            let condition = expr(now_side)?;
            let at = now_side.start();
            return Ok(Some(CompareAst { condition, against: None, is_of_times: true, at }));
        }
        Ok(self.compare.as_ref().map(|(first, against)| CompareAst {
            condition: Arc::clone(&first.syntax),
            against: against.as_ref().map(|against| Arc::clone(&against.syntax)),
            is_of_times: false,
            at: first.source.start(),
        }))
    }

    /// The table's name as a quoted identifier, which matches exactly this table.
    fn table_ident(&self, source: &Source) -> Ident {
        let span = Span { start: source.start(), end: source.start() };
        Ident { value: self.spec.table.clone(), quote_style: Some('"'), span }
    }

    /// The pieces of the SQL in order.
    fn pieces<'p>(&'p self, made: &'p Texts) -> Pieces<'p> {
        let mut pieces = Pieces::default();
        let items: Vec<&Source> =
            made.items.iter().chain(self.items.iter().map(|item| &item.source)).collect();
        match items.as_slice() {
            [] => pieces.words("SELECT *"),
            items => pieces.list("SELECT ", items),
        }
        pieces.list(" FROM ", &[&made.table]);
        let mut before = " WHERE ";
        for condition in &made.conditions {
            pieces.list(before, &[condition]);
            before = " AND ";
        }
        for filter in &self.filters {
            // The parentheses keep an OR within its filter.
            pieces.words(before);
            pieces.list("(", &[&filter.source]);
            pieces.words(")");
            before = " AND ";
        }
        match made.groups.as_slice() {
            _ if !self.is_grouped => {}
            [] => pieces.words(" GROUP BY ALL"),
            groups => pieces.words(format!(" GROUP BY {}", groups.join(", "))),
        }
        if self.spec.totals {
            pieces.words(" WITH TOTALS");
        }
        let sides = self.compare.as_ref().map(|(first, against)| {
            (&first.source, against.as_ref().map(|against| &against.source))
        });
        if let Some((first, against)) = made.now_side.as_ref().map(|side| (side, None)).or(sides) {
            pieces.list(" COMPARE (", &[first]);
            match against {
                Some(against) => {
                    pieces.list(") AGAINST (", &[against]);
                    pieces.words(")");
                }
                None => pieces.words(") AGAINST REST"),
            }
        }
        let order: Vec<&Source> = self.order.iter().map(|order| &order.source).collect();
        pieces.list(" ORDER BY ", &order);
        if let Some(series) = &self.series {
            pieces.list(" LIMIT ", &[&series.source]);
            pieces.words(" SERIES");
        }
        if let Some(limit) = self.spec.limit {
            pieces.words(format!(" LIMIT {limit}"));
        }
        if let Some(offset) = self.spec.offset {
            pieces.words(format!(" OFFSET {offset}"));
        }
        pieces
    }
}

/// Parses a generated expression.
fn parse_nowhere(text: &str) -> Read<ast::Expr> {
    parse::parse_expr(&Sources::default().add(None, text), tokens_nowhere(text)?)
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
    Err(SqlError::of_field("deadline_ms", LocatedError::new(message, NOWHERE)))
}
