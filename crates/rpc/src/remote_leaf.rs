//! A leaf in another process, as a peer, a sink and an admin of this one.
//!
//! The failures of the network appear as coverage, never as an error of the query. A batch has a
//! third outcome besides taken and refused: when the connection breaks after it was sent, the leaf
//! may have taken it ([`SinkError::OutcomeUnknown`]).

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hadal_aggregate::Partial;
use hadal_peer::{
    Admin, Batch, BatchLookup, BoxFuture, Peer, PeerStatus, Receipt, Sink, SinkError, StatusScope,
    TableBlocks, TableChange, TableReport,
};
use hadal_query::Query;
use hadal_types::limits::RPC_CALL_MILLIS;
use hadal_types::{BatchId, LeafName, MemoryPool, TableName};
use hadal_wire::{
    DecodeError, decode_accepted, decode_applied, decode_blocks, decode_lookup, decode_status,
    encode_batch, encode_blocks_of, encode_change, encode_look_up, encode_scope,
};
use tokio::time::timeout;

use crate::call::{CallError, Reply};
use crate::connection::Connection;
use crate::identity::Recipient;
use crate::method::Method;
use crate::remote_query::RemoteQuery;

mod follow;
mod pushed_reports;

pub(crate) use pushed_reports::PushedReports;
pub use pushed_reports::ReportEvent;

/// How long the leaf may take to answer anything but a query, a batch or a change.
const CALL_TIME: Duration = Duration::from_millis(RPC_CALL_MILLIS);

/// One leaf, and the connection to it.
pub struct RemoteLeaf {
    name: LeafName,
    /// The start of the process to which batches are sent; `None` for any process of the leaf.
    started: Option<u64>,
    connection: Arc<Connection>,
    memory: Arc<MemoryPool>,
    reports: PushedReports,
}

impl RemoteLeaf {
    /// Makes the proxy of the leaf `name`, without connecting.
    #[must_use]
    pub fn new(name: LeafName, connection: Arc<Connection>) -> Self {
        let memory = MemoryPool::new(usize::MAX);
        Self { name, started: None, connection, memory, reports: PushedReports::default() }
    }

    /// The same proxy, whose batches and lookups reach only the process that started at this time,
    /// in microseconds since the Unix epoch. What a process promised ends with it.
    #[must_use]
    pub fn of_process(self, started: u64) -> Self {
        Self { started: Some(started), ..self }
    }

    /// The same proxy, whose partials draw from the memory of queries.
    #[must_use]
    pub fn with_memory(self, memory: Arc<MemoryPool>) -> Self {
        Self { memory, ..self }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &LeafName {
        &self.name
    }

    async fn call(&self, method: Method, message: Bytes) -> Result<Reply, CallError> {
        let started = self.started.filter(|_| method.is_of_sink());
        let recipient = Recipient { name: &self.name, started };
        let reply = self.connection.call(method, Some(recipient), message).await?;
        if let Some(started) = reply.started() {
            self.reports.note_start(started);
        }
        Ok(reply)
    }

    /// Calls a method whose result can be left out. Returns the default when the leaf does not
    /// answer in time, and when its answer cannot be decoded.
    async fn call_or_default<T: Default>(
        &self,
        method: Method,
        message: Bytes,
        decode: impl Fn(Bytes) -> Result<T, DecodeError>,
    ) -> T {
        let why = match timeout(CALL_TIME, self.call(method, message)).await {
            Ok(Ok(reply)) => match decode(reply.message) {
                Ok(value) => return value,
                Err(error) => error.to_string(),
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {RPC_CALL_MILLIS} ms"),
        };
        tracing::debug!(leaf = %self.name, ?method, why, "a leaf does not answer");
        T::default()
    }

    /// Sends a batch by a method that accepts it.
    async fn send(&self, method: Method, batch: Batch) -> Result<Receipt, SinkError> {
        let reply = self.call(method, encode_batch(batch)).await;
        let reply = reply.map_err(|error| self.unacknowledged(error))?;
        let started = reply.started();
        let accepted = decode_accepted(reply.message);
        let receipt = accepted.map_err(|error| self.undecodable(&error))??;
        if let (Some(report), Some(started)) = (&receipt.report, started) {
            self.reports.store(report.clone(), started);
        }
        Ok(receipt)
    }

    /// The error for a batch or a change that the leaf did not acknowledge.
    fn unacknowledged(&self, error: CallError) -> SinkError {
        tracing::warn!(leaf = %self.name, "a change is not acknowledged: {error}");
        match error {
            CallError::Unreachable(_) | CallError::Refused(_) => {
                SinkError::Unavailable(self.name.to_string())
            }
            CallError::Limit(limit) => SinkError::Limit(limit),
            CallError::Failed(_) | CallError::Lost(_) => {
                SinkError::OutcomeUnknown(self.name.to_string())
            }
        }
    }

    /// The error for an acknowledgement that cannot be decoded.
    fn undecodable(&self, error: &DecodeError) -> SinkError {
        self.unacknowledged(CallError::Failed(error.to_string()))
    }
}

impl Peer for RemoteLeaf {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let query = RemoteQuery {
                connection: &self.connection,
                to: &self.name,
                leaves: std::slice::from_ref(&self.name),
                query: &query,
                plan: None,
                memory: &self.memory,
            };
            query.ask(deadline).await
        })
    }

    /// Returns no leaf when the leaf does not answer.
    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(self.call_or_default(Method::Status, encode_scope(scope), decode_status))
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.reports.of_table(table).into_iter().collect()
    }

    /// Returns no blocks when the leaf does not answer.
    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(self.call_or_default(Method::Blocks, encode_blocks_of(table), decode_blocks))
    }
}

impl Sink for RemoteLeaf {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(self.send(Method::Accept, batch))
    }

    fn accept_moved(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(self.send(Method::AcceptMoved, batch))
    }

    fn look_up<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(self.call_or_default(Method::LookUp, encode_look_up(table, id), decode_lookup))
    }

    fn refuse<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(self.call_or_default(Method::Refuse, encode_look_up(table, id), decode_lookup))
    }
}

impl Admin for RemoteLeaf {
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            let reply = self.call(Method::Apply, encode_change(&change)).await;
            let reply = reply.map_err(|error| self.unacknowledged(error))?;
            decode_applied(reply.message).map_err(|error| self.undecodable(&error))?
        })
    }
}
