//! The names and types of a CSV text's columns, and the conversion of their cells to JSON.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::iter::zip;

use hadal_types::limits::LINE_BYTES_MAX;
use serde_json::Value;

use super::cell_type::{CellCounts, CellType, DecimalMarks, is_typed, truth};
use super::dialect::Dialect;
use super::null_words::{NullWords, Nullness};
use super::number_format;
use super::record::Record;
use super::time_columns::TimeColumns;
use crate::distinct_names::distinct_names;
use crate::read_options::ReadOptions;
use crate::time::{Choice, TimeReader};

/// The number of odd cells that are shown for each column.
const EXAMPLES_MAX: usize = 3;
/// The number of characters of a cell that are shown.
const EXAMPLE_CHARS_MAX: usize = 20;

/// The number of rows after a head that may name units.
const UNIT_ROWS_MAX: usize = 3;
/// The least number of rows with numbers or times that follow rows of units.
const TYPED_ROWS_MIN: usize = 3;

/// The columns of a CSV text.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    /// The number of names with control characters, which became blanks.
    pub(super) control_names: u64,
    columns: Vec<Column>,
    words: NullWords,
    /// Whether the user states the decimal mark.
    pub(super) is_decimal_stated: bool,
    /// The column of the rows' times.
    pub(super) choice: Option<Choice>,
    /// The number of records that were not UTF-8.
    pub(super) not_utf8: u64,
    pub(super) rows: u64,
    /// Records with a cell beyond the head that is not null.
    pub(super) long_rows: u64,
    /// Records with fewer cells than the head.
    pub(super) short_rows: u64,
    /// Records with text after a closing quote, and the line of the first.
    pub(super) text_after_quote: (u64, u64),
}

/// One column.
#[derive(Debug)]
pub(super) struct Column {
    /// The name as a JSON key, with a colon.
    key: String,
    pub(super) cell_type: CellType,
    counts: CellCounts,
    /// The reader of its cells, if they are times that have to become ISO 8601.
    times: Option<TimeReader>,
    /// Whether a dash is a value: beside a plus, it is a sign.
    has_dashes: bool,
    /// Whether words count that mean null among numbers, truth values and times only.
    is_typed: bool,
    /// Whether its numbers can be read in two ways, so that they stay texts.
    pub(super) is_in_doubt: bool,
    pub(super) has_several_units: bool,
    /// The number of words for null.
    pub(super) nulls: u64,
    /// The number of cells that are not null, in a column of numbers or truth values.
    pub(super) values: u64,
    /// Cells that are text among numbers.
    pub(super) odd: u64,
    pub(super) examples: Vec<String>,
}

impl Columns {
    /// The columns of a head, with types decided by a sample of records. If the head has no
    /// cells, the sample determines the number of columns.
    pub(super) fn new(
        head: &Record,
        sample: &VecDeque<Record>,
        dialect: &Dialect,
        options: &ReadOptions,
        times: TimeReader,
    ) -> Self {
        let mut head: Vec<_> = head.cells().collect();
        if dialect.has_row_names {
            head.insert(0, Cow::Borrowed(""));
        }
        if head.is_empty() {
            let width = sample.iter().map(|record| record.cells().count()).max();
            head.resize(width.unwrap_or(0), Cow::Borrowed(""));
        }
        let is_control = |name: &&mut Cow<'_, str>| name.contains(char::is_control);
        let mut control_names = 0;
        for name in head.iter_mut().filter(is_control) {
            *name = Cow::Owned(name.trim().replace("\r\n", " ").replace(char::is_control, " "));
            control_names += 1;
        }
        let names = distinct_names(head.iter().map(AsRef::as_ref));
        let words = NullWords::new(&options.nulls);
        let mut counts = vec![CellCounts::default(); names.len()];
        for record in sample.iter().skip(unit_rows(sample)) {
            for (column, cell) in zip(&mut counts, record.cells()) {
                column.add(&cell, &words);
            }
        }
        let marks = decimal_marks(&counts, dialect, options);
        let is_null = |cell: &str| words.nullness(cell) != Nullness::Value;
        let TimeColumns { choice, readers } = TimeColumns::new(&names, sample, is_null, times);
        let column = |((name, counts), times): ((&String, CellCounts), Option<TimeReader>)| {
            Column { times, ..Column::new(name, counts, marks) }
        };
        Self {
            control_names,
            columns: zip(zip(&names, counts), readers).map(column).collect(),
            names,
            words,
            is_decimal_stated: options.decimal.is_some(),
            choice,
            not_utf8: 0,
            rows: 0,
            long_rows: 0,
            short_rows: 0,
            text_after_quote: (0, 0),
        }
    }

    /// The columns with their names.
    pub(super) fn named(&self) -> impl Iterator<Item = (&str, &Column)> {
        zip(self.names.iter().map(String::as_str), &self.columns)
    }

