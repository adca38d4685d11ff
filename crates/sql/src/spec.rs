//! The JSON spelling of a query: the page's form, with expressions as SQL texts.
//!
//! Its texts are parsed to the same syntax as those of SQL (`spec_syntax`), which prints the SQL
//! that says the same.

pub(crate) mod syntax;
pub(crate) mod time;
pub(crate) mod to_sql;

use hadal_types::time::TimeUnit;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

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
