use std::sync::Mutex;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::{BoxFuture, PeerStatus, StatusScope, TableBlocks};
use hadal_query::Query;
use hadal_types::{ColumnName, LeafState, TableSchema};

use super::*;

/// A tree with reports that the test sets.
#[derive(Default)]
struct Reporting(Mutex<Vec<TableReport>>);

impl Peer for Reporting {
    fn query(&self, query: Arc<Query>, _deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move { Partial::empty(&query) })
    }

    fn status<'a>(&'a self, _scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async { PeerStatus::default() })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        let reports = self.0.lock().expect("no poison");
        reports.iter().filter(|report| report.table == *table).cloned().collect()
    }

    fn blocks<'a>(&'a self, _table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async { TableBlocks::default() })
    }
}

impl Reporting {
    fn report(&self, report: TableReport) {
        let mut reports = self.0.lock().expect("no poison");
        reports.retain(|other| (&other.leaf, &other.table) != (&report.leaf, &report.table));
        reports.push(report);
    }
}

fn name() -> TableName {
    TableName::new("t").expect("a name")
}

fn leaf(number: u64) -> LeafName {
    LeafName(format!("leaf-{number}").into())
}

/// A leaf's report of `rows` rows; without a status if `rows` is 0.
fn report(number: u64, version: u64, rows: u64) -> TableReport {
    let status = |rows| TableStatus {
        schema: Arc::new(TableSchema {
            name: name(),
            time_column: ColumnName::new("time").expect("a name"),
            columns: Vec::new(),
            rows,
            time_range: None,
        }),
        blocks: 1,
        block_bytes: 1,
        raw_bytes: 1,
        dropped_rows: 0,
        dropped_bytes: 0,
        dropped_until: None,
        expired_rows: 0,
        expired_until: None,
        lost_rows: 0,
        state: LeafState::Alive,
        waiting_rows: 0,
        settings: None,
        expiry: None,
        archive_error: None,
    };
    let status = (rows > 0).then(|| Arc::new(status(rows)));
    let (leaf, table, started) = (leaf(number), name(), 1);
    TableReport { leaf, table, started, version, recovered_rows: 0, accepted_rows: 0, status }
}

fn rows(catalog: &Catalog, tree: &Reporting) -> Option<u64> {
    catalog.table(tree, &name()).map(|table| table.schema.rows)
}

#[test]
fn the_newest_report_of_every_leaf_counts_however_it_came() {
    let (catalog, tree) = (Catalog::default(), Reporting::default());
    assert_eq!(rows(&catalog, &tree), None);
    catalog.learn(report(0, 5, 10));
    assert_eq!(rows(&catalog, &tree), Some(10), "by a receipt");
    tree.report(report(1, 1, 3));
    assert_eq!(rows(&catalog, &tree), Some(13), "and as the tree says");
    catalog.learn(report(0, 4, 7));
    tree.report(report(0, 4, 8));
    assert_eq!(rows(&catalog, &tree), Some(13), "older ones are too late");
    tree.report(report(0, 6, 20));
    assert_eq!(rows(&catalog, &tree), Some(23));
    tree.report(TableReport { started: 2, ..report(0, 1, 20) });
    assert_eq!(rows(&catalog, &tree), Some(23), "a restarted leaf counts from the beginning");
    catalog.forget_leaf(&leaf(1));
    tree.0.lock().expect("no poison").retain(|report| report.leaf != leaf(1));
    assert_eq!(rows(&catalog, &tree), Some(20), "it is no member any more");
}

#[test]
fn a_table_that_has_not_changed_is_merged_once() {
    let (catalog, tree) = (Catalog::default(), Reporting::default());
    (0..3).for_each(|number| tree.report(report(number, 1, 1)));
    let table = || catalog.table(&tree, &name()).expect("a table");
    assert!(Arc::ptr_eq(&table(), &table()));
    let before = table();
    tree.report(report(2, 2, 1));
    assert!(!Arc::ptr_eq(&before, &table()));
}

#[test]
fn a_dropped_table_is_gone_though_an_older_receipt_comes_after() {
    let (catalog, tree) = (Catalog::default(), Reporting::default());
    catalog.learn(report(0, 5, 10));
    catalog.forget(&name());
    assert_eq!(rows(&catalog, &tree), None);
    tree.report(report(0, 7, 0));
    catalog.learn(report(0, 5, 10));
    assert_eq!(rows(&catalog, &tree), None);
    assert!(catalog.tables.read().is_empty(), "names without a table take no memory");
    tree.report(report(0, 8, 2));
    assert_eq!(rows(&catalog, &tree), Some(2), "another table of that name");
}
