//! The tree over a cluster, planned for each query.
//!
//! ```text
//!            root ──┬── leaves of its machine
//!                   ├── aggregator of B ──┬── leaves of B
//!                   │                     └── aggregator of C ── leaves of C
//!                   └── aggregator of D ── leaves of D
//! ```
//!
//! The root is the aggregator that a client asked. It plans the tree over the members that are
//! known to work now (Scuba, VLDB 2013, section 3.5). Each aggregator below gets its part of the
//! plan with the query. Every leaf is in the coverage once, whatever fails: the leaves of a child
//! that does not answer are missing, and so are those that were not asked.

mod directory;
mod newest_rows;
mod planning;
mod root_query;
mod top_list;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hadal_aggregate::{LeafOutcome, Partial};
use hadal_peer::{
    BoxFuture, LeafStatus, MemberState, Peer, PeerStatus, Plan, PlannedPeer, QueryWatch,
    StatusScope, TableBlocks, TableReport,
};
use hadal_query::Query;
use hadal_types::limits::{COMPLETE_PAUSE_MILLIS_MAX, COMPLETE_PAUSE_MILLIS_MIN};
use hadal_types::{LeafName, MachineName, TableName};
use tokio::time::{Instant as TokioInstant, sleep_until};

use crate::expected_rows::ExpectedRows;
use crate::fan_out::{FanOut, Leaves};
use directory::{Directories, KnownLeaf};
use root_query::RootQuery;

/// The aggregator of one machine in a cluster, both as the root of queries and below other roots.
pub struct ClusterTree {
    machine: MachineName,
    fanout: usize,
    members: Directories,
    fan_out: FanOut,
    second_rounds: AtomicU64,
}

impl ClusterTree {
    /// Makes the aggregator of this machine, which knows no members yet. As a root it divides the
    /// machines into at most `fanout` groups, and so does every aggregator below it.
    #[must_use]
    pub fn new(machine: MachineName, fanout: usize, expected_rows: &Arc<ExpectedRows>) -> Self {
        let (members, fan_out) =
            (Directories::default(), FanOut::new(Leaves::Remote, expected_rows));
        Self { machine, fanout, members, fan_out, second_rounds: AtomicU64::default() }
    }

    /// Adds a leaf of a machine, or replaces the one of the same name.
    pub fn put_leaf(
        &self,
        name: LeafName,
        machine: MachineName,
        peer: Arc<dyn Peer>,
        state: MemberState,
    ) {
        self.members.put_leaf(name, KnownLeaf { machine, peer, state });
    }

    /// Changes the state of a leaf. One that does not answer queries is neither asked nor waited
    /// for, but its rows count as missing. Cheap if the state is as before.
    pub fn set_leaf_state(&self, leaf: &LeafName, state: MemberState) {
        self.members.set_leaf_state(leaf, state);
    }

    /// Forgets how to reach a leaf. Rows that are expected of it still count as missing, until
    /// [`ExpectedRows::forget_leaf`].
    pub fn remove_leaf(&self, leaf: &LeafName) {
        self.members.remove_leaf(leaf);
    }

    /// Adds the aggregator of another machine, or replaces it.
    pub fn put_aggregator(&self, machine: MachineName, peer: Arc<dyn PlannedPeer>, works: bool) {
        self.members.put_aggregator(machine, peer, works);
    }

    /// Notes whether the aggregator of a machine works. If not, queries are planned around it.
    pub fn set_aggregator_works(&self, machine: &MachineName, works: bool) {
        self.members.set_aggregator_works(machine, works);
    }

    /// Forgets the aggregator of a machine.
    pub fn remove_aggregator(&self, machine: &MachineName) {
        self.members.remove_aggregator(machine);
    }

    /// The leaves that the tree knows how to reach, and their states.
    #[must_use]
    pub fn leaves(&self) -> Vec<(LeafName, MachineName, MemberState)> {
        let members = self.members.now();
        let leaf = |(name, leaf): (&LeafName, &KnownLeaf)| {
            (name.clone(), leaf.machine.clone(), leaf.state)
        };
        members.leaves.iter().map(leaf).collect()
    }

    /// Answers of members that had not come when waiting for them ended, since the start.
    #[must_use]
    pub fn late_answers(&self) -> u64 {
        self.fan_out.late_answers()
    }

    /// Answers that were dropped because they had rows of leaves that were not asked for, since the
    /// start.
    #[must_use]
    pub fn refused_answers(&self) -> u64 {
        self.fan_out.refused_answers()
    }

