//! Violations of the protocol, after which a connection cannot continue.

/// Why bytes of a client are not messages of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProtocolError {
    /// A message of a kind that no client sends at this point.
    #[error("unexpected message of type {0:?}")]
    Kind(char),
    /// The content of a message does not fit its length.
    #[error("a message of type {0:?} is malformed")]
    Malformed(char),
    /// A text is not UTF-8.
    #[error("a message of type {0:?} is not UTF-8")]
    NotUtf8(char),
    /// The length of a message is too small or too large.
    #[error("a message of {0} bytes; it may have 4 to {1}")]
    Length(i64, usize),
    /// The startup message is not of version 3.
    #[error("unsupported protocol {major}.{minor}: the server supports 3.0")]
    Version {
        /// The requested major version.
        major: u16,
        /// The requested minor version.
        minor: u16,
    },
    /// A message of the startup that is malformed.
    #[error("the startup message is malformed")]
    Startup,
}

impl ProtocolError {
    /// Its SQLSTATE.
    pub(crate) const fn sqlstate(&self) -> &'static str {
        match self {
            Self::NotUtf8(_) => "22021",
            Self::Version { .. } => "0A000",
            _ => "08P01",
        }
    }
}
