//! Rows in arrays of JSON documents, read in pieces of any size without holding a document.
//!
//! A path of names leads to the array, through objects and through arrays of objects. Each element
//! is a row. The members of the objects around it are repeated in it, under their dotted names.
//! Rows are held until the document ends, because such a member may come after the array; but not
//! more than [`HELD_BYTES_MAX`] of them.

mod convert;
mod geojson;
mod held_rows;
mod otlp;
mod recognize;
mod shape;

use hadal_types::limits::LINE_BYTES_MAX;

pub(crate) use self::recognize::{Recognized, recognize};
pub(crate) use self::shape::{Shape, by_option};

use self::held_rows::{HeldRows, Member};
use self::recognize::DocumentKind;
use crate::depth::DepthCounter;
use crate::input_format::InputFormat;

/// Bytes of rows that wait for the end of their document.
const HELD_BYTES_MAX: usize = 16 << 20;
/// Bytes of the members of one object that are repeated in its rows.
const MEMBER_BYTES_MAX: usize = 16 << 10;
/// The greatest number of names of members that are left out.
const LEFT_OUT_MAX: usize = 8;
/// Bytes that may stand between documents.
const BETWEEN: &[u8] = b" \t\r\n,\x1e\xef\xbb\xbf";

/// The rows of documents.
#[derive(Debug)]
pub(crate) struct Documents {
    shape: Shape,
    /// What they were recognized as.
    kind: Option<DocumentKind>,
    /// Which path of the shape this document has.
    path: usize,
    /// The objects and arrays around the next byte, the outermost first.
    frames: Vec<Frame>,
    expected: Expected,
    token: Token,
    /// The name of the current member, as it is written.
    name: String,
    rows: HeldRows,
    /// The number of documents that have begun.
    count: u64,
    /// Whether the current document has the array.
    is_found: bool,
    /// Names of members that are not repeated in the rows.
    left_out: Vec<String>,
}

/// An object or an array on the path.
#[derive(Debug)]
struct Frame {
    is_array: bool,
    /// The number of names of the path that lead here.
    names: usize,
    /// The members to repeat.
    members: Vec<Member>,
    /// The members that came after the first row.
    late: Vec<Member>,
    /// The bytes of both.
    member_bytes: usize,
    /// The number of rows before the frame.
    rows_before: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// A document, an element, or the value of a member.
    Value,
    /// A member's name, or the end of the object.
    Name,
    Colon,
    /// The rest of a token.
    Token(Purpose),
    /// The end of a line, after an error.
    NextLine,
}

/// What becomes of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Name,
    Member,
    Row,
    Nothing,
}

/// A value or a name that is being read.
#[derive(Debug, Default)]
struct Token {
    bytes: Vec<u8>,
    first: u8,
    /// Its length, with the bytes that were not kept.
    length: usize,
    bytes_max: usize,
    counter: DepthCounter,
}

