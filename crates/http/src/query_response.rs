//! Answers as JSON, in the same shape for all statements.
//!
//! ```json
//! {"columns": [{"name", "type"}…], "rows": [[…]…],
//!  "coverage": {…}, "stats": {…}, "warnings": [{"code", "subject", "count", "message"}…],
//!  "samples": [per row: stored rows behind it], "other": [per row: beyond the series limit],
//!  "row_kinds": [per row: "group", "other" or "total"],
//!  "intervals": [per row: [per column: [low, high], {"estimate": …, "low": …, "high": …},
//!                "too_few" or null]],
//!  "time": {"from", "to"}, "sql": "…"}
//! ```
//!
//! The keys of the last three lines are present only when they are meaningful. Later versions add
//! new keys only.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::VecDeque;
use std::time::Instant;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hadal_aggregate::{Coverage, Interval, RowKind, ScanStats, SparseRow, WarningCode};
use hadal_frontend::{ErrorKind, FrontendError, QueryResult, QueryWarning};
use hadal_tree::AskError;
use hadal_types::{MemoryReservation, TimeRange, limits};
use serde::{Serialize, Serializer};

use crate::json_value::JsonValue;
use crate::response_body::{BodyError, ResponseBody};

/// A warning as it is sent.
#[derive(Debug, Serialize)]
pub(crate) struct WarningBody<'a> {
    code: &'static str,
    subject: &'a str,
    count: u64,
    message: Cow<'a, str>,
}

/// Converts the result of a query that arrived at `start` to a response, to be written by `until`.
/// Slow: do not call it on an async thread.
///
/// # Errors
/// As [`json`], or when `until` has passed.
pub(crate) fn respond(
    result: QueryResult,
    start: Instant,
    until: Instant,
) -> Result<Response, FrontendError> {
    response(written(result, start, until)?)
}

/// The bytes of [`respond`]: JSON in a single line.
///
/// # Errors
/// As [`respond`].
pub(crate) fn pieces(
    result: QueryResult,
    start: Instant,
    until: Instant,
) -> Result<VecDeque<Bytes>, FrontendError> {
    written(result, start, until)?.into_pieces().map_err(refused)
}

fn written(
    mut result: QueryResult,
    start: Instant,
    until: Instant,
) -> Result<ResponseBody, FrontendError> {
    let rows = Cell::new(std::mem::take(&mut result.rows));
    let reservation = std::mem::take(&mut result.reservation);
    let body = ResponseBody::new(limits::ANSWER_BYTES_MAX, reservation, Some(until));
    write(&Body::new(&result, &rows, start), body)
}

/// Converts a value to a JSON response of at most [`limits::ANSWER_BYTES_MAX`] bytes. Its bytes are
/// reserved in the memory pool of `reservation` until they are sent.
///
/// # Errors
/// When the response is longer, or the pool has no memory for it.
pub(crate) fn json(
    value: &impl Serialize,
    reservation: MemoryReservation,
) -> Result<Response, FrontendError> {
    response(write(value, ResponseBody::new(limits::ANSWER_BYTES_MAX, reservation, None))?)
}

fn write(value: &impl Serialize, mut body: ResponseBody) -> Result<ResponseBody, FrontendError> {
    let written = serde_json::to_writer(&mut body, value);
    match (written, body.error()) {
        (Ok(()), _) => Ok(body),
        (Err(_), Some(reason)) => Err(refused(reason)),
        (Err(error), None) => Err(FrontendError::internal("an answer was not written", &error)),
    }
}

fn response(body: ResponseBody) -> Result<Response, FrontendError> {
    let body = body.into_body().map_err(refused)?;
    let json = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, json)], body).into_response())
}

fn refused(reason: BodyError) -> FrontendError {
    match reason {
        BodyError::TooLong => {
            let detail = format!("an answer of more than {} bytes", limits::ANSWER_BYTES_MAX);
            FrontendError::new(ErrorKind::Limit, detail)
                .hint("add a LIMIT, or ask for fewer columns or a shorter time range")
        }
        BodyError::NoRoom => FrontendError::from(&AskError::NoRoom),
        BodyError::Late => FrontendError::from(&AskError::Late),
    }
}

