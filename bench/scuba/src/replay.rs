//! Replay: processes that answer with real partials after measured times, so that one machine can
//! play many.
//!
//! A replay leaf has one core: it answers one query after the other. A replay aggregator stands
//! for its whole plan. Both are behind real servers, and what they return is what real ones
//! returned before, with the coverage of the leaves that they stand for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, Partial};
use hadal_peer::{
    BoxFuture, Peer, PeerStatus, Plan, PlannedPeer, StatusScope, TableBlocks, TableReport,
};
use hadal_query::Query;
use hadal_types::{LeafName, TableName};
use parking_lot::{Mutex, RwLock};
use tokio::task::spawn_blocking;

use crate::samples::Samples;

/// What was recorded of one query on one leaf, or on all machines of a plan.
#[derive(Clone)]
pub(crate) struct Recorded {
    /// The partial; its coverage is replaced.
    pub(crate) partial: Partial,
    /// Rows of each leaf.
    pub(crate) leaf_rows: u64,
    /// The times to its answer, replayed in turns.
    pub(crate) times: Samples,
}

/// When a replayed query came to its process, and when its answer left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    /// The query had arrived and was decoded.
    pub(crate) came: Instant,
    /// The partial was ready.
    pub(crate) left: Instant,
}

/// What all replayed processes answer to the current query.
#[derive(Default)]
pub(crate) struct Recordings {
    /// A single leaf.
    leaf: RwLock<Option<Arc<Recorded>>>,
    /// By the machines of a plan.
    plans: RwLock<BTreeMap<usize, Arc<Recorded>>>,
    turn: AtomicUsize,
    /// Every visit of a leaf, if they are noted.
    visits: Mutex<Option<Vec<Visit>>>,
}

impl Recordings {
    /// Sets what leaves answer, and forgets all plans.
    pub(crate) fn set_leaf(&self, recorded: Recorded) {
        *self.leaf.write() = Some(Arc::new(recorded));
        self.plans.write().clear();
    }

    /// Sets what aggregators of plans with this many machines answer.
    pub(crate) fn set_plan(&self, machines: usize, recorded: Recorded) {
        self.plans.write().insert(machines, Arc::new(recorded));
    }

    /// Notes the visits of leaves from now on.
    pub(crate) fn note_visits(&self) {
        *self.visits.lock() = Some(Vec::new());
    }

    /// Returns the noted visits, and notes no more.
    pub(crate) fn take_visits(&self) -> Vec<Visit> {
        self.visits.lock().take().unwrap_or_default()
    }

    async fn replay(&self, recorded: &Recorded, leaves: impl Iterator<Item = LeafName>) -> Partial {
        let time = recorded.times.turn(self.turn.fetch_add(1, Ordering::Relaxed));
        // The runtime's own timer counts whole milliseconds, which every level would add again.
        // Only a stopped runtime returns an error.
        let _ = spawn_blocking(move || thread::sleep(time)).await;
        let leaves: Vec<LeafCoverage> = leaves
            .map(|name| LeafCoverage {
                name,
                outcome: LeafOutcome::Answered,
                rows_expected: recorded.leaf_rows,
                rows_scanned: recorded.leaf_rows,
                micros: 1,
                as_of: (0, 0),
            })
            .collect();
        let mut partial = recorded.partial.clone();
        let count = u32::try_from(leaves.len()).unwrap_or(u32::MAX);
        let rows = recorded.leaf_rows.saturating_mul(leaves.len() as u64);
        partial.coverage = Coverage {
            leaves_asked: count,
            leaves_answered: count,
            leaves_with_table: count,
            rows_expected: rows,
            rows_scanned: rows,
            unknown_losses: 0,
            leaves,
        };
        partial
    }
}

/// A leaf that replays.
pub(crate) struct ReplayLeaf {
    name: LeafName,
    recordings: Arc<Recordings>,
    core: tokio::sync::Mutex<()>,
}

impl ReplayLeaf {
    /// Makes a leaf of this name.
    pub(crate) fn new(name: LeafName, recordings: &Arc<Recordings>) -> Self {
        let recordings = Arc::clone(recordings);
        Self { name, recordings, core: tokio::sync::Mutex::default() }
    }

    async fn answer(&self, query: &Query) -> Partial {
        let came = Instant::now();
        let _core = self.core.lock().await;
        let Some(recorded) = self.recordings.leaf.read().clone() else {
            return Partial::empty(query);
        };
        let partial = self.recordings.replay(&recorded, std::iter::once(self.name.clone())).await;
        if let Some(visits) = &mut *self.recordings.visits.lock() {
            visits.push(Visit { came, left: Instant::now() });
        }
        partial
    }
}

impl Peer for ReplayLeaf {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move { self.answer(&query).await })
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

/// An aggregator that replays what its plan has answered before.
pub(crate) struct ReplayAggregator(pub(crate) Arc<Recordings>);

impl PlannedPeer for ReplayAggregator {
    fn query_planned(
        &self,
        query: Arc<Query>,
        plan: Arc<Plan>,
        _deadline: Instant,
    ) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let recorded = self.0.plans.read().get(&plan.machines.len()).cloned();
            let Some(recorded) = recorded else { return Partial::empty(&query) };
            let leaves = plan.machines.iter().flat_map(|machine| machine.leaves.iter().cloned());
            self.0.replay(&recorded, leaves).await
        })
    }
}
