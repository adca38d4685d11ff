//! Name resolution: tables, and the columns of the query's table.

use std::sync::Arc;

use hadal_query::{AggregateUdf, RowInput, ScalarUdf, TimeZone, Type};
use hadal_types::{ColumnSchema, Micros, TableSchema, Value};
use sqlparser::ast::Ident;

use crate::bind::bound_expr::TypedExpr;
use crate::error::{LocatedError, NOWHERE, Read};
use crate::suggest::{did_you_mean, nearest};
use crate::syntax::select_ast::joined;
use crate::{Context, UnknownColumns};

/// The names that an expression can use.
#[derive(Clone)]
pub(crate) struct Scope<'a> {
    context: &'a Context<'a>,
    table: Option<&'a TableSchema>,
    alias: Option<Ident>,
    zone: TimeZone,
}

/// What a column name resolves to.
#[derive(Clone)]
pub(crate) enum Column<'a> {
    /// The rows' time.
    Time,
    /// A column of the table.
    Known(&'a ColumnSchema),
    /// No column of the table; it counts as null.
    Absent(String),
}

/// The name by which every table's time column can be used.
pub(crate) const TIME: &str = "time";
/// The schema that clients of PostgreSQL take all tables to be in.
const SCHEMA: &str = "public";

impl<'a> Scope<'a> {
    pub(crate) fn new(
        context: &'a Context<'a>,
        table: &'a TableSchema,
        alias: Option<Ident>,
    ) -> Self {
        Self { context, table: Some(table), alias, zone: TimeZone::UTC }
    }

    pub(crate) fn without_table(context: &'a Context<'a>) -> Self {
        Self { context, table: None, alias: None, zone: TimeZone::UTC }
    }

    /// The same names, and times as in this time zone.
    pub(crate) fn in_zone(self, zone: &TimeZone) -> Self {
        Self { zone: zone.clone(), ..self }
    }

    /// The time zone of the query's calendar.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// The function of this name that somebody defined.
    pub(crate) fn user_function(&self, name: &str) -> Option<Arc<dyn ScalarUdf>> {
        self.context.catalog.function(name)
    }

    /// The aggregate of this name that somebody defined.
    pub(crate) fn user_aggregate(&self, name: &str) -> Option<Arc<dyn AggregateUdf>> {
        self.context.catalog.aggregate(name)
    }

    pub(crate) fn now(&self) -> Micros {
        self.context.now
    }

    pub(crate) fn table(&self) -> Option<&'a TableSchema> {
        self.table
    }

    /// Finds a table by name: exactly, or else the only one that differs in letter case.
    pub(crate) fn table_named(parts: &[Ident], context: &Context<'_>) -> Read<Arc<TableSchema>> {
        let name = joined(parts);
        if let Some(table) = context.catalog.table(&name) {
            return Ok(table);
        }
        if let Some(rest) = without_schema(parts) {
            return Self::table_named(rest, context);
        }
        let names = context.catalog.table_names();
        let names = || names.iter().map(hadal_types::TableName::as_str);
        if let Some(table) = only_caseless(parts, &name, names())
            && let Some(table) = context.catalog.table(table)
        {
            return Ok(table);
        }
        let at = parts.first().map_or(NOWHERE, |part| part.span.start);
        let near = nearest(&name, names()).into_iter().take(3).map(str::to_owned).collect();
        Err(LocatedError::unknown_table(name, near, at))
    }

    /// Resolves the name `parts`, joined by dots.
    pub(crate) fn column(&self, parts: &[Ident]) -> Read<Column<'a>> {
        let at = parts.first().map_or(NOWHERE, |part| part.span.start);
        let Some(table) = self.table else {
            return Err(LocatedError::new(format!("there is no column {}", joined(parts)), at)
                .hint("add FROM and a table; text is written in 'single quotes'"));
        };
        let parts = match without_schema(parts) {
            Some(rest @ [first, _, ..]) if self.is_table(table, first) => rest,
            _ => parts,
        };
        let unqualified = match parts {
            [first, rest @ ..] if !rest.is_empty() && self.is_table(table, first) => rest,
            _ => parts,
        };
        let column = exact(table, parts)
            .or_else(|| exact(table, unqualified))
            .or_else(|| caseless(table, parts))
            .or_else(|| caseless(table, unqualified));
        match (column, self.context.unknown_columns) {
            (Some(column), _) => Ok(column),
            (None, UnknownColumns::Null) => Ok(Column::Absent(joined(unqualified))),
            // No row of the table can be read now, so its columns are unknown. The result's
            // coverage reports the missing rows.
            (None, UnknownColumns::Error) if table.columns.is_empty() => {
                Ok(Column::Absent(joined(unqualified)))
            }
            (None, UnknownColumns::Error) => Err(unknown(table, &joined(unqualified), at)),
        }
    }

    /// Whether any column of the table is known.
    pub(crate) fn has_columns(&self) -> bool {
        self.table.is_some_and(|table| !table.columns.is_empty())
    }

    fn is_table(&self, table: &TableSchema, name: &Ident) -> bool {
        let same = |other: &str| match name.quote_style {
            Some(_) => name.value == other,
            None => name.value.eq_ignore_ascii_case(other),
        };
        match &self.alias {
            Some(alias) => same(&alias.value),
            None => same(table.name.as_str()),
        }
    }
}

