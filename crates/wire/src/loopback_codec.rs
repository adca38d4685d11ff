//! Mirror mode: in process, but every hop encodes and decodes.
//!
//! The same suites run in process, mirrored and on a cluster, so that the three cannot drift. A
//! wrapped peer sees only what came through bytes, and so does whoever asks it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial, QueryError, QueryErrorCode};
use hadal_query::Query;
use hadal_types::{BatchId, LeafName, TableName, TableSettings};

use crate::batch::{
    decode_accepted, decode_batch, decode_configure, decode_configured, decode_drop_table,
    decode_dropped, decode_known, decode_knows, encode_accepted, encode_batch, encode_configure,
    encode_configured, encode_drop_table, encode_dropped, encode_known, encode_knows,
};
use crate::blocks::{decode_blocks, decode_blocks_of, encode_blocks, encode_blocks_of};
use crate::error::DecodeError;
use crate::partial::{decode_partial, encode_partial};
use crate::query::QueryRequest;
use crate::status::{decode_status, encode_status};
use hadal_peer::{Batch, BoxFuture, Peer, PeerStatus, Receipt, Sink, SinkError, TableBlocks};

/// A peer, or a sink, behind a wire that is no network.
pub struct LoopbackCodec<P: ?Sized> {
    name: LeafName,
    failures: AtomicU64,
    first_failure: OnceLock<DecodeError>,
    inner: Arc<P>,
}

impl<P: ?Sized> LoopbackCodec<P> {
    /// Wraps `inner`; `name` is who failed when its answer cannot be read.
    #[must_use]
    pub fn new(name: LeafName, inner: Arc<P>) -> Self {
        Self { name, failures: AtomicU64::new(0), first_failure: OnceLock::new(), inner }
    }

    /// How often something did not come through. Always 0, unless there is a mistake.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// The first error of those.
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

    /// The answer of a peer of whom no answer came: a limit is the question's fault, all else
    /// the world's.
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
        };
        partial.coverage = Coverage::of_leaf(leaf, false);
        partial
    }
}

impl<P: Peer + ?Sized> LoopbackCodec<P> {
    async fn ask(&self, query: &Arc<Query>, deadline: Instant) -> Partial {
        let start = Instant::now();
        let remaining = deadline.saturating_duration_since(start);
        let request = QueryRequest { query: Arc::clone(query), remaining, attempt: 0 };
        match QueryRequest::decode(request.encode()).map_err(|error| self.note(error)) {
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

    /// The other side of the wire.
    async fn answer(&self, request: QueryRequest) -> Bytes {
        let deadline = Instant::now() + request.remaining;
        encode_partial(self.inner.query(request.query, deadline).await)
    }
}

impl<P: Peer + ?Sized> Peer for LoopbackCodec<P> {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move { self.ask(&query, deadline).await })
    }

    /// A status that cannot be read is that of no leaves.
    fn status(&self) -> BoxFuture<'_, PeerStatus> {
        Box::pin(async move {
            let bytes = encode_status(&self.inner.status().await);
            decode_status(bytes).map_err(|error| self.note(error)).unwrap_or_default()
        })
    }

    /// Blocks that cannot be read are none.
    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async move {
            let asked = decode_blocks_of(encode_blocks_of(table)).map_err(|error| self.note(error));
            let Ok(table) = asked else { return TableBlocks::default() };
            let bytes = encode_blocks(&self.inner.blocks(&table).await);
            decode_blocks(bytes).map_err(|error| self.note(error)).unwrap_or_default()
        })
    }
}

impl<S: Sink + ?Sized> LoopbackCodec<S> {
    /// A batch of which nobody can tell whether it was taken was not acknowledged.
    fn lost(&self, error: DecodeError) -> SinkError {
        SinkError::Store(self.note(error).to_string())
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
            let accepted = self.inner.accept(batch).await;
            decode_accepted(encode_accepted(&accepted)).map_err(|error| self.lost(error))?
        })
    }

    /// No message: whoever places batches hears of it beside them.
    fn takes(&self) -> bool {
        self.inner.takes()
    }

    /// Nothing is known by a sink that cannot be understood.
    fn knows<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let asked = decode_knows(encode_knows(table, id)).map_err(|error| self.note(error));
            let Ok((table, id)) = asked else { return false };
            let known = self.inner.knows(&table, &id).await;
            decode_known(encode_known(known)).map_err(|error| self.note(error)).unwrap_or(false)
        })
    }

    fn drop_table(&self, table: TableName) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            let asked = decode_drop_table(encode_drop_table(&table));
            let table = asked.map_err(|error| self.lost(error))?;
            let dropped = self.inner.drop_table(table).await;
            decode_dropped(encode_dropped(&dropped)).map_err(|error| self.lost(error))?
        })
    }

    /// It takes the words of other doors: which batch, and whether all is well.
    fn can_revoke<'a>(
        &'a self,
        table: &'a TableName,
        id: &'a BatchId,
    ) -> BoxFuture<'a, Result<(), SinkError>> {
        Box::pin(async move {
            let asked = decode_knows(encode_knows(table, id));
            let (table, id) = asked.map_err(|error| self.lost(error))?;
            let told = self.inner.can_revoke(&table, &id).await;
            decode_configured(encode_configured(&told)).map_err(|error| self.lost(error))?
        })
    }

    /// The same: which batch, and how many rows went.
    fn revoke<'a>(
        &'a self,
        table: &'a TableName,
        id: &'a BatchId,
    ) -> BoxFuture<'a, Result<u64, SinkError>> {
        Box::pin(async move {
            let asked = decode_knows(encode_knows(table, id));
            let (table, id) = asked.map_err(|error| self.lost(error))?;
            let revoked = self.inner.revoke(&table, &id).await;
            decode_dropped(encode_dropped(&revoked)).map_err(|error| self.lost(error))?
        })
    }

    /// It takes the words of other doors: which table, if it is one, and how many rows.
    fn forget_losses(&self, table: Option<TableName>) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            let asked = table.map(|table| decode_drop_table(encode_drop_table(&table)));
            let table = asked.transpose().map_err(|error| self.lost(error))?;
            let forgotten = self.inner.forget_losses(table).await;
            decode_dropped(encode_dropped(&forgotten)).map_err(|error| self.lost(error))?
        })
    }

    fn configure(
        &self,
        table: TableName,
        settings: TableSettings,
    ) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(async move {
            let asked = decode_configure(encode_configure(&table, &settings));
            let (table, settings) = asked.map_err(|error| self.lost(error))?;
            let configured = self.inner.configure(table, settings).await;
            decode_configured(encode_configured(&configured)).map_err(|error| self.lost(error))?
        })
    }
}

#[cfg(test)]
mod tests;
