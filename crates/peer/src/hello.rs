//! How members of a cluster introduce themselves.

use hadal_types::{LeafName, Micros};

/// The version of the messages that this program writes. It also reads the version before.
pub const WIRE_VERSION: u32 = 1;

/// What a process says of itself before other calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its cluster.
    pub cluster: String,
    /// Its name.
    pub name: LeafName,
    /// The version of the messages that it writes.
    pub wire_version: u32,
    /// Its release.
    pub release: String,
    /// Its start, in microseconds since the Unix epoch.
    pub started: u64,
    /// Its clock when it said so.
    pub clock: Micros,
}

impl Hello {
    /// Whether two processes understand each other's messages: each reads what it writes and the
    /// version before.
    #[must_use]
    pub const fn understands(&self, other: &Self) -> bool {
        self.wire_version.abs_diff(other.wire_version) <= 1
    }
}
