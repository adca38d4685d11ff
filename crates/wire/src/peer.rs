//! Something that answers a query with a partial answer by a deadline.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_query::Query;
use hadal_types::{Micros, TableName, TableSchema, TableSettings};

use crate::BoxFuture;
use crate::blocks::TableBlocks;

/// Something that answers a query: a leaf, a process behind a network, or an aggregator.
pub trait Peer: Send + Sync {
    /// Answers `query`, by `deadline` at the latest.
    ///
    /// It always answers. The world's failures (a dead, late or corrupt part) show as coverage;
    /// the user's (a sum too large, a budget used up) as the partial's faults.
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial>;

    /// The state of every leaf at or below this peer, and what tables it holds.
    fn status(&self) -> BoxFuture<'_, PeerStatus>;

    /// The row blocks that every leaf at or below this peer holds of a table.
    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks>;
}

/// The name of a leaf, unique in its cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeafName(pub Arc<str>);

impl fmt::Display for LeafName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The state of the leaves at or below a peer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerStatus {
    /// One per leaf, sorted by name.
    pub leaves: Vec<LeafStatus>,
}

/// One leaf at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafStatus {
    /// Its name.
    pub name: LeafName,
    /// What it can do.
    pub state: LeafState,
    /// Bytes of row blocks that it holds.
    pub block_bytes: u64,
    /// The tables that it has rows of.
    pub tables: Arc<BTreeMap<TableName, Arc<TableStatus>>>,
}

/// What a leaf can do (states as in "Fast Database Restarts at Facebook", SIGMOD 2014, figure 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeafState {
    /// It reads what it had before its restart; it answers with what it has so far.
    Recovering,
    /// It takes batches and answers queries.
    Alive,
    /// It takes no more batches, and finishes what runs.
    Stopping,
}

impl LeafState {
    /// The state's name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recovering => "recovering",
            Self::Alive => "alive",
            Self::Stopping => "stopping",
        }
    }
}

/// One table's share of one leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableStatus {
    /// Its columns, rows and times.
    pub schema: Arc<TableSchema>,
    /// Row blocks.
    pub blocks: u64,
    /// Encoded bytes of its row blocks.
    pub block_bytes: u64,
    /// Bytes that its values take without any encoding.
    pub raw_bytes: u64,
    /// Rows of it that were dropped because the table was over its size limit, as long as it is
    /// there.
    pub dropped_rows: u64,
    /// Encoded bytes of these rows.
    pub dropped_bytes: u64,
    /// The last time that any of them had.
    pub dropped_until: Option<Micros>,
    /// Rows of it that were there and that cannot be read, or not all of them: their row block was
    /// missing or damaged at a start, or was found damaged since. They are not in the schema's rows.
    /// What was missing stays lost until the table is dropped; a damaged block may also go for its age,
    /// and a question that needs only what is sound of it still counts its rows.
    pub lost_rows: u64,
    /// Rows of it that are being brought back after a start; they are not in the schema's rows yet.
    pub waiting_rows: u64,
    /// Its settings as the leaf was told them; `None` where it never was.
    pub settings: Option<TableSettings>,
    /// What its age limit will make go next; `None` where it has none.
    pub expiry: Option<ExpiryForecast>,
}

/// What will be dropped of a table for its age when the leaf looks next, as things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiryForecast {
    /// When the leaf looks next.
    pub at: Micros,
    /// Rows of before this time are too old then.
    pub until: Micros,
    /// How many will go: exact for whole row blocks, estimated for those that lose a part.
    pub rows: u64,
    /// Encoded bytes of these rows.
    pub bytes: u64,
}

impl ExpiryForecast {
    /// These and the others.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            at: self.at.min(other.at),
            until: self.until.max(other.until),
            rows: self.rows.saturating_add(other.rows),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}
