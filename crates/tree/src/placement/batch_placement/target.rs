//! Which leaf a batch goes to, and what must be known before.

use std::ops::Range;
use std::time::Duration;

use super::{BatchPlacement, CHOICES, Candidate, CandidateState, History, Lookup};

/// The leaf to which a batch goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) index: usize,
    /// Whether the batch is revoked on all earlier leaves that may hold it, before it goes there.
    pub(super) moves: bool,
}

impl<L: Clone + Ord> BatchPlacement<L> {
    /// The leaf to which the batch goes once no other leaf can have it.
    pub(super) fn target(&self) -> Option<Target> {
        let stay = |index| Target { index, moves: false };
        let floor = self.floor();
        if floor > 0 || !self.revoked.is_empty() || self.has_moved() {
            return self.move_target(floor);
        }
        let count = self.candidates.len();
        let two = count.min(CHOICES);
        let of = |range: Range<usize>, needs_room| self.emptier(range, needs_room, false);
        match (self.first_try, self.rules.has_other_senders) {
            (true, _) => of(0..count, true).or_else(|| of(0..count, false)).map(stay),
            (false, false) => of(0..two, true)
                .or_else(|| of(two..count, true))
                .or_else(|| of(0..two, false))
                .or_else(|| of(two..count, false))
                .map(stay),
            (false, true) => of(0..two, true)
                .map(stay)
                .or_else(|| self.move_target(1))
                .or_else(|| of(0..two, false).map(stay)),
        }
    }

    /// The leaf to which a batch moves, from index `first` on: the one that a record names, if it
    /// takes the batch.
    fn move_target(&self, first: usize) -> Option<Target> {
        let home = self.home().and_then(|home| self.index_of(home));
        let (two, count) = (self.candidates.len().min(CHOICES), self.candidates.len());
        let index = match home {
            Some(home) if home >= first && self.takes(home, true) => Some(home),
            _ => {
                let first = first.max(home.map_or(0, |home| home + 1));
                let two = if self.first_try { first } else { two.max(first) };
                self.emptier(first..two, true, true)
                    .or_else(|| self.emptier(two..count, true, true))
            }
        };
        index.map(|index| Target { index, moves: true })
    }

    /// The emptier one of the first two leaves that take the batch. Those that are busy with their
    /// restart come last.
    fn emptier(&self, range: Range<usize>, needs_room: bool, moves: bool) -> Option<usize> {
        let least = |is_choice: &dyn Fn(usize) -> bool| {
            let choices = range.clone().filter(|index| is_choice(*index));
            choices.take(CHOICES).min_by_key(|index| self.candidates[*index].load)
        };
        let is_alive = |index: usize| self.candidates[index].state == CandidateState::Alive;
        let takes = |index| self.takes(index, moves);
        if needs_room {
            let has_room = |index| takes(index) && self.has_room(index);
            return least(&|index| is_alive(index) && has_room(index)).or_else(|| least(&has_room));
        }
        // Without room for it, or not asked yet. Of leaves that take none, one gives the reason.
        let is_last_resort = |index| !self.rules.has_other_senders && self.stays(index);
        least(&takes).or_else(|| least(&is_last_resort))
    }

    /// Whether a leaf takes new batches, and this one. A batch that moves it takes even if it
    /// promised to refuse it.
    fn takes(&self, index: usize, moves: bool) -> bool {
        let lookup = self.lookup(&self.candidates[index]);
        let takes = |lookup: &Lookup| {
            lookup.takes_batches && !lookup.is_revoked && (moves || !lookup.refuses)
        };
        self.stays(index) && lookup.is_none_or(takes)
    }

    fn stays(&self, index: usize) -> bool {
        let Candidate { leaf, state, .. } = &self.candidates[index];
        matches!(state, CandidateState::Alive | CandidateState::Recovering)
            && !self.declined.contains(leaf)
    }

    /// Whether a leaf said that it has room for the batch.
    fn has_room(&self, index: usize) -> bool {
        let candidate = &self.candidates[index];
        let looked_up = self.lookup(candidate).map(|lookup| lookup.free_bytes);
        looked_up.or(candidate.free_bytes).is_some_and(|free| free >= self.bytes)
    }

    /// The first index to which the batch may go: after every silent leaf that may hold it, and
    /// after every leaf at which it is revoked, since a record leads to a later leaf.
    fn floor(&self) -> usize {
        let precedes = |index: &usize| {
            let is_silent = self.may_hold(*index) && !self.candidates[*index].is_reachable();
            is_silent || self.is_revoked(*index)
        };
        (0..self.candidates.len()).rfind(precedes).map_or(0, |last| last + 1)
    }

    /// Whether the batch is revoked at a leaf, by a record or as the leaf says.
    fn is_revoked(&self, index: usize) -> bool {
        let candidate = &self.candidates[index];
        self.revoked.contains_key(&candidate.leaf)
            || self.lookup(candidate).is_some_and(|lookup| lookup.is_revoked)
    }

    /// Whether a leaf may hold the batch because of this or another sender: also the leaf to which
    /// a record says that the batch went.
    fn may_hold(&self, index: usize) -> bool {
        let Candidate { leaf, history, .. } = &self.candidates[index];
        let by_others = !self.first_try && (index < CHOICES || *history == History::Candidate);
        by_others || self.doubted.contains_key(leaf) || self.is_instead(leaf)
    }

