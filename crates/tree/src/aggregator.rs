//! An aggregator: a peer over peers.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial};
use hadal_peer::{BoxFuture, Peer, PeerStatus, StatusScope, TableBlocks, TableReport};
use hadal_query::Query;
use hadal_types::limits::{MERGE_AT_ONCE_BYTES, TREE_FANOUT};
use hadal_types::{CancelOnDrop, LeafName, TableName};
use parking_lot::RwLock;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::timeout_at;

use crate::expected_rows::ExpectedRows;
use crate::straggler_timeout::{earlier, wait_until};

/// Queries all of its peers, and merges the partials that arrive in time.
pub struct Aggregator {
    children: RwLock<Vec<Arc<Child>>>,
    expected_rows: Arc<ExpectedRows>,
}

/// One peer, and the leaves that it answers for.
struct Child {
    peer: Arc<dyn Peer>,
    leaves: Vec<LeafName>,
}

impl Aggregator {
    /// Makes an aggregator over one peer that answers for all of these leaves.
    #[must_use]
    pub fn over(
        peer: Arc<dyn Peer>,
        leaves: Vec<LeafName>,
        expected_rows: &Arc<ExpectedRows>,
    ) -> Self {
        Self::of(vec![Child { peer, leaves }], expected_rows)
    }

    fn of(children: Vec<Child>, expected_rows: &Arc<ExpectedRows>) -> Self {
        let children = RwLock::new(children.into_iter().map(Arc::new).collect());
        Self { children, expected_rows: Arc::clone(expected_rows) }
    }

    /// Adds a peer, which answers for these leaves, from the next query on.
    pub fn join(&self, peer: Arc<dyn Peer>, leaves: Vec<LeafName>) {
        let mut children = self.children.write();
        children.push(Arc::new(Child { peer, leaves }));
    }

    /// Removes the peer that answers for this leaf alone, and forgets the rows expected of it.
    pub fn leave(&self, leaf: &LeafName) {
        let mut children = self.children.write();
        children.retain(|child| child.leaves.as_slice() != std::slice::from_ref(leaf));
        self.expected_rows.forget_leaf(leaf);
    }

    fn children(&self) -> Vec<Arc<Child>> {
        self.children.read().clone()
    }

    /// Builds a tree over `leaves`, with at most five peers under each aggregator.
    #[must_use]
    pub fn over_leaves(
        leaves: Vec<(LeafName, Arc<dyn Peer>)>,
        expected_rows: &Arc<ExpectedRows>,
    ) -> Self {
        let child = |(name, peer)| Child { peer, leaves: vec![name] };
        let mut children: Vec<Child> = leaves.into_iter().map(child).collect();
        while children.len() > TREE_FANOUT {
            let groups = children.len().div_ceil(TREE_FANOUT);
            let mut next: Vec<Vec<Child>> = (0..groups).map(|_| Vec::new()).collect();
            for (index, child) in children.into_iter().enumerate() {
                next[index % groups].push(child);
            }
            children = next.into_iter().map(|group| Child::nest(group, expected_rows)).collect();
        }
        Self::of(children, expected_rows)
    }

    async fn ask(&self, query: Arc<Query>, deadline: Instant) -> Partial {
        let start = Instant::now();
        let children = self.children();
        let mut waiting: BTreeMap<usize, u64> =
            children.iter().map(|child| self.expected(child, &query)).enumerate().collect();
        let expected: u64 = waiting.values().sum();
        let for_children = earlier(start, deadline);
        let mut answers = FuturesUnordered::new();
        for (index, child) in children.iter().enumerate() {
            let answer = child.peer.query(Arc::clone(&query), for_children);
            answers.push(async move { (index, answer.await) });
        }
        let mut merged = Partial::empty(&query);
        let (mut until, mut answered) = (deadline, 0u64);
        while let Ok(Some((index, partial))) = timeout_at(until.into(), answers.next()).await {
            answered += waiting.remove(&index).unwrap_or(0);
            self.learn(&partial, &query);
            merged = merge(merged, self.with_expected(partial, &query), &query).await;
            if !merged.errors.is_empty() {
                // The query has failed: the other peers need not continue.
                return merged;
            }
            if !query.require_complete {
                until = wait_until(start, Instant::now(), deadline, answered, expected);
            }
        }
        let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        for (index, _) in waiting {
            merged.coverage.merge(self.silent(&children[index], &query, micros));
        }
        merged
    }

