//! Which leaf a batch goes to: one of two that its id names, the one with less in it.
//!
//! Two choices keep leaves nearly even (Scuba, VLDB 2013, section 3.3). They depend on the batch's
//! id alone, so a retry asks the same two, and a batch that one of them has sticks to it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hadal_types::{BatchId, TableName};
use hadal_wire::{Batch, BoxFuture, LeafName, Receipt, Sink, SinkError};
use twox_hash::XxHash3_64;

use crate::ledger::Ledger;

/// A leaf that batches can be placed on.
pub struct PlacementLeaf {
    /// Its name.
    pub name: LeafName,
    /// Where its batches go.
    pub sink: Arc<dyn Sink>,
    /// Bytes of row blocks that it holds already.
    pub block_bytes: u64,
}

/// A sink that spreads batches over leaves.
pub struct Placement {
    leaves: Vec<Placed>,
    ledger: Arc<Ledger>,
    /// Batches on their way, with the leaf that they go to.
    under_way: Mutex<HashMap<(TableName, BatchId), usize>>,
}

struct Placed {
    name: LeafName,
    sink: Arc<dyn Sink>,
    bytes: AtomicU64,
}

impl Placement {
    /// Spreads batches over `leaves`.
    #[must_use]
    pub fn new(leaves: Vec<PlacementLeaf>, ledger: &Arc<Ledger>) -> Self {
        let placed = |leaf: PlacementLeaf| Placed {
            name: leaf.name,
            sink: leaf.sink,
            bytes: AtomicU64::new(leaf.block_bytes),
        };
        Self {
            leaves: leaves.into_iter().map(placed).collect(),
            ledger: Arc::clone(ledger),
            under_way: Mutex::default(),
        }
    }

    /// The two leaves that the id names, by rendezvous hashing; one where there is but one.
    fn candidates(&self, id: &BatchId) -> Vec<usize> {
        let score = |index: &usize| {
            let seed = XxHash3_64::oneshot(self.leaves[*index].name.0.as_bytes());
            std::cmp::Reverse(XxHash3_64::oneshot_with_seed(seed, id.as_str().as_bytes()))
        };
        let mut indices: Vec<usize> = (0..self.leaves.len()).collect();
        indices.sort_by_key(score);
        indices.truncate(2);
        indices
    }

    /// The leaf for a batch: the one that has it, or else the one with less in it.
    async fn choose(&self, table: &TableName, id: &BatchId) -> Option<usize> {
        let candidates = self.candidates(id);
        for &index in &candidates {
            if self.leaves[index].sink.knows(table, id).await {
                return Some(index);
            }
        }
        let bytes = |index: &usize| self.leaves[*index].bytes.load(Ordering::Relaxed);
        candidates.into_iter().min_by_key(bytes)
    }

    async fn place(&self, batch: Batch) -> Result<Receipt, SinkError> {
        let key = (batch.table.clone(), batch.id.clone());
        let chosen = self.choose(&batch.table, &batch.id).await;
        let chosen = chosen.ok_or_else(|| SinkError::Unavailable("every leaf".to_owned()))?;
        // Of two tries at the same time, the later one follows the earlier.
        let index = *self.lock().entry(key.clone()).or_insert(chosen);
        let _done = UnderWay { placement: self, key: &key };
        let leaf = &self.leaves[index];
        let bytes = batch.block.len() as u64;
        let receipt = leaf.sink.accept(batch).await?;
        if !receipt.duplicate {
            leaf.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.ledger.add(&leaf.name, &key.0, receipt.rows as u64);
        }
        Ok(receipt)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(TableName, BatchId), usize>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a batch off the list of those under way, however its placing ends.
struct UnderWay<'p> {
    placement: &'p Placement,
    key: &'p (TableName, BatchId),
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.placement.lock().remove(self.key);
    }
}

impl Sink for Placement {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(self.place(batch))
    }

    fn knows<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            for index in self.candidates(id) {
                if self.leaves[index].sink.knows(table, id).await {
                    return true;
                }
            }
            false
        })
    }

    fn drop_table(&self, table: TableName) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            let mut rows = 0;
            for leaf in &self.leaves {
                rows += leaf.sink.drop_table(table.clone()).await?;
            }
            self.ledger.forget(&table);
            Ok(rows)
        })
    }
}

#[cfg(test)]
mod tests;
