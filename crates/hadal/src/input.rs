//! Files and streams as rows of one line each: JSON from any input format, or plain text.
//!
//! `spec/import.md` defines the result for each type of each format.

mod columnar;
mod csv_rows;
mod decompress;
mod detected_rows;
mod download;
mod feed;
mod json_rows;
mod locate;
mod log_rows;
mod seekable;
mod source;
mod split_texts;

pub(crate) use decompress::Remarks;
pub(crate) use feed::{Chunk, Feed, Pace};
pub(crate) use locate::{Input, locate, table_names};
pub(crate) use source::Source;
pub(crate) use split_texts::Split;

use std::io::{BufRead, Cursor, Read};
use std::path::Path;
use std::time::Duration;

use hadal_ingest::{
    CsvToJson, Detection, HEAD_BYTES, InputFormat, JsonRows, LogToJson, ReadOptions, RejectKinds,
    TimeWording, Unreadable, detect, refuse_unreadable,
};
use hadal_types::{Clock, Micros, SystemClock};

use crate::error::Error;

/// The media type of JSON lines in HTTP.
pub(crate) const JSON_LINES: &str = "application/x-ndjson";
/// The first bytes of Arrow files, unlike Arrow streams.
const ARROW_FILE: &[u8] = b"ARROW1";
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

    /// The column whose type or cells make it the time column.
    fn time_column(&self) -> Option<&str> {
        None
    }

    /// How the time column's texts are written, if that is decided before the server sees them.
    fn time_wording(&self) -> Option<TimeWording> {
        None
    }

    /// Whether the lines have times as they are written in the input, and not as ISO 8601 in UTC.
    fn has_raw_times(&self) -> bool {
        true
    }

    /// Sets the column from which the rows' times are taken, if it is known.
    fn set_time_column(&mut self, _time_column: Option<&str>) {}

    /// Returns how the input is read, in a few words; `None` if it is not known.
    fn detected(&self) -> Option<String> {
        None
    }

    /// Returns the facts by which it was decided how the input is read.
    fn evidence(&self) -> &[String] {
        &[]
    }

    /// Returns notes on losses and other remarks. The list is complete at the end of the input.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what was rejected before it was a line. It is complete at the end of the input.
    fn rejects(&self) -> RejectKinds {
        RejectKinds::default()
    }
}

/// A reader of an input's bytes.
pub(crate) type Reader = Box<dyn BufRead + Send>;

/// Options for reading an input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading<'r> {
    pub(crate) options: ReadOptions,
    pub(crate) splits: &'r [Split],
    /// The present, by which a year that is not written is chosen.
    pub(crate) now: Micros,
}

/// Opens an input and returns its rows. `path` is the path from which it was opened.
pub(crate) fn open(
    mut source: Source,
    path: &Path,
    reading: Reading<'_>,
) -> Result<Box<dyn Rows>, Error> {
    let head = source.head(HEAD_BYTES as u64)?;
    let options = &reading.options;
    let place = &source.place.clone();
    let detected = detect(&head, path.to_str(), options);
    let detection = detected.map_err(|unreadable| refused(unreadable, place))?;
    check(&detection, &reading, place)?;
    // The other formats are read from front to back.
    let reader = |source: Source, head| Box::new(Cursor::new(head).chain(source.reader));
    let rows: Box<dyn Rows> = match detection.format {
        format @ (InputFormat::JsonLines
        | InputFormat::Json
        | InputFormat::GeoJson
        | InputFormat::Otlp) => {
            let rows = JsonRows::new(options, &head);
            let unit = if format == InputFormat::JsonLines { "line" } else { "object" };
            Box::new(json_rows::JsonReader::new(reader(source, head), rows, unit, place))
        }
        InputFormat::Csv => {
            let csv = CsvToJson::new(detection.dialect.unwrap_or_default(), options);
            let csv = csv.with_now(reading.now);
            Box::new(csv_rows::CsvRows::new(reader(source, head), csv, place)?)
        }
        InputFormat::Text | InputFormat::Lines => {
            let log = LogToJson::new(options, reading.now);
            Box::new(log_rows::LogRows::new(reader(source, head), log, place))
        }
        InputFormat::Parquet => {
            let rows = columnar::parquet(source.into_seekable(head)?, place)?;
            Box::new(rows.with_times(options, reading.now))
        }
        InputFormat::Arrow if head.starts_with(ARROW_FILE) => {
            let rows = columnar::arrow_file(&source.into_seekable(head)?, place)?;
            Box::new(rows.with_times(options, reading.now))
        }
        InputFormat::Arrow => {
            let rows = columnar::arrow_stream(reader(source, head), place)?;
            Box::new(rows.with_times(options, reading.now))
        }
    };
    let rows = Box::new(detected_rows::DetectedRows::new(rows, detection));
    Ok(match reading.splits {
        [] => rows,
        splits => Box::new(split_texts::SplitRows::new(rows, splits)),
    })
}

