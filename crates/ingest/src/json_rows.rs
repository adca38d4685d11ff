//! JSON text in pieces of any size as lines of one row each.
//!
//! Objects are only separated here; the reader of the lines decides whether an object is
//! well-formed.

use std::ops::Range;

use hadal_types::limits::LINE_BYTES_MAX;

use crate::documents::{Documents, Recognized, by_option, recognize};
use crate::input_format::InputFormat;
use crate::read_options::ReadOptions;
use crate::reject_kinds::RejectKinds;
use crate::rejects::Reject;
use crate::split::{Record, Splitter, UNCLOSED};

/// Rows of JSON text, as lines.
#[derive(Debug)]
pub struct JsonRows {
    source: Source,
    time_column: Option<&'static str>,
    lines: Lines,
}

#[derive(Debug)]
enum Source {
    Split(Splitter),
    Documents(Box<Documents>),
    Over,
}

/// Lines that are ready, and what was rejected.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    at: usize,
    /// The number of lines, those that were taken included.
    count: u64,
    rejects: RejectKinds,
    remarks: Vec<String>,
}

impl JsonRows {
    /// Starts a text whose first bytes are `head`; these are pushed later like all others.
    #[must_use]
    pub fn new(options: &ReadOptions, head: &[u8]) -> Self {
        let is_lines = options.format == Some(InputFormat::JsonLines);
        let documents = match (by_option(options), recognize(head)) {
            (Some(shape), Recognized::Documents(kind)) if kind.shape == shape => {
                Some(Documents::of_kind(kind))
            }
            (Some(shape), _) => Some(Documents::new(shape)),
            (None, Recognized::Documents(kind)) if !is_lines => Some(Documents::of_kind(kind)),
            (None, _) => None,
        };
        let time_column = documents.as_ref().and_then(Documents::time_column);
        let source = match documents {
            Some(documents) => Source::Documents(Box::new(documents)),
            None if is_lines => Source::Split(Splitter::json_lines()),
            None => Source::Split(Splitter::json()),
        };
        Self { source, time_column, lines: Lines::default() }
    }

    /// The column of the rows' times, if the kind of document has one.
    #[must_use]
    pub const fn time_column(&self) -> Option<&'static str> {
        self.time_column
    }

    /// Takes the next bytes, and returns how many it took. The lines that are ready should be taken
    /// before the rest.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let Self { source, lines, .. } = self;
        match source {
            Source::Split(splitter) => {
                splitter.push(bytes, &mut |number, record| lines.record(number, record));
                bytes.len()
            }
            Source::Documents(documents) => {
                let taken = documents.push(bytes);
                lines.rows_of(documents);
                taken
            }
            Source::Over => bytes.len(),
        }
    }

    /// Ends the text.
    pub fn finish(&mut self) {
        let lines = &mut self.lines;
        match std::mem::replace(&mut self.source, Source::Over) {
            Source::Split(splitter) => {
                splitter.finish(&mut |number, record| lines.record(number, record));
            }
            Source::Documents(mut documents) => {
                documents.finish();
                lines.rows_of(&mut documents);
                lines.remarks.extend(documents.remark());
            }
            Source::Over => {}
        }
    }

    /// Appends the next line with its line feed; returns false if none is ready. A line without a
    /// row is empty, so that lines have the numbers of their records.
    pub fn next_line(&mut self, out: &mut Vec<u8>) -> bool {
        self.lines.next(out)
    }

    /// What was rejected so far, apart from the lines.
    #[must_use]
    pub const fn rejects(&self) -> &RejectKinds {
        &self.lines.rejects
    }

    /// Sentences about what the text was taken for, and what is missing in the rows; complete at
    /// the end.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.lines.remarks.clone()
    }
}

impl Lines {
    fn record(&mut self, number: u64, record: Record<'_>) {
        match record {
            Record::Whole(bytes) => self.line(number, bytes, b""),
            // The reader of the line refuses it for its length.
            Record::TooLong(bytes) => {
                let more = LINE_BYTES_MAX.saturating_sub(bytes.len()) + 1;
                self.line(number, bytes, &vec![b'x'; more]);
            }
            Record::Unclosed => self.reject(number, UNCLOSED.to_owned()),
        }
    }

