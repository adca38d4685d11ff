//! The outcomes of one call.

use std::error::Error;
use std::io;

use bytes::Bytes;
use hadal_types::limits::RPC_CONNECT_MILLIS;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

use crate::connection::StreamUsed;
use crate::identity::{CLUSTER, STARTED, number};

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The message.
    pub(crate) message: Bytes,
    /// What the process says of itself.
    pub(crate) metadata: MetadataMap,
}

impl Reply {
    /// The start of the process that answered.
    pub(crate) fn started(&self) -> Option<u64> {
        number(self.metadata.as_ref(), &STARTED)
    }
}

/// Why a connection could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The machine has no process at the address.
    #[error("the connection was refused")]
    Refused,
    /// Nothing answered.
    #[error("no connection within {RPC_CONNECT_MILLIS} ms")]
    TimedOut,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Other(error.to_string()),
        }
    }
}

/// Why there is no response, as the connection reports it.
#[derive(Debug)]
pub(crate) enum CallFailure {
    /// There is no connection.
    Connect(ConnectError),
    /// The call failed with this status.
    Status(Box<Status>),
}

impl From<ConnectError> for CallFailure {
    fn from(error: ConnectError) -> Self {
        Self::Connect(error)
    }
}

impl From<Status> for CallFailure {
    fn from(status: Status) -> Self {
        Self::Status(Box::new(status))
    }
}

/// Why there is no response, by what it means for the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    /// There is no connection: nothing was sent.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// The process refused the call by name: it did nothing.
    #[error("it refused the call: {0}")]
    Refused(String),
    /// The request or the response exceeds a limit.
    #[error("{0}")]
    Limit(String),
    /// The process failed, or sent something that cannot be decoded.
    #[error("it failed: {0}")]
    Failed(String),
    /// The connection broke after something was sent. The process may have done anything.
    #[error("the connection was lost: {0}")]
    Lost(String),
}

impl From<CallFailure> for CallError {
    fn from(failure: CallFailure) -> Self {
        match failure {
            CallFailure::Connect(error) => Self::Unreachable(error.to_string()),
            CallFailure::Status(status) => Self::of(&status),
        }
    }
}

impl CallError {
    /// Reads the status of a call or a stream that failed.
    pub(crate) fn of(status: &Status) -> Self {
        let why = status.message().to_owned();
        match status.code() {
            Code::OutOfRange | Code::ResourceExhausted if status.source().is_none() => {
                Self::Limit(why)
            }
            Code::FailedPrecondition | Code::Unauthenticated | Code::Unimplemented
                if has_server(status) =>
            {
                Self::Refused(why)
            }
            _ if has_server(status) => Self::Failed(why),
            _ if is_unsent(status) => Self::Unreachable(innermost(status)),
            _ => Self::Lost(innermost(status)),
        }
    }
}

/// Whether a Hadal process wrote the status, and not the connection to it.
pub(crate) fn has_server(status: &Status) -> bool {
    status.metadata().contains_key(CLUSTER.as_str())
}

/// Whether the request was never sent: its connection had broken before.
pub(crate) fn is_unsent(status: &Status) -> bool {
    chain(status).any(|error| error.is::<StreamUsed>())
}

/// The innermost reason, which names what happened.
pub(crate) fn innermost(error: &(dyn Error + 'static)) -> String {
    chain(error).last().unwrap_or(error).to_string()
}

fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}
