//! A query to another process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial, QueryError, QueryErrorCode};
use hadal_peer::Plan;
use hadal_query::Query;
use hadal_types::limits::{
    MERGE_AT_ONCE_BYTES, MESSAGE_BYTES_MAX, RPC_HOP_MILLIS_MAX, RPC_HOP_SHARE,
};
use hadal_types::{LeafName, MemoryPool, MemoryReservation};
use hadal_wire::{DecodeError, QueryRequest, decode_partial, decode_piece};
use tokio::task::spawn_blocking;
use tokio::time::timeout_at;
use tonic::Status;
use tonic::codec::Streaming;

use crate::call::CallError;
use crate::connection::Connection;
use crate::method::Method;
use crate::transport::now;

/// One query, and the process that answers it for some leaves.
pub(crate) struct RemoteQuery<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) to: &'a LeafName,
    pub(crate) leaves: &'a [LeafName],
    pub(crate) query: &'a Arc<Query>,
    pub(crate) plan: Option<Arc<Plan>>,
    pub(crate) memory: &'a Arc<MemoryPool>,
}

/// Why there is no partial.
enum QueryFailure {
    /// The leaves did not answer.
    Leaves(LeafOutcome),
    /// A limit is exceeded, which is the query's fault.
    Limit(QueryErrorCode, String),
}

impl RemoteQuery<'_> {
    /// Returns the partial of the process by `deadline`. If there is none, the coverage says so of
    /// every leaf.
    pub(crate) async fn ask(&self, deadline: Instant) -> Partial {
        let start = now();
        let asking = timeout_at(deadline.into(), self.try_ask(start, deadline));
        match asking.await.unwrap_or(Err(QueryFailure::Leaves(LeafOutcome::Late))) {
            Ok(partial) => partial,
            Err(QueryFailure::Leaves(outcome)) => self.without_leaves(outcome, start),
            Err(QueryFailure::Limit(code, limit)) => {
                let mut partial = self.without_leaves(LeafOutcome::Failed, start);
                partial.errors.add(QueryError::new(code, &limit));
                partial
            }
        }
    }

    async fn try_ask(&self, start: Instant, deadline: Instant) -> Result<Partial, QueryFailure> {
        let remaining = deadline.saturating_duration_since(start);
        let request = QueryRequest {
            query: Arc::clone(self.query),
            remaining: remaining - hop_time(remaining),
            attempt: 0,
            plan: self.plan.clone(),
        };
        let calling = self.connection.stream(Method::Query, self.to, request.encode());
        let (pieces, _) = calling.await.map_err(|failure| self.failed(&failure.into()))?;
        let (bytes, held) = self.receive(pieces).await?;
        let mut partial = self.decode(bytes).await?;
        partial.reservation = held;
        partial.hold(usize::MAX);
        Ok(partial)
    }

    /// Receives the bytes of a partial, as long as there is memory for them.
    async fn receive(
        &self,
        mut pieces: Streaming<Bytes>,
    ) -> Result<(Bytes, MemoryReservation), QueryFailure> {
        let mut held = self.memory.reservation();
        let (mut first, mut whole) = (Bytes::new(), BytesMut::new());
        while let Some(piece) = pieces.message().await.map_err(|status| self.broken(&status))? {
            let piece = decode_piece(piece).map_err(|error| self.undecodable(&error))?;
            let bytes = held.bytes().saturating_add(piece.len());
            if bytes > MESSAGE_BYTES_MAX {
                let limit = format!("a partial has more than {MESSAGE_BYTES_MAX} bytes");
                return Err(QueryFailure::Limit(QueryErrorCode::Memory, limit));
            }
            held.resize(bytes).map_err(|spent| {
                let why = format!("no memory for the answer of {}: {spent}", self.to);
                QueryFailure::Limit(QueryErrorCode::Memory, why)
            })?;
            if held.bytes() == piece.len() {
                first = piece;
            } else {
                // The usual partial is one piece, and is not copied.
                whole.extend_from_slice(&std::mem::take(&mut first));
                whole.extend_from_slice(&piece);
            }
        }
        Ok((if whole.is_empty() { first } else { whole.freeze() }, held))
    }

    fn broken(&self, status: &Status) -> QueryFailure {
        self.failed(&CallError::of(status))
    }

    /// Decodes a partial, on another thread if that takes long.
    async fn decode(&self, bytes: Bytes) -> Result<Partial, QueryFailure> {
        let decoded = if bytes.len() <= MERGE_AT_ONCE_BYTES {
            decode_partial(bytes, self.query)
        } else {
            let query = Arc::clone(self.query);
            let decoding = spawn_blocking(move || decode_partial(bytes, &query)).await;
            decoding.map_err(|_| QueryFailure::Leaves(LeafOutcome::Failed))?
        };
        decoded.map_err(|error| self.undecodable(&error))
    }

    fn undecodable(&self, error: &DecodeError) -> QueryFailure {
        if error.is_limit() {
            return QueryFailure::Limit(QueryErrorCode::Memory, error.to_string());
        }
        tracing::warn!(process = %self.to, "a partial cannot be decoded: {error}");
        QueryFailure::Leaves(LeafOutcome::Failed)
    }

    fn failed(&self, error: &CallError) -> QueryFailure {
        match error {
            CallError::Limit(limit) => QueryFailure::Limit(QueryErrorCode::Memory, limit.clone()),
            CallError::Unreachable(_) | CallError::Lost(_) => {
                tracing::debug!(process = %self.to, "a query is not answered: {error}");
                QueryFailure::Leaves(LeafOutcome::Dead)
            }
            CallError::Refused(_) | CallError::Failed(_) => {
                tracing::warn!(process = %self.to, "a query is not answered: {error}");
                QueryFailure::Leaves(LeafOutcome::Failed)
            }
        }
    }

    fn without_leaves(&self, outcome: LeafOutcome, start: Instant) -> Partial {
        let micros =
            u64::try_from(now().saturating_duration_since(start).as_micros()).unwrap_or(u64::MAX);
        let mut partial = Partial::empty(self.query);
        for name in self.leaves {
            let (name, rows_expected, rows_scanned, as_of) = (name.clone(), 0, 0, (0, 0));
            let leaf = LeafCoverage { name, outcome, rows_expected, rows_scanned, micros, as_of };
            partial.coverage.merge(Coverage::of_leaf(leaf, false));
        }
        partial
    }
}

/// How much earlier than the deadline the process must answer.
fn hop_time(remaining: Duration) -> Duration {
    (remaining / RPC_HOP_SHARE).min(Duration::from_millis(RPC_HOP_MILLIS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_process_answers_a_little_earlier() {
        for (millis, expected) in [
            (0, 0),
            (100, 100 / u64::from(RPC_HOP_SHARE)),
            (RPC_HOP_MILLIS_MAX * u64::from(RPC_HOP_SHARE), RPC_HOP_MILLIS_MAX),
            (10_000, RPC_HOP_MILLIS_MAX),
        ] {
            let hop = hop_time(Duration::from_millis(millis));
            assert_eq!(hop, Duration::from_millis(expected), "{millis}");
        }
    }
}
