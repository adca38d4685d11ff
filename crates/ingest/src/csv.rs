//! CSV (RFC 4180) to lines of JSON: the head names the columns, the first rows say of each what
//! its cells are, by the rules of `spec/import.md`. Whoever reads CSV, the door or `hadal import`,
//! reads it by these.
//!
//! A column whose first cells are all numbers holds numbers, and one whose first cells are all
//! `true` or `false` truths; a later cell that is neither stays what it is, a string. All other
//! columns hold strings, so that a column of codes does not become a mixture. Empty cells are no
//! value, and in a column of numbers `NA` and the like are none.

mod columns;
mod records;

use std::collections::VecDeque;

use hadal_types::limits::BATCH_BYTES_MAX;

use columns::Columns;
use records::{Record, Records};

/// Records that decide what a column holds.
const SAMPLE_RECORDS: usize = 1_000;
/// Names that are shown of a head; more are cut off.
const NAMES_SHOWN: usize = 10;

/// A CSV text on its way to lines of JSON.
///
/// Whoever has bytes gives them to [`push`](Self::push), and takes all rows that
/// [`next_row`](Self::next_row) has before giving more.
pub struct CsvToJson {
    records: Records,
    nulls: Vec<String>,
    /// The first record names the columns.
    has_head: bool,
    head: Option<Record>,
    columns: Option<Columns>,
    /// Records that are not taken yet: the sample, then one at a time.
    ready: VecDeque<Record>,
    ready_bytes: usize,
    /// Room for another record.
    spare: Record,
    unclosed: Option<Record>,
}

/// A record in which a quote was opened and never closed. It has swallowed what follows, so it is
/// no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unclosed {
    /// The line that the record begins on, from 1.
    pub line: u64,
    /// Line feeds after the quote, all of which ended up in it.
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
    /// Begins a text with this separator; `nulls` are words that mean in any column that there is
    /// no value.
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

    /// The same for a text whose first record is a row: its columns are `column_1` and so on.
    #[must_use]
    pub fn without_head(self) -> Self {
        Self { has_head: false, ..self }
    }

    /// Takes bytes up to the end of the next record, and returns how many. No bytes at all are the
    /// end of the text.
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

    /// Appends the next row to `out`, a JSON object without a line feed, and returns the line of
    /// the text that it begins on, from 1; `None` when more bytes are needed.
    ///
    /// A record of more than [`LINE_BYTES_MAX`](hadal_types::limits::LINE_BYTES_MAX) bytes becomes
    /// a longer line than that, and no object.
    pub fn next_row(&mut self, out: &mut Vec<u8>) -> Option<u64> {
        let columns = self.columns.as_mut()?;
        let mut record = self.ready.pop_front()?;
        columns.write(&record, out);
        let line = record.line;
        record.clear();
        self.spare = record;
        Some(line)
    }

    /// At the end of the text: the record that swallowed the rest of it, if there is one.
    #[must_use]
    pub fn unclosed(&self) -> Option<Unclosed> {
        let record = self.unclosed.as_ref()?;
        // The last line feed is the end's own.
        Some(Unclosed { line: record.line, line_feeds: record.breaks.saturating_sub(1) })
    }

    /// Whether enough has been read to know what the columns are.
    #[must_use]
    pub const fn is_judged(&self) -> bool {
        self.columns.is_some()
    }

    /// The columns' names, as soon as they are known.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.columns.as_ref().map_or(&[], |columns| &columns.names)
    }

    /// Says so where the names look like a first row: all of them are numbers, if not empty.
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

    /// The column that has the rows' times: of those whose cells in the sample all are times, the
    /// one with a usual name, else the first.
    #[must_use]
    pub fn time_column(&self) -> Option<&str> {
        self.columns.as_ref()?.time_column()
    }

    /// Columns of numbers, and how many of their cells were words for none; only those with some.
    pub fn missing(&self) -> impl Iterator<Item = (&str, u64)> {
        let columns = self.columns.iter();
        let all = columns.flat_map(|columns| columns.names.iter().zip(&columns.missing));
        all.filter(|(_, missing)| **missing > 0).map(|(name, missing)| (name.as_str(), *missing))
    }

    /// Rows that were not UTF-8, and have U+FFFD for what was wrong.
    #[must_use]
    pub fn not_utf8(&self) -> u64 {
        self.columns.as_ref().map_or(0, |columns| columns.not_utf8)
    }
}

#[cfg(test)]
mod tests;
