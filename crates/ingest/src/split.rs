//! Splits a body, in pieces of any size, into records: lines, or the values of JSON text.

use hadal_types::limits::LINE_BYTES_MAX;

use crate::depth::DepthCounter;

/// The reason for an array without its closing bracket.
pub(crate) const UNCLOSED: &str = "the array does not end: rows may be missing after this one";

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
    /// Before the first object: at the beginning of the body, or of a line after other lines.
    Start,
    /// After a bracket at the beginning of a line; the next byte decides whether it is an array.
    Bracket,
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
    /// Whether lines may be several objects.
    is_json: bool,
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
    /// Whether a line that begins like an object or an array may still begin a longer value.
    is_before_objects: bool,
    /// Whether this line begins an object, the first of the body.
    is_first_object: bool,
    /// Whether the values are those of one very long line.
    is_long_line: bool,
    /// The number of lines, or of array elements, that began before the current record.
    pub(crate) number: u64,
}

/// Bytes that may stand before the first object: a byte order mark, and the mark before each text
/// of a JSON text sequence (RFC 7464).
const MARKS: &[u8] = b"\xef\xbb\xbf\x1e";

impl Splitter {
    /// Splits JSON: by line if the first object ends in its line, else by value. Lines before the
    /// first object are records too.
    pub(crate) fn json() -> Self {
        Self { is_json: true, is_before_objects: true, ..Self::new(Mode::Start) }
    }

    /// Splits JSON by line.
    pub(crate) fn json_lines() -> Self {
        Self { is_json: true, ..Self::new(Mode::Lines) }
    }

    fn new(mode: Mode) -> Self {
        Self {
            mode,
            is_json: false,
            pending: Vec::new(),
            length: 0,
            depth: 0,
            in_string: false,
            escaped: false,
            is_array: false,
            is_closed: false,
            is_before_objects: false,
            is_first_object: false,
            is_long_line: false,
            number: 0,
        }
    }