    /// Top lists that members were asked for once more, since the start.
    #[must_use]
    pub fn second_rounds(&self) -> u64 {
        self.second_rounds.load(Ordering::Relaxed)
    }

    /// Runs a query as the root. If it requires all rows and some are missing, it is repeated until
    /// it has all or its deadline is too near: a leaf may be back after a restart.
    async fn run(&self, query: Arc<Query>, deadline: Instant, watch: QueryWatch) -> Partial {
        let mut pause = Duration::from_millis(COMPLETE_PAUSE_MILLIS_MIN);
        loop {
            let partial = self.run_once(Arc::clone(&query), deadline, &watch).await;
            let is_complete = partial.coverage.rows_scanned >= partial.coverage.rows_expected;
            let next = TokioInstant::now() + pause;
            let repeats = query.require_complete && !is_complete && partial.errors.is_empty();
            if !repeats || next.into_std() >= deadline {
                return partial;
            }
            // Its memory is free for other queries meanwhile.
            drop(partial);
            sleep_until(next).await;
            pause = (pause * 2).min(Duration::from_millis(COMPLETE_PAUSE_MILLIS_MAX));
        }
    }

    /// Plans a query, and runs it as the root, in one round of calls or several.
    async fn run_once(&self, query: Arc<Query>, deadline: Instant, watch: &QueryWatch) -> Partial {
        let members = self.members.now();
        let (mut plan, mut unasked) = planning::plan(&members, &self.machine, self.fanout);
        for leaf in self.fan_out.expected_rows().leaves_of(&query.table) {
            if !members.leaves.contains_key(&leaf) {
                unasked.push((leaf, LeafOutcome::Dead));
            }
        }
        plan.rows_expected = self.rows_expected(&plan, &query);
        let (members, fan_out, second_rounds) = (&*members, &self.fan_out, &self.second_rounds);
        let calls = RootQuery { members, fan_out, second_rounds, deadline, watch };
        calls.run(plan, unasked, &query).await
    }

    /// Rows that the leaves of a plan should have.
    fn rows_expected(&self, plan: &Plan, query: &Query) -> u64 {
        let leaves = plan.machines.iter().flat_map(|machine| &machine.leaves);
        let expected_rows = self.fan_out.expected_rows();
        leaves.map(|leaf| expected_rows.expected(leaf, &query.table)).sum()
    }
}

impl PlannedPeer for ClusterTree {
    fn query_planned(
        &self,
        query: Arc<Query>,
        plan: Arc<Plan>,
        deadline: Instant,
    ) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let members = self.members.now();
            let watch = QueryWatch::default();
            root_query::run_plan((&members, &self.fan_out), &plan, &query, deadline, &watch).await
        })
    }
}

impl Peer for ClusterTree {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(self.run(query, deadline, QueryWatch::default()))
    }

    fn query_watched(
        &self,
        query: Arc<Query>,
        deadline: Instant,
        watch: QueryWatch,
    ) -> BoxFuture<'_, Partial> {
        Box::pin(self.run(query, deadline, watch))
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move {
            let members = self.members.now();
            let mut statuses: FuturesUnordered<_> = members
                .leaves
                .iter()
                .map(|(name, leaf)| async move { status_of(name, leaf, scope).await })
                .collect();
            let mut leaves = Vec::with_capacity(members.leaves.len());
            while let Some(leaf) = statuses.next().await {
                leaves.push(leaf);
            }
            leaves.sort_by(|left, right| left.name.cmp(&right.name));
            PeerStatus { leaves }
        })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        let members = self.members.now();
        members.leaves.values().flat_map(|leaf| leaf.peer.reports(table)).collect()
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async move {
            let members = self.members.now();
            let answering = members.leaves.values().filter(|leaf| leaf.state.answers());
            let mut responses: FuturesUnordered<_> =
                answering.map(|leaf| leaf.peer.blocks(table)).collect();
            let mut all = TableBlocks::default();
            while let Some(blocks) = responses.next().await {
                all.merge(blocks);
            }
            all
        })
    }
}

/// The status of a leaf; without tables if it does not answer.
async fn status_of(name: &LeafName, leaf: &KnownLeaf, scope: &StatusScope) -> LeafStatus {
    if leaf.state.answers() {
        let mut statuses = leaf.peer.status(scope).await.leaves.into_iter();
        if let Some(status) = statuses.find(|status| status.name == *name) {
            return status;
        }
    }
    LeafStatus {
        name: name.clone(),
        state: leaf.state,
        block_bytes: 0,
        tables: Arc::default(),
        losses: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
