//! JSON objects in an array, or one after the other over any number of lines: each becomes a line.
//!
//! Only strings and braces are looked at; whether an object is well-formed is the server's to say.

use hadal_types::limits::LINE_BYTES_MAX;

use super::{Reader, Rows};
use crate::error::Error;

/// The objects of a text.
pub(super) struct JsonObjects {
    reader: Reader,
    place: String,
    count: u64,
}

/// Where in an element the splitter is.
#[derive(Clone, Copy, Default)]
struct State {
    depth: u32,
    in_string: bool,
    after_backslash: bool,
}

impl State {
    /// Moves over a byte.
    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.in_string = self.after_backslash || byte != b'"';
            self.after_backslash = !self.after_backslash && byte == b'\\';
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => (),
        }
    }
}

impl JsonObjects {
    pub(super) fn new(reader: Reader, place: &str) -> Self {
        Self { reader, place: place.to_owned(), count: 0 }
    }

    fn peek(&mut self) -> Result<Option<u8>, Error> {
        let buffer = self.reader.fill_buf().map_err(Error::io("read", &self.place))?;
        Ok(buffer.first().copied())
    }

    /// Skips what stands between elements; returns the first byte of the next one.
    fn skip_between(&mut self) -> Result<Option<u8>, Error> {
        const BETWEEN: &[u8] = b" \t\r\n,[]\xef\xbb\xbf";
        while let Some(byte) = self.peek()? {
            if !BETWEEN.contains(&byte) {
                return Ok(Some(byte));
            }
            self.reader.consume(1);
        }
        Ok(None)
    }

    fn error(&self, reason: &str) -> Error {
        let place = format!("{}: object {}", self.place, self.count);
        Error::Input { place, reason: reason.to_owned() }
    }
}

impl Rows for JsonObjects {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        if self.skip_between()?.is_none() {
            return Ok(false);
        }
        self.count += 1;
        let (start, mut state) = (out.len(), State::default());
        while let Some(byte) = self.peek()? {
            let outside = state.depth == 0 && !state.in_string;
            // Something that is no object ends where its array goes on.
            if outside && out.len() > start && matches!(byte, b',' | b']' | b'\n') {
                break;
            }
            self.reader.consume(1);
            state.step(byte);
            // A line feed within a string would be an error anyway.
            out.push(if matches!(byte, b'\n' | b'\r') { b' ' } else { byte });
            if state.depth == 0 && byte == b'}' {
                break;
            }
            if out.len() - start > LINE_BYTES_MAX {
                return Err(self.error("is longer than 1 MiB"));
            }
        }
        if state.depth > 0 || state.in_string {
            return Err(self.error("does not end"));
        }
        out.push(b'\n');
        Ok(true)
    }

    fn unit(&self) -> &'static str {
        "object"
    }
}

#[cfg(test)]
mod tests {
    use super::super::{InputFormat, all_rows};

    fn rows(text: &str) -> Vec<String> {
        all_rows(text, InputFormat::Json).expect("rows")
    }

    #[test]
    fn arrays_and_sequences_are_split() {
        let expected = [r#"{"a":[1,{"b":"}\"]"}]}"#, r#"{"c": 2}"#];
        assert_eq!(rows("[{\"a\":[1,{\"b\":\"}\\\"]\"}]} ,\n {\"c\": 2}]"), expected);
        assert_eq!(rows("{\"a\":[1,{\"b\":\"}\\\"]\"}]}\n{\"c\": 2}"), expected);
        assert_eq!(rows("{\n\"c\":\r\n2}"), [r#"{ "c":  2}"#]);
        assert!(rows("[]").is_empty());
        assert!(rows("").is_empty());
    }

    #[test]
    fn what_is_no_object_is_left_to_the_server() {
        assert_eq!(rows("[1, {\"a\":1}, \"x,y\"]"), ["1", "{\"a\":1}", "\"x,y\""]);
    }

    #[test]
    fn an_object_without_an_end_is_an_error() {
        let error = all_rows("[{\"a\":1}, {\"b\": ", InputFormat::Json).expect_err("no end");
        assert_eq!(error.to_string(), "test: object 2: does not end");
    }

    #[test]
    fn an_endless_object_is_an_error() {
        let text = format!("[{{\"a\": \"{}\"}}]", "x".repeat(2 << 20));
        assert!(all_rows(&text, InputFormat::Json).is_err());
    }
}
