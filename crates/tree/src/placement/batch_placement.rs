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
//! 3. A batch that was revoked anywhere, as a leaf or a record says, *moves*: it is revoked on all
//!    earlier leaves that may hold it, and its new leaf takes it even if it promised to refuse it.
//!    So does a batch that both candidates have promised to refuse, and one that leaves its two
//!    candidates.
//! 4. A batch moves only to leaves later in its order, so the last leaf that holds it never drops
//!    it: nothing is lost. Every leaf before it drops it sooner or later: nothing counts twice.
//!
//! 5. A leaf that has settled the batch could not drop it. So a batch does not move on from a leaf
//!    to which it moved long ago, unless that leaf says that it does not have it.
//!
//! The set time decides only when a batch moves, never whether it counts once. The decision is in
//! `docs/decisions`, with the time in which a query may still see both copies.

mod event;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hadal_types::limits::{LEAF_AWAY_SECONDS, PLACEMENT_SECONDS};

pub use event::{
    Answer, Candidate, CandidateState, Effect, Event, History, Load, Lookup, SendOutcome, history,
    load, state_for_retries,
};

/// The number of leaves from which one is chosen.
const CHOICES: usize = 2;
/// Time until a leaf that did not answer is asked again.
const PAUSE: Duration = Duration::from_millis(200);

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
    /// How often the state of the leaves has changed.
    changes: u64,
    /// The process of each leaf, and the change with which it became known.
    learned: BTreeMap<L, (u64, u64)>,
    /// The answers to look-ups.
    answers: BTreeMap<L, LeafAnswer>,
    /// The look-ups that are under way, and the change after which they were begun.
    asked: BTreeMap<L, u64>,
    /// Leaves that once did not answer. Of unknown history, they are not asked again.
    deaf: BTreeSet<L>,
    /// The leaf and the process to which the batch is being sent, and whether it moves there.
    sending: Option<(L, u64, bool)>,
    /// The leaf at which the batch is being revoked.
    revoking: Option<L>,
    /// Leaves that may hold the batch because this sender sent it, and the processes it was sent
    /// to.
    doubted: BTreeMap<L, u64>,
    /// Leaves that declined the batch.
    declined: BTreeSet<L>,
    /// Where the batch goes instead of leaves at which it is revoked.
    revoked: BTreeMap<L, L>,
    /// Leaves that may have got the batch so long ago that it is settled there.
    settled: BTreeSet<L>,
    pause: Option<Duration>,
    is_done: bool,
}

/// What a process of a leaf answered, and after which change of the leaves' state it was asked.
#[derive(Clone, Debug)]
struct LeafAnswer {
    process: u64,
    change: u64,
    lookup: Lookup,
}