    /// Whether a leaf is asked for the batch before it goes elsewhere.
    fn is_asked(&self, index: usize) -> bool {
        let Candidate { leaf, history, .. } = &self.candidates[index];
        let is_unknown = *history == History::Unknown && !self.deaf.contains(leaf);
        self.may_hold(index) || !self.first_try && is_unknown
    }

    /// Where the batch went instead of the leaves at which it is revoked.
    fn home(&self) -> Option<&L> {
        let first = self.candidates.iter().find_map(|candidate| self.revoked.get(&candidate.leaf));
        let mut home = first?;
        // Every record leads to a later leaf, so this ends; the limit is for damaged records.
        for _ in 0..self.revoked.len() {
            home = self.revoked.get(home).unwrap_or(home);
        }
        Some(home)
    }

    fn index_of(&self, leaf: &L) -> Option<usize> {
        self.candidates.iter().position(|candidate| candidate.leaf == *leaf)
    }

    /// The next look-ups that are needed before the batch goes to `target`, each with whether the
    /// leaf has to promise to refuse the batch: first of the two candidates, then of all others
    /// that may hold the batch.
    pub(super) fn look_ups(&self, target: Option<usize>) -> Vec<(L, bool)> {
        let of = |range: Range<usize>| -> Vec<(L, bool)> {
            let needed = range.filter_map(|index| {
                let refuse = self.needed_look_up(index, target)?;
                Some((self.candidates[index].leaf.clone(), refuse))
            });
            needed.collect()
        };
        let count = self.candidates.len();
        let first = of(0..count.min(CHOICES));
        if first.is_empty() { of(count.min(CHOICES)..count) } else { first }
    }

    /// Whether a leaf that may hold the batch once did not answer. Perhaps another one has it.
    fn waits_for_an_answer(&self) -> bool {
        let is_deaf = |index: usize| self.deaf.contains(&self.candidates[index].leaf);
        (0..self.candidates.len()).any(|index| self.may_hold(index) && is_deaf(index))
    }

    /// Whether a leaf must be asked before the batch goes to `target`, and then whether it must
    /// promise to refuse the batch.
    fn needed_look_up(&self, index: usize, target: Option<usize>) -> Option<bool> {
        let candidate = &self.candidates[index];
        if !candidate.is_reachable() {
            return None;
        }
        let other = target.filter(|target| *target != index);
        let refuse = self.rules.has_other_senders && !self.first_try && other.is_some();
        let is_needed = match self.lookup(candidate) {
            None if self.is_asked(index) => {
                other.is_some()
                    || target.is_none()
                    || self.waits_for_an_answer()
                    || self.doubted.contains_key(&candidate.leaf)
                    || candidate.free_bytes.is_none()
            }
            None => candidate.free_bytes.is_none() && (index < CHOICES || !self.have_taker()),
            Some(_) => {
                let has_promised =
                    |target: usize| self.has_promised(candidate, &self.candidates[target]);
                refuse && self.is_asked(index) && !other.is_some_and(has_promised)
            }
        };
        is_needed.then_some(refuse)
    }

    /// Whether a leaf says that the batch is revoked there.
    fn has_moved(&self) -> bool {
        let is_revoked = |candidate: &Candidate<L>| {
            self.lookup(candidate).is_some_and(|lookup| lookup.is_revoked)
        };
        self.candidates.iter().any(is_revoked)
    }

    /// Whether one of the first two leaves takes batches.
    fn have_taker(&self) -> bool {
        (0..self.candidates.len().min(CHOICES)).any(|index| self.takes(index, false))
    }

    /// A silent leaf that may hold the batch and may still come back, and until when.
    pub(super) fn silent_for_now(&self, now: Duration) -> Option<(L, Duration)> {
        (0..self.candidates.len()).find_map(|index| {
            let Candidate { leaf, state, .. } = &self.candidates[index];
            let CandidateState::Silent { since } = state else { return None };
            let until = since.saturating_add(self.rules.away);
            let waits = self.may_hold(index) && !self.revoked.contains_key(leaf) && now < until;
            waits.then(|| (leaf.clone(), until))
        })
    }

    /// A silent leaf that may have settled the batch: it is waited for.
    pub(super) fn silent_and_settled(&self) -> Option<L> {
        let mut silent = self.candidates.iter().filter(|candidate| !candidate.is_reachable());
        let waits = |leaf: &L| self.settled.contains(leaf) && !self.revoked.contains_key(leaf);
        silent.find(|candidate| waits(&candidate.leaf)).map(|candidate| candidate.leaf.clone())
    }

    /// The next leaf at which a batch that moves must be revoked first: every earlier leaf that may
    /// hold it, and the leaf to which it moved before.
    pub(super) fn to_revoke(&self, target: Target) -> Option<L> {
        if !target.moves {
            return None;
        }
        let home = self.home();
        let needs_record = |index: &usize| {
            let candidate = &self.candidates[*index];
            let is_revoked = self.lookup(candidate).is_some_and(|lookup| lookup.is_revoked);
            let is_needed = self.may_hold(*index) || is_revoked || Some(&candidate.leaf) == home;
            is_needed && !self.revoked.contains_key(&candidate.leaf)
        };
        // First those with a record: it says where the batch goes.
        let has_record = |index: &usize| {
            self.lookup(&self.candidates[*index]).is_some_and(|lookup| lookup.is_revoked)
        };
        let needed = (0..target.index)
            .filter(has_record)
            .find(needs_record)
            .or_else(|| (0..target.index).find(needs_record));
        needed.map(|index| self.candidates[index].leaf.clone())
    }
}
