//! A leaf reads its revocations, and drops what another leaf has.

use hadal_tree::revocation_review::{self as review, RevokedBatch};

use crate::leaf::{CALL, SETTLED};
use crate::messages::{Answer, BatchNumber, LeafId, Node, Purpose, Request, Wake};
use crate::options::Planted;
use crate::queue::MILLIS;
use crate::store::ReadRecord;
use crate::world::World;

impl World {
    pub(crate) fn review_woken(&mut self, id: LeafId, number: u64) {
        if self.leaves[id].review_number == number {
            self.step_review(id, review::Event::Time);
        }
    }

    pub(crate) fn leaf_answered(&mut self, id: LeafId, purpose: Purpose, answer: Option<Answer>) {
        let event = match (purpose, answer) {
            (Purpose::ReadRecords { number } | Purpose::Holds { number, .. }, _)
                if number != self.leaves[id].abandoned =>
            {
                return;
            }
            (Purpose::ReadRecords { number }, Some(Answer::Records(records))) => {
                self.leaves[id].records = records;
                return self.records_read(id, number);
            }
            (Purpose::ReadRecords { .. }, _) => {
                self.leaves[id].unanswered = self.now;
                review::Event::NotRead
            }
            (Purpose::Holds { batch, leaf, .. }, answer) => {
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
    pub(crate) fn records_read(&mut self, id: LeafId, number: u64) {
        let leaf = &mut self.leaves[id];
        if number != leaf.abandoned {
            return;
        }
        if leaf.records.iter().any(|record| leaf.writing.contains_key(&record.batch)) {
            return self.wake_after(Node::Leaf(id), 10 * MILLIS, Wake::Records { number });
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

    pub(crate) fn step_review(&mut self, id: LeafId, event: review::Event<LeafId, BatchNumber>) {
        let node = Node::Leaf(id);
        let clock = self.clock(node);
        let mut effects = Vec::new();
        let happened = format!("{event:?}");
        let was_open = self.leaf_is_open(id);
        self.leaves[id].review.step(clock, event, &mut effects);
        if !was_open && self.leaf_is_open(id) {
            let leaf = &mut self.leaves[id];
            if !std::mem::take(&mut leaf.continues) {
                leaf.open_since = self.now;
            }
        }
        for effect in &effects {
            if let review::Effect::LookUp { batch, .. } | review::Effect::Drop { batch } = effect {
                self.say(*batch, || format!("leaf {id}: {happened} -> {effect:?}"));
            }
        }
        for effect in effects {
            match effect {
                review::Effect::Abandon => self.leaves[id].abandoned += 1,
                review::Effect::Read => {
                    self.leaves[id].read_begun = self.now;
                    let purpose = Purpose::ReadRecords { number: self.leaves[id].abandoned };
                    let call = (Request::ReadRecords { leaf: id }, purpose);
                    self.call(node, Node::Store, None, call, CALL);
                }
                review::Effect::LookUp { batch, leaf } => match self.options.planted {
                    Planted::DropUnasked => self.drop_batch(id, batch),
                    _ => {
                        let request = Request::LookUp { batch, refuse: true };
                        let number = self.leaves[id].abandoned;
                        let call = (request, Purpose::Holds { batch, leaf, number });
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
        if let Some(stored) = leaf.stored.remove(&batch) {
            if leaf.read_at > stored + SETTLED {
                self.violations.push(format!("leaf {id} cannot drop batch {batch}: it is settled"));
            }
            self.rows_removed(id, batch);
        }
        self.step_review(id, review::Event::Dropped { batch });
    }
}
