//! Processes that gossip: over UDP in real time, and over a network of the test in paused time.
#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod network;
mod paused;
mod udp;

use std::net::SocketAddr;
use std::time::Duration;

use hadal_membership::{Membership, MembershipConfig};
use hadal_peer::{Member, MemberRole, MemberState, WIRE_VERSION};
use hadal_types::{LeafName, LeafState, MachineName};

fn config(address: SocketAddr, seeds: &[SocketAddr]) -> MembershipConfig {
    MembershipConfig {
        cluster: "c1".to_owned(),
        listen: address,
        advertise: address,
        seeds: seeds.iter().map(ToString::to_string).collect(),
        gossip_interval: MembershipConfig::GOSSIP_INTERVAL,
    }
}

fn member(name: &str, address: SocketAddr, started: u64) -> Member {
    Member {
        name: LeafName(name.into()),
        role: MemberRole::Leaf,
        machine: MachineName("m1".into()),
        rack: "r1".to_owned(),
        address,
        url: String::new(),
        started,
        joined: 5,
        release: "0.1.0".to_owned(),
        wire_version: WIRE_VERSION,
        state: MemberState::Announced(LeafState::Alive),
        used_bytes: 0,
        free_bytes: 1 << 30,
        catalog_version: 0,
        expected_rows_version: 0,
        has_definitions: false,
    }
}

/// Every member and its state, as `a b:silent`.
fn spelled(members: &[Member]) -> String {
    let spelled = members.iter().map(|member| match member.state {
        MemberState::Announced(LeafState::Alive) => member.name.to_string(),
        state => format!("{}:{}", member.name, state.name()),
    });
    spelled.collect::<Vec<_>>().join(" ")
}

/// Waits until a member's list satisfies `is_right`; panics after `limit`.
#[track_caller]
fn wait<'a>(
    of: &'a Membership,
    limit: Duration,
    is_right: impl Fn(&[Member]) -> bool + 'a,
) -> impl Future<Output = ()> + 'a {
    let caller = std::panic::Location::caller();
    async move {
        let mut changes = of.changes();
        let awaited = changes.wait_for(|members| is_right(members));
        if !matches!(tokio::time::timeout(limit, awaited).await, Ok(Ok(_))) {
            panic!("{caller}: after {limit:?} the members are: {}", spelled(&of.members()));
        }
    }
}

/// Waits until a member's list is this one.
#[track_caller]
fn wait_list<'a>(
    of: &'a Membership,
    limit: Duration,
    expected: &'a str,
) -> impl Future<Output = ()> + 'a {
    wait(of, limit, move |members| spelled(members) == expected)
}
