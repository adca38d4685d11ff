//! Errors as `application/problem+json` (RFC 9457): the error, its place, and a hint.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hadal_frontend::{ErrorContext, ErrorKind, FrontendError, Hint};
use hadal_ingest::{Reject, RejectKind};
use hadal_sql::Position;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// An error of the front of the database.
    Frontend(ErrorKind),
    Unauthorized,
    UnknownRoute,
    Method,
    NotAcceptable,
}

impl From<ErrorKind> for ProblemKind {
    fn from(kind: ErrorKind) -> Self {
        Self::Frontend(kind)
    }
}

impl ProblemKind {
    /// The kind's stable name for programs.
    const fn name(self) -> &'static str {
        match self {
            Self::Frontend(kind) => kind.name(),
            Self::Unauthorized => "unauthorized",
            Self::UnknownRoute => "unknown-route",
            Self::Method => "method",
            Self::NotAcceptable => "not-acceptable",
        }
    }

    /// Returns the kind's title for people, and its HTTP status.
    const fn title_and_status(self) -> (&'static str, StatusCode) {
        use StatusCode as Http;
        match self {
            Self::Frontend(kind) => title_and_status(kind),
            Self::Unauthorized => ("A token is needed", Http::UNAUTHORIZED),
            Self::UnknownRoute => ("There is nothing here", Http::NOT_FOUND),
            Self::Method => ("The method is not for this address", Http::METHOD_NOT_ALLOWED),
            Self::NotAcceptable => ("There is no such format of answers", Http::NOT_ACCEPTABLE),
        }
    }
}

const fn title_and_status(kind: ErrorKind) -> (&'static str, StatusCode) {
    use StatusCode as Http;
    match kind {
        ErrorKind::BadRequest => ("The request cannot be understood", Http::BAD_REQUEST),
        ErrorKind::BadQuery => ("The query cannot be answered", Http::BAD_REQUEST),
        ErrorKind::BadBatch => ("The batch cannot be read", Http::BAD_REQUEST),
        ErrorKind::Forbidden => ("The request is not allowed", Http::FORBIDDEN),
        ErrorKind::UnknownTable => ("There is no such table", Http::NOT_FOUND),
        ErrorKind::UnknownColumn => ("There is no such column", Http::NOT_FOUND),
        ErrorKind::UnknownFunction => ("There is no such function", Http::NOT_FOUND),
        ErrorKind::UnknownBatch => ("There is no such batch", Http::NOT_FOUND),
        ErrorKind::UnknownMember => ("There is no such member", Http::NOT_FOUND),
        ErrorKind::MemberAlive => ("The member is not gone", Http::CONFLICT),
        ErrorKind::NoRollover => ("There is no rollover under way", Http::NOT_FOUND),
        ErrorKind::RolloverRunning => ("A rollover is under way", Http::CONFLICT),
        ErrorKind::Stalled => ("The request stopped coming", Http::REQUEST_TIMEOUT),
        ErrorKind::BatchConflict => ("The batch id was used for other bytes", Http::CONFLICT),
        ErrorKind::BadSettings => ("The settings cannot be", Http::BAD_REQUEST),
        ErrorKind::SettingsConflict => ("The settings were changed meanwhile", Http::CONFLICT),
        ErrorKind::BadFunction => ("The function cannot be", Http::BAD_REQUEST),
        ErrorKind::FunctionConflict => ("The function was changed meanwhile", Http::CONFLICT),
        ErrorKind::UnknownDocument => ("There is nothing of this name", Http::NOT_FOUND),
        ErrorKind::BadDocument => ("This cannot be saved", Http::BAD_REQUEST),
        ErrorKind::DocumentConflict => ("It was changed meanwhile", Http::CONFLICT),
        ErrorKind::TooLarge => ("The request is too large", Http::PAYLOAD_TOO_LARGE),
        ErrorKind::Encoding => ("The encoding is not known", Http::UNSUPPORTED_MEDIA_TYPE),
        ErrorKind::Limit => ("A limit was reached", Http::UNPROCESSABLE_ENTITY),
        ErrorKind::RowsRejected => {
            ("Some rows are bad, so none was taken", Http::UNPROCESSABLE_ENTITY)
        }
        ErrorKind::Busy => ("Too much is under way", Http::TOO_MANY_REQUESTS),
        ErrorKind::Internal => ("Something went wrong here", Http::INTERNAL_SERVER_ERROR),
        ErrorKind::Unavailable => ("This cannot be done now", Http::SERVICE_UNAVAILABLE),
        ErrorKind::Incomplete => ("Rows are missing", Http::SERVICE_UNAVAILABLE),
        ErrorKind::Late => ("There is no answer by the deadline", Http::GATEWAY_TIMEOUT),
    }
}

/// Returns advice in words for an HTTP client.
fn hint_text(hint: Hint) -> String {
    match hint {
        Hint::ListTables => "GET /v1/tables lists the tables".to_owned(),
        Hint::ReadSettings => "GET the settings, and change those".to_owned(),
        Hint::LongerDeadline => "give a longer deadline_ms, or a shorter time range".to_owned(),
        Hint::Text(text) => text,
    }
}

/// The body of a response that reports an error.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: ProblemKind,
    detail: String,
    /// Further keys: `hint`, `position`, and the keys of the kind.
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

