//! Recognizes JSON: lines of objects, one document, or documents of well-known shapes.

use serde::de::IgnoredAny;

use crate::input_format::InputFormat;

/// The number of lines that are examined.
const LINES_MAX: usize = 200;
/// The members of OTLP documents that hold the rows.
const OTLP_MEMBERS: [&str; 3] = ["resourceSpans", "resourceLogs", "resourceMetrics"];

/// The format of a text that is JSON by its shape, and the evidence.
pub(super) fn format(text: &[u8]) -> Option<(InputFormat, String)> {
    let text = text.trim_ascii_start();
    // Objects of other languages, such as `{a: 1}`, are JSON that is rejected, not lines of a log.
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    if begins_object(text) || (first.starts_with(b"{") && first.ends_with(b"}")) {
        return Some(format_of_object(text));
    }
    if begins_array(text) {
        return Some((InputFormat::Json, "it begins with an array of objects".to_owned()));
    }
    let (objects, lines) = object_lines(text);
    let evidence = format!("{objects} of the first {lines} lines are JSON objects");
    (objects > 0 && 2 * objects >= lines).then_some((InputFormat::JsonLines, evidence))
}

/// The format of a text that is JSON by its name.
pub(super) fn format_by_name(text: &[u8], extension: &str) -> Option<(InputFormat, String)> {
    let format = match extension {
        "jsonl" | "ndjson" => InputFormat::JsonLines,
        "json" if begins_object(text) || !text.trim_ascii_start().starts_with(b"{") => {
            InputFormat::JsonLines
        }
        "json" => InputFormat::Json,
        "geojson" => InputFormat::GeoJson,
        _ => return None,
    };
    Some((format, format!("its name ends with .{extension}")))
}

fn format_of_object(text: &[u8]) -> (InputFormat, String) {
    let members = members(text);
    if members.iter().any(|(name, value)| is_of_collection(name, value)) {
        return (InputFormat::GeoJson, "it is a FeatureCollection".to_owned());
    }
    if let Some((name, _)) = members.iter().find(|(name, _)| OTLP_MEMBERS.contains(&name.as_str()))
    {
        return (InputFormat::Otlp, format!("it has the member {name} of OTLP"));
    }
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let first_value = values.next();
    let value_end = values.byte_offset();
    let spans_lines = match first_value {
        Some(Ok(_)) => value_end > first.len(),
        Some(Err(error)) => error.is_eof() && first.len() < text.len(),
        None => false,
    };
    if spans_lines {
        return (InputFormat::Json, "it begins with an object over several lines".to_owned());
    }
    let (objects, lines) = object_lines(text);
    (InputFormat::JsonLines, format!("{objects} of the first {lines} lines are JSON objects"))
}

/// Whether a text begins like a JSON object, and not like a line of a log.
pub(super) fn begins_object(text: &[u8]) -> bool {
    let rest = text.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'"' | b'}')))
}

/// Whether a text begins like an array of objects, and not like a line of a log.
fn begins_array(text: &[u8]) -> bool {
    let rest = text.trim_ascii_start().strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    rest.is_some_and(|rest| rest.first() == Some(&b']') || begins_object(rest))
}

/// The number of lines that are JSON objects, and of all lines among the first that are not blank.
fn object_lines(text: &[u8]) -> (usize, usize) {
    let (mut objects, mut lines) = (0, 0);
    let mut rest = text.split(|&byte| byte == b'\n').take(LINES_MAX).peekable();
    while let Some(line) = rest.next() {
        let line = line.trim_ascii();
        // The last line may be cut off.
        let is_cut = rest.peek().is_none() && lines > 0 && !line.ends_with(b"}");
        if line.is_empty() || is_cut || is_event_field(line) {
            continue;
        }
        lines += 1;
        objects += usize::from(is_object_line(line));
    }
    (objects, lines)
}

/// Whether a line has a field of server-sent events beside the data.
fn is_event_field(line: &[u8]) -> bool {
    [&b"event:"[..], b"id:", b"retry:", b":"].iter().any(|field| line.starts_with(field))
}

/// Whether a line is an object: alone, with a comma before or after it, as the data of a
/// server-sent event, or in a JSON text sequence.
fn is_object_line(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"data:").unwrap_or(line);
    let line = line.strip_prefix(b"\x1e").unwrap_or(line).trim_ascii();
    let line = line.strip_prefix(b",").unwrap_or(line);
    let line = line.strip_suffix(b",").unwrap_or(line);
    begins_object(line) && line.trim_ascii_end().ends_with(b"}")
}

