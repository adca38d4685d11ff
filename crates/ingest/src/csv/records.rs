//! Splits bytes, in pieces of any size, into CSV records (RFC 4180), with the deviations that a
//! [`Dialect`] names.
//!
//! A line ends with a line feed, a carriage return, or both. Empty lines are no records. A quote
//! within a cell that has none at its beginning is a character like any other.

use super::dialect::Dialect;
use super::record::Record;
use crate::read_options::Quote;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The position within a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first byte of a record.
    RecordStart,
    /// Within one of the lines that are skipped.
    Skipped,
    /// Within a comment.
    Comment,
    CellStart,
    Unquoted,
    Quoted,
    /// After a quote within a quoted cell, and after spaces that follow it.
    Quote {
        has_space: bool,
    },
    /// After the byte that escapes the next one, within quotes or outside.
    Escape {
        is_quoted: bool,
    },
}

/// Splits bytes into records.
pub(crate) struct Records {
    separator: u8,
    quote: Option<u8>,
    escape: Option<u8>,
    comment: Option<u8>,
    /// Whether a byte ends a run of plain bytes outside of quotes.
    is_special: [bool; 256],
    state: State,
    /// The number of lines still to skip.
    skip: usize,
    /// The current line, counted from 1.
    line: u64,
    /// Whether the last byte was a carriage return: a line feed after it ends the same line.
    after_return: bool,
    /// The number of bytes of a byte order mark so far; `None` once the text has begun.
    mark: Option<usize>,
    /// The record under construction.
    pub(crate) record: Record,
}

impl Records {
    pub(crate) fn new(dialect: &Dialect) -> Self {
        let quote = match dialect.quote {
            Quote::Byte(byte) => Some(byte),
            Quote::None => None,
        };
        // A quote that is doubled needs no escape of its own.
        let escape = dialect.escape.filter(|escape| Some(*escape) != quote);
        let mut is_special = [false; 256];
        for byte in [dialect.separator, b'\n', b'\r'].into_iter().chain(escape) {
            is_special[usize::from(byte)] = true;
        }
        Self {
            separator: dialect.separator,
            quote,
            escape,
            comment: dialect.comment,
            is_special,
            state: if dialect.skip > 0 { State::Skipped } else { State::RecordStart },
            skip: dialect.skip,
            line: 1,
            after_return: false,
            mark: Some(0),
            record: Record::default(),
        }
    }

