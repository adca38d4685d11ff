//! Why a query fails: the user's mistakes, and memory that is not there.
//!
//! Errors are kept in order and bounded: of too many the first are kept, which are the same
//! whatever the order of merging.

use std::collections::BTreeSet;

use hadal_query::{EvalError, PrepareError};
use hadal_types::PoolExhausted;
use hadal_types::limits::{FAULTS_MAX, NOTE_BYTES_MAX};

/// Why a query fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueryErrorCode {
    /// The query cannot run as it is.
    Invalid,
    /// A number is beyond what can be computed with.
    Overflow,
    /// The query needs more memory than it may have.
    Memory,
    /// The query needs memory that others hold for now.
    Busy,
}

impl QueryErrorCode {
    /// All codes.
    pub const ALL: [Self; 4] = [Self::Invalid, Self::Overflow, Self::Memory, Self::Busy];

    /// The code's name in errors.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Overflow => "overflow",
            Self::Memory => "memory",
            Self::Busy => "busy",
        }
    }
}

/// The user's failure: it makes the root fail the query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// Why the query fails.
    pub code: QueryErrorCode,
    /// The same in words.
    pub message: String,
}

impl From<EvalError> for QueryError {
    fn from(error: EvalError) -> Self {
        Self::new(QueryErrorCode::Invalid, &error.to_string())
    }
}

impl QueryError {
    /// An error; its message is cut at [`NOTE_BYTES_MAX`] bytes.
    #[must_use]
    pub fn new(code: QueryErrorCode, message: &str) -> Self {
        Self { code, message: cut(message).to_owned() }
    }
}

/// Errors, each once; at most [`FAULTS_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryErrors {
    errors: BTreeSet<QueryError>,
}

impl QueryErrors {
    /// Adds an error.
    pub fn add(&mut self, error: QueryError) {
        self.errors.insert(error);
        if self.errors.len() > FAULTS_MAX {
            self.errors.pop_last();
        }
    }

    /// Adds the errors of `other`.
    pub fn merge(&mut self, other: Self) {
        other.errors.into_iter().for_each(|error| self.add(error));
    }

    /// The errors, sorted by code and message.
    pub fn iter(&self) -> impl Iterator<Item = &QueryError> {
        self.errors.iter()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum FinishError {
    /// The query cannot be answered.
    Errors(Vec<QueryError>),
    /// There was no time left.
    Late,
}

impl From<EvalError> for FinishError {
    fn from(error: EvalError) -> Self {
        QueryError::from(error).into()
    }
}

impl From<QueryError> for FinishError {
    fn from(error: QueryError) -> Self {
        Self::Errors(vec![error])
    }
}

/// The error of a query that cannot run as it is.
pub(crate) fn invalid(error: &PrepareError) -> QueryError {
    QueryError::new(QueryErrorCode::Invalid, &error.to_string())
}

/// What to do about a query that needs too much memory.
pub(crate) const ADVICE: &str = "ask for fewer groups or rows, fewer columns, or a shorter time";

/// The error of a query that needs so many bytes where there is no room for them: it is told to come
/// again only where that may help.
#[must_use]
pub fn out_of_memory(bytes: usize, spent: PoolExhausted) -> QueryError {
    let PoolExhausted { held, bytes_max, left, .. } = spent;
    let each_max = bytes_max.saturating_sub(left);
    if bytes > each_max {
        let message =
            format!("the query needs {bytes} bytes; at most {each_max} are allowed: {ADVICE}");
        return QueryError::new(QueryErrorCode::Memory, &message);
    }
    let message = format!(
        "the query needs {bytes} bytes, and all queries together hold {held} of {bytes_max}, of \
         which {left} are for small ones: {ADVICE}, or ask again later"
    );
    QueryError::new(QueryErrorCode::Busy, &message)
}

/// The error of a query that needs more than all queries together may hold, of which others hold none.
#[must_use]
pub fn over_memory_limit(bytes_max: usize) -> QueryError {
    let message =
        format!("the query needs more than the {bytes_max} bytes that are allowed: {ADVICE}");
    QueryError::new(QueryErrorCode::Memory, &message)
}

/// The text's first bytes, up to a character boundary.
pub(crate) fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(NOTE_BYTES_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_errors_the_same_are_kept_in_any_order() {
        let names: Vec<String> = (0..2 * FAULTS_MAX).map(|index| format!("{index:03}")).collect();
        let all = |names: &mut dyn Iterator<Item = &String>| {
            let mut errors = QueryErrors::default();
            names.for_each(|name| errors.add(QueryError::new(QueryErrorCode::Invalid, name)));
            errors
        };
        let forward = all(&mut names.iter());
        assert_eq!(all(&mut names.iter().rev()), forward);
        assert_eq!(forward.iter().count(), FAULTS_MAX);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let fault = QueryError::new(QueryErrorCode::Memory, &"é".repeat(NOTE_BYTES_MAX));
        assert_eq!(fault.message.len(), NOTE_BYTES_MAX);
        let odd =
            QueryError::new(QueryErrorCode::Memory, &format!("x{}", "é".repeat(NOTE_BYTES_MAX)));
        assert_eq!(odd.message.len(), NOTE_BYTES_MAX - 1);
    }
}
