//! Calls that reach the process, and what becomes of those that do not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_aggregate::{LeafOutcome, Partial};
use hadal_peer::{
    Admin, Peer, Plan, PlannedMachine, PlannedPeer, Sink, SinkError, StatusScope, TableBlocks,
    TableChange,
};
use hadal_types::MachineName;
use hadal_types::limits::{
    RPC_CALL_MILLIS, RPC_CONNECT_MILLIS, RPC_HOP_MILLIS_MAX, RPC_PING_MILLIS,
};
use tokio::net::TcpListener;

use super::fakes::{
    LONG, OnQuery, TestServer, batch, batch_id, connection, identity, leaf_identity, leaf_name,
    partial, query, report, table, unused_address,
};
use crate::{RemoteAggregator, RemoteLeaf};

fn outcomes(partial: &Partial) -> Vec<LeafOutcome> {
    assert!(partial.errors.is_empty(), "{:?}", partial.errors);
    partial.coverage.leaves.iter().map(|leaf| leaf.outcome).collect()
}

#[tokio::test]
async fn every_call_reaches_the_process_and_comes_back() {
    let server = TestServer::start().await;
    let leaf = server.leaf();
    assert_eq!(leaf.query(query(), Instant::now() + LONG).await, partial(7));
    let remaining = server.fake.remaining.lock()[0];
    assert!(remaining <= LONG - Duration::from_millis(RPC_HOP_MILLIS_MAX), "{remaining:?}");
    assert_eq!(leaf.status(&StatusScope::All).await.leaves[0].block_bytes, 9);
    assert!(!leaf.look_up(&table(), &batch_id()).await.is_known);
    let receipt = leaf.accept(batch()).await.expect("taken");
    assert_eq!((receipt.rows, receipt.report), (3, Some(report("requests", 3))));
    assert_eq!(leaf.reports(&table()), [report("requests", 3)]);
    assert_eq!(*server.fake.batches.lock(), [batch().into()]);
    let lookup = leaf.look_up(&table(), &batch_id()).await;
    assert!(lookup.is_known && lookup.takes_batches && lookup.free_bytes == 11);
    let change = TableChange::Drop { table: table() };
    assert_eq!(leaf.apply(change.clone()).await, Ok(13));
    assert_eq!(*server.fake.changes.lock(), [change]);
}

#[tokio::test]
async fn refusals_of_the_process_come_back() {
    let server = TestServer::start().await;
    let leaf = server.leaf();
    let refusal = SinkError::Full("disk 7".to_owned());
    *server.fake.refusal.lock() = Some(refusal.clone());
    assert_eq!(leaf.accept(batch()).await, Err(refusal.clone()));
    assert_eq!(leaf.apply(TableChange::Drop { table: table() }).await, Err(refusal));
}

#[tokio::test]
async fn a_query_with_a_plan_goes_to_the_aggregator() {
    let server = TestServer::of(identity("machine-1"), None, "127.0.0.1:0").await;
    let machine = MachineName("machine-1".into());
    let connection = server.connection(identity("machine-2"));
    let aggregator = RemoteAggregator::new(&machine, connection);
    let leaves = vec![leaf_name(), hadal_types::LeafName("machine-1/leaf-1".into())];
    let machines = vec![PlannedMachine { name: machine, has_aggregator: true, leaves }];
    let plan = Arc::new(Plan { fanout: 5, rows_expected: 9, machines });
    let ask = || aggregator.query_planned(query(), Arc::clone(&plan), Instant::now() + LONG);
    assert_eq!(ask().await, partial(7));
    assert_eq!(*server.fake.plans.lock(), [Arc::clone(&plan)]);
    *server.fake.on_query.lock() = OnQuery::Panic;
    assert_eq!(outcomes(&ask().await), [LeafOutcome::Failed; 2]);
}

#[tokio::test]
async fn a_panic_fails_one_call_and_not_the_process() {
    let server = TestServer::start().await;
    let leaf = server.leaf();
    *server.fake.on_query.lock() = OnQuery::Panic;
    let failed = leaf.query(query(), Instant::now() + LONG).await;
    assert_eq!(outcomes(&failed), [LeafOutcome::Failed]);
    *server.fake.on_query.lock() = OnQuery::Answer;
    assert_eq!(leaf.query(query(), Instant::now() + LONG).await, partial(7));
}