    /// Takes bytes up to the end of a record. Returns their number, and whether the record is
    /// complete. An empty `bytes` ends the text.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> (usize, bool) {
        let before = self.skip_mark(bytes);
        let rest = bytes.get(before..).unwrap_or_default();
        if rest.is_empty() && before > 0 {
            return (before, false);
        }
        if rest.is_empty() {
            return (before, self.end());
        }
        let (taken, is_whole) = self.cut(rest);
        (before + taken, is_whole)
    }

    /// Ends the text; returns whether that completed a record. Only a quote can be open at the end.
    fn end(&mut self) -> bool {
        let state = std::mem::replace(&mut self.state, State::RecordStart);
        match state {
            State::RecordStart | State::Skipped | State::Comment => return false,
            State::Quoted => self.record.is_unclosed = true,
            State::Escape { is_quoted } => {
                self.record.extend(self.escape.as_slice());
                self.record.is_unclosed = is_quoted;
            }
            State::CellStart | State::Unquoted | State::Quote { .. } => {}
        }
        self.record.end_cell();
        true
    }

    /// Skips bytes at the start that are a byte order mark or may be part of one; returns their
    /// number.
    fn skip_mark(&mut self, bytes: &[u8]) -> usize {
        let Some(matched) = self.mark else { return 0 };
        let pairs = bytes.iter().zip(BYTE_ORDER_MARK.iter().skip(matched));
        let taken = pairs.take_while(|(byte, mark)| byte == mark).count();
        let matched = matched + taken;
        let is_open = matched < BYTE_ORDER_MARK.len() && taken == bytes.len() && taken > 0;
        self.mark = is_open.then_some(matched);
        if !is_open && matched < BYTE_ORDER_MARK.len() {
            // It was no byte order mark: these bytes are text, and do not end a record.
            self.cut(BYTE_ORDER_MARK.get(..matched).unwrap_or_default());
        }
        taken
    }

    /// Takes bytes up to the end of a record, or all of them.
    fn cut(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (taken, is_whole) = match self.state {
                State::RecordStart => self.start(rest),
                State::Skipped => (self.skip_line(rest), false),
                State::Comment => (self.skip_comment(rest), false),
                State::CellStart => self.start_cell(rest),
                State::Unquoted => self.unquoted(rest),
                State::Quoted => (self.quoted(rest), false),
                State::Quote { has_space } => self.after_quote(rest, has_space),
                State::Escape { is_quoted } => (self.escaped(rest, is_quoted), false),
            };
            at += taken;
            if is_whole {
                return (at, true);
            }
        }
        (at, false)
    }

    /// Between records: skips the ends of lines, and recognizes comments.
    fn start(&mut self, rest: &[u8]) -> (usize, bool) {
        let after_return = std::mem::take(&mut self.after_return);
        match rest.first() {
            Some(b'\n') if after_return => return (1, false),
            Some(b'\n') => self.line += 1,
            Some(b'\r') => self.end_line(b'\r'),
            byte if byte.is_some() && byte.copied() == self.comment => self.state = State::Comment,
            _ => {
                self.record.line = self.line;
                return self.start_cell(rest);
            }
        }
        (1, false)
    }

    fn end_line(&mut self, byte: u8) {
        self.line += 1;
        self.after_return = byte == b'\r';
    }

    /// Skips bytes up to the end of a line, with it. Returns their number, and whether there was
    /// the end of a line.
    fn skip_to_line_end(&mut self, rest: &[u8]) -> (usize, bool) {
        let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else { return (rest.len(), false) };
        self.end_line(rest.get(end).copied().unwrap_or(b'\n'));
        (end + 1, true)
    }

    fn skip_comment(&mut self, rest: &[u8]) -> usize {
        let (taken, is_over) = self.skip_to_line_end(rest);
        if is_over {
            self.state = State::RecordStart;
        }
        taken
    }

    fn skip_line(&mut self, rest: &[u8]) -> usize {
        if std::mem::take(&mut self.after_return) && rest.first() == Some(&b'\n') {
            return 1;
        }
        let (taken, is_over) = self.skip_to_line_end(rest);
        self.skip -= usize::from(is_over).min(self.skip);
        if self.skip == 0 {
            self.state = State::RecordStart;
        }
        taken
    }

    fn start_cell(&mut self, rest: &[u8]) -> (usize, bool) {
        if rest.first().copied() == self.quote && self.quote.is_some() {
            self.state = State::Quoted;
            return (1, false);
        }
        self.unquoted(rest)
    }

    fn unquoted(&mut self, rest: &[u8]) -> (usize, bool) {
        self.state = State::Unquoted;
        let special = rest.iter().position(|&byte| self.is_special[usize::from(byte)]);
        let end = special.unwrap_or(rest.len());
        self.record.extend(rest.get(..end).unwrap_or_default());
        match rest.get(end) {
            None => (end, false),
            Some(&byte) if Some(byte) == self.escape => {
                self.state = State::Escape { is_quoted: false };
                (end + 1, false)
            }
            Some(&byte) => (end + 1, self.delimit(byte)),
        }
    }

    /// Ends a cell at a separator or at the end of a line. Returns whether that ends the record.
    fn delimit(&mut self, byte: u8) -> bool {
        self.record.end_cell();
        if byte == self.separator {
            self.state = State::CellStart;
            return false;
        }
        self.end_line(byte);
        self.state = State::RecordStart;
        true
    }

    fn quoted(&mut self, rest: &[u8]) -> usize {
        let quote = self.quote.unwrap_or_default();
        let end = match self.escape {
            Some(escape) => memchr::memchr2(quote, escape, rest),
            None => memchr::memchr(quote, rest),
        };
        let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.take_quoted(text);
        match end.and_then(|end| rest.get(end)) {
            None => return rest.len(),
            Some(&byte) if byte == quote => self.state = State::Quote { has_space: false },
            Some(_) => self.state = State::Escape { is_quoted: true },
        }
        text.len() + 1
    }

    /// Appends text from within quotes, and counts its line feeds.
    fn take_quoted(&mut self, text: &[u8]) {
        let breaks = memchr::memchr_iter(b'\n', text).count() as u64;
        self.record.breaks += breaks;
        self.line += breaks;
        self.record.extend(text);
    }

    /// After a quote within a quoted cell: another one makes a quote, a separator ends the cell.
    fn after_quote(&mut self, rest: &[u8], has_space: bool) -> (usize, bool) {
        match rest.first() {
            Some(&byte) if Some(byte) == self.quote && !has_space => {
                self.record.extend(&[byte]);
                self.state = State::Quoted;
                (1, false)
            }
            Some(&byte) if byte == self.separator || matches!(byte, b'\n' | b'\r') => {
                (1, self.delimit(byte))
            }
            Some(b' ') => {
                self.state = State::Quote { has_space: true };
                self.record.extend(b" ");
                (1, false)
            }
            _ => {
                self.record.has_text_after_quote = true;
                self.unquoted(rest)
            }
        }
    }

    /// After the escape: it stands for itself unless one of the special bytes follows.
    fn escaped(&mut self, rest: &[u8], is_quoted: bool) -> usize {
        self.state = if is_quoted { State::Quoted } else { State::Unquoted };
        let Some(&byte) = rest.first() else { return 0 };
        let is_special = self.is_special[usize::from(byte)] || Some(byte) == self.quote;
        if !is_special {
            self.record.extend(self.escape.as_slice());
            return 0;
        }
        self.take_quoted(&[byte]);
        1
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use hadal_types::limits::LINE_BYTES_MAX;

    use super::*;

    /// The line and the cells of each record.
    fn records(text: &[u8], piece: usize) -> Vec<(u64, Vec<String>)> {
        let mut records = Records::new(&Dialect::default());
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
            (6, &["3", ""]),
            (7, &["ab", "4\n"]),
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
            let mut records = Records::new(&Dialect::default());
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
            let mut records = Records::new(&Dialect::default());
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
