//! JSON from a reader, by the rules of `hadal-ingest` as in the HTTP API.

use hadal_ingest::{JsonRows, RejectKinds};

use super::{Reader, Rows};
use crate::error::Error;

/// The rows of a JSON text.
pub(super) struct JsonReader {
    reader: Reader,
    place: String,
    rows: JsonRows,
    unit: &'static str,
    is_over: bool,
}

impl JsonReader {
    /// Reads rows. `unit` is what they are numbered by.
    pub(super) fn new(reader: Reader, rows: JsonRows, unit: &'static str, place: &str) -> Self {
        Self { reader, place: place.to_owned(), rows, unit, is_over: false }
    }
}

impl Rows for JsonReader {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error> {
        while !self.rows.next_line(out) {
            if self.is_over {
                return Ok(false);
            }
            let bytes = self.reader.fill_buf().map_err(Error::io("read", &self.place))?;
            if bytes.is_empty() {
                self.is_over = true;
                self.rows.finish();
            } else {
                let taken = self.rows.push(bytes);
                self.reader.consume(taken);
            }
        }
        Ok(true)
    }

    fn unit(&self) -> &'static str {
        self.unit
    }

    fn time_column(&self) -> Option<&str> {
        self.rows.time_column()
    }

    fn notes(&self) -> Vec<String> {
        self.rows.remarks()
    }

    fn rejects(&self) -> RejectKinds {
        self.rows.rejects().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{InputFormat, ReadOptions, Reading, all_lines, all_rows, open_bytes};

    fn rows(text: &str) -> Vec<String> {
        all_rows(text, InputFormat::Json).expect("rows")
    }

    #[test]
    fn arrays_and_sequences_are_split() {
        let expected = [r#"{"a":[1,{"b":"}\"]"}]}"#, r#"{"c": 2}"#];
        assert_eq!(rows("[{\"a\":[1,{\"b\":\"}\\\"]\"}]} ,\n {\"c\": 2}]"), expected);
        assert_eq!(rows("{\"a\":[1,{\"b\":\"}\\\"]\"}]}\n{\"c\": 2}"), expected);
        assert_eq!(rows("{\n\"c\":\r\n2}"), ["{ \"c\":\r 2}"]);
        assert!(rows("[]").is_empty());
        assert!(rows("").is_empty());
    }

    #[test]
    fn what_was_rejected_is_counted() {
        for (text, options) in [
            ("[{\"a\":1},", ReadOptions::default()),
            ("{\"b\":[]}", ReadOptions { rows: Some("a".to_owned()), ..ReadOptions::default() }),
        ] {
            let reading = Reading { options, ..Reading::default() };
            let mut rows = open_bytes(text.as_bytes().to_vec(), reading).expect("rows");
            all_lines(&mut *rows).expect("lines");
            assert_eq!(rows.rejects().into_list().len(), 1, "{text}");
        }
    }
}
