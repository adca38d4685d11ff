//! Splits a body, in pieces of any size, into records: lines, or the values of JSON text.

use std::ops::ControlFlow;

use hadal_types::limits::LINE_BYTES_MAX;

/// One record of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Record<'r> {
    /// The record's bytes, without surrounding white space.
    Whole(&'r [u8]),
    /// The record was longer than [`LINE_BYTES_MAX`]; these are its first bytes.
    TooLong(&'r [u8]),
    /// Not a record: the body's array ends without its closing bracket.
    Unclosed,
}

/// How records are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Only white space so far.
    Start,
    /// One record per line.
    Lines,
    /// The first line is an object without an end; the next byte decides whether it continues.
    Opened,
    /// JSON values, one after another, or the elements of one array.
    Values,
}

/// Splits bytes into records.
#[derive(Debug)]
pub(crate) struct Splitter {
    mode: Mode,
    /// The bytes of the incomplete record, up to the limit.
    pending: Vec<u8>,
    /// The length of that record, bytes beyond the limit included.
    length: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    is_array: bool,
    /// Whether the array's own bracket is closed.
    is_closed: bool,
    /// The number of lines, or of array elements, that began before the current record.
    pub(crate) number: u64,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl Splitter {
    /// Splits JSON: by line if the first line is complete, else by value.
    pub(crate) fn json() -> Self {
        Self::new(Mode::Start)
    }

    /// Splits text by line.
    pub(crate) fn lines() -> Self {
        Self::new(Mode::Lines)
    }

    fn new(mode: Mode) -> Self {
        Self {
            mode,
            pending: Vec::new(),
            length: 0,
            depth: 0,
            in_string: false,
            escaped: false,
            is_array: false,
            is_closed: false,
            number: 0,
        }
    }

    /// Takes bytes, and calls `take` with each complete record and its number, counted from 1.
    pub(crate) fn push(&mut self, bytes: &[u8], take: &mut dyn FnMut(u64, Record<'_>)) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            match self.mode {
                Mode::Start => rest = self.start(rest, byte, after),
                Mode::Lines => rest = self.line(rest, take),
                Mode::Opened if byte.is_ascii_whitespace() => {
                    self.keep(&[byte]);
                    rest = after;
                }
                Mode::Opened => self.go_on(byte, take),
                Mode::Values => {
                    self.value_byte(byte, take);
                    rest = after;
                }
            }
        }
    }

