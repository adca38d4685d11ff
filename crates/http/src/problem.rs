//! Errors as `application/problem+json` (RFC 9457): what went wrong, where, and what to do.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hadal_console::ConsoleError;
use hadal_sql::{Position, SqlError};
use hadal_tree::AskError;
use hadal_types::SettingsError;
use hadal_wire::SinkError;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What kind of thing went wrong: a stable name for programs, a title for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    BadRequest,
    BadQuery,
    BadBatch,
    Unauthorized,
    Forbidden,
    UnknownRoute,
    UnknownTable,
    UnknownColumn,
    UnknownBatch,
    Method,
    Stalled,
    BatchConflict,
    BadSettings,
    SettingsConflict,
    TooLarge,
    Encoding,
    Limit,
    RowsRejected,
    Busy,
    Internal,
    Unavailable,
    Incomplete,
    Late,
}

impl ProblemKind {
    /// The kind's name, its title, and the status it is sent with.
    const fn facts(self) -> (&'static str, &'static str, StatusCode) {
        use StatusCode as Http;
        match self {
            Self::BadRequest => {
                ("bad-request", "The request cannot be understood", Http::BAD_REQUEST)
            }
            Self::BadQuery => ("bad-query", "The query cannot be answered", Http::BAD_REQUEST),
            Self::BadBatch => ("bad-batch", "The batch cannot be read", Http::BAD_REQUEST),
            Self::Unauthorized => ("unauthorized", "A token is needed", Http::UNAUTHORIZED),
            Self::Forbidden => ("forbidden", "The request is not allowed", Http::FORBIDDEN),
            Self::UnknownRoute => ("unknown-route", "There is nothing here", Http::NOT_FOUND),
            Self::UnknownTable => ("unknown-table", "There is no such table", Http::NOT_FOUND),
            Self::UnknownColumn => ("unknown-column", "There is no such column", Http::NOT_FOUND),
            Self::UnknownBatch => ("unknown-batch", "There is no such batch", Http::NOT_FOUND),
            Self::Method => {
                ("method", "The method is not for this address", Http::METHOD_NOT_ALLOWED)
            }
            Self::Stalled => ("stalled", "The request stopped coming", Http::REQUEST_TIMEOUT),
            Self::BatchConflict => {
                ("batch-conflict", "The batch id was used for other bytes", Http::CONFLICT)
            }
            Self::BadSettings => ("bad-settings", "The settings cannot be", Http::BAD_REQUEST),
            Self::SettingsConflict => {
                ("settings-conflict", "The settings were changed meanwhile", Http::CONFLICT)
            }
            Self::TooLarge => ("too-large", "The request is too large", Http::PAYLOAD_TOO_LARGE),
            Self::Encoding => {
                ("encoding", "The encoding is not known", Http::UNSUPPORTED_MEDIA_TYPE)
            }
            Self::Limit => ("limit", "A limit was reached", Http::UNPROCESSABLE_ENTITY),
            Self::RowsRejected => (
                "rows-rejected",
                "Some rows are bad, so none was taken",
                Http::UNPROCESSABLE_ENTITY,
            ),
            Self::Busy => ("busy", "Too much is under way", Http::TOO_MANY_REQUESTS),
            Self::Internal => {
                ("internal", "Something went wrong here", Http::INTERNAL_SERVER_ERROR)
            }
            Self::Unavailable => {
                ("unavailable", "This cannot be done now", Http::SERVICE_UNAVAILABLE)
            }
            Self::Incomplete => ("incomplete", "Rows are missing", Http::SERVICE_UNAVAILABLE),
            Self::Late => ("late", "There is no answer by the deadline", Http::GATEWAY_TIMEOUT),
        }
    }
}

/// What is sent instead of an answer.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: ProblemKind,
    detail: String,
    /// Further keys: `hint`, `position`, and those of the kind.
    more: Map<String, Value>,
}

#[derive(Serialize)]
struct Body<'p> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: &'p str,
    #[serde(flatten)]
    more: &'p Map<String, Value>,
}

