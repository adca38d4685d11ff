//! The SQL truth files: queries with answers worked out by hand, in sqllogictest's form.
//!
//! Besides SQL, a statement may be `LOG table` followed by lines of JSON, which are logged in one
//! batch. `LOG EACH table` logs each line as a batch; `HADAL DROP table` drops the table. `IN ZONE
//! name` before a query is the time zone of its session; `JSON` is before a query in JSON.
//! `HADAL_SLT=name` runs one file.

#![expect(clippy::expect_used, reason = "tests fail by panicking")]

mod postgres;
mod top_lists;

use std::path::{Path, PathBuf};

use hadal_query::TimeZone;
use hadal_tests::session::{Hops, Rows, Session};
use hadal_types::Value;
use hadal_types::time::parse_timestamp;
use sqllogictest::{DB, DBOutput, DefaultColumnType, Runner};

/// The value of `now()` in all files.
const NOW: &str = "2026-11-21T12:00:00Z";

struct Hadal(Session);

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refused(String);

impl DB for Hadal {
    type Error = Refused;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, statement: &str) -> Result<DBOutput<DefaultColumnType>, Refused> {
        let (first, body) = statement.split_once('\n').unwrap_or((statement, ""));
        if let Some(table) = first.strip_prefix("LOG ") {
            let (table, by_line) = match table.strip_prefix("EACH ") {
                Some(table) => (table, true),
                None => (table, false),
            };
            let summary = self.0.log(table.trim(), body, by_line).map_err(Refused)?;
            return match summary.rejected.first() {
                Some(reject) => Err(Refused(format!("line {}: {}", reject.line, reject.reason))),
                None => Ok(DBOutput::StatementComplete(summary.accepted)),
            };
        }
        if let Some(table) = first.strip_prefix("HADAL DROP ") {
            return self.0.drop_table(table).map(DBOutput::StatementComplete).map_err(Refused);
        }
        let answer = match (first, first.strip_prefix("IN ZONE ")) {
            (_, Some(name)) => {
                let zone = TimeZone::named(name).ok_or(Refused(format!("no zone {name}")))?;
                self.0.ask_in_zone(body, &zone)
            }
            ("JSON", _) => {
                let spec =
                    serde_json::from_str(body).map_err(|error| Refused(error.to_string()))?;
                self.0.ask_spec(&spec)
            }
            _ => self.0.ask(statement),
        };
        answer.map(|answer| output_of(&answer)).map_err(Refused)
    }
}

fn output_of(answer: &Rows) -> DBOutput<DefaultColumnType> {
    let types = vec![DefaultColumnType::Text; answer.names.len()];
    let rows = answer.rows.iter().map(|row| row.iter().map(shown).collect()).collect();
    DBOutput::Rows { types, rows }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::String(text) if text.is_empty() => "(empty)".to_owned(),
        // Spaces separate values in a truth file.
        Value::Set(elements) => format!("{{{}}}", elements.join(",")).replace(' ', "_"),
        Value::Vector(elements) => format!("[{}]", elements.join(",")).replace(' ', "_"),
        other => other.to_string().replace(' ', "_"),
    }
}

/// The truth files of a folder of this package.
fn files(folder: &str) -> Vec<PathBuf> {
    // Read at run time: a build may be reused for another checkout.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    let folder = Path::new(&package).join(folder);
    let selected = std::env::var("HADAL_SLT").ok();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of truth files")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "slt"))
        .filter(|path| selected.as_deref().is_none_or(|name| path.ends_with(format!("{name}.slt"))))
        .collect();
    files.sort();
    assert!(!files.is_empty() || selected.is_some(), "no truth files");
    files
}

fn run_all(leaves: usize, hops: Hops) {
    let now = parse_timestamp(NOW).expect("a time");
    let mut failures = Vec::new();
    for file in files("slt/files") {
        let mut runner =
            Runner::new(|| async { Session::new(leaves, hops, now).map(Hadal).map_err(Refused) });
        if let Err(error) = runner.run_file(&file) {
            failures.push(format!("{}: {error}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{leaves} leaves, {hops:?}:\n{}", failures.join("\n\n"));
}

#[test]
fn one_leaf() {
    run_all(1, Hops::InProcess);
}

#[test]
fn seven_leaves() {
    run_all(7, Hops::InProcess);
}

#[test]
fn seven_leaves_mirrored() {
    run_all(7, Hops::Loopback);
}

#[test]
fn three_machines_of_two_leaves() {
    run_all(6, Hops::Grpc);
}
