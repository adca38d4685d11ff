//! The name and the state of a leaf.

use std::fmt;
use std::sync::Arc;

/// The name of a leaf, unique in its cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeafName(pub Arc<str>);

impl fmt::Display for LeafName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Where a leaf, or its share of a table, is between its start and its end ("Fast Database Restarts at
/// Facebook", SIGMOD 2014, figure 5).
///
/// Of the paper's states those are left out that nobody could ask for: before a leaf is open (init) and
/// after it has stopped (exit) there is no port; and nothing is copied to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeafState {
    /// It takes batches and answers queries, with all of its rows.
    Alive,
    /// It does, while it verifies what an earlier process left in memory: those rows come bit by bit.
    MemoryRecovery,
    /// It does, while it reads rows from disk that are not in memory.
    DiskRecovery,
    /// It is about to stop: it finishes what runs.
    Prepare,
}

impl LeafState {
    /// The state's name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::MemoryRecovery => "memory recovery",
            Self::DiskRecovery => "disk recovery",
            Self::Prepare => "prepare",
        }
    }
}
