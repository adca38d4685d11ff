//! A leaf: its share of every table, in row blocks (Scuba, VLDB 2013, section 3).
//!
//! A batch that arrives is logged, then visible as a small *fresh* block; a background *merge*
//! makes full blocks of fresh ones. Each table is an immutable list of blocks that is swapped as
//! a whole, so a query sees every row exactly once, whatever happens meanwhile.
//!
//! ```text
//! accept ──> store (log) ──> table: list of blocks <── merge ──> store (segments, manifest)
//!                                  │ snapshot
//! query ──> job ──> scan pool: block by block, queries in turn, any idle thread ──> partial
//! ```
//!
//! A leaf is a [`hadal_peer::Peer`] and a [`hadal_peer::Sink`]. It knows nothing of other leaves.

mod accept;
mod answer;
mod archive;
mod batches;
mod block;
mod block_list;
#[cfg(test)]
mod block_list_tests;
mod chill;
mod expiry;
mod fullness;
mod handout;
mod house;
mod inspect;
mod interners;
mod job;
mod leaf;
mod let_go;
mod limits;
mod losses;
mod merge;
mod merge_signal;
mod move_fresh;
mod plan_merge;
mod pool;
#[cfg(test)]
mod pool_tests;
mod pressure;
mod recover;
mod residence;
mod revoke;
mod rewrite;
mod rounds;
mod running_columns;
mod sample;
mod scan_pool;
mod scrub;
mod settings;
mod status;
#[cfg(test)]
mod stealing_tests;
mod sync;
mod table;
mod trusted_clock;
mod worker;

/// What lists of blocks and the scan pool are guarded by; their tests have others.
mod locks {
    pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
}

pub use archive::{Archive, ArchiveError, ArchivePart};
pub use hadal_scan::cpu_path;
pub use hadal_store::{Durability, EarlyStore};
pub use house::House;
pub use leaf::{Leaf, LeafConfig};
pub use limits::{FreshBytes, LeafLimits};
pub use scan_pool::ScanPool;
