//! Places batches on leaves: chooses one for each batch, and changes tables on all of them.
//!
//! [`batch_placement`] decides, and says why no batch counts twice. `sending.rs` carries its
//! decisions out. Two choices keep leaves nearly even (Scuba, VLDB 2013, section 3.3). They also
//! keep each table even, whose limit is divided evenly among leaves.

pub mod batch_placement;
mod change;
mod members;
pub mod revocation_review;
mod revocations;
mod sending;
mod tables;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use hadal_peer::{Admin, Batch, BatchLookup, BoxFuture, MemberState, Receipt, Sink, SinkError};
use hadal_types::limits::TABLES_MAX;
use hadal_types::{BatchId, Clock, FixedClock, LeafName, Micros, TableName};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::catalog::Catalog;
use crate::expected_rows::ExpectedRows;
use batch_placement::PlacementRules;
use members::{Member, Members};
use sending::Sending;
use tables::Tables;

pub use change::Applied;
pub use members::comes_later;
pub use revocations::{Record, Revocation, Revocations};

/// A process of a leaf on which batches can be placed.
pub struct PlacementLeaf {
    /// The leaf's name.
    pub name: LeafName,
    /// Receives its batches: this process does, and no later one of the leaf.
    pub sink: Arc<dyn Sink>,
    /// Receives changes of its tables.
    pub admin: Arc<dyn Admin>,
    /// The tables that it already has, and the bytes of their row blocks.
    pub tables: Vec<(TableName, u64)>,
    /// When the leaf first joined its cluster, as it announces. If unknown, it is asked for every
    /// batch that may be a retry.
    pub joined: Option<Micros>,
}

/// A sink that spreads batches over leaves.
pub struct Placement {
    rules: PlacementRules,
    revocations: Arc<dyn Revocations>,
    clock: Arc<dyn Clock>,
    start: Instant,
    members: Members,
    expected_rows: Arc<ExpectedRows>,
    catalog: Arc<Catalog>,
    state: Mutex<State>,
}

struct State {
    tables: Tables,
    under_way: HashMap<Key, Tries>,
}

/// A batch that is being placed.
type Key = (TableName, BatchId);

/// Requests to place the same batch that overlap in time. They share one leaf, whichever request
/// chooses it: a lookup that ran before another request placed the batch does not see it.
#[derive(Default)]
struct Tries {
    count: usize,
    leaf: Option<Arc<Member>>,
}

impl Placement {
    /// Returns a placement over `leaves` that passes the reports in receipts to `catalog`. No other
    /// sender places batches on these leaves.
    #[must_use]
    pub fn new(
        leaves: Vec<PlacementLeaf>,
        expected_rows: &Arc<ExpectedRows>,
        catalog: &Arc<Catalog>,
    ) -> Self {
        Self::with_tables_max(leaves, expected_rows, catalog, TABLES_MAX)
    }

    /// Returns a placement over leaves that join later, and on which other senders place batches,
    /// too. All of them share `revocations`.
    #[must_use]
    pub fn in_cluster(
        revocations: Arc<dyn Revocations>,
        clock: Arc<dyn Clock>,
        expected_rows: &Arc<ExpectedRows>,
        catalog: &Arc<Catalog>,
    ) -> Self {
        let rules = PlacementRules::CLUSTER;
        let placement = Self::new(Vec::new(), expected_rows, catalog);
        Self { rules, revocations, clock, ..placement }
    }

    /// Spreads batches of at most `tables_max` tables over `leaves`.
    #[must_use]
    fn with_tables_max(
        leaves: Vec<PlacementLeaf>,
        expected_rows: &Arc<ExpectedRows>,
        catalog: &Arc<Catalog>,
        tables_max: usize,
    ) -> Self {
        let placement = Self {
            rules: PlacementRules::ONE_PROCESS,
            revocations: Arc::new(NoRevocations),
            clock: Arc::new(FixedClock::default()),
            start: Instant::now(),
            members: Members::new(Duration::ZERO),
            expected_rows: Arc::clone(expected_rows),
            catalog: Arc::clone(catalog),
            state: Mutex::new(State { tables: Tables::new(tables_max), under_way: HashMap::new() }),
        };
        leaves.into_iter().for_each(|leaf| placement.join(leaf));
        placement
    }

