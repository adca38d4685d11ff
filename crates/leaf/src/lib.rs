//! A leaf: its share of every table, in row blocks (Scuba, VLDB 2013, section 3).
//!
//! An incoming batch is logged and then becomes visible as a small *fresh* block. A background
//! *merge* builds full blocks from fresh ones. Each table is an immutable list of blocks that is
//! swapped as a whole, so a query sees every row exactly once, even while a merge runs.
//!
//! ```text
//! accept ──> store (log) ──> table: list of blocks <── merge ──> store (segments, manifest)
//!                                   │ snapshot
//! query ──> job ──> scan pool: block by block, queries in turn, any idle thread ──> partial
//! ```
//!
//! A leaf is a [`hadal_peer::Peer`] and a [`hadal_peer::Sink`]. It does not know other leaves.

mod context;
mod leaf;
mod leaf_group;
mod limits;
mod maintenance;
mod parallel;
mod query;
mod recovery;
mod refused_batches;
mod reports;
mod revocations;
mod sink;
mod table;
mod table_changes;
mod wakeup;
mod worker;
mod write;

pub use hadal_scan::cpu_path;
pub use hadal_store::{Durability, PreopenedStore};
pub use leaf::{Leaf, LeafConfig};
pub use leaf_group::LeafGroup;
pub use limits::{FreshBytes, LeafLimits};
pub use maintenance::archive::{Archive, ArchiveError, ArchivePart};
pub use query::scan_pool::ScanPool;
pub use revocations::HeldBatch;
