//! Splits bytes, in pieces of any size, into CSV records with `csv-core`, the parser that most Rust
//! programs use.

use std::borrow::Cow;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use hadal_types::limits::LINE_BYTES_MAX;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// The bytes that are kept of a record that is too long, to identify it.
const KEPT_BYTES: usize = 1 << 10;
/// The initial capacity of a record, in cells and in bytes.
const ROOM: usize = 32;

/// The cells of one record.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The line where it begins, counted from 1.
    pub(super) line: u64,
    /// Whether it has more than [`LINE_BYTES_MAX`] bytes; `cells` then has the first of them.
    pub(super) is_too_long: bool,
    /// Whether the text ended inside a quote, so that the record has all that followed the quote.
    pub(super) is_unclosed: bool,
    /// The cells' bytes, concatenated, and spare capacity.
    cells: Vec<u8>,
    cells_len: usize,
    /// The end of each cell, and spare capacity.
    ends: Vec<usize>,
    ends_len: usize,
    /// The number of line feeds within the cells.
    pub(super) breaks: u64,
}

impl Record {
    /// The cells, with U+FFFD for invalid UTF-8; none if the record is too long.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let ends = &self.ends[..self.ends_len];
        let starts = std::iter::once(&0).chain(ends);
        starts.zip(ends).map(|(&start, &end)| String::from_utf8_lossy(&self.cells[start..end]))
    }

    /// The first bytes of a record that is too long, without separators.
    pub(super) fn excerpt(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.cells[..self.cells_len])
    }

    /// The memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.cells.len() + size_of_val(self.ends.as_slice())
    }

    /// Clears the record and keeps its capacity.
    pub(super) fn clear(&mut self) {
        (self.line, self.is_too_long, self.is_unclosed) = (0, false, false);
        (self.cells_len, self.ends_len, self.breaks) = (0, 0, 0);
    }

    /// Grows the buffers that are full.
    fn widen(&mut self) {
        if self.cells_len == self.cells.len() {
            self.cells.resize((2 * self.cells.len()).max(ROOM), 0);
        }
        if self.ends_len == self.ends.len() {
            self.ends.resize((2 * self.ends.len()).max(ROOM), 0);
        }
    }

    /// Counts bytes and ends that were written into the spare capacity.
    fn grow(&mut self, bytes: usize, ends: usize) {
        let new = &self.cells[self.cells_len..self.cells_len + bytes];
        self.breaks += new.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.cells_len += bytes;
        self.ends_len += ends;
        // Each cell has a separator, which counts too.
        self.is_too_long |= self.cells_len + self.ends_len > LINE_BYTES_MAX;
        if self.is_too_long {
            (self.cells_len, self.ends_len) = (self.cells_len.min(KEPT_BYTES), 0);
        }
    }
}

/// Splits bytes into records.
pub(super) struct Records {
    core: Reader,
    /// The number of bytes of a byte order mark so far; `None` once the text has begun.
    mark: Option<usize>,
    /// The record under construction.
    pub(super) record: Record,
}

impl Records {
    pub(super) fn new(separator: u8) -> Self {
        let core = ReaderBuilder::new().delimiter(separator).build();
        Self { core, mark: Some(0), record: Record::default() }
    }

    /// Takes bytes up to the end of a record. Returns their number, and whether the record is
    /// complete. An empty `bytes` ends the text.
    pub(super) fn read(&mut self, bytes: &[u8]) -> (usize, bool) {
        let before = self.skip_mark(bytes);
        let rest = &bytes[before..];
        if rest.is_empty() && before > 0 {
            return (before, false);
        }
        if rest.is_empty() {
            return (before, self.end());
        }
        let (taken, is_whole) = self.cut(rest);
        (before + taken, is_whole)
    }

    /// Ends the text; returns whether that completed a record. A line feed completes a record under
    /// construction, unless it is inside quotes.
    fn end(&mut self) -> bool {
        if self.cut(b"\n").1 {
            return true;
        }
        self.record.is_unclosed = self.cut(b"").1;
        self.record.is_unclosed
    }

    /// Skips bytes at the start that are a byte order mark or may be part of one; returns their
    /// number.
    fn skip_mark(&mut self, bytes: &[u8]) -> usize {
        let Some(matched) = self.mark else { return 0 };
        let pairs = bytes.iter().zip(&BYTE_ORDER_MARK[matched..]);
        let taken = pairs.take_while(|(byte, mark)| byte == mark).count();
        let matched = matched + taken;
        let is_open = matched < BYTE_ORDER_MARK.len() && taken == bytes.len() && taken > 0;
        self.mark = is_open.then_some(matched);
        if !is_open && (1..BYTE_ORDER_MARK.len()).contains(&matched) {
            // It was no byte order mark: these bytes are text, and do not end a record.
            self.cut(&BYTE_ORDER_MARK[..matched]);
        }
        taken
    }

