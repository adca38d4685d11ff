//! Messages of syslog by RFC 5424, with structured data as columns.
//!
//! The crates `syslog_loose` and `syslog_rfc5424` were judged and not taken: the first one reads
//! any text as a message, so that it gives no evidence, and brings a second crate for times; the
//! second one does not read what senders leave out.

use super::fields::Fields;
use super::json_suffix;
use super::level;
use super::logfmt;
use super::times::Times;

/// The name of the layout.
pub(super) const NAME: &str = "syslog (RFC 5424)";

/// The header of a message, and what follows.
struct Header<'l> {
    priority: &'l str,
    /// Time, host, program, process, message id.
    words: [&'l str; 5],
    rest: &'l str,
}

fn header(line: &str) -> Option<Header<'_>> {
    // A sender may count the bytes of a message before it (RFC 6587).
    let counted = line.split_once(' ').filter(|(count, rest)| {
        rest.starts_with('<') && count.bytes().all(|byte| byte.is_ascii_digit())
    });
    let line = counted.map_or(line, |(_, rest)| rest);
    let (priority, rest) = line.strip_prefix('<')?.split_once('>')?;
    let is_priority =
        (1..=3).contains(&priority.len()) && priority.bytes().all(|b| b.is_ascii_digit());
    let (version, mut rest) = rest.split_once(' ')?;
    if !is_priority || version != "1" {
        return None;
    }
    let mut words = [""; 5];
    for word in &mut words {
        (*word, rest) = rest.split_once(' ')?;
    }
    Some(Header { priority, words, rest })
}

/// Whether a line is such a message.
pub(super) fn fits(line: &str) -> bool {
    header(line).is_some()
}

/// Reads a line as columns; returns false if it is no such message.
pub(super) fn read(line: &str, times: &Times, fields: &mut Fields) -> bool {
    let Some(Header { priority, words, rest }) = header(line) else { return false };
    let [time, host, app, process, message] = words;
    level::add_priority(fields, priority);
    if time != "-" {
        times.set(time, fields);
    }
    fields.text("host", host);
    fields.text("app", app);
    fields.number("pid", process);
    fields.text("msgid", message);
    let text = structured(rest, fields);
    let text = text.trim_start_matches('\u{feff}');
    match logfmt::is_logfmt(text) {
        true => logfmt::read(text, times, fields),
        false => json_suffix::read(text, times, fields),
    }
    true
}

/// Adds structured data, `[id name="value"]…`, and returns the text after it.
fn structured<'l>(rest: &'l str, fields: &mut Fields) -> &'l str {
    let mut rest = rest;
    if let Some(text) = rest.strip_prefix('-') {
        return text.trim_start();
    }
    while let Some((id, mut after)) = element(rest) {
        while let Some((name, value, next)) = parameter(after) {
            fields.text(&format!("{id}.{name}"), &value);
            after = next;
        }
        let Some(next) = after.trim_start().strip_prefix(']') else { break };
        rest = next;
    }
    rest.trim_start()
}

/// The id of an element, and the text after it.
fn element(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('[')?;
    let end = text.find([' ', ']', '"'])?;
    Some(text.split_at(end)).filter(|(id, _)| !id.is_empty())
}

/// A parameter's name and value, and the text after it.
fn parameter(text: &str) -> Option<(&str, String, &str)> {
    let (name, text) = text.strip_prefix(' ')?.split_once("=\"")?;
    if name.contains([']', '"', ' ']) {
        return None;
    }
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return Some((name, value, &text[index + 1..])),
            '\\' => match characters.next() {
                Some((_, escaped @ ('"' | '\\' | ']'))) => value.push(escaped),
                Some((_, other)) => value.extend(['\\', other]),
                None => return None,
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use hadal_types::Micros;

    use super::*;
    use crate::read_options::ReadOptions;

    #[test]
    fn structured_data_are_columns() {
        let times = Times::new(&ReadOptions::default(), Micros(0));
        for (line, expected) in [
            (
                r#"<34>1 2026-11-21T03:51:42Z h su 7 ID - text"#,
                r#""level":"fatal","facility":"auth","host":"h","app":"su","pid":7,"msgid":"ID","#,
            ),
            (
                r#"52 <165>1 - - - - - [a@1 x="1" y="\"q\]"][b z=""] text"#,
                r#""level":"info","facility":"local4","a@1.x":"1","a@1.y":"\"q]","#,
            ),
            (r#"<0>1 - - - - - [a x="open"#, r#""level":"fatal","facility":"kern","#),
            (r#"<0>1 - - - - - - {"n":1}"#, r#""level":"fatal","facility":"kern","n":1,"#),
        ] {
            let mut fields = Fields::default();
            assert!(read(line, &times, &mut fields), "{line}");
            assert_eq!(String::from_utf8_lossy(fields.members()), expected, "{line}");
        }
        for line in
            ["", "<34>Nov 21 03:51:42 h su: x", "<1>1 -", "<a>1 - - - - - -", "<34>2 a b c d e f"]
        {
            assert!(!fits(line), "{line}");
        }
    }
}
