//! The result of a body: counts and warnings.

use hadal_types::limits::TABLE_AGE_DAYS;

use crate::age_policy::AgePolicy;
use crate::explained_row::ExplainedRow;
use crate::read_options::Untimed;
use crate::reject_kinds::RejectKinds;
use crate::rejects::Reject;
use crate::time_wording::TimeWording;
use crate::warning::Warning;

/// The result of a body.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The number of rows in batches.
    pub accepted: u64,
    /// The number of rejected records.
    pub rejected_count: u64,
    /// The first rejected records, at most
    /// [`REJECTS_KEPT_MAX`](hadal_types::limits::REJECTS_KEPT_MAX).
    pub rejected: Vec<Reject>,
    /// All rejected records, by kind.
    pub reject_kinds: RejectKinds,
    /// Changes made to the input.
    pub warnings: Vec<Warning>,
    /// The source of the rows' times, for people: `column ts`, `arrival time`.
    pub time_from: String,
    /// How the body was read, in a few words: "CSV with `;`, head in line 3".
    pub detected: String,
    /// Why the body was read so, and its first rows, if that was asked for.
    pub explanation: Option<Explanation>,
    /// How the rows' times are written, if they are texts of a new table.
    pub time_wording: Option<TimeWording>,
    /// Other columns of a new table whose values are times.
    pub other_times: Vec<String>,
    /// What became of rows without a time, if that had to be detected.
    pub untimed: Option<Untimed>,
    /// The age limit of rows, and whether the rows of this body lift the table's limit.
    pub age: AgePolicy,
}

/// Why a body was read as it was, and the result.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// The facts that decided, for people.
    pub evidence: Vec<String>,
    /// The first rows as they would be stored.
    pub rows: Vec<ExplainedRow>,
}

/// Warnings with their counts. They are in one short vector, because the same warning may come with
/// every row.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Vec<(&'static str, u64)>);

impl Warnings {
    pub(crate) fn add(&mut self, code: &'static str) {
        self.add_many(code, 1);
    }

    pub(crate) fn add_many(&mut self, code: &'static str, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.iter_mut().find(|(other, _)| *other == code) {
            Some((_, total)) => *total += count,
            None => self.0.push((code, count)),
        }
    }

    pub(crate) fn into_list(self) -> Vec<Warning> {
        let warning = |(code, count)| Warning { code, count, message: message(code, count) };
        self.0.into_iter().map(warning).collect()
    }
}

pub(crate) const ARRIVAL_TIME: &str = "arrival_time";
pub(crate) const CUT: &str = "cut";
pub(crate) const DOCUMENT: &str = "document";
pub(crate) const DUPLICATE_KEY: &str = "duplicate_key";
pub(crate) const EVENT_FIELD: &str = "event_field";
pub(crate) const INVALID_UTF8: &str = "invalid_utf8";
pub(crate) const JSON_AS_TEXT: &str = "json_as_text";
pub(crate) const LENIENT_JSON: &str = "lenient_json";
pub(crate) const LONE_SURROGATE: &str = "lone_surrogate";
pub(crate) const MIXED_TIME_UNITS: &str = "mixed_time_units";
pub(crate) const NESTED_ARRAY: &str = "nested_array";
pub(crate) const NOT_A_NUMBER: &str = "not_a_number";
pub(crate) const NO_AGE_LIMIT: &str = "no_age_limit";
pub(crate) const NULL_ELEMENT: &str = "null_element";
pub(crate) const OVERFLOW: &str = "overflow";
pub(crate) const ROUNDED: &str = "rounded";
pub(crate) const TOO_OLD: &str = "too_old";
pub(crate) const UNREAD_TIME: &str = "unread_time";

/// Reports what a document was taken for, and what is missing in its rows.
pub(crate) fn document(message: String) -> Warning {
    Warning { code: DOCUMENT, count: 1, message }
}

/// Reports which arrays of objects are columns, and how they become rows.
pub(crate) fn nested_array(count: u64, columns: &[String]) -> Warning {
    let (arrays, pronoun) = if count == 1 { ("array", "it") } else { ("arrays", "them") };
    let mut message =
        format!("{count} {arrays} with arrays or objects in {pronoun} became JSON text");
    if let Some(first) = columns.first() {
        let columns = columns.join(", ");
        message.push_str(&format!(
            ", in {columns}; --rows {first} makes a row of each element of {first}"
        ));
    }
    Warning { code: NESTED_ARRAY, count, message }
}

