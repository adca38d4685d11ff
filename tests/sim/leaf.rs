//! A leaf: what it stores and promises.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use hadal_tree::batch_placement::{Lookup, SendOutcome};
use hadal_tree::revocation_review::{self as review, RevocationReview};
use hadal_types::LeafState;
use hadal_types::limits::LEAF_AWAY_SECONDS;

use crate::faults::Failure;
use crate::messages::{Answer, BatchNumber, Event, LeafId, Node, Request, Wake};
use crate::options::Planted;
use crate::queue::{MILLIS, SECOND, Time, whole};
use crate::share::RowState;
use crate::store::ReadRecord;
use crate::world::World;

/// From this age on, a batch cannot be dropped any more.
pub(crate) const SETTLED: Time = 120 * SECOND;
/// How long a leaf recovers after a start.
const RECOVERY: Time = 3 * SECOND;
/// How long after a write a crash counts as just after it.
const CRASH: Time = 100 * MILLIS;
pub(crate) const CALL: Time = SECOND;
/// A leaf that was away for less time need not read its revocations before it serves.
const SHORT: Duration = Duration::from_secs(LEAF_AWAY_SECONDS / 2);

#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) machine: usize,
    pub(crate) is_up: bool,
    pub(crate) process: u64,
    pub(crate) started: Time,
    /// When its first process started.
    pub(crate) joined: Time,
    /// When its last process did anything: before it was frozen, if it died of that.
    pub(crate) died: Time,
    /// When a process was last alive and knew its revoked batches, as its disk says.
    known_until: Time,
    /// Since when queries see its rows. A pause for which it need not read its revocations is none.
    pub(crate) open_since: Time,
    /// Whether the process was away for such a pause, and is not open yet.
    pub(crate) continues: bool,
    pub(crate) frozen_until: Time,
    /// On disk: when each batch was stored.
    pub(crate) stored: BTreeMap<BatchNumber, Time>,
    /// Batches that are being written, and the requests that wait for it.
    pub(crate) writing: BTreeMap<BatchNumber, Vec<(u64, Node)>>,
    /// Refused until the process ends.
    promised: BTreeSet<BatchNumber>,
    /// Revoked here, as read in this process.
    pub(crate) revoked: BTreeSet<BatchNumber>,
    pub(crate) review: RevocationReview<LeafId, BatchNumber>,
    pub(crate) review_number: u64,
    /// How often its review abandoned what was under way. What began before does not count.
    pub(crate) abandoned: u64,
    /// When the last read of revocations that succeeded was begun.
    pub(crate) read_at: Time,
    pub(crate) read_begun: Time,
    /// When a leaf that got a batch instead last failed to answer, or the store did.
    pub(crate) unanswered: Time,
    /// The records that were read last.
    pub(crate) records: Vec<ReadRecord>,
    pub(crate) share: RowState,
}

impl Leaf {
    pub(crate) fn new(_: LeafId, machine: usize) -> Self {
        Self {
            machine,
            is_up: false,
            process: 0,
            started: 0,
            joined: 0,
            died: 0,
            known_until: 0,
            open_since: 0,
            continues: false,
            frozen_until: 0,
            stored: BTreeMap::new(),
            writing: BTreeMap::new(),
            promised: BTreeSet::new(),
            revoked: BTreeSet::new(),
            review: RevocationReview::new(Duration::ZERO, None, false),
            review_number: 0,
            abandoned: 0,
            read_at: 0,
            read_begun: 0,
            unanswered: 0,
            records: Vec::new(),
            share: RowState::default(),
        }
    }
}

impl World {
    pub(crate) fn start_leaf(&mut self, id: LeafId) {
        let now = self.now;
        let knows_absence = self.random.chance(0.5);
        let clock = self.clock(Node::Leaf(id));
        let leaf = &mut self.leaves[id];
        leaf.is_up = true;
        leaf.process += 1;
        leaf.started = now;
        if leaf.process == 1 {
            leaf.joined = now;
        }
        leaf.frozen_until = 0;
        leaf.read_at = 0;
        (leaf.promised, leaf.revoked) = (BTreeSet::new(), BTreeSet::new());
        self.start_share(id);
        let leaf = &mut self.leaves[id];
        let may_hold = leaf.stored.values().any(|stored| stored + SETTLED > leaf.died);
        let away = Duration::from_micros(now - leaf.known_until);
        let away = knows_absence.then_some(away);
        leaf.continues = away.is_some_and(|away| away < SHORT);
        leaf.open_since = if leaf.continues { leaf.open_since } else { now };
        leaf.review = RevocationReview::new(clock, away, may_hold);
        match self.options.planted {
            Planted::ServeUnread => {
                self.leaves[id].review_number += 1;
                let number = self.leaves[id].review_number;
                self.wake_after(Node::Leaf(id), 2 * SECOND, Wake::Review { number });
            }
            _ => self.step_review(id, review::Event::Time),
        }
    }

    /// A batch that is being written is in the log, or is not.
    pub(crate) fn crash_leaf(&mut self, id: LeafId) {
        self.end_share(id);
        let writing = std::mem::take(&mut self.leaves[id].writing);
        for batch in writing.into_keys() {
            if self.random.chance(0.5) {
                self.leaves[id].stored.insert(batch, self.now);
            }
        }
        self.note_alive(id);
        self.leaves[id].is_up = false;
    }

