//! The shared store of revocations.

use std::collections::BTreeMap;

use crate::messages::{Answer, BatchNumber, LeafId, Node, Request};
use crate::queue::Time;
use crate::world::World;

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) machine: usize,
    pub(crate) is_up: bool,
    /// When it was last repaired.
    pub(crate) repaired: Time,
    /// By batch and leaf.
    pub(crate) records: BTreeMap<BatchNumber, BTreeMap<LeafId, Record>>,
}

#[derive(Debug)]
pub(crate) struct Record {
    /// The leaf that gets the batch instead.
    pub(crate) instead: LeafId,
    /// Whether it is known to hold it.
    is_held: bool,
    pub(crate) made: Time,
}

/// A batch that is revoked at the leaf that reads this.
#[derive(Clone, Debug)]
pub(crate) struct ReadRecord {
    pub(crate) batch: BatchNumber,
    /// All later leaves that got it instead.
    pub(crate) instead: Vec<LeafId>,
    /// Whether one of them is known to hold it.
    pub(crate) is_elsewhere: bool,
}

impl Store {
    pub(crate) const fn new(machine: usize) -> Self {
        Self { machine, is_up: true, repaired: 0, records: BTreeMap::new() }
    }
}

impl World {
    pub(crate) fn store_asked(&mut self, call: u64, from: Node, request: &Request) {
        let answer = match *request {
            Request::Record { leaf, batch, instead } => {
                let position = |leaf| self.orders[batch as usize].iter().position(|l| *l == leaf);
                if position(instead) <= position(leaf) {
                    self.violations.push(format!("batch {batch} moves back to leaf {instead}"));
                }
                let records = self.store.records.entry(batch).or_default();
                let record = Record { instead, is_held: false, made: self.now };
                let first = records.entry(leaf).or_insert(record);
                let mut last = (first.instead, first.made);
                while let Some(next) = records.get(&last.0) {
                    last = (next.instead, next.made);
                }
                Answer::Recorded(last.0, last.1)
            }
            Request::NoteHeld { batch, leaf } => {
                let records = self.store.records.get_mut(&batch).into_iter().flatten();
                for (_, record) in records.filter(|(_, record)| record.instead == leaf) {
                    record.is_held = true;
                }
                return;
            }
            Request::ReadRecords { leaf } => Answer::Records(self.records_of(leaf)),
            _ => return,
        };
        self.answer(call, Node::Store, from, answer);
    }

    /// The batches that are revoked at a leaf.
    fn records_of(&self, leaf: LeafId) -> Vec<ReadRecord> {
        let revoked = self.store.records.iter().filter(|(_, leaves)| leaves.contains_key(&leaf));
        let read = |(batch, leaves): (&BatchNumber, &BTreeMap<LeafId, Record>)| {
            let order = self.orders[*batch as usize].iter();
            let later: Vec<LeafId> = order.skip_while(|l| **l != leaf).skip(1).copied().collect();
            let mut instead: Vec<LeafId> = leaves.values().map(|record| record.instead).collect();
            instead.retain(|other| later.contains(other));
            let is_elsewhere =
                leaves.values().any(|record| record.is_held && instead.contains(&record.instead));
            ReadRecord { batch: *batch, instead, is_elsewhere }
        };
        revoked.map(read).collect()
    }
}
