//! The leaves on which batches are placed; the list changes while batches arrive.

use std::cmp::Reverse;
use std::sync::Arc;

use hadal_peer::{Admin, Sink};
use hadal_types::{BatchId, LeafName};
use parking_lot::RwLock;
use twox_hash::XxHash3_64;

use super::PlacementLeaf;

/// A leaf.
pub(super) struct Member {
    pub(super) name: LeafName,
    pub(super) sink: Arc<dyn Sink>,
    pub(super) admin: Arc<dyn Admin>,
}

impl Member {
    pub(super) fn of(leaf: PlacementLeaf) -> Self {
        Self { name: leaf.name, sink: leaf.sink, admin: leaf.admin }
    }
}

/// Leaves, and whether each accepts new batches.
#[derive(Default)]
pub(super) struct Members(RwLock<Vec<(Arc<Member>, bool)>>);

impl Members {
    /// Adds a leaf, or replaces the one with its name.
    pub(super) fn join(&self, member: Member) {
        self.change(|members| {
            members.retain(|(other, _)| other.name != member.name);
            members.push((Arc::new(member), true));
        });
    }

    /// Marks a leaf as leaving: no new batch goes to it.
    pub(super) fn leave(&self, leaf: &LeafName) {
        self.change(|members| {
            let leaving = members.iter_mut().filter(|(member, _)| member.name == *leaf);
            leaving.for_each(|(_, stays)| *stays = false);
        });
    }

    /// Forgets a leaf.
    pub(super) fn remove(&self, leaf: &LeafName) {
        self.change(|members| members.retain(|(member, _)| member.name != *leaf));
    }

    fn change(&self, change: impl FnOnce(&mut Vec<(Arc<Member>, bool)>)) {
        change(&mut self.0.write());
    }

    /// Whether a leaf is in the list.
    pub(super) fn has(&self, leaf: &Arc<Member>) -> bool {
        let members = self.0.read();
        members.iter().any(|(member, _)| Arc::ptr_eq(member, leaf))
    }

    /// All leaves, including those that are leaving.
    pub(super) fn all(&self) -> Vec<Arc<Member>> {
        let members = self.0.read();
        members.iter().map(|(member, _)| Arc::clone(member)).collect()
    }

    /// All leaves in the order of a batch id's rendezvous hashes, and whether each stays. Leaves
    /// that are leaving come last.
    pub(super) fn in_order_of(&self, id: &BatchId) -> Vec<(Arc<Member>, bool)> {
        let mut members = self.0.read().clone();
        members.sort_by_cached_key(|(member, stays)| {
            let seed = XxHash3_64::oneshot(member.name.0.as_bytes());
            Reverse((*stays, XxHash3_64::oneshot_with_seed(seed, id.as_str().as_bytes())))
        });
        members
    }
}
