//! CSV: the head names the columns, and the first rows say of each what its cells are, by the rules
//! of `spec/import.md`.

use std::collections::VecDeque;

use csv::{Reader as CsvReader, ReaderBuilder, StringRecord};
use hadal_ingest::TIME_COLUMNS;
use hadal_types::time::parse_timestamp;
use serde_json::Value;

use super::{Reader, Rows, names};
use crate::error::Error;
use crate::output;

/// Rows that decide what a column holds.
const SAMPLE_ROWS: usize = 1_000;

/// How programs spell in a column of numbers that there is none.
const MISSING: [&str; 7] = ["NA", "N/A", "NULL", "null", "NaN", "nan", "None"];

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
    names: Vec<String>,
    /// Names as JSON strings.
    keys: Vec<String>,
    cells: Vec<Cells>,
    /// Cells of each column that spelled that there is no number.
    missing: Vec<u64>,
    /// The place of the column whose cells are times.
    time: Option<usize>,
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
        let names: Vec<String> = names::distinct(head.iter());
        let keys = names.iter().map(|name| Value::from(name.as_str()).to_string()).collect();
        let time = time_column(&names, &sample);
        let (place, missing) = (place.to_owned(), vec![0; names.len()]);
        Ok(Self { reader, place, names, keys, cells, missing, time, sample, record })
    }

    fn write(&mut self, record: &StringRecord, out: &mut Vec<u8>) {
        out.push(b'{');
        let start = out.len();
        for (column, cell) in record.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let cells = self.cells.get(column).copied().unwrap_or(Cells::Strings);
            if let Some(missing) = self.missing.get_mut(column)
                && cells == Cells::Numbers
                && is_missing(cell)
            {
                *missing += 1;
                continue;
            }
            if out.len() > start {
                out.push(b',');
            }
            match self.keys.get(column) {
                Some(name) => out.extend_from_slice(name.as_bytes()),
                // Cells beyond the head get a name of their own.
                None => out.extend_from_slice(format!("\"column_{}\"", column + 1).as_bytes()),
            }
            out.push(b':');
            cells.write(cell, out);
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

    fn columns(&self) -> Option<Vec<&str>> {
        Some(self.names.iter().map(String::as_str).collect())
    }

    fn time_column(&self) -> Option<&str> {
        self.time.and_then(|column| self.names.get(column)).map(String::as_str)
    }

    fn notes(&self) -> Vec<String> {
        let some = self.names.iter().zip(&self.missing).filter(|&(_, &missing)| missing > 0);
        let note = |(name, &missing): (&String, &u64)| {
            format!(
                "column {name}: NA and the like became null, {}",
                output::count(missing, "value")
            )
        };
        some.map(note).collect()
    }
}

/// The place of the column that has the rows' times: of those whose cells all are times, the one
/// with a usual name, else the first.
fn time_column(names: &[String], sample: &VecDeque<StringRecord>) -> Option<usize> {
    let is_times = |column: &usize| {
        let mut cells = sample.iter().filter_map(|record| record.get(*column)).peekable();
        cells.peek().is_some() && cells.all(|cell| parse_timestamp(cell.trim()).is_some())
    };
    let usual = TIME_COLUMNS.iter().filter_map(|usual| names.iter().position(|it| it == usual));
    let mut usual = usual.collect::<Vec<_>>().into_iter();
    usual.find(is_times).or_else(|| (0..names.len()).find(is_times))
}

impl Cells {
    /// What the cells of a column are, judged by a sample.
    fn of(sample: &VecDeque<StringRecord>, column: usize) -> Self {
        let cells =
            || sample.iter().filter_map(|record| record.get(column)).filter(|c| !c.is_empty());
        if cells().next().is_none() {
            Self::Strings
        } else if cells().all(|cell| is_json_number(cell) || is_missing(cell))
            && cells().any(is_json_number)
        {
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

fn is_missing(cell: &str) -> bool {
    MISSING.contains(&cell.trim())
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
    use super::super::{InputFormat, Rows, all_rows};

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
        let text = format!("n\n{}x\n5\n", "1\n".repeat(1_000));
        let rows = rows(&text);
        assert_eq!(rows[999..], [r#"{"n":1}"#, r#"{"n":"x"}"#, r#"{"n":5}"#]);
    }

    fn open(text: &str) -> super::CsvRows {
        let reader = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
        super::CsvRows::new(reader, b',', "test").expect("a head")
    }

    #[test]
    fn a_missing_number_is_null_and_counted() {
        let mut rows = open("n,country,all\n1,NA,NA\nNA,NO,NA\nNaN,NA,NA\n");
        let mut out = Vec::new();
        while rows.next(&mut out).expect("rows") {}
        let lines = [
            r#"{"n":1,"country":"NA","all":"NA"}"#,
            r#"{"country":"NO","all":"NA"}"#,
            r#"{"country":"NA","all":"NA"}"#,
        ];
        assert_eq!(String::from_utf8(out).expect("utf-8").lines().collect::<Vec<_>>(), lines);
        assert_eq!(rows.notes(), ["column n: NA and the like became null, 2 values"]);
    }

    #[test]
    fn times_are_found_by_name_and_by_what_they_are() {
        let time = |text: &str| open(text).time_column().map(str::to_owned);
        assert_eq!(time("a,when\n5,2013-01-01T10:00:00Z\n").as_deref(), Some("when"));
        let both = "born,timestamp\n1970-01-01,2013-01-01 10:00\n";
        assert_eq!(time(both).as_deref(), Some("timestamp"));
        assert_eq!(time("a,b\n5,2013-01-01T10:00:00Z\n6,never\n"), None);
        assert_eq!(time("a,b\n"), None);
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
