//! Files and streams as rows of one line each: JSON, whatever they were written as, or plain text.
//!
//! What becomes of each type of each format is said in `spec/import.md`.

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

pub(crate) use detect::InputFormat;
pub(crate) use feed::{Chunk, Feed, Pace};
pub(crate) use source::{Source, stem};
pub(crate) use split_texts::Split;

use std::io::{BufRead, Cursor, Read};
use std::path::Path;

use hadal_ingest::CsvToJson;

use crate::error::Error;

/// What lines of JSON are called in HTTP.
const JSON_LINES: &str = "application/x-ndjson";
/// What plain lines are called.
const TEXT_LINES: &str = "text/plain";
/// Bytes of a file that tell how it is written.
const HEAD_BYTES: u64 = 64 << 10;
/// The way out where some text was not UTF-8.
pub(crate) const NOT_UTF8_ADVICE: &str =
    "if it is Latin-1, convert it first: iconv -f latin1 -t utf-8";

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

    /// The columns, where the input names them before its first row.
    fn columns(&self) -> Option<Vec<&str>> {
        None
    }

    /// The column that its type makes the one with the rows' times.
    fn time_column(&self) -> Option<&str> {
        None
    }

    /// Tells which column the rows' times are taken from, if that is known.
    fn settle_time(&mut self, _known: Option<&str>) {}

    /// What was lost, and what else is to be said: all of it at the end.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What can be read in a format.
pub(crate) type Reader = Box<dyn BufRead + Send>;

/// How an input is to be read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading<'r> {
    /// How it is written; told by what is in it if not given.
    pub(crate) format: Option<InputFormat>,
    /// The dotted name of the array in a JSON document that holds the rows.
    pub(crate) member: Option<&'r str>,
    pub(crate) splits: &'r [Split],
    /// Words that mean in CSV that there is no value.
    pub(crate) nulls: &'r [String],
    /// The first line of CSV is a row.
    pub(crate) no_head: bool,
}

/// The rows of an input; `path` is where it came from.
pub(crate) fn open(
    mut source: Source,
    path: &Path,
    reading: Reading<'_>,
) -> Result<Box<dyn Rows>, Error> {
    let mut head = Vec::new();
    let start = (&mut source.reader).take(HEAD_BYTES).read_to_end(&mut head);
    start.map_err(Error::io("read", &source.place))?;
    let format = match (reading.format, reading.member) {
        (None, Some(_)) => InputFormat::Json,
        (format, _) => format.unwrap_or_else(|| detect::detect(&head, path, !reading.no_head)),
    };
    check(format, reading, &head, &source.place)?;
    let place = &source.place.clone();
    // Others are read from front to back.
    let reader = |source: Source, head| Box::new(Cursor::new(head).chain(source.reader));
    let rows: Box<dyn Rows> = match format {
        InputFormat::JsonLines => Box::new(lines::Lines::json(reader(source, head), place)),
        InputFormat::Json => {
            Box::new(json_objects::JsonObjects::new(reader(source, head), reading.member, place))
        }
        InputFormat::GeoJson => Box::new(geojson::Features::new(reader(source, head), place)),
        InputFormat::Csv | InputFormat::Tsv | InputFormat::Semicolons => {
            let reader = reader(source, head);
            let csv = CsvToJson::new(format.separator(), reading.nulls.to_vec());
            let csv = if reading.no_head { csv.without_head() } else { csv };
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

/// Refuses what cannot be read, and wishes that do not fit the format.
fn check(format: InputFormat, reading: Reading<'_>, head: &[u8], place: &str) -> Result<(), Error> {
    let is_told = reading.format.is_some();
    // Whoever asks for plain text gets the lines, whatever they are.
    if !(format.is_columnar() || (is_told && format == InputFormat::Text)) {
        unreadable::refuse(head, place)?;
    }
    if !(format.is_columnar() || is_told) {
        unreadable::refuse_binary(head, place)?;
    }
    if reading.member.is_some() && format != InputFormat::Json {
        return Err(Error::Usage("--rows names an array in JSON, and in nothing else".to_owned()));
    }
    let is_csv = format.is_separated();
    let reason = if !reading.nulls.is_empty() && !is_csv {
        "--null is for CSV; in other formats no value has a word of its own"
    } else if reading.no_head && !is_csv {
        "--no-head is for CSV; in other formats no line has the columns' names"
    } else if !reading.splits.is_empty() && format == InputFormat::Text {
        "plain text has no columns to split"
    } else {
        return Ok(());
    };
    Err(Error::Usage(format!("{place}: {reason}")))
}

/// The rows of a stream that is still being written: JSON lines or plain lines, told apart by the
/// first character.
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
    let reading = Reading { format: Some(format), ..Reading::default() };
    all_lines(&mut *open_bytes(text.as_bytes().to_vec(), reading)?)
}
