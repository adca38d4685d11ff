//! What there is to say of an answer beside its rows, as JSON: in a header or a trailer of the
//! response, and in the metadata of formats that have a place for it.
//!
//! ```json
//! {"ended", "rows", "truncated", "coverage": {…}, "stats": {…}, "warnings": [{…}…],
//!  "warnings_left_out", "time": {"from", "to"}}
//! ```
//!
//! `ended` is false before the rows of an answer in slices: then the rest is of the first slice.

use axum::http::HeaderValue;
use hadal_frontend::AnswerStream;
use hadal_types::limits;
use serde::Serialize;

use crate::query_response::{CoverageBody, Stats, TimeBody, WarningBody};

/// The header or trailer with the summary.
pub(crate) const SUMMARY_HEADER: &str = "hadal-answer";

#[derive(Serialize)]
struct SummaryBody<'a> {
    ended: bool,
    rows: u64,
    truncated: bool,
    coverage: CoverageBody<'a>,
    stats: Stats,
    warnings: Vec<WarningBody<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    warnings_left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<TimeBody>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The summary of an answer so far, or of all of it, which then had this many rows.
pub(crate) fn summary(answer: &AnswerStream, rows: u64, ended: bool) -> String {
    summary_with(answer, rows, ended, usize::MAX)
}

/// The summary as a header: ASCII, and not longer than servers and clients allow. The last warnings
/// are left out if it would be, and counted.
pub(crate) fn summary_header(answer: &AnswerStream, rows: u64, ended: bool) -> HeaderValue {
    let all = answer.summary().warnings.len();
    let texts = (0..=all).rev().map(|count| ascii(&summary_with(answer, rows, ended, count)));
    let mut short = texts.filter(|text| text.len() <= limits::ANSWER_HEADER_BYTES_MAX);
    let text = short.next().unwrap_or_else(|| "{}".to_owned());
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("{}"))
}

fn summary_with(answer: &AnswerStream, rows: u64, ended: bool, warnings_max: usize) -> String {
    let result = answer.summary();
    let body = SummaryBody {
        ended,
        rows,
        truncated: answer.is_cut(),
        coverage: CoverageBody::without_leaves(&result.coverage),
        stats: Stats::new(&result.stats, answer.start()),
        warnings: result.warnings.iter().take(warnings_max).map(WarningBody::new).collect(),
        warnings_left_out: result.warnings.len().saturating_sub(warnings_max),
        time: result.time.map(TimeBody::from),
    };
    serde_json::to_string(&body).unwrap_or_else(|_| "{}".to_owned())
}

/// The same JSON, with all characters but ASCII escaped. They are in strings only.
fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() && character != '\u{7f}' {
            text.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            text.push_str(&format!("\\u{unit:04x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_ascii_and_the_same_json() {
        let json = serde_json::to_string("é \u{7f} 😀 a").expect("JSON");
        let text = ascii(&json);
        assert!(text.is_ascii() && HeaderValue::from_str(&text).is_ok(), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).expect("JSON"), "é \u{7f} 😀 a");
    }
}
