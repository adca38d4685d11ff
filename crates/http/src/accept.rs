//! Chooses the format of an answer by the request's `Accept` (RFC 9110, 12.5.1).

use std::sync::Arc;

use axum::http::{HeaderMap, header};

use crate::answer_format::AnswerFormat;
use crate::problem::{Problem, ProblemKind};

/// The format of answers that are not written in batches; it is preferred among equals.
const JSON: &str = "application/json";

/// Updates on the query, and then its answer in JSON.
pub(crate) const EVENTS: &str = "text/event-stream";

/// The form of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Accepted {
    Json,
    /// Server-sent events.
    Events,
    Batches(Arc<dyn AnswerFormat>),
}

/// A range of media types that a client accepts, and how much it likes them, in thousandths.
struct Range<'a> {
    media_type: &'a str,
    quality: u16,
}

/// The form that the client likes best: JSON if it says nothing.
///
/// # Errors
/// The problem to answer with, which names all formats: 406.
pub(crate) fn accepted(
    headers: &HeaderMap,
    formats: &[Arc<dyn AnswerFormat>],
) -> Result<Accepted, Problem> {
    let lines = headers.get_all(header::ACCEPT).iter();
    let text: Vec<String> =
        lines.map(|line| String::from_utf8_lossy(line.as_bytes()).to_ascii_lowercase()).collect();
    let text = text.join(",");
    let ranges: Vec<Range<'_>> = text.split(',').filter_map(Range::read).collect();
    if ranges.is_empty() {
        return Ok(Accepted::Json);
    }
    let batches = |format: &Arc<dyn AnswerFormat>| {
        (format.media_type(), Accepted::Batches(Arc::clone(format)))
    };
    let offered = std::iter::once((JSON, Accepted::Json))
        .chain(formats.iter().map(batches))
        .chain(std::iter::once((EVENTS, Accepted::Events)));
    let liked = offered.map(|(media_type, form)| (quality(&ranges, media_type), form));
    // Of equals, the first one.
    let best = liked
        .filter(|(quality, _)| *quality > 0)
        .reduce(|best, next| if next.0 > best.0 { next } else { best });
    match best {
        Some((_, form)) => Ok(form),
        None => {
            let names = formats.iter().map(|format| format.media_type());
            let names: Vec<&str> = std::iter::once(JSON).chain(names).chain([EVENTS]).collect();
            let detail = format!("an answer cannot be {text:?}");
            let hint = format!("accept one of {}", names.join(", "));
            Err(Problem::new(ProblemKind::NotAcceptable, detail).hint(hint))
        }
    }
}

/// How much a client likes a media type: what it says of the narrowest range with the type.
fn quality(ranges: &[Range<'_>], media_type: &str) -> u16 {
    let group = media_type.split_once('/').map(|(group, _)| format!("{group}/*"));
    let is_in = |name: &str| ranges.iter().find(|range| range.media_type == name);
    let narrowest =
        is_in(media_type).or_else(|| group.as_deref().and_then(is_in)).or_else(|| is_in("*/*"));
    narrowest.map_or(0, |range| range.quality)
}

impl<'a> Range<'a> {
    /// A part of the header between commas, in lower case. Parameters but `q` are ignored; a `q`
    /// that is no number counts as 1.
    fn read(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().filter(|media_type| !media_type.is_empty())?;
        let quality = parts.find_map(|part| part.strip_prefix("q="));
        Some(Self { media_type, quality: quality.map_or(1_000, thousandths) })
    }
}

/// `0.25` in thousandths.
fn thousandths(text: &str) -> u16 {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = rest.chars().chain("000".chars()).take(3).collect();
    match (whole, digits.parse::<u16>()) {
        ("0" | "", Ok(rest)) => rest,
        _ => 1_000,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::csv_answer::Csv;
    use crate::json_lines_answer::JsonLines;

    fn chosen(accept: &[&'static str]) -> Result<&'static str, Problem> {
        let formats: [Arc<dyn AnswerFormat>; 2] = [Arc::new(Csv), Arc::new(JsonLines)];
        let mut headers = HeaderMap::new();
        for line in accept {
            headers.append(header::ACCEPT, HeaderValue::from_static(line));
        }
        Ok(match accepted(&headers, &formats)? {
            Accepted::Json => JSON,
            Accepted::Events => EVENTS,
            Accepted::Batches(format) => format.media_type(),
        })
    }

    #[test]
    fn a_client_gets_what_it_likes_best() {
        for (accept, expected) in [
            (&[][..], JSON),
            (&[""], JSON),
            (&["*/*"], JSON),
            (&["application/*"], JSON),
            (&["text/*"], "text/csv"),
            (&["Text/CSV; charset=utf-8"], "text/csv"),
            (&["text/csv", "application/json"], JSON),
            (&["text/csv, application/json;q=0.9"], "text/csv"),
            (&["application/json;q=0, */*;q=0.1"], "text/csv"),
            (&["text/html, application/x-ndjson;q=0.001"], "application/x-ndjson"),
            (&["text/html, */*;q=0.8"], JSON),
            (&["text/csv;q=high"], "text/csv"),
            (&["text/event-stream"], EVENTS),
        ] {
            assert_eq!(chosen(accept).expect("a format"), expected, "{accept:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_formats() {
        for accept in ["text/html", "application/json;q=0", "x"] {
            let problem = chosen(&[accept]).expect_err("refused");
            let text = format!("{problem:?}");
            assert!(text.contains("text/csv, application/x-ndjson"), "{text}");
        }
    }
}
