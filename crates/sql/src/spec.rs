//! The JSON spelling of a query: the page's form, with expressions as SQL texts.
//!
//! It is spelled out as SQL, which people can read and take along, and then lowered like any
//! other; an error's place in that SQL is told as a place in the field that it came from.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use hadal_types::time::parse_timestamp;
use hadal_types::{Micros, Number, TimeRange, limits};

use crate::duration::parse_duration;
use crate::error::{Fault, NOWHERE, Position, Read, Source, SqlError};
use crate::{Context, Statement, parse, statement};

/// A query in JSON. All fields but the table may be left out; unknown ones are refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuerySpec {
    /// The table.
    pub table: String,
    /// The first moment: RFC 3339, Unix seconds, or relative to now as in `-3h`.
    pub from: Option<String>,
    /// The moment after the last, spelled likewise; `now` is one.
    pub to: Option<String>,
    /// Conditions, all of which must be true.
    pub filter: Texts,
    /// A text to look for in all columns.
    pub search: Option<String>,
    /// What to group by.
    pub group_by: Texts,
    /// Group by time as well: a length such as `1m`, or `auto` for about 200 buckets.
    pub bucket: Option<String>,
    /// Aggregates, each perhaps `… AS name`. With none of these and no groups: raw rows.
    pub aggregates: Texts,
    /// The columns of raw rows; all when left out.
    pub columns: Texts,
    /// What to sort by, each perhaps `… DESC`.
    pub order_by: Texts,
    /// Rows of the answer at most.
    pub limit: Option<u64>,
    /// Rows left out before the first.
    pub offset: Option<u64>,
    /// With `bucket`: the top so many series by the first aggregate; the rest as "other".
    pub series: Option<u64>,
    /// How long the answer may take, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// Whether an answer without some leaf's rows is worth nothing.
    pub require_complete: bool,
}

/// One text or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Texts {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Default for Texts {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Texts {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
    }
}

/// Buckets that `auto` aims at.
const BUCKETS_WANTED: i64 = 200;
/// Widths that people can read, in seconds.
const WIDTHS: [i64; 17] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400,
];

/// Lowers a query in JSON.
///
/// # Errors
/// [`SqlError`]; its field names the part of the spec, its position is within that part's text.
pub fn lower_spec(spec: &QuerySpec, context: &Context<'_>) -> Result<Statement, SqlError> {
    let spelled = spell(spec, context)?;
    let lowered =
        statement::lower(&spelled.sql, context).map_err(|error| spelled.error(error))?;
    let Statement::Query { mut query, notes } = lowered else {
        return Err(field_error("table", Fault::new("it is not a question", NOWHERE)));
    };
    query.require_complete = spec.require_complete;
    if let Some(deadline_ms) = spec.deadline_ms {
        query.deadline = Duration::from_millis(checked_deadline(deadline_ms)?);
    }
    Ok(Statement::Query { query, notes })
}

fn checked_deadline(deadline_ms: u64) -> Result<u64, SqlError> {
    let most = limits::QUERY_DEADLINE_MS_MAX;
    if (1..=most).contains(&deadline_ms) {
        return Ok(deadline_ms);
    }
    let message = format!("a deadline of {deadline_ms} ms; it may be 1 to {most}");
    Err(field_error("deadline_ms", Fault::new(message, NOWHERE)))
}

/// The SQL that asks the same as `spec`, but for `deadline_ms` and `require_complete`.
///
/// # Errors
/// [`SqlError`] naming the field whose text is not what it should be.
pub fn to_sql(spec: &QuerySpec, context: &Context<'_>) -> Result<String, SqlError> {
    spell(spec, context).map(|spelled| spelled.sql)
}

/// SQL, and which bytes of it are whose.
#[derive(Default)]
struct Spelled {
    sql: String,
    fields: Vec<(std::ops::Range<usize>, String)>,
}

impl Spelled {
    fn push(&mut self, text: &str) {
        self.sql.push_str(text);
    }