impl Problem {
    pub(crate) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), more: Map::new() }
    }

    /// The name of its kind.
    pub(crate) const fn name(&self) -> &'static str {
        self.kind.facts().0
    }

    /// The same with advice.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.with("hint", hint.into())
    }

    /// The same with one more key.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    /// A failure of ours: logged in full, told without detail.
    pub(crate) fn internal(what: &str, error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "{what}");
        Self::new(ProblemKind::Internal, format!("{what}; the server's log says more"))
    }

    /// A text that is no query.
    pub(crate) fn of_sql(kind: ProblemKind, error: SqlError) -> Self {
        let SqlError { message, field, position, hint } = error;
        let mut problem = Self::new(kind, message);
        if let Some(field) = field {
            problem = problem.with("field", field);
        }
        if let Some(Position { line, column, offset }) = position {
            let place = json!({ "line": line, "column": column, "offset": offset });
            problem = problem.with("position", place);
        }
        match hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }

    /// A query without an answer.
    pub(crate) fn of_ask(error: &AskError) -> Self {
        use hadal_aggregate::FaultCode;
        let kind = match error {
            AskError::Faults(faults) => {
                let are_all = |code| faults.iter().all(|fault| fault.code == code);
                match (are_all(FaultCode::Invalid), are_all(FaultCode::Busy)) {
                    (true, _) => ProblemKind::BadQuery,
                    (_, true) => ProblemKind::Unavailable,
                    _ => ProblemKind::Limit,
                }
            }
            AskError::Incomplete { .. } => ProblemKind::Incomplete,
            AskError::Late => ProblemKind::Late,
            AskError::NoLeaves(_) | AskError::NoRoom | AskError::Stopping => {
                ProblemKind::Unavailable
            }
        };
        let problem = Self::new(kind, error.to_string());
        match kind {
            ProblemKind::Late => problem.hint("give a longer deadline_ms, or a shorter time range"),
            _ => problem,
        }
    }

    /// Settings that cannot be.
    pub(crate) fn of_settings(error: &SettingsError) -> Self {
        Self::new(ProblemKind::BadSettings, error.to_string()).with("field", error.field.as_str())
    }

    /// Definitions that cannot be read or changed.
    pub(crate) fn of_console(error: &ConsoleError) -> Self {
        match error {
            ConsoleError::Conflict { current, .. } => {
                Self::new(ProblemKind::SettingsConflict, error.to_string())
                    .with("version", *current)
                    .hint("GET the settings, and change those")
            }
            _ => {
                tracing::error!(%error, "the definitions are not to be had");
                let detail = "the definitions are not to be had now; the server's log says more";
                Self::new(ProblemKind::Unavailable, detail)
            }
        }
    }

    /// Whether somebody else changed the settings first.
    pub(crate) fn is_settings_conflict(&self) -> bool {
        self.kind == ProblemKind::SettingsConflict
    }

    /// What is wrong, in words.
    #[cfg(test)]
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// A batch that was not taken.
    pub(crate) fn of_sink(error: &SinkError) -> Self {
        let kind = match error {
            SinkError::Conflict { .. } => ProblemKind::BatchConflict,
            SinkError::Corrupt { .. } => ProblemKind::BadBatch,
            SinkError::Busy(_) => ProblemKind::Busy,
            SinkError::Limit(_) => ProblemKind::Limit,
            SinkError::Full(_) | SinkError::Store(_) | SinkError::Unavailable(_) => {
                ProblemKind::Unavailable
            }
        };
        Self::new(kind, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (name, title, status) = self.kind.facts();
        let body = Body {
            r#type: format!("urn:hadal:problem:{name}"),
            title,
            status: status.as_u16(),
            detail: &self.detail,
            more: &self.more,
        };
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let json = HeaderValue::from_static("application/problem+json");
        let mut response = (status, [(header::CONTENT_TYPE, json)], body).into_response();
        let headers = response.headers_mut();
        match self.kind {
            ProblemKind::Busy | ProblemKind::Unavailable => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            ProblemKind::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use hadal_aggregate::{Fault, FaultCode};
    use hadal_types::{BatchId, TableName};

    use super::*;

    fn status(problem: Problem) -> u16 {
        problem.into_response().status().as_u16()
    }

    #[test]
    fn refusals_of_a_sink_have_their_statuses() {
        let id = BatchId::new("b").expect("an id");
        let table = TableName::new("t").expect("a name");
        let text = || "x".to_owned();
        for (error, expected) in [
            (SinkError::Conflict { id: id.clone() }, 409),
            (SinkError::Corrupt { id, table, reason: text() }, 400),
            (SinkError::Busy(text()), 429),
            (SinkError::Limit(text()), 422),
            (SinkError::Full(text()), 503),
            (SinkError::Store(text()), 503),
            (SinkError::Unavailable(text()), 503),
        ] {
            assert_eq!(status(Problem::of_sink(&error)), expected, "{error}");
        }
    }

    #[test]
    fn a_busy_door_says_when_to_come_back() {
        let busy = Problem::of_sink(&SinkError::Busy("the log".to_owned())).into_response();
        assert_eq!(busy.headers()[header::RETRY_AFTER], "1");
    }

    #[test]
    fn queries_without_answers_have_their_statuses() {
        let fault = |code| AskError::Faults(vec![Fault::new(code, "x")]);
        for (error, expected) in [
            (fault(FaultCode::Invalid), 400),
            (fault(FaultCode::Overflow), 422),
            (fault(FaultCode::Memory), 422),
            (fault(FaultCode::Busy), 503),
            (AskError::Incomplete { scanned: 1, expected: 2 }, 503),
            (AskError::NoLeaves(2), 503),
            (AskError::NoRoom, 503),
            (AskError::Late, 504),
            (AskError::Stopping, 503),
        ] {
            assert_eq!(status(Problem::of_ask(&error)), expected, "{error}");
        }
    }
}
