//! A server's refusal (RFC 9457), shown with a caret under the position that it names.
//!
//! The server's hints are for HTTP clients. Hints that are of no use at a terminal are replaced by
//! hints for the command line.

use std::fmt;

use serde::Deserialize;

use crate::terminal_escape::{visible, width};

/// Hints for a person at a terminal, by the type of the problem. They replace the server's hint.
const HINTS: [(&str, &str); 3] = [
    (
        "urn:hadal:problem:unauthorized",
        "give the server's token with --token or HADAL_TOKEN; \
         it is in the file admin-token of its data folder",
    ),
    ("urn:hadal:problem:late", "ask for a shorter time range"),
    ("urn:hadal:problem:unknown-table", "hadal status lists the tables"),
];

/// Why a server refused a request.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: u16,
    message: String,
    hint: Option<String>,
    /// Line and character, counted from 1.
    position: Option<(usize, usize)>,
    sql: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    r#type: Option<String>,
    title: Option<String>,
    detail: Option<String>,
    hint: Option<String>,
    position: Option<Position>,
}

#[derive(Deserialize)]
struct Position {
    line: usize,
    column: usize,
}

impl Problem {
    /// Parses a refusal with this status. Returns `None` if it is not one of a Hadal server.
    pub(crate) fn read(status: u16, body: &[u8]) -> Option<Self> {
        let document: Document = serde_json::from_slice(body).ok()?;
        let Document { r#type, title, detail, hint, position } = document;
        let message = detail.or(title).filter(|message| !message.trim().is_empty())?;
        Some(Self {
            status,
            message,
            hint: own_hint(r#type.as_deref(), hint),
            position: position.map(|place| (place.line, place.column)),
            sql: None,
        })
    }

    /// Adds the SQL text that the problem is about.
    pub(crate) fn with_sql(self, sql: &str) -> Self {
        Self { sql: Some(sql.to_owned()), ..self }
    }

    /// Whether the requested object does not exist.
    pub(crate) const fn is_not_found(&self) -> bool {
        self.status == 404
    }

    /// Whether the same request may succeed later.
    pub(crate) const fn may_pass(&self) -> bool {
        may_pass(self.status)
    }
}

/// Whether a request that was answered with this status may succeed later. Proxies answer 502 for a
/// server that restarts.
pub(crate) const fn may_pass(status: u16) -> bool {
    matches!(status, 429 | 502 | 503)
}

/// The hint for a person at a terminal. A hint with a similar name is good anywhere and stays.
fn own_hint(kind: Option<&str>, hint: Option<String>) -> Option<String> {
    let is_name = hint.as_ref().is_some_and(|hint| hint.starts_with("did you mean "));
    match HINTS.into_iter().find(|(hint_kind, _)| Some(*hint_kind) == kind) {
        Some((_, terminal_hint)) if !is_name => Some(terminal_hint.to_owned()),
        _ => hint,
    }
}

impl fmt::Display for Problem {
    /// Writes the message, the line of SQL that it is about with a caret, and a hint.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&visible(&self.message))?;
        let place = self.position.zip(self.sql.as_ref()).and_then(|((line, column), sql)| {
            Some((sql.lines().nth(line.checked_sub(1)?)?, column.checked_sub(1)?))
        });
        if let Some((line, before)) = place {
            // Tabs stay tabs, so that the caret is in the column where the terminal shows the
            // character.
            let shown = |c: char| match c {
                '\t' => "\t".to_owned(),
                c => visible(c.encode_utf8(&mut [0; 4])).into_owned(),
            };
            let line: Vec<String> = line.chars().map(shown).collect();
            let blank = |shown: &String| match shown.as_str() {
                "\t" => "\t".to_owned(),
                shown => " ".repeat(width(shown)),
            };
            let indent: String = line.iter().take(before).map(blank).collect();
            write!(formatter, "\n  {}\n  {indent}^", line.concat())?;
        }
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {}", visible(hint)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_stands_under_the_place() {
        let body = br#"{"title": "bad query", "detail": "no column latencyy",
            "hint": "did you mean latency?", "position": {"line": 2, "column": 5, "offset": 11}}"#;
        let problem = read(400, body).with_sql("SELECT\n\tavg(latencyy)\nFROM t");
        let expected =
            "no column latencyy\n  \tavg(latencyy)\n  \t   ^\nhint: did you mean latency?";
        assert_eq!(problem.to_string(), expected);
    }

    #[test]
    fn a_caret_stands_under_wide_and_hidden_characters() {
        let body = br#"{"detail": "no column x", "position": {"line": 1, "column": 5}}"#;
        let problem = read(400, body).with_sql("\u{65e5}\u{672c}\u{7}'x");
        let expected = "no column x\n  \u{65e5}\u{672c}\\u0007'x\n             ^";
        assert_eq!(problem.to_string(), expected);
    }

    #[test]
    fn a_server_cannot_steer_the_terminal() {
        let body = br#"{"detail": "a\u001b[2Jb\nc", "hint": "d\u202ee"}"#;
        assert_eq!(read(400, body).to_string(), "a\\u001b[2Jb\\nc\nhint: d\\u202ee");
    }

    #[test]
    fn hints_are_for_the_command_line() {
        let said = |kind: &str, hint: &str| {
            let body = serde_json::json!({"type": format!("urn:hadal:problem:{kind}"),
                "detail": "d", "hint": hint});
            read(400, body.to_string().as_bytes()).to_string()
        };
        let token = said("unauthorized", "send it: Authorization: Bearer TOKEN");
        assert!(token.contains("--token") && !token.contains("Bearer"), "{token}");
        let table = said("unknown-table", "GET /v1/tables lists the tables");
        assert_eq!(table, "d\nhint: hadal status lists the tables");
        assert_eq!(said("unknown-table", "did you mean t?"), "d\nhint: did you mean t?");
        assert_eq!(said("bad-query", "write x"), "d\nhint: write x");
    }

    #[test]
    fn what_is_no_refusal_of_hadal_is_none() {
        for body in ["", "Bad Gateway", "<html>\n<b>502</b>", "{}", "[]", r#"{"detail": " "}"#] {
            assert!(Problem::read(502, body.as_bytes()).is_none(), "{body}");
        }
        assert_eq!(read(400, br#"{"title": "t"}"#).to_string(), "t");
        let far = br#"{"detail": "d", "position": {"line": 9, "column": 0}}"#;
        assert_eq!(read(400, far).with_sql("SELECT 1").to_string(), "d");
    }

    fn read(status: u16, body: &[u8]) -> Problem {
        Problem::read(status, body).expect("a problem")
    }
}