    fn cut(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut taken = 0;
        loop {
            let (record, rest) = (&mut self.record, &bytes[taken..]);
            let (cells, ends) =
                (&mut record.cells[record.cells_len..], &mut record.ends[record.ends_len..]);
            let (result, read, written, ended) = self.core.read_record(rest, cells, ends);
            record.grow(written, ended);
            taken += read;
            match result {
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => record.widen(),
                ReadRecordResult::InputEmpty | ReadRecordResult::End => return (taken, false),
                ReadRecordResult::Record => {
                    // The line feed that ended the record belongs to the next line number.
                    let ending = u64::from(rest[..read].last() == Some(&b'\n'));
                    record.line = self.core.line() - ending - record.breaks;
                    return (taken, true);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line and the cells of each record.
    fn records(text: &[u8], piece: usize) -> Vec<(u64, Vec<String>)> {
        let mut records = Records::new(b',');
        let mut cut = Vec::new();
        for piece in text.chunks(piece).chain([&[][..]]) {
            let mut rest = piece;
            loop {
                let (taken, is_whole) = records.read(rest);
                rest = &rest[taken..];
                if is_whole {
                    let record = &mut records.record;
                    cut.push((record.line, record.cells().map(Cow::into_owned).collect()));
                    record.clear();
                }
                if rest.is_empty() && !(is_whole && piece.is_empty()) {
                    break;
                }
            }
        }
        cut
    }

    fn in_any_pieces(text: &[u8]) -> Vec<(u64, Vec<String>)> {
        let whole = records(text, text.len().max(1));
        for piece in 1..7 {
            assert_eq!(records(text, piece), whole, "in pieces of {piece}");
        }
        whole
    }

    #[test]
    fn records_are_cut_and_their_lines_told() {
        let text =
            b"\xef\xbb\xbf\"a\",b\r\n1,\"x\ny \"\"z\"\"\",\n\n 2 ,it\"s\r3,\"\"\n\"a\"b,\"4\n\"";
        let records = in_any_pieces(text);
        let expected: [(u64, &[&str]); 5] = [
            (1, &["a", "b"]),
            (2, &["1", "x\ny \"z\"", ""]),
            (5, &[" 2 ", "it\"s"]),
            (5, &["3", ""]),
            (6, &["ab", "4\n"]),
        ];
        assert_eq!(records.len(), expected.len());
        for ((line, cells), (expected_line, expected)) in records.iter().zip(expected) {
            assert_eq!(*line, expected_line);
            assert_eq!(cells, expected);
        }
    }

    #[test]
    fn a_quote_that_is_never_closed_is_noticed() {
        let is_unclosed = |text: &str| {
            let mut records = Records::new(b',');
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                let (taken, is_whole) = records.read(rest);
                rest = &rest[taken..];
                assert!(!records.record.is_unclosed);
                if is_whole {
                    records.record.clear();
                }
            }
            records.read(b"");
            records.record.is_unclosed
        };
        for closed in
            ["", "a", "a\n", "\"a\"", "\"a\"\n", "a,\"b\"\"\"", "a\"b\n", "a,", "\"a\"b\"\n"]
        {
            assert!(!is_unclosed(closed), "{closed:?}");
        }
        for unclosed in ["\"", "\"a", "\"a\n", "a,\"", "x\ny,\"b\nz\n", "\"a\"\""] {
            assert!(is_unclosed(unclosed), "{unclosed:?}");
        }
    }

    #[test]
    fn a_part_of_a_mark_is_text() {
        let cells = |text: &[u8]| in_any_pieces(text).into_iter().flat_map(|(_, cells)| cells);
        assert_eq!(cells(b"\xef\xbb\xbf").count(), 0);
        assert_eq!(cells(b"\xef\xbb,b").collect::<Vec<_>>(), ["\u{fffd}", "b"]);
        assert_eq!(cells(b"\xef").collect::<Vec<_>>(), ["\u{fffd}"]);
        assert_eq!(cells("\u{feff}\"a,b\"".as_bytes()).collect::<Vec<_>>(), ["a,b"]);
    }

    #[test]
    fn too_long_a_record_is_not_kept() {
        for long in ["x".repeat(3 * LINE_BYTES_MAX), ",".repeat(3 * LINE_BYTES_MAX)] {
            let text = format!("a\n{long}\n\"x\n{long}\"\nb\n");
            let mut records = Records::new(b',');
            let (mut rest, mut lines) = (text.as_bytes(), Vec::new());
            while !rest.is_empty() {
                let (taken, is_whole) = records.read(rest);
                rest = &rest[taken..];
                assert!(is_whole);
                let record = &mut records.record;
                assert!(record.bytes() <= 20 * LINE_BYTES_MAX);
                lines.push((record.line, record.is_too_long));
                record.clear();
            }
            assert_eq!(lines, [(1, false), (2, true), (3, true), (5, false)]);
        }
    }
}
