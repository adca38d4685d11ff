//! What is wrong with a cluster, as far as announcements show it.

use std::fmt;
use std::net::SocketAddr;

use hadal_peer::WIRE_VERSION;
use hadal_types::LeafName;
use hadal_types::limits::MEMBERS_MAX;

/// Something that a person has to put right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// Two live processes have one name.
    SameName {
        /// The name.
        name: LeafName,
        /// The address of the process that started first; the other one is the member.
        older: SocketAddr,
        /// The address of the process that started last.
        younger: SocketAddr,
    },
    /// A member's messages are too new or too old for this program.
    WireVersion {
        /// The member.
        name: LeafName,
        /// Its address.
        address: SocketAddr,
        /// The version that it writes.
        version: u32,
    },
    /// A member's clock differs from this process's.
    Clock {
        /// The member.
        name: LeafName,
        /// By how much its clock is ahead, in seconds; below 0 if it is behind.
        ahead_seconds: i64,
    },
    /// An announcement cannot be read.
    Unreadable {
        /// The sender's name for itself, with control characters and its end removed.
        name: String,
        /// Its address.
        address: SocketAddr,
        /// What is wrong.
        reason: String,
    },
    /// A forgotten member has been heard again, from the same start.
    Forgotten {
        /// The member.
        name: LeafName,
        /// Its address.
        address: SocketAddr,
    },
    /// There are more processes than this one keeps track of.
    TooMany {
        /// How many are left out.
        ignored: usize,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameName { name, older, younger } => write!(
                formatter,
                "two processes are named {name}, at {older} and at {younger}: stop one or rename it"
            ),
            Self::WireVersion { name, address, version } => {
                let (relation, remedy) = match *version > WIRE_VERSION {
                    true => ("newer", "this process"),
                    false => ("older", "that member"),
                };
                write!(
                    formatter,
                    "{name} at {address} writes messages of version {version}, which is {relation} \
                     than this program understands (it writes version {WIRE_VERSION}): upgrade {remedy}"
                )
            }
            Self::Clock { name, ahead_seconds } => {
                let relation = if *ahead_seconds < 0 { "behind" } else { "ahead of" };
                let seconds = ahead_seconds.unsigned_abs();
                write!(
                    formatter,
                    "the clock of {name} is {seconds} s {relation} this process's: set the clocks of \
                     both machines"
                )
            }
            Self::Unreadable { name, address, reason } => {
                write!(formatter, "the announcement of {name} at {address} is unreadable: {reason}")
            }
            Self::Forgotten { name, address } => write!(
                formatter,
                "{name} at {address} was forgotten and has been heard again: restart it to take it back"
            ),
            Self::TooMany { ignored } => write!(
                formatter,
                "{ignored} processes are ignored, because the cluster has more than {MEMBERS_MAX}"
            ),
        }
    }
}
