//! The state of a cluster at one moment, for people and programs.

use std::net::SocketAddr;

use hadal_peer::MemberState;
use hadal_types::{LeafName, MachineName, Micros, TableName};

/// A cluster at one moment, as far as one of its processes knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterReport {
    /// The cluster's name; `None` for a process without a cluster.
    pub cluster: Option<String>,
    /// The moment.
    pub at: Micros,
    /// The machines, by name.
    pub machines: Vec<MachineReport>,
    /// Sums over all leaves and tables.
    pub totals: ClusterTotals,
    /// The tables with the most expected rows, in this order.
    pub tables: Vec<TableCoverage>,
    /// Tables that are not listed.
    pub tables_left_out: usize,
    /// What is wrong, a sentence each, the worst first.
    pub problems: Vec<String>,
}

/// Sums over a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterTotals {
    /// Rows of all tables.
    pub rows: RowCounts,
    /// Encoded bytes of the row blocks that answer.
    pub block_bytes: u64,
    /// Bytes that leaves hold.
    pub used_bytes: u64,
    /// Bytes that leaves can hold beyond those.
    pub free_bytes: u64,
    /// All leaves.
    pub leaves: usize,
    /// Leaves that answer queries.
    pub leaves_answering: usize,
}

/// Rows that answer queries, and rows that should.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Rows that queries see.
    pub present: u64,
    /// Rows that queries should see.
    pub expected: u64,
    /// Rows that are being restored after a start, not present yet.
    pub waiting: u64,
}

/// One machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineReport {
    /// Its name.
    pub name: MachineName,
    /// Its rack; empty if nobody named it.
    pub rack: String,
    /// Its aggregator, if it has one.
    pub aggregator: Option<AggregatorReport>,
    /// Its leaves, by name.
    pub leaves: Vec<LeafReport>,
}

/// The aggregator of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AggregatorReport {
    /// Its name.
    pub name: LeafName,
    /// Where it takes calls of other members, and joins them to its cluster.
    pub address: SocketAddr,
    /// The URL of its page and HTTP door; empty if it has none.
    pub url: String,
    /// Its release.
    pub release: String,
    /// Its state.
    pub state: MemberState,
    /// When it entered this state, if known.
    pub since: Option<Micros>,
    /// When it was started.
    pub started: Micros,
}

/// One leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafReport {
    /// Its name.
    pub name: LeafName,
    /// Its state.
    pub state: MemberState,
    /// When it entered this state, if known.
    pub since: Option<Micros>,
    /// Its release; empty if the leaf is gone, and only its expected rows are left.
    pub release: String,
    /// When it was started, if known.
    pub started: Option<Micros>,
    /// The start of the process that reported its rows, the oldest one of all tables; `None` if it
    /// has reported no table.
    pub reported: Option<Micros>,
    /// Bytes that it holds.
    pub used_bytes: u64,
    /// Bytes that it can hold beyond those.
    pub free_bytes: u64,
    /// Rows of all of its tables.
    pub rows: RowCounts,
    /// Encoded bytes of the rows that are present.
    pub block_bytes: u64,
    /// Its shares of the tables that [`ClusterReport::tables`] lists, in that order; tables that it
    /// has no share of are left out.
    pub tables: Vec<TableShare>,
    /// Tables that are not listed, though it has shares of them.
    pub tables_left_out: usize,
}

/// A leaf's share of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShare {
    /// The table.
    pub table: TableName,
    /// Its rows.
    pub rows: RowCounts,
    /// Encoded bytes of the rows that are present.
    pub block_bytes: u64,
}

/// A table over all leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCoverage {
    /// The table.
    pub table: TableName,
    /// Its rows.
    pub rows: RowCounts,
    /// Encoded bytes of the rows that are present.
    pub block_bytes: u64,
}

impl RowCounts {
    /// The fraction of the expected rows that is present; 1 if none is expected.
    #[must_use]
    pub fn coverage(self) -> f64 {
        match self.expected {
            0 => 1.0,
            expected => self.present.min(expected) as f64 / expected as f64,
        }
    }

    /// Rows that should be present, and are not.
    #[must_use]
    pub const fn missing(self) -> u64 {
        self.expected.saturating_sub(self.present)
    }

    /// Adds other rows.
    pub(crate) const fn add(&mut self, other: Self) {
        self.present = self.present.saturating_add(other.present);
        self.expected = self.expected.saturating_add(other.expected);
        self.waiting = self.waiting.saturating_add(other.waiting);
    }
}

impl TableCoverage {
    /// A table without shares.
    pub(crate) fn of(table: &TableName) -> Self {
        Self { table: table.clone(), rows: RowCounts::default(), block_bytes: 0 }
    }

    /// Adds a leaf's share.
    pub(crate) fn add(&mut self, share: &TableShare) {
        self.rows.add(share.rows);
        self.block_bytes = self.block_bytes.saturating_add(share.block_bytes);
    }
}

impl MachineReport {
    /// A machine without processes.
    pub(crate) fn of(name: &MachineName) -> Self {
        Self { name: name.clone(), rack: String::new(), aggregator: None, leaves: Vec::new() }
    }
}

impl LeafReport {
    /// Adds a share of a table.
    pub(crate) fn add(&mut self, share: TableShare) {
        self.rows.add(share.rows);
        self.block_bytes = self.block_bytes.saturating_add(share.block_bytes);
        self.tables.push(share);
    }

    /// Whether nothing is heard of the leaf.
    #[must_use]
    pub const fn is_silent(&self) -> bool {
        matches!(self.state, MemberState::Silent)
    }
}
