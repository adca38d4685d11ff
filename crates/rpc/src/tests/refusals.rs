//! Callers that are refused: by name, and before their message is read.

use bytes::Bytes;
use hadal_aggregate::LeafOutcome;
use hadal_peer::{Peer, Sink, SinkError, WIRE_VERSION};
use hadal_types::LeafName;
use std::time::Instant;

use super::fakes::{
    LONG, TestServer, batch, identity, leaf_identity, leaf_name, partial, query, token,
};
use crate::call::CallError;
use crate::method::Method;
use crate::{Identity, RemoteLeaf};

/// The refusal of a call by `caller` to a server with `identity`. The message cannot be decoded, so
/// it was not read.
async fn refusal(server: Identity, caller: Identity, recipient: Option<&str>) -> String {
    let server = TestServer::of(server, None, "127.0.0.1:0").await;
    let connection = server.connection(caller);
    let recipient = recipient.map(|name| LeafName(name.into()));
    let call = connection.call(
        Method::Accept,
        recipient.as_ref().map(Into::into),
        Bytes::from_static(&[255; 9]),
    );
    match call.await.map_err(CallError::from) {
        Err(CallError::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn of_cluster(cluster: &str) -> Identity {
    let clock = std::sync::Arc::new(hadal_types::FixedClock::default());
    Identity::new(cluster, LeafName("b".into()), "0.1.0", 1, clock).expect("sound")
}

fn names(text: &str, all: &[&str]) {
    assert!(all.iter().all(|name| text.contains(name)), "{text}");
}

#[tokio::test]
async fn a_caller_of_another_cluster_is_refused() {
    let why = refusal(leaf_identity(), of_cluster("staging"), None).await;
    names(&why, &["\"staging\"", "\"test\"", "--cluster"]);
}

#[tokio::test]
async fn the_version_before_and_after_is_understood_and_no_other() {
    for (version, is_understood) in [(9, false), (10, true), (11, true), (12, true), (13, false)] {
        let server = leaf_identity().with_wire_version(11);
        let caller = || identity("b").with_wire_version(version);
        if is_understood {
            let server = TestServer::of(server, None, "127.0.0.1:0").await;
            let leaf = RemoteLeaf::new(leaf_name(), server.connection(caller()));
            assert_eq!(leaf.query(query(), Instant::now() + LONG).await, partial(7), "{version}");
        } else {
            let why = refusal(server, caller(), None).await;
            names(&why, &["version 11", &format!("version {version}"), "upgrade"]);
        }
    }
    assert_eq!(leaf_identity().hello().wire_version, WIRE_VERSION);
}

#[tokio::test]
async fn a_caller_without_the_token_is_refused() {
    let server = || leaf_identity().with_token(token("s"));
    let why = refusal(server(), identity("b"), None).await;
    names(&why, &["no cluster token", "\"test\"", "--cluster-token"]);
    let why = refusal(server(), identity("b").with_token(token("t")), None).await;
    names(&why, &["another cluster token", "--cluster-token"]);
    let server = TestServer::of(server(), None, "127.0.0.1:0").await;
    let caller = identity("b").with_token(token("s"));
    let leaf = RemoteLeaf::new(leaf_name(), server.connection(caller));
    assert!(leaf.accept(batch()).await.is_ok());
}

#[tokio::test]
async fn a_call_for_the_process_that_had_the_address_before_is_refused() {
    let why = refusal(leaf_identity(), identity("b"), Some("machine-1/leaf-1")).await;
    names(&why, &["machine-1/leaf-1", "machine-1/leaf-0"]);
    let server = TestServer::start().await;
    let name = LeafName("machine-1/leaf-1".into());
    let leaf = RemoteLeaf::new(name.clone(), server.connection(identity("b")));
    assert_eq!(leaf.accept(batch()).await, Err(SinkError::Unavailable(name.to_string())));
    let answer = leaf.query(query(), Instant::now() + LONG).await;
    assert_eq!(answer.coverage.leaves[0].outcome, LeafOutcome::Failed);
    assert!(server.fake.batches.lock().is_empty());
}
