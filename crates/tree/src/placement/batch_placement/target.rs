//! Which leaf a batch goes to, and what must be known before.

use std::ops::Range;
use std::time::Duration;

use super::{BatchPlacement, CHOICES, Candidate, CandidateState};

impl<L: Clone + Ord> BatchPlacement<L> {
    /// The leaf to which the batch goes once no other leaf can have it.
    pub(super) fn target(&self) -> Option<usize> {
        let first = self.floor();
        let home = self.home().and_then(|home| self.index_of(home));
        if let Some(home) = home.filter(|home| *home >= first && self.takes(*home)) {
            return Some(home);
        }
        let first = first.max(home.map_or(0, |home| home + 1));
        let count = self.candidates.len();
        let of = |range: Range<usize>, needs_room| self.emptier(range, needs_room);
        if self.first_try {
            return of(first..count, true).or_else(|| of(first..count, false));
        }
        // A batch that others may know leaves its two candidates only if neither has room for it.
        let (two, rest) = (first.min(CHOICES)..count.min(CHOICES), first.max(CHOICES)..count);
        of(two.clone(), true)
            .or_else(|| of(rest.clone(), true))
            .or_else(|| of(two, false))
            .or_else(|| of(rest, false))
    }

    /// The emptier one of the first two leaves that take the batch. Those that are busy with their
    /// restart come last.
    fn emptier(&self, range: Range<usize>, needs_room: bool) -> Option<usize> {
        let least = |is_choice: &dyn Fn(usize) -> bool| {
            let choices = range.clone().filter(|index| is_choice(*index));
            choices.take(CHOICES).min_by_key(|index| self.candidates[*index].load)
        };
        let is_alive = |index: usize| self.candidates[index].state == CandidateState::Alive;
        if needs_room {
            return least(&|index| is_alive(index) && self.takes(index) && self.has_room(index))
                .or_else(|| least(&|index| self.takes(index) && self.has_room(index)));
        }
        // Without room for it, or not asked yet. Of leaves that take none, one gives the reason.
        let is_last_resort = |index| !self.rules.has_other_senders && self.stays(index);
        least(&|index| self.takes(index)).or_else(|| least(&is_last_resort))
    }

    /// Whether a leaf takes new batches, and this one.
    fn takes(&self, index: usize) -> bool {
        let lookup = self.lookup(&self.candidates[index]);
        self.stays(index) && lookup.is_none_or(|lookup| lookup.takes_batches && !lookup.refuses)
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

    /// The first index to which the batch may go: after every silent leaf that may hold it.
    fn floor(&self) -> usize {
        let silent = (0..self.candidates.len())
            .filter(|index| self.may_hold(*index) && !self.candidates[*index].is_reachable());
        silent.last().map_or(0, |last| last + 1)
    }

    /// Whether a leaf may hold the batch because of this or another sender.
    fn may_hold(&self, index: usize) -> bool {
        let Candidate { leaf, may_hold, .. } = &self.candidates[index];
        let by_others = !self.first_try && (index < CHOICES || *may_hold);
        by_others || self.doubted.contains_key(leaf)
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

    fn needed_look_up(&self, index: usize, target: Option<usize>) -> Option<bool> {
        let candidate = &self.candidates[index];
        if !candidate.is_reachable() {
            return None;
        }
        let lookup = self.lookup(candidate);
        let is_other = target.is_some_and(|target| target != index);
        let refuse = self.rules.has_other_senders && !self.first_try && is_other;
        let is_needed = match lookup {
            None if self.may_hold(index) => {
                is_other
                    || target.is_none()
                    || self.doubted.contains_key(&candidate.leaf)
                    || candidate.free_bytes.is_none()
            }
            None => candidate.free_bytes.is_none() && (index < CHOICES || !self.have_taker()),
            Some(lookup) => refuse && self.may_hold(index) && !lookup.refuses,
        };
        is_needed.then_some(refuse)
    }

    /// Whether one of the first two leaves takes batches.
    fn have_taker(&self) -> bool {
        (0..self.candidates.len().min(CHOICES)).any(|index| self.takes(index))
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

    /// The first leaf at which the batch must be revoked before it goes to `target`: silent leaves
    /// that may hold it, and leaves that were to get it instead of them. Beyond the two candidates,
    /// also the first one, so that later senders learn where the batch is.
    pub(super) fn to_revoke(&self, target: usize) -> Option<L> {
        if !self.rules.has_other_senders {
            return None;
        }
        let is_beyond = !self.first_try && target >= CHOICES;
        let home = self.home();
        let needed = (0..target).find(|index| {
            let candidate = &self.candidates[*index];
            let is_silent = self.may_hold(*index) && !candidate.is_reachable();
            let is_first = *index == 0 && is_beyond;
            let was_home = Some(&candidate.leaf) == home;
            (is_silent || is_first || was_home) && !self.revoked.contains_key(&candidate.leaf)
        });
        needed.map(|index| self.candidates[index].leaf.clone())
    }
}
