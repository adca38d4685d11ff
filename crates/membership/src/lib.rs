//! Which processes belong to a cluster, and which of them are alive.
//!
//! Every process announces its [`Member`](hadal_peer::Member) by gossip over UDP (chitchat) and
//! knows the announcements of all others. A member has a heartbeat, a number that grows with each
//! round of gossip. A member whose number stands still for
//! [`MEMBER_SILENT_MILLIS`] counts as silent: it may be dead, frozen or cut off. A silent member
//! stays in the list, because its rows are still expected, until a person says that it is gone
//! ([`Membership::forget`]). The texts are described in `spec/gossip.md`.
//!
//! - `announcement.rs`: a member as text, and back. Texts of others are never trusted.
//! - `registry.rs`: what was seen of everybody, and what follows; it has neither clock nor network.
//! - `gossip.rs`: the task between chitchat and the registry.
//!
//! Membership does not say whether a member answers calls: two members that hear each other only
//! through a third are alive to each other. The callers' deadlines deal with that.

#[cfg(doc)]
use hadal_types::limits::MEMBER_SILENT_MILLIS;

mod announcement;
mod config;
mod gossip;
mod membership;
mod problem;
mod registry;

pub use config::{MembershipConfig, MembershipError};
pub use membership::Membership;
pub use problem::Problem;
