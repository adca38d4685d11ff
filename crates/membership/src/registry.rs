//! What was seen of all processes of a cluster, and who its members are: state without clock or
//! network.
//!
//! A *process* is one start of a member: name, generation and address. A name stands for one
//! member at a time: of its live processes, the one that started last. A name that was once a
//! member's stays in the list as silent until it is forgotten.
//!
//! chitchat drops a dead process after a while. So that processes which join later learn of silent
//! and forgotten members, too, one live member, the one whose name sorts first, announces them
//! beside itself (`relay.rs`).

mod problems;
mod process;
mod relay;
mod roster;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use hadal_peer::Member;
use hadal_types::limits::{MEMBER_SILENT_MILLIS, MEMBERS_MAX};
use hadal_types::{LeafName, Micros};

use crate::config::MembershipError;
use process::Process;
use roster::RosterEntry;

/// How long a member's heartbeat may stand still.
pub(crate) const SILENT_AFTER: Duration = Duration::from_millis(MEMBER_SILENT_MILLIS);

/// One start of a member. Sorts by name, then from the oldest to the youngest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProcessId {
    /// The member's name.
    pub(crate) name: LeafName,
    /// Grows with each start.
    pub(crate) generation: u64,
    /// Where it takes gossip.
    pub(crate) address: SocketAddr,
}

/// What a process announces, by key.
pub(crate) type Texts = BTreeMap<String, String>;

/// The present state of one process, as chitchat has it.
pub(crate) struct Sighting {
    /// The process.
    pub(crate) id: ProcessId,
    /// Rises while the process lives.
    pub(crate) heartbeat: u64,
    /// Changes with the process's texts.
    pub(crate) version: u64,
    /// Its texts; `None` if the version is the one that the registry knows.
    pub(crate) texts: Option<Texts>,
}

/// All that is known of a cluster's processes.
pub(crate) struct Registry {
    local: ProcessId,
    processes: BTreeMap<ProcessId, Process>,
    roster: BTreeMap<LeafName, RosterEntry>,
    /// Members that are gone: the last generation of each that does not count.
    forgotten: BTreeMap<LeafName, u64>,
    /// Those that a person removed through this process.
    forgotten_here: BTreeSet<LeafName>,
    /// How long this process has been listening.
    listened: Duration,
    ignored: usize,
}

impl Registry {
    /// A registry that knows only the process itself.
    pub(crate) fn new(local: ProcessId) -> Self {
        Self {
            local,
            processes: BTreeMap::new(),
            roster: BTreeMap::new(),
            forgotten: BTreeMap::new(),
            forgotten_here: BTreeSet::new(),
            listened: Duration::ZERO,
            ignored: 0,
        }
    }

    /// The process itself.
    pub(crate) fn local(&self) -> &ProcessId {
        &self.local
    }

    /// Continues as a later process of the same name.
    pub(crate) fn renew(&mut self, generation: u64) {
        self.processes.remove(&self.local);
        self.local.generation = generation;
    }

    /// The version of a process's texts that the registry has read.
    pub(crate) fn version(&self, id: &ProcessId) -> Option<u64> {
        self.processes.get(id).map(|process| process.version)
    }

    /// Takes in the state of all processes after `listened` of listening; `clock` is this
    /// process's.
    pub(crate) fn observe(
        &mut self,
        local: &Member,
        sightings: Vec<Sighting>,
        listened: Duration,
        clock: Micros,
    ) {
        self.listened = listened;
        self.ignored = 0;
        for process in self.processes.values_mut() {
            process.is_present = false;
        }
        for sighting in sightings {
            if let Some(texts) = &sighting.texts {
                self.read_relayed(texts);
            }
            if self.processes.len() >= MEMBERS_MAX && !self.processes.contains_key(&sighting.id) {
                self.ignored += 1;
                continue;
            }
            let is_own = sighting.id == self.local;
            let process = self.processes.entry(sighting.id.clone());
            let process = process.or_insert_with(|| Process::new(listened));
            match is_own {
                true => process.be_own(local, sighting.version, listened),
                false => process.observe(&sighting, listened, clock),
            }
        }
        self.processes.retain(|_, process| process.is_present);
        self.update_roster();
    }

    /// All members by name: live ones with their announced state, others as silent.
    pub(crate) fn members(&self) -> Vec<Member> {
        self.roster.values().map(|entry| entry.member.clone()).collect()
    }

    /// Takes a silent member out of the list permanently; returns whether there was one.
    ///
    /// # Errors
    /// [`MembershipError::Alive`].
    pub(crate) fn forget(&mut self, name: &LeafName) -> Result<bool, MembershipError> {
        let Some(entry) = self.roster.get(name) else { return Ok(false) };
        if !entry.is_silent() {
            return Err(MembershipError::Alive(name.clone()));
        }
        let generation = entry.generation;
        self.forgotten_here.insert(name.clone());
        self.set_forgotten(name.clone(), generation);
        self.update_roster();
        Ok(true)
    }

    /// Marks every process of `name` up to `generation` as gone.
    fn set_forgotten(&mut self, name: LeafName, generation: u64) {
        let last = self.forgotten.entry(name).or_insert(generation);
        *last = generation.max(*last);
        while self.forgotten.len() > MEMBERS_MAX {
            let oldest = self.forgotten.iter().min_by_key(|(_, generation)| **generation);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { break };
            self.forgotten.remove(&oldest);
        }
    }

    /// Whether a process belongs to a member that is gone.
    fn is_forgotten(&self, name: &LeafName, generation: u64) -> bool {
        self.forgotten.get(name).is_some_and(|last| generation <= *last)
    }

    /// The processes of one name, from the oldest to the youngest.
    fn processes_of<'a>(
        &'a self,
        name: &'a LeafName,
    ) -> impl Iterator<Item = (&'a ProcessId, &'a Process)> {
        let address = SocketAddr::from(([0, 0, 0, 0], 0));
        let first = ProcessId { name: name.clone(), generation: 0, address };
        self.processes.range(first..).take_while(move |(id, _)| id.name == *name)
    }
}

#[cfg(test)]
mod tests;
