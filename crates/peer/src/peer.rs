//! Something that answers a query with a partial answer by a deadline.

use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_query::Query;
use hadal_types::TableName;

use crate::{BoxFuture, PeerStatus, StatusScope, TableBlocks, TableReport};

/// Something that answers a query: a leaf, a process behind a network, or an aggregator.
pub trait Peer: Send + Sync {
    /// Answers `query`, by `deadline` at the latest.
    ///
    /// It always answers. The world's failures (a dead, late or corrupt part) show as coverage;
    /// the user's (a sum too large, a budget used up) as the partial's faults.
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial>;

    /// The state of every leaf at or below this peer, and of the tables in `scope`.
    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus>;

    /// The newest report of a table by every leaf at or below this peer, without waiting for a message.
    /// A leaf of this process looks at its table; the proxy of a remote leaf returns the last report
    /// that was pushed to it, by receipts and by the stream of `Reports`.
    fn reports(&self, table: &TableName) -> Vec<TableReport>;

    /// The row blocks that every leaf at or below this peer holds of a table.
    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks>;
}