impl<'a> WarningBody<'a> {
    pub(crate) fn new(warning: &'a QueryWarning) -> Self {
        let QueryWarning { code, subject, count, message } = warning;
        let message = match address_of_more(code, *count) {
            Some(address) => Cow::Owned(format!("{message}; {address}")),
            None => Cow::Borrowed(message.as_str()),
        };
        Self { code, subject, count: *count, message }
    }
}

/// Where an HTTP client reads more about a warning.
fn address_of_more(code: &str, count: u64) -> Option<&'static str> {
    if code == QueryWarning::DAMAGE && count > 1 {
        Some("there is more of it in /v1/status")
    } else if code == WarningCode::RowsLostUnknown.name() {
        Some("/v1/status has the places")
    } else {
        None
    }
}

#[derive(Serialize)]
struct Body<'a> {
    columns: Vec<Column<'a>>,
    rows: Rows<'a>,
    coverage: CoverageBody<'a>,
    stats: Stats,
    warnings: Vec<WarningBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<&'a [u64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Vec<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_kinds: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Vec<Vec<IntervalBody>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<TimeBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sql: Option<&'a str>,
}

#[derive(Serialize)]
struct Column<'a> {
    name: &'a str,
    r#type: &'static str,
}

/// An interval: null, `"too_few"`, its two ends, or an estimate for all leaves and its ends.
#[derive(Serialize)]
#[serde(untagged)]
enum IntervalBody {
    Unknown(Option<()>),
    TooFew(&'static str),
    Between([f64; 2]),
    OfAll { estimate: f64, low: f64, high: f64 },
}

impl From<&Interval> for IntervalBody {
    fn from(interval: &Interval) -> Self {
        match *interval {
            Interval::None => Self::Unknown(None),
            Interval::TooFew => Self::TooFew("too_few"),
            Interval::Between(low, high) => Self::Between([low, high]),
            Interval::OfAll { estimate, low, high } => Self::OfAll { estimate, low, high },
        }
    }
}

/// The rows; each is dropped as soon as it is written.
struct Rows<'a>(&'a Cell<Vec<SparseRow>>);

#[derive(Serialize)]
pub(crate) struct CoverageBody<'a> {
    leaves_asked: u32,
    leaves_answered: u32,
    leaves_with_table: u32,
    rows_expected: u64,
    rows_scanned: u64,
    fraction: f64,
    /// Whether an unknown number of rows is lost.
    fraction_is_upper_bound: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    leaves: Option<Vec<Leaf<'a>>>,
}

#[derive(Serialize)]
struct Leaf<'a> {
    name: &'a str,
    outcome: &'static str,
    rows_expected: u64,
    rows_scanned: u64,
    micros: u64,
}

#[derive(Serialize)]
pub(crate) struct Stats {
    rows_read: u64,
    rows_matched: u64,
    blocks: u64,
    blocks_skipped: u64,
    bytes_read: u64,
    scan_micros: u64,
    elapsed_micros: Elapsed,
}

/// Microseconds since then, as of when this is written: after the rows.
struct Elapsed(Instant);

/// A time range; an open end is null.
#[derive(Serialize)]
pub(crate) struct TimeBody {
    from: Option<String>,
    to: Option<String>,
}

impl From<TimeRange> for TimeBody {
    fn from(range: TimeRange) -> Self {
        Self {
            from: range.from.map(|time| time.to_string()),
            to: range.to.map(|time| time.to_string()),
        }
    }
}

impl<'a> Body<'a> {
    fn new(result: &'a QueryResult, rows: &'a Cell<Vec<SparseRow>>, start: Instant) -> Self {
        let columns = result.columns.iter();
        Self {
            columns: columns.map(|(name, kind)| Column { name, r#type: kind.name() }).collect(),
            rows: Rows(rows),
            coverage: CoverageBody::new(&result.coverage),
            stats: Stats::new(&result.stats, start),
            warnings: result.warnings.iter().map(WarningBody::new).collect(),
            samples: result.samples.as_deref(),
            other: result.row_kinds.as_ref().map(|kinds| {
                let is_other = |kind: &RowKind| *kind == RowKind::Other;
                kinds.iter().map(is_other).collect()
            }),
            row_kinds: result
                .row_kinds
                .as_ref()
                .map(|kinds| kinds.iter().copied().map(RowKind::name).collect()),
            intervals: result.intervals.as_ref().map(|rows| {
                let of_row = |row: &Vec<Interval>| row.iter().map(IntervalBody::from).collect();
                rows.iter().map(of_row).collect()
            }),
            time: result.time.map(TimeBody::from),
            sql: result.sql.as_deref(),
        }
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.take().into_iter().map(Row))
    }
}

struct Row(SparseRow);

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(JsonValue))
    }
}