    fn field(&mut self, field: String, text: &str) {
        let from = self.sql.len();
        self.sql.push_str(text);
        self.fields.push((from..self.sql.len(), field));
    }

    /// Appends a list of fields between commas, or whatever `between` is.
    fn list(&mut self, parts: &[(String, String)], between: &str) {
        for (index, (field, text)) in parts.iter().enumerate() {
            self.push(if index > 0 { between } else { "" });
            self.field(field.clone(), text);
        }
    }

    /// The error, placed in the field that its place belongs to.
    fn error(&self, error: SqlError) -> SqlError {
        let Some(position) = error.position else { return error };
        let mut fields = self.fields.iter();
        let found = fields.find(|(bytes, _)| {
            bytes.contains(&position.offset) || position.offset == bytes.end
        });
        let Some((bytes, field)) = found else { return SqlError { position: None, ..error } };
        let text = &self.sql[bytes.start..position.offset];
        let line = text.matches('\n').count() as u64 + 1;
        let column = text.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1;
        let position = Position { line, column, offset: text.len() };
        SqlError { field: Some(field.clone()), position: Some(position), ..error }
    }
}

fn field_error(field: &str, fault: Fault) -> SqlError {
    Source { text: "", field: Some(field.to_owned()) }.error(fault)
}

/// Spells a spec as SQL. Each text is parsed by itself first, so that none can end its clause.
fn spell(spec: &QuerySpec, context: &Context<'_>) -> Result<Spelled, SqlError> {
    let aggregates = texts("aggregates", &spec.aggregates, |text| {
        parse::parse_item(text).map(drop)
    })?;
    let columns = texts("columns", &spec.columns, |text| parse::parse_item(text).map(drop))?;
    let groups = texts("group_by", &spec.group_by, |text| parse::parse_item(text).map(drop))?;
    let order = texts("order_by", &spec.order_by, |text| parse::parse_order(text).map(drop))?;
    let bucket = bucket(spec, context)?;
    let is_grouped = bucket.is_some() || !aggregates.is_empty() || !groups.is_empty();
    let mut spelled = Spelled::default();
    spelled.push("SELECT ");
    if is_grouped {
        let keys: Vec<_> = bucket.iter().cloned().chain(groups).collect();
        spelled.list(&keys, ", ");
        spelled.push(if keys.is_empty() || aggregates.is_empty() { "" } else { ", " });
        spelled.list(&aggregates, ", ");
        if aggregates.is_empty() {
            spelled.push(", count(*)");
        }
    } else if columns.is_empty() {
        spelled.push("*");
    } else {
        spelled.list(&columns, ", ");
    }
    spelled.push(" FROM ");
    spelled.field("table".to_owned(), &quoted(&spec.table, '"'));
    let conditions = conditions(spec, context)?;
    spelled.push(if conditions.is_empty() { "" } else { " WHERE " });
    for (index, (field, text)) in conditions.iter().enumerate() {
        spelled.push(if index > 0 { " AND " } else { "" });
        // In parentheses, or an OR in one would reach into the next.
        let whole = !field.starts_with("filter");
        spelled.push(if whole { "" } else { "(" });
        spelled.field(field.clone(), text);
        spelled.push(if whole { "" } else { ")" });
    }
    spelled.push(if is_grouped { " GROUP BY ALL" } else { "" });
    spelled.push(if order.is_empty() { "" } else { " ORDER BY " });
    spelled.list(&order, ", ");
    for (word, number, after) in [
        ("LIMIT", spec.series, " SERIES"),
        ("LIMIT", spec.limit, ""),
        ("OFFSET", spec.offset, ""),
    ] {
        if let Some(number) = number {
            spelled.push(&format!(" {word} {number}{after}"));
        }
    }
    Ok(spelled)
}

