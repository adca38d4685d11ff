//! The headers of an ingest request: how its body is read.

use std::collections::HashSet;

use axum::http::{HeaderMap, HeaderValue, header};
use hadal_frontend::{Decompressor, ErrorKind, FrontendError, IngestOptions};
use hadal_ingest::{Format, ReadOptions};
use hadal_types::{BatchId, ColumnName};

/// The door's name in `_rejects`.
const SOURCE: &str = "http";

/// The prefix of the names of our headers.
const PREFIX: &str = "hadal-";

/// Reads the headers. An unknown `Hadal-` header is an error, so that clients notice a misspelled
/// one; so is a repeated one, since only one value could count.
pub(crate) fn read(headers: &HeaderMap) -> Result<IngestOptions, FrontendError> {
    let mut options = IngestOptions {
        source: SOURCE,
        format: format(headers)?,
        decompressor: decompressor(headers)?,
        batch: None,
        time: None,
        sets: HashSet::new(),
        strict: false,
        any_age: false,
        explain: false,
        read: ReadOptions::default(),
    };
    let mut chunk = None;
    for (name, value) in headers {
        let Some(option) = name.as_str().strip_prefix(PREFIX) else { continue };
        let text = text(name.as_str(), value)?;
        let is_list = matches!(option, "sets" | "null");
        if !is_list && headers.get_all(name).iter().nth(1).is_some() {
            return Err(bad(format!("header {name} is there more than once")));
        }
        match option {
            "batch" => options.batch = Some(batch(text)?),
            "chunk" => chunk = Some(number(name.as_str(), text)?),
            "time" => options.time = Some(column(name.as_str(), text)?),
            "sets" => {
                for set in text.split(',') {
                    let column = column(name.as_str(), set.trim())?;
                    options.sets.insert(column.to_string());
                }
            }
            "strict" => options.strict = truth(name.as_str(), text)?,
            "any-age" => options.any_age = truth(name.as_str(), text)?,
            "explain" => options.explain = truth(name.as_str(), text)?,
            read if ReadOptions::NAMES.contains(&read) => {
                let set = options.read.set(read, text);
                set.map_err(|error| bad(format!("header {name} is {error}")))?;
            }
            _ => return Err(bad(format!("there is no header {name}; there are {}", names()))),
        }
    }
    if let Some(chunk) = chunk {
        let batch = options.batch.as_ref();
        let batch = batch.ok_or_else(|| bad("Hadal-Chunk without Hadal-Batch".to_owned()))?;
        options.batch = Some(batch.chunk(chunk));
    }
    Ok(options)
}

/// A name with a capital after each dash, as headers are written: `Time-Format`.
fn in_title_case(name: &str) -> String {
    let part = |part: &str| {
        let (first, rest) = part.split_at(part.len().min(1));
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    name.split('-').map(part).collect::<Vec<_>>().join("-")
}

/// The names of the headers, for messages.
pub(super) fn names() -> String {
    let read = ReadOptions::NAMES.map(|name| format!(", -{}", in_title_case(name))).concat();
    format!("Hadal-Batch, -Chunk, -Time, -Sets, -Strict, -Any-Age, -Explain{read}")
}

/// The format that the content type states. Nothing is stated without one, and by those that curl
/// sends by default.
fn format(headers: &HeaderMap) -> Result<Format, FrontendError> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(Format::Detect) };
    let kind = value.to_str().unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/plain" => Ok(Format::Lines),
        "text/csv" | "text/tab-separated-values" => Ok(Format::Csv),
        "" | "application/octet-stream" | "application/x-www-form-urlencoded" => Ok(Format::Detect),
        json if json.contains("json") => Ok(Format::Json),
        _ => {
            let detail = format!("rows of type {kind} cannot be logged");
            let problem = FrontendError::new(ErrorKind::Encoding, detail);
            Err(problem
                .hint("send JSON, text/csv, or lines of text as text/plain; or use hadal import"))
        }
    }
}

fn decompressor(headers: &HeaderMap) -> Result<Decompressor, FrontendError> {
    let encoding = headers.get(header::CONTENT_ENCODING);
    let encoding = encoding.map_or("", |value| value.to_str().unwrap_or("?"));
    Decompressor::new(encoding).ok_or_else(|| {
        let detail = format!("content-encoding {encoding:?} is not known");
        FrontendError::new(ErrorKind::Encoding, detail).hint("use gzip, zstd or none")
    })
}

fn batch(text: &str) -> Result<BatchId, FrontendError> {
    BatchId::of_client(text).map_err(|error| bad(format!("header hadal-batch: {error}")))
}

