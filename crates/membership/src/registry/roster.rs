//! The members: what follows from the processes.

use std::net::SocketAddr;
use std::time::Duration;

use hadal_peer::{Member, MemberState};
use hadal_types::LeafName;

use super::{ProcessId, Registry};

/// A member.
pub(super) struct RosterEntry {
    /// The generation of its process.
    pub(super) generation: u64,
    /// Its last announcement, or silent.
    pub(super) member: Member,
    /// Since when it is silent.
    pub(super) silent_since: Option<Duration>,
}

impl RosterEntry {
    /// Whether the member is silent.
    pub(super) fn is_silent(&self) -> bool {
        self.silent_since.is_some()
    }

    fn be_silent(&mut self, now: Duration) {
        self.member.state = MemberState::Silent;
        self.silent_since.get_or_insert(now);
    }
}

impl Registry {
    /// Derives the members from the processes.
    pub(super) fn update_roster(&mut self) {
        let mut names: Vec<LeafName> = self.processes.keys().map(|id| id.name.clone()).collect();
        names.dedup();
        for name in names {
            let Some((id, is_alive)) = self.process_of(&name) else { continue };
            let Some(member) = self.processes.get(&id).and_then(|process| process.member()) else {
                continue;
            };
            let member = member.clone();
            let generation = id.generation;
            let is_newer = self.roster.get(&name).is_none_or(|entry| entry.generation < generation);
            if is_alive {
                self.roster.insert(name, RosterEntry { generation, member, silent_since: None });
            } else if is_newer {
                self.roster.insert(name, RosterEntry::silent(generation, member, self.listened));
            }
        }
        self.silence_and_forget();
    }

    /// Where silent members take gossip. chitchat forgets them after a while, so these are the
    /// addresses of their calls, which have the same port.
    pub(crate) fn silent_addresses(&self) -> Vec<SocketAddr> {
        let silent = self.roster.values().filter(|entry| entry.is_silent());
        silent.map(|entry| entry.member.address).collect()
    }

    /// Where live members other than this process take gossip.
    pub(crate) fn live_addresses(&self) -> Vec<SocketAddr> {
        let others = self.processes.iter().filter(|(id, _)| **id != *self.local());
        let live = others.filter(|(_, process)| process.is_alive(self.listened));
        live.map(|(id, _)| id.address).collect()
    }

    /// The process that stands for a name: the youngest live one, else the youngest silent one;
    /// and whether it lives.
    fn process_of(&self, name: &LeafName) -> Option<(ProcessId, bool)> {
        let counts = |id: &ProcessId| !self.is_forgotten(name, id.generation);
        let mut youngest = None;
        for (id, process) in self.processes_of(name).filter(|(id, _)| counts(id)) {
            if process.member().is_none() {
                continue;
            }
            let is_alive = process.is_alive(self.listened);
            let is_beaten = youngest.as_ref().is_some_and(|(_, other_lives)| *other_lives);
            if is_alive || (process.is_silent(self.listened) && !is_beaten) {
                youngest = Some((id.clone(), is_alive));
            }
        }
        youngest
    }

    /// Members without a live process become silent, and forgotten ones disappear.
    fn silence_and_forget(&mut self) {
        let now = self.listened;
        let mut roster = std::mem::take(&mut self.roster);
        roster.retain(|name, entry| !self.is_forgotten(name, entry.generation));
        for (name, entry) in &mut roster {
            let lives = |(id, process): (&ProcessId, &super::Process)| {
                id.generation == entry.generation && process.is_alive(now)
            };
            if !self.processes_of(name).any(lives) {
                entry.be_silent(now);
            }
        }
        self.roster = roster;
    }
}

impl RosterEntry {
    /// A member that is already silent when it becomes known.
    pub(super) fn silent(generation: u64, mut member: Member, now: Duration) -> Self {
        member.state = MemberState::Silent;
        Self { generation, member, silent_since: Some(now) }
    }
}