/// The texts of one field with the names of their places, each parsed by `parse`.
fn texts(
    field: &str,
    texts: &Texts,
    parse: impl Fn(&str) -> Read<()>,
) -> Result<Vec<(String, String)>, SqlError> {
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

fn conditions(
    spec: &QuerySpec,
    context: &Context<'_>,
) -> Result<Vec<(String, String)>, SqlError> {
    let range = range(spec, context.now)?;
    let bound = |field: &str, sign: &str, time: Option<Micros>| {
        time.map(|time| (field.to_owned(), format!("time {sign} '{time}'")))
    };
    let mut conditions: Vec<_> =
        bound("from", ">=", range.from).into_iter().chain(bound("to", "<", range.to)).collect();
    let filters = texts("filter", &spec.filter, |text| parse::parse_expr(text).map(drop))?;
    conditions.extend(filters);
    let search = spec.search.as_deref().filter(|text| !text.is_empty());
    conditions.extend(search.map(|text| {
        ("search".to_owned(), format!("search({})", quoted(text, '\'')))
    }));
    Ok(conditions)
}

fn quoted(text: &str, quote: char) -> String {
    let doubled = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

fn range(spec: &QuerySpec, now: Micros) -> Result<TimeRange, SqlError> {
    let moment = |field: &str, text: &Option<String>| {
        let read = |text: &String| moment(text, now).map_err(|fault| field_error(field, fault));
        text.as_ref().map(read).transpose()
    };
    Ok(TimeRange { from: moment("from", &spec.from)?, to: moment("to", &spec.to)? })
}

/// A moment: `now`, `-3h`, Unix seconds or RFC 3339.
fn moment(text: &str, now: Micros) -> Read<Micros> {
    let trimmed = text.trim();
    let relative = trimmed.strip_prefix("now").unwrap_or(trimmed).trim_start();
    let found = if trimmed == "now" {
        Some(now)
    } else if relative.starts_with(['-', '+']) {
        let length = parse_duration(relative.trim_start_matches('+')).ok();
        length.and_then(|length| Micros(now.0.checked_add(length)?).in_range())
    } else if let Ok(seconds) = trimmed.parse::<Number>() {
        Micros(0).plus_seconds(seconds)
    } else {
        parse_timestamp(trimmed)
    };
    found.ok_or_else(|| {
        Fault::new(format!("{text:?} is not a time"), NOWHERE)
            .hint("write 'now', '-3h', Unix seconds, or 2026-11-21T03:00:00Z")
    })
}

/// The time bucket as an item of the SELECT list.
fn bucket(
    spec: &QuerySpec,
    context: &Context<'_>,
) -> Result<Option<(String, String)>, SqlError> {
    let Some(text) = &spec.bucket else { return Ok(None) };
    let error = |message: String, hint: &str| {
        field_error("bucket", Fault::new(message, NOWHERE).hint(hint))
    };
    let seconds = if text.trim() == "auto" {
        auto_width(spec, context)?
    } else {
        let length = parse_duration(text).map_err(|no| error(no.message, no.hint))?;
        let whole = length > 0 && length % Micros::SECOND == 0;
        whole.then_some(length / Micros::SECOND).ok_or_else(|| {
            error(format!("{text:?} is not a bucket"), "take one or more whole seconds, as in 1m")
        })?
    };
    let item = format!("time_bucket('{seconds} seconds', time) AS time");
    Ok(Some(("bucket".to_owned(), item)))
}

/// The smallest readable width, in seconds, that makes at most so many buckets of the range.
fn auto_width(spec: &QuerySpec, context: &Context<'_>) -> Result<i64, SqlError> {
    let asked = range(spec, context.now)?;
    let held = context.catalog.table(&spec.table).and_then(|table| table.time_range);
    let from = asked.from.or(held.map(|(first, _)| first)).unwrap_or(context.now);
    let to = asked.to.or(held.map(|(_, last)| last)).unwrap_or(context.now);
    let seconds = to.seconds_since(from).max(1);
    let fits = |width: &&i64| seconds / **width <= BUCKETS_WANTED;
    let days = || seconds / BUCKETS_WANTED / 86_400 + 1;
    Ok(WIDTHS.iter().find(fits).copied().unwrap_or_else(|| days() * 86_400))
}
