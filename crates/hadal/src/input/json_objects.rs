//! JSON objects in an array, or one after the other over any number of lines. Each becomes a line.
//!
//! The array may also be a member of a larger document. Only strings and brackets are examined; the
//! server decides whether an object is well-formed.

use std::io::BufRead;

use hadal_types::limits::LINE_BYTES_MAX;

use super::json_document::{State, enter, leave, skip};
use super::{Reader, Rows};
use crate::error::Error;

/// The bytes between objects, also of several arrays.
const BETWEEN: &[u8] = b" \t\r\n,[]\xef\xbb\xbf";
/// The bytes between the elements of an array.
const BETWEEN_ELEMENTS: &[u8] = b" \t\r\n,";
/// The bytes between documents.
const BETWEEN_DOCUMENTS: &[u8] = b" \t\r\n\xef\xbb\xbf";

/// The objects of a text.
pub(super) struct JsonObjects {
    reader: Reader,
    place: String,
    /// The member names that lead to the array of objects in each document. If empty, the whole
    /// text consists of objects.
    path: Vec<String>,
    is_within: bool,
    count: u64,
}

impl JsonObjects {
    /// The objects of a text, or those in the array that a dotted name denotes.
    pub(super) fn new(reader: Reader, member: Option<&str>, place: &str) -> Self {
        let path = member.into_iter().flat_map(|name| name.split('.')).map(str::to_owned).collect();
        Self { reader, place: place.to_owned(), path, is_within: false, count: 0 }
    }

    /// Moves to the first byte of the next object. Returns false if there is none.
    fn find(&mut self) -> Result<bool, Error> {
        let place = self.place.as_str();
        let failed = |error| Error::io("read", place)(error);
        let reader: &mut dyn BufRead = &mut self.reader;
        if self.path.is_empty() {
            return Ok(skip(reader, BETWEEN).map_err(failed)?.is_some());
        }
        loop {
            if self.is_within {
                match skip(reader, BETWEEN_ELEMENTS).map_err(failed)? {
                    Some(b']') => leave(reader, self.path.len() + 1).map_err(failed)?,
                    Some(_) => return Ok(true),
                    None => return Err(self.error("is the last; its array does not end")),
                }
                self.is_within = false;
            }
            if skip(reader, BETWEEN_DOCUMENTS).map_err(failed)?.is_none() {
                return Ok(false);
            }
            let entered = enter(reader, &self.path).map_err(failed)?;
            entered.map_err(|reason| Error::Input { place: place.to_owned(), reason })?;
            self.is_within = true;
        }
    }

    fn error(&self, reason: &str) -> Error {
        let place = format!("{}: object {}", self.place, self.count);
        Error::Input { place, reason: reason.to_owned() }
    }
}

impl Rows for JsonObjects {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        if !self.find()? {
            return Ok(false);
        }
        self.count += 1;
        let (start, mut state) = (out.len(), State::default());
        while let Some(&byte) =
            self.reader.fill_buf().map_err(Error::io("read", &self.place))?.first()
        {
            let outside = state.depth == 0 && !state.in_string;
            // Anything but an object ends at the next separator of its array.
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
                return Err(self.error(
                    "is longer than 1 MiB; if the rows are in an array in it, name that: --rows NAME",
                ));
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
    use super::super::{InputFormat, ReadOptions, Reading, all_lines, all_rows, open_bytes};
    use super::*;

    fn rows(text: &str) -> Vec<String> {
        all_rows(text, InputFormat::Json).expect("rows")
    }

    fn rows_of(text: &str, member: &str) -> Result<Vec<String>, Error> {
        let rows = Some(member.to_owned());
        let options = ReadOptions { rows, ..ReadOptions::default() };
        let reading = Reading { options, ..Reading::default() };
        all_lines(&mut *open_bytes(text.as_bytes().to_vec(), reading)?)
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

    #[test]
    fn a_member_of_each_document_has_the_rows() {
        let text = "{\"n\": 2, \"hits\": {\"all\": [{\"a\":1},\n {\"a\":2}], \"x\": [{}]}}\n\
                    {\"hits\": {\"all\": []}}\n{\"hits\":{\"all\":[{\"a\":3}]}}\n";
        let objects = rows_of(text, "hits.all").expect("rows");
        assert_eq!(objects, [r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":3}"#]);
        for (bad, reason) in [
            ("{\"hits\": {}}", "no member \"all\""),
            ("{\"hits\": {\"all\": [{\"a\":1}", "does not end"),
            ("{\"hits\": {\"all\": [{\"a\":1}]", "does not end"),
        ] {
            let error = rows_of(bad, "hits.all").expect_err(bad).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