#[tokio::test]
async fn a_process_that_does_not_answer_is_late_at_the_deadline() {
    let server = TestServer::start().await;
    let leaf = server.leaf();
    *server.fake.on_query.lock() = OnQuery::Hang;
    let (start, time) = (Instant::now(), Duration::from_millis(100));
    let late = leaf.query(query(), start + time).await;
    assert_eq!(outcomes(&late), [LeafOutcome::Late]);
    assert!(start.elapsed() >= time);
    let calls = Duration::from_millis(RPC_CALL_MILLIS);
    let start = Instant::now();
    assert_eq!(leaf.blocks(&table()).await, TableBlocks::default());
    assert!(start.elapsed() >= calls, "the fake never answers");
}

#[tokio::test]
async fn a_frozen_process_is_noticed_by_pings() {
    // The kernel takes connections, and the process does nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    let leaf = RemoteLeaf::new(leaf_name(), connection(address, identity("a")));
    let (start, ping) = (Instant::now(), Duration::from_millis(RPC_PING_MILLIS));
    let (frozen, lost) = tokio::join!(leaf.query(query(), start + LONG), leaf.accept(batch()));
    assert_eq!(outcomes(&frozen), [LeafOutcome::Dead]);
    assert_eq!(lost, Err(SinkError::OutcomeUnknown(leaf_name().to_string())));
    assert!(start.elapsed() >= ping && start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_dead_process_takes_no_batch_and_answers_no_query() {
    let leaf = RemoteLeaf::new(leaf_name(), connection(unused_address().await, identity("a")));
    let dead = leaf.query(query(), Instant::now() + LONG).await;
    assert_eq!(outcomes(&dead), [LeafOutcome::Dead]);
    let unavailable = SinkError::Unavailable(leaf_name().to_string());
    assert_eq!(leaf.accept(batch()).await, Err(unavailable.clone()));
    assert_eq!(leaf.apply(TableChange::Drop { table: table() }).await, Err(unavailable));
    assert!(leaf.status(&StatusScope::All).await.leaves.is_empty());
    assert!(!leaf.look_up(&table(), &batch_id()).await.takes_batches);
    assert!(leaf.reports(&table()).is_empty());
}

#[tokio::test]
async fn many_calls_share_one_attempt_to_connect() {
    // A full backlog: the kernel answers no further connection.
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    let listener = socket.listen(0).expect("listening");
    let address = listener.local_addr().expect("bound");
    let mut waiting = Vec::new();
    let connect_time = Duration::from_millis(RPC_CONNECT_MILLIS);
    let connect = || tokio::net::TcpStream::connect(address);
    while let Ok(stream) = tokio::time::timeout(connect_time, connect()).await {
        waiting.push(stream.expect("in the backlog"));
    }
    let leaf = RemoteLeaf::new(leaf_name(), connection(address, identity("a")));
    let start = Instant::now();
    let ask = || leaf.query(query(), Instant::now() + LONG);
    let answers = futures_util::future::join_all((0..20).map(|_| ask())).await;
    assert!(answers.iter().all(|answer| outcomes(answer) == [LeafOutcome::Dead]));
    assert!(start.elapsed() < connect_time * 3, "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_restarted_process_is_reached_again() {
    let server = TestServer::start().await;
    let (leaf, address) = (server.leaf(), server.address.to_string());
    assert!(leaf.accept(batch()).await.is_ok());
    server.stop().await;
    let gone = leaf.accept(batch()).await;
    assert_eq!(gone, Err(SinkError::Unavailable(leaf_name().to_string())));
    let server = TestServer::of(leaf_identity(), None, &address).await;
    assert!(leaf.accept(batch()).await.is_ok());
    assert_eq!(server.fake.batches.lock().len(), 1);
}

#[tokio::test]
async fn the_outcome_is_unknown_when_the_connection_breaks_after_the_batch() {
    // It accepts a connection, reads something, and closes it.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    let closing = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a caller");
        // The HTTP/2 preface, the settings, and the head of the request.
        let mut buffer = vec![0; 200];
        tokio::io::AsyncReadExt::read_exact(&mut stream, &mut buffer).await.expect("bytes");
    });
    let leaf = RemoteLeaf::new(leaf_name(), connection(address, identity("a")));
    let lost = leaf.accept(batch()).await;
    assert_eq!(lost, Err(SinkError::OutcomeUnknown(leaf_name().to_string())));
    closing.await.expect("no panic");
}
