//! The status of leaves and of their tables, as leaves report it.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_types::{LeafName, LeafState, Micros, TableName, TableSchema, TableSettings};

use crate::MemberState;

/// The tables that a status covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusScope {
    /// All tables.
    All,
    /// These tables; a leaf need not examine others.
    Tables(Vec<TableName>),
    /// No table: the names and states of leaves, cheap enough to be requested at any time. Losses
    /// and bytes are left out, too.
    Leaves,
}

impl StatusScope {
    /// Returns whether the status covers the table.
    #[must_use]
    pub fn has(&self, table: &TableName) -> bool {
        match self {
            Self::All => true,
            Self::Tables(tables) => tables.contains(table),
            Self::Leaves => false,
        }
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
    /// Its stage between start and end; silent only according to an aggregator.
    pub state: MemberState,
    /// Bytes of the row blocks that the leaf holds.
    pub block_bytes: u64,
    /// The tables with rows on this leaf.
    pub tables: Arc<BTreeMap<TableName, Arc<TableStatus>>>,
    /// Losses whose rows and tables are unknown; at most `LEAF_LOSSES_MAX`.
    pub losses: Vec<LeafLoss>,
}

/// One leaf's share of one table at one version. Leaves push it to catalogs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableReport {
    /// The leaf.
    pub leaf: LeafName,
    /// The table.
    pub table: TableName,
    /// When the leaf's process started, in microseconds since the Unix epoch.
    pub started: u64,
    /// Of two reports of one leaf and table, the one with the higher version is newer. Versions
    /// restart with each start of the leaf.
    pub version: u64,
    /// Rows of the table that the leaf had when it started, with lost rows and rows still to be
    /// restored.
    pub recovered_rows: u64,
    /// Rows that the leaf has accepted since.
    pub accepted_rows: u64,
    /// The leaf's share; `None` while the leaf has no such table.
    pub status: Option<Arc<TableStatus>>,
}

/// A loss of a leaf, reported until a person acknowledges it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafLoss {
    /// When it was detected.
    pub found: Micros,
    /// Its description, as words that follow the name of the leaf.
    pub what: String,
}

/// One leaf's share of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableStatus {
    /// The table's columns, rows and times.
    pub schema: Arc<TableSchema>,
    /// The number of row blocks.
    pub blocks: u64,
    /// Encoded bytes of the row blocks.
    pub block_bytes: u64,
    /// Bytes that the values take without any encoding.
    pub raw_bytes: u64,
    /// Rows that were dropped because the table was over its size limit, counted for the life of
    /// the table.
    pub dropped_rows: u64,
    /// Encoded bytes of these rows.
    pub dropped_bytes: u64,
    /// The last time of any of these rows.
    pub dropped_until: Option<Micros>,
    /// Rows that were dropped for their age since the leaf's process started.
    pub expired_rows: u64,
    /// An upper bound of the last time of any of these rows.
    pub expired_until: Option<Micros>,
    /// Rows that cannot be read, or not completely: their row block was missing or damaged at a
    /// start, or damage was detected since. The schema's rows exclude them. Rows of a missing block
    /// stay lost until the table is dropped. A damaged block may also be dropped for its age. A
    /// query that needs only its intact columns still counts its rows.
    pub lost_rows: u64,
    /// The state of the leaf's share; of several leaves, the state furthest from alive.
    pub state: LeafState,
    /// Rows that are being restored after a start; the schema's rows do not include them yet.
    pub waiting_rows: u64,
    /// Its settings in the leaf; `None` if the leaf never received any.
    pub settings: Option<TableSettings>,
    /// What its age limit will drop next; `None` if it has no age limit.
    pub expiry: Option<ExpiryForecast>,
    /// Why due rows cannot be archived, if the last try failed; until then they stay.
    pub archive_error: Option<String>,
}

/// What the next expiry pass will drop of a table for its age, as of now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiryForecast {
    /// The time of the next expiry pass.
    pub at: Micros,
    /// Rows before this time will be too old then.
    pub until: Micros,
    /// The number of rows to be dropped: exact for whole row blocks, estimated for partly dropped
    /// ones.
    pub rows: u64,
    /// Encoded bytes of these rows.
    pub bytes: u64,
}

impl ExpiryForecast {
    /// Adds two forecasts.
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
