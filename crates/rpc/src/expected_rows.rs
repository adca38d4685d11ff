//! Asks another process what it knows of the rows that leaves should hold.

use std::time::Duration;

use hadal_peer::ExpectedRowsDelta;
use hadal_types::LeafName;
use hadal_types::limits::EXPECTED_ROWS_PULL_MILLIS;
use hadal_wire::{decode_expected_rows, encode_expected_rows_since};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::call::CallError;
use crate::connection::Connection;
use crate::method::Method;

/// How long a process may take to answer.
const PULL_TIME: Duration = Duration::from_millis(EXPECTED_ROWS_PULL_MILLIS);

/// Why a process did not report its expected rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member} does not report its expected rows: {reason}")]
pub struct PullError {
    /// The process.
    pub member: LeafName,
    /// The reason in words.
    pub reason: String,
}

/// Returns what has changed at the process `member` after `version`, which belongs to the counting
/// that began at `epoch`. Returns everything if it began at another time, and at most one message:
/// further changes may be left.
///
/// # Errors
/// [`PullError`] when the process does not answer in time, or not with expected rows.
pub async fn pull_expected_rows(
    connection: &Connection,
    member: &LeafName,
    epoch: u64,
    version: u64,
) -> Result<ExpectedRowsDelta, PullError> {
    let failed = |reason: String| {
        tracing::debug!(%member, reason, "a process does not report its expected rows");
        PullError { member: member.clone(), reason }
    };
    let message = encode_expected_rows_since(epoch, version);
    let call = connection.call(Method::ExpectedRows, Some(member.into()), message);
    let reply = match timeout(PULL_TIME, call).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(failure)) => return Err(failed(CallError::from(failure).to_string())),
        Err(_) => return Err(failed(format!("no answer within {EXPECTED_ROWS_PULL_MILLIS} ms"))),
    };
    // Many shares take a while to decode.
    let decoded = spawn_blocking(move || decode_expected_rows(reply.message)).await;
    let decoded = decoded.map_err(|_| failed("reading the answer failed".to_owned()))?;
    decoded.map_err(|error| failed(error.to_string()))
}
