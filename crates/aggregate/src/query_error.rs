//! Why a query fails: mistakes of the user, and lack of memory.
//!
//! Errors are sorted and bounded. If there are too many errors, the first ones are kept. The kept
//! errors are the same whatever the order of merging.

use std::collections::BTreeSet;

use hadal_query::{EvalError, PrepareError};
use hadal_types::PoolExhausted;
use hadal_types::limits::{FAULTS_MAX, NOTE_BYTES_MAX};

/// Why a query fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueryErrorCode {
    /// The query is invalid.
    Invalid,
    /// A number exceeds the range of computations.
    Overflow,
    /// The query needs more memory than it may have.
    Memory,
    /// The query needs memory that other queries hold at the moment.
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

/// An error that makes the root fail the query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// Why the query fails.
    pub code: QueryErrorCode,
    /// The explanation.
    pub message: String,
}

impl From<EvalError> for QueryError {
    fn from(error: EvalError) -> Self {
        Self::new(QueryErrorCode::Invalid, &error.to_string())
    }
}

impl QueryError {
    /// An error whose message is cut at [`NOTE_BYTES_MAX`] bytes.
    #[must_use]
    pub fn new(code: QueryErrorCode, message: &str) -> Self {
        Self { code, message: cut(message).to_owned() }
    }
}

/// A set of at most [`FAULTS_MAX`] errors.
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

    /// Whether there are no errors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }
}

/// Why a query has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum FinishError {
    /// The query failed with these errors.
    Errors(Vec<QueryError>),
    /// The deadline passed.
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

/// The error of a query that cannot be prepared.
pub(crate) fn invalid(error: &PrepareError) -> QueryError {
    QueryError::new(QueryErrorCode::Invalid, &error.to_string())
}

/// Advice for a query that needs too much memory.
pub(crate) const ADVICE: &str = "ask for fewer groups or rows, fewer columns, or a shorter time";

/// The error of a query that cannot reserve this many bytes. The message suggests a retry only if
/// that may help.
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

/// The error of a query that exceeds the memory of all queries together while other queries hold
/// none.
#[must_use]
pub fn over_memory_limit(bytes_max: usize) -> QueryError {
    let message =
        format!("the query needs more than the {bytes_max} bytes that are allowed: {ADVICE}");
    QueryError::new(QueryErrorCode::Memory, &message)
}

/// The longest prefix of at most [`NOTE_BYTES_MAX`] bytes that ends at a character boundary.
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
        let error = QueryError::new(QueryErrorCode::Memory, &"é".repeat(NOTE_BYTES_MAX));
        assert_eq!(error.message.len(), NOTE_BYTES_MAX);
        let odd =
            QueryError::new(QueryErrorCode::Memory, &format!("x{}", "é".repeat(NOTE_BYTES_MAX)));
        assert_eq!(odd.message.len(), NOTE_BYTES_MAX - 1);
    }
}
