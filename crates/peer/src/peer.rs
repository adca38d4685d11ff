//! Something that answers a query with a partial by a deadline.

use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_query::Query;
use hadal_types::TableName;

use crate::{BoxFuture, PeerStatus, QueryWatch, StatusScope, TableBlocks, TableReport};

/// Answers queries: a leaf, a process behind a network, or an aggregator.
pub trait Peer: Send + Sync {
    /// Answers `query`, by `deadline` at the latest.
    ///
    /// It always answers. Failures of the system (a dead, late or corrupt part) appear as coverage;
    /// failures of the query (a sum too large, the memory pool exhausted) appear as the partial's
    /// errors.
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial>;

    /// As [`Self::query`], and shows `watch` the parts of the answer as they come. A peer that
    /// cannot do so shows nothing.
    fn query_watched(
        &self,
        query: Arc<Query>,
        deadline: Instant,
        _watch: QueryWatch,
    ) -> BoxFuture<'_, Partial> {
        self.query(query, deadline)
    }

    /// Returns the state of every leaf at or below this peer, and of the tables in `scope`.
    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus>;

    /// Returns the newest report of a table by every leaf at or below this peer, without waiting
    /// for a message. A leaf of this process examines its table. The proxy of a remote leaf returns
    /// the last report pushed to it, by receipts and by the stream of `Reports`.
    fn reports(&self, table: &TableName) -> Vec<TableReport>;

    /// Returns a table's row blocks on every leaf at or below this peer.
    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks>;
}
