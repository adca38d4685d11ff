//! Recognizes documents whose rows are in an array, by their first bytes.

use super::otlp;
use super::shape::Shape;
use crate::input_format::InputFormat;

/// Bytes of a document by which it is recognized.
const HEAD_BYTES: usize = 16 << 10;

/// What the first bytes of a text are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recognized {
    /// A document whose rows are in an array.
    Documents(DocumentKind),
    /// Anything else.
    Other,
    /// Too few bytes to decide.
    Undecided,
}

/// A kind of document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentKind {
    pub(crate) shape: Shape,
    /// The column of the rows' times.
    pub(crate) time_column: Option<&'static str>,
    pub(crate) format: InputFormat,
    /// A sentence about a guess.
    pub(crate) remark: Option<&'static str>,
}

/// Recognizes GeoJSON, OTLP and CloudTrail.
pub(crate) fn recognize(head: &[u8]) -> Recognized {
    let mark = "\u{feff}".as_bytes();
    if mark.starts_with(head) {
        return Recognized::Undecided;
    }
    let text = head.strip_prefix(mark).unwrap_or(head).trim_ascii_start();
    let rest = match text.split_first() {
        None => return Recognized::Undecided,
        Some((b'{', rest)) => rest,
        Some(_) => return Recognized::Other,
    };
    match kind_of(rest) {
        Some(Some(kind)) => Recognized::Documents(kind),
        Some(None) => Recognized::Other,
        None if text.len() >= HEAD_BYTES => Recognized::Other,
        None => Recognized::Undecided,
    }
}

/// Examines the members of an object. `None` if the bytes end before a decision.
fn kind_of(mut rest: &[u8]) -> Option<Option<DocumentKind>> {
    loop {
        rest = trimmed(rest, b" \t\r\n,")?;
        if rest.first() != Some(&b'"') {
            return Some(None);
        }
        let (name, after) = value(rest)?;
        rest = trimmed(after, b" \t\r\n")?;
        let Some(after) = rest.strip_prefix(b":") else { return Some(None) };
        rest = trimmed(after, b" \t\r\n")?;
        let name = serde_json::from_slice::<String>(name).unwrap_or_default();
        let array = rest.strip_prefix(b"[");
        if let Some(array) = array {
            if let Some(time_column) = otlp::time_column(&name) {
                let (shape, time_column) = (Shape::otlp(), Some(time_column));
                let (format, remark) = (InputFormat::Otlp, None);
                return Some(Some(DocumentKind { shape, time_column, format, remark }));
            }
            let first = || first_members(array);
            match name.as_str() {
                "features" => {
                    let is_feature = first()?
                        .iter()
                        .any(|(name, value)| name == "type" && value == "\"Feature\"");
                    return Some(is_feature.then(geojson));
                }
                "Records" => {
                    let names = first()?;
                    let has = |column| names.iter().any(|(name, _)| name == column);
                    let is_trail = has("eventVersion") && has("eventSource") && has("eventTime");
                    return Some(is_trail.then(cloudtrail));
                }
                _ => {}
            }
        }
        let (text, after) = value(rest)?;
        if name == "type" {
            return Some((text == b"\"FeatureCollection\"").then(geojson));
        }
        rest = after;
    }
}

fn geojson() -> DocumentKind {
    let (shape, format) = (Shape::geojson(), InputFormat::GeoJson);
    DocumentKind { shape, time_column: None, format, remark: None }
}

fn cloudtrail() -> DocumentKind {
    let (shape, format) = (Shape::of_path("Records"), InputFormat::Json);
    let remark = Some(
        "the rows are those in Records, as in CloudTrail; --format jsonl makes a row of each document",
    );
    DocumentKind { shape, time_column: Some("eventTime"), format, remark }
}

/// The names of the first object's members in an array, and their values as written.
fn first_members(array: &[u8]) -> Option<Vec<(String, String)>> {
    let Some(mut rest) = trimmed(array, b" \t\r\n")?.strip_prefix(b"{") else {
        return Some(Vec::new());
    };
    let mut members = Vec::new();
    loop {
        rest = trimmed(rest, b" \t\r\n,")?;
        if rest.first() != Some(&b'"') {
            return Some(members);
        }
        let (name, after) = value(rest)?;
        let after = trimmed(after, b" \t\r\n:")?;
        let (text, after) = value(after)?;
        let text = String::from_utf8_lossy(text).into_owned();
        members.push((serde_json::from_slice(name).unwrap_or_default(), text));
        rest = after;
    }
}

fn trimmed<'t>(text: &'t [u8], around: &[u8]) -> Option<&'t [u8]> {
    let start = text.iter().position(|byte| !around.contains(byte))?;
    text.get(start..)
}

/// Splits a text after its first value. `None` if the value does not end.
fn value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut counter = crate::depth::DepthCounter::default();
    let is_scalar = !matches!(text.first()?, b'"' | b'{' | b'[');
    for (at, &byte) in text.iter().enumerate() {
        if is_scalar {
            if matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace() {
                return Some(text.split_at(at));
            }
        } else if counter.step(byte).is_break() || (counter.depth == 0 && !counter.in_string) {
            return Some(text.split_at(at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str) -> Option<InputFormat> {
        for length in 0..=text.len() {
            match recognize(&text.as_bytes()[..length]) {
                Recognized::Documents(kind) => return Some(kind.format),
                Recognized::Other => return None,
                Recognized::Undecided => {}
            }
        }
        panic!("undecided: {text}");
    }

    #[test]
    fn documents_are_recognized_by_their_members() {
        let (geojson, otlp) = (Some(InputFormat::GeoJson), Some(InputFormat::Otlp));
        let trail = Some(InputFormat::Json);
        for (text, expected) in [
            (r#"{"type":"FeatureCollection","features":["#, geojson),
            (r#"{ "crs": {"type": "name"}, "type" : "FeatureCollection" "#, geojson),
            (r#"{"features": [{"id": 1, "type": "Feature"}, "#, geojson),
            (r#"{"features": [{"id": 1}], "#, None),
            (r#"{"type":"Feature"}"#, None),
            (r#"{"n": 1, "resourceSpans": ["#, otlp),
            ("\u{feff}{\n  \"resourceLogs\" : [", otlp),
            (r#"{"resource_metrics":[]}"#, otlp),
            (r#"{"resourceSpans":1}"#, None),
            (r#"{"Records":[{"eventVersion":"1","eventTime":"t","eventSource":"s"}"#, trail),
            (r#"{"Records":[{"a":1}]}"#, None),
            (r#"{"Records":[1]}"#, None),
            (r#"{"a":1}"#, None),
            ("[1]", None),
            ("x", None),
        ] {
            assert_eq!(format(text), expected, "{text}");
        }
        assert_eq!(recognize(b" "), Recognized::Undecided);
        let long = format!("{{\"a\":\"{}", "x".repeat(HEAD_BYTES));
        assert_eq!(recognize(long.as_bytes()), Recognized::Other);
    }
}
