//! The names and types of a CSV text's columns, and the conversion of their cells to JSON.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::iter::zip;

use hadal_types::limits::LINE_BYTES_MAX;
use serde_json::Value;

use super::records::Record;
use crate::distinct_names::distinct_names;
use crate::time_column::{CANDIDATES, of_text};

/// Words that programs write for null in a column of numbers.
const MISSING: [&str; 7] = ["NA", "N/A", "NULL", "null", "NaN", "nan", "None"];

/// The type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellType {
    Numbers,
    Truths,
    Strings,
}

/// The cell types in a column's sample.
#[derive(Clone, Copy, Debug, Default)]
struct CellCounts {
    /// Numbers, and words for null.
    numeric: u64,
    numbers: u64,
    truths: u64,
    times: u64,
    /// Cells that are not null.
    values: u64,
    all: u64,
}

/// The columns of a CSV text.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    /// Whether the header has names and all of them are numbers.
    pub(super) are_names_numbers: bool,
    /// The names as JSON keys, with colons.
    keys: Vec<String>,
    cells: Vec<CellType>,
    /// Words that mean null in any column.
    nulls: Vec<String>,
    /// The index of the column whose cells are times.
    time: Option<usize>,
    /// The number of words for null in each numeric column.
    pub(super) missing: Vec<u64>,
    /// The number of records that were not UTF-8.
    pub(super) not_utf8: u64,
}

impl Columns {
    /// The columns of a header, with types decided by a sample of records. If the header has no
    /// cells, the sample determines the number of columns.
    pub(super) fn new(head: &Record, sample: &VecDeque<Record>, nulls: Vec<String>) -> Self {
        let mut head: Vec<_> = head.cells().collect();
        if head.is_empty() {
            let width = sample.iter().map(|record| record.cells().count()).max();
            head.resize(width.unwrap_or(0), Cow::Borrowed(""));
        }
        let named = || head.iter().filter(|name| !name.trim().is_empty());
        let names = distinct_names(head.iter().map(AsRef::as_ref));
        let mut counts = vec![CellCounts::default(); names.len()];
        for record in sample {
            for (column, cell) in zip(&mut counts, record.cells()) {
                column.add(&cell, &nulls);
            }
        }
        Self {
            keys: names.iter().map(|name| format!("{}:", Value::from(name.as_str()))).collect(),
            cells: counts.iter().map(CellCounts::cells).collect(),
            time: time_column(&names, &counts),
            missing: vec![0; names.len()],
            not_utf8: 0,
            are_names_numbers: named().all(|name| is_number(name)) && named().count() > 0,
            names,
            nulls,
        }
    }

    /// The column of the rows' times. Of the columns whose sample cells are all times, it is the
    /// one with a usual name, else the first.
    pub(super) fn time_column(&self) -> Option<&str> {
        self.time.and_then(|column| self.names.get(column)).map(String::as_str)
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
        let mut is_utf8 = true;
        for (column, cell) in record.cells().enumerate() {
            is_utf8 &= matches!(cell, Cow::Borrowed(_));
            self.write_cell(column, &cell, out);
        }
        self.not_utf8 += u64::from(!is_utf8);
        match out.last_mut() {
            Some(last) if *last == b',' => *last = b'}',
            _ => out.push(b'}'),
        }
    }

    /// Appends a name, a value and a comma; nothing for null.
    fn write_cell(&mut self, column: usize, cell: &str, out: &mut Vec<u8>) {
        if is_null(cell, &self.nulls) {
            return;
        }
        let cells = self.cells.get(column).copied().unwrap_or(CellType::Strings);
        let is_number = cells == CellType::Numbers && is_json_number(cell);
        if cells == CellType::Numbers
            && !is_number
            && is_missing(cell)
            && let Some(missing) = self.missing.get_mut(column)
        {
            *missing += 1;
            return;
        }
        match self.keys.get(column) {
            Some(key) => out.extend_from_slice(key.as_bytes()),
            // Cells beyond the header get generated names.
            None => out.extend_from_slice(format!("\"column_{}\":", column + 1).as_bytes()),
        }
        let truth = if cells == CellType::Truths { truth(cell) } else { None };
        match truth {
            Some(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
            None if is_number => out.extend_from_slice(cell.trim().as_bytes()),
            None => write_text(cell, out),
        }
        out.push(b',');
    }
}

impl CellCounts {
    fn add(&mut self, cell: &str, nulls: &[String]) {
        self.all += 1;
        if is_null(cell, nulls) {
            return;
        }
        let is_number = is_json_number(cell);
        self.values += 1;
        self.numbers += u64::from(is_number);
        self.numeric += u64::from(is_number || is_missing(cell));
        self.truths += u64::from(truth(cell).is_some());
        self.times += u64::from(of_text(cell).is_some());
    }

    fn cells(&self) -> CellType {
        if self.numeric == self.values && self.numbers > 0 {
            CellType::Numbers
        } else if self.truths == self.values && self.truths > 0 {
            CellType::Truths
        } else {
            CellType::Strings
        }
    }

    const fn is_times(&self) -> bool {
        self.times == self.all && self.times > 0
    }
}

fn time_column(names: &[String], counts: &[CellCounts]) -> Option<usize> {
    let is_times = |column: &usize| counts.get(*column).is_some_and(CellCounts::is_times);
    let place = |usual: &&str| names.iter().position(|name| name == usual).filter(is_times);
    CANDIDATES.iter().find_map(place).or_else(|| (0..names.len()).find(is_times))
}

fn is_null(cell: &str, nulls: &[String]) -> bool {
    cell.is_empty() || nulls.iter().any(|null| null == cell.trim())
}

fn is_missing(cell: &str) -> bool {
    MISSING.contains(&cell.trim())
}

fn truth(cell: &str) -> Option<bool> {
    let is = |word: &str| cell.trim().eq_ignore_ascii_case(word);
    if is("true") { Some(true) } else { is("false").then_some(false) }
}

/// Whether a name is written like a number in any form; `007` and `1.` are.
fn is_number(name: &str) -> bool {
    name.contains(|c: char| c.is_ascii_digit()) && name.trim().parse::<f64>().is_ok()
}

/// Whether a cell is written like a JSON number; `007` and `1.` are not, they are strings.
fn is_json_number(cell: &str) -> bool {
    let cell = cell.trim();
    cell.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && serde_json::from_str::<serde_json::Number>(cell).is_ok()
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}
