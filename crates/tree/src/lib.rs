//! The aggregation tree and placement: many leaves seen as one peer and one sink.
//!
//! ```text
//! Root ── Aggregator ──┬── Aggregator ──┬── leaf    queries go down, partial answers come up
//!                      │                └── leaf
//!                      └── leaf
//! Placement ──┬── leaf                              batches go to one of two leaves
//!             └── leaf
//! ```
//!
//! An [`Aggregator`] is itself a [`hadal_peer::Peer`], so trees nest (Scuba, VLDB 2013, section
//! 3.5). Over the processes of a cluster, [`ClusterTree`] plans the tree for each query. This crate
//! reaches leaves only through the traits of `peer`.

mod aggregator;
mod catalog;
mod child_coverage;
mod cluster_status;
mod cluster_tree;
mod dead_leaf;
mod expected_rows;
mod fan_out;
mod placement;
mod root;
mod straggler_timeout;

pub use aggregator::Aggregator;
pub use catalog::Catalog;
pub use cluster_status::ClusterStatus;
pub use cluster_tree::ClusterTree;
pub use dead_leaf::DeadLeaf;
pub use expected_rows::ExpectedRows;
pub use expected_rows::exchange::{Exchange, Pull};
pub use placement::{
    Applied, Placement, PlacementLeaf, Record, Revocation, Revocations, batch_placement,
    comes_later, revocation_review,
};
pub use root::{AskError, Root, StageTimes};
