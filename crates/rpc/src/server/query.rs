//! Answers a query with a stream of pieces.
//!
//! HTTP/2 sends no more than the receiver takes, so of a large partial only its encoded bytes wait,
//! and they stay counted as memory of queries until they are sent.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use hadal_aggregate::Partial;
use hadal_query::Query;
use hadal_types::MemoryReservation;
use hadal_types::limits::{MERGE_AT_ONCE_BYTES, MESSAGE_BYTES_MAX};
use hadal_wire::{QueryRequest, encode_partial, encode_piece};
use tokio::task::spawn_blocking;
use tonic::Status;

use crate::server::handlers::{ended, missing, undecodable};
use crate::server::services::Services;
use crate::transport::now;

/// Answers a query, with a plan or without.
pub(crate) async fn answer_query(
    message: Bytes,
    services: &Services,
) -> Result<impl Stream<Item = Result<Bytes, Status>> + Send + 'static, Status> {
    let start = now();
    let request = QueryRequest::decode(message, &services.functions);
    let request = request.map_err(|error| undecodable(&error))?;
    let deadline = start + request.remaining;
    let query = Arc::clone(&request.query);
    let partial = match request.plan {
        None => services.peer.query(request.query, deadline).await,
        Some(plan) => {
            let planned = services.planned.as_ref().ok_or_else(|| missing("aggregator"))?;
            planned.query_planned(request.query, plan, deadline).await
        }
    };
    let (bytes, held) = encode(partial, query).await?;
    if bytes.len() > MESSAGE_BYTES_MAX {
        let message = format!("a partial of {} bytes; at most {MESSAGE_BYTES_MAX}", bytes.len());
        return Err(Status::out_of_range(message));
    }
    Ok(pieces(bytes, held))
}

/// Encodes what the query wants of a partial, on another thread if that takes long. Also returns
/// the reservation of the bytes.
async fn encode(
    mut partial: Partial,
    query: Arc<Query>,
) -> Result<(Bytes, MemoryReservation), Status> {
    let is_small = partial.reservation.bytes() <= MERGE_AT_ONCE_BYTES;
    let encoding = move || {
        partial.keep_sent(&query);
        let held = std::mem::take(&mut partial.reservation);
        (encode_partial(partial), held)
    };
    let (bytes, mut held) =
        if is_small { encoding() } else { spawn_blocking(encoding).await.map_err(|_| ended())? };
    held.overdraw(bytes.len());
    Ok((bytes, held))
}

/// Returns the pieces of a partial, at least one. The memory is released with the last one.
fn pieces(
    bytes: Bytes,
    held: MemoryReservation,
) -> impl Stream<Item = Result<Bytes, Status>> + Send {
    unfold(Some((bytes, held)), async |left| {
        let (mut rest, held) = left?;
        let piece = encode_piece(&mut rest);
        Some((Ok(piece), (!rest.is_empty()).then_some((rest, held))))
    })
}
