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

    /// The same, but of all tables these only: a leaf need not look at others for that.
    fn status_of<'a>(&'a self, tables: &'a [TableName]) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move {
            let mut status = self.status().await;
            for leaf in &mut status.leaves {
                let own = leaf.tables.iter().filter(|(name, _)| tables.contains(name));
                let own = own.map(|(name, table)| (name.clone(), Arc::clone(table))).collect();
                leaf.tables = Arc::new(own);
                leaf.block_bytes = leaf.tables.values().map(|table| table.block_bytes).sum();
            }
            status
        })
    }

    /// The states of the leaves at or below this peer, sorted by name: as often as one likes, where it
    /// can be told without a look at their tables.
    fn states(&self) -> BoxFuture<'_, Vec<(LeafName, LeafState)>> {
        Box::pin(async {
            let leaves = self.status().await.leaves.into_iter();
            leaves.map(|leaf| (leaf.name, leaf.state)).collect()
        })
    }

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
    /// Where it is between its start and its end.
    pub state: LeafState,
    /// Bytes of row blocks that it holds.
    pub block_bytes: u64,
    /// The tables that it has rows of.
    pub tables: Arc<BTreeMap<TableName, Arc<TableStatus>>>,
    /// What it has lost of which nobody knows how many rows it had, nor of which tables; at most
    /// `LEAF_LOSSES_MAX`.
    pub losses: Vec<LeafLoss>,
}

/// Something that a leaf has lost: told until a person says that they know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafLoss {
    /// When it was found.
    pub found: Micros,
    /// What it is, in words that follow the name of the leaf.
    pub what: String,
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
    /// Rows of it that were dropped for their age since the process of the leaf started.
    pub expired_rows: u64,
    /// The last time that any of them had, at most.
    pub expired_until: Option<Micros>,
    /// Rows of it that were there and that cannot be read, or not all of them: their row block was
    /// missing or damaged at a start, or was found damaged since. They are not in the schema's rows.
    /// What was missing stays lost until the table is dropped; a damaged block may also go for its age,
    /// and a question that needs only what is sound of it still counts its rows.
    pub lost_rows: u64,
    /// Where the leaf's share of it is; of several leaves, the furthest from being alive.
    pub state: LeafState,
    /// Rows of it that are being brought back after a start; they are not in the schema's rows yet.
    pub waiting_rows: u64,
    /// Its settings as the leaf was told them; `None` where it never was.
    pub settings: Option<TableSettings>,
    /// What its age limit will make go next; `None` where it has none.
    pub expiry: Option<ExpiryForecast>,
    /// Why rows that are to go cannot be archived, where the last try failed: they stay meanwhile.
    pub archive_error: Option<String>,
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