/// The message of a warning; `None` if it needs more than the code and the count.
#[must_use]
pub fn counted(code: &str, count: u64) -> Option<String> {
    let of = |one: &'static str, more: &'static str| if count == 1 { one } else { more };
    let words = match code {
        ARRIVAL_TIME => of(
            "row has no time of its own; it got the time of arrival",
            "rows have no time of their own; they got the time of arrival",
        ),
        CUT => of(
            "value was longer than the limit and was cut",
            "values were longer than the limit and were cut",
        ),
        INVALID_UTF8 => of(
            "record was not UTF-8; what was wrong became U+FFFD",
            "records were not UTF-8; what was wrong became U+FFFD",
        ),
        MIXED_TIME_UNITS => of(
            "time is a number of a size that says another unit than the first one of its batch; it was \
             read in that unit",
            "times are numbers of a size that says another unit than the first one of their batch; they \
             were read in its unit",
        ),
        NO_AGE_LIMIT => {
            let rows = of("row is", "rows are");
            return Some(format!(
                "{count} {rows} older than {TABLE_AGE_DAYS} days; the table takes any age"
            ));
        }
        OVERFLOW => of(
            "field had no room for a column of its own; it is in _overflow",
            "fields had no room for a column of their own; they are in _overflow",
        ),
        ROUNDED => of(
            "number has more digits than are kept; it was rounded to a double",
            "numbers have more digits than are kept; they were rounded to doubles",
        ),
        TOO_OLD => of(
            "row was older than the table's age limit",
            "rows were older than the table's age limit",
        ),
        UNREAD_TIME => of(
            "text in the time column is not understood as a time; it is in _overflow, and its row \
             got the time of arrival; --time-format says how times are written",
            "texts in the time column are not understood as times; they are in _overflow, and their \
             rows got the time of arrival; --time-format says how times are written",
        ),
        other => {
            let (one, more) = json_words(other)?;
            of(one, more)
        }
    };
    Some(format!("{count} {words}"))
}

/// The words for one and for several, of a warning about values of JSON.
fn json_words(code: &str) -> Option<(&'static str, &'static str)> {
    Some(match code {
        EVENT_FIELD => (
            "line of server-sent events has no data, but event:, id: or retry:; it was left out",
            "lines of server-sent events have no data, but event:, id: or retry:; they were left out",
        ),
        LENIENT_JSON => (
            "record is not strict JSON, in its quotes, words, commas or comments; it was read as it is \
             meant",
            "records are not strict JSON, in their quotes, words, commas or comments; they were read as \
             they are meant",
        ),
        LONE_SURROGATE => (
            "escape is half of a surrogate pair, which is no character; it became U+FFFD",
            "escapes are halves of surrogate pairs, which are no characters; they became U+FFFD",
        ),
        NOT_A_NUMBER => (
            "number is NaN, infinite or undefined; it became no value",
            "numbers are NaN, infinite or undefined; they became no values",
        ),
        NULL_ELEMENT => (
            "array had nulls among its elements; those are left out",
            "arrays had nulls among their elements; those are left out",
        ),
        DUPLICATE_KEY => (
            "field came twice in its row; the first value counts",
            "fields came twice in their row; the first value counts",
        ),
        _ => return None,
    })
}

fn message(code: &str, count: u64) -> String {
    match code {
        JSON_AS_TEXT => "the first line is a JSON object, but the lines were taken as text, as \
            asked; to make columns of it send it as application/json or application/x-ndjson"
            .to_owned(),
        other => counted(other, count).unwrap_or_else(|| format!("{other}: {count}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_as_one() {
        let words = |count| counted(ARRIVAL_TIME, count).expect("told by its count");
        assert_eq!(words(1), "1 row has no time of its own; it got the time of arrival");
        assert_eq!(words(2), "2 rows have no time of their own; they got the time of arrival");
        assert_eq!(counted("missing_number", 2), None, "it names columns");
    }
}