    /// Places batches on one more leaf from the next batch on. The leaf may also be one that was
    /// leaving. Each later process of a leaf joins again, with its own sink.
    pub fn join(&self, leaf: PlacementLeaf) {
        let mut state = self.state.lock();
        state.tables.forget_leaf(&leaf.name);
        for (table, bytes) in &leaf.tables {
            state.tables.add(table, &leaf.name, *bytes);
        }
        self.members.join(leaf, self.now());
    }

    /// Notes what a leaf announced of itself, or that it is silent; to be repeated every second for
    /// every leaf. Without this, a leaf is asked before it gets a batch.
    pub fn set_state(&self, leaf: &LeafName, state: MemberState, used_bytes: u64, free_bytes: u64) {
        self.members.set_state(leaf, state, (used_bytes, free_bytes), self.now());
    }

    /// Places no new batch on a leaf. Its tables still change with all others, and retries of its
    /// batches still reach it.
    pub fn leave(&self, leaf: &LeafName) {
        self.members.leave(leaf);
    }

    /// Forgets a leaf with all that it holds. A retry of one of its batches then counts as new.
    pub fn remove(&self, leaf: &LeafName) {
        self.members.remove(leaf);
        let mut state = self.state.lock();
        state.tables.forget_leaf(leaf);
        self.expected_rows.forget_leaf(leaf);
        self.catalog.forget_leaf(leaf);
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    async fn place(&self, batch: Batch) -> Result<Receipt, SinkError> {
        let key = (batch.table.clone(), batch.id.clone());
        let bytes = batch.block().len() as u64;
        let _done = self.begin(&key)?;
        let (leaf, receipt) = Sending::new(self, batch).run().await?;
        let mut state = self.state.lock();
        // A leaf that was removed meanwhile stays forgotten, with this batch.
        if self.members.has(&leaf) {
            let added = if receipt.duplicate { 0 } else { receipt.rows as u64 };
            if !receipt.duplicate {
                state.tables.add(&key.0, &leaf.name, bytes);
            }
            let report = receipt.report.as_ref();
            self.expected_rows.acknowledged(&leaf.name, &key.0, added, report);
            if let Some(report) = &receipt.report {
                self.catalog.learn(report.clone());
            }
        }
        drop(state);
        Ok(receipt)
    }

    /// Returns the leaf that requests for one batch that overlap in time share, if there are no
    /// other senders. The first of them chooses it.
    fn shared_leaf(&self, key: &Key, chosen: Arc<Member>) -> Arc<Member> {
        if self.rules.has_other_senders {
            return chosen;
        }
        match self.state.lock().under_way.get_mut(key) {
            Some(tries) => Arc::clone(tries.leaf.get_or_insert(chosen)),
            None => chosen,
        }
    }

    /// Registers a batch as under way.
    fn begin<'p>(&'p self, key: &'p Key) -> Result<UnderWay<'p>, SinkError> {
        let mut state = self.state.lock();
        state.tables.begin(&key.0)?;
        state.under_way.entry(key.clone()).or_default().count += 1;
        Ok(UnderWay { placement: self, key })
    }
}

/// Ends the registration of a batch when it is dropped, however its placing ended, unless another
/// try of it is under way.
struct UnderWay<'p> {
    placement: &'p Placement,
    key: &'p Key,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.placement.state.lock();
        if let Some(tries) = state.under_way.get_mut(self.key) {
            tries.count -= 1;
            if tries.count == 0 {
                state.under_way.remove(self.key);
            }
        }
        state.tables.end(&self.key.0);
    }
}

impl Sink for Placement {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(self.place(batch))
    }

    fn look_up<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async move {
            let members = self.members.all();
            let lookups = join_all(members.iter().map(|leaf| leaf.sink.look_up(table, id))).await;
            let mut all = BatchLookup { is_answered: true, ..BatchLookup::default() };
            for lookup in lookups {
                all.is_known |= lookup.is_known;
                all.takes_batches |= lookup.takes_batches;
                all.free_bytes = all.free_bytes.max(lookup.free_bytes);
            }
            all
        })
    }
}

/// Leaves of one process need no revocations: they are never away from it.
struct NoRevocations;

impl Revocations for NoRevocations {
    fn record<'a>(&'a self, _: &'a Revocation) -> BoxFuture<'a, Result<Record, String>> {
        Box::pin(async { Err("there is no store of revocations".to_owned()) })
    }
}

#[cfg(test)]
mod tests;