    /// Calls `take` with the remaining record at the end of the body.
    pub(crate) fn finish(mut self, take: &mut dyn FnMut(u64, Record<'_>)) {
        if !self.pending.trim_ascii().is_empty() {
            self.emit(take);
        }
        if self.is_array && !self.is_closed {
            take(self.number + 1, Record::Unclosed);
        }
    }

    /// Skips white space and a byte order mark. The first other byte decides whether the body is an
    /// array.
    fn start<'b>(&mut self, rest: &'b [u8], byte: u8, after: &'b [u8]) -> &'b [u8] {
        if byte == b'\n' {
            self.number += 1;
        }
        if byte.is_ascii_whitespace() || BYTE_ORDER_MARK.contains(&byte) {
            return after;
        }
        if byte == b'[' {
            (self.mode, self.is_array) = (Mode::Values, true);
            self.number = 0;
            return after;
        }
        self.mode = Mode::Lines;
        rest
    }

    /// Takes bytes up to the end of the line, and returns the rest.
    fn line<'b>(&mut self, bytes: &'b [u8], take: &mut dyn FnMut(u64, Record<'_>)) -> &'b [u8] {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            self.keep(bytes);
            return &[];
        };
        let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
        // A complete line is not buffered. The first line may be part of a value.
        if self.number > 0 && self.pending.is_empty() && line.len() <= LINE_BYTES_MAX {
            self.number += 1;
            let line = line.trim_ascii();
            if !line.is_empty() {
                take(self.number, Record::Whole(line));
            }
            return rest;
        }
        self.keep(line);
        if self.number == 0 && self.is_open_object() {
            self.keep(b"\n");
            self.mode = Mode::Opened;
            return rest;
        }
        self.number += 1;
        let blank = self.pending.trim_ascii().is_empty();
        let number = self.number;
        if !blank {
            self.emit_as(number, take);
        }
        self.clear();
        rest
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX.saturating_sub(self.pending.len());
        self.pending.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len();
    }

    /// Whether the first line is the beginning of an object that continues.
    fn is_open_object(&self) -> bool {
        let mut depth = DepthCounter::default();
        self.pending.trim_ascii_start().first() == Some(&b'{')
            && self.length <= LINE_BYTES_MAX
            && self.pending.iter().all(|&byte| depth.step(byte).is_continue())
            && depth.depth > 0
            && !depth.in_string
    }

    /// Continues after a first line that is an object without an end, by value or by line. If the
    /// next line begins an object where JSON allows none, the first line was truncated, and the
    /// next line is a record of its own.
    fn go_on(&mut self, next: u8, take: &mut dyn FnMut(u64, Record<'_>)) {
        let first = std::mem::take(&mut self.pending);
        self.clear();
        if next == b'{' && !takes_object(&first) {
            self.mode = Mode::Lines;
            self.number = first.iter().filter(|&&byte| byte == b'\n').count() as u64;
            return take(1, Record::Whole(first.trim_ascii()));
        }
        self.mode = Mode::Values;
        first.iter().for_each(|&byte| self.value_byte(byte, take));
    }

    fn value_byte(&mut self, byte: u8, take: &mut dyn FnMut(u64, Record<'_>)) {
        let between = self.depth == 0 && !self.in_string && self.pending.is_empty();
        if between && (byte.is_ascii_whitespace() || byte == b',') {
            return;
        }
        if self.is_array && self.depth == 0 && !self.in_string && matches!(byte, b',' | b']') {
            self.is_closed = byte == b']';
            self.number += 1;
            let number = self.number;
            if !self.pending.trim_ascii().is_empty() {
                self.emit_as(number, take);
            }
            return self.clear();
        }
        self.keep(&[byte]);
        let mut counter =
            DepthCounter { depth: self.depth, in_string: self.in_string, escaped: self.escaped };
        // An unmatched closing bracket ends the value, which is then rejected.
        let ended =
            counter.step(byte).is_break() || (counter.depth == 0 && matches!(byte, b'}' | b']'));
        (self.depth, self.in_string, self.escaped) =
            (counter.depth, counter.in_string, counter.escaped);
        if ended && !self.is_array {
            self.emit(take);
        }
    }

    fn emit(&mut self, take: &mut dyn FnMut(u64, Record<'_>)) {
        self.number += 1;
        let number = self.number;
        self.emit_as(number, take);
        self.clear();
    }

    fn emit_as(&self, number: u64, take: &mut dyn FnMut(u64, Record<'_>)) {
        let record = self.pending.trim_ascii();
        take(
            number,
            match self.length > LINE_BYTES_MAX {
                true => Record::TooLong(record),
                false => Record::Whole(record),
            },
        );
    }

    fn clear(&mut self) {
        self.pending.clear();
        self.length = 0;
        (self.depth, self.in_string, self.escaped) = (0, false, false);
    }
}

/// Splits a line of several objects, one after another; `None` for any other line.
pub(crate) fn objects(line: &str) -> Option<Vec<&str>> {
    let mut objects = Vec::new();
    let (mut start, mut counter) = (0, DepthCounter::default());
    for (at, byte) in line.bytes().enumerate() {
        let between = counter.depth == 0 && !counter.in_string;
        if between && byte.is_ascii_whitespace() {
            continue;
        }
        if between {
            start = at;
        }
        let begins_wrong = between && byte != b'{';
        if begins_wrong || counter.step(byte).is_break() {
            return None;
        }
        if counter.depth == 0 {
            objects.push(&line[start..=at]);
        }
    }
    (counter.depth == 0 && objects.len() > 1).then_some(objects)
}

/// Whether JSON allows an object after this text: as an array element, or after a colon.
fn takes_object(text: &[u8]) -> bool {
    let (mut open, mut counter) = (Vec::new(), DepthCounter::default());
    for &byte in text {
        let is_bracket = !counter.in_string;
        match byte {
            b'{' | b'[' if is_bracket => open.push(byte),
            b'}' | b']' if is_bracket => drop(open.pop()),
            _ => {}
        }
        if counter.step(byte).is_break() {
            return false;
        }
    }
    let last = text.trim_ascii_end().last();
    open.last() == Some(&b'[') || last == Some(&b':')
}

/// Tracks brackets and strings of JSON text.
#[derive(Default)]
struct DepthCounter {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl DepthCounter {
    /// Breaks at a closing bracket without an opening one.
    fn step(&mut self, byte: u8) -> ControlFlow<()> {
        if self.in_string {
            let ends = byte == b'"' && !self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            self.in_string = !ends;
            return ControlFlow::Continue(());
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => match self.depth.checked_sub(1) {
                Some(depth) => self.depth = depth,
                None => return ControlFlow::Break(()),
            },
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(mut splitter: Splitter, body: &[u8], piece: usize) -> Vec<(u64, String)> {
        let mut records = Vec::new();
        let mut take = |number, record: Record<'_>| {
            let text = match record {
                Record::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Record::TooLong(bytes) => format!("too long: {}", bytes.len()),
                Record::Unclosed => "unclosed".to_owned(),
            };
            records.push((number, text));
        };
        body.chunks(piece).for_each(|piece| splitter.push(piece, &mut take));
        splitter.finish(&mut take);
        records
    }

    fn in_any_pieces(body: &str) -> Vec<(u64, String)> {
        let whole = split(Splitter::json(), body.as_bytes(), body.len().max(1));
        for piece in 1..7 {
            assert_eq!(split(Splitter::json(), body.as_bytes(), piece), whole, "{piece}");
        }
        whole
    }

    fn texts(body: &str) -> Vec<String> {
        in_any_pieces(body).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn lines_are_records() {
        let records = in_any_pieces("\u{feff}{\"a\":1}\r\n\n  {\"a\":2}\nx");
        let expected = [(1, "{\"a\":1}"), (3, "{\"a\":2}"), (4, "x")];
        assert_eq!(records, expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn a_first_line_that_is_cut_off_is_one_record() {
        for first in ["{\"a\":1,", "{\"a\":{\"b\":1", "{\"a\":[1],\"b\"", "{\"a\":\"[\","] {
            let body = format!("{first}\n\n{{\"b\":2}}\n{{\"c\":3}}\n");
            let expected = [(1, first), (3, "{\"b\":2}"), (4, "{\"c\":3}")];
            assert_eq!(in_any_pieces(&body), expected.map(|(line, text)| (line, text.to_owned())));
        }
        let object = "{\"a\":\n{\"b\":\n[1,\n{}]},\n\"c\":[\n{}]}";
        assert_eq!(texts(object), [object]);
        assert_eq!(texts("{\"a\":[{},\n{}]}\n{}"), ["{\"a\":[{},\n{}]}", "{}"]);
        assert_eq!(texts("{\"a\":1,\n \n"), ["{\"a\":1,"]);
    }

    #[test]
    fn elements_of_an_array_are_records() {
        assert_eq!(
            texts(" [ {\"a\":\"],\"}, {\"b\":[1,2]} ,3]\n"),
            ["{\"a\":\"],\"}", "{\"b\":[1,2]}", "3"]
        );
        assert!(texts("[]").is_empty());
    }

    #[test]
    fn an_array_that_does_not_end_is_told() {
        let whole = "{\"a\":1}".to_owned();
        for body in ["[{\"a\":1}", "[{\"a\":1},", "[{\"a\":1}\n,\n"] {
            assert_eq!(texts(body), [whole.clone(), "unclosed".to_owned()], "{body}");
        }
        assert_eq!(texts("["), ["unclosed"]);
        assert_eq!(texts("[{\"a\":"), ["{\"a\":", "unclosed"]);
    }

    #[test]
    fn one_object_may_span_lines() {
        assert_eq!(
            texts("{\n \"a\": {\"b\": \"}\\\"\"}\n}\n{\"c\": 1}"),
            ["{\n \"a\": {\"b\": \"}\\\"\"}\n}", "{\"c\": 1}"]
        );
    }

    #[test]
    fn a_broken_line_does_not_swallow_the_next() {
        assert_eq!(texts("{\"a\":1}\n{\"b\":\n{\"c\":3}"), ["{\"a\":1}", "{\"b\":", "{\"c\":3}"]);
    }

    #[test]
    fn too_long_a_line_is_not_kept() {
        let body = format!("{{\"a\":1}}\n{}\n{{\"b\":2}}\n", "x".repeat(3 * LINE_BYTES_MAX));
        let records = split(Splitter::json(), body.as_bytes(), 1 << 16);
        assert_eq!(records[1], (2, format!("too long: {LINE_BYTES_MAX}")));
        assert_eq!(records[2], (3, "{\"b\":2}".to_owned()));
    }

    #[test]
    fn a_line_may_have_several_objects() {
        let records = objects(r#"{"a":"}{"}{"b":{"c":[1]}} {}"#);
        assert_eq!(records, Some(vec![r#"{"a":"}{"}"#, r#"{"b":{"c":[1]}}"#, "{}"]));
        for other in ["", "{}", "{}x", "{},{}", "x{}{}", "{}{", "{}}{}", "{}[1]", "{}\"", "{}1"] {
            assert_eq!(objects(other), None, "{other}");
        }
    }

    #[test]
    fn plain_lines_are_never_json() {
        let records = split(Splitter::lines(), b"[1]\n{\nx", 2);
        assert_eq!(records.len(), 3);
    }
}