    /// A process that works notes that on its disk, if it knows its revoked batches.
    pub(crate) fn note_alive(&mut self, id: LeafId) {
        let knows = self.leaf_is_open(id) && self.leaf_takes_retries(id);
        let leaf = &mut self.leaves[id];
        if leaf.is_up && leaf.frozen_until <= self.now {
            leaf.died = self.now;
            leaf.known_until = if knows { self.now } else { leaf.known_until };
        }
    }

    pub(crate) fn leaf_serves(&self, id: LeafId) -> bool {
        self.leaves[id].share.answers(self.now) && self.leaf_is_open(id)
    }

    pub(crate) fn leaf_is_open(&self, id: LeafId) -> bool {
        let is_open = self.leaves[id].review.may_serve(self.clock(Node::Leaf(id)));
        is_open || self.options.planted == Planted::ServeUnread
    }

    /// The state that it announces.
    pub(crate) fn announced(&self, id: LeafId) -> LeafState {
        if self.leaves[id].share.is_stopping {
            return LeafState::Prepare;
        }
        let is_ready = self.leaf_serves(id) && self.leaf_takes_retries(id);
        match is_ready && self.now >= self.leaves[id].started + RECOVERY {
            true => LeafState::Alive,
            false => LeafState::DiskRecovery,
        }
    }

    fn leaf_takes_retries(&self, id: LeafId) -> bool {
        let takes = self.leaves[id].review.takes_retries(self.clock(Node::Leaf(id)));
        takes || self.options.planted == Planted::ServeUnread
    }

    pub(crate) fn leaf_asked(&mut self, id: LeafId, call: u64, from: Node, request: &Request) {
        let node = Node::Leaf(id);
        match *request {
            Request::LookUp { batch, refuse } => {
                if !self.leaf_takes_retries(id) && !self.leaf_knows(id, batch) {
                    // It may be revoked here, and where it went is known only to the store.
                    return;
                }
                let keeps_promises = self.options.planted != Planted::BrokenPromises;
                let leaf = &mut self.leaves[id];
                let holds = leaf.stored.contains_key(&batch);
                let is_known = holds || leaf.writing.contains_key(&batch);
                if refuse && !is_known && keeps_promises {
                    leaf.promised.insert(batch);
                }
                let lookup = Lookup {
                    is_known,
                    refuses: !is_known && (refuse || leaf.promised.contains(&batch)),
                    is_revoked: !is_known && leaf.revoked.contains(&batch),
                    takes_batches: !leaf.share.is_stopping,
                    free_bytes: u64::MAX,
                };
                self.answer(call, node, from, Answer::LookedUp(lookup, holds));
            }
            Request::Accept { batch, moves } => self.accept(id, call, from, (batch, moves)),
            Request::Query => {
                let rows = || Rc::new(self.leaves[id].stored.keys().copied().collect());
                let rows = self.leaf_serves(id).then(|| (rows(), self.leaves[id].share.as_of()));
                self.answer(call, node, from, Answer::Rows(rows));
            }
            Request::Restart => self.asked_to_restart(id, call, from),
            _ => {}
        }
    }

    fn accept(&mut self, id: LeafId, call: u64, from: Node, (batch, moves): (BatchNumber, bool)) {
        let may_be_retry = self.clients[batch as usize].has_own_id;
        let takes = !may_be_retry || self.leaf_takes_retries(id);
        let leaf = &mut self.leaves[id];
        let outcome = match () {
            () if leaf.stored.contains_key(&batch) => SendOutcome::Accepted,
            // It is busy with the batch.
            () if leaf.writing.contains_key(&batch) => SendOutcome::Final,
            () if leaf.share.is_stopping => SendOutcome::Declined,
            () if leaf.promised.contains(&batch) && !moves => SendOutcome::Declined,
            () if leaf.revoked.contains(&batch) || !takes => SendOutcome::Declined,
            () => {
                leaf.writing.insert(batch, vec![(call, from)]);
                let wait = whole(self.random.exponential(self.options.write as f64));
                self.wake_after(Node::Leaf(id), wait, Wake::Written { batch });
                return;
            }
        };
        let receipt = (outcome == SendOutcome::Accepted).then(|| self.receipt(id, batch, true));
        self.answer(call, Node::Leaf(id), from, Answer::Accepted(outcome, receipt));
    }

    fn leaf_knows(&self, id: LeafId, batch: BatchNumber) -> bool {
        let leaf = &self.leaves[id];
        leaf.stored.contains_key(&batch) || leaf.writing.contains_key(&batch)
    }

    pub(crate) fn written(&mut self, id: LeafId, batch: BatchNumber) {
        let now = self.now;
        let leaf = &mut self.leaves[id];
        let Some(waiting) = leaf.writing.remove(&batch) else { return };
        leaf.stored.insert(batch, now);
        self.rows_accepted(id, batch);
        self.say(batch, || format!("leaf {id} has it"));
        if !self.is_healed && self.random.chance(self.options.crash_after_write) {
            let at = now + self.random.below(CRASH);
            self.queue.push(at, Event::Failure(Failure::Leaf(id)));
        }
        for (call, from) in waiting {
            let receipt = Some(self.receipt(id, batch, false));
            let answer = Answer::Accepted(SendOutcome::Accepted, receipt);
            self.answer(call, Node::Leaf(id), from, answer);
        }
    }
}
