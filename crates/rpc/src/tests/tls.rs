//! Mutual TLS: who has a certificate of the cluster's authority, and who has not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_aggregate::LeafOutcome;
use hadal_peer::{Peer, Sink};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};

use super::fakes::{
    LONG, TestServer, batch, identity, leaf_identity, leaf_name, partial, query, token,
};
use crate::{Connection, HelloError, RemoteLeaf, Tls, say_hello};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    CertifiedIssuer::self_signed(params, key).expect("signed")
}

/// The files of a process: its certificate for `name`, and the authority that it trusts.
fn tls(signed_by: &Authority, trusted: &Authority, name: &str, last_year: i32) -> Tls {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
    params.not_after = date_time_ymd(last_year, 1, 1);
    let certificate = params.signed_by(&key, signed_by).expect("signed");
    let (certificate, key) = (certificate.pem(), key.serialize_pem());
    Tls::new(certificate.as_bytes(), key.as_bytes(), trusted.pem().as_bytes())
}

fn of_member(authority: &Authority) -> Tls {
    tls(authority, authority, Tls::SERVER_NAME, 4_000)
}

async fn server(tls: Tls) -> TestServer {
    TestServer::of(leaf_identity(), Some(tls), "127.0.0.1:0").await
}

fn leaf(server: &TestServer, tls: Option<&Tls>) -> RemoteLeaf {
    let caller = identity("b").with_tls(tls.cloned());
    let connection = Connection::new(server.address, Arc::new(caller));
    RemoteLeaf::new(leaf_name(), Arc::new(connection.expect("readable files")))
}

#[tokio::test]
async fn members_call_each_other_by_tls() {
    let authority = authority();
    let server = server(of_member(&authority)).await;
    let tls = of_member(&authority);
    let leaf = leaf(&server, Some(&tls));
    assert_eq!(leaf.query(query(), Instant::now() + LONG).await, partial(7));
    assert!(leaf.accept(batch()).await.is_ok());
    let caller = Arc::new(identity("b").with_tls(Some(tls)));
    let said = say_hello(server.address, &caller, LONG).await;
    assert_eq!(said.map(|hello| hello.name), Ok(leaf_name()));
}

#[tokio::test]
async fn callers_without_a_certificate_of_the_authority_are_refused() {
    let (ours, theirs) = (authority(), authority());
    let server = server(of_member(&ours)).await;
    let callers = [
        ("no TLS", None),
        ("another authority", Some(tls(&theirs, &ours, Tls::SERVER_NAME, 4_000))),
        ("another authority on both sides", Some(of_member(&theirs))),
        ("an expired certificate", Some(tls(&ours, &ours, Tls::SERVER_NAME, 2_020))),
    ];
    for (what, tls) in &callers {
        let leaf = leaf(&server, tls.as_ref());
        let answer = leaf.query(query(), Instant::now() + LONG).await;
        assert_eq!(answer.coverage.leaves[0].outcome, LeafOutcome::Dead, "{what}");
        assert!(leaf.accept(batch()).await.is_err(), "{what}");
        let caller = identity("b").with_token(token("s")).with_tls(tls.clone());
        let said = say_hello(server.address, &Arc::new(caller), Duration::from_secs(5)).await;
        assert!(matches!(said, Err(HelloError::NotHadal { .. })), "{what}: {said:?}");
    }
    assert!(server.fake.batches.lock().is_empty());
    assert!(server.fake.remaining.lock().is_empty());
}

#[tokio::test]
async fn servers_without_a_certificate_of_the_authority_get_nothing() {
    let (ours, theirs) = (authority(), authority());
    for (what, of_server) in [
        ("another authority", tls(&theirs, &ours, Tls::SERVER_NAME, 4_000)),
        ("another name", tls(&ours, &ours, "example.org", 4_000)),
        ("an expired certificate", tls(&ours, &ours, Tls::SERVER_NAME, 2_020)),
    ] {
        let server = server(of_server).await;
        let leaf = leaf(&server, Some(&of_member(&ours)));
        let answer = leaf.query(query(), Instant::now() + LONG).await;
        assert_eq!(answer.coverage.leaves[0].outcome, LeafOutcome::Dead, "{what}");
        assert!(server.fake.remaining.lock().is_empty());
    }
    let plain = TestServer::start().await;
    let leaf = leaf(&plain, Some(&of_member(&ours)));
    let answer = leaf.query(query(), Instant::now() + LONG).await;
    assert_eq!(answer.coverage.leaves[0].outcome, LeafOutcome::Dead);
}

#[test]
fn files_that_are_no_certificates_are_refused() {
    let nothing = Tls::new(b"", b"no key", b"no certificate");
    let address = "127.0.0.1:1".parse().expect("an address");
    let caller = identity("b").with_tls(Some(nothing));
    assert!(Connection::new(address, Arc::new(caller)).is_err());
}
