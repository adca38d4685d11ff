//! CSV: the head names the columns, and the first rows say of each what its cells are.
//!
//! A column whose first cells are all numbers holds numbers, and one whose first cells are all
//! `true` or `false` truths; a later cell that is neither stays what it is, a string. All other
//! columns hold strings, so that a column of codes does not become a mixture. Empty cells are no
//! value. `spec/import.md` has the rules.

use std::collections::{BTreeSet, VecDeque};

use csv::{Reader as CsvReader, ReaderBuilder, StringRecord};
use serde_json::Value;

use super::{Reader, Rows};
use crate::error::Error;

/// Rows that decide what a column holds.
const SAMPLE_ROWS: usize = 1_000;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cells {
    Numbers,
    Truths,
    Strings,
}

/// The rows of a CSV text.
pub(super) struct CsvRows {
    reader: CsvReader<Reader>,
    place: String,
    /// Names as JSON strings.
    names: Vec<String>,
    cells: Vec<Cells>,
    sample: VecDeque<StringRecord>,
    record: StringRecord,
}

impl CsvRows {
    /// Reads the head, and enough rows to tell what the columns hold.
    pub(super) fn new(reader: Reader, separator: u8, place: &str) -> Result<Self, Error> {
        let mut reader =
            ReaderBuilder::new().flexible(true).delimiter(separator).from_reader(reader);
        let head = reader.headers().map_err(|error| failed(place, &error))?.clone();
        let mut sample = VecDeque::new();
        let mut record = StringRecord::new();
        while sample.len() < SAMPLE_ROWS
            && reader.read_record(&mut record).map_err(|error| failed(place, &error))?
        {
            sample.push_back(record.clone());
        }
        let cells = (0..head.len()).map(|column| Cells::of(&sample, column)).collect();
        let names =
            names(&head).iter().map(|name| Value::from(name.as_str()).to_string()).collect();
        Ok(Self { reader, place: place.to_owned(), names, cells, sample, record })
    }

    fn write(&self, record: &StringRecord, out: &mut Vec<u8>) {
        out.push(b'{');
        let start = out.len();
        for (column, cell) in record.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            if out.len() > start {
                out.push(b',');
            }
            match self.names.get(column) {
                Some(name) => out.extend_from_slice(name.as_bytes()),
                // Cells beyond the head get a name of their own.
                None => out.extend_from_slice(format!("\"column_{}\"", column + 1).as_bytes()),
            }
            out.push(b':');
            self.cells.get(column).copied().unwrap_or(Cells::Strings).write(cell, out);
        }
        out.extend_from_slice(b"}\n");
    }
}

impl Rows for CsvRows {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        if let Some(record) = self.sample.pop_front() {
            self.write(&record, out);
            return Ok(true);
        }
        let mut record = std::mem::take(&mut self.record);
        let is_there =
            self.reader.read_record(&mut record).map_err(|error| failed(&self.place, &error))?;
        if is_there {
            self.write(&record, out);
        }
        self.record = record;
        Ok(is_there)
    }

    fn unit(&self) -> &'static str {
        "row"
    }
}

impl Cells {
    /// What the cells of a column are, judged by a sample.
    fn of(sample: &VecDeque<StringRecord>, column: usize) -> Self {
        let cells =
            || sample.iter().filter_map(|record| record.get(column)).filter(|c| !c.is_empty());
        if cells().next().is_none() {
            Self::Strings
        } else if cells().all(is_json_number) {
            Self::Numbers
        } else if cells().all(|cell| truth(cell).is_some()) {
            Self::Truths
        } else {
            Self::Strings
        }
    }

    /// Appends a cell as JSON.
    fn write(self, cell: &str, out: &mut Vec<u8>) {
        match (self, truth(cell)) {
            (Self::Numbers, _) if is_json_number(cell) => {
                out.extend_from_slice(cell.trim().as_bytes());
            }
            (Self::Truths, Some(truth)) => out.extend_from_slice(truth.to_string().as_bytes()),
            // Writing to memory cannot fail.
            _ => drop(serde_json::to_writer(out, cell)),
        }
    }
}

/// The columns' names: empty ones are numbered, repeated ones too.
fn names(head: &StringRecord) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let name = |(column, name): (usize, &str)| {
        let name = name.trim();
        let base = if name.is_empty() { format!("column_{}", column + 1) } else { name.to_owned() };
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let free = std::iter::once(base.clone()).chain(numbered).find(|name| !taken.contains(name));
        let name = free.unwrap_or(base);
        taken.insert(name.clone());
        name
    };
    head.iter().enumerate().map(name).collect()
}

fn truth(cell: &str) -> Option<bool> {
    let is = |word: &str| cell.trim().eq_ignore_ascii_case(word);
    if is("true") { Some(true) } else { is("false").then_some(false) }
}

/// Whether a cell is spelled like a number in JSON; `007` and `1.` are not, they are strings.
fn is_json_number(cell: &str) -> bool {
    let cell = cell.trim();
    cell.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && serde_json::from_str::<serde_json::Number>(cell).is_ok()
}

fn failed(place: &str, error: &csv::Error) -> Error {
    Error::Input { place: place.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::{InputFormat, all_rows};

    fn rows(text: &str) -> Vec<String> {
        all_rows(text, InputFormat::Csv).expect("rows")
    }

    #[test]
    fn columns_are_numbers_truths_or_strings() {
        let text = "n,ok,zip,mixed\n1,true,007,5\n-2.50,FALSE,123,x\n,,,\n";
        assert_eq!(
            rows(text),
            [
                r#"{"n":1,"ok":true,"zip":"007","mixed":"5"}"#,
                r#"{"n":-2.50,"ok":false,"zip":"123","mixed":"x"}"#,
                "{}",
            ]
        );
    }

    #[test]
    fn later_cells_of_another_kind_stay_strings() {
        let text = format!("n\n{}NA\n5\n", "1\n".repeat(1_000));
        let rows = rows(&text);
        assert_eq!(rows[999..], [r#"{"n":1}"#, r#"{"n":"NA"}"#, r#"{"n":5}"#]);
    }

    #[test]
    fn quotes_and_line_feeds_are_kept() {
        assert_eq!(
            rows("a,b\n\"x\ny\",\"say \"\"hi\"\"\"\n"),
            [r#"{"a":"x\ny","b":"say \"hi\""}"#]
        );
    }

    #[test]
    fn odd_heads_and_rows_lose_nothing() {
        let expected = r#"{"a":1,"column_2":2,"a_2":3,"column_4":"4"}"#;
        assert_eq!(rows("a,,a\n1,2,3,4\n5\n"), [expected, r#"{"a":5}"#]);
        assert!(rows("a,b\n").is_empty());
        assert!(rows("").is_empty());
    }

    #[test]
    fn numbers_beyond_doubles_are_kept_as_written() {
        let number = "123456789012345678901234567890.5";
        assert_eq!(rows(&format!("n\n{number}\n")), [format!("{{\"n\":{number}}}")]);
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        let reader = Box::new(std::io::Cursor::new(b"a\n\xff\n".to_vec()));
        assert!(super::CsvRows::new(reader, b',', "test").is_err());
    }
}
