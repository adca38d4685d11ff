//! What processes report to each other of the rows that leaves should hold.

use hadal_types::{LeafName, Micros, TableName};

/// Reports to other processes which rows leaves should hold.
pub trait ExpectedRowsSource: Send + Sync {
    /// Returns what has changed after `version`, a version of this source that began to count at
    /// `epoch`; everything if it began at another time. May block.
    fn changes(&self, epoch: u64, version: u64) -> ExpectedRowsDelta;
}

/// What one process knows of the rows that leaves should hold, or what has changed of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedRowsDelta {
    /// When the process began to count its changes, in microseconds since the Unix epoch. Versions
    /// of another start mean nothing.
    pub epoch: u64,
    /// The number of changes up to and with this message.
    pub version: u64,
    /// Whether further changes are left for the next message.
    pub has_more: bool,
    /// The shares that have changed; at most `EXPECTED_SHARES_MAX`.
    pub shares: Vec<ExpectedShare>,
    /// Leaves that a person has forgotten, and when.
    pub forgotten_leaves: Vec<(LeafName, Micros)>,
    /// Tables that were dropped, and when.
    pub forgotten_tables: Vec<(TableName, Micros)>,
}

/// A leaf's share of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedShare {
    /// The leaf.
    pub leaf: LeafName,
    /// The table.
    pub table: TableName,
    /// The last runs of the leaf, from the oldest to the newest; at least one and at most
    /// `EXPECTED_RUNS_MAX`.
    pub runs: Vec<TableRun>,
    /// A person knows of rows that went missing until the run of this start.
    pub acknowledged: u64,
}

/// A table during one run of a leaf's process, as of its newest known report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRun {
    /// The start of the run, in microseconds since the Unix epoch.
    pub started: u64,
    /// The version of the report.
    pub version: u64,
    /// When the report came, in microseconds since the Unix epoch.
    pub received: Micros,
    /// Rows, with lost rows and rows still to be restored.
    pub rows: u64,
    /// Rows at the start of the run.
    pub recovered_rows: u64,
    /// Rows accepted during the run.
    pub accepted_rows: u64,
    /// Rows that were missing at the start of the run, according to runs that are forgotten.
    pub missing_rows: u64,
    /// The first and the last time of the rows; `None` if it is not known for all of them.
    pub time_range: Option<(Micros, Micros)>,
    /// The age limit of rows, in seconds.
    pub age_seconds: Option<u64>,
    /// Minutes since the Unix epoch, ascending, and how many rows had been accepted during the run
    /// by the end of each, at least. At most `EXPECTED_SAMPLES_MAX`.
    pub samples: Vec<(u32, u64)>,
}
