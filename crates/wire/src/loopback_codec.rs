//! Mirror mode: all parts run in one process, but every hop encodes and decodes its messages.
//!
//! The same suites run in process, mirrored and on a cluster, so that the three cannot drift. A
//! wrapped peer sees only decoded values, and so does its caller.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial, QueryError, QueryErrorCode};
use hadal_peer::{
    Admin, Batch, BatchLookup, BoxFuture, ForeignBatch, Peer, PeerStatus, Receipt, Sink, SinkError,
    StatusScope, TableBlocks, TableChange, TableReport,
};
use hadal_query::Query;
use hadal_types::{BatchId, LeafName, TableName};

use crate::admin::{decode_applied, decode_change, encode_applied, encode_change};
use crate::batch::{
    decode_accepted, decode_batch, decode_look_up, decode_lookup, encode_accepted, encode_batch,
    encode_look_up, encode_lookup,
};
use crate::blocks::{decode_blocks, decode_blocks_of, encode_blocks, encode_blocks_of};
use crate::error::DecodeError;
use crate::partial::{decode_partial, encode_partial};
use crate::query::QueryRequest;
use crate::status::{
    decode_report, decode_scope, decode_status, encode_report, encode_scope, encode_status,
};

/// A peer or a sink behind the codec, without a network.
pub struct LoopbackCodec<P: ?Sized> {
    name: LeafName,
    failures: AtomicU64,
    first_failure: OnceLock<DecodeError>,
    inner: Arc<P>,
}

impl<P: ?Sized> LoopbackCodec<P> {
    /// Wraps `inner`; `name` is the leaf that is reported as failed when its answer cannot be
    /// decoded.
    #[must_use]
    pub fn new(name: LeafName, inner: Arc<P>) -> Self {
        Self { name, failures: AtomicU64::new(0), first_failure: OnceLock::new(), inner }
    }

    /// The number of messages that could not be decoded. Always 0, unless there is a bug.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// The first of these errors.
    #[must_use]
    pub fn first_failure(&self) -> Option<&DecodeError> {
        self.first_failure.get()
    }

    /// Counts a failure.
    fn note(&self, error: DecodeError) -> DecodeError {
        self.failures.fetch_add(1, Ordering::Relaxed);
        self.first_failure.get_or_init(|| error.clone());
        error
    }

    /// It is unknown whether the batch was taken, so it is not acknowledged.
    fn lost(&self, error: DecodeError) -> SinkError {
        SinkError::Store(self.note(error).to_string())
    }

    /// The partial of a peer whose answer could not be decoded. An exceeded limit is an error of
    /// the query; any other error is a failed leaf.
    fn failed(
        &self,
        query: &Query,
        error: &DecodeError,
        code: QueryErrorCode,
        start: Instant,
    ) -> Partial {
        let mut partial = Partial::empty(query);
        if error.is_limit() {
            partial.errors.add(QueryError::new(code, &error.to_string()));
        }
        let leaf = LeafCoverage {
            name: self.name.clone(),
            outcome: LeafOutcome::Failed,
            rows_expected: 0,
            rows_scanned: 0,
            micros: u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX),
            as_of: (0, 0),
        };
        partial.coverage = Coverage::of_leaf(leaf, false);
        partial
    }
}

impl<P: Peer + ?Sized> LoopbackCodec<P> {
    async fn ask(&self, query: &Arc<Query>, deadline: Instant) -> Partial {
        let start = Instant::now();
        let remaining = deadline.saturating_duration_since(start);
        let request = QueryRequest { query: Arc::clone(query), remaining, attempt: 0, plan: None };
        match QueryRequest::decode(request.encode(), &query.functions)
            .map_err(|error| self.note(error))
        {
            Err(error) => self.failed(query, &error, QueryErrorCode::Invalid, start),
            Ok(request) => {
                let bytes = self.answer(request).await;
                match decode_partial(bytes, query).map_err(|error| self.note(error)) {
                    Err(error) => self.failed(query, &error, QueryErrorCode::Memory, start),
                    Ok(partial) => partial,
                }
            }
        }
    }

    /// The receiving side of the codec.
    async fn answer(&self, request: QueryRequest) -> Bytes {
        let deadline = Instant::now() + request.remaining;
        let mut partial = self.inner.query(Arc::clone(&request.query), deadline).await;
        partial.keep_sent(&request.query);
        encode_partial(partial)
    }
}

impl<P: Peer + ?Sized> Peer for LoopbackCodec<P> {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move { self.ask(&query, deadline).await })
    }

    /// A status that cannot be decoded is returned without leaves.
    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move {
            let scope = decode_scope(encode_scope(scope)).map_err(|error| self.note(error));
            let Ok(scope) = scope else { return PeerStatus::default() };
            let bytes = encode_status(&self.inner.status(&scope).await);
            decode_status(bytes).map_err(|error| self.note(error)).unwrap_or_default()
        })
    }

    /// Reports that cannot be decoded are left out.
    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        let reports = self.inner.reports(table);
        let decoded = reports.iter().map(|report| decode_report(encode_report(report)));
        decoded.filter_map(|report| report.map_err(|error| self.note(error)).ok()).collect()
    }

    /// Blocks that cannot be decoded are returned as none.
    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async move {
            let request =
                decode_blocks_of(encode_blocks_of(table)).map_err(|error| self.note(error));
            let Ok(table) = request else { return TableBlocks::default() };
            let bytes = encode_blocks(&self.inner.blocks(&table).await);
            decode_blocks(bytes).map_err(|error| self.note(error)).unwrap_or_default()
        })
    }
}

impl<S: Sink + ?Sized> LoopbackCodec<S> {
    /// Passes on a decoded batch if its bytes are sound.
    async fn forward(&self, batch: ForeignBatch) -> Result<Receipt, SinkError> {
        let accepted = self.inner.accept(batch.verify()?).await;
        decode_accepted(encode_accepted(&accepted)).map_err(|error| self.lost(error))?
    }
}

impl<S: Sink + ?Sized> Sink for LoopbackCodec<S> {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move {
            let (id, table) = (batch.id.clone(), batch.table.clone());
            let batch = decode_batch(encode_batch(batch)).map_err(|error| {
                let reason = self.note(error).to_string();
                SinkError::Corrupt { id, table, reason }
            })?;
            self.forward(batch).await
        })
    }

    /// A lookup that cannot be decoded says that the batch is unknown and that no batches are
    /// taken.
    fn look_up<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async move {
            let request =
                decode_look_up(encode_look_up(table, id)).map_err(|error| self.note(error));
            let Ok((table, id)) = request else { return BatchLookup::default() };
            let lookup = self.inner.look_up(&table, &id).await;
            decode_lookup(encode_lookup(lookup))
                .map_err(|error| self.note(error))
                .unwrap_or_default()
        })
    }
}

impl<A: Admin + ?Sized> Admin for LoopbackCodec<A> {
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            let change = decode_change(encode_change(&change)).map_err(|error| self.lost(error))?;
            let applied = self.inner.apply(change).await;
            decode_applied(encode_applied(&applied)).map_err(|error| self.lost(error))?
        })
    }
}

#[cfg(test)]
mod tests;
