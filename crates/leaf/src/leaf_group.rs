//! All leaves of a process as one peer. Their results go into one partial, so groups that several
//! leaves have are built once.
//!
//! Coverage is reported for each leaf, as if the leaves had answered one by one. A query that runs
//! out of time returns the result of the rows scanned until then, from all leaves. All leaves fail
//! only if the scan itself fails.

use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::{BoxFuture, Peer, PeerStatus, QueryWatch, StatusScope, TableBlocks, TableReport};
use hadal_query::Query;
use hadal_types::TableName;

use crate::leaf::Leaf;
use crate::query::execute::execute;
use crate::query::top_list::TableScope;

/// The leaves of a process, which share a [pool](crate::ScanPool) of threads and a memory pool.
pub struct LeafGroup {
    leaves: Vec<Arc<Leaf>>,
}

impl LeafGroup {
    /// Makes a group of these leaves, ordered by name.
    #[must_use]
    pub fn new(mut leaves: Vec<Arc<Leaf>>) -> Self {
        leaves.sort_by(|left, right| left.name().cmp(right.name()));
        Self { leaves }
    }
}

impl Peer for LeafGroup {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        self.query_watched(query, deadline, QueryWatch::default())
    }

    fn query_watched(
        &self,
        query: Arc<Query>,
        deadline: Instant,
        watch: QueryWatch,
    ) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let leaves: Vec<_> = self.leaves.iter().map(|leaf| leaf.for_query()).collect();
            execute(&leaves, query, deadline, (&watch, TableScope::Whole)).await
        })
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move {
            let mut all = PeerStatus::default();
            for leaf in &self.leaves {
                all.leaves.extend(leaf.status(scope).await.leaves);
            }
            all
        })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.leaves.iter().map(|leaf| leaf.report(table)).collect()
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async move {
            let mut all = TableBlocks::default();
            for leaf in &self.leaves {
                all.merge(leaf.blocks(table).await);
            }
            all
        })
    }
}
