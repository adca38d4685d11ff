//! A known leaf that does not serve.

use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial};
use hadal_peer::{BoxFuture, Peer, PeerStatus, StatusScope, TableBlocks, TableReport};
use hadal_query::Query;
use hadal_types::{LeafName, TableName};

/// Stands for a leaf that does not serve. It answers no query, so the coverage of every result
/// reports it as missing, though the number of its rows is unknown.
pub struct DeadLeaf {
    name: LeafName,
}

impl DeadLeaf {
    /// Makes the stand-in of this leaf.
    #[must_use]
    pub fn new(name: &LeafName) -> Self {
        Self { name: name.clone() }
    }
}

impl Peer for DeadLeaf {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        let leaf = LeafCoverage {
            name: self.name.clone(),
            outcome: LeafOutcome::Dead,
            rows_expected: 0,
            rows_scanned: 0,
            micros: 0,
            as_of: (0, 0),
        };
        let mut partial = Partial::empty(&query);
        partial.coverage = Coverage { unknown_losses: 1, ..Coverage::of_leaf(leaf, false) };
        Box::pin(async move { partial })
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async { PeerStatus::default() })
    }

    fn reports(&self, _table: &TableName) -> Vec<TableReport> {
        Vec::new()
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async { TableBlocks::default() })
    }
}
