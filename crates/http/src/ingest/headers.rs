//! What the head of a log request says of its body.

use std::collections::HashSet;

use axum::http::{HeaderMap, HeaderValue, header};
use hadal_ingest::Format;
use hadal_types::{BatchId, ColumnName};

use crate::ingest::decompress::Decompressor;
use crate::problem::{Problem, ProblemKind};

/// What the head says, with defaults for what it does not say.
pub(crate) struct IngestOptions {
    pub(crate) format: Format,
    pub(crate) inflater: Decompressor,
    /// The id of the body.
    pub(crate) batch: Option<BatchId>,
    pub(crate) time: Option<ColumnName>,
    pub(crate) sets: HashSet<String>,
    pub(crate) strict: bool,
    pub(crate) any_age: bool,
}

/// Headers of ours begin so.
const OWN: &str = "hadal-";

impl IngestOptions {
    /// Reads the head; a `Hadal-` header that is not known is an error, or a slip of the finger
    /// would go unnoticed; so is one that is there twice, as only one could count.
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut wish = Self {
            format: format(headers)?,
            inflater: inflater(headers)?,
            batch: None,
            time: None,
            sets: HashSet::new(),
            strict: false,
            any_age: false,
        };
        let mut chunk = None;
        for (name, value) in headers {
            let Some(own) = name.as_str().strip_prefix(OWN) else { continue };
            let text = text(name.as_str(), value)?;
            if own != "sets" && headers.get_all(name).iter().nth(1).is_some() {
                return Err(bad(format!("header {name} is there more than once")));
            }
            match own {
                "batch" => wish.batch = Some(batch(text)?),
                "chunk" => chunk = Some(number(name.as_str(), text)?),
                "time" => wish.time = Some(column(name.as_str(), text)?),
                "sets" => {
                    for set in text.split(',') {
                        let column = column(name.as_str(), set.trim())?;
                        wish.sets.insert(column.to_string());
                    }
                }
                "strict" => wish.strict = truth(name.as_str(), text)?,
                "any-age" => wish.any_age = truth(name.as_str(), text)?,
                _ => {
                    let known = "Hadal-Batch, -Chunk, -Time, -Sets, -Strict and -Any-Age";
                    return Err(bad(format!("there is no header {name}; there are {known}")));
                }
            }
        }
        if let Some(chunk) = chunk {
            let whole = wish.batch.as_ref();
            let whole = whole.ok_or_else(|| bad("Hadal-Chunk without Hadal-Batch".to_owned()))?;
            wish.batch = Some(whole.chunk(chunk));
        }
        Ok(wish)
    }
}

/// JSON unless it says that it is something else: what `curl -d` says is not to be believed.
fn format(headers: &HeaderMap) -> Result<Format, Problem> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(Format::Json) };
    let kind = value.to_str().unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/plain" => Ok(Format::Lines),
        "text/csv" => Ok(Format::Csv),
        "" | "application/octet-stream" | "application/x-www-form-urlencoded" => Ok(Format::Json),
        json if json.contains("json") => Ok(Format::Json),
        _ => {
            let detail = format!("rows of type {kind} cannot be logged");
            let problem = Problem::new(ProblemKind::Encoding, detail);
            Err(problem
                .hint("send JSON, text/csv, or lines of text as text/plain; or use hadal import"))
        }
    }
}

fn inflater(headers: &HeaderMap) -> Result<Decompressor, Problem> {
    let encoding = headers.get(header::CONTENT_ENCODING);
    let encoding = encoding.map_or("", |value| value.to_str().unwrap_or("?"));
    Decompressor::new(encoding).ok_or_else(|| {
        let detail = format!("content-encoding {encoding:?} is not known");
        Problem::new(ProblemKind::Encoding, detail).hint("use gzip, zstd or none")
    })
}

fn batch(text: &str) -> Result<BatchId, Problem> {
    BatchId::of_client(text).map_err(|error| bad(format!("header hadal-batch: {error}")))
}

