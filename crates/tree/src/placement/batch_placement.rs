//! Decides where one batch goes, as a state machine without clock, network or locks.
//!
//! A driver passes events to [`BatchPlacement::step`] and carries out the effects. The same code
//! decides in the server and in the simulation (`tests/sim`).
//!
//! **Order.** A batch id orders all leaves by rendezvous hash, dead ones too. Any two senders agree
//! on it. The first two leaves are the batch's *candidates*.
//!
//! **First try.** Nobody else knows the batch. It goes to the emptier one of the first two leaves
//! that are alive, and stays with that leaf until its outcome is known.
//!
//! **Retry.** Another sender may have sent the batch before, or may send it now. It is sent to a
//! leaf only when no other leaf can have it:
//!
//! 1. Every other leaf that may hold it was asked, did not have it, and *promised* to refuse it as
//!    long as that process runs. If two senders choose different leaves at the same time, each
//!    promise is made before one of the two sends, so one of them is refused.
//! 2. A leaf that is silent cannot promise. After a set time the batch is *revoked* there: a
//!    durable record names the leaf that gets it instead, and the first record counts. A revoked
//!    leaf that has the batch after all drops it when it reads the record, as soon as a later leaf
//!    says that it holds the batch.
//! 3. A batch moves only to leaves later in its order, so the last leaf that holds it never drops
//!    it: nothing is lost. Every leaf before it drops it sooner or later: nothing counts twice.
//! 4. A batch beyond its two candidates always has a record at the first one, by which
//!    later senders find it.
//!
//! The set time decides only when a batch moves, never whether it counts once. The decision is in
//! `docs/decisions`, with the time in which a query may still see both copies.

mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hadal_types::limits::{LEAF_AWAY_SECONDS, PLACEMENT_SECONDS};

/// The number of leaves from which one is chosen.
pub(super) const CHOICES: usize = 2;
/// Time until a leaf that did not answer is asked again.
const PAUSE: Duration = Duration::from_millis(200);

/// A leaf, as the sender of a batch knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<L> {
    /// The leaf.
    pub leaf: L,
    /// The start of its process. A later process of the leaf has a higher one.
    pub process: u64,
    /// Its state.
    pub state: CandidateState,
    /// Bytes of batches that it can take, as it announced; `None` if it must be asked.
    pub free_bytes: Option<u64>,
    /// How full it is, see [`load`]: of two leaves, the one with less gets a batch.
    pub load: Load,
    /// Whether it may hold the batch although it is not among the first two: leaves have joined
    /// since, or this sender does not know.
    pub may_hold: bool,
}

/// How full a leaf is: the share of its memory in coarse steps, then the bytes of the batch's table
/// and of all tables, as far as the sender knows.
pub type Load = [u64; 3];

/// Steps in which shares of memory are compared. Within a step, the bytes of the table decide,
/// which a sender knows better: announcements are up to a second old.
const MEMORY_STEPS: u128 = 64;

/// The load of a leaf that announced `used_bytes` and `free_bytes` of memory, and has these bytes
/// of the table and of all tables.
#[must_use]
pub fn load(used_bytes: u64, free_bytes: u64, table_bytes: u64, all_bytes: u64) -> Load {
    let (used, free) = (u128::from(used_bytes), u128::from(free_bytes));
    let step = used * MEMORY_STEPS / (used + free).max(1);
    [u64::try_from(step).unwrap_or(u64::MAX), table_bytes, all_bytes]
}

/// What is known of a leaf's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateState {
    /// It takes batches.
    Alive,
    /// It takes batches, and is busy with its restart: chosen last.
    Recovering,
    /// It is about to stop: it answers, and takes no new batches.
    Leaving,
    /// It was last heard of at this time.
    Silent {
        /// The time.
        since: Duration,
    },
}

/// A leaf's answer to whether it has a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// Whether it has the batch, is taking it, or may have taken it.
    pub is_known: bool,
    /// Whether it will not take the batch: it promised so, or the batch was revoked.
    pub refuses: bool,
    /// Whether it takes batches at all.
    pub takes_batches: bool,
    /// Bytes of batches that it can take now.
    pub free_bytes: u64,
}

