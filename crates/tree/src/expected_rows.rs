//! How many rows of each table each leaf should hold: the figures for a leaf that does not answer,
//! or that answers with fewer rows than it once had.
//!
//! A leaf reports its rows with every acknowledgement, and between them. Each process remembers the
//! newest report that it received, by the start of the leaf and the report's version. Processes
//! exchange what they remember, so a leaf's last acknowledgement counts wherever it went. No sums
//! over processes are needed, so nothing counts twice. `run_history.rs` derives the expected rows,
//! and `exchange.rs` decides when processes ask each other.
//!
//! A batch is in a report once it survives the end of the leaf's process. So a report may be ahead
//! of acknowledgements: its rows count while the leaf is silent, although some acknowledgement was
//! lost on its way. Coverage is thus too low by the batches that were under way, never too high.
//!
//! An answer may have rows that no report has yet, and may itself come late. It names a version of
//! the table: its rows are expected until a report of a later version comes.
//!
//! Rows of a leaf that reports nothing are counted by acknowledgements and answers.

mod counts;
pub(crate) mod exchange;
mod run_history;
mod samples;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use hadal_peer::{ExpectedRowsDelta, ExpectedRowsSource, TableReport};
use hadal_types::limits::CLOCK_SKEW_SECONDS;
use hadal_types::{Clock, LeafName, Micros, SystemClock, TableName, TimeRange};
use parking_lot::Mutex;

use counts::{Answer, Counts};

/// Rows by leaf and table.
pub struct ExpectedRows {
    clock: Arc<dyn Clock>,
    epoch: u64,
    counts: Mutex<Counts>,
}

impl Default for ExpectedRows {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

impl ExpectedRows {
    /// Expects no rows yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let epoch = u64::try_from(clock.now().0).unwrap_or(0);
        Self { clock, epoch, counts: Mutex::default() }
    }

    /// Adds rows that a leaf acknowledged, with the report of the acknowledgement.
    pub fn acknowledged(
        &self,
        leaf: &LeafName,
        table: &TableName,
        rows: u64,
        report: Option<&TableReport>,
    ) {
        match report.filter(|report| report.leaf == *leaf && report.table == *table) {
            Some(report) => self.report(report),
            None if rows > 0 => self.add(leaf, table, rows),
            None => {}
        }
    }

    /// Stores a report of a leaf, unless a newer one is known.
    pub fn report(&self, report: &TableReport) {
        let now = self.clock.now();
        let mut counts = self.counts.lock();
        let run = counts.run_of(report, now);
        counts.change(&report.leaf, &report.table, |entry| {
            let newest = entry.newest();
            let is_newer = newest.is_none_or(|newest| newest < (run.started, run.version));
            let is_dropped = report.status.is_none()
                && is_newer
                && newest.is_some_and(|(started, _)| started == run.started);
            let is_acknowledged = is_dropped && entry.history.acknowledge(run.started);
            let is_news = entry.history.learn(&run, now);
            if is_newer {
                entry.reported();
            }
            is_news || is_acknowledged
        });
    }

    /// Notes the start of a leaf's process, as membership announces it. Until the leaf's first
    /// report, it is not believed to have lost rows that it had before.
    pub fn leaf_started(&self, leaf: &LeafName, started: u64) {
        let mut counts = self.counts.lock();
        let newest = counts.started.entry(leaf.clone()).or_default();
        *newest = started.max(*newest);
    }

    /// Adds rows that a leaf acknowledged without a report.
    pub fn add(&self, leaf: &LeafName, table: &TableName, rows: u64) {
        let now = self.clock.now();
        let mut counts = self.counts.lock();
        if let Some(entry) = counts.entry(leaf, table) {
            entry.unreported = entry.unreported.saturating_add(rows);
            entry.unreported_at = now;
        }
    }

    /// Notes that a leaf has removed rows. A leaf that reports will say so itself.
    pub fn sub(&self, leaf: &LeafName, table: &TableName, rows: u64) {
        let mut counts = self.counts.lock();
        if let Some(entry) = counts.entry(leaf, table) {
            entry.unreported = entry.unreported.saturating_sub(rows);
        }
    }

    /// Stores the rows that a leaf of this process holds now. It knows better than its last report.
    pub fn set(&self, leaf: &LeafName, table: &TableName, rows: u64) {
        let mut counts = self.counts.lock();
        let Some(entry) = counts.entry(leaf, table) else { return };
        entry.answer = None;
        match entry.history.newest() {
            Some(_) => (entry.unreported, entry.held) = (0, Some(rows)),
            None => entry.unreported = rows,
        }
    }

    /// Returns how many rows a leaf should hold that answered with `rows`, as of the start of its
    /// process and a version of its table. Those that it has not reported yet are expected from now
    /// on. Answers may come in another order than they were made.
    pub fn answered(
        &self,
        leaf: &LeafName,
        table: &TableName,
        rows: u64,
        as_of: (u64, u64),
    ) -> u64 {
        let now = self.clock.now();
        let mut counts = self.counts.lock();
        let newest_start = counts.started.get(leaf).copied().unwrap_or(0);
        let Some(entry) = counts.entry(leaf, table) else { return rows };
        match entry.history.newest() {
            None if as_of == (0, 0) => {
                entry.unreported = rows;
                rows
            }
            Some(newest) if newest.started < newest_start.max(as_of.0) => {
                entry.note(Answer { rows, as_of, at: now });
                rows.max(entry.rows(now, &TimeRange::ALL))
            }
            _ => {
                (entry.unreported, entry.held) = (0, None);
                entry.note(Answer { rows, as_of, at: now });
                rows.saturating_add(entry.history.missing_rows(now))
            }
        }
    }

