//! One function per method with one response: from the request to the encoded result.

use std::sync::Arc;

use bytes::Bytes;
use hadal_peer::{Batch, Sink, SinkError};
use hadal_wire::{
    DecodeError, decode_batch, decode_blocks_of, decode_change, decode_definitions_request,
    decode_expected_rows_since, decode_hello, decode_look_up, decode_restart, decode_scope,
    encode_accepted, encode_applied, encode_blocks, encode_definitions_answer,
    encode_expected_rows, encode_hello, encode_lookup, encode_restart_answer, encode_status,
};
use tokio::task::spawn_blocking;
use tonic::Status;

use crate::definitions;
use crate::identity::Identity;
use crate::method::Method;
use crate::server::services::Services;

/// Answers one call.
pub(crate) async fn answer(
    method: Method,
    message: Bytes,
    identity: &Identity,
    services: &Services,
) -> Result<Bytes, Status> {
    match method {
        Method::Status => status(message, services).await,
        Method::Blocks => blocks(message, services).await,
        Method::Accept => accept(message, services, false).await,
        Method::AcceptMoved => accept(message, services, true).await,
        Method::LookUp => look_up(message, services).await,
        Method::Refuse => refuse(message, services).await,
        Method::Apply => apply(message, services).await,
        Method::SayHello => say_hello(message, identity),
        Method::Restart => restart(message, services),
        Method::ExpectedRows => expected_rows(message, services).await,
        Method::AskDefinitions => ask_definitions(message, services).await,
        Method::Query | Method::Reports => Err(missing("single message for a stream")),
    }
}

/// The status for a message that cannot be decoded.
pub(crate) fn undecodable(error: &DecodeError) -> Status {
    if error.is_limit() {
        Status::out_of_range(error.to_string())
    } else {
        Status::invalid_argument(error.to_string())
    }
}

/// The status for a call of a part that this process has not.
pub(crate) fn missing(part: &str) -> Status {
    Status::unimplemented(format!("this process has no {part}"))
}

/// The status for work that ended without a result.
pub(crate) fn ended() -> Status {
    Status::internal("the work ended without a result")
}

async fn status(message: Bytes, services: &Services) -> Result<Bytes, Status> {
    let scope = decode_scope(message).map_err(|error| undecodable(&error))?;
    Ok(encode_status(&services.peer.status(&scope).await))
}

async fn blocks(message: Bytes, services: &Services) -> Result<Bytes, Status> {
    let table = decode_blocks_of(message).map_err(|error| undecodable(&error))?;
    Ok(encode_blocks(&services.peer.blocks(&table).await))
}

fn sink(services: &Services) -> Result<&Arc<dyn Sink>, Status> {
    services.sink.as_ref().ok_or_else(|| missing("place for batches"))
}

/// Accepts a batch; `moves` says that the promise to refuse it does not count.
async fn accept(message: Bytes, services: &Services, moves: bool) -> Result<Bytes, Status> {
    let sink = sink(services)?;
    // Reading every byte of a batch takes a while.
    let verified = spawn_blocking(move || verify(message)).await.map_err(|_| ended())??;
    let accepted = match verified {
        Ok(batch) if moves => sink.accept_moved(batch).await,
        Ok(batch) => sink.accept(batch).await,
        Err(error) => Err(error),
    };
    Ok(encode_accepted(&accepted))
}

/// Verifies a batch: from here on its bytes are trusted.
fn verify(message: Bytes) -> Result<Result<Batch, SinkError>, Status> {
    let batch = decode_batch(message).map_err(|error| undecodable(&error))?;
    Ok(batch.verify())
}

async fn look_up(message: Bytes, services: &Services) -> Result<Bytes, Status> {
    let (table, id) = decode_look_up(message).map_err(|error| undecodable(&error))?;
    Ok(encode_lookup(sink(services)?.look_up(&table, &id).await))
}

async fn refuse(message: Bytes, services: &Services) -> Result<Bytes, Status> {
    let (table, id) = decode_look_up(message).map_err(|error| undecodable(&error))?;
    Ok(encode_lookup(sink(services)?.refuse(&table, &id).await))
}

async fn apply(message: Bytes, services: &Services) -> Result<Bytes, Status> {
    let change = decode_change(message).map_err(|error| undecodable(&error))?;
    let admin = services.admin.as_ref().ok_or_else(|| missing("tables to change"))?;
    Ok(encode_applied(&admin.apply(change).await))
}

async fn ask_definitions(message: Bytes, services: &Services) -> Result<Bytes, Status> {
    let request = decode_definitions_request(message).map_err(|error| undecodable(&error))?;
    let store = services.definitions.as_ref().ok_or_else(|| missing("definitions"))?;
    let answer = definitions::ask(&**store, request).await;
    Ok(encode_definitions_answer(&answer))
}

fn restart(message: Bytes, services: &Services) -> Result<Bytes, Status> {
    let restart = decode_restart(message).map_err(|error| undecodable(&error))?;
    // A process that restarts no leaf says so as one that does not have this leaf.
    let restarter = services.restarter.as_ref();
    let accepted = restarter.is_some_and(|restarter| restarter.restart(&restart));
    tracing::info!(leaf = %restart.leaf, accepted, "a restart is asked for");
    Ok(encode_restart_answer(accepted))
}

async fn expected_rows(message: Bytes, services: &Services) -> Result<Bytes, Status> {
    let request = decode_expected_rows_since(message).map_err(|error| undecodable(&error))?;
    let source = services.expected_rows.as_ref().ok_or_else(|| missing("expected rows"))?;
    let (source, (epoch, version)) = (Arc::clone(source), request);
    // Many shares take a while to copy and to encode.
    let encoded = spawn_blocking(move || encode_expected_rows(&source.changes(epoch, version)));
    encoded.await.map_err(|_| ended())
}

fn say_hello(message: Bytes, identity: &Identity) -> Result<Bytes, Status> {
    // A caller of another version may say more than this release can decode.
    if let Ok(hello) = decode_hello(message) {
        tracing::debug!(caller = %hello.name, cluster = hello.cluster, "a process says hello");
    }
    Ok(encode_hello(&identity.hello()))
}
