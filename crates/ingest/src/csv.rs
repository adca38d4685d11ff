//! Converts CSV to JSON lines, in the dialect that was detected or stated. The head names the
//! columns, and the first rows decide the type of each, by the rules of `spec/import.md`. HTTP
//! ingest and `hadal import` both use this reader.
//!
//! A column holds numbers if most of its first cells are numbers, and truth values if they are all
//! `true` or `false`. An odd cell among them stays a string. All other columns hold strings, so
//! that a column of codes does not have mixed types. An empty cell is null; so are `NULL`, `N/A`
//! and similar words.

mod cell_type;
mod columns;
mod dialect;
mod null_words;
mod number_format;
mod record;
mod records;
mod remarks;
mod time_columns;

use std::collections::VecDeque;

use hadal_types::Micros;
use hadal_types::limits::BATCH_BYTES_MAX;

use crate::read_options::ReadOptions;
use crate::time::{Choice, TimeReader};
use crate::time_wording::TimeWording;
use crate::warning::Warning;
use columns::Columns;
pub use dialect::Dialect;
pub(crate) use record::Record;
pub(crate) use records::Records;

/// The number of records that decide the type of columns.
const SAMPLE_RECORDS: usize = 1_000;

/// Converts a CSV text to JSON lines.
///
/// The caller passes bytes to [`push`](Self::push), then takes all rows from
/// [`next_row`](Self::next_row) before it passes more.
pub struct CsvToJson {
    records: Records,
    dialect: Dialect,
    options: ReadOptions,
    now: Micros,
    head: Option<Record>,
    columns: Option<Columns>,
    /// Records that the caller has not taken: the sample, then one at a time.
    ready: VecDeque<Record>,
    ready_bytes: usize,
    /// A reusable buffer for the next record.
    spare: Record,
    unclosed: Option<Record>,
}

/// A record with an opening quote that is never closed. It has swallowed all that follows, so it is
/// not a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unclosed {
    /// The line where the record begins, counted from 1.
    pub line: u64,
    /// The number of line feeds after the quote; the record has them all.
    pub line_feeds: u64,
}

impl std::fmt::Display for Unclosed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { line, line_feeds } = self;
        write!(
            formatter,
            "a quote in the record of line {line} is never closed: the record, and all after it \
             ({line_feeds} line feeds), is not taken"
        )
    }
}

impl CsvToJson {
    /// Starts a text in this dialect. Of `options`, those on cells count: words for null, the
    /// decimal mark, and how times are written.
    #[must_use]
    pub fn new(dialect: Dialect, options: &ReadOptions) -> Self {
        Self {
            records: Records::new(&dialect),
            dialect,
            options: options.clone(),
            // Without the present, no time is in the future.
            now: Micros::MAX,
            head: None,
            columns: None,
            ready: VecDeque::new(),
            ready_bytes: 0,
            spare: Record::default(),
            unclosed: None,
        }
    }

    /// Sets the present, by which a year that is not written is chosen.
    #[must_use]
    pub fn with_now(self, now: Micros) -> Self {
        Self { now, ..self }
    }

    /// Takes bytes up to the end of the next record, and returns their number. An empty `bytes`
    /// ends the text.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let (taken, is_whole) = self.records.read(bytes);
        if is_whole {
            let record =
                std::mem::replace(&mut self.records.record, std::mem::take(&mut self.spare));
            match self.head {
                _ if record.is_unclosed => self.unclosed = Some(record),
                None if self.dialect.has_head => self.head = Some(record),
                _ => self.hold(record),
            }
        }
        if self.columns.is_none() && (bytes.is_empty() || self.is_sampled()) {
            self.judge();
        }
        taken
    }

    fn hold(&mut self, record: Record) {
        self.ready_bytes += record.bytes();
        self.ready.push_back(record);
    }

    fn is_sampled(&self) -> bool {
        self.ready.len() >= SAMPLE_RECORDS || self.ready_bytes >= BATCH_BYTES_MAX
    }

    /// Decides the names and types of the columns by the records so far, without waiting for more.
    pub fn judge(&mut self) {
        let head = self.head.get_or_insert_default();
        let ReadOptions { time_format, zone, .. } = &self.options;
        let times = TimeReader::new(self.now);
        let times = times.with_options(time_format.as_deref(), zone.as_deref());
        let columns = Columns::new(head, &self.ready, &self.dialect, &self.options, times);
        self.columns = Some(columns);
    }

    /// Appends the next row to `out`, as a JSON object without a line feed. Returns the line where
    /// the row begins, counted from 1; `None` if more bytes are needed.
    ///
    /// A record of more than [`LINE_BYTES_MAX`](hadal_types::limits::LINE_BYTES_MAX) bytes becomes
    /// a line above that limit, and not an object.
    pub fn next_row(&mut self, out: &mut Vec<u8>) -> Option<u64> {
        let columns = self.columns.as_mut()?;
        let mut record = self.ready.pop_front()?;
        columns.write(&record, out);
        let line = record.line;
        record.clear();
        self.spare = record;
        Some(line)
    }

    /// At the end of the text: the record with an unclosed quote, if there is one.
    #[must_use]
    pub fn unclosed(&self) -> Option<Unclosed> {
        let record = self.unclosed.as_ref()?;
        Some(Unclosed { line: record.line, line_feeds: record.breaks })
    }

    /// Whether enough records were read to decide the columns' types.
    #[must_use]
    pub const fn is_judged(&self) -> bool {
        self.columns.is_some()
    }

    /// The names of the columns; empty until they are known.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.columns.as_ref().map_or(&[], |columns| &columns.names)
    }

    /// What was assumed or changed, and the option that decides otherwise. Complete at the end.
    #[must_use]
    pub fn remarks(&self) -> Vec<Warning> {
        let Some(columns) = &self.columns else { return Vec::new() };
        let mut remarks = remarks::remarks(columns, &self.dialect);
        remarks.extend(columns.choice.iter().flat_map(|choice| choice.remarks.iter().cloned()));
        remarks
    }

    /// The column of the rows' times, by the cells of the first records.
    #[must_use]
    pub fn time_column(&self) -> Option<&str> {
        self.columns.as_ref()?.choice.as_ref()?.column.as_deref()
    }

    /// How the cells of the time column are written.
    #[must_use]
    pub fn time_wording(&self) -> Option<TimeWording> {
        let wording = self.columns.as_ref()?.choice.as_ref()?.wording.clone()?;
        Some(TimeWording::new(wording, self.options.zone.as_deref()))
    }

    /// Takes the choice of the time column as soon as it is made.
    pub(crate) fn take_time_choice(&mut self) -> Option<Choice> {
        self.columns.as_mut()?.choice.take()
    }

    /// The number of rows that were not UTF-8; they have U+FFFD in place of invalid bytes.
    #[must_use]
    pub fn not_utf8(&self) -> u64 {
        self.columns.as_ref().map_or(0, |columns| columns.not_utf8)
    }
}

#[cfg(test)]
mod tests;
