//! What leaves report of themselves and of their tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_types::{LeafName, LeafState, Micros, TableName, TableSchema, TableSettings};

/// The tables that a status covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusScope {
    /// All tables.
    All,
    /// These tables; a leaf need not look at others.
    Tables(Vec<TableName>),
    /// No table: the names and states of leaves, at so little cost that it can be asked at any time.
    /// Losses and bytes are left out, too.
    Leaves,
}

impl StatusScope {
    /// Whether the status covers the table.
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

/// One leaf's share of one table at one version. Leaves push it to catalogs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableReport {
    /// The leaf.
    pub leaf: LeafName,
    /// The table.
    pub table: TableName,
    /// Of two reports of one leaf and table, the one with the higher version is newer; versions restart
    /// with each start of the leaf.
    pub version: u64,
    /// The leaf's share; `None` while the leaf has no such table.
    pub status: Option<Arc<TableStatus>>,
}

/// Something that a leaf has lost: told until a person says that they know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafLoss {
    /// When it was found.
    pub found: Micros,
    /// What it is, in words that follow the name of the leaf.
    pub what: String,
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
