//! Processes over UDP sockets of this machine, in real time.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use hadal_membership::{Membership, MembershipConfig, MembershipError};
use hadal_types::LeafName;

use super::{config, member, spelled, wait_list};

/// Far more than anything takes, for machines under load.
const LONG: Duration = Duration::from_secs(30);

fn free_address() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.local_addr().expect("an address")
}

async fn join(config: MembershipConfig, name: &str, started: u64) -> Membership {
    let local = member(name, config.advertise, started);
    Membership::join(config, local).await.expect("joins")
}

#[tokio::test]
async fn processes_find_each_other_and_notice_who_is_missing() {
    let (first, second, third) = (free_address(), free_address(), free_address());
    // The first one is its local seed; another seed is a name, and a third one is down.
    let named = format!("localhost:{}", first.port());
    let a = join(config(first, &[first]), "a", 1).await;
    assert_eq!(spelled(&a.members()), "a");
    let named = MembershipConfig { seeds: vec![named], ..config(second, &[]) };
    let b = join(named, "b", 1).await;
    let c = join(config(third, &[free_address(), second]), "c", 1).await;
    for member in [&a, &b, &c] {
        wait_list(member, LONG, "a b c").await;
    }
    b.announce(|member| member.catalog_version = 9);
    super::wait(&c, LONG, |members| members[1].catalog_version == 9).await;
    drop(b);
    wait_list(&a, LONG, "a b:silent c").await;
    wait_list(&c, LONG, "a b:silent c").await;
    assert!(a.forget(&LeafName("b".into())).await.expect("forgotten"));
    wait_list(&c, LONG, "a c").await;
    let b = join(config(second, &[first]), "b", 2).await;
    wait_list(&c, LONG, "a b c").await;
    b.leave().await;
    wait_list(&c, LONG, "a b:silent c").await;
    assert_eq!(c.problems(), []);
}

#[tokio::test]
async fn members_of_another_cluster_are_ignored() {
    let (first, second, third) = (free_address(), free_address(), free_address());
    let a = join(config(first, &[]), "a", 1).await;
    let other = MembershipConfig { cluster: "c2".to_owned(), ..config(second, &[first]) };
    let b = join(other, "b", 1).await;
    let _c = join(config(third, &[second, first]), "c", 1).await;
    wait_list(&a, LONG, "a c").await;
    assert_eq!(spelled(&b.members()), "b");
}

#[tokio::test]
async fn bytes_that_are_no_gossip_are_ignored() {
    let (first, second) = (free_address(), free_address());
    let a = join(config(first, &[]), "a", 1).await;
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    for bytes in [&b""[..], b"GET / HTTP/1.1", &[0x53, 0xb0, 1, 0, 255, 255], &[0; 60_000]] {
        socket.send_to(bytes, first).expect("sent");
    }
    let b = join(config(second, &[first]), "b", 1).await;
    wait_list(&a, LONG, "a b").await;
    drop(b);
}

#[tokio::test]
async fn a_process_that_cannot_join_says_why() {
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = taken.local_addr().expect("an address");
    let joined = Membership::join(config(address, &[]), member("a", address, 1)).await;
    let Err(error) = joined else { panic!("joined at a taken address") };
    let text = error.to_string();
    assert!(text.starts_with(&format!("cannot gossip on {address} (UDP): ")), "{text}");
    let joined = Membership::join(config(address, &[]), member("a\n", address, 1)).await;
    assert!(matches!(joined, Err(MembershipError::Unfit { .. })));
}