impl Documents {
    /// Documents of a shape.
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            shape,
            kind: None,
            path: 0,
            frames: Vec::new(),
            expected: Expected::Value,
            token: Token::default(),
            name: String::new(),
            rows: HeldRows::default(),
            count: 0,
            is_found: false,
            left_out: Vec::new(),
        }
    }

    /// Documents that were recognized by their first bytes.
    pub(crate) fn of_kind(kind: DocumentKind) -> Self {
        Self { kind: Some(kind.clone()), ..Self::new(kind.shape) }
    }

    /// The format of documents that were recognized.
    pub(crate) fn format(&self) -> Option<InputFormat> {
        self.kind.as_ref().map(|kind| kind.format)
    }

    /// The column of the rows' times, if the documents have one.
    pub(crate) fn time_column(&self) -> Option<&'static str> {
        match &self.kind {
            Some(kind) => kind.time_column,
            None => self.shape.time_column(self.path),
        }
    }

    /// Takes the next bytes, and returns how many it took. The rows that are complete should be
    /// taken before the rest.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += usize::from(self.byte(byte));
            if self.rows.bytes() > HELD_BYTES_MAX {
                self.rows.release();
            }
            if self.rows.is_released() {
                break;
            }
        }
        at
    }

    /// Ends the input.
    pub(crate) fn finish(&mut self) {
        if let Expected::Token(purpose) = self.expected
            && self.frames.is_empty()
        {
            self.end_token(purpose);
        }
        if !self.frames.is_empty() {
            self.rows.reject("the document does not end: rows may be missing".to_owned());
        }
        self.rows.release();
    }

    /// The next complete row with its number, or a reason why there is none.
    pub(crate) fn next_row(&mut self) -> Option<(u64, Result<String, String>)> {
        self.rows.next()
    }

    /// What the documents were taken for, and which members are not in the rows.
    pub(crate) fn remark(&self) -> Option<String> {
        let guess = self.kind.as_ref().and_then(|kind| kind.remark);
        let mut remarks: Vec<String> = guess.map(str::to_owned).into_iter().collect();
        if !self.left_out.is_empty() {
            let names = self.left_out.join(", ");
            remarks.push(format!("beside the rows, these members are no columns: {names}"));
        }
        if self.rows.incomplete > 0 {
            remarks.push(format!(
                "{} rows of a long document have no members from behind their array",
                self.rows.incomplete
            ));
        }
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }

    /// Takes a byte. Returns false if the byte belongs to what comes next.
    fn byte(&mut self, byte: u8) -> bool {
        match self.expected {
            Expected::Token(purpose) => {
                let is_taken = self.token.take(byte);
                if !is_taken || self.token.is_closed() {
                    self.end_token(purpose);
                }
                return is_taken;
            }
            Expected::NextLine if byte == b'\n' => self.expected = Expected::Value,
            Expected::NextLine => {}
            Expected::Value => self.value(byte),
            _ if byte.is_ascii_whitespace() => {}
            Expected::Name => match byte {
                b',' => {}
                b'"' => self.begin(Purpose::Name, byte),
                b'}' => self.close(),
                _ => self.fail("expected a name"),
            },
            Expected::Colon if byte == b':' => self.expected = Expected::Value,
            Expected::Colon => self.fail("expected `:`"),
        }
        true
    }

    /// Begins a value.
    fn value(&mut self, byte: u8) {
        let Some(frame) = self.frames.last() else {
            return match byte {
                b'{' | b'[' => {
                    self.count += u64::from(byte == b'{');
                    self.is_found = false;
                    self.open(byte == b'[', 0);
                }
                _ if BETWEEN.contains(&byte) => {}
                _ => self.fail("expected an object"),
            };
        };
        if byte.is_ascii_whitespace() || (frame.is_array && byte == b',') {
            return;
        }
        let (is_array, names) = (frame.is_array, frame.names);
        if is_array && byte == b']' {
            return self.close();
        }
        let is_step = !is_array && self.is_step(names);
        if !is_array && !is_step {
            return self.begin(Purpose::Member, byte);
        }
        let names = names + usize::from(is_step);
        let is_last = names > 0 && names == self.shape.path(self.path).len();
        match byte {
            b'[' if is_step => {
                self.is_found = true;
                self.open(true, names);
            }
            // An object in the place of the array is its only element.
            b'{' if is_last => {
                self.is_found = true;
                self.begin(Purpose::Row, byte);
            }
            _ if is_last && is_array => self.begin(Purpose::Row, byte),
            b'{' | b'[' => {
                self.count += u64::from(names == 0 && byte == b'{');
                self.open(byte == b'[', names);
            }
            _ => self.begin(Purpose::Nothing, byte),
        }
    }

    /// Whether the current member is the next one of the path.
    fn is_step(&mut self, names: usize) -> bool {
        let Ok(name) = serde_json::from_str::<String>(&self.name) else { return false };
        match self.shape.step(&name, names, self.path) {
            Some(path) => {
                self.path = path;
                true
            }
            None => false,
        }
    }

    fn open(&mut self, is_array: bool, names: usize) {
        let rows_before = self.rows.count();
        let (members, late) = (Vec::new(), Vec::new());
        self.frames.push(Frame { is_array, names, members, late, member_bytes: 0, rows_before });
        self.expected = if is_array { Expected::Value } else { Expected::Name };
    }

    /// Closes the innermost object or array.
    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        if !frame.late.is_empty() {
            self.rows.append(frame.rows_before, &frame.late);
        }
        self.go_on();
        let is_document = !frame.is_array && frame.names == 0;
        if is_document && !self.is_found {
            self.rows.reject(format!("document {} has no {}", self.count, self.shape.name()));
        }
        if is_document {
            self.is_found = false;
            self.rows.release();
        }
    }

    fn go_on(&mut self) {
        let is_object = self.frames.last().is_some_and(|frame| !frame.is_array);
        self.expected = if is_object { Expected::Name } else { Expected::Value };
    }

    fn begin(&mut self, purpose: Purpose, byte: u8) {
        let bytes_max = match purpose {
            Purpose::Row => self.shape.row_bytes_max(),
            Purpose::Name | Purpose::Member => MEMBER_BYTES_MAX,
            Purpose::Nothing => 0,
        };
        self.token.begin(bytes_max);
        self.token.first = byte;
        self.token.take(byte);
        self.expected = Expected::Token(purpose);
    }

    fn end_token(&mut self, purpose: Purpose) {
        let text = self.token.text();
        if purpose == Purpose::Name {
            self.name = text.unwrap_or_default();
            self.expected = Expected::Colon;
            return;
        }
        self.go_on();
        match (purpose, text) {
            (Purpose::Row, Some(text)) => self.row(&text),
            (Purpose::Row, None) => self.rows.reject(format!("longer than {LINE_BYTES_MAX} bytes")),
            (Purpose::Member, text) => self.member(text.as_deref()),
            (Purpose::Name | Purpose::Nothing, _) => {}
        }
    }

    /// Adds the rows of an element.
    fn row(&mut self, text: &str) {
        let outer = self.frames.iter().rev().map(|frame| frame.members.as_slice());
        let outer: Vec<&[Member]> = outer.collect();
        for row in self.shape.rows(text, self.path) {
            self.rows.push(row, &outer);
        }
    }

    /// Repeats a member in the rows of its object.
    fn member(&mut self, value: Option<&str>) {
        let Some(frame) = self.frames.last_mut() else { return };
        let name = serde_json::from_str::<String>(&self.name).unwrap_or_default();
        let members = self.shape.members(&name, value, self.path, frame.names);
        let is_late = self.rows.count() > frame.rows_before;
        let bytes = members.iter().flatten().map(|member| member.text.len()).sum::<usize>();
        match members {
            Some(members) if frame.member_bytes + bytes <= MEMBER_BYTES_MAX => {
                frame.member_bytes += bytes;
                let list = if is_late { &mut frame.late } else { &mut frame.members };
                list.extend(members);
            }
            _ if self.left_out.len() < LEFT_OUT_MAX && !self.left_out.contains(&name) => {
                self.left_out.push(name);
            }
            _ => {}
        }
    }

    /// Gives up the current document.
    fn fail(&mut self, reason: &str) {
        let document = self.count.max(1);
        self.rows.reject(format!("document {document} is not JSON: {reason}"));
        self.frames.clear();
        self.rows.release();
        self.expected = Expected::NextLine;
    }
}

impl Token {
    fn begin(&mut self, bytes_max: usize) {
        self.bytes.clear();
        (self.length, self.bytes_max, self.counter) = (0, bytes_max, DepthCounter::default());
    }

    /// Takes a byte; returns false if the token ended before it.
    fn take(&mut self, byte: u8) -> bool {
        let is_outside = self.counter.depth == 0 && !self.counter.in_string;
        let ends = matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
        if is_outside && ends && self.length > 0 {
            return false;
        }
        self.length += 1;
        if self.bytes.len() < self.bytes_max {
            self.bytes.push(byte);
        }
        // Brackets that do not match are left to the reader of the value.
        let _ = self.counter.step(byte);
        true
    }

    /// Whether it is a string, an object or an array that has ended.
    fn is_closed(&self) -> bool {
        let is_open = self.counter.depth > 0 || self.counter.in_string;
        self.length > 1 && !is_open && matches!(self.first, b'"' | b'{' | b'[')
    }

    /// Its text; `None` if it is longer than was kept.
    fn text(&self) -> Option<String> {
        let is_whole = self.length <= self.bytes_max;
        is_whole.then(|| String::from_utf8_lossy(&self.bytes).into_owned())
    }
}

#[cfg(test)]
mod tests;