/// How sending a batch to a leaf ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The leaf has the batch.
    Accepted,
    /// The leaf does not have it because of this request, and others may take it.
    Declined,
    /// An answer for the client, whatever other leaves would say.
    Final,
    /// It is unknown: the answer was lost, or the request.
    Unknown,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<L> {
    /// All known leaves in the order of the batch. The first event, and again after each change.
    Candidates(Vec<Candidate<L>>),
    /// A leaf answered a look-up.
    LookedUp {
        /// The leaf.
        leaf: L,
        /// The process that answered.
        process: u64,
        /// Its answer.
        lookup: Lookup,
    },
    /// A leaf did not answer a look-up.
    NotLookedUp {
        /// The leaf.
        leaf: L,
    },
    /// The batch was sent.
    Sent {
        /// The leaf.
        leaf: L,
        /// The outcome.
        outcome: SendOutcome,
    },
    /// The batch is revoked at a leaf.
    Revoked {
        /// The leaf.
        leaf: L,
        /// Where the batch goes instead, according to the first record.
        instead: L,
    },
    /// A revocation could not be recorded.
    NotRevoked {
        /// The leaf.
        leaf: L,
    },
    /// Time passed.
    Time,
}

/// What the driver does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<L> {
    /// Asks a leaf whether it has the batch.
    LookUp {
        /// The leaf.
        leaf: L,
        /// Whether the leaf promises to refuse the batch if it does not have it.
        refuse: bool,
    },
    /// Sends the batch to this process of a leaf, and to no later one.
    Send {
        /// The leaf.
        leaf: L,
        /// The process.
        process: u64,
    },
    /// Records that the batch is revoked at a leaf, unless a record exists.
    Revoke {
        /// The leaf.
        leaf: L,
        /// Where the batch goes instead.
        instead: L,
    },
    /// Answers the client. The last effect.
    Answer(Answer<L>),
    /// Passes [`Event::Time`] at this time.
    WaitUntil(Duration),
}

/// The answer to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<L> {
    /// What the leaf answered to which the batch was sent last.
    OfLeaf,
    /// The batch was not acknowledged; the client may send it again.
    Unavailable {
        /// The leaf that may hold the batch and does not answer; `None` if no leaf takes batches.
        leaf: Option<L>,
        /// When another try makes sense.
        retry_after: Duration,
    },
}

/// How batches are placed.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRules {
    /// Whether other senders place batches on these leaves, too.
    pub has_other_senders: bool,
    /// How long a leaf is silent before a batch that it may hold goes elsewhere.
    pub away: Duration,
    /// How long a sender works on one batch.
    pub patience: Duration,
}

impl PlacementRules {
    /// For leaves of this process only.
    pub const ONE_PROCESS: Self = Self { has_other_senders: false, ..Self::CLUSTER };
    /// For the leaves of a cluster.
    pub const CLUSTER: Self = Self {
        has_other_senders: true,
        away: Duration::from_secs(LEAF_AWAY_SECONDS),
        patience: Duration::from_secs(PLACEMENT_SECONDS),
    };
}

/// The placement of one batch by one sender.
#[derive(Clone, Debug)]
pub struct BatchPlacement<L> {
    rules: PlacementRules,
    /// Whether nobody else can know the batch.
    first_try: bool,
    bytes: u64,
    until: Duration,
    /// All known leaves, in the order of the batch.
    candidates: Vec<Candidate<L>>,
    /// The answers to look-ups.
    answers: BTreeMap<L, (u64, Lookup)>,
    /// The look-ups that are under way.
    asked: BTreeSet<L>,
    /// The leaf and the process to which the batch is being sent.
    sending: Option<(L, u64)>,
    /// The leaf at which the batch is being revoked.
    revoking: Option<L>,
    /// Leaves that may hold the batch because this sender sent it, and the processes it was sent
    /// to.
    doubted: BTreeMap<L, u64>,
    /// Leaves that declined the batch.
    declined: BTreeSet<L>,
    /// Where the batch goes instead of leaves at which it is revoked.
    revoked: BTreeMap<L, L>,
    pause: Option<Duration>,
    is_done: bool,
}

