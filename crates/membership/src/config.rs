//! What a process needs to know to join a cluster.

use std::net::SocketAddr;
use std::time::Duration;

use hadal_types::LeafName;
use hadal_types::limits::GOSSIP_MILLIS;

/// How a process joins a cluster.
#[derive(Clone, Debug)]
pub struct MembershipConfig {
    /// The cluster's name. Members of other clusters are ignored.
    pub cluster: String,
    /// The UDP address to receive on.
    pub listen: SocketAddr,
    /// The UDP address at which others reach this process.
    pub advertise: SocketAddr,
    /// Addresses of members to ask first, `HOST:PORT`. Others become known through them. This
    /// process itself may be among them.
    pub seeds: Vec<String>,
    /// The time between two rounds of gossip.
    pub gossip_interval: Duration,
}

impl MembershipConfig {
    /// The default time between two rounds of gossip.
    pub const GOSSIP_INTERVAL: Duration = Duration::from_millis(GOSSIP_MILLIS);
}

/// Why a process cannot be a member, or cannot do something as one.
#[derive(Debug, thiserror::Error)]
pub enum MembershipError {
    /// The member's own description does not fit into an announcement.
    #[error("the member {name} cannot be announced: {reason}")]
    Unfit {
        /// Its name.
        name: LeafName,
        /// What is wrong with it.
        reason: String,
    },
    /// The gossip cannot start.
    #[error("cannot gossip on {listen} (UDP): {reason}")]
    Start {
        /// The address to receive on.
        listen: SocketAddr,
        /// The system's error.
        reason: String,
    },
    /// Only a silent member can be forgotten.
    #[error("{0} is alive: stop it first, then forget it")]
    Alive(LeafName),
    /// The gossip has ended.
    #[error("the gossip of this process has ended")]
    Ended,
}