/// The error for an input that cannot be read.
fn refused(unreadable: Unreadable, place: &str) -> Error {
    Error::Input { place: place.to_owned(), reason: unreadable.of_file(place) }
}

/// Refuses options that do not fit the format.
fn check(detection: &Detection, reading: &Reading<'_>, place: &str) -> Result<(), Error> {
    let (format, options) = (detection.format, &reading.options);
    if options.rows.is_some() && format != InputFormat::Json {
        return Err(Error::Usage("--rows names an array in JSON, and in nothing else".to_owned()));
    }
    let is_csv = format == InputFormat::Csv;
    let of_csv = [
        ("null", !options.nulls.is_empty()),
        ("header", options.header == Some(true)),
        ("no-header", options.header == Some(false)),
        ("separator", options.separator.is_some() && options.format.is_none()),
        ("quote", options.quote.is_some()),
        ("escape", options.escape.is_some()),
        ("comment", options.comment.is_some()),
        ("decimal", options.decimal.is_some()),
    ];
    if let Some((name, _)) = of_csv.iter().find(|(_, is_stated)| *is_stated && !is_csv) {
        let read = detection.sentence();
        let reason =
            format!("--{name} is for CSV, and this is {read}; --format csv reads it as CSV");
        return Err(Error::Usage(format!("{place}: {reason}")));
    }
    if !reading.splits.is_empty() && format == InputFormat::Lines {
        return Err(Error::Usage(format!("{place}: plain lines have no columns to split")));
    }
    Ok(())
}

/// Returns the rows of a stream that is still being written. The bytes that are there first decide
/// the format; rows do not wait for more, but a row of text waits at most for `delay` for further
/// lines of its event. Without a `delay`, it waits for all of them.
pub(crate) fn live_rows(
    mut reader: Reader,
    place: &str,
    options: &ReadOptions,
    delay: Option<Duration>,
) -> Result<Box<dyn Rows>, Error> {
    let start = reader.fill_buf().map_err(Error::io("read", place))?;
    let start = start.get(..HEAD_BYTES).unwrap_or(start);
    if options.format.is_none() {
        refuse_unreadable(start).map_err(|unreadable| refused(unreadable, place))?;
    }
    let detection = detect(start, None, options).map_err(|reason| refused(reason, place))?;
    let rows: Box<dyn Rows> = match detection.format {
        format if format.is_json() => {
            let rows = JsonRows::new(options, start);
            let unit = if format == InputFormat::JsonLines { "line" } else { "object" };
            Box::new(json_rows::JsonReader::new(reader, rows, unit, place))
        }
        InputFormat::Csv => {
            let csv = CsvToJson::new(detection.dialect.unwrap_or_default(), options);
            Box::new(csv_rows::CsvRows::live(reader, csv, place)?)
        }
        _ => {
            let log = LogToJson::new(options, SystemClock.now());
            match delay {
                None => Box::new(log_rows::LogRows::new(reader, log, place)),
                Some(delay) => Box::new(log_rows::LogRows::live(reader, log, place, delay)?),
            }
        }
    };
    Ok(Box::new(detected_rows::DetectedRows::new(rows, detection)))
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
