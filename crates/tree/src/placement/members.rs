//! The leaves on which batches are placed; the list changes while batches arrive.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use hadal_peer::{Admin, MemberState, Sink};
use hadal_types::{BatchId, LeafName, LeafState, Micros};
use parking_lot::RwLock;
use tokio::sync::watch;
use twox_hash::XxHash3_64;

use super::PlacementLeaf;
use super::batch_placement::{Candidate, CandidateState, history, load, state_for_retries};

/// One process of a leaf.
pub(super) struct Member {
    pub(super) name: LeafName,
    pub(super) sink: Arc<dyn Sink>,
    pub(super) admin: Arc<dyn Admin>,
    /// A later process of the leaf has a higher number.
    pub(super) process: u64,
    hash: u64,
}

/// A leaf, and what is known of it.
#[derive(Clone)]
struct Entry {
    member: Arc<Member>,
    state: CandidateState,
    /// Bytes of memory in use and free, as announced.
    memory: Option<(u64, u64)>,
    /// When the leaf, by its name, was first known here.
    since: Duration,
    /// When it joined the cluster, since the Unix epoch, if it said so.
    joined: Option<Duration>,
}

/// All known leaves.
pub(super) struct Members {
    /// When the list was begun.
    begun: Duration,
    /// When anything was last heard of any leaf.
    heard: RwLock<Duration>,
    entries: RwLock<Vec<Entry>>,
    /// Counts the changes of the list.
    version: watch::Sender<u64>,
}

impl Members {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            begun: now,
            heard: RwLock::new(now),
            entries: RwLock::default(),
            version: watch::Sender::new(0),
        }
    }

    /// Adds a leaf, or the next process of a leaf.
    pub(super) fn join(&self, leaf: PlacementLeaf, now: Duration) {
        let PlacementLeaf { name, sink, admin, tables: _, joined } = leaf;
        let joined = joined.map(since_epoch);
        *self.heard.write() = now;
        let hash = hash_of(&name);
        self.change(|entries, version| {
            let old = entries.iter().position(|entry| entry.member.name == name);
            let old = old.map(|index| entries.remove(index));
            let since = old.map_or(now, |old| old.since);
            let member = Arc::new(Member { name, sink, admin, process: version, hash });
            let state = CandidateState::Alive;
            entries.push(Entry { member, state, memory: None, since, joined });
        });
    }

    /// Marks a leaf as leaving: no new batch goes to it.
    pub(super) fn leave(&self, leaf: &LeafName) {
        self.change(|entries, _| {
            let leaving = entries.iter_mut().filter(|entry| entry.member.name == *leaf);
            leaving.for_each(|entry| entry.state = CandidateState::Leaving);
        });
    }

    /// Notes what a leaf announced.
    pub(super) fn set_state(
        &self,
        leaf: &LeafName,
        state: MemberState,
        memory: (u64, u64),
        now: Duration,
    ) {
        *self.heard.write() = now;
        let is_leaf = |entry: &Entry| entry.member.name == *leaf;
        let mut entries = self.entries.write();
        let Some(entry) = entries.iter_mut().find(|entry| is_leaf(entry)) else { return };
        entry.memory = Some(memory);
        let state = candidate_state(state, entry.state, now);
        if entry.state != state {
            entry.state = state;
            self.version.send_modify(|version| *version += 1);
        }
    }

    /// Forgets a leaf.
    pub(super) fn remove(&self, leaf: &LeafName) {
        self.change(|entries, _| entries.retain(|entry| entry.member.name != *leaf));
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Entry>, u64)) {
        let mut entries = self.entries.write();
        self.version.send_modify(|version| *version += 1);
        change(&mut entries, *self.version.borrow());
    }

    /// Returns a receiver that learns of changes of the list from now on.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Whether this process of a leaf is in the list.
    pub(super) fn has(&self, member: &Arc<Member>) -> bool {
        self.entries.read().iter().any(|entry| Arc::ptr_eq(&entry.member, member))
    }

    /// The present process of a leaf, if it is this one.
    pub(super) fn process(&self, leaf: &LeafName, process: u64) -> Option<Arc<Member>> {
        self.of_name(leaf).filter(|member| member.process == process)
    }

    /// The present process of a leaf.
    pub(super) fn of_name(&self, leaf: &LeafName) -> Option<Arc<Member>> {
        let entries = self.entries.read();
        let entry = entries.iter().find(|entry| entry.member.name == *leaf);
        entry.map(|entry| Arc::clone(&entry.member))
    }

    /// All leaves, including those that are leaving or silent.
    pub(super) fn all(&self) -> Vec<Arc<Member>> {
        self.entries.read().iter().map(|entry| Arc::clone(&entry.member)).collect()
    }

    /// The names of silent leaves.
    pub(super) fn silent(&self) -> Vec<LeafName> {
        let entries = self.entries.read();
        let silent = entries.iter().filter(|e| matches!(e.state, CandidateState::Silent { .. }));
        silent.map(|entry| entry.member.name.clone()).collect()
    }

    /// All leaves in the order of a batch id's rendezvous hashes. `bytes_of` returns the bytes of
    /// the batch's table and of all tables on a leaf. `may_be_retry` says whether another sender
    /// may know the batch.
    pub(super) fn candidates(
        &self,
        (id, may_be_retry): (&BatchId, bool),
        (now, wall_clock): (Duration, Micros),
        bytes_of: impl Fn(&LeafName) -> (u64, u64),
    ) -> Vec<Candidate<LeafName>> {
        let mut entries = self.entries.read().clone();
        entries.sort_by_cached_key(|entry| {
            Reverse((batch_hash(entry.member.hash, id), entry.member.name.clone()))
        });
        let joined: Vec<Option<Duration>> = entries.iter().map(|entry| entry.joined).collect();
        let wall_clock = since_epoch(wall_clock);
        let heard = *self.heard.read();
        let candidate = |(index, entry): (usize, Entry)| {
            let Entry { member, mut state, memory, since, joined: _ } = entry;
            if may_be_retry {
                state = state_for_retries(state, (since, self.begun, heard), now);
            }
            let (used, free) = memory.unwrap_or_default();
            let (table_bytes, all_bytes) = bytes_of(&member.name);
            Candidate {
                leaf: member.name.clone(),
                process: member.process,
                state,
                free_bytes: memory.map(|(_, free)| free),
                load: load(used, free, table_bytes, all_bytes),
                history: history(index, &joined, wall_clock),
            }
        };
        entries.into_iter().enumerate().map(candidate).collect()
    }
}

