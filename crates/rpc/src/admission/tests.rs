use std::sync::Arc;

use hadal_types::FixedClock;
use hadal_types::limits::{CLUSTER_TOKEN_BYTES_MAX, CLUSTER_TOKEN_BYTES_MIN, NAME_BYTES_MAX};
use tonic::codegen::http::header::HeaderValue;

use super::*;
use crate::identity::Recipient;
use crate::{ClusterToken, IdentityError};

fn identity(cluster: &str, name: &str) -> Result<Identity, IdentityError> {
    let clock = Arc::new(FixedClock::default());
    Identity::new(cluster, LeafName(name.into()), "0.1.0", 5, clock)
}

fn server() -> Identity {
    identity("prod", "a/leaf-0").expect("sound")
}

#[test]
fn a_caller_without_metadata_is_no_member() {
    let refused = admit(&HeaderMap::new(), &server());
    assert_eq!(refused, Err(Refusal::NoMember { cluster: "prod".to_owned() }));
    let mut headers = server().of_caller(None);
    headers.insert(VERSION, HeaderValue::from_static("one"));
    assert!(matches!(admit(&headers, &server()), Err(Refusal::NoMember { .. })));
}

#[test]
fn a_member_is_admitted_by_its_name() {
    let caller = identity("prod", "b é").expect("sound");
    let admitted = admit(&caller.of_caller(Some(server().name().into())), &server());
    assert_eq!(admitted, Ok(Caller { name: "b é".to_owned() }));
}

#[test]
fn a_call_for_one_process_is_refused_by_another_of_the_name() {
    let (caller, server) = (identity("prod", "b").expect("sound"), server());
    let to = |started| caller.of_caller(Some(Recipient { name: server.name(), started }));
    assert!(admit(&to(Some(5)), &server).is_ok());
    for recipient in [4, 6] {
        let refused = admit(&to(Some(recipient)), &server);
        let name = server.name().clone();
        assert_eq!(refused, Err(Refusal::OtherProcess { name, recipient, server: 5 }));
    }
}

#[test]
fn names_that_cannot_be_sent_are_refused() {
    let long = "x".repeat(NAME_BYTES_MAX);
    assert!(identity(&long, &long).is_ok());
    let longer = format!("{long}x");
    for cluster in ["", "a b", "é", "a/b", &longer] {
        let refused = identity(cluster, "a").expect_err("no name");
        assert_eq!(refused, IdentityError::Cluster(cluster.to_owned()));
    }
    for name in ["", "a\nb", &longer] {
        assert_eq!(identity("a", name).expect_err("no name"), IdentityError::Name(name.to_owned()));
    }
}

#[test]
fn tokens_have_a_least_and_a_greatest_length() {
    for (bytes, is_token) in [
        (CLUSTER_TOKEN_BYTES_MIN - 1, false),
        (CLUSTER_TOKEN_BYTES_MIN, true),
        (CLUSTER_TOKEN_BYTES_MAX, true),
        (CLUSTER_TOKEN_BYTES_MAX + 1, false),
    ] {
        assert_eq!(ClusterToken::parse(&format!(" {}\n", "x".repeat(bytes))).is_ok(), is_token);
    }
    assert!(ClusterToken::parse("twenty characters é!").is_err());
    let token = ClusterToken::parse(&"s".repeat(20)).expect("a token");
    assert!(!format!("{token:?}").contains("sss"));
}

#[test]
fn only_the_token_itself_matches() {
    let token = ClusterToken::parse("0123456789abcdef").expect("a token");
    assert!(token.matches(b"Bearer 0123456789abcdef"));
    for other in [
        &b""[..],
        b"0123456789abcdef",
        b"Bearer ",
        b"Bearer 0123456789abcde",
        b"Bearer 0123456789abcdef0",
        b"Bearer 0123456789abcdeF",
        b"bearer 0123456789abcdef",
    ] {
        assert!(!token.matches(other));
    }
}
