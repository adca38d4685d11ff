//! Counts what leaves send.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::{BoxFuture, Peer, PeerStatus, StatusScope, TableBlocks, TableReport};
use hadal_query::Query;
use hadal_types::TableName;
use hadal_wire::encode_partial;

/// The partials that all leaves have sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    partials: AtomicU64,
    bytes: AtomicU64,
}

impl Sent {
    /// The number of partials, and their bytes.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.partials.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

/// A leaf whose partials are counted.
pub(super) struct CountedLeaf {
    pub(super) leaf: Arc<dyn Peer>,
    pub(super) sent: Arc<Sent>,
}

impl Peer for CountedLeaf {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let mut partial = self.leaf.query(Arc::clone(&query), deadline).await;
            partial.keep_sent(&query);
            let bytes = encode_partial(partial.clone()).len();
            self.sent.partials.fetch_add(1, Ordering::Relaxed);
            self.sent.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            partial
        })
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        self.leaf.status(scope)
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.leaf.reports(table)
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        self.leaf.blocks(table)
    }
}