impl<'a> CoverageBody<'a> {
    pub(crate) fn new(coverage: &'a Coverage) -> Self {
        let leaf = |leaf: &'a hadal_aggregate::LeafCoverage| Leaf {
            name: &leaf.name.0,
            outcome: leaf.outcome.name(),
            rows_expected: leaf.rows_expected,
            rows_scanned: leaf.rows_scanned,
            micros: leaf.micros,
        };
        let leaves = Some(coverage.leaves.iter().map(leaf).collect());
        Self { leaves, ..Self::without_leaves(coverage) }
    }

    /// The coverage of all leaves together.
    pub(crate) fn without_leaves(coverage: &Coverage) -> Self {
        Self {
            leaves_asked: coverage.leaves_asked,
            leaves_answered: coverage.leaves_answered,
            leaves_with_table: coverage.leaves_with_table,
            rows_expected: coverage.rows_expected,
            rows_scanned: coverage.rows_scanned,
            fraction: coverage.fraction(),
            fraction_is_upper_bound: coverage.unknown_losses > 0,
            leaves: None,
        }
    }
}

impl Stats {
    pub(crate) fn new(stats: &ScanStats, start: Instant) -> Self {
        Self {
            rows_read: stats.rows_read,
            rows_matched: stats.rows_matched,
            blocks: stats.blocks,
            blocks_skipped: stats.blocks_skipped,
            bytes_read: stats.bytes_read,
            scan_micros: stats.scan_micros,
            elapsed_micros: Elapsed(start),
        }
    }
}

impl Serialize for Elapsed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hadal_types::{MemoryPool, Value};
    use http_body_util::BodyExt;

    use super::*;
    use crate::problem::Problem;

    #[test]
    fn an_answer_that_is_too_long_is_refused() {
        let text = "x".repeat(limits::ANSWER_BYTES_MAX - 2);
        assert!(json(&text, MemoryReservation::default()).is_ok());
        let refused = json(&format!("{text}x"), MemoryReservation::default()).expect_err("refused");
        let problem = Problem::from(refused).into_response();
        assert_eq!(problem.status(), 422);
    }

    #[test]
    fn warnings_name_the_address_that_has_more() {
        let lost = WarningCode::RowsLostUnknown.name();
        for (code, count, expected) in [
            (QueryWarning::DAMAGE, 1, "m"),
            (QueryWarning::DAMAGE, 2, "m; there is more of it in /v1/status"),
            (lost, 1, "m; /v1/status has the places"),
            (WarningCode::NoTimeRange.name(), 1, "m"),
        ] {
            let (subject, message) = (String::new(), "m".to_owned());
            let warning = QueryWarning { code, subject, count, message };
            assert_eq!(WarningBody::new(&warning).message, expected);
        }
    }

    #[tokio::test]
    async fn rows_are_dropped_as_their_text_is_written() {
        let pool = MemoryPool::new(1 << 20);
        let result = || {
            let mut reservation = pool.reservation();
            reservation.resize(1_000).expect("room");
            let rows = vec![SparseRow::from([Value::integer(1), Value::string("a")])];
            QueryResult { rows, reservation, ..QueryResult::default() }
        };
        let (now, minute) = (Instant::now(), Duration::from_secs(60));
        let response = respond(result(), now - minute, now + minute).expect("an answer");
        assert_eq!(pool.reserved(), 0, "a small answer is not counted");
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["rows"], serde_json::json!([[1, "a"]]));
        let elapsed = body["stats"]["elapsed_micros"].as_u64().expect("a number");
        assert!(Duration::from_micros(elapsed) >= minute, "writing takes part of the time");
        let late =
            Problem::from(respond(result(), now, now).expect_err("too late")).into_response();
        assert_eq!((late.status().as_u16(), pool.reserved()), (504, 0));
    }
}
