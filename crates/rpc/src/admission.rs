//! Which callers a server admits: checked from the metadata, before any message is read.

use hadal_types::LeafName;
use tonic::codegen::http::header::{AUTHORIZATION, HeaderMap};

use crate::identity::{
    CLUSTER, Identity, NAME, RECIPIENT, RECIPIENT_STARTED, VERSION, number, text,
};

/// Why a caller is refused. Its text names both sides and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// The metadata that every caller sends is missing.
    #[error(
        "the caller sent no cluster and version, so it is no member of cluster {cluster:?}; a \
         client of Hadal uses the HTTP port"
    )]
    NoMember {
        /// The server's cluster.
        cluster: String,
    },
    /// The caller belongs to another cluster.
    #[error(
        "the caller is of cluster {caller:?}, and this process of cluster {server:?}; start both \
         with the same --cluster, or correct the address"
    )]
    OtherCluster {
        /// The caller's cluster.
        caller: String,
        /// The server's cluster.
        server: String,
    },
    /// Neither side reads what the other writes.
    #[error(
        "the caller has wire version {caller}, and this process version {server}; neighbouring \
         versions understand each other, so upgrade the older process step by step"
    )]
    OtherVersion {
        /// The caller's version.
        caller: u64,
        /// The server's version.
        server: u32,
    },
    /// The caller's token is missing or wrong.
    #[error(
        "the caller has {}, and cluster {cluster:?} requires its token; give every process the \
         same --cluster-token",
        if *.has_token { "another cluster token" } else { "no cluster token" }
    )]
    Token {
        /// The server's cluster.
        cluster: String,
        /// Whether the caller sent a token.
        has_token: bool,
    },
    /// The call is for another process, which had this address before.
    #[error(
        "the call is for {recipient}, and this process is {server}; the address was taken over, so \
         wait until the members know it, or give each process a port of its own"
    )]
    OtherRecipient {
        /// The process that the call is for.
        recipient: String,
        /// The server.
        server: LeafName,
    },
    /// The call is for an earlier process of the same name, or for a later one.
    #[error(
        "the call is for the process of {name} that started at {recipient} microseconds since 1970, \
         and this one started at {server}; wait until the members know it"
    )]
    OtherProcess {
        /// The name of both.
        name: LeafName,
        /// The start of the process that the call is for.
        recipient: u64,
        /// The start of the server.
        server: u64,
    },
}

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Its name, for the log.
    pub(crate) name: String,
}

/// Whether the caller has the server's token, or the server requires none.
pub(crate) fn check_token(headers: &HeaderMap, server: &Identity) -> Result<(), Refusal> {
    let Some(token) = server.token() else { return Ok(()) };
    match headers.get(AUTHORIZATION) {
        Some(credentials) if token.matches(credentials.as_bytes()) => Ok(()),
        credentials => {
            let has_token = credentials.is_some();
            Err(Refusal::Token { cluster: server.cluster().to_owned(), has_token })
        }
    }
}

/// Admits a caller with these headers to calls of `server`.
///
/// # Errors
/// [`Refusal`].
pub(crate) fn admit(headers: &HeaderMap, server: &Identity) -> Result<Caller, Refusal> {
    let (cluster, version) = (text(headers, &CLUSTER), number(headers, &VERSION));
    let (Some(cluster), Some(version)) = (cluster, version) else {
        return Err(Refusal::NoMember { cluster: server.cluster().to_owned() });
    };
    if cluster != server.cluster() {
        let server = server.cluster().to_owned();
        return Err(Refusal::OtherCluster { caller: cluster, server });
    }
    let hello = server.hello();
    if u64::from(hello.wire_version).abs_diff(version) > 1 {
        return Err(Refusal::OtherVersion { caller: version, server: hello.wire_version });
    }
    check_token(headers, server)?;
    if let Some(recipient) = text(headers, &RECIPIENT)
        && *recipient != *server.name().0
    {
        return Err(Refusal::OtherRecipient { recipient, server: server.name().clone() });
    }
    if let Some(recipient) = number(headers, &RECIPIENT_STARTED)
        && recipient != hello.started
    {
        let (server, name) = (hello.started, server.name().clone());
        return Err(Refusal::OtherProcess { name, recipient, server });
    }
    Ok(Caller { name: text(headers, &NAME).unwrap_or_default() })
}

#[cfg(test)]
mod tests;
