//! Errors of the front of the database: the error, its place, and a hint.

use hadal_aggregate::QueryErrorCode;
use hadal_definitions::DefinitionsError;
use hadal_ingest::{Reject, RejectKind};
use hadal_peer::SinkError;
use hadal_sql::{Position, SqlError};
use hadal_tree::AskError;
use hadal_types::{DocumentError, SettingsError};

/// Kinds of errors. Each door maps them to its own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request cannot be understood.
    BadRequest,
    /// The query cannot be answered.
    BadQuery,
    /// The batch cannot be read.
    BadBatch,
    /// The principal may not do this.
    Forbidden,
    /// The table does not exist.
    UnknownTable,
    /// The column does not exist.
    UnknownColumn,
    /// The user function does not exist.
    UnknownFunction,
    /// The batch does not exist.
    UnknownBatch,
    /// The member of the cluster does not exist.
    UnknownMember,
    /// The member of the cluster is not gone.
    MemberAlive,
    /// There is no rollover that could be stopped.
    NoRollover,
    /// A rollover is under way already.
    RolloverRunning,
    /// The request stopped coming.
    Stalled,
    /// The batch id was used for other bytes.
    BatchConflict,
    /// The settings are not valid.
    BadSettings,
    /// The settings were changed by somebody else.
    SettingsConflict,
    /// The definition of a user function is not valid.
    BadFunction,
    /// The user function was changed by somebody else.
    FunctionConflict,
    /// There is no such dashboard, saved view or frozen answer.
    UnknownDocument,
    /// A dashboard, a saved view or a frozen answer is not valid.
    BadDocument,
    /// A dashboard or a saved view was changed by somebody else.
    DocumentConflict,
    /// The request is too large.
    TooLarge,
    /// The format or the compression is unknown.
    Encoding,
    /// A limit was reached.
    Limit,
    /// Some rows are bad, and the body is strict.
    RowsRejected,
    /// Too much is under way; the same request may succeed later.
    Busy,
    /// A fault of the server.
    Internal,
    /// It cannot be done now; the same request may succeed later.
    Unavailable,
    /// Rows are missing, and the query wants all.
    Incomplete,
    /// There is no answer by the deadline.
    Late,
}

impl ErrorKind {
    /// Whether the same request would have succeeded if the cluster were whole and quick enough.
    pub(crate) const fn is_of_server(self) -> bool {
        matches!(self, Self::Internal | Self::Unavailable | Self::Incomplete | Self::Late)
    }

    /// The stable name for programs: also the outcome in `_queries`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "bad-request",
            Self::BadQuery => "bad-query",
            Self::BadBatch => "bad-batch",
            Self::Forbidden => "forbidden",
            Self::UnknownTable => "unknown-table",
            Self::UnknownColumn => "unknown-column",
            Self::UnknownFunction => "unknown-function",
            Self::UnknownBatch => "unknown-batch",
            Self::UnknownMember => "unknown-member",
            Self::MemberAlive => "member-alive",
            Self::NoRollover => "no-rollover",
            Self::RolloverRunning => "rollover-running",
            Self::Stalled => "stalled",
            Self::BatchConflict => "batch-conflict",
            Self::BadSettings => "bad-settings",
            Self::SettingsConflict => "settings-conflict",
            Self::BadFunction => "bad-function",
            Self::FunctionConflict => "function-conflict",
            Self::UnknownDocument => "unknown-document",
            Self::BadDocument => "bad-document",
            Self::DocumentConflict => "document-conflict",
            Self::TooLarge => "too-large",
            Self::Encoding => "encoding",
            Self::Limit => "limit",
            Self::RowsRejected => "rows-rejected",
            Self::Busy => "busy",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::Incomplete => "incomplete",
            Self::Late => "late",
        }
    }
}

/// An error with its kind, its description, and its place.
#[derive(Debug, thiserror::Error)]
#[error("{detail}")]
pub struct FrontendError {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The description, for a person.
    pub detail: String,
    /// The place, a hint, and the figures of some kinds.
    pub context: Box<ErrorContext>,
}

/// The place of an error, and a hint.
#[derive(Debug, Default)]
pub struct ErrorContext {
    /// Advice for the user.
    pub hint: Option<Hint>,
    /// The field of a request that is wrong.
    pub field: Option<String>,
    /// The place in the text of a query.
    pub position: Option<Position>,
    /// The version of the settings that are stored.
    pub version: Option<i64>,
    /// Rows of the body that were accepted before it failed.
    pub accepted: Option<u64>,
    /// Rows that were refused.
    pub rejects: Option<Rejects>,
}

