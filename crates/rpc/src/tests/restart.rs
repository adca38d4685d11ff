//! Requests to restart a leaf.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hadal_peer::{LeafRestart, Member, MemberRole, MemberState};
use hadal_types::limits::ROLLOVER_STOP_SECONDS_MAX;
use hadal_types::{LeafName, LeafState, MachineName};

use super::fakes::{TestServer, identity, leaf_name, unused_address};
use crate::ask_to_restart;

fn member(address: SocketAddr) -> Member {
    Member {
        name: leaf_name(),
        role: MemberRole::Leaf,
        machine: MachineName("machine-1".into()),
        rack: String::new(),
        address,
        url: String::new(),
        started: 1,
        joined: 1,
        release: "0.1.0".to_owned(),
        wire_version: 1,
        state: MemberState::Announced(LeafState::Alive),
        used_bytes: 0,
        free_bytes: 0,
        catalog_version: 0,
        expected_rows_version: 0,
        has_definitions: false,
    }
}

async fn ask(address: SocketAddr, leaf: LeafName) -> Result<bool, String> {
    let stop_max = Duration::from_secs(ROLLOVER_STOP_SECONDS_MAX);
    let caller = Arc::new(identity("machine-2"));
    ask_to_restart(&member(address), &caller, &LeafRestart { leaf, stop_max }).await
}

#[tokio::test]
async fn a_process_restarts_its_leaves_and_no_others() {
    let server = TestServer::start().await;
    assert_eq!(ask(server.address, leaf_name()).await, Ok(true));
    let other = LeafName("machine-9/leaf-0".into());
    assert_eq!(ask(server.address, other.clone()).await, Ok(false));
    let asked: Vec<LeafName> =
        server.fake.restarts.lock().iter().map(|restart| restart.leaf.clone()).collect();
    assert_eq!(asked, [leaf_name(), other]);
}

#[tokio::test]
async fn a_member_that_cannot_be_asked_is_named() {
    let refused = ask(unused_address().await, leaf_name()).await.expect_err("nobody listens");
    assert!(refused.contains("machine-1/leaf-0") && refused.contains("refused"), "{refused}");
}
