//! What outlives processes: the batches that each leaf took, and the records of batches that moved.

use std::collections::{BTreeMap, BTreeSet};

use hadal_peer::BoxFuture;
use hadal_tree::{Record, Revocation, Revocations, comes_later};
use hadal_types::{BatchId, LeafName, Micros};
use parking_lot::Mutex;

/// The disks of all leaves, and the store of revocations. Leaves know the records at once, so no
/// query sees two copies of a batch.
#[derive(Default)]
pub(crate) struct Records {
    taken: Mutex<BTreeMap<LeafName, BTreeSet<BatchId>>>,
    revoked: Mutex<BTreeMap<(LeafName, BatchId), LeafName>>,
}

impl Records {
    /// Takes a batch; returns whether the leaf did not have it.
    pub(crate) fn take(&self, leaf: &LeafName, id: &BatchId) -> bool {
        self.taken.lock().entry(leaf.clone()).or_default().insert(id.clone())
    }

    pub(crate) fn has(&self, leaf: &LeafName, id: &BatchId) -> bool {
        self.taken.lock().get(leaf).is_some_and(|taken| taken.contains(id))
    }

    pub(crate) fn is_revoked(&self, leaf: &LeafName, id: &BatchId) -> bool {
        self.revoked.lock().contains_key(&(leaf.clone(), id.clone()))
    }

    /// The batches of a leaf that count: a copy does not if it is revoked and a later leaf has the
    /// batch.
    pub(crate) fn counting(&self, leaf: &LeafName) -> Vec<BatchId> {
        let (taken, revoked) = (self.taken.lock(), self.revoked.lock());
        let is_elsewhere = |id: &BatchId| {
            let later = taken.iter().filter(|(other, _)| comes_later(id, leaf, other));
            later.into_iter().any(|(_, taken)| taken.contains(id))
        };
        let counts = |id: &&BatchId| {
            !revoked.contains_key(&(leaf.clone(), (*id).clone())) || !is_elsewhere(id)
        };
        taken.get(leaf).into_iter().flatten().filter(counts).cloned().collect()
    }
}

impl Revocations for Records {
    fn record<'a>(&'a self, revocation: &'a Revocation) -> BoxFuture<'a, Result<Record, String>> {
        let Revocation { leaf, batch, instead, .. } = revocation.clone();
        let instead = self.revoked.lock().entry((leaf, batch)).or_insert(instead).clone();
        // Leaves drop copies at any age here.
        Box::pin(async move { Ok(Record { instead, at: Micros(i64::MAX) }) })
    }
}
