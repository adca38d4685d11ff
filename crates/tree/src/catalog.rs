//! The catalog: all tables, merged from the newest report of every leaf, without a message to the
//! leaves.
//!
//! Leaves report with the receipts of batches, and by [`Peer::reports`], which waits for no
//! message. So a query or a batch finds its table at once. The tables of this process are exact;
//! the tables of remote leaves are as the leaves pushed them last.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hadal_peer::{Peer, TableReport, TableStatus};
use hadal_types::{LeafName, TableName};
use parking_lot::RwLock;

use crate::cluster_status::merge;

/// The newest known report of every table by every leaf.
#[derive(Debug, Default)]
pub struct Catalog {
    tables: RwLock<HashMap<TableName, Entry>>,
}

#[derive(Debug, Default)]
struct Entry {
    reports: BTreeMap<LeafName, TableReport>,
    /// All reports merged; `None` if no leaf has the table.
    merged: Option<Arc<TableStatus>>,
}

impl Catalog {
    /// Stores a report, unless a newer one of its leaf and table is known.
    pub fn learn(&self, report: TableReport) {
        if !self.knows(std::slice::from_ref(&report)) {
            let table = report.table.clone();
            self.update(&table, vec![report]);
        }
    }

    /// Returns a table as all leaves at or below `tree` report it now, merged with other known
    /// reports; `None` if no leaf has it. Cheap unless the table has changed.
    #[must_use]
    pub fn table(&self, tree: &dyn Peer, name: &TableName) -> Option<Arc<TableStatus>> {
        let reports = tree.reports(name);
        if self.knows(&reports) {
            return self.tables.read().get(name).and_then(|entry| entry.merged.clone());
        }
        self.update(name, reports)
    }

    /// Forgets a table that was dropped.
    pub fn forget(&self, table: &TableName) {
        self.tables.write().remove(table);
    }

    /// Forgets the reports of a leaf, since it is no longer a member.
    pub fn forget_leaf(&self, leaf: &LeafName) {
        self.tables.write().retain(|_, entry| {
            if entry.reports.remove(leaf).is_some() {
                entry.merged = merged(&entry.reports);
            }
            entry.merged.is_some()
        });
    }

    /// Whether these reports would change nothing. For an unknown table, only reports of leaves
    /// that have it matter.
    fn knows(&self, reports: &[TableReport]) -> bool {
        let tables = self.tables.read();
        reports.iter().all(|report| {
            let entry = tables.get(&report.table);
            match entry.and_then(|entry| entry.reports.get(&report.leaf)) {
                Some(newest) => order_of(newest) > order_of(report) || is_same(newest, report),
                None => report.status.is_none(),
            }
        })
    }

    fn update(&self, table: &TableName, reports: Vec<TableReport>) -> Option<Arc<TableStatus>> {
        let mut tables = self.tables.write();
        let entry = tables.entry(table.clone()).or_default();
        for report in reports {
            let newest = entry.reports.get(&report.leaf);
            if newest.is_none_or(|newest| order_of(newest) <= order_of(&report)) {
                entry.reports.insert(report.leaf.clone(), report);
            }
        }
        entry.merged = merged(&entry.reports);
        let table_status = entry.merged.clone();
        // A late, older report creates an entry again, until the table is next looked up.
        if table_status.is_none() {
            tables.remove(table);
        }
        table_status
    }
}

/// The higher, the newer. A restarted leaf counts versions from the beginning.
const fn order_of(report: &TableReport) -> (u64, u64) {
    (report.started, report.version)
}

/// A leaf reports an unchanged table by the same status.
fn is_same(report: &TableReport, other: &TableReport) -> bool {
    order_of(report) == order_of(other)
        && match (&report.status, &other.status) {
            (Some(status), Some(other)) => Arc::ptr_eq(status, other),
            (None, None) => true,
            _ => false,
        }
}

fn merged(reports: &BTreeMap<LeafName, TableReport>) -> Option<Arc<TableStatus>> {
    let mut shares = reports.values().filter_map(|report| report.status.as_ref());
    let first = shares.next()?;
    let Some(second) = shares.next() else { return Some(Arc::clone(first)) };
    let mut all = (**first).clone();
    merge(&mut all, second);
    shares.for_each(|share| merge(&mut all, share));
    Some(Arc::new(all))
}

#[cfg(test)]
mod tests;
