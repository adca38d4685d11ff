//! Files and streams as rows of one line each: JSON, whatever they were written as, or plain text.

mod csv_rows;
mod detect;
mod feed;
mod json_objects;
mod lines;
mod source;

pub(crate) use detect::{InputFormat, detect};
pub(crate) use feed::{Feed, Pace};
pub(crate) use source::{Source, stem};

use std::io::BufRead;

use crate::error::Error;

/// What lines of JSON are called in HTTP.
const JSON_LINES: &str = "application/x-ndjson";
/// What plain lines are called.
const TEXT_LINES: &str = "text/plain";

/// Something that gives rows, one after the other.
pub(crate) trait Rows: Send {
    /// Appends the next row to `out`, in one line with its line feed; false at the end.
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error>;

    /// What the lines are.
    fn media_type(&self) -> &'static str {
        JSON_LINES
    }

    /// What a row's number counts, for messages.
    fn unit(&self) -> &'static str {
        "line"
    }
}

/// What can be read in a format.
pub(crate) type Reader = Box<dyn BufRead + Send>;

/// The rows of a reader. `place` names it in messages.
pub(crate) fn rows(
    reader: Reader,
    format: InputFormat,
    place: &str,
) -> Result<Box<dyn Rows>, Error> {
    Ok(match format {
        InputFormat::JsonLines => Box::new(lines::Lines::json(reader, place)),
        InputFormat::Json => Box::new(json_objects::JsonObjects::new(reader, place)),
        InputFormat::Csv => Box::new(csv_rows::CsvRows::new(reader, b',', place)?),
        InputFormat::Tsv => Box::new(csv_rows::CsvRows::new(reader, b'\t', place)?),
        InputFormat::Semicolons => Box::new(csv_rows::CsvRows::new(reader, b';', place)?),
        InputFormat::Text => Box::new(lines::Lines::text(reader, place)),
    })
}

/// The rows of a stream that is still being written: JSON lines or plain lines, told apart by the
/// first character.
pub(crate) fn live_rows(mut reader: Reader, place: &str) -> Result<Box<dyn Rows>, Error> {
    let start = reader.fill_buf().map_err(Error::io("read", place))?;
    Ok(match start.trim_ascii_start().first() {
        Some(b'{') => Box::new(lines::Lines::json(reader, place)),
        Some(b'[') if detect::begins_array(start) => {
            Box::new(json_objects::JsonObjects::new(reader, place))
        }
        _ => Box::new(lines::Lines::text(reader, place)),
    })
}

#[cfg(test)]
pub(crate) fn all_rows(text: &str, format: InputFormat) -> Result<Vec<String>, Error> {
    let reader = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
    let mut rows = rows(reader, format, "test")?;
    let mut out = Vec::new();
    while rows.next(&mut out)? {}
    let text = String::from_utf8(out).expect("utf-8");
    assert!(text.is_empty() || text.ends_with('\n'));
    Ok(text.lines().map(str::to_owned).collect())
}
