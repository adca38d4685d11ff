//! The JSON form of a query: the page's form, with SQL texts as expressions.
//!
//! The SQL texts are parsed to the same syntax tree as SQL (`spec/syntax.rs`). `spec/bind_spec.rs`
//! binds the query and prints the equivalent SQL.

mod bind_spec;
pub(crate) mod syntax;
pub(crate) mod time;
pub(crate) mod to_sql;

use hadal_types::time::TimeUnit;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// A query in JSON. All fields but the table are optional; unknown fields are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuerySpec {
    /// The table's name.
    pub table: String,
    /// The start of the time range: RFC 3339, Unix seconds, or relative to now as in `-3h`.
    #[serde(deserialize_with = "text_or_number")]
    pub from: Option<String>,
    /// The end of the time range, excluded, in the same formats; `now` is allowed.
    #[serde(deserialize_with = "text_or_number")]
    pub to: Option<String>,
    /// Conditions; all must be true.
    pub filter: Texts,
    /// A text to search in all columns.
    pub search: Option<String>,
    /// The time zone of the calendar, such as `Europe/Berlin`; by default UTC. It governs time
    /// buckets of hours and more, the parts of times, and a comparison with an earlier day.
    pub time_zone: Option<String>,
    /// The expressions to group by.
    pub group_by: Texts,
    /// The width of time buckets to group by: such as `1m` or `1 month`, or `auto` for 100 to 300
    /// buckets.
    pub bucket: Option<String>,
    /// Aggregates, each with an optional `… AS name`. Without aggregates and groups: raw rows.
    pub aggregates: Texts,
    /// The columns of raw rows; by default all.
    pub columns: Texts,
    /// The sort keys, each with an optional `… DESC`.
    pub order_by: Texts,
    /// The maximum number of rows of the result.
    pub limit: Option<u64>,
    /// The number of rows to skip.
    pub offset: Option<u64>,
    /// With `bucket`: the number of top series by the first aggregate; all others become "other".
    /// With prefixes among the groups: the number of prefixes.
    pub series: Option<u64>,
    /// Whether a row over all groups follows, also over those beyond the limit.
    pub totals: bool,
    /// Compares with an earlier time, or compares two conditions.
    pub compare: Option<Compare>,
    /// The maximum time for the query, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// Whether the query fails if the rows of some leaf are missing.
    pub require_complete: bool,
}

/// A comparison, of the time range with an earlier one or of two conditions.
///
/// With an earlier time, the result has a first column `side`, `now` or `before`, unless it has the
/// sides as columns. The times of `before` are moved forward, so that both sides share the time
/// axis. With conditions, the sides are columns: for an aggregate `x` there are `x`, `x_baseline`,
/// `x_difference` and `x_percent`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Compare {
    /// The distance to the earlier time, such as `7d`; at least the length of the time range.
    pub shift: Option<String>,
    /// With `shift`: whether the sides are columns.
    pub columns: bool,
    /// The condition of the rows of the first side.
    #[serde(rename = "where")]
    pub condition: Option<String>,
    /// The condition of the rows of the other side; by default all that are not of the first.
    pub against: Option<String>,
}

/// One text or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Texts {
    /// A single text.
    One(String),
    /// A list of texts.
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

/// Reads a time that may be a JSON number of Unix seconds. A number before 1970 becomes a date,
/// because the text of a negative number would be relative to now.
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