/// The next effect.
enum Next<L> {
    LookUp(Vec<(L, bool)>),
    Send(L, u64),
    Revoke {
        leaf: L,
        instead: L,
    },
    /// Waits for this leaf until this time.
    Wait(Option<L>, Duration),
    GiveUp,
}

impl<L: Clone + Ord> BatchPlacement<L> {
    /// Places a batch of `bytes` from now on. `first_try` says that nobody else can know it.
    #[must_use]
    pub const fn new(rules: PlacementRules, now: Duration, first_try: bool, bytes: u64) -> Self {
        Self {
            rules,
            first_try,
            bytes,
            until: now.saturating_add(rules.patience),
            candidates: Vec::new(),
            answers: BTreeMap::new(),
            asked: BTreeSet::new(),
            sending: None,
            revoking: None,
            doubted: BTreeMap::new(),
            declined: BTreeSet::new(),
            revoked: BTreeMap::new(),
            pause: None,
            is_done: false,
        }
    }

    /// Takes an event, and appends what to do now.
    pub fn step(&mut self, now: Duration, event: Event<L>, effects: &mut Vec<Effect<L>>) {
        if self.is_done {
            return;
        }
        match event {
            Event::Candidates(candidates) => self.know(candidates),
            Event::LookedUp { leaf, process, lookup } => self.looked_up(leaf, process, lookup),
            Event::NotLookedUp { leaf } => {
                if self.asked.remove(&leaf) {
                    self.pause = Some(now + PAUSE);
                }
            }
            Event::Sent { leaf, outcome } => self.sent(now, leaf, outcome, effects),
            Event::Revoked { leaf, instead } => {
                self.revoking = None;
                self.revoked.insert(leaf, instead);
            }
            Event::NotRevoked { .. } => {
                self.revoking = None;
                self.pause = Some(now + PAUSE);
            }
            Event::Time => {}
        }
        self.advance(now, effects);
    }

    /// Stores the state of the leaves. A promise counts only for batches to processes that were
    /// known before: when a leaf has a new process, all are asked again.
    fn know(&mut self, candidates: Vec<Candidate<L>>) {
        let old: BTreeMap<&L, u64> =
            self.candidates.iter().map(|candidate| (&candidate.leaf, candidate.process)).collect();
        let is_other = |candidate: &Candidate<L>| {
            old.get(&candidate.leaf).is_some_and(|process| *process != candidate.process)
        };
        if candidates.iter().any(is_other) {
            self.answers.clear();
        }
        self.candidates = candidates;
    }

    fn looked_up(&mut self, leaf: L, process: u64, lookup: Lookup) {
        self.asked.remove(&leaf);
        // The process to which the batch was sent has ended, and its successor does not have it.
        if !lookup.is_known && self.doubted.get(&leaf).is_some_and(|doubted| *doubted < process) {
            self.doubted.remove(&leaf);
        }
        self.answers.insert(leaf, (process, lookup));
    }

    fn sent(&mut self, now: Duration, leaf: L, outcome: SendOutcome, effects: &mut Vec<Effect<L>>) {
        let Some((_, process)) = self.sending.take_if(|(to, _)| *to == leaf) else { return };
        let answer = self.answers.get(&leaf);
        let may_have_it =
            self.doubted.contains_key(&leaf) || answer.is_some_and(|(_, lookup)| lookup.is_known);
        match outcome {
            SendOutcome::Accepted | SendOutcome::Final => {
                self.answer(Answer::OfLeaf, effects);
            }
            SendOutcome::Declined if !may_have_it => {
                // Perhaps because it has promised another sender to refuse the batch.
                self.answers.remove(&leaf);
                self.declined.insert(leaf);
            }
            // What a leaf declines now says nothing about an earlier request.
            SendOutcome::Declined | SendOutcome::Unknown => {
                self.doubted.insert(leaf, process);
                self.pause = Some(now + PAUSE);
            }
        }
    }