    /// Appends a record as one JSON line, without a line feed.
    ///
    /// A record that is too long becomes a line that is too long and not an object, so that it is
    /// refused like any other long line.
    pub(super) fn write(&mut self, record: &Record, out: &mut Vec<u8>) {
        let start = out.len();
        if record.is_too_long {
            write_text(&record.excerpt(), out);
            out.resize(start + LINE_BYTES_MAX + 1, b' ');
            return;
        }
        out.push(b'{');
        let (mut is_utf8, mut cells, mut end) = (true, 0, out.len());
        for cell in record.cells() {
            is_utf8 &= matches!(cell, Cow::Borrowed(_));
            match self.columns.get_mut(cells) {
                Some(column) => column.write(&cell, &self.words, out),
                // Cells beyond the head get generated names.
                None if self.words.nullness(&cell) == Nullness::Value => {
                    out.extend_from_slice(format!("\"column_{}\":", cells + 1).as_bytes());
                    write_text(&cell, out);
                    out.push(b',');
                }
                None => {}
            }
            cells += 1;
            if cells == self.columns.len() {
                end = out.len();
            }
        }
        self.rows += 1;
        self.not_utf8 += u64::from(!is_utf8);
        self.short_rows += u64::from(cells < self.columns.len());
        self.long_rows += u64::from(cells > self.columns.len() && out.len() > end);
        if record.has_text_after_quote {
            let (rows, line) = self.text_after_quote;
            self.text_after_quote = (rows + 1, if rows == 0 { record.line } else { line });
        }
        match out.last_mut() {
            Some(last) if *last == b',' => *last = b'}',
            _ => out.push(b'}'),
        }
    }
}

impl Column {
    fn new(name: &str, counts: CellCounts, marks: DecimalMarks) -> Self {
        let cell_type = counts.cell_type(marks);
        Self {
            key: format!("{}:", Value::from(name)),
            cell_type,
            has_dashes: counts.pluses > 0,
            is_typed: cell_type != CellType::Strings || counts.is_typed(),
            is_in_doubt: counts.is_in_doubt(marks),
            has_several_units: counts.has_several_units(),
            nulls: 0,
            values: 0,
            odd: 0,
            examples: Vec::new(),
            counts,
            times: None,
        }
    }

    /// The first number of the sample that is not plain.
    pub(super) fn marked(&self) -> Option<&str> {
        self.counts.marked.as_deref()
    }

    /// Appends the name, the value and a comma; nothing for null.
    fn write(&mut self, cell: &str, words: &NullWords, out: &mut Vec<u8>) {
        match words.nullness(cell) {
            Nullness::Value => {}
            Nullness::Null => return,
            Nullness::Usual if self.has_dashes && cell.trim() == "-" => {}
            Nullness::UsualIfTyped if !self.is_typed => {}
            Nullness::Usual | Nullness::UsualIfTyped => {
                self.nulls += u64::from(!cell.trim().is_empty());
                return;
            }
        }
        out.extend_from_slice(self.key.as_bytes());
        let is_written = match self.cell_type {
            CellType::Strings => {
                match self.times.as_ref().and_then(|times| times.iso_text(cell)) {
                    Some(time) => write_text(&time, out),
                    None => write_text(cell, out),
                }
                out.push(b',');
                return;
            }
            CellType::Numbers => {
                let cell = cell.trim();
                let is_number = number_format::is_json_number(cell);
                if is_number {
                    out.extend_from_slice(cell.as_bytes());
                }
                is_number
            }
            CellType::MarkedNumbers { decimal } => match number_format::read(cell, decimal) {
                Some(number) => {
                    out.extend_from_slice(number.json.as_bytes());
                    true
                }
                None => false,
            },
            CellType::Truths => match truth(cell) {
                Some(truth) => {
                    out.extend_from_slice(if truth { b"true" } else { b"false" });
                    true
                }
                None => false,
            },
        };
        self.values += 1;
        if !is_written {
            write_text(cell, out);
            self.count_odd(cell);
        }
        out.push(b',');
    }

    #[cold]
    fn count_odd(&mut self, cell: &str) {
        self.odd += 1;
        if self.examples.len() < EXAMPLES_MAX {
            let example: String = cell.trim().chars().take(EXAMPLE_CHARS_MAX).collect();
            if !self.examples.contains(&example) {
                self.examples.push(example);
            }
        }
    }
}

/// The number of rows at the beginning that have no number, time or truth value, although all
/// others have one. They name units, and do not decide the types of columns.
fn unit_rows(sample: &VecDeque<Record>) -> usize {
    let is_typed = |record: &Record| record.cells().any(|cell| is_typed(&cell));
    let Some(units) = sample.iter().take(UNIT_ROWS_MAX + 1).position(is_typed) else { return 0 };
    let mut others = sample.iter().skip(units);
    let is_clear = units > 0 && others.len() >= TYPED_ROWS_MIN && others.all(is_typed);
    if is_clear { units } else { 0 }
}

/// The decimal marks that are stated, and those of the columns in which there is no doubt.
fn decimal_marks(counts: &[CellCounts], dialect: &Dialect, options: &ReadOptions) -> DecimalMarks {
    let has = |mark| counts.iter().any(|column| column.sure_decimal() == Some(mark));
    let of_others = match (has(b','), has(b'.')) {
        (true, false) => Some(b','),
        (false, true) => Some(b'.'),
        _ => None,
    };
    let is_comma_separator = dialect.separator == b',';
    DecimalMarks { stated: options.decimal, of_others, is_comma_separator }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}
