//! The last reports that a leaf has pushed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hadal_peer::TableReport;
use hadal_types::TableName;
use hadal_types::limits::TABLES_MAX;
use parking_lot::Mutex;

/// A change of what is known of a leaf's tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportEvent {
    /// The leaf's process has been restarted: forget its earlier reports, whose versions mean
    /// nothing beside later ones.
    Restarted,
    /// A table has a newer report.
    Changed(TableReport),
}

type Observer = Box<dyn Fn(ReportEvent) + Send + Sync>;

/// The newest report of every table, from one start of the leaf.
#[derive(Default)]
pub(crate) struct PushedReports {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The start of the process whose reports these are.
    started: u64,
    reports: HashMap<TableName, TableReport>,
    /// Called with every change, under the lock: so it sees the changes in their order.
    observer: Option<Observer>,
}

impl State {
    fn note_start(&mut self, started: u64) {
        if self.started < started {
            let is_restart = self.started > 0;
            self.started = started;
            self.reports.clear();
            if is_restart {
                self.notify(ReportEvent::Restarted);
            }
        }
    }

    fn notify(&self, event: ReportEvent) {
        if let Some(observer) = &self.observer {
            observer(event);
        }
    }

    /// Returns whether the report is newer than the known one, and stores it then.
    fn is_news(&mut self, report: &TableReport) -> bool {
        if self.reports.len() >= TABLES_MAX && !self.reports.contains_key(&report.table) {
            // Tables that were dropped need not be known any more.
            self.reports.retain(|_, known| known.status.is_some());
        }
        let is_full = self.reports.len() >= TABLES_MAX;
        match self.reports.entry(report.table.clone()) {
            Entry::Occupied(newest) if newest.get().version > report.version => return false,
            Entry::Vacant(_) if is_full => return false,
            entry => drop(entry.insert_entry(report.clone())),
        }
        true
    }
}

impl PushedReports {
    /// Calls `observer` with every later change. It must be quick and must not use these reports.
    pub(crate) fn observe(&self, observer: Observer) {
        self.state.lock().observer = Some(observer);
    }

    /// Notes that the leaf's process began at `started`. Reports of an earlier process are
    /// forgotten.
    pub(crate) fn note_start(&self, started: u64) {
        self.state.lock().note_start(started);
    }

    /// Stores a report by the process that began at `started`, unless a newer one is known.
    pub(crate) fn store(&self, report: TableReport, started: u64) {
        let mut state = self.state.lock();
        state.note_start(started);
        if state.started == started && state.is_news(&report) {
            state.notify(ReportEvent::Changed(report));
        }
    }

    /// Returns the newest report of a table.
    pub(crate) fn of_table(&self, table: &TableName) -> Option<TableReport> {
        self.state.lock().reports.get(table).cloned()
    }
}