fn hash_of(leaf: &LeafName) -> u64 {
    XxHash3_64::oneshot(leaf.0.as_bytes())
}

/// The rendezvous hash of a batch and a leaf with this hash: the leaf with the highest one is the
/// first in the batch's order.
fn batch_hash(leaf: u64, id: &BatchId) -> u64 {
    XxHash3_64::oneshot_with_seed(leaf, id.as_str().as_bytes())
}

/// Whether `other` comes later than `leaf` in the order of a batch.
#[must_use]
pub fn comes_later(id: &BatchId, leaf: &LeafName, other: &LeafName) -> bool {
    let key = |leaf| (batch_hash(hash_of(leaf), id), leaf);
    key(other) < key(leaf)
}

fn since_epoch(time: Micros) -> Duration {
    Duration::from_micros(u64::try_from(time.0).unwrap_or_default())
}

/// The state of a leaf that announced `state`, and was in the state `old`.
fn candidate_state(state: MemberState, old: CandidateState, now: Duration) -> CandidateState {
    match (state, old) {
        (MemberState::Silent, CandidateState::Silent { .. }) => old,
        (MemberState::Silent, _) => CandidateState::Silent { since: now },
        (MemberState::Announced(LeafState::Alive), _) => CandidateState::Alive,
        (MemberState::Announced(LeafState::Prepare), _) => CandidateState::Leaving,
        (MemberState::Announced(LeafState::MemoryRecovery | LeafState::DiskRecovery), _) => {
            CandidateState::Recovering
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_leaf_is_silent_since_it_was_first_called_so() {
        let silent = |since: u32| CandidateState::Silent { since: since * SECOND };
        let at = |state, old| candidate_state(state, old, 7 * SECOND);
        assert_eq!(at(MemberState::Silent, CandidateState::Alive), silent(7));
        assert_eq!(at(MemberState::Silent, silent(3)), silent(3));
        let announced = |state| at(MemberState::Announced(state), silent(3));
        assert_eq!(announced(LeafState::Alive), CandidateState::Alive);
        assert_eq!(announced(LeafState::DiskRecovery), CandidateState::Recovering);
        assert_eq!(announced(LeafState::Prepare), CandidateState::Leaving);
    }
}