/// Advice for the user. Each door puts it in words that its clients can follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// List the tables.
    ListTables,
    /// Read the stored settings, and change those.
    ReadSettings,
    /// Give a longer deadline or a shorter time range.
    LongerDeadline,
    /// Advice that is the same at every door.
    Text(String),
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Rows that were refused.
#[derive(Debug)]
pub struct Rejects {
    /// The number of refused rows.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Reject>,
    /// All of them, by kind.
    pub kinds: Vec<RejectKind>,
}

impl FrontendError {
    /// An error without context.
    #[must_use]
    pub fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), context: Box::default() }
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.context.hint = Some(hint.into());
        self
    }

    /// Returns an internal error: logged in full, shown without detail.
    pub fn internal(message: &str, error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "{message}");
        Self::new(ErrorKind::Internal, format!("{message}; the server's log says more"))
    }

    /// A text that is no query.
    #[must_use]
    pub(crate) fn of_sql(kind: ErrorKind, error: SqlError) -> Self {
        let SqlError { message, field, position, hint } = error;
        let field = field.map(|field| field.to_string());
        let hint = hint.map(Hint::Text);
        let context = ErrorContext { hint, field, position, ..ErrorContext::default() };
        Self { kind, detail: message.to_string(), context: Box::new(context) }
    }

    /// A table that does not exist.
    #[must_use]
    pub fn unknown_table(table: &str) -> Self {
        Self::new(ErrorKind::UnknownTable, format!("there is no table {table}"))
            .hint(Hint::ListTables)
    }
}

impl From<&AskError> for FrontendError {
    fn from(error: &AskError) -> Self {
        let kind = match error {
            AskError::Faults(faults) => {
                let are_all = |code| faults.iter().all(|fault| fault.code == code);
                match (are_all(QueryErrorCode::Invalid), are_all(QueryErrorCode::Busy)) {
                    (true, _) => ErrorKind::BadQuery,
                    (_, true) => ErrorKind::Unavailable,
                    _ => ErrorKind::Limit,
                }
            }
            AskError::Incomplete { .. } => ErrorKind::Incomplete,
            AskError::Late => ErrorKind::Late,
            AskError::NoLeaves(_) | AskError::NoRoom | AskError::Stopping => ErrorKind::Unavailable,
        };
        let failed = Self::new(kind, error.to_string());
        match kind {
            ErrorKind::Late => failed.hint(Hint::LongerDeadline),
            _ => failed,
        }
    }
}

impl From<&SettingsError> for FrontendError {
    fn from(error: &SettingsError) -> Self {
        let mut failed = Self::new(ErrorKind::BadSettings, error.to_string());
        failed.context.field = Some(error.field.clone());
        failed
    }
}

impl From<&DocumentError> for FrontendError {
    fn from(error: &DocumentError) -> Self {
        let mut failed = Self::new(ErrorKind::BadDocument, error.to_string());
        failed.context.field = Some(error.field.clone());
        failed
    }
}

impl From<&DefinitionsError> for FrontendError {
    fn from(error: &DefinitionsError) -> Self {
        match error {
            DefinitionsError::Conflict { current, .. } => {
                let mut failed = Self::new(ErrorKind::SettingsConflict, error.to_string())
                    .hint(Hint::ReadSettings);
                failed.context.version = Some(*current);
                failed
            }
            DefinitionsError::FunctionConflict { current, .. } => {
                let mut failed = Self::new(ErrorKind::FunctionConflict, error.to_string());
                failed.context.version = Some(*current);
                failed
            }
            DefinitionsError::DocumentConflict { current, .. } => {
                let mut failed = Self::new(ErrorKind::DocumentConflict, error.to_string());
                failed.context.version = Some(*current);
                failed
            }
            DefinitionsError::DocumentsFull(_) | DefinitionsError::TooManyFunctions => {
                Self::new(ErrorKind::Limit, error.to_string())
            }
            DefinitionsError::MemberAway { .. }
            | DefinitionsError::NoMember
            | DefinitionsError::Member { .. } => {
                Self::new(ErrorKind::Unavailable, error.to_string())
            }
            _ => {
                tracing::error!(%error, "the definitions store is unavailable");
                let detail = "the definitions store is unavailable; see the server log";
                Self::new(ErrorKind::Unavailable, detail)
            }
        }
    }
}

impl From<&SinkError> for FrontendError {
    fn from(error: &SinkError) -> Self {
        let kind = match error {
            SinkError::Conflict { .. } => ErrorKind::BatchConflict,
            SinkError::Corrupt { .. } => ErrorKind::BadBatch,
            SinkError::Busy(_) => ErrorKind::Busy,
            SinkError::Limit(_) => ErrorKind::Limit,
            SinkError::Full(_)
            | SinkError::Store(_)
            | SinkError::Unavailable(_)
            | SinkError::OutcomeUnknown(_) => ErrorKind::Unavailable,
        };
        Self::new(kind, error.to_string())
    }
}
