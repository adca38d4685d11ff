//! CSV from a reader, by the rules of `hadal-ingest` as in the HTTP API.

use hadal_ingest::{CsvToJson, TimeWording};

use super::{NOT_UTF8_ADVICE, Reader, Rows};
use crate::error::Error;
use crate::output;

/// The rows of a CSV text.
pub(super) struct CsvRows {
    reader: Reader,
    place: String,
    csv: CsvToJson,
    is_over: bool,
}

impl CsvRows {
    /// Reads the head, and enough rows to decide the types of the columns.
    pub(super) fn new(reader: Reader, csv: CsvToJson, place: &str) -> Result<Self, Error> {
        let mut rows = Self { reader, place: place.to_owned(), csv, is_over: false };
        while !rows.csv.is_judged() {
            rows.read()?;
        }
        Ok(rows)
    }

    /// Reads the text that is there, and decides the types of the columns by it.
    pub(super) fn live(reader: Reader, csv: CsvToJson, place: &str) -> Result<Self, Error> {
        let mut rows = Self { reader, place: place.to_owned(), csv, is_over: false };
        let mut rest = rows.reader.fill_buf().map_err(Error::io("read", place))?.len();
        while rest > 0 && !rows.csv.is_judged() {
            let bytes = rows.reader.fill_buf().map_err(Error::io("read", place))?;
            let taken = rows.csv.push(bytes.get(..rest).unwrap_or(bytes));
            rows.reader.consume(taken);
            rest = rest.saturating_sub(taken);
        }
        if !rows.csv.is_judged() {
            rows.csv.judge();
        }
        Ok(rows)
    }

    /// Returns false at the end of the text, or an error if an unclosed quote has swallowed the
    /// rest.
    fn end(&self) -> Result<bool, Error> {
        match self.csv.unclosed() {
            None => Ok(false),
            Some(unclosed) => {
                let (place, reason) = (self.place.clone(), unclosed.to_string());
                Err(Error::Input { place, reason })
            }
        }
    }

    fn read(&mut self) -> Result<(), Error> {
        let bytes = self.reader.fill_buf().map_err(Error::io("read", &self.place))?;
        self.is_over = bytes.is_empty();
        let taken = self.csv.push(bytes);
        self.reader.consume(taken);
        Ok(())
    }
}

impl Rows for CsvRows {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        while self.csv.next_row(out).is_none() {
            if self.is_over {
                return self.end();
            }
            self.read()?;
        }
        out.push(b'\n');
        Ok(true)
    }

    fn unit(&self) -> &'static str {
        "row"
    }

    fn columns(&self) -> Option<Vec<&str>> {
        Some(self.csv.names().iter().map(String::as_str).collect())
    }

    fn time_column(&self) -> Option<&str> {
        self.csv.time_column()
    }

    fn time_wording(&self) -> Option<TimeWording> {
        self.csv.time_wording()
    }

    fn has_raw_times(&self) -> bool {
        false
    }

    fn notes(&self) -> Vec<String> {
        let odd = Some(self.csv.not_utf8()).filter(|&rows| rows > 0);
        let odd = odd.map(|rows| {
            let rows = output::count(rows, "row");
            format!("what was not UTF-8 became U+FFFD, in {rows}; {NOT_UTF8_ADVICE}")
        });
        let remarks = self.csv.remarks().into_iter().map(|remark| remark.message);
        remarks.chain(odd).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io::{BufRead, Cursor, Read};

    use hadal_ingest::{Dialect, ReadOptions};

    use super::super::{InputFormat, Rows, all_lines, all_rows};
    use super::{CsvRows, CsvToJson};

    fn open(text: &[u8]) -> CsvRows {
        let csv = CsvToJson::new(Dialect::default(), &ReadOptions::default());
        CsvRows::new(Box::new(Cursor::new(text.to_vec())), csv, "test").expect("a head")
    }

    #[test]
    fn rows_come_one_by_one_and_then_no_more() {
        let text = format!("n,s\n{}", "1,x\n".repeat(1_500));
        let rows = all_rows(&text, InputFormat::Csv).expect("rows");
        assert_eq!(rows.len(), 1_500);
        assert!(rows.iter().all(|row| row == r#"{"n":1,"s":"x"}"#));
        let mut none = open(b"a,b\n");
        assert_eq!(none.columns(), Some(vec!["a", "b"]));
        assert!(!none.next(&mut Vec::new()).expect("the end"));
        assert!(!none.next(&mut Vec::new()).expect("the end"));
        assert!(all_rows("", InputFormat::Csv).expect("rows").is_empty());
        assert_eq!(all_rows("n\n1", InputFormat::Csv).expect("rows"), [r#"{"n":1}"#]);
    }

    #[test]
    fn other_separators_are_told() {
        let row = all_rows("a;b\n1,5;2\n", InputFormat::Csv).expect("rows");
        assert_eq!(row, [r#"{"a":1.5,"b":2}"#]);
        let row = all_rows("a\tb\n1,5\t2\n", InputFormat::Csv).expect("rows");
        assert_eq!(row, [r#"{"a":1.5,"b":2}"#]);
    }

    #[test]
    fn what_was_lost_is_said() {
        let mut rows = open(b"n,s\n1,\xff\nNA,x\nNaN,y\n");
        assert_eq!(all_lines(&mut rows).expect("rows").len(), 3);
        let missing = "2 cells such as NA or - became null in column n; ";
        let notes = rows.notes();
        assert_eq!(notes.len(), 2);
        assert!(notes[0].starts_with(missing), "{notes:?}");
        assert!(notes[1].starts_with("what was not UTF-8 became U+FFFD, in 1 row; "), "{notes:?}");
        assert!(notes[1].contains("iconv"), "{notes:?}");
    }

    #[test]
    fn a_quote_that_is_never_closed_fails_after_the_rows_before_it() {
        for after in ["", &"3,x\n".repeat(40_000)] {
            let text = format!("n,s\n1,x\n2,\"oops\n{after}");
            let mut rows = open(text.as_bytes());
            let mut row = Vec::new();
            assert!(rows.next(&mut row).expect("a row"));
            assert_eq!(row, b"{\"n\":1,\"s\":\"x\"}\n");
            let error = rows.next(&mut Vec::new()).expect_err("it swallowed the rest").to_string();
            assert!(error.contains("a quote in the record of line 3 is never closed"), "{error}");
        }
    }

    /// Returns its pieces, and fails if it is read after the last one.
    struct Stream(VecDeque<&'static [u8]>);

    impl Read for Stream {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::Unsupported.into())
        }
    }

    impl BufRead for Stream {
        fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
            self.0.front().copied().ok_or_else(|| std::io::ErrorKind::WouldBlock.into())
        }

        fn consume(&mut self, bytes: usize) {
            if let Some(front) = self.0.pop_front().filter(|front| bytes < front.len()) {
                self.0.push_front(&front[bytes..]);
            }
        }
    }

    #[test]
    fn rows_that_are_there_do_not_wait_for_more() {
        let mut pieces: VecDeque<&[u8]> = VecDeque::from([&b"n\n"[..]]);
        pieces.extend([&b"7\n"[..]; 1_001]);
        let csv = CsvToJson::new(Dialect::default(), &ReadOptions::default());
        let mut rows = CsvRows::new(Box::new(Stream(pieces)), csv, "test").expect("a head");
        for _ in 0..1_001 {
            assert!(rows.next(&mut Vec::new()).expect("a row"));
        }
        assert!(rows.next(&mut Vec::new()).is_err());
    }
}