/// The refused rows of one kind, as shown to the client.
#[derive(Debug, Serialize)]
pub(crate) struct RejectKindBody<'r> {
    kind: &'r str,
    count: u64,
    line: u64,
    reason: &'r str,
    excerpt: &'r str,
}

impl<'r> RejectKindBody<'r> {
    pub(crate) fn of(kinds: &'r [RejectKind]) -> Vec<Self> {
        let body = |RejectKind { kind, count, first }: &'r RejectKind| Self {
            kind,
            count: *count,
            line: first.line,
            reason: &first.reason,
            excerpt: &first.excerpt,
        };
        kinds.iter().map(body).collect()
    }
}

/// A refused row, as shown to the client.
#[derive(Debug, Serialize)]
pub(crate) struct RejectBody<'r> {
    line: u64,
    reason: &'r str,
}

impl<'r> RejectBody<'r> {
    pub(crate) fn of(rejects: &'r [Reject]) -> Vec<Self> {
        rejects.iter().map(|reject| Self { line: reject.line, reason: &reject.reason }).collect()
    }
}

impl Problem {
    pub(crate) fn new(kind: impl Into<ProblemKind>, detail: impl Into<String>) -> Self {
        Self { kind: kind.into(), detail: detail.into(), more: Map::new() }
    }

    /// Adds advice.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.with("hint", hint.into())
    }

    /// Adds a key.
    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    /// The description of the error.
    #[cfg(test)]
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }
}

impl From<FrontendError> for Problem {
    fn from(error: FrontendError) -> Self {
        let FrontendError { kind, detail, context } = error;
        let ErrorContext { hint, field, position, version, accepted, rejects } = *context;
        let position = position.map(|Position { line, column, offset }| {
            json!({ "line": line, "column": column, "offset": offset })
        });
        let keys = [
            ("hint", hint.map(hint_text).map(Value::from)),
            ("field", field.map(Value::from)),
            ("position", position),
            ("version", version.map(Value::from)),
            ("accepted", accepted.map(Value::from)),
            ("rejected_count", rejects.as_ref().map(|rejects| rejects.count.into())),
            ("rejected", rejects.as_ref().map(|rejects| json!(RejectBody::of(&rejects.first)))),
            ("reject_kinds", rejects.as_ref().map(|r| json!(RejectKindBody::of(&r.kinds)))),
        ];
        let given = keys.into_iter().filter_map(|(key, value)| Some((key, value?)));
        given.fold(Self::new(kind, detail), |problem, (key, value)| problem.with(key, value))
    }
}

impl Problem {
    /// The document: JSON in a single line.
    pub(crate) fn document(&self) -> Vec<u8> {
        let (title, status) = self.kind.title_and_status();
        let body = Body {
            r#type: format!("urn:hadal:problem:{}", self.kind.name()),
            title,
            status: status.as_u16(),
            detail: &self.detail,
            more: &self.more,
        };
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (_, status) = self.kind.title_and_status();
        let body = self.document();
        let json = HeaderValue::from_static("application/problem+json");
        let mut response = (status, [(header::CONTENT_TYPE, json)], body).into_response();
        let headers = response.headers_mut();
        match self.kind {
            ProblemKind::Frontend(ErrorKind::Busy | ErrorKind::Unavailable) => {
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
    use hadal_aggregate::{QueryError, QueryErrorCode};
    use hadal_peer::SinkError;
    use hadal_tree::AskError;
    use hadal_types::{BatchId, TableName};

    use super::*;

    fn status(error: FrontendError) -> u16 {
        Problem::from(error).into_response().status().as_u16()
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
            (SinkError::OutcomeUnknown(text()), 503),
        ] {
            assert_eq!(status(FrontendError::from(&error)), expected, "{error}");
        }
    }

    #[test]
    fn hints_are_for_clients_of_http() {
        let conflict = FrontendError::new(ErrorKind::SettingsConflict, "x");
        for (error, expected) in [
            (FrontendError::unknown_table("t"), "GET /v1/tables lists the tables"),
            (conflict.hint(Hint::ReadSettings), "GET the settings, and change those"),
            (
                FrontendError::from(&AskError::Late),
                "give a longer deadline_ms, or a shorter time range",
            ),
            (FrontendError::new(ErrorKind::Limit, "x").hint("any text"), "any text"),
        ] {
            assert_eq!(Problem::from(error).more["hint"], expected);
        }
    }

    #[test]
    fn a_busy_server_says_when_to_retry() {
        let busy = Problem::new(ErrorKind::Busy, "the log").into_response();
        assert_eq!(busy.headers()[header::RETRY_AFTER], "1");
    }

    #[test]
    fn queries_without_answers_have_their_statuses() {
        let fault = |code| AskError::Faults(vec![QueryError::new(code, "x")]);
        for (error, expected) in [
            (fault(QueryErrorCode::Invalid), 400),
            (fault(QueryErrorCode::Overflow), 422),
            (fault(QueryErrorCode::Memory), 422),
            (fault(QueryErrorCode::Busy), 503),
            (AskError::Incomplete { scanned: 1, expected: 2 }, 503),
            (AskError::NoLeaves(2), 503),
            (AskError::NoRoom, 503),
            (AskError::Late, 504),
            (AskError::Stopping, 503),
        ] {
            assert_eq!(status(FrontendError::from(&error)), expected, "{error}");
        }
    }
}
