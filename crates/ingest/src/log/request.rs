//! The parts of access logs: the request line and the fields after the usual ones.

use std::borrow::Cow;

use super::fields::{Fields, is_json_number};

/// Adds the columns of a request line: `GET /path HTTP/1.1`. Any other text is the column
/// `request`, but HAProxy's `<BADREQ>` is none. A path may have spaces.
pub(super) fn add(fields: &mut Fields, text: &str) {
    let text = &*unescaped(text);
    if text == "<BADREQ>" {
        return;
    }
    let parts = text.split_once(' ').filter(|(method, _)| is_method(method));
    let Some((method, rest)) = parts else { return fields.text("request", text) };
    let (path, protocol) = match rest.rsplit_once(' ') {
        Some((path, protocol)) if is_protocol(protocol) => (path, protocol),
        _ => (rest, ""),
    };
    fields.text("method", method);
    fields.text("path", path.trim());
    fields.text("protocol", protocol);
}

fn is_method(text: &str) -> bool {
    (2..=20).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-'))
}

fn is_protocol(text: &str) -> bool {
    text.starts_with("HTTP/") || text.starts_with("SPDY/") || text.starts_with("RTSP/")
}

/// Adds fields after the usual ones: a duration with a point is in seconds, `- 4.115 ms` in
/// milliseconds; a quoted address is that of the client before the proxy; `name=value` is a column.
/// Any other text is the column `extra`.
pub(super) fn add_extra(fields: &mut Fields, text: &str) {
    if let Some(ms) = text.strip_suffix(" ms").map(|ms| ms.trim_start_matches("- ")) {
        return add_milliseconds(fields, ms);
    }
    if text.contains('.') && is_json_number(text) {
        return fields.raw("duration", text);
    }
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    if let Some(address) = quoted.filter(|text| !text.contains('"')) {
        return fields.text("forwarded_for", address);
    }
    let mut pairs = text.split_ascii_whitespace().map(|word| word.split_once('='));
    if !text.is_empty() && pairs.clone().all(|pair| pair.is_some()) {
        return pairs.by_ref().flatten().for_each(|(name, value)| {
            fields.number(name, value.trim_matches('"'));
        });
    }
    fields.text("extra", text);
}

/// Adds a number of milliseconds as the column `duration`, in seconds and exact.
pub(super) fn add_milliseconds(fields: &mut Fields, text: &str) {
    let digits = text.trim_start_matches('+');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 15 || !are_digits(whole) || !are_digits(fraction) {
        return;
    }
    let padded = format!("{whole:0>4}");
    let (seconds, milliseconds) = padded.split_at(padded.len() - 3);
    let seconds = seconds.trim_start_matches('0');
    let zero = if seconds.is_empty() { "0" } else { "" };
    fields.raw("duration", &format!("{zero}{seconds}.{milliseconds}{fraction}"));
}

/// The text without the backslashes before quotes and backslashes. Other escapes stay.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if text.contains("\\\"") || text.contains("\\\\") {
        return text.replace("\\\"", "\"").replace("\\\\", "\\").into();
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(add: fn(&mut Fields, &str), text: &str) -> String {
        let mut fields = Fields::default();
        add(&mut fields, text);
        String::from_utf8(fields.members().to_vec()).expect("UTF-8")
    }

    #[test]
    fn request_lines_have_three_parts() {
        for (text, expected) in [
            ("GET / HTTP/1.1", r#""method":"GET","path":"/","protocol":"HTTP/1.1","#),
            ("GET /a b HTTP/2.0", r#""method":"GET","path":"/a b","protocol":"HTTP/2.0","#),
            ("GET /a", r#""method":"GET","path":"/a","#),
            (
                r#"GET /?q=\"a\" HTTP/1.0"#,
                r#""method":"GET","path":"/?q=\"a\"","protocol":"HTTP/1.0","#,
            ),
            (r"\x16\x03", r#""request":"\\x16\\x03","#),
            ("<BADREQ>", ""),
            ("-", ""),
        ] {
            assert_eq!(members(add, text), expected, "{text}");
        }
    }

    #[test]
    fn extra_fields_are_durations_addresses_and_pairs() {
        for (text, expected) in [
            ("0.012", r#""duration":0.012,"#),
            ("- 4.115 ms", r#""duration":0.004115,"#),
            ("- 1203.000 ms", r#""duration":1.203000,"#),
            (r#""192.0.2.1""#, r#""forwarded_for":"192.0.2.1","#),
            (r#""-""#, ""),
            (r#"rt=0.1 uct="-" id=a"#, r#""rt":0.1,"id":"a","#),
            ("17 x", r#""extra":"17 x","#),
            ("", ""),
        ] {
            assert_eq!(members(add_extra, text), expected, "{text}");
        }
    }

    #[test]
    fn milliseconds_become_exact_seconds() {
        for (text, expected) in
            [("3", "0.003"), ("30001", "30.001"), ("0", "0.000"), ("9.702", "0.009702")]
        {
            assert_eq!(members(add_milliseconds, text), format!("\"duration\":{expected},"));
        }
        for text in ["-1", "x", "", "1.x"] {
            assert_eq!(members(add_milliseconds, text), "", "{text}");
        }
    }
}
