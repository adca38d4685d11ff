//! The members of a cluster, as membership announces them.

use std::net::SocketAddr;

use hadal_types::{LeafName, LeafState, MachineName};

/// One process of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name, unique in the cluster.
    pub name: LeafName,
    /// What it does.
    pub role: MemberRole,
    /// The machine on which it runs. All members of one machine name the same.
    pub machine: MachineName,
    /// The rack of the machine; empty if nobody named it.
    pub rack: String,
    /// Where it takes calls of other members.
    pub address: SocketAddr,
    /// The URL of its page and HTTP door; empty if it has none.
    pub url: String,
    /// Its start, in microseconds since the Unix epoch. A later process of the same name has a
    /// higher one.
    pub started: u64,
    /// When the first process of its name joined the cluster, in microseconds since the Unix epoch;
    /// its start if that is unknown.
    pub joined: u64,
    /// Its release, such as `0.1.0`.
    pub release: String,
    /// The version of the messages that it writes; it also reads the version before.
    pub wire_version: u32,
    /// Its state.
    pub state: MemberState,
    /// Bytes of row blocks and fresh batches that it holds.
    pub used_bytes: u64,
    /// Bytes that it can hold beyond those.
    pub free_bytes: u64,
    /// Counts its changes of tables; it has another value after a change of a table.
    pub catalog_version: u64,
    /// Counts its changes of the expected rows; the counts themselves are asked for.
    pub expected_rows_version: u64,
    /// Whether it has its cluster's definitions, for members without a shared database.
    pub has_definitions: bool,
}

/// What a member does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemberRole {
    /// It holds rows.
    Leaf,
    /// It asks leaves and other aggregators; its machine's clients connect to it.
    Aggregator,
}

impl MemberRole {
    /// The role's name in answers and announcements.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Leaf => "leaf",
            Self::Aggregator => "aggregator",
        }
    }
}

/// What is known of a member's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemberState {
    /// It announces itself, and this is its state.
    Announced(LeafState),
    /// It has not been heard of for a while: it is dead, frozen or cut off.
    Silent,
}

impl MemberState {
    /// The state's name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Announced(state) => state.name(),
            Self::Silent => "silent",
        }
    }

    /// Whether queries may be sent to the member.
    #[must_use]
    pub const fn answers(self) -> bool {
        !matches!(self, Self::Silent | Self::Announced(LeafState::Prepare))
    }
}
