//! Why a body cannot be read further.

use hadal_block::BlockError;

use crate::detect::Unreadable;

/// Why a body cannot be read further.
#[derive(Debug)]
pub enum IngestError {
    /// A batch cannot be encoded.
    Block(BlockError),
    /// No format that is read begins like the body.
    Unreadable(Unreadable),
}

impl std::fmt::Display for IngestError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Block(error) => error.fmt(formatter),
            Self::Unreadable(unreadable) => formatter.write_str(&unreadable.of_body(false)),
        }
    }
}

impl std::error::Error for IngestError {}
