//! `hadal import --explain`: how a file would be read, without a server and without storing it.

use std::collections::HashSet;
use std::sync::Arc;

use hadal_ingest::{
    AgePolicy, ExplainedRow, Format, Ingest, ReadOptions, Settings, Summary, Untimed,
};
use hadal_types::clock::{Clock, SystemClock};
use hadal_types::{BatchId, ColumnName, TableName};
use serde_json::Value;

use crate::args::ReadArgs;
use crate::client::{Answer, Column};
use crate::error::Error;
use crate::input::{Input, Reading, Rows, Source, open};
use crate::output;
use crate::render::{self, render};

/// The number of rows that are read: as many as decide about the time.
const ROWS_MAX: usize = 1_000;

/// Prints how a file would be read: the conclusions, the evidence, the first rows and the warnings.
pub(crate) fn explain(input: &Input, reading: &ReadArgs) -> Result<(), Error> {
    let now = SystemClock.now();
    let how = Reading { options: reading.options()?, splits: &reading.split, now };
    let mut rows = open(Source::of(input)?, &input.path(), how)?;
    let summary = read(&mut *rows, reading)?;
    let mut text = format!("{}: {}", input.name(), rows.detected().unwrap_or_default());
    if !summary.time_from.is_empty() {
        let wording = rows.time_wording().or(summary.time_wording);
        let words = wording.map(|wording| wording.words()).unwrap_or_default();
        text.push_str(&format!(", times: {}{words}", summary.time_from));
    }
    text.push('\n');
    for fact in rows.evidence() {
        text.push_str(&format!("  {fact}\n"));
    }
    let explained = summary.explanation.map(|explanation| explanation.rows).unwrap_or_default();
    if !explained.is_empty() {
        text.push('\n');
        text.push_str(&render(&answer(&explained), render::Format::Table, output::line_width())?);
    }
    for reject in summary.rejected.iter().take(5) {
        text.push_str(&format!("{} {} rejected: {}\n", rows.unit(), reject.line, reject.reason));
    }
    for note in rows.notes() {
        text.push_str(&format!("warning: {note}\n"));
    }
    for warning in summary.warnings.iter().filter(|warning| warning.code != "no_age_limit") {
        text.push_str(&format!("warning: {}\n", warning.message));
    }
    text.push_str("nothing was imported\n");
    output::print(&text)
}

/// Reads the first rows as a server reads them.
fn read(rows: &mut dyn Rows, reading: &ReadArgs) -> Result<Summary, Error> {
    let time = reading.time.as_deref().or_else(|| rows.time_column()).map(str::to_owned);
    rows.set_time_column(time.as_deref());
    let ReadOptions { time_format, zone, untimed, .. } = reading.options()?;
    let read = ReadOptions {
        time_format: time_format.filter(|_| rows.has_raw_times()),
        zone,
        untimed: untimed.or(Some(Untimed::Detect)),
        ..ReadOptions::default()
    };
    let settings = Settings {
        table: TableName::new("t")?,
        batch_id: BatchId::new("explain").ok_or_else(|| Error::BatchId("explain".to_owned()))?,
        time_column: time.map(|time| ColumnName::new(&time)).transpose()?,
        table_time_column: None,
        table_columns: Arc::default(),
        sets: HashSet::from_iter(reading.sets.iter().cloned()),
        age: AgePolicy::UNLIMITED,
        read,
    };
    let mut ingest = Ingest::new(settings, Format::Json, SystemClock.now()).explaining();
    let failed = |error: hadal_ingest::IngestError| Error::Usage(error.to_string());
    let mut line = Vec::new();
    for _ in 0..ROWS_MAX {
        line.clear();
        if !rows.next(&mut line)? {
            break;
        }
        ingest.push(&line).map_err(failed)?;
    }
    ingest.finish().map(|(_, summary)| summary).map_err(failed)
}

/// The rows as the answer to a query, to show them like one.
fn answer(rows: &[ExplainedRow]) -> Answer {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.columns) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let value = |row: &ExplainedRow, name: &str| {
        let (_, json) = row.columns.iter().find(|(other, _)| other == name)?;
        serde_json::from_str(json).ok()
    };
    let cells = |row: &ExplainedRow| {
        names.iter().map(|name| value(row, name).unwrap_or(Value::Null)).collect()
    };
    let column = |name: &&str| Column { name: (*name).to_owned(), kind: String::new() };
    Answer::new(names.iter().map(column).collect(), rows.iter().map(cells).collect())
}
