//! A query in JSON, spelled as SQL, remembering which bytes came from which field.

use hadal_types::TableSchema;

use crate::error::{Fault, NOWHERE, Position, Read, Source, SqlError};
use crate::scope::TIME;
use crate::spec::field_error;
use crate::spec_time::{Times, times};
use crate::{Context, QuerySpec, Texts, parse};

/// SQL, and which bytes of it are whose.
#[derive(Default)]
pub(crate) struct Spelled {
    pub(crate) sql: String,
    fields: Vec<(std::ops::Range<usize>, String)>,
}

/// A text and the name of the field that it comes from.
type Field = (String, String);

impl Spelled {
    fn push(&mut self, text: &str) {
        self.sql.push_str(text);
    }

    fn field(&mut self, (field, text): &Field) {
        let from = self.sql.len();
        self.push(text);
        self.fields.push((from..self.sql.len(), field.clone()));
        // A comment must not swallow what follows.
        self.push(if text.contains("--") { "\n" } else { "" });
    }

    /// Appends fields between commas, after `before` when there are any.
    fn list(&mut self, before: &str, fields: &[Field]) {
        for (index, field) in fields.iter().enumerate() {
            self.push(if index > 0 { ", " } else { before });
            self.field(field);
        }
    }

    /// The error, placed in the field that its place belongs to.
    pub(crate) fn error(&self, error: SqlError) -> SqlError {
        let Some(position) = error.position else { return error };
        let is_here = |bytes: &std::ops::Range<usize>| {
            bytes.contains(&position.offset) || position.offset == bytes.end
        };
        let found = self.fields.iter().find(|(bytes, _)| is_here(bytes));
        let Some((bytes, field)) = found else { return SqlError { position: None, ..error } };
        let before = self.sql.get(bytes.start..position.offset).unwrap_or_default();
        let line = before.matches('\n').count() as u64 + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1;
        let position = Position { line, column, offset: before.len() };
        SqlError { field: Some(field.clone()), position: Some(position), ..error }
    }
}

/// Spells a spec as SQL. Each text is parsed by itself first, so that none can end its clause.
pub(crate) fn spell(spec: &QuerySpec, context: &Context<'_>) -> Result<Spelled, SqlError> {
    if spec.table.is_empty() {
        return Err(field_error("table", Fault::new("the name of a table is missing", NOWHERE)));
    }
    let table = context.catalog.table(&spec.table);
    let times = times(spec, &time_name(table.as_deref()), table.as_deref(), context.now)?;
    let groups = texts("group_by", &spec.group_by, item)?;
    let mut aggregates = texts("aggregates", &spec.aggregates, item)?;
    let columns = texts("columns", &spec.columns, item)?;
    let order = texts("order_by", &spec.order_by, |text| parse::parse_order(text).map(drop))?;
    let is_grouped = times.bucket.is_some()
        || times.is_compared
        || !(groups.is_empty() && aggregates.is_empty());
    if let Some((field, _)) = columns.first().filter(|_| is_grouped) {
        let fault = Fault::new("columns are of raw rows and cannot stand beside groups", NOWHERE);
        return Err(field_error(field, fault.hint("name them in group_by")));
    }
    if is_grouped && aggregates.is_empty() {
        aggregates.push(("aggregates".to_owned(), "count(*)".to_owned()));
    }
    let mut spelled = Spelled::default();
    spelled.push("SELECT ");
    match (is_grouped, columns.is_empty()) {
        (true, _) => {
            let keys = [times.items.as_slice(), &groups, &aggregates].concat();
            spelled.list("", &keys);
        }
        (false, true) => spelled.push("*"),
        (false, false) => spelled.list("", &columns),
    }
    spelled.push(" FROM ");
    spelled.field(&("table".to_owned(), quoted(&spec.table, '"')));
    spell_conditions(&mut spelled, spec, &times)?;
    spell_groups(&mut spelled, &times, is_grouped, groups.len());
    spelled.list(" ORDER BY ", &order);
    for (before, field, number, after) in [
        (" LIMIT ", "series", spec.series, " SERIES"),
        (" LIMIT ", "limit", spec.limit, ""),
        (" OFFSET ", "offset", spec.offset, ""),
    ] {
        if let Some(number) = number {
            spelled.push(before);
            spelled.field(&(field.to_owned(), number.to_string()));
            spelled.push(after);
        }
    }
    Ok(spelled)
}

fn item(text: &str) -> Read<()> {
    parse::parse_item(text).map(drop)
}

/// How the time column can be called: `time`, unless another column has that name.
fn time_name(table: Option<&TableSchema>) -> String {
    match table {
        Some(table) if table.time_column.as_str() != TIME && table.column(TIME).is_some() => {
            quoted(table.time_column.as_str(), '"')
        }
        _ => TIME.to_owned(),
    }
}

/// The texts of one field with the names of their places, each parsed by `parse`.
fn texts(
    field: &str,
    texts: &Texts,
    parse: impl Fn(&str) -> Read<()>,
) -> Result<Vec<Field>, SqlError> {
    let one = |(index, text): (usize, &String)| {
        let place = match texts {
            Texts::One(_) => field.to_owned(),
            Texts::Many(_) => format!("{field}[{index}]"),
        };
        let source = Source { text, field: Some(place.clone()) };
        parse(text).map_err(|fault| source.error(fault))?;
        Ok((place, text.clone()))
    };
    texts.as_slice().iter().enumerate().map(one).collect()
}

fn spell_conditions(
    spelled: &mut Spelled,
    spec: &QuerySpec,
    times: &Times,
) -> Result<(), SqlError> {
    let filters = texts("filter", &spec.filter, |text| parse::parse_expr(text).map(drop))?;
    let search = spec.search.as_deref().filter(|text| !text.is_empty());
    let search =
        search.map(|text| ("search".to_owned(), format!("search({})", quoted(text, '\''))));
    let mut between = " WHERE ";
    for condition in times.conditions.iter().chain(&search) {
        spelled.push(between);
        spelled.field(condition);
        between = " AND ";
    }
    for filter in &filters {
        // In parentheses, or an OR in one would reach into the next.
        spelled.push(between);
        spelled.push("(");
        spelled.field(filter);
        spelled.push(")");
        between = " AND ";
    }
    Ok(())
}

/// Groups are what is selected, but for the bucket of a comparison, which is hidden in the
/// columns made of it.
fn spell_groups(spelled: &mut Spelled, times: &Times, is_grouped: bool, groups: usize) {
    match &times.bucket {
        Some(bucket) if times.is_compared => {
            spelled.push(" GROUP BY ");
            spelled.push(bucket);
            let first = times.items.len() + 1;
            for position in first..first + groups {
                spelled.push(&format!(", {position}"));
            }
        }
        _ => spelled.push(if is_grouped { " GROUP BY ALL" } else { "" }),
    }
}

/// A text between quotes.
pub(crate) fn quoted(text: &str, quote: char) -> String {
    let doubled = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}
