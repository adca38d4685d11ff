//! What a process of a cluster has besides its rows and its doors: a name, a port for other
//! members, and the members that it knows.

pub(crate) mod belonging;
pub(crate) mod config;
pub(crate) mod connections;
pub(crate) mod definitions;
pub(crate) mod directory;
pub(crate) mod exchange;
pub(crate) mod expected_rows_file;
pub(crate) mod join;
pub(crate) mod leaf_command;
pub(crate) mod life_file;
pub(crate) mod member_socket;
pub(crate) mod members;
pub(crate) mod node;
pub(crate) mod review;
pub(crate) mod reviewed_leaf;
pub(crate) mod revocations;
pub(crate) mod supervisor;

use std::net::SocketAddr;

use hadal_membership::MembershipConfig;
use hadal_peer::{Member, MemberRole, MemberState, WIRE_VERSION};
use hadal_rpc::Identity;
use hadal_types::LeafState;

use config::ClusterConfig;

/// The first announcement of this process, at its `address` for other members.
pub(crate) fn own_member(
    cluster: &ClusterConfig,
    identity: &Identity,
    role: MemberRole,
    address: SocketAddr,
) -> Member {
    let hello = identity.hello();
    Member {
        name: hello.name,
        role,
        machine: cluster.machine.clone(),
        rack: cluster.rack.clone(),
        address,
        url: String::new(),
        started: hello.started,
        joined: hello.started,
        release: hello.release,
        wire_version: WIRE_VERSION,
        state: MemberState::Announced(LeafState::Alive),
        used_bytes: 0,
        free_bytes: 0,
        catalog_version: 0,
        expected_rows_version: 0,
        has_definitions: false,
    }
}

/// How this process joins the gossip on the port that is `bound`.
pub(crate) fn membership_config(
    cluster: &ClusterConfig,
    bound: SocketAddr,
    seeds: &[String],
) -> MembershipConfig {
    MembershipConfig {
        cluster: cluster.cluster.clone(),
        listen: bound,
        advertise: cluster.advertised(bound),
        seeds: seeds.to_vec(),
        gossip_interval: MembershipConfig::GOSSIP_INTERVAL,
    }
}