    /// Appends the next effect, if nothing is under way that it depends on.
    fn advance(&mut self, now: Duration, effects: &mut Vec<Effect<L>>) {
        if self.is_done || self.sending.is_some() || self.revoking.is_some() {
            return;
        }
        if now < self.until {
            if let Some(pause) = self.pause.filter(|pause| now < *pause) {
                effects.push(Effect::WaitUntil(pause.min(self.until)));
                return;
            }
            if self.holder().is_none() && !self.asked.is_empty() {
                return;
            }
        }
        self.pause = None;
        match self.next(now) {
            Next::LookUp(leaves) => {
                for (leaf, refuse) in leaves {
                    self.asked.insert(leaf.clone());
                    effects.push(Effect::LookUp { leaf, refuse });
                }
            }
            Next::Send(leaf, process) => {
                self.sending = Some((leaf.clone(), process));
                effects.push(Effect::Send { leaf, process });
            }
            Next::Revoke { leaf, instead } => {
                self.revoking = Some(leaf.clone());
                effects.push(Effect::Revoke { leaf, instead });
            }
            Next::Wait(_, time) if now < self.until => {
                effects.push(Effect::WaitUntil(time.clamp(now, self.until)));
            }
            Next::Wait(leaf, time) => {
                let retry_after = time.saturating_sub(now).max(PAUSE);
                self.answer(Answer::Unavailable { leaf, retry_after }, effects);
            }
            Next::GiveUp if self.declined.is_empty() => {
                let answer = Answer::Unavailable { leaf: None, retry_after: PAUSE };
                self.answer(answer, effects);
            }
            Next::GiveUp => self.answer(Answer::OfLeaf, effects),
        }
    }

    fn answer(&mut self, answer: Answer<L>, effects: &mut Vec<Effect<L>>) {
        self.is_done = true;
        effects.push(Effect::Answer(answer));
    }

    fn next(&self, now: Duration) -> Next<L> {
        let is_late = now >= self.until;
        if let Some(holder) = self.holder().or_else(|| self.doubted_process()) {
            return match is_late {
                true => Next::Wait(Some(holder.leaf.clone()), now),
                false => Next::Send(holder.leaf.clone(), holder.process),
            };
        }
        let target = self.target();
        let look_ups = self.look_ups(target);
        if let Some((leaf, _)) = look_ups.first() {
            return match is_late {
                true => Next::Wait(Some(leaf.clone()), now),
                false => Next::LookUp(look_ups),
            };
        }
        if let Some((leaf, until)) = self.silent_for_now(now) {
            return Next::Wait(Some(leaf), until);
        }
        let Some(target) = target else {
            return match self.rules.has_other_senders {
                true => Next::Wait(None, now + PAUSE),
                false => Next::GiveUp,
            };
        };
        let instead = &self.candidates[target];
        match self.to_revoke(target) {
            Some(leaf) if is_late => Next::Wait(Some(leaf), now),
            Some(leaf) => Next::Revoke { leaf, instead: instead.leaf.clone() },
            None if is_late => Next::Wait(None, now),
            None => Next::Send(instead.leaf.clone(), instead.process),
        }
    }

    /// A leaf that says that it knows the batch.
    fn holder(&self) -> Option<&Candidate<L>> {
        self.reachable()
            .find(|candidate| self.lookup(candidate).is_some_and(|lookup| lookup.is_known))
    }

    /// A leaf whose present process may hold the batch because it was sent there.
    fn doubted_process(&self) -> Option<&Candidate<L>> {
        self.reachable()
            .find(|candidate| self.doubted.get(&candidate.leaf) == Some(&candidate.process))
    }

    fn reachable(&self) -> impl Iterator<Item = &Candidate<L>> {
        self.candidates.iter().filter(|candidate| candidate.is_reachable())
    }

    /// The answer of a leaf's present process.
    fn lookup(&self, candidate: &Candidate<L>) -> Option<&Lookup> {
        let answer = self.answers.get(&candidate.leaf);
        answer.filter(|(process, _)| *process == candidate.process).map(|(_, lookup)| lookup)
    }
}

impl<L> Candidate<L> {
    const fn is_reachable(&self) -> bool {
        !matches!(self.state, CandidateState::Silent { .. })
    }
}

#[cfg(test)]
mod tests;
