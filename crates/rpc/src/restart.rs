//! Asks a process to restart a leaf.

use std::sync::Arc;
use std::time::Duration;

use hadal_peer::{LeafRestart, Member};
use hadal_types::limits::RPC_CALL_MILLIS;
use hadal_wire::{decode_restart_answer, encode_restart};
use tokio::time::timeout;

use crate::call::CallError;
use crate::connection::Connection;
use crate::identity::Identity;
use crate::method::Method;

/// How long a process may take to answer. It does not wait for the restart.
const TIME: Duration = Duration::from_millis(RPC_CALL_MILLIS);

/// Asks `member`, which supervises the leaf or is the leaf, to restart it. Returns whether it does:
/// false if the leaf is none of its leaves.
///
/// # Errors
/// A sentence with the name of the member. The restart may have begun nevertheless.
pub async fn ask_to_restart(
    member: &Member,
    identity: &Arc<Identity>,
    restart: &LeafRestart,
) -> Result<bool, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{} was asked: {why}", member.name);
    let connection = Connection::new(member.address, Arc::clone(identity));
    let connection = connection.map_err(|error| failed(&error))?;
    let message = encode_restart(restart);
    let call = connection.call(Method::Restart, Some((&member.name).into()), message);
    match timeout(TIME, call).await {
        Ok(Ok(reply)) => decode_restart_answer(reply.message).map_err(|error| failed(&error)),
        Ok(Err(failure)) => Err(failed(&CallError::from(failure))),
        Err(_) => Err(failed(&format!("no answer within {RPC_CALL_MILLIS} ms"))),
    }
}
