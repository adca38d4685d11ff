//! Something that answers a query with a partial answer by a deadline.

use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_query::Query;
use hadal_types::{LeafName, LeafState, TableName};

use crate::{BoxFuture, PeerStatus, TableBlocks};

/// Something that answers a query: a leaf, a process behind a network, or an aggregator.
pub trait Peer: Send + Sync {
    /// Answers `query`, by `deadline` at the latest.
    ///
    /// It always answers. The world's failures (a dead, late or corrupt part) show as coverage;
    /// the user's (a sum too large, a budget used up) as the partial's faults.
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial>;

    /// The state of every leaf at or below this peer, and what tables it holds.
    fn status(&self) -> BoxFuture<'_, PeerStatus>;

    /// The same, but of all tables these only: a leaf need not look at others for that.
    fn status_of<'a>(&'a self, tables: &'a [TableName]) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move {
            let mut status = self.status().await;
            for leaf in &mut status.leaves {
                let own = leaf.tables.iter().filter(|(name, _)| tables.contains(name));
                let own = own.map(|(name, table)| (name.clone(), Arc::clone(table))).collect();
                leaf.tables = Arc::new(own);
                leaf.block_bytes = leaf.tables.values().map(|table| table.block_bytes).sum();
            }
            status
        })
    }

    /// The states of the leaves at or below this peer, sorted by name: as often as one likes, where it
    /// can be told without a look at their tables.
    fn states(&self) -> BoxFuture<'_, Vec<(LeafName, LeafState)>> {
        Box::pin(async {
            let leaves = self.status().await.leaves.into_iter();
            leaves.map(|leaf| (leaf.name, leaf.state)).collect()
        })
    }

    /// The row blocks that every leaf at or below this peer holds of a table.
    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks>;
}
