//! Errors of statements: their SQLSTATE, message, hint, and place.
//!
//! The one place where kinds of errors become SQLSTATEs (PostgreSQL 18, appendix A).

use hadal_frontend::{ErrorContext, ErrorKind, FrontendError, Hint};

use crate::backend_message::Notice;
use crate::lexer::Unterminated;
use crate::protocol_error::ProtocolError;

/// Why a statement failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) sqlstate: &'static str,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    /// The byte in the text of the statement, counted from 0.
    pub(crate) offset: Option<usize>,
    /// Whether the connection ends.
    pub(crate) is_fatal: bool,
}

impl Failure {
    pub(crate) fn new(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self {
            sqlstate,
            message: message.into(),
            detail: None,
            hint: None,
            offset: None,
            is_fatal: false,
        }
    }

    /// A statement that cannot be parsed.
    pub(crate) fn syntax(message: impl Into<String>, offset: usize) -> Self {
        Self { offset: Some(offset), ..Self::new("42601", message) }
    }

    /// Something that PostgreSQL has and this server has not.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new("0A000", message)
    }

    /// An error after which the connection ends.
    pub(crate) fn fatal(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self { is_fatal: true, ..Self::new(sqlstate, message) }
    }

    /// Adds advice.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Adds a place, in bytes.
    pub(crate) fn at(self, offset: usize) -> Self {
        Self { offset: Some(offset), ..self }
    }

    /// The message to send. `text` is the text that the client sent, and `start` the byte at which
    /// the statement begins in it.
    pub(crate) fn notice(&self, text: &str, start: usize) -> Notice {
        let position = self.offset.map(|offset| {
            let before = text.get(..start + offset).unwrap_or(text);
            before.chars().count() + 1
        });
        Notice {
            severity: if self.is_fatal { "FATAL" } else { "ERROR" },
            sqlstate: self.sqlstate,
            message: self.message.clone(),
            detail: self.detail.clone(),
            hint: self.hint.clone(),
            position,
        }
    }
}

impl From<FrontendError> for Failure {
    fn from(error: FrontendError) -> Self {
        let FrontendError { kind, detail, context } = error;
        let ErrorContext { hint, position, accepted, rejects, .. } = *context;
        let rejects = rejects.and_then(|rejects| {
            let first = rejects.first.first()?;
            Some(format!("row {}: {}", first.line, first.reason))
        });
        let accepted = accepted.map(|rows| format!("{rows} rows were accepted before"));
        let detail_lines: Vec<String> = rejects.into_iter().chain(accepted).collect();
        Self {
            sqlstate: sqlstate(kind, &detail),
            message: detail,
            detail: (!detail_lines.is_empty()).then(|| detail_lines.join("; ")),
            hint: hint.map(hint_text),
            offset: position.map(|position| position.offset),
            is_fatal: false,
        }
    }
}

impl From<ProtocolError> for Failure {
    fn from(error: ProtocolError) -> Self {
        Self::fatal(error.sqlstate(), error.to_string())
    }
}

impl From<Unterminated> for Failure {
    fn from(error: Unterminated) -> Self {
        Self::syntax(format!("the statement ends within a {}", error.what), error.at)
    }
}

/// The SQLSTATE of a kind of errors. Errors of queries differ more by their words than by their
/// kind, and programs tell an unknown column from a misspelled key word.
fn sqlstate(kind: ErrorKind, detail: &str) -> &'static str {
    match kind {
        ErrorKind::BadRequest => "08P01",
        ErrorKind::BadQuery => bad_query(detail),
        ErrorKind::BadBatch | ErrorKind::RowsRejected => "22P04",
        ErrorKind::Forbidden => "42501",
        ErrorKind::UnknownTable => "42P01",
        ErrorKind::UnknownColumn => "42703",
        ErrorKind::UnknownFunction => "42883",
        ErrorKind::BadFunction => "42P13",
        ErrorKind::UnknownBatch
        | ErrorKind::UnknownMember
        | ErrorKind::UnknownDocument
        | ErrorKind::NoRollover
        | ErrorKind::MemberAlive
        | ErrorKind::RolloverRunning => "55000",
        ErrorKind::Stalled => "08006",
        ErrorKind::BatchConflict
        | ErrorKind::SettingsConflict
        | ErrorKind::FunctionConflict
        | ErrorKind::DocumentConflict => "40001",
        ErrorKind::BadSettings | ErrorKind::BadDocument => "22023",
        ErrorKind::TooLarge | ErrorKind::Limit => "54000",
        ErrorKind::Encoding => "22021",
        ErrorKind::Busy => "53400",
        ErrorKind::Internal => "XX000",
        ErrorKind::Unavailable => "57P03",
        ErrorKind::Incomplete => "58000",
        ErrorKind::Late => "57014",
    }
}

fn bad_query(detail: &str) -> &'static str {
    if detail.starts_with("there is no column") || detail.contains(" has no column ") {
        "42703"
    } else if detail.starts_with("there is no function") {
        "42883"
    } else if detail.starts_with("Hadal has no") || detail.ends_with("is not supported") {
        "0A000"
    } else {
        "42601"
    }
}

/// Advice in words for a client of this door.
fn hint_text(hint: Hint) -> String {
    match hint {
        Hint::ListTables => "SHOW TABLES, or \\d in psql, lists the tables".to_owned(),
        Hint::ReadSettings => "read the settings, and change those".to_owned(),
        Hint::LongerDeadline => {
            "SET statement_timeout = '60s', or ask for a shorter time range".to_owned()
        }
        Hint::Text(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_character_in_the_whole_text() {
        let text = "SELECT 'é'; SELECT nope";
        let start = text.find("SELECT n").expect("there");
        let failure = Failure::syntax("m", "SELECT ".len());
        assert_eq!(failure.notice(text, start).position, Some(20));
        assert_eq!(Failure::new("XX000", "m").notice(text, 0).position, None);
    }

    #[test]
    fn errors_have_their_states_and_hints() {
        for (kind, detail, expected) in [
            (ErrorKind::UnknownTable, "there is no table t", "42P01"),
            (ErrorKind::BadQuery, "there is no column x", "42703"),
            (ErrorKind::BadQuery, "table t has no column x", "42703"),
            (ErrorKind::BadQuery, "Hadal has no joins; a query asks one table", "0A000"),
            (ErrorKind::BadQuery, "unexpected )", "42601"),
            (ErrorKind::Late, "no answer", "57014"),
            (ErrorKind::Forbidden, "no", "42501"),
        ] {
            let failure = Failure::from(FrontendError::new(kind, detail));
            assert_eq!(failure.sqlstate, expected, "{detail}");
        }
        let failure = Failure::from(FrontendError::unknown_table("t"));
        assert!(failure.hint.expect("a hint").contains("SHOW TABLES"));
    }
}
