//! A server's refusal (RFC 9457), shown with a caret under the place that it names.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

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
    title: Option<String>,
    detail: Option<String>,
    hint: Option<String>,
    position: Option<Place>,
}

#[derive(Deserialize)]
struct Place {
    line: usize,
    column: usize,
}

impl Problem {
    /// Reads a refusal with this status; whatever it is, something can be said.
    pub(crate) fn read(status: u16, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let document: Option<Document> =
            serde_json::from_str::<Value>(&text).and_then(serde_json::from_value).ok();
        let (message, hint, position) = match document {
            Some(document) => {
                (document.detail.or(document.title), document.hint, document.position)
            }
            None => (Some(text.chars().take(200).collect()), None, None),
        };
        Self {
            status,
            message: message
                .filter(|message| !message.trim().is_empty())
                .unwrap_or_else(|| format!("the server answered with status {status}")),
            hint,
            position: position.map(|place| (place.line, place.column)),
            sql: None,
        }
    }

    /// The same about this SQL text.
    pub(crate) fn with_sql(self, sql: &str) -> Self {
        Self { sql: Some(sql.to_owned()), ..self }
    }

    /// Whether what was asked for is not there.
    pub(crate) const fn is_not_found(&self) -> bool {
        self.status == 404
    }

    /// Whether the same request may be taken later.
    pub(crate) const fn may_pass(&self) -> bool {
        matches!(self.status, 429 | 503)
    }
}

impl fmt::Display for Problem {
    /// The message; then the line that it is about, with a caret; then a hint.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        let place = self.position.zip(self.sql.as_ref()).and_then(|((line, column), sql)| {
            Some((sql.lines().nth(line.checked_sub(1)?)?, column.checked_sub(1)?))
        });
        if let Some((line, before)) = place {
            // Tabs stay tabs, so that the caret stands where the terminal puts the character.
            let indent: String =
                line.chars().take(before).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            write!(formatter, "\n  {line}\n  {indent}^")?;
        }
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {hint}"),
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
        let problem = Problem::read(400, body).with_sql("SELECT\n\tavg(latencyy)\nFROM t");
        let expected =
            "no column latencyy\n  \tavg(latencyy)\n  \t   ^\nhint: did you mean latency?";
        assert_eq!(problem.to_string(), expected);
    }

    #[test]
    fn whatever_is_answered_something_is_said() {
        assert_eq!(Problem::read(502, b"Bad Gateway").to_string(), "Bad Gateway");
        let status = "the server answered with status 500";
        assert_eq!(Problem::read(500, b"").to_string(), status);
        assert_eq!(Problem::read(500, b"{}").to_string(), status);
        assert_eq!(Problem::read(400, br#"{"title": "t"}"#).to_string(), "t");
        let far = br#"{"detail": "d", "position": {"line": 9, "column": 0}}"#;
        assert_eq!(Problem::read(400, far).with_sql("SELECT 1").to_string(), "d");
    }
}