/// Whether a member shows that its object is a FeatureCollection of GeoJSON (RFC 7946).
fn is_of_collection(name: &str, value: &[u8]) -> bool {
    let feature = value.strip_prefix(b"[").filter(|_| name == "features");
    let mut of_feature = feature.map(members).unwrap_or_default().into_iter();
    (name == "type" && is_text(value, "FeatureCollection"))
        || of_feature.any(|(name, value)| name == "type" && is_text(value, "Feature"))
}

/// Whether a JSON value begins with this text.
fn is_text(value: &[u8], text: &str) -> bool {
    let rest = value.strip_prefix(b"\"").and_then(|rest| rest.strip_prefix(text.as_bytes()));
    rest.is_some_and(|rest| rest.starts_with(b"\""))
}

/// The names of the members of an object that begins the text, and the text from each value on.
fn members(text: &[u8]) -> Vec<(String, &[u8])> {
    let (mut members, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    let mut name = None;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                let end = string_end(text, at);
                let string = text.get(at..end).unwrap_or_default();
                if let (1, Some(name)) = (depth, name.take()) {
                    members.push((name, text.get(at..).unwrap_or_default()));
                } else if depth == 1 {
                    name = serde_json::from_slice(string).ok();
                }
                at = end;
                continue;
            }
            b'{' | b'[' => {
                if let (1, Some(name)) = (depth, name.take()) {
                    members.push((name, text.get(at..).unwrap_or_default()));
                }
                depth += 1;
            }
            b'}' | b']' if depth <= 1 => return members,
            b'}' | b']' => depth -= 1,
            b',' if depth == 1 => name = None,
            _ => {}
        }
        at += 1;
    }
    members
}

/// The end of the string that begins at `start` with a quote, after its closing quote.
fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_of(text: &str) -> Option<InputFormat> {
        format(text.as_bytes()).map(|(format, _)| format)
    }

    #[test]
    fn the_shape_of_json_is_recognized() {
        use InputFormat::{GeoJson, Json, JsonLines, Otlp};
        for (text, expected) in [
            ("{\"a\":1}\n{\"a\":2}\n", Some(JsonLines)),
            ("{\"a\":1}", Some(JsonLines)),
            ("{\"a\":1}{\"a\":2}", Some(JsonLines)),
            ("{\n \"a\": 1\n}\n", Some(Json)),
            ("{\"rows\": [\n{\"a\":1},\n{\"a\":2}\n]}", Some(Json)),
            ("{\"rows\": [\n{\"a\":1},\n{\"a\":2},\n", Some(Json)),
            ("{\"a\":1, \"b\n{\"a\":2}\n{\"a\":3}\n", Some(JsonLines)),
            (" [ {\"a\":1}]", Some(Json)),
            ("[]", Some(Json)),
            ("{\"type\":\"FeatureCollection\",\"features\":[]}", Some(GeoJson)),
            ("{\"features\":[{\"type\":\"FeatureCollection\"}]}", Some(JsonLines)),
            ("{ \"crs\": {\"type\": \"x\"}, \"type\" : \"FeatureCollection\" ", Some(GeoJson)),
            ("{\"features\": [ {\"id\": 1, \"type\": \"Feature\"}, ", Some(GeoJson)),
            ("{\"features\": [{\"id\": 1}], ", Some(JsonLines)),
            ("{\"type\":\"Feature\"}", Some(JsonLines)),
            ("{\"type\":", Some(JsonLines)),
            ("{\"resourceSpans\":[]}", Some(Otlp)),
            ("", None),
            ("[2024-01-01] x\n", None),
            ("[{main}] INFO x\n", None),
            ("{main} INFO x\n", None),
            ("{'a': 1}\n{'a': 2}\n", Some(JsonLines)),
            ("a,b\n1,2\n", None),
        ] {
            assert_eq!(format_of(text), expected, "{text}");
        }
    }

    #[test]
    fn most_lines_decide() {
        for text in [
            "evel\": 30, \"n\":0}\n{\"n\":1}\n{\"n\":2}\n",
            "Starting ...\n{\"n\":1}\n{\"n\":2}\nTraceback:\n{\"n\":3}\n",
            "data: {\"n\":1}\n\ndata: {\"n\":2}\n\n",
            "event: x\nid: 1\ndata: {\"n\":1}\n\n",
            "\u{1e}{\"n\":1}\n\u{1e}{\"n\":2}\n",
            "banner\n{\"n\":NaN},\n{\"n\":2},\n",
        ] {
            assert_eq!(format_of(text), Some(InputFormat::JsonLines), "{text}");
        }
        let mostly_text = "a\nb\n{\"n\":1}\nc\n";
        assert_eq!(format_of(mostly_text), None);
        let by_name = format_by_name(mostly_text.as_bytes(), "jsonl").map(|(format, _)| format);
        assert_eq!(by_name, Some(InputFormat::JsonLines));
    }
}
