//! Chooses the leaf for a batch. The batch's id gives two candidates; the one that holds less of
//! the batch's table is chosen.
//!
//! Two choices keep leaves nearly even (Scuba, VLDB 2013, section 3.3). They also keep each table
//! even, whose limit is divided evenly among leaves. Leaves that take no batches are skipped. A
//! batch that a leaf already has stays on that leaf. The two candidates of an id change when
//! members join or leave. So a batch that may be a retry is looked up on all leaves; a first try
//! asks only its two candidates.

mod members;
mod tables;

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;
use hadal_peer::{Admin, Batch, BatchLookup, BoxFuture, Receipt, Sink, SinkError, TableChange};
use hadal_types::limits::TABLES_MAX;
use hadal_types::{BatchId, LeafName, TableName};
use parking_lot::Mutex;

use crate::catalog::Catalog;
use crate::expected_rows::ExpectedRows;
use members::{Member, Members};
use tables::Tables;

/// The number of candidate leaves for a new batch.
const CHOICES: usize = 2;

/// A leaf on which batches can be placed.
pub struct PlacementLeaf {
    /// The leaf's name.
    pub name: LeafName,
    /// Receives its batches.
    pub sink: Arc<dyn Sink>,
    /// Receives changes of its tables.
    pub admin: Arc<dyn Admin>,
    /// The tables that it already has, and the bytes of their row blocks.
    pub tables: Vec<(TableName, u64)>,
}

/// A sink that spreads batches over leaves.
pub struct Placement {
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
    /// Returns a placement over `leaves` that passes the reports in receipts to `catalog`.
    #[must_use]
    pub fn new(
        leaves: Vec<PlacementLeaf>,
        expected_rows: &Arc<ExpectedRows>,
        catalog: &Arc<Catalog>,
    ) -> Self {
        Self::with_tables_max(leaves, expected_rows, catalog, TABLES_MAX)
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
            members: Members::default(),
            expected_rows: Arc::clone(expected_rows),
            catalog: Arc::clone(catalog),
            state: Mutex::new(State { tables: Tables::new(tables_max), under_way: HashMap::new() }),
        };
        leaves.into_iter().for_each(|leaf| placement.join(leaf));
        placement
    }

    /// Places batches on one more leaf from the next batch on. The leaf may also be one that was
    /// leaving.
    pub fn join(&self, leaf: PlacementLeaf) {
        let mut state = self.state.lock();
        state.tables.forget_leaf(&leaf.name);
        for (table, bytes) in &leaf.tables {
            state.tables.add(table, &leaf.name, *bytes);
        }
        self.members.join(Member::of(leaf));
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

    /// Chooses the leaf for a batch: the leaf that has it, or else the candidate with less of its
    /// table.
    async fn choose(&self, batch: &Batch) -> Option<Arc<Member>> {
        let (table, bytes) = (&batch.table, batch.block().len() as u64);
        let mut first = self.members.in_order_of(&batch.id);
        let staying = first.iter().filter(|(_, stays)| *stays).count();
        let rest = first.split_off(CHOICES.min(staying));
        let mut looked_up = look_up_all(&first, batch).await;
        let takes = |leaf: &Candidate| leaf.stays && leaf.lookup.takes_batches;
        if !batch.first_try && !looked_up.iter().any(|leaf| leaf.lookup.is_known)
            || !looked_up.iter().any(takes)
        {
            looked_up.extend(look_up_all(&rest, batch).await);
        }
        if let Some(leaf) = looked_up.iter().find(|leaf| leaf.lookup.is_known) {
            return Some(Arc::clone(&leaf.member));
        }
        let has_room = |leaf: &Candidate| takes(leaf) && leaf.lookup.free_bytes >= bytes;
        // If no leaf takes batches, one is chosen to return the reason.
        let is_choice: &dyn Fn(&Candidate) -> bool = match &looked_up[..] {
            leaves if leaves.iter().any(has_room) => &has_room,
            leaves if leaves.iter().any(takes) => &takes,
            _ => &|leaf| leaf.stays,
        };
        let choices = looked_up.iter().filter(|leaf| is_choice(leaf)).take(CHOICES);
        let state = self.state.lock();
        let least = choices.min_by_key(|leaf| state.tables.load(table, &leaf.member.name));
        least.map(|leaf| Arc::clone(&leaf.member))
    }

    async fn place(&self, batch: Batch) -> Result<Receipt, SinkError> {
        let key = (batch.table.clone(), batch.id.clone());
        let bytes = batch.block().len() as u64;
        let _done = self.begin(&key)?;
        let chosen = self.choose(&batch).await;
        let chosen = chosen.ok_or_else(|| SinkError::Unavailable("every leaf".to_owned()))?;
        let leaf = match self.state.lock().under_way.get_mut(&key) {
            Some(tries) => Arc::clone(tries.leaf.get_or_insert(chosen)),
            None => chosen,
        };
        let receipt = leaf.sink.accept(batch).await?;
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

    /// Makes a change on all leaves one after the other, and returns the sum of rows. Parts of a
    /// batch have ids of their own and so may be on any leaf.
    async fn apply_to_all(&self, change: &TableChange) -> Result<u64, SinkError> {
        let mut all_rows = 0;
        for leaf in self.members.all() {
            let rows = leaf.admin.apply(change.clone()).await?;
            if let TableChange::Revoke { table, .. } = change {
                self.expected_rows.sub(&leaf.name, table, rows);
            }
            all_rows += rows;
        }
        Ok(all_rows)
    }

    /// Registers a batch as under way.
    fn begin<'p>(&'p self, key: &'p Key) -> Result<UnderWay<'p>, SinkError> {
        let mut state = self.state.lock();
        state.tables.begin(&key.0)?;
        state.under_way.entry(key.clone()).or_default().count += 1;
        Ok(UnderWay { placement: self, key })
    }
}

/// A member's lookup of a batch, and whether new batches may go to the member.
struct Candidate {
    member: Arc<Member>,
    stays: bool,
    lookup: BatchLookup,
}

/// Looks up a batch on several leaves at the same time.
async fn look_up_all(members: &[(Arc<Member>, bool)], batch: &Batch) -> Vec<Candidate> {
    let lookups = members.iter().map(|(member, stays)| async move {
        let lookup = member.sink.look_up(&batch.table, &batch.id).await;
        Candidate { member: Arc::clone(member), stays: *stays, lookup }
    });
    join_all(lookups).await
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
            let mut all = BatchLookup::default();
            for lookup in lookups {
                all.is_known |= lookup.is_known;
                all.takes_batches |= lookup.takes_batches;
                all.free_bytes = all.free_bytes.max(lookup.free_bytes);
            }
            all
        })
    }
}

impl Admin for Placement {
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            if let TableChange::Revoke { table, batch } = &change {
                // Nothing is revoked unless every leaf can revoke its part.
                let (table, batch) = (table.clone(), batch.clone());
                self.apply_to_all(&TableChange::CheckRevoke { table, batch }).await?;
            }
            let rows = self.apply_to_all(&change).await?;
            if let TableChange::AcknowledgeLosses { table } = &change {
                self.expected_rows.acknowledge_losses(table.as_ref());
            }
            if let TableChange::Drop { table } = &change {
                self.expected_rows.forget(table);
                self.state.lock().tables.forget(table);
                self.catalog.forget(table);
            }
            Ok(rows)
        })
    }
}

#[cfg(test)]
mod tests;
