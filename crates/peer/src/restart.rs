//! The restart of a leaf.

use std::time::Duration;

use hadal_types::LeafName;

/// A request to stop a leaf in order and to start it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafRestart {
    /// The leaf.
    pub leaf: LeafName,
    /// How long its process may take to stop before it is killed.
    pub stop_max: Duration,
}

/// Restarts leaves: the supervisor of a machine's leaf processes, or a leaf itself, which ends so
/// that its supervisor starts it again.
pub trait LeafRestarter: Send + Sync {
    /// Begins a restart, and does not wait for it. Returns false, having done nothing, if the leaf
    /// is not one that it can restart.
    fn restart(&self, restart: &LeafRestart) -> bool;
}
