//! Files and streams as rows of one line each: JSON from any input format, or plain text.
//!
//! `spec/import.md` defines the result for each type of each format.

mod columnar;
mod csv_rows;
mod detect;
mod feed;
mod geojson;
mod json_document;
mod json_objects;
mod lines;
mod seekable;
mod source;
mod split_texts;
mod unreadable;

pub(crate) use feed::{Chunk, Feed, Pace};
pub(crate) use source::{Source, stem};
pub(crate) use split_texts::Split;

use std::io::{BufRead, Cursor, Read};
use std::path::Path;

use hadal_ingest::{CsvToJson, InputFormat, ReadOptions};

use crate::error::Error;

/// The media type of JSON lines in HTTP.
const JSON_LINES: &str = "application/x-ndjson";
/// The media type of plain lines.
const TEXT_LINES: &str = "text/plain";
/// The number of bytes at the beginning of a file from which the format is detected.
const HEAD_BYTES: u64 = 64 << 10;
/// Advice for a text that is not UTF-8.
pub(crate) const NOT_UTF8_ADVICE: &str =
    "if it is Latin-1, convert it first: iconv -f latin1 -t utf-8";

/// A source of rows, one after the other.
pub(crate) trait Rows: Send {
    /// Appends the next row to `out` as one line with its line feed. Returns false at the end.
    fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Error>;

    /// The media type of the lines.
    fn media_type(&self) -> &'static str {
        JSON_LINES
    }

    /// The unit of row numbers in messages.
    fn unit(&self) -> &'static str {
        "line"
    }

    /// The columns, if the input names them before its first row.
    fn columns(&self) -> Option<Vec<&str>> {
        None
    }

    /// The column whose type makes it the time column.
    fn time_column(&self) -> Option<&str> {
        None
    }

    /// Sets the column from which the rows' times are taken, if it is known.
    fn set_time_column(&mut self, _time_column: Option<&str>) {}

    /// Returns notes on losses and other remarks. The list is complete at the end of the input.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A reader of an input's bytes.
pub(crate) type Reader = Box<dyn BufRead + Send>;

/// Options for reading an input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading<'r> {
    pub(crate) options: ReadOptions,
    pub(crate) splits: &'r [Split],
}

/// Opens an input and returns its rows. `path` is the path from which it was opened.
pub(crate) fn open(
    mut source: Source,
    path: &Path,
    reading: Reading<'_>,
) -> Result<Box<dyn Rows>, Error> {
    let mut head = Vec::new();
    let start = (&mut source.reader).take(HEAD_BYTES).read_to_end(&mut head);
    start.map_err(Error::io("read", &source.place))?;
    let options = &reading.options;
    let member = options.rows.as_deref();
    let has_head = options.header.unwrap_or(true);
    let (format, separator) = match (options.format, member) {
        (Some(format), _) => (format, detect::separator(&head, has_head)),
        (None, Some(_)) => (InputFormat::Json, None),
        (None, None) => detect::detect(&head, path, has_head),
    };
    check(format, &reading, &head, &source.place)?;
    let place = &source.place.clone();
    // The other formats are read from front to back.
    let reader = |source: Source, head| Box::new(Cursor::new(head).chain(source.reader));
    let rows: Box<dyn Rows> = match format {
        InputFormat::JsonLines => Box::new(lines::Lines::json(reader(source, head), place)),
        InputFormat::Json => {
            Box::new(json_objects::JsonObjects::new(reader(source, head), member, place))
        }
        InputFormat::GeoJson | InputFormat::Otlp => {
            Box::new(geojson::Features::new(reader(source, head), place))
        }
        InputFormat::Csv => {
            let reader = reader(source, head);
            let separator = options.separator.or(separator).unwrap_or(b',');
            let csv = CsvToJson::new(separator, options.nulls.clone());
            let csv = if has_head { csv } else { csv.without_head() };
            Box::new(csv_rows::CsvRows::new(reader, csv, place)?)
        }
        InputFormat::Text => Box::new(lines::Lines::text(reader(source, head), place)),
        InputFormat::Parquet => Box::new(columnar::parquet(source.into_seekable(head)?, place)?),
        InputFormat::Arrow if head.starts_with(detect::ARROW_FILE) => {
            Box::new(columnar::arrow_file(&source.into_seekable(head)?, place)?)
        }
        InputFormat::Arrow => Box::new(columnar::arrow_stream(reader(source, head), place)?),
    };
    Ok(match reading.splits {
        [] => rows,
        splits => Box::new(split_texts::SplitRows::new(rows, splits)),
    })
}

/// Refuses an input that cannot be read, and options that do not fit the format.
fn check(
    format: InputFormat,
    reading: &Reading<'_>,
    head: &[u8],
    place: &str,
) -> Result<(), Error> {
    let options = &reading.options;
    let is_told = options.format.is_some();
    // A user who asks for plain text gets every line as it is.
    if !(format.is_columnar() || (is_told && format == InputFormat::Text)) {
        unreadable::refuse(head, place)?;
    }
    if !(format.is_columnar() || is_told) {
        unreadable::refuse_binary(head, place)?;
    }
    if options.rows.is_some() && format != InputFormat::Json {
        return Err(Error::Usage("--rows names an array in JSON, and in nothing else".to_owned()));
    }
    let is_csv = format == InputFormat::Csv;
    let reason = if !options.nulls.is_empty() && !is_csv {
        "--null is for CSV; in other formats no value has a word of its own"
    } else if options.header.is_some() && !is_csv {
        "--no-header is for CSV; in other formats no line has the columns' names"
    } else if !reading.splits.is_empty() && format == InputFormat::Text {
        "plain text has no columns to split"
    } else {
        return Ok(());
    };
    Err(Error::Usage(format!("{place}: {reason}")))
}

/// Returns the rows of a stream that is still being written: JSON lines or plain lines. The first
/// character decides which.
pub(crate) fn live_rows(mut reader: Reader, place: &str) -> Result<Box<dyn Rows>, Error> {
    let start = reader.fill_buf().map_err(Error::io("read", place))?;
    unreadable::refuse(start, place)?;
    Ok(match start.trim_ascii_start().first() {
        Some(b'{') => Box::new(lines::Lines::json(reader, place)),
        Some(b'[') if detect::begins_array(start) => {
            Box::new(json_objects::JsonObjects::new(reader, None, place))
        }
        _ => Box::new(lines::Lines::text(reader, place)),
    })
}

#[cfg(test)]
fn open_bytes(bytes: Vec<u8>, reading: Reading<'_>) -> Result<Box<dyn Rows>, Error> {
    open(Source::new(Cursor::new(bytes), "test", None)?, Path::new("-"), reading)
}

#[cfg(test)]
fn all_lines(rows: &mut dyn Rows) -> Result<Vec<String>, Error> {
    let mut out = Vec::new();
    while rows.next(&mut out)? {}
    let text = String::from_utf8(out).expect("utf-8");
    assert!(text.is_empty() || text.ends_with('\n'));
    Ok(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
fn all_rows(text: &str, format: InputFormat) -> Result<Vec<String>, Error> {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let reading = Reading { options, ..Reading::default() };
    all_lines(&mut *open_bytes(text.as_bytes().to_vec(), reading)?)
}
