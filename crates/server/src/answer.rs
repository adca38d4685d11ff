//! An answer as JSON: the shape that all statements share.
//!
//! ```json
//! {"columns": [{"name", "type"}…], "rows": [[…]…],
//!  "coverage": {…}, "stats": {…}, "warnings": [{"code", "subject", "count", "message"}…],
//!  "samples": [per row: stored rows behind it], "other": [per row: beyond the series limit],
//!  "time": {"from", "to"}, "sql": "…"}
//! ```
//!
//! The keys of the last two lines are there when they mean something. Later ones are new keys.

use std::io;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hadal_aggregate::{Coverage, ScanStats, Warning};
use hadal_query::Type;
use hadal_sql::Note;
use hadal_types::{TimeRange, Value, limits};
use serde::{Serialize, Serializer};

use crate::cell::Cell;
use crate::problem::{Problem, ProblemKind};

/// What a statement is answered with.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    pub(crate) columns: Vec<(String, Type)>,
    pub(crate) rows: Vec<Vec<Value>>,
    /// Stored rows behind each row of a grouped answer.
    pub(crate) samples: Option<Vec<u64>>,
    /// Which rows sum up the series beyond the limit.
    pub(crate) other: Option<Vec<bool>>,
    /// The time range that was asked for, once `now()` was known.
    pub(crate) time: Option<TimeRange>,
    /// How SQL says what was asked in JSON.
    pub(crate) sql: Option<String>,
    pub(crate) coverage: Coverage,
    pub(crate) stats: ScanStats,
    pub(crate) warnings: Vec<WarningBody>,
    /// From the question to its answer.
    pub(crate) elapsed: Duration,
}

/// A warning as it is sent.
#[derive(Debug, Serialize)]
pub(crate) struct WarningBody {
    code: &'static str,
    subject: String,
    count: u64,
    message: String,
}

impl From<&Warning> for WarningBody {
    fn from(warning: &Warning) -> Self {
        Self {
            code: warning.code.name(),
            subject: warning.subject.clone(),
            count: warning.count,
            message: warning.message(),
        }
    }
}

impl From<Note> for WarningBody {
    fn from(note: Note) -> Self {
        Self { code: note.code, subject: String::new(), count: 1, message: note.message }
    }
}

impl WarningBody {
    /// A warning of the doors themselves.
    pub(crate) fn new(code: &'static str, subject: &str, count: u64, message: String) -> Self {
        Self { code, subject: subject.to_owned(), count, message }
    }
}

impl Answered {
    /// The answer as a response. Takes its time: not for an async thread.
    ///
    /// # Errors
    /// When it is longer than [`limits::ANSWER_BYTES_MAX`].
    pub(crate) fn respond(&self) -> Result<Response, Problem> {
        json(&Body::new(self))
    }
}

/// A value as a JSON response of at most [`limits::ANSWER_BYTES_MAX`] bytes.
///
/// # Errors
/// When it is longer.
pub(crate) fn json(value: &impl Serialize) -> Result<Response, Problem> {
    let mut answer = Capped { bytes: Vec::new(), bytes_max: limits::ANSWER_BYTES_MAX };
    serde_json::to_writer(&mut answer, value).map_err(|_| {
        let detail = format!("an answer of more than {} bytes", limits::ANSWER_BYTES_MAX);
        Problem::new(ProblemKind::Limit, detail)
            .hint("add a LIMIT, or ask for fewer columns or a shorter time range")
    })?;
    let json = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, json)], answer.bytes).into_response())
}

/// Bytes that refuse to grow too long.
struct Capped {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.bytes_max {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Serialize)]
struct Body<'a> {
    columns: Vec<Column<'a>>,
    rows: Rows<'a>,
    coverage: CoverageBody<'a>,
    stats: Stats,
    warnings: &'a [WarningBody],
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<&'a [u64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<&'a [bool]>,
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

struct Rows<'a>(&'a [Vec<Value>]);

#[derive(Serialize)]
struct CoverageBody<'a> {
    leaves_asked: u32,
    leaves_answered: u32,
    leaves_with_table: u32,
    rows_expected: u64,
    rows_scanned: u64,
    fraction: f64,
    leaves: Vec<Leaf<'a>>,
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
struct Stats {
    rows_read: u64,
    rows_matched: u64,
    blocks: u64,
    blocks_skipped: u64,
    bytes_read: u64,
    scan_micros: u64,
    elapsed_micros: u64,
}

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
    fn new(answered: &'a Answered) -> Self {
        let columns = answered.columns.iter();
        Self {
            columns: columns.map(|(name, kind)| Column { name, r#type: kind.name() }).collect(),
            rows: Rows(&answered.rows),
            coverage: CoverageBody::new(&answered.coverage),
            stats: Stats::new(&answered.stats, answered.elapsed),
            warnings: &answered.warnings,
            samples: answered.samples.as_deref(),
            other: answered.other.as_deref(),
            time: answered.time.map(TimeBody::from),
            sql: answered.sql.as_deref(),
        }
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|row| Row(row)))
    }
}

struct Row<'a>(&'a [Value]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Cell))
    }
}

impl<'a> CoverageBody<'a> {
    fn new(coverage: &'a Coverage) -> Self {
        let leaf = |leaf: &'a hadal_aggregate::LeafCoverage| Leaf {
            name: &leaf.name,
            outcome: leaf.outcome.name(),
            rows_expected: leaf.rows_expected,
            rows_scanned: leaf.rows_scanned,
            micros: leaf.micros,
        };
        Self {
            leaves_asked: coverage.leaves_asked,
            leaves_answered: coverage.leaves_answered,
            leaves_with_table: coverage.leaves_with_table,
            rows_expected: coverage.rows_expected,
            rows_scanned: coverage.rows_scanned,
            fraction: coverage.fraction(),
            leaves: coverage.leaves.iter().map(leaf).collect(),
        }
    }
}

impl Stats {
    fn new(stats: &ScanStats, elapsed: Duration) -> Self {
        Self {
            rows_read: stats.rows_read,
            rows_matched: stats.rows_matched,
            blocks: stats.blocks,
            blocks_skipped: stats.blocks_skipped,
            bytes_read: stats.bytes_read,
            scan_micros: stats.scan_micros,
            elapsed_micros: u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_too_long_is_refused() {
        let text = "x".repeat(limits::ANSWER_BYTES_MAX - 2);
        assert!(json(&text).is_ok());
        let problem = json(&format!("{text}x")).expect_err("refused").into_response();
        assert_eq!(problem.status(), 422);
    }
}
