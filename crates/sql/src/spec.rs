//! The JSON spelling of a query: the page's form, with expressions as SQL texts.
//!
//! It is spelled out as SQL, which people can read and take along, and then lowered like any
//! other; an error's place in that SQL is told as a place in the field that it came from.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::time::Duration;

use hadal_types::limits;
use hadal_types::time::TimeUnit;

use crate::error::{Fault, NOWHERE, Source, SqlError};
use crate::spell::spell;
use crate::{Context, Statement, statement};

/// A query in JSON. All fields but the table may be left out; unknown ones are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuerySpec {
    /// The table.
    pub table: String,
    /// The first moment: RFC 3339, Unix seconds, or relative to now as in `-3h`.
    #[serde(deserialize_with = "text_or_number")]
    pub from: Option<String>,
    /// The moment after the last, spelled likewise; `now` is one.
    #[serde(deserialize_with = "text_or_number")]
    pub to: Option<String>,
    /// Conditions, all of which must be true.
    pub filter: Texts,
    /// A text to look for in all columns.
    pub search: Option<String>,
    /// What to group by.
    pub group_by: Texts,
    /// Group by time as well: a length such as `1m`, or `auto` for 100 to 300 buckets.
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
    /// The same for an earlier time, side by side.
    pub compare: Option<Compare>,
    /// How long the answer may take, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// Whether an answer without some leaf's rows is worth nothing.
    pub require_complete: bool,
}

/// A comparison with an earlier time. The answer gets a first column `side`, `now` or `before`;
/// the times of `before` are moved forward, so that both sides lie on the same axis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// How much earlier, as in `7d`; at least as long as the time range.
    pub shift: String,
}

/// One text or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The texts.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
    }
}

/// Reads a time that may be written as a number of JSON: Unix seconds. One before 1970 becomes a
/// date, as the text of a negative number is relative to now.
fn text_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Time {
        Integer(i64),
        Double(f64),
        Text(String),
    }
    let number = match Option::<Time>::deserialize(from)? {
        Some(Time::Integer(seconds)) => seconds.to_string(),
        Some(Time::Double(seconds)) => seconds.to_string(),
        Some(Time::Text(text)) => return Ok(Some(text)),
        None => return Ok(None),
    };
    if !number.starts_with('-') {
        return Ok(Some(number));
    }
    let seconds = number.parse().ok().and_then(|seconds| TimeUnit::Seconds.read(seconds));
    let outside = || {
        let message = "it is read as Unix seconds, of the years 1 to 9999";
        Error::custom(format!("{number} is not a time; {message}"))
    };
    seconds.map(|at| Some(at.to_string())).ok_or_else(outside)
}

/// Lowers a query in JSON; the statement is always [`Statement::Query`].
///
/// # Errors
/// [`SqlError`]; its field names the part of the spec, its position is within that part's text.
pub fn lower_spec(spec: &QuerySpec, context: &Context<'_>) -> Result<Statement, SqlError> {
    let spelled = spell(spec, context)?;
    let lowered = statement::lower(&spelled.sql, context).map_err(|error| spelled.error(error))?;
    let Statement::Query { mut query, notes } = lowered else {
        return Err(field_error("table", Fault::new("it is not a question", NOWHERE)));
    };
    query.require_complete = spec.require_complete;
    if let Some(deadline_ms) = spec.deadline_ms {
        query.deadline = Duration::from_millis(checked_deadline(deadline_ms)?);
    }
    Ok(Statement::Query { query, notes })
}

/// The SQL that asks the same as `spec`, but for `deadline_ms` and `require_complete`.
///
/// # Errors
/// [`SqlError`] naming the field whose text is not what it should be.
pub fn to_sql(spec: &QuerySpec, context: &Context<'_>) -> Result<String, SqlError> {
    spell(spec, context).map(|spelled| spelled.sql)
}

fn checked_deadline(deadline_ms: u64) -> Result<u64, SqlError> {
    let most = limits::QUERY_DEADLINE_MS_MAX;
    if (1..=most).contains(&deadline_ms) {
        return Ok(deadline_ms);
    }
    let message = format!("a deadline of {deadline_ms} ms; it may be 1 to {most}");
    Err(field_error("deadline_ms", Fault::new(message, NOWHERE)))
}

/// The error of a field as a whole.
pub(crate) fn field_error(field: &str, fault: Fault) -> SqlError {
    Source { text: "", field: Some(field.to_owned()) }.error(fault)
}