    /// Takes bytes, and calls `take` with each complete record and its number, counted from 1.
    pub(crate) fn push(&mut self, bytes: &[u8], take: &mut dyn FnMut(u64, Record<'_>)) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            match self.mode {
                Mode::Start => rest = self.start(rest, byte, after),
                Mode::Bracket if byte.is_ascii_whitespace() => {
                    self.keep(&[byte]);
                    rest = after;
                }
                Mode::Bracket => self.after_bracket(byte),
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
        if self.mode == Mode::Bracket {
            (self.is_array, self.number) = (true, 0);
            self.clear();
        }
        if !self.pending.trim_ascii().is_empty() {
            self.emit(take);
        }
        if self.is_array && !self.is_closed {
            take(self.number + 1, Record::Unclosed);
        }
    }

    /// Skips white space and marks. The first other byte decides whether this is a line, or may be
    /// the beginning of an array.
    fn start<'b>(&mut self, rest: &'b [u8], byte: u8, after: &'b [u8]) -> &'b [u8] {
        if byte == b'\n' {
            self.number += 1;
        }
        if byte.is_ascii_whitespace() || MARKS.contains(&byte) {
            return after;
        }
        if byte == b'[' {
            self.mode = Mode::Bracket;
            self.keep(b"[");
            return after;
        }
        self.mode = Mode::Lines;
        self.is_first_object = byte == b'{';
        self.is_before_objects = !self.is_first_object;
        rest
    }

    /// Decides whether a bracket begins an array of objects, or a line such as `[main] started`.
    fn after_bracket(&mut self, next: u8) {
        let is_alone = self.pending.contains(&b'\n');
        if is_alone || matches!(next, b'{' | b'[' | b']' | b'"') {
            self.clear();
            (self.mode, self.is_array, self.number) = (Mode::Values, true, 0);
        } else {
            self.mode = Mode::Lines;
        }
    }

    /// Takes bytes up to the end of the line, and returns the rest.
    fn line<'b>(&mut self, bytes: &'b [u8], take: &mut dyn FnMut(u64, Record<'_>)) -> &'b [u8] {
        let end = memchr::memchr(b'\n', bytes);
        let line = &bytes[..end.unwrap_or(bytes.len())];
        let is_too_long_now =
            self.length <= LINE_BYTES_MAX && self.length + line.len() > LINE_BYTES_MAX;
        if self.is_json && is_too_long_now && self.has_objects(line) {
            let first = std::mem::take(&mut self.pending);
            self.clear();
            (self.mode, self.is_long_line) = (Mode::Values, true);
            first.iter().for_each(|&byte| self.value_byte(byte, take));
            return bytes;
        }
        let Some(end) = end else {
            self.keep(bytes);
            return &[];
        };
        let rest = &bytes[end + 1..];
        // A complete line is not buffered. The first object may continue on the next line.
        if !self.is_first_object && self.pending.is_empty() && line.len() <= LINE_BYTES_MAX {
            self.number += 1;
            let line = line.trim_ascii();
            if !line.is_empty() {
                take(self.number, Record::Whole(line));
            }
            self.end_line();
            return rest;
        }
        self.keep(line);
        if std::mem::take(&mut self.is_first_object) && self.is_open_object() {
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
        self.end_line();
        rest
    }

    fn end_line(&mut self) {
        if self.is_before_objects {
            self.mode = Mode::Start;
        }
    }

    /// Whether a line that is too long for a record is several objects.
    fn has_objects(&self, next: &[u8]) -> bool {
        let bytes = self.pending.iter().chain(next).take(LINE_BYTES_MAX);
        let (mut counter, mut count) = (DepthCounter::default(), 0);
        for &byte in bytes.skip_while(|byte| byte.is_ascii_whitespace()) {
            if counter.depth == 0 && !counter.in_string {
                match byte {
                    b'{' if count > 0 => return true,
                    b'{' => count += 1,
                    b',' | b' ' | b'\t' if count > 0 => {}
                    _ => return false,
                }
            }
            if counter.step(byte).is_break() {
                return false;
            }
        }
        false
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
            let number = self.number + 1;
            self.number += first.iter().filter(|&&byte| byte == b'\n').count() as u64;
            return take(number, Record::Whole(first.trim_ascii()));
        }
        self.mode = Mode::Values;
        first.iter().for_each(|&byte| self.value_byte(byte, take));
    }

    fn value_byte(&mut self, byte: u8, take: &mut dyn FnMut(u64, Record<'_>)) {
        let between = self.depth == 0 && !self.in_string && self.pending.is_empty();
        if between && (byte.is_ascii_whitespace() || byte == b',' || MARKS.contains(&byte)) {
            if byte == b'\n' && self.is_long_line {
                (self.mode, self.is_long_line) = (Mode::Lines, false);
            }
            return;
        }
        if between && byte == b'[' && (self.is_closed || !self.is_array) {
            (self.is_array, self.is_closed) = (true, false);
            return;
        }
        let is_outside = self.depth == 0 && !self.in_string;
        // Other lines between the objects are records, and so is what is after the array.
        let is_other_line = byte == b'\n' && (!self.is_array || self.is_closed);
        if is_outside && is_other_line {
            return self.emit(take);
        }
        if self.is_array && is_outside && matches!(byte, b',' | b']') {
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
    fn lines_before_the_first_object_are_records() {
        let object = "{\n \"a\": 1\n}";
        for banner in ["Starting ...", "evel\": 30}", "[main] started", "[2026-11-21 12:00] up"] {
            let body = format!("{banner}\n\n{{\"a\":1}}\nTraceback:\n{{\"a\":2}}\n");
            let expected = [(1, banner), (3, "{\"a\":1}"), (4, "Traceback:"), (5, "{\"a\":2}")];
            assert_eq!(in_any_pieces(&body), expected.map(|(line, text)| (line, text.to_owned())));
            assert_eq!(texts(&format!("{banner}\n{object}\n{object}")), [banner, object, object]);
            let array = format!("{banner}\n[\n{object},\n{object}\n]\n");
            assert_eq!(texts(&array), [banner, object, object]);
        }
        assert_eq!(
            texts("{\n\"a\":1\n}\nTraceback\n{\"a\":2}"),
            ["{\n\"a\":1\n}", "Traceback", "{\"a\":2}"]
        );
        assert_eq!(texts("\u{1e}{\n\"a\":1}\n\u{1e}{\"b\":2}\n"), ["{\n\"a\":1}", "{\"b\":2}"]);
    }

    #[test]
    fn several_arrays_are_read() {
        let objects = ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"];
        assert_eq!(texts("[{\"a\":1}]\n[{\"a\":2},{\"a\":3}]"), objects);
        assert_eq!(texts("[{\"a\":1}][{\"a\":2}]\n{\"a\":3}\n"), objects);
        assert_eq!(texts("[{\"a\":1}]\n[{\"a\":2}"), ["{\"a\":1}", "{\"a\":2}", "unclosed"]);
    }

    #[test]
    fn a_long_line_may_have_several_objects() {
        for between in ["", ",", ", "] {
            let objects: Vec<String> = (0..3_000)
                .map(|n| format!("{{\"n\":{n},\"x\":\"{}\"}}", "}{".repeat(300)))
                .collect();
            let body = format!("{}\n{{\"last\":1}}\nx\n", objects.join(between));
            for piece in [1_000, 1 << 20, body.len()] {
                let records = split(Splitter::json(), body.as_bytes(), piece);
                let texts = records.iter().map(|(_, text)| text);
                assert!(texts.clone().take(3_000).eq(&objects), "{between:?} {piece}");
                let rest: Vec<&String> = texts.skip(3_000).collect();
                assert_eq!(rest, ["{\"last\":1}", "x"], "{between:?} {piece}");
            }
        }
        let one = format!("{{\"a\":\"{}\"}}{{}}", "x".repeat(2 * LINE_BYTES_MAX));
        let records = split(Splitter::json(), one.as_bytes(), 1 << 19);
        assert_eq!(records.len(), 1);
        assert!(records[0].1.starts_with("too long"));
    }
}
