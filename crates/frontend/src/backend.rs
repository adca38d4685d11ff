//! The services behind the front: query tree, batch sink, definitions, clock.

use std::sync::Arc;

use hadal_definitions::DefinitionStore;
use hadal_peer::{Admin, Sink};
use hadal_tree::{ExpectedRows, Root};
use hadal_types::Clock;

use crate::members::Members;
use crate::state::memory_gauge::MemoryGauge;

/// The services behind the front.
#[derive(Clone)]
pub struct Backend {
    /// Answers queries.
    pub root: Root,
    /// Accepts batches.
    pub sink: Arc<dyn Sink>,
    /// Applies changes to tables.
    pub admin: Arc<dyn Admin>,
    /// Settings and other definitions.
    pub definitions: Arc<dyn DefinitionStore>,
    /// The rows that each leaf should hold.
    pub ledger: Arc<ExpectedRows>,
    /// The other processes of the cluster; `None` without a cluster.
    pub members: Option<Arc<dyn Members>>,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Measures the memory of the process.
    pub memory: MemoryGauge,
    /// Damage that keeps leaves with rows from serving until the next start, a sentence each.
    pub damage: Arc<[String]>,
}
