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

/// The life cycle of a leaf, or of its share of a table ("Fast Database Restarts at Facebook",
/// SIGMOD 2014, figure 5).
///
/// Two states of the paper are left out because no client can observe them: there is no port before
/// a leaf is open (init) and after it has stopped (exit). Copying to shared memory does not exist
/// here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeafState {
    /// It takes batches and answers queries, with all of its rows.
    Alive,
    /// As `Alive`, while it verifies the bytes that an earlier process left in memory. Their rows
    /// become visible gradually.
    MemoryRecovery,
    /// As `Alive`, while it reads from disk the rows that are not in memory.
    DiskRecovery,
    /// It is about to stop: it finishes the running work.
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
