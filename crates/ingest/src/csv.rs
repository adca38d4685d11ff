//! Converts CSV (RFC 4180) to JSON lines. The header names the columns, and the first rows decide
//! the type of each, by the rules of `spec/import.md`. HTTP ingest and `hadal import` both use this
//! reader.
//!
//! A column holds numbers if its first cells are all numbers, and truth values if they are all
//! `true` or `false`. A later cell of another type stays a string. All other columns hold strings,
//! so that a column of codes does not have mixed types. An empty cell is null; so are `NA` and
//! similar words in a column of numbers.

mod columns;
mod records;

use std::collections::VecDeque;

use hadal_types::limits::BATCH_BYTES_MAX;

use columns::Columns;
use records::{Record, Records};

/// The number of records that decide the type of columns.
const SAMPLE_RECORDS: usize = 1_000;
/// The maximum number of names in a message about a header.
const NAMES_SHOWN: usize = 10;

/// Converts a CSV text to JSON lines.
///
/// The caller passes bytes to [`push`](Self::push), then takes all rows from
/// [`next_row`](Self::next_row) before it passes more.
pub struct CsvToJson {
    records: Records,
    nulls: Vec<String>,
    /// Whether the first record names the columns.
    has_head: bool,
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
    /// Starts a text with this separator. `nulls` are words that mean null in any column.
    #[must_use]
    pub fn new(separator: u8, nulls: Vec<String>) -> Self {
        Self {
            records: Records::new(separator),
            nulls,
            has_head: true,
            head: None,
            columns: None,
            ready: VecDeque::new(),
            ready_bytes: 0,
            spare: Record::default(),
            unclosed: None,
        }
    }

    /// The same for a text without a header: its columns are named `column_1` and so on.
    #[must_use]
    pub fn without_head(self) -> Self {
        Self { has_head: false, ..self }
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
                None if self.has_head => self.head = Some(record),
                _ => self.keep(record),
            }
        }
        if self.columns.is_none() && (bytes.is_empty() || self.is_sampled()) {
            self.judge();
        }
        taken
    }

    fn keep(&mut self, record: Record) {
        self.ready_bytes += record.bytes();
        self.ready.push_back(record);
    }

    fn is_sampled(&self) -> bool {
        self.ready.len() >= SAMPLE_RECORDS || self.ready_bytes >= BATCH_BYTES_MAX
    }

    fn judge(&mut self) {
        let nulls = std::mem::take(&mut self.nulls);
        let head = self.head.get_or_insert_default();
        self.columns = Some(Columns::new(head, &self.ready, nulls));
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
        // The last line feed was added by the end of the text.
        Some(Unclosed { line: record.line, line_feeds: record.breaks.saturating_sub(1) })
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

    /// A warning if the names look like a row: all names that are not empty are numbers.
    #[must_use]
    pub fn head_remark(&self) -> Option<String> {
        let columns = self.columns.as_ref()?;
        let some = columns.names.get(..NAMES_SHOWN).map(|some| format!("{}, ...", some.join(", ")));
        let names = some.unwrap_or_else(|| columns.names.join(", "));
        let remark = format!(
            "the first line was taken as the names of the columns, and these are numbers: {names}"
        );
        columns.are_names_numbers.then_some(remark)
    }

    /// The column of the rows' times. Of the columns whose sample cells are all times, it is the
    /// one with a usual name, else the first.
    #[must_use]
    pub fn time_column(&self) -> Option<&str> {
        self.columns.as_ref()?.time_column()
    }

    /// Numeric columns with words for null, and the number of such cells.
    pub fn missing(&self) -> impl Iterator<Item = (&str, u64)> {
        let columns = self.columns.iter();
        let all = columns.flat_map(|columns| columns.names.iter().zip(&columns.missing));
        all.filter(|(_, missing)| **missing > 0).map(|(name, missing)| (name.as_str(), *missing))
    }

    /// The number of rows that were not UTF-8; they have U+FFFD in place of invalid bytes.
    #[must_use]
    pub fn not_utf8(&self) -> u64 {
        self.columns.as_ref().map_or(0, |columns| columns.not_utf8)
    }
}

#[cfg(test)]
mod tests;
