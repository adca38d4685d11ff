//! Reports that a leaf pushes.

use std::sync::Arc;

use hadal_peer::{Peer, Sink, TableStatus};
use hadal_types::limits::TABLES_MAX;
use hadal_types::{ColumnName, FixedClock, LeafState, TableName, TableSchema};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use super::fakes::{LONG, NOW, TestServer, batch, leaf_name, report, table};
use crate::remote_leaf::PushedReports;
use crate::{Identity, RemoteLeaf, ReportEvent};

fn follow(leaf: &Arc<RemoteLeaf>) -> UnboundedReceiver<ReportEvent> {
    let (events, received) = unbounded_channel();
    let leaf = Arc::clone(leaf);
    tokio::spawn(async move { leaf.follow_reports(move |event| drop(events.send(event))).await });
    received
}

async fn next(events: &mut UnboundedReceiver<ReportEvent>) -> ReportEvent {
    timeout(LONG, events.recv()).await.expect("an event").expect("it follows")
}

#[tokio::test]
async fn reports_are_pushed_first_all_and_then_the_changed_ones() {
    let server = TestServer::start().await;
    server.fake.reports.send_replace(vec![report("a", 1), report("b", 2)]);
    let leaf = Arc::new(server.leaf());
    let mut events = follow(&leaf);
    assert_eq!(next(&mut events).await, ReportEvent::Changed(report("a", 1)));
    assert_eq!(next(&mut events).await, ReportEvent::Changed(report("b", 2)));
    server.fake.reports.send_modify(|reports| reports.push(report("a", 3)));
    assert_eq!(next(&mut events).await, ReportEvent::Changed(report("a", 3)));
    let name = TableName::new("a").expect("a name");
    assert_eq!(leaf.reports(&name), [report("a", 3)]);
    // Receipts have reports, too; and older reports than known ones change nothing.
    leaf.accept(batch()).await.expect("taken");
    assert_eq!(next(&mut events).await, ReportEvent::Changed(report("requests", 3)));
    server.fake.reports.send_modify(|reports| {
        reports.extend([report("a", 2), report("c", 1)]);
    });
    assert_eq!(next(&mut events).await, ReportEvent::Changed(report("c", 1)));
    assert_eq!(leaf.reports(&name), [report("a", 3)]);
}

#[tokio::test]
async fn a_stopping_server_ends_its_streams() {
    let server = TestServer::start().await;
    server.fake.reports.send_replace(vec![report("a", 1)]);
    let mut events = follow(&Arc::new(server.leaf()));
    next(&mut events).await;
    timeout(LONG, server.stop()).await.expect("it does not wait for those who follow");
}

#[tokio::test]
async fn reports_of_an_earlier_start_are_forgotten() {
    let server = TestServer::start().await;
    server.fake.reports.send_replace(vec![report("a", 9), report("requests", 9)]);
    let (leaf, address) = (Arc::new(server.leaf()), server.address.to_string());
    let mut events = follow(&leaf);
    next(&mut events).await;
    next(&mut events).await;
    server.stop().await;
    let clock = Arc::new(FixedClock::new(NOW));
    let later = Identity::new("test", leaf_name(), "0.1.0", 2, clock).expect("sound");
    let server = TestServer::of(later, None, &address).await;
    server.fake.reports.send_replace(vec![report("a", 1)]);
    assert_eq!(next(&mut events).await, ReportEvent::Restarted);
    assert_eq!(next(&mut events).await, ReportEvent::Changed(report("a", 1)));
    assert!(leaf.reports(&table()).is_empty());
}

fn status() -> TableStatus {
    let schema = TableSchema {
        name: table(),
        time_column: ColumnName::new("time").expect("a name"),
        columns: Vec::new(),
        rows: 1,
        time_range: None,
    };
    TableStatus {
        schema: Arc::new(schema),
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
    }
}

#[test]
fn a_leaf_that_reports_too_many_tables_is_cut_off() {
    let reports = PushedReports::default();
    let status = Arc::new(status());
    for index in 0..=TABLES_MAX {
        let mut report = report(&format!("t{index}"), 1);
        report.status = Some(Arc::clone(&status));
        reports.store(report, 1);
    }
    let name = |index: usize| TableName::new(&format!("t{index}")).expect("a name");
    assert!(reports.of_table(&name(TABLES_MAX - 1)).is_some());
    assert!(reports.of_table(&name(TABLES_MAX)).is_none(), "the limit is TABLES_MAX");
    // A dropped table makes room.
    reports.store(report("t0", 2), 1);
    reports.store(report(&format!("t{TABLES_MAX}"), 1), 1);
    assert!(reports.of_table(&name(TABLES_MAX)).is_some());
    assert!(reports.of_table(&name(0)).is_none());
}
