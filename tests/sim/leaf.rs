//! A leaf: what it stores, promises, and drops.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use hadal_tree::batch_placement::{Lookup, SendOutcome};
use hadal_tree::revocation_review::{self as review, RevocationReview, RevokedBatch};

use crate::options::Planted;
use crate::queue::{MILLIS, SECOND, Time, whole};
use crate::store::ReadRecord;
use crate::world::{Answer, BatchNumber, LeafId, Node, Purpose, Request, Wake, World};

/// From this age on, a batch cannot be dropped any more.
const SETTLED: Time = 120 * SECOND;
/// How long a leaf recovers after a start.
const RECOVERY: Time = 3 * SECOND;
const CALL: Time = SECOND;

#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) machine: usize,
    pub(crate) is_up: bool,
    pub(crate) process: u64,
    pub(crate) started: Time,
    /// When its first process started.
    pub(crate) joined: Time,
    pub(crate) died: Time,
    pub(crate) frozen_until: Time,
    /// On disk: when each batch was stored.
    pub(crate) stored: BTreeMap<BatchNumber, Time>,
    /// Batches that are being written, and the requests that wait for it.
    writing: BTreeMap<BatchNumber, Vec<(u64, Node)>>,
    /// Refused until the process ends.
    promised: BTreeSet<BatchNumber>,
    /// Revoked here, as read in this process.
    revoked: BTreeSet<BatchNumber>,
    pub(crate) review: RevocationReview<LeafId, BatchNumber>,
    review_number: u64,
    /// When the last read of revocations that succeeded was begun.
    pub(crate) read_at: Time,
    read_begun: Time,
    /// When a leaf that got a batch instead last failed to answer.
    pub(crate) unanswered: Time,
    /// The records that were read last.
    records: Vec<ReadRecord>,
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
            frozen_until: 0,
            stored: BTreeMap::new(),
            writing: BTreeMap::new(),
            promised: BTreeSet::new(),
            revoked: BTreeSet::new(),
            review: RevocationReview::new(Duration::ZERO, None, false),
            review_number: 0,
            read_at: 0,
            read_begun: 0,
            unanswered: 0,
            records: Vec::new(),
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
        let may_hold = leaf.stored.values().any(|stored| stored + SETTLED > leaf.died);
        let away = knows_absence.then(|| Duration::from_micros(now - leaf.died));
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
        let writing = std::mem::take(&mut self.leaves[id].writing);
        for batch in writing.into_keys() {
            if self.random.chance(0.5) {
                self.leaves[id].stored.insert(batch, self.now);
            }
        }
        self.leaves[id].is_up = false;
        self.leaves[id].died = self.now;
    }

    pub(crate) fn leaf_serves(&self, id: LeafId) -> bool {
        let is_open = self.leaves[id].review.may_serve(self.clock(Node::Leaf(id)));
        is_open || self.options.planted == Planted::ServeUnread
    }

    pub(crate) fn leaf_recovers(&self, id: LeafId) -> bool {
        let is_ready = self.leaf_serves(id) && self.leaf_takes_retries(id);
        !is_ready || self.now < self.leaves[id].started + RECOVERY
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
                    takes_batches: true,
                    free_bytes: u64::MAX,
                };
                self.answer(call, node, from, Answer::LookedUp(lookup, holds));
            }
            Request::Accept { batch, moves } => self.accept(id, call, from, (batch, moves)),
            Request::Query => {
                let rows = self
                    .leaf_serves(id)
                    .then(|| Rc::new(self.leaves[id].stored.keys().copied().collect()));
                self.answer(call, node, from, Answer::Rows(rows));
            }
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
            () if leaf.promised.contains(&batch) && !moves => SendOutcome::Declined,
            () if leaf.revoked.contains(&batch) || !takes => SendOutcome::Declined,
            () => {
                leaf.writing.insert(batch, vec![(call, from)]);
                let wait = whole(self.random.exponential(self.options.write as f64));
                self.wake_after(Node::Leaf(id), wait, Wake::Written { batch });
                return;
            }
        };
        self.answer(call, Node::Leaf(id), from, Answer::Accepted(outcome));
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
        self.say(batch, || format!("leaf {id} has it"));
        for (call, from) in waiting {
            self.answer(call, Node::Leaf(id), from, Answer::Accepted(SendOutcome::Accepted));
        }
    }

    pub(crate) fn review_woken(&mut self, id: LeafId, number: u64) {
        if self.leaves[id].review_number == number {
            self.step_review(id, review::Event::Time);
        }
    }

    pub(crate) fn leaf_answered(&mut self, id: LeafId, purpose: Purpose, answer: Option<Answer>) {
        let event = match (purpose, answer) {
            (Purpose::ReadRecords, Some(Answer::Records(records))) => {
                self.leaves[id].records = records;
                return self.records_read(id);
            }
            (Purpose::ReadRecords, _) => review::Event::NotRead,
            (Purpose::Holds { batch, leaf }, answer) => {
                let holds = match answer {
                    // It is being written there.
                    Some(Answer::LookedUp(lookup, false)) if lookup.is_known => None,
                    Some(Answer::LookedUp(_, holds)) => Some(holds),
                    _ => None,
                };
                if holds.is_none() {
                    self.leaves[id].unanswered = self.now;
                }
                review::Event::LookedUp { batch, leaf, holds }
            }
            _ => return,
        };
        self.step_review(id, event);
    }

    /// What is being written is waited for, since it may be held then.
    pub(crate) fn records_read(&mut self, id: LeafId) {
        let leaf = &mut self.leaves[id];
        if leaf.records.iter().any(|record| leaf.writing.contains_key(&record.batch)) {
            return self.wake_after(Node::Leaf(id), 10 * MILLIS, Wake::Records);
        }
        leaf.read_at = leaf.read_begun;
        let records = std::mem::take(&mut leaf.records);
        let record = |ReadRecord { batch, instead, is_elsewhere }| RevokedBatch {
            batch,
            instead,
            is_held: leaf.stored.contains_key(&batch),
            is_elsewhere,
        };
        let records = records.into_iter().map(record).collect();
        self.step_review(id, review::Event::Read(records));
    }

    fn step_review(&mut self, id: LeafId, event: review::Event<LeafId, BatchNumber>) {
        let node = Node::Leaf(id);
        let clock = self.clock(node);
        let mut effects = Vec::new();
        let happened = format!("{event:?}");
        self.leaves[id].review.step(clock, event, &mut effects);
        for effect in &effects {
            if let review::Effect::LookUp { batch, .. } | review::Effect::Drop { batch } = effect {
                self.say(*batch, || format!("leaf {id}: {happened} -> {effect:?}"));
            }
        }
        for effect in effects {
            match effect {
                review::Effect::Read => {
                    self.leaves[id].read_begun = self.now;
                    let call = (Request::ReadRecords { leaf: id }, Purpose::ReadRecords);
                    self.call(node, Node::Store, None, call, CALL);
                }
                review::Effect::LookUp { batch, leaf } => match self.options.planted {
                    Planted::DropUnasked => self.drop_batch(id, batch),
                    _ => {
                        let request = Request::LookUp { batch, refuse: true };
                        let call = (request, Purpose::Holds { batch, leaf });
                        self.call(node, Node::Leaf(leaf), None, call, CALL);
                    }
                },
                review::Effect::Refuse { batch } => {
                    self.leaves[id].revoked.insert(batch);
                }
                review::Effect::Drop { batch } => self.drop_batch(id, batch),
                review::Effect::WaitUntil(time) => {
                    self.leaves[id].review_number += 1;
                    let number = self.leaves[id].review_number;
                    self.wake_at(node, time, Wake::Review { number });
                }
            }
        }
    }

    fn drop_batch(&mut self, id: LeafId, batch: BatchNumber) {
        self.wake_after(Node::Leaf(id), 20 * MILLIS, Wake::Dropped { batch });
    }

    /// A merge settles a batch of its age if the leaf has read its revocations since.
    pub(crate) fn dropped(&mut self, id: LeafId, batch: BatchNumber) {
        let leaf = &mut self.leaves[id];
        if let Some(stored) = leaf.stored.remove(&batch)
            && leaf.read_at > stored + SETTLED
        {
            self.violations.push(format!("leaf {id} cannot drop batch {batch}: it is settled"));
        }
        self.step_review(id, review::Event::Dropped { batch });
    }
}