/// The next effect.
enum Next<L> {
    LookUp(Vec<(L, bool)>),
    Send(L, u64, bool),
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
            changes: 0,
            learned: BTreeMap::new(),
            answers: BTreeMap::new(),
            asked: BTreeMap::new(),
            deaf: BTreeSet::new(),
            sending: None,
            revoking: None,
            doubted: BTreeMap::new(),
            declined: BTreeSet::new(),
            revoked: BTreeMap::new(),
            settled: BTreeSet::new(),
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
                if self.asked.remove(&leaf).is_some() {
                    self.deaf.insert(leaf);
                    self.pause = Some(now + PAUSE);
                }
            }
            Event::Sent { leaf, outcome } => self.sent(now, leaf, outcome, effects),
            Event::Revoked { leaf, instead, is_old } => {
                self.revoking = None;
                if is_old {
                    self.settled.insert(instead.clone());
                }
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

    /// Stores the state of the leaves, and which of their processes are new.
    fn know(&mut self, candidates: Vec<Candidate<L>>) {
        self.changes += 1;
        let mut learned = std::mem::take(&mut self.learned);
        for candidate in &candidates {
            let (leaf, process) = (&candidate.leaf, candidate.process);
            let change = match learned.remove(leaf) {
                Some((old, change)) if old == process => change,
                _ => self.changes,
            };
            self.learned.insert(leaf.clone(), (process, change));
        }
        self.candidates = candidates;
    }

    fn looked_up(&mut self, leaf: L, process: u64, lookup: Lookup) {
        let Some(change) = self.asked.remove(&leaf) else { return };
        // The process to which the batch was sent has ended, and its successor does not have it.
        if !lookup.is_known && self.doubted.get(&leaf).is_some_and(|doubted| *doubted < process) {
            self.doubted.remove(&leaf);
        }
        self.answers.insert(leaf, LeafAnswer { process, change, lookup });
    }

    fn sent(&mut self, now: Duration, leaf: L, outcome: SendOutcome, effects: &mut Vec<Effect<L>>) {
        let sent = self.sending.take_if(|(to, ..)| *to == leaf);
        let Some((_, process, moves)) = sent else { return };
        let answer = self.answers.get(&leaf);
        let may_have_it =
            self.doubted.contains_key(&leaf) || answer.is_some_and(|answer| answer.lookup.is_known);
        match outcome {
            SendOutcome::Accepted => {
                if moves || self.is_instead(&leaf) {
                    effects.push(Effect::NoteHeld { leaf });
                }
                self.answer(Answer::OfLeaf, effects);
            }
            SendOutcome::Final => self.answer(Answer::OfLeaf, effects),
            SendOutcome::Declined if !may_have_it && !self.first_try && !moves => {
                // Perhaps because it has promised another sender to refuse the batch.
                let lookup = Lookup {
                    is_known: false,
                    refuses: true,
                    is_revoked: false,
                    takes_batches: true,
                    free_bytes: u64::MAX,
                };
                let change = self.changes;
                self.answers.insert(leaf, LeafAnswer { process, change, lookup });
            }
            SendOutcome::Declined if !may_have_it => {
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
                    self.asked.insert(leaf.clone(), self.changes);
                    effects.push(Effect::LookUp { leaf, refuse });
                }
            }
            Next::Send(leaf, process, moves) => {
                self.sending = Some((leaf.clone(), process, moves));
                effects.push(Effect::Send { leaf, process, moves });
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
                false => Next::Send(holder.leaf.clone(), holder.process, false),
            };
        }
        let target = self.target();
        let look_ups = self.look_ups(target.map(|target| target.index));
        if let Some((leaf, _)) = look_ups.first() {
            return match is_late {
                true => Next::Wait(Some(leaf.clone()), now),
                false => Next::LookUp(look_ups),
            };
        }
        if let Some((leaf, until)) = self.silent_for_now(now) {
            return Next::Wait(Some(leaf), until);
        }
        if let Some(leaf) = self.silent_and_settled() {
            return Next::Wait(Some(leaf), now + PAUSE);
        }
        let Some(target) = target else {
            return match self.rules.has_other_senders {
                true => Next::Wait(None, now + PAUSE),
                false => Next::GiveUp,
            };
        };
        let instead = &self.candidates[target.index];
        match self.to_revoke(target) {
            Some(leaf) if is_late => Next::Wait(Some(leaf), now),
            Some(leaf) => Next::Revoke { leaf, instead: instead.leaf.clone() },
            None if is_late => Next::Wait(None, now),
            None => Next::Send(instead.leaf.clone(), instead.process, target.moves),
        }
    }

    /// A leaf that says that it knows the batch.
    fn holder(&self) -> Option<&Candidate<L>> {
        self.reachable()
            .find(|candidate| self.lookup(candidate).is_some_and(|lookup| lookup.is_known))
    }

    /// A leaf whose present process may hold the batch because it was sent there. Not one at which
    /// the batch is revoked: before it has read the record, it would take a second copy.
    fn doubted_process(&self) -> Option<&Candidate<L>> {
        self.reachable().find(|Candidate { leaf, process, .. }| {
            self.doubted.get(leaf) == Some(process) && !self.revoked.contains_key(leaf)
        })
    }

    fn reachable(&self) -> impl Iterator<Item = &Candidate<L>> {
        self.candidates.iter().filter(|candidate| candidate.is_reachable())
    }

    /// Whether a record says that a leaf gets the batch instead of another one.
    fn is_instead(&self, leaf: &L) -> bool {
        self.revoked.values().any(|instead| instead == leaf)
    }

    /// The answer of a leaf's present process.
    fn lookup(&self, candidate: &Candidate<L>) -> Option<&Lookup> {
        let answer = self.answers.get(&candidate.leaf);
        answer.filter(|answer| answer.process == candidate.process).map(|answer| &answer.lookup)
    }

    /// Whether a leaf promised to refuse the batch after the process of `target` was known. A
    /// promise from before does not protect a batch on its way there: that process may itself have
    /// forgotten a promise, for which another sender has sent the batch elsewhere.
    fn has_promised(&self, candidate: &Candidate<L>, target: &Candidate<L>) -> bool {
        let learned = self.learned.get(&target.leaf).map(|(_, change)| *change);
        let refuses = self.lookup(candidate).is_some_and(|lookup| lookup.refuses);
        let answered = self.answers.get(&candidate.leaf).map(|answer| answer.change);
        refuses && answered >= learned
    }
}

#[cfg(test)]
mod tests;