    fn expected(&self, child: &Child, query: &Query) -> u64 {
        child.leaves.iter().map(|leaf| self.expected_rows.expected(leaf, &query.table)).sum()
    }

    /// Stores the rows that a leaf reports to hold as the rows expected of it from now on.
    fn learn(&self, partial: &Partial, query: &Query) {
        for leaf in &partial.coverage.leaves {
            if leaf.outcome == LeafOutcome::Answered {
                self.expected_rows.set(&leaf.name, &query.table, leaf.rows_expected);
            }
        }
    }

    /// Completes the partial with the expected rows of leaves that failed, which cannot report
    /// them.
    fn with_expected(&self, mut partial: Partial, query: &Query) -> Partial {
        let coverage = &mut partial.coverage;
        for leaf in &mut coverage.leaves {
            let expected = self.expected_rows.expected(&leaf.name, &query.table);
            if leaf.outcome != LeafOutcome::Answered && leaf.rows_expected < expected {
                let missing = expected - leaf.rows_expected;
                leaf.rows_expected = expected;
                coverage.rows_expected = coverage.rows_expected.saturating_add(missing);
            }
        }
        partial
    }

    /// Returns the coverage of a child that did not answer in time.
    fn silent(&self, child: &Child, query: &Query, micros: u64) -> Coverage {
        let mut coverage = Coverage::default();
        for leaf in &child.leaves {
            let silent = LeafCoverage {
                name: leaf.clone(),
                outcome: LeafOutcome::Late,
                rows_expected: self.expected_rows.expected(leaf, &query.table),
                rows_scanned: 0,
                micros,
            };
            coverage.merge(Coverage::of_leaf(silent, false));
        }
        coverage
    }
}

async fn merge(mut merged: Partial, partial: Partial, query: &Query) -> Partial {
    if merged.reservation.bytes().min(partial.reservation.bytes()) <= MERGE_AT_ONCE_BYTES {
        merged.merge(partial);
        return merged;
    }
    let waits = CancelOnDrop::default();
    let cancelled = waits.cancelled();
    let merging = spawn_blocking(move || {
        merged.merge_unless(partial, &|| cancelled.is_cancelled());
        merged
    });
    match merging.await.map_err(JoinError::try_into_panic) {
        Ok(merged) => merged,
        Err(Ok(panic)) => resume_unwind(panic),
        // The program ends, and the client's connection with it.
        Err(Err(_)) => Partial::empty(query),
    }
}

impl Child {
    fn nest(children: Vec<Self>, expected_rows: &Arc<ExpectedRows>) -> Self {
        let leaves = children.iter().flat_map(|child| child.leaves.clone()).collect();
        let peer = Arc::new(Aggregator::of(children, expected_rows));
        Self { peer, leaves }
    }
}

impl Peer for Aggregator {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(self.ask(query, deadline))
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move {
            let children = self.children();
            let mut statuses: FuturesUnordered<_> =
                children.iter().map(|child| child.peer.status(scope)).collect();
            let mut leaves = Vec::new();
            while let Some(status) = statuses.next().await {
                leaves.extend(status.leaves);
            }
            leaves.sort_by(|left, right| left.name.cmp(&right.name));
            PeerStatus { leaves }
        })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        self.children().iter().flat_map(|child| child.peer.reports(table)).collect()
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async move {
            let children = self.children();
            let mut responses: FuturesUnordered<_> =
                children.iter().map(|child| child.peer.blocks(table)).collect();
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
