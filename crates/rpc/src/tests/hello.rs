//! Who is at an address.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hadal_types::limits::CLOCK_SKEW_SECONDS;
use hadal_types::{FixedClock, LeafName, Micros};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::fakes::{NOW, TestServer, identity, leaf_identity, token, unused_address};
use crate::{HelloError, Identity, say_hello};

async fn hello(address: SocketAddr, identity: Identity) -> Result<String, HelloError> {
    let time_limit = Duration::from_secs(5);
    let hello = say_hello(address, &Arc::new(identity), time_limit).await;
    hello.map(|hello| hello.name.to_string())
}

async fn server_of(identity: Identity) -> TestServer {
    TestServer::of(identity, None, "127.0.0.1:0").await
}

#[tokio::test]
async fn a_member_says_who_it_is() {
    let server = TestServer::start().await;
    assert_eq!(hello(server.address, identity("b")).await, Ok("machine-1/leaf-0".to_owned()));
}

#[tokio::test]
async fn a_stranger_is_named() {
    let address = unused_address().await;
    assert_eq!(hello(address, identity("b")).await, Err(HelloError::Refused { address }));

    let clock = Arc::new(FixedClock::new(NOW));
    let staging = Identity::new("staging", LeafName("a".into()), "0.1.0", 1, clock);
    let server = server_of(staging.expect("sound")).await;
    let (theirs, ours) = ("staging".to_owned(), "test".to_owned());
    let other = HelloError::OtherCluster { address: server.address, theirs, ours };
    assert_eq!(hello(server.address, identity("b")).await, Err(other));

    let server = server_of(leaf_identity().with_wire_version(12)).await;
    let caller = identity("b").with_wire_version(10);
    let other = HelloError::OtherVersion { address: server.address, theirs: 12, ours: 10 };
    assert_eq!(hello(server.address, caller).await, Err(other));

    let server = server_of(leaf_identity().with_token(token("s"))).await;
    for caller in [identity("b"), identity("b").with_token(token("t"))] {
        let refused = hello(server.address, caller).await;
        assert!(matches!(refused, Err(HelloError::Token { .. })), "{refused:?}");
    }
    assert!(hello(server.address, identity("b").with_token(token("s"))).await.is_ok());
}

#[tokio::test]
async fn another_cluster_is_named_even_without_its_token() {
    let clock = Arc::new(FixedClock::new(NOW));
    let staging = Identity::new("staging", LeafName("secret".into()), "0.1.0", 1, clock);
    let server = server_of(staging.expect("sound").with_token(token("s"))).await;
    let other = hello(server.address, identity("b")).await.expect_err("another cluster");
    assert!(matches!(other, HelloError::OtherCluster { .. }), "{other:?}");
    assert!(!other.to_string().contains("secret"), "{other}");
}

#[tokio::test]
async fn a_clock_that_is_off_is_named() {
    let server = TestServer::start().await;
    let most = CLOCK_SKEW_SECONDS * Micros::SECOND;
    for (ahead, is_right) in [(0, true), (most, true), (-most, true), (most + 1, false)] {
        let clock = Arc::new(FixedClock::new(Micros(NOW.0 - ahead)));
        let caller = Identity::new("test", LeafName("b".into()), "0.1.0", 1, clock);
        let said = hello(server.address, caller.expect("sound")).await;
        let address = server.address;
        let expected = Err(HelloError::Clock { address, ahead_micros: ahead });
        assert!(if is_right { said.is_ok() } else { said == expected }, "{ahead}: {said:?}");
    }
}

#[tokio::test]
async fn what_is_no_hadal_is_named() {
    for reply in ["HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail.example ESMTP\r\n", ""] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let serving = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a caller");
            stream.read_u8().await.expect("a byte");
            stream.write_all(reply.as_bytes()).await.expect("sent");
        });
        let said = hello(address, identity("b")).await;
        assert!(matches!(said, Err(HelloError::NotHadal { .. })), "{reply:?}: {said:?}");
        serving.await.expect("no panic");
    }
}

#[tokio::test]
async fn a_silent_process_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    let time_limit = Duration::from_millis(100);
    let said = say_hello(address, &Arc::new(identity("b")), time_limit).await;
    assert_eq!(said, Err(HelloError::TimedOut { address }));
}