/// The name without the schema of PostgreSQL, if it begins with that.
fn without_schema(parts: &[Ident]) -> Option<&[Ident]> {
    match parts {
        [schema, rest @ ..] if !rest.is_empty() && schema.value == SCHEMA => Some(rest),
        _ => None,
    }
}

impl Column<'_> {
    /// The column as an expression: its part with the most rows.
    pub(crate) fn bind(&self) -> TypedExpr {
        match self {
            Self::Time => TypedExpr::input(RowInput::Time),
            Self::Known(column) => match column.main_part() {
                Some(part) => TypedExpr::part(column, part.kind),
                None => TypedExpr::literal(Value::Null),
            },
            Self::Absent(_) => TypedExpr::literal(Value::Null),
        }
    }
}

fn exact<'a>(table: &'a TableSchema, parts: &[Ident]) -> Option<Column<'a>> {
    let name = joined(parts);
    match table.column(&name) {
        Some(column) => Some(known(table, column)),
        None if name == TIME => Some(Column::Time),
        None => None,
    }
}

fn caseless<'a>(table: &'a TableSchema, parts: &[Ident]) -> Option<Column<'a>> {
    let names = table.columns.iter().map(|column| column.name.as_str());
    let name = joined(parts);
    match only_caseless(parts, &name, names) {
        Some(name) => table.column(name).map(|column| known(table, column)),
        None => {
            let unquoted = parts.iter().all(|part| part.quote_style.is_none());
            (unquoted && name.eq_ignore_ascii_case(TIME)).then_some(Column::Time)
        }
    }
}

fn known<'a>(table: &TableSchema, column: &'a ColumnSchema) -> Column<'a> {
    if column.name == table.time_column { Column::Time } else { Column::Known(column) }
}

/// The only one of `names` that equals `name` ignoring letter case; `None` if a part is quoted.
fn only_caseless<'n>(
    parts: &[Ident],
    name: &str,
    names: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    if parts.iter().any(|part| part.quote_style.is_some()) {
        return None;
    }
    let mut same = names.filter(|other| same_letters(other, name));
    match (same.next(), same.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

fn same_letters(left: &str, right: &str) -> bool {
    let left = left.chars().flat_map(char::to_lowercase);
    left.eq(right.chars().flat_map(char::to_lowercase))
}

fn unknown(table: &TableSchema, name: &str, at: sqlparser::tokenizer::Location) -> LocatedError {
    let error = LocatedError::new(format!("table {} has no column {name}", table.name), at);
    let names = table.columns.iter().map(|column| column.name.as_str()).chain([TIME]);
    match did_you_mean(name, names) {
        Some(hint) => error.hint(hint),
        None => error.hint(format!(
            "DESCRIBE {} lists its columns; text is written in 'single quotes'",
            table.name
        )),
    }
}

/// The name of a type in messages, with its article.
pub(crate) const fn a(value_type: Type) -> &'static str {
    match value_type {
        Type::Null => "null",
        Type::Bool => "a bool",
        Type::Number => "a number",
        Type::Time => "a time",
        Type::String => "a string",
        Type::Set => "a set",
        Type::Vector => "a vector",
        Type::Histogram => "a histogram",
    }
}