    /// Returns how many rows a leaf should hold whose status has `rows`. The status may be older
    /// than the last answer, so nothing is learned from it.
    #[must_use]
    pub fn with_status(&self, leaf: &LeafName, table: &TableName, rows: u64) -> u64 {
        let now = self.clock.now();
        let counts = self.counts.lock();
        let entry = counts.entries.get(leaf).and_then(|tables| tables.get(table));
        // A leaf that reports nothing knows better than what others heard of it.
        let entry = entry.filter(|entry| entry.history.newest().is_some());
        entry.map_or(rows, |entry| entry.rows(now, &TimeRange::ALL).max(rows))
    }

    /// Notes that a person knows of all rows of a table that are missing now, or of all tables.
    pub fn acknowledge_losses(&self, table: Option<&TableName>) {
        let mut counts = self.counts.lock();
        for (leaf, table) in counts.keys(|_, other| table.is_none_or(|table| table == other)) {
            counts.change(&leaf, &table, |entry| {
                let until = entry.history.newest().map(|run| run.started);
                until.is_some_and(|until| entry.history.acknowledge(until))
            });
        }
    }

    /// Forgets a table that was dropped.
    pub fn forget(&self, table: &TableName) {
        let mut counts = self.counts.lock();
        let until = counts.last_received(|_, other| table == other, self.clock.now());
        counts.forget_table(table, until);
    }

    /// Forgets a leaf that will not come back, everywhere. Later reports of it count again. Other
    /// processes, whose clocks may be ahead, have received its last report before.
    pub fn forget_leaf(&self, leaf: &LeafName) {
        let skew = CLOCK_SKEW_SECONDS * Micros::SECOND;
        let now = Micros(self.clock.now().0.saturating_add(skew));
        let mut counts = self.counts.lock();
        let until = counts.last_received(|other, _| leaf == other, now);
        counts.forget_leaf(leaf, until);
    }

    /// The leaves that should hold rows.
    #[must_use]
    pub fn leaves(&self) -> Vec<LeafName> {
        self.counts.lock().entries.keys().cloned().collect()
    }

    /// The tables that any leaf should hold rows of.
    #[must_use]
    pub fn tables(&self) -> BTreeSet<TableName> {
        let counts = self.counts.lock();
        counts.entries.values().flat_map(HashMap::keys).cloned().collect()
    }

    /// The leaves that should hold rows of a table.
    #[must_use]
    pub fn leaves_of(&self, table: &TableName) -> Vec<LeafName> {
        let now = self.clock.now();
        let counts = self.counts.lock();
        let holds = counts.entries.iter().filter(|(_, tables)| {
            tables.get(table).is_some_and(|entry| entry.rows(now, &TimeRange::ALL) > 0)
        });
        holds.map(|(leaf, _)| leaf.clone()).collect()
    }

    /// Returns the number of the table's rows that the leaf should hold.
    #[must_use]
    pub fn expected(&self, leaf: &LeafName, table: &TableName) -> u64 {
        self.expected_in(leaf, table, &TimeRange::ALL)
    }

    /// As [`Self::expected`]; 0 where all rows of the leaf are outside of the time range.
    #[must_use]
    pub fn expected_in(&self, leaf: &LeafName, table: &TableName, range: &TimeRange) -> u64 {
        let now = self.clock.now();
        let counts = self.counts.lock();
        let entry = counts.entries.get(leaf).and_then(|tables| tables.get(table));
        entry.map_or(0, |entry| entry.rows(now, range))
    }

    /// The number of changes so far, for membership to announce.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.counts.lock().version
    }

    /// When versions began to be counted.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether some shares are not remembered, because there were more than
    /// `EXPECTED_SHARES_KEPT_MAX`: their rows are not expected.
    #[must_use]
    pub fn has_left_out(&self) -> bool {
        self.counts.lock().has_left_out
    }

    /// What has changed since `version`, a version of this process. Since 0, that is all, as far as
    /// it fits into one message.
    #[must_use]
    pub fn changes_since(&self, version: u64) -> ExpectedRowsDelta {
        self.counts.lock().changes_since(version, self.epoch)
    }

    /// Everything that is known now, in messages that can be stored, and merged after a restart.
    pub fn everything(&self) -> impl Iterator<Item = ExpectedRowsDelta> {
        let (until, mut next) = (self.version(), Some(0));
        std::iter::from_fn(move || {
            let delta = self.changes_since(next?);
            // Later changes are left for later.
            next = (delta.has_more && delta.version < until).then_some(delta.version);
            Some(delta)
        })
    }

    /// Adds what another process knows. The same again, or older, changes nothing.
    pub fn merge(&self, delta: &ExpectedRowsDelta) {
        let now = self.clock.now();
        self.counts.lock().merge(delta, now);
    }
}

impl ExpectedRowsSource for ExpectedRows {
    fn changes(&self, epoch: u64, version: u64) -> ExpectedRowsDelta {
        self.changes_since(if epoch == self.epoch { version } else { 0 })
    }
}

#[cfg(test)]
mod tests;