    /// Adds a line of two parts with the number of its record.
    fn line(&mut self, number: u64, bytes: &[u8], more: &[u8]) {
        // Records without rows are empty lines.
        while self.count + 1 < number {
            self.end_line();
        }
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(more);
        spaces_for_line_feeds(&mut self.bytes, from..from + bytes.len());
        self.end_line();
    }

    fn end_line(&mut self) {
        self.bytes.push(b'\n');
        self.count += 1;
    }

    fn rows_of(&mut self, documents: &mut Documents) {
        while let Some((number, row)) = documents.next_row() {
            match row {
                Ok(row) => self.line(number, row.as_bytes(), b""),
                Err(reason) => self.reject(number, reason),
            }
        }
    }

    fn reject(&mut self, number: u64, reason: String) {
        self.rejects.add(&Reject::new(number, reason, &[]));
    }

    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(end) = memchr::memchr(b'\n', rest) else {
            self.bytes.clear();
            self.at = 0;
            return false;
        };
        out.extend_from_slice(&rest[..=end]);
        self.at += end + 1;
        true
    }
}

/// A line feed separates values, or it is within a string, where it is an error anyway.
fn spaces_for_line_feeds(bytes: &mut [u8], range: Range<usize>) {
    let Some(record) = bytes.get_mut(range) else { return };
    let mut from = 0;
    while let Some(at) = record.get(from..).and_then(|rest| memchr::memchr(b'\n', rest)) {
        record[from + at] = b' ';
        from += at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &ReadOptions, text: &str) -> (Vec<String>, JsonRows) {
        let mut rows = JsonRows::new(options, text.as_bytes());
        let mut lines = Vec::new();
        let mut take = |rows: &mut JsonRows| {
            let mut line = Vec::new();
            while rows.next_line(&mut line) {
                lines.push(String::from_utf8(std::mem::take(&mut line)).expect("utf-8"));
            }
        };
        for mut piece in text.as_bytes().chunks(7) {
            while !piece.is_empty() {
                piece = &piece[rows.push(piece)..];
                take(&mut rows);
            }
        }
        rows.finish();
        take(&mut rows);
        (lines, rows)
    }

    fn reasons(rows: &JsonRows) -> Vec<(u64, String)> {
        let kinds = rows.rejects().clone().into_list();
        kinds.into_iter().map(|kind| (kind.first.line, kind.first.reason)).collect()
    }

    #[test]
    fn lines_have_the_numbers_of_their_records() {
        let options = ReadOptions::default();
        let (lines, rows) = read(&options, "{\"a\":1}\n\nx\n\n{\"a\":2},\n");
        assert_eq!(lines, ["{\"a\":1}\n", "\n", "x\n", "\n", "{\"a\":2},\n"]);
        assert!(reasons(&rows).is_empty() && rows.remarks().is_empty());
        let (lines, rows) = read(&options, "[{\"a\":\n1},\n{\"a\":2},\n");
        assert_eq!(lines, ["{\"a\": 1}\n", "{\"a\":2}\n"]);
        assert_eq!(reasons(&rows), [(3, UNCLOSED.to_owned())]);
    }

    #[test]
    fn documents_are_named() {
        let text = r#"{"Records":[{"eventVersion":"1","eventTime":"t","eventSource":"s"}]}"#;
        let (lines, rows) = read(&ReadOptions::default(), text);
        assert_eq!(lines.len(), 1);
        assert_eq!(rows.time_column(), Some("eventTime"));
        assert!(rows.remarks()[0].starts_with("the rows are those in Records"));
        let mut options =
            ReadOptions { rows: Some("Records".to_owned()), ..ReadOptions::default() };
        let (lines, rows) = read(&options, text);
        assert_eq!((lines.len(), rows.time_column()), (1, Some("eventTime")));
        options.rows = Some("a".to_owned());
        assert_eq!(reasons(&read(&options, text).1), [(1, "document 1 has no array a".to_owned())]);
        options = ReadOptions { format: Some(InputFormat::JsonLines), ..ReadOptions::default() };
        assert_eq!(read(&options, text).0.len(), 1);
    }

    #[test]
    fn a_long_record_stays_too_long() {
        let text = format!("{{\"a\":\"{}\"}}\n{{}}\n", "x".repeat(2 * LINE_BYTES_MAX));
        let (lines, _) = read(&ReadOptions::default(), &text);
        assert_eq!(lines[0].len(), LINE_BYTES_MAX + 2);
        assert_eq!(lines[1], "{}\n");
    }
}
