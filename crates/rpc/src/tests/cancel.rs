//! Work for which nobody waits ends.

use std::time::{Duration, Instant};

use hadal_peer::Peer;
use tokio::time::timeout;

use super::fakes::{LONG, OnQuery, TestServer, query};

#[tokio::test]
async fn a_dropped_query_ends_in_the_other_process() {
    let server = TestServer::start().await;
    let leaf = server.leaf();
    *server.fake.on_query.lock() = OnQuery::Hang;
    tokio::select! {
        _ = leaf.query(query(), Instant::now() + LONG) => panic!("the fake never answers"),
        () = server.fake.begun.notified() => {}
    }
    let dropped = timeout(Duration::from_millis(200), server.fake.dropped.notified()).await;
    dropped.expect("the query is cancelled at once");
}

#[tokio::test]
async fn a_query_that_reaches_its_deadline_ends_in_the_other_process() {
    let server = TestServer::start().await;
    let leaf = server.leaf();
    *server.fake.on_query.lock() = OnQuery::Hang;
    leaf.query(query(), Instant::now() + Duration::from_millis(100)).await;
    timeout(Duration::from_millis(200), server.fake.dropped.notified()).await.expect("it ended");
}

#[tokio::test]
async fn calls_continue_after_very_many_were_cancelled() {
    let server = TestServer::start().await;
    let leaf = server.leaf();
    *server.fake.on_query.lock() = OnQuery::Hang;
    for _ in 0..3_000 {
        tokio::select! {
            _ = leaf.query(query(), Instant::now() + LONG) => panic!("the fake never answers"),
            () = server.fake.begun.notified() => {}
        }
    }
    *server.fake.on_query.lock() = OnQuery::Answer;
    let answered = leaf.query(query(), Instant::now() + LONG).await;
    assert_eq!(answered, super::fakes::partial(7));
}
