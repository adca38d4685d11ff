//! Why bytes are no message.

use hadal_types::FunctionError;

/// Why bytes are no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The bytes end too early.
    #[error("a message ends too early")]
    Short,
    /// There are bytes after the end.
    #[error("{0} bytes after the end of a message")]
    Long(usize),
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    NoText,
    /// A code without a meaning.
    #[error("unknown {0} {1}")]
    Unknown(&'static str, u8),
    /// A number beyond its limit.
    #[error("{0} {1}; at most {2} are allowed")]
    TooMany(usize, &'static str, usize),
    /// A definition that is not valid.
    #[error(transparent)]
    Definition(#[from] FunctionError),
}
