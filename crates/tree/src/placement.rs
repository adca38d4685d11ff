//! Which leaf a batch goes to: one of two that its id names, the one with less of its table in it.
//!
//! Two choices keep leaves nearly even (Scuba, VLDB 2013, section 3.3), and so each table, whose
//! limit is shared out evenly. Leaves that take no batches are passed over. A batch that some leaf has sticks to it: which two an id names changes
//! where leaves were added since, so a retry is looked for on all, on those two first.

mod tables;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hadal_peer::{Admin, Batch, BatchLookup, BoxFuture, Receipt, Sink, SinkError, TableChange};
use hadal_types::limits::TABLES_MAX;
use hadal_types::{BatchId, LeafName, TableName};
use twox_hash::XxHash3_64;

use crate::expected_rows::ExpectedRows;
use tables::Tables;

/// Leaves that a new batch may go to.
const CHOICES: usize = 2;

/// A leaf that batches can be placed on.
pub struct PlacementLeaf {
    /// Its name.
    pub name: LeafName,
    /// Where its batches go.
    pub sink: Arc<dyn Sink>,
    /// Where changes of its tables go.
    pub admin: Arc<dyn Admin>,
    /// The tables that it has already, and the bytes of their row blocks.
    pub tables: Vec<(TableName, u64)>,
}

/// A sink that spreads batches over leaves.
pub struct Placement {
    leaves: Vec<Placed>,
    expected_rows: Arc<ExpectedRows>,
    state: Mutex<State>,
}

struct Placed {
    name: LeafName,
    sink: Arc<dyn Sink>,
    admin: Arc<dyn Admin>,
}

struct State {
    tables: Tables,
    under_way: HashMap<Key, Tries>,
}

/// A batch, for as long as it is on its way.
type Key = (TableName, BatchId);

/// Requests to place the same batch that overlap in time. They go to the same leaf, whichever of them
/// chooses it: a request that looked for the batch before another one placed it does not find it.
#[derive(Default)]
struct Tries {
    count: usize,
    leaf: Option<usize>,
}

impl Placement {
    /// Spreads batches over `leaves`.
    #[must_use]
    pub fn new(leaves: Vec<PlacementLeaf>, expected_rows: &Arc<ExpectedRows>) -> Self {
        Self::with_tables_max(leaves, expected_rows, TABLES_MAX)
    }

    /// Spreads batches of at most so many tables over `leaves`.
    #[must_use]
    pub fn with_tables_max(
        leaves: Vec<PlacementLeaf>,
        expected_rows: &Arc<ExpectedRows>,
        tables_max: usize,
    ) -> Self {
        let mut tables = Tables::new(leaves.len(), tables_max);
        for (index, leaf) in leaves.iter().enumerate() {
            leaf.tables.iter().for_each(|(table, bytes)| tables.add(table, index, *bytes));
        }
        let placed =
            |leaf: PlacementLeaf| Placed { name: leaf.name, sink: leaf.sink, admin: leaf.admin };
        Self {
            leaves: leaves.into_iter().map(placed).collect(),
            expected_rows: Arc::clone(expected_rows),
            state: Mutex::new(State { tables, under_way: HashMap::new() }),
        }
    }

    /// All leaves in the order in which the id names them, by rendezvous hashing. A new batch goes to one
    /// of the first [`CHOICES`].
    fn candidates(&self, id: &BatchId) -> Vec<usize> {
        let score = |index: &usize| {
            let seed = XxHash3_64::oneshot(self.leaves[*index].name.0.as_bytes());
            std::cmp::Reverse(XxHash3_64::oneshot_with_seed(seed, id.as_str().as_bytes()))
        };
        let mut indices: Vec<usize> = (0..self.leaves.len()).collect();
        indices.sort_by_cached_key(score);
        indices
    }

    /// The leaf for a batch: the one that has it, or else the one with less of its table in it.
    async fn choose(&self, table: &TableName, id: &BatchId) -> Option<usize> {
        let candidates = self.candidates(id);
        let mut taking = Vec::new();
        for &index in &candidates {
            let lookup = self.leaves[index].sink.look_up(table, id).await;
            if lookup.is_known {
                return Some(index);
            }
            if lookup.takes_batches {
                taking.push(index);
            }
        }
        // Where none takes any, one of them says why.
        let choices = if taking.is_empty() { candidates } else { taking };
        let state = self.lock();
        choices.into_iter().take(CHOICES).min_by_key(|&index| state.tables.load(table, index))
    }

    async fn place(&self, batch: Batch) -> Result<Receipt, SinkError> {
        let key = (batch.table.clone(), batch.id.clone());
        let _done = self.begin(&key)?;
        let chosen = self.choose(&batch.table, &batch.id).await;
        let chosen = chosen.ok_or_else(|| SinkError::Unavailable("every leaf".to_owned()))?;
        let index = match self.lock().under_way.get_mut(&key) {
            Some(tries) => *tries.leaf.get_or_insert(chosen),
            None => chosen,
        };
        let leaf = &self.leaves[index];
        let bytes = batch.block.len() as u64;
        let receipt = leaf.sink.accept(batch).await?;
        if !receipt.duplicate {
            self.lock().tables.add(&key.0, index, bytes);
            self.expected_rows.add(&leaf.name, &key.0, receipt.rows as u64);
        }
        Ok(receipt)
    }

    /// Makes a change on one leaf after the other, and returns the sum of rows. Parts of a batch have ids
    /// of their own and so may be anywhere.
    async fn apply_to_all(&self, change: &TableChange) -> Result<u64, SinkError> {
        let mut all_rows = 0;
        for leaf in &self.leaves {
            let rows = leaf.admin.apply(change.clone()).await?;
            if let TableChange::Revoke { table, .. } = change {
                self.expected_rows.sub(&leaf.name, table, rows);
            }
            all_rows += rows;
        }
        Ok(all_rows)
    }

    /// Puts a batch on the list of those under way.
    fn begin<'p>(&'p self, key: &'p Key) -> Result<UnderWay<'p>, SinkError> {
        let mut state = self.lock();
        state.tables.begin(&key.0)?;
        state.under_way.entry(key.clone()).or_default().count += 1;
        Ok(UnderWay { placement: self, key })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a batch off the list of those under way, however its placing ends, once no other try is.
struct UnderWay<'p> {
    placement: &'p Placement,
    key: &'p Key,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.placement.lock();
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
            let mut all = BatchLookup::default();
            for leaf in &self.leaves {
                let lookup = leaf.sink.look_up(table, id).await;
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
                // None of it goes where not all of it can.
                let (table, batch) = (table.clone(), batch.clone());
                self.apply_to_all(&TableChange::CheckRevoke { table, batch }).await?;
            }
            let rows = self.apply_to_all(&change).await?;
            if let TableChange::Drop { table } = &change {
                self.expected_rows.forget(table);
                self.lock().tables.forget(table);
            }
            Ok(rows)
        })
    }
}

#[cfg(test)]
mod tests;