fn number(header: &str, text: &str) -> Result<u32, Problem> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| {
        bad(format!("header {header} is {text:?}; it may be a number from 0 to {}", u32::MAX))
    })
}

fn column(header: &str, text: &str) -> Result<ColumnName, Problem> {
    ColumnName::new(text).map_err(|error| bad(format!("header {header}: {error}")))
}

fn truth(header: &str, text: &str) -> Result<bool, Problem> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(bad(format!("header {header} is {text:?}; it may be true or false"))),
    }
}

fn text<'v>(header: &str, value: &'v HeaderValue) -> Result<&'v str, Problem> {
    std::str::from_utf8(value.as_bytes()).map_err(|_| bad(format!("header {header} is not UTF-8")))
}

fn bad(detail: String) -> Problem {
    Problem::new(ProblemKind::BadRequest, detail)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn read(headers: &[(&str, &str)]) -> Result<IngestOptions, Problem> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: HeaderName = name.parse().expect("a header");
            map.append(name, HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
        }
        IngestOptions::read(&map)
    }

    #[test]
    fn a_head_without_wishes_has_defaults() {
        let wish = read(&[]).expect("a wish");
        assert_eq!(wish.format, Format::Json);
        assert!(wish.batch.is_none() && wish.time.is_none() && wish.sets.is_empty());
        assert!(!wish.strict && !wish.any_age);
    }

    #[test]
    fn wishes_are_read() {
        let wish = read(&[
            ("content-type", "text/plain; charset=utf-8"),
            ("hadal-batch", "b-1"),
            ("hadal-chunk", "0"),
            ("hadal-time", "größe"),
            ("hadal-sets", "tags, roles"),
            ("hadal-strict", "True"),
            ("hadal-any-age", "true"),
        ])
        .expect("a wish");
        assert_eq!(wish.format, Format::Lines);
        assert_eq!(wish.batch, BatchId::new("b-1"));
        assert_eq!(wish.time, ColumnName::new("größe").ok());
        assert_eq!(wish.sets, HashSet::from(["tags".to_owned(), "roles".to_owned()]));
        assert!(wish.strict && wish.any_age);
    }

    #[test]
    fn wrong_wishes_are_refused() {
        let csv = read(&[("content-type", "text/csv; charset=utf-8")]).map(|wish| wish.format);
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
            ("hadal-bach", "x"),
            ("content-type", "application/x-parquet"),
            ("content-encoding", "br"),
        ] {
            assert!(read(&[(name, value)]).is_err(), "{name}: {value}");
        }
    }

    #[test]
    fn a_wish_is_there_once() {
        let problem = read(&[("hadal-batch", "a"), ("hadal-batch", "b")]).err().expect("refused");
        assert_eq!(problem.detail(), "header hadal-batch is there more than once");
        let sets = read(&[("hadal-sets", "a"), ("hadal-sets", "b")]).expect("a wish").sets;
        assert_eq!(sets.len(), 2);
    }

    #[test]
    fn a_chunk_is_a_batch_of_its_own() {
        let id = |chunk| read(&[("hadal-chunk", chunk), ("hadal-batch", "b")]).ok()?.batch;
        let batch = BatchId::new("b").expect("an id");
        assert_eq!(id("0"), Some(batch.clone()));
        assert_eq!(id("7"), Some(batch.chunk(7)));
        assert_eq!(id("4294967295"), Some(batch.chunk(u32::MAX)));
        for bad in ["", "+7", "-1", "4294967296", "7#1"] {
            assert_eq!(id(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_curl_says_of_its_data_is_json() {
        for kind in
            ["application/x-www-form-urlencoded", "application/json", "application/x-ndjson"]
        {
            assert_eq!(
                read(&[("content-type", kind)]).map(|wish| wish.format).ok(),
                Some(Format::Json)
            );
        }
    }
}
