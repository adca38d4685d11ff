//! What must hold, whatever failed.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::messages::{BatchNumber, LeafId};
use crate::options::{Options, Planted};
use crate::placing::MOVED;
use crate::queue::{SECOND, Time};
use crate::store::Record;
use crate::world::World;

/// After the faults, all batches must be acknowledged within this time.
const LIVENESS: Time = 60 * SECOND;
/// Then all copies must have been dropped.
const QUIET: Time = 10 * SECOND;
/// How long a query may see two copies: until the earlier leaf has read its revocations, asked the
/// later one and dropped its copy, and queries that had begun have ended.
const COPIES_SEEN: Time = 6 * SECOND;

/// What a run did.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) events: u64,
    pub(crate) trace: u64,
    pub(crate) acknowledged: usize,
    pub(crate) revoked: usize,
    /// Restarts for a rollover.
    pub(crate) restarts: u64,
    /// Rollovers that are done.
    pub(crate) rollovers: u64,
    pub(crate) expired: usize,
    /// Rows that are expected at the end and were removed without a report before a crash.
    pub(crate) surplus: u64,
    pub(crate) violations: Vec<String>,
}

/// Runs one seed.
pub(crate) fn run(seed: u64, planted: Planted) -> Outcome {
    let mut world = World::new(Options::of(seed, planted));
    world.begin();
    let healed = world.options.safety;
    while world.step(healed + LIVENESS) && world.violations.is_empty() {}
    if world.violations.is_empty() {
        world.check_acknowledged();
    }
    while world.step(healed + LIVENESS + QUIET) && world.violations.is_empty() {}
    if world.violations.is_empty() {
        world.check_copies();
        world.check_reads();
        world.check_rollover();
        world.surplus = world.check_whole();
        world.check_expiry();
    }
    Outcome {
        events: world.events,
        trace: world.trace,
        acknowledged: world.clients.iter().filter(|client| client.is_acknowledged).count(),
        revoked: world.store.records.len(),
        restarts: world.rolling.restarts,
        rollovers: u64::from(world.rolling.is_done),
        expired: world.expired.len(),
        surplus: world.surplus,
        violations: world.violations,
    }
}

impl World {
    /// No answer counts a batch twice.
    pub(crate) fn check_answer(&mut self, rows: &[(LeafId, Rc<Vec<BatchNumber>>)]) {
        let mut counted: BTreeMap<BatchNumber, LeafId> = BTreeMap::new();
        for (leaf, batches) in rows {
            for batch in batches.iter() {
                if let Some(other) = counted.insert(*batch, *leaf)
                    && !self.may_see_both(*batch, *leaf, other)
                {
                    self.say(*batch, || {
                        let text = |leaf: LeafId| {
                            let l = &self.leaves[leaf];
                            format!(
                                "leaf {leaf}: process {} started {} frozen until {} open since {} read {} unanswered {} stored {:?} healed {}",
                                l.process, l.started, l.frozen_until, l.open_since, l.read_at,
                                l.unanswered, l.stored.get(batch), self.healed[l.machine]
                            )
                        };
                        let records = self.store.records.get(batch);
                        format!("{}\n{}\n{records:?} repaired {}", text(*leaf), text(other), self.store.repaired)
                    });
                    self.violations.push(format!(
                        "an answer counts batch {batch} of leaves {other} and {leaf} at {}",
                        self.now
                    ));
                }
            }
        }
    }

    /// Whether the documented time has not passed in which a query may see two copies.
    fn may_see_both(&self, batch: BatchNumber, one: LeafId, other: LeafId) -> bool {
        let position = |leaf| self.orders[batch as usize].iter().position(|l| *l == leaf);
        let (earlier, later) =
            if position(one) < position(other) { (one, other) } else { (other, one) };
        let records = self.store.records.get(&batch);
        let Some(record) = records.and_then(|records| records.get(&earlier)) else {
            return false;
        };
        let (earlier, later) = (&self.leaves[earlier], &self.leaves[later]);
        // A slow machine takes its time to read a record, and to ask the later leaf.
        let limit = COPIES_SEEN + 4 * self.options.slow;
        let is_recent = |time: Time| self.now < time + limit;
        let healed = [earlier.machine, later.machine, self.store.machine]
            .map(|machine| self.healed[machine]);
        let back = healed.into_iter().fold(record.made.max(self.store.repaired), Time::max);
        let was_cut_off = earlier.open_since < record.made;
        // The batch came to the later leaf after the earlier one had asked for it, or the earlier
        // one dropped it while the query was under way.
        let arrived = later.stored.get(&batch).copied().unwrap_or_default();
        let reads = self.store.is_up && self.network.connects(earlier.machine, self.store.machine);
        was_cut_off && (is_recent(back) || !reads)
            || is_recent(earlier.unanswered)
            || (arrived >= earlier.read_at || self.now < earlier.read_at + SECOND)
                && is_recent(arrived)
    }

    /// Whether a batch can only wait for a dead leaf: no other leaf comes later in its order, or
    /// the batch moved there so long ago that it may be settled.
    fn must_wait(&self, batch: BatchNumber) -> bool {
        let order = &self.orders[batch as usize];
        let records = self.store.records.get(&batch);
        let may_hold = |(position, leaf): &(usize, &LeafId)| {
            *position < 2
                || records.is_some_and(|records| records.values().any(|r| r.instead == **leaf))
        };
        let is_dead = |leaf: &LeafId| !self.leaves[*leaf].is_up;
        let is_settled = |record: &Record| {
            let is_last = records.is_some_and(|records| !records.contains_key(&record.instead));
            is_last && is_dead(&record.instead) && record.made + MOVED <= self.now
        };
        if records.is_some_and(|records| records.values().any(is_settled)) {
            return true;
        }
        let mut dead = order.iter().enumerate().filter(may_hold).filter(|(_, leaf)| is_dead(leaf));
        dead.next_back().is_some_and(|(last, _)| order[last..].iter().all(is_dead))
    }

    /// Every client that insists gets its acknowledgement.
    fn check_acknowledged(&mut self) {
        for client in self.clients.iter().filter(|client| client.insists()) {
            if !client.is_acknowledged && !self.must_wait(client.batch) {
                self.violations.push(format!("batch {} is not acknowledged", client.batch));
            }
        }
    }

    /// Every leaf reads its revocations.
    fn check_reads(&mut self) {
        for (id, leaf) in self.leaves.iter().enumerate().filter(|(_, leaf)| leaf.is_up) {
            let since = leaf.read_at.max(leaf.started);
            if since + QUIET < self.now {
                let text = format!("leaf {id} has read no revocations since {since}");
                self.violations.push(text);
            }
        }
    }

    /// Every acknowledged batch is on one leaf, every other one on one at most.
    fn check_copies(&mut self) {
        for client in &self.clients {
            let holds = |leaf: &LeafId| self.leaves[*leaf].stored.contains_key(&client.batch);
            let leaves: Vec<LeafId> = (0..self.leaves.len()).filter(holds).collect();
            let is_expired = self.expired.contains(&client.batch);
            let is_right = match client.is_acknowledged && !is_expired {
                true => leaves.len() == 1,
                false => leaves.len() <= 1,
            };
            // A dead leaf drops its copy when it is back.
            let dead = leaves.iter().filter(|leaf| !self.leaves[**leaf].is_up).count();
            let will_be_right = dead > 0 && leaves.len() - dead == 1;
            if !is_right && !will_be_right {
                self.violations.push(format!(
                    "batch {} is on leaves {leaves:?}, acknowledged: {}",
                    client.batch, client.is_acknowledged
                ));
            }
        }
    }
}
