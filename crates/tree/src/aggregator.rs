//! An aggregator: a peer over peers.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hadal_aggregate::Partial;
use hadal_peer::{BoxFuture, Peer, PeerStatus, QueryWatch, StatusScope, TableBlocks, TableReport};
use hadal_query::Query;
use hadal_types::limits::TREE_FANOUT;
use hadal_types::{LeafName, TableName};
use parking_lot::RwLock;

use crate::expected_rows::ExpectedRows;
use crate::fan_out::{Child, FanOut, Leaves, Target};

/// Queries all of its peers, and merges the partials that arrive in time.
pub struct Aggregator {
    members: RwLock<Vec<Arc<Member>>>,
    fan_out: FanOut,
}

/// One peer, as itself and as a child.
struct Member {
    peer: Arc<dyn Peer>,
    child: Arc<Child>,
}

impl Member {
    fn new(peer: Arc<dyn Peer>, leaves: Vec<LeafName>) -> Self {
        let child = Arc::new(Child { target: Target::Peer(Arc::clone(&peer)), leaves });
        Self { peer, child }
    }

    fn nest(members: Vec<Self>, expected_rows: &Arc<ExpectedRows>) -> Self {
        let leaves = members.iter().flat_map(|member| member.child.leaves.clone()).collect();
        Self::new(Arc::new(Aggregator::of(members, expected_rows)), leaves)
    }
}

impl Aggregator {
    /// Makes an aggregator over one peer that answers for all of these leaves.
    #[must_use]
    pub fn over(
        peer: Arc<dyn Peer>,
        leaves: Vec<LeafName>,
        expected_rows: &Arc<ExpectedRows>,
    ) -> Self {
        Self::of(vec![Member::new(peer, leaves)], expected_rows)
    }

    fn of(members: Vec<Member>, expected_rows: &Arc<ExpectedRows>) -> Self {
        let members = RwLock::new(members.into_iter().map(Arc::new).collect());
        Self { members, fan_out: FanOut::new(Leaves::Local, expected_rows) }
    }

    /// Adds a peer, which answers for these leaves, from the next query on.
    pub fn join(&self, peer: Arc<dyn Peer>, leaves: Vec<LeafName>) {
        self.members.write().push(Arc::new(Member::new(peer, leaves)));
    }

    /// Removes the peer that answers for this leaf alone, and forgets the rows expected of it.
    pub fn leave(&self, leaf: &LeafName) {
        let mut members = self.members.write();
        members.retain(|member| member.child.leaves.as_slice() != std::slice::from_ref(leaf));
        self.fan_out.expected_rows().forget_leaf(leaf);
    }

    fn members(&self) -> Vec<Arc<Member>> {
        self.members.read().clone()
    }

    /// Builds a tree over `leaves`, with at most five peers under each aggregator.
    #[must_use]
    pub fn over_leaves(
        leaves: Vec<(LeafName, Arc<dyn Peer>)>,
        expected_rows: &Arc<ExpectedRows>,
    ) -> Self {
        let member = |(name, peer)| Member::new(peer, vec![name]);
        let mut members: Vec<Member> = leaves.into_iter().map(member).collect();
        while members.len() > TREE_FANOUT {
            let groups = members.len().div_ceil(TREE_FANOUT);
            let mut next: Vec<Vec<Member>> = (0..groups).map(|_| Vec::new()).collect();
            for (index, member) in members.into_iter().enumerate() {
                next[index % groups].push(member);
            }
            members = next.into_iter().map(|group| Member::nest(group, expected_rows)).collect();
        }
        Self::of(members, expected_rows)
    }
}

impl Peer for Aggregator {
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
            let children: Vec<Arc<Child>> =
                self.members.read().iter().map(|member| Arc::clone(&member.child)).collect();
            self.fan_out.ask(&children, 0, &query, deadline, &watch).await
        })
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move {
            let members = self.members();
            let mut statuses: FuturesUnordered<_> =
                members.iter().map(|member| member.peer.status(scope)).collect();
            let mut leaves = Vec::new();
            while let Some(status) = statuses.next().await {
                leaves.extend(status.leaves);
            }
            leaves.sort_by(|left, right| left.name.cmp(&right.name));
            PeerStatus { leaves }
        })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.members().iter().flat_map(|member| member.peer.reports(table)).collect()
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async move {
            let members = self.members();
            let mut responses: FuturesUnordered<_> =
                members.iter().map(|member| member.peer.blocks(table)).collect();
            let mut all = TableBlocks::default();
            while let Some(blocks) = responses.next().await {
                all.merge(blocks);
            }
            all
        })
    }
}

#[cfg(test)]
mod tests;