fn number(header: &str, text: &str) -> Result<u32, FrontendError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| {
        bad(format!("header {header} is {text:?}; it may be a number from 0 to {}", u32::MAX))
    })
}

fn column(header: &str, text: &str) -> Result<ColumnName, FrontendError> {
    ColumnName::new(text).map_err(|error| bad(format!("header {header}: {error}")))
}

fn truth(header: &str, text: &str) -> Result<bool, FrontendError> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(bad(format!("header {header} is {text:?}; it may be true or false"))),
    }
}

fn text<'v>(header: &str, value: &'v HeaderValue) -> Result<&'v str, FrontendError> {
    std::str::from_utf8(value.as_bytes()).map_err(|_| bad(format!("header {header} is not UTF-8")))
}

fn bad(detail: String) -> FrontendError {
    FrontendError::new(ErrorKind::BadRequest, detail)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn read_pairs(headers: &[(&str, &str)]) -> Result<IngestOptions, FrontendError> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: HeaderName = name.parse().expect("a header");
            map.append(name, HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
        }
        read(&map)
    }

    #[test]
    fn a_head_without_options_has_defaults() {
        let options = read_pairs(&[]).expect("options");
        assert_eq!(options.format, Format::Detect);
        assert!(options.batch.is_none() && options.time.is_none() && options.sets.is_empty());
        assert!(!options.strict && !options.any_age);
    }

    #[test]
    fn options_are_read() {
        let options = read_pairs(&[
            ("content-type", "text/plain; charset=utf-8"),
            ("hadal-batch", "b-1"),
            ("hadal-chunk", "0"),
            ("hadal-time", "größe"),
            ("hadal-sets", "tags, roles"),
            ("hadal-strict", "True"),
            ("hadal-any-age", "true"),
        ])
        .expect("options");
        assert_eq!(options.format, Format::Lines);
        assert_eq!(options.batch, BatchId::new("b-1"));
        assert_eq!(options.time, ColumnName::new("größe").ok());
        assert_eq!(options.sets, HashSet::from(["tags".to_owned(), "roles".to_owned()]));
        assert!(options.strict && options.any_age);
    }

    #[test]
    fn wrong_options_are_refused() {
        let csv = read_pairs(&[("content-type", "text/csv; charset=utf-8")])
            .map(|options| options.format);
        assert_eq!(csv.ok(), Some(Format::Csv));
        for (name, value) in [
            ("hadal-batch", "x".repeat(113).as_str()),
            ("hadal-batch", "two words"),
            ("hadal-batch", "x#1"),
            ("hadal-batch", ""),
            ("hadal-chunk", "1"),
            ("hadal-time", ""),
            ("hadal-sets", "a,,b"),
            ("hadal-strict", "yes"),
            ("hadal-zone", "IST"),
            ("hadal-time-format", "%H:%M"),
            ("hadal-untimed", "now"),
            ("hadal-bach", "x"),
            ("content-type", "application/x-parquet"),
            ("content-encoding", "br"),
        ] {
            assert!(read_pairs(&[(name, value)]).is_err(), "{name}: {value}");
        }
    }

    #[test]
    fn an_option_is_given_once() {
        let problem =
            read_pairs(&[("hadal-batch", "a"), ("hadal-batch", "b")]).err().expect("refused");
        assert_eq!(problem.detail, "header hadal-batch is there more than once");
        assert!(names().contains(", -Time-Format, -Zone, "), "{}", names());
        let sets = read_pairs(&[("hadal-sets", "a"), ("hadal-sets", "b")]).expect("options").sets;
        assert_eq!(sets.len(), 2);
    }

    #[test]
    fn a_chunk_is_a_batch_of_its_own() {
        let id = |chunk| read_pairs(&[("hadal-chunk", chunk), ("hadal-batch", "b")]).ok()?.batch;
        let batch = BatchId::new("b").expect("an id");
        assert_eq!(id("0"), Some(batch.clone()));
        assert_eq!(id("7"), Some(batch.chunk(7)));
        assert_eq!(id("4294967295"), Some(batch.chunk(u32::MAX)));
        for bad in ["", "+7", "-1", "4294967296", "7#1"] {
            assert_eq!(id(bad), None, "{bad}");
        }
    }

    #[test]
    fn content_types_state_formats() {
        for (kind, format) in [
            ("application/json", Format::Json),
            ("application/x-ndjson", Format::Json),
            ("text/csv; charset=utf-8", Format::Csv),
            ("text/plain", Format::Lines),
            ("application/x-www-form-urlencoded", Format::Detect),
            ("application/octet-stream", Format::Detect),
        ] {
            let options = read_pairs(&[("content-type", kind)]);
            assert_eq!(options.map(|options| options.format).ok(), Some(format), "{kind}");
        }
    }
}
