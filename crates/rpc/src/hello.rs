//! Finds out who is at an address.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hadal_peer::Hello;
use hadal_types::Micros;
use hadal_types::limits::CLOCK_SKEW_SECONDS;
use hadal_wire::{decode_hello, encode_hello};
use tokio::time::timeout;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

use crate::call::{CallFailure, ConnectError, has_server, innermost};
use crate::connection::Connection;
use crate::identity::{CLUSTER, Identity, VERSION, number, text};
use crate::method::Method;

/// Why an address is no member of this process's cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HelloError {
    /// No process listens there.
    #[error(
        "{address} refuses connections: no process listens there; start it, or correct the address"
    )]
    Refused {
        /// The address.
        address: SocketAddr,
    },
    /// Nothing answered in time.
    #[error("{address} does not answer: the machine is down or cut off, or the process is frozen")]
    TimedOut {
        /// The address.
        address: SocketAddr,
    },
    /// Something else answered.
    #[error("{address} is no Hadal process ({why}); use the address of its member port")]
    NotHadal {
        /// The address.
        address: SocketAddr,
        /// What happened.
        why: String,
    },
    /// The process is of another cluster.
    #[error(
        "{address} is of cluster {theirs:?}, and this process of {ours:?}; start both with the \
         same --cluster, or correct the address"
    )]
    OtherCluster {
        /// The address.
        address: SocketAddr,
        /// The other process's cluster.
        theirs: String,
        /// This process's cluster.
        ours: String,
    },
    /// The process writes messages that this one does not understand.
    #[error(
        "{address} has wire version {theirs}, and this process version {ours}; neighbouring \
         versions understand each other, so upgrade the older process step by step"
    )]
    OtherVersion {
        /// The address.
        address: SocketAddr,
        /// The other process's version.
        theirs: u64,
        /// This process's version.
        ours: u32,
    },
    /// The process requires another token.
    #[error("{address} does not take this process's cluster token: {why}")]
    Token {
        /// The address.
        address: SocketAddr,
        /// The refusal of the process.
        why: String,
    },
    /// The clocks differ too much.
    #[error(
        "the clock of {address} is {} s {} this process's, and {CLOCK_SKEW_SECONDS} s are \
         allowed; set the clocks by NTP",
        .ahead_micros.saturating_abs() / Micros::SECOND,
        if *.ahead_micros < 0 { "behind" } else { "ahead of" }
    )]
    Clock {
        /// The address.
        address: SocketAddr,
        /// By how much the other process's clock is ahead, in microseconds.
        ahead_micros: i64,
    },
}

/// Asks the process at `address` who it is, and checks that it belongs to the cluster of
/// `identity`, that both understand each other, and that their clocks agree.
///
/// # Errors
/// [`HelloError`], with both sides and what to do.
pub async fn say_hello(
    address: SocketAddr,
    identity: &Arc<Identity>,
    time_limit: Duration,
) -> Result<Hello, HelloError> {
    let not_hadal = |why: String| HelloError::NotHadal { address, why };
    let connection = Connection::new(address, Arc::clone(identity))
        .map_err(|error| not_hadal(innermost(&error)))?;
    let ours = identity.hello();
    let calling = connection.call(Method::SayHello, None, encode_hello(&ours));
    let reply = match timeout(time_limit, calling).await {
        Err(_) => return Err(HelloError::TimedOut { address }),
        Ok(Err(CallFailure::Connect(error))) => return Err(of_connect(address, error)),
        Ok(Err(CallFailure::Status(status))) => return Err(of_status(address, &status, &ours)),
        Ok(Ok(reply)) => reply,
    };
    check_peer(address, &reply.metadata, &ours)?;
    let hello = decode_hello(reply.message).map_err(|error| not_hadal(error.to_string()))?;
    check_clock(address, hello.clock, identity.hello().clock)?;
    Ok(hello)
}

fn of_connect(address: SocketAddr, error: ConnectError) -> HelloError {
    match error {
        ConnectError::Refused => HelloError::Refused { address },
        ConnectError::TimedOut => HelloError::TimedOut { address },
        ConnectError::Other(why) => HelloError::NotHadal { address, why },
    }
}

fn of_status(address: SocketAddr, status: &Status, ours: &Hello) -> HelloError {
    if !has_server(status) {
        return HelloError::NotHadal { address, why: innermost(status) };
    }
    // The reason to name first is the one that no token would remove.
    if let Err(error) = check_peer(address, status.metadata(), ours) {
        return error;
    }
    let why = status.message().to_owned();
    match status.code() {
        Code::Unauthenticated => HelloError::Token { address, why },
        _ => HelloError::NotHadal { address, why },
    }
}

/// Checks the cluster and the version that a process names in the metadata of a response.
fn check_peer(address: SocketAddr, metadata: &MetadataMap, ours: &Hello) -> Result<(), HelloError> {
    let (cluster, version) =
        (text(metadata.as_ref(), &CLUSTER), number(metadata.as_ref(), &VERSION));
    let (Some(theirs), Some(version)) = (cluster, version) else {
        let why = "it names no cluster and no version".to_owned();
        return Err(HelloError::NotHadal { address, why });
    };
    if theirs != ours.cluster {
        return Err(HelloError::OtherCluster { address, theirs, ours: ours.cluster.clone() });
    }
    if version.abs_diff(u64::from(ours.wire_version)) > 1 {
        let ours = ours.wire_version;
        return Err(HelloError::OtherVersion { address, theirs: version, ours });
    }
    Ok(())
}

fn check_clock(address: SocketAddr, theirs: Micros, ours: Micros) -> Result<(), HelloError> {
    let ahead_micros = theirs.0.saturating_sub(ours.0);
    if ahead_micros.saturating_abs() > CLOCK_SKEW_SECONDS * Micros::SECOND {
        return Err(HelloError::Clock { address, ahead_micros });
    }
    Ok(())
}
