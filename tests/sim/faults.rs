//! What fails, when, and for how long; and the gossip about it.

use std::collections::BTreeSet;

use crate::messages::{Event, LeafId, Node};
use crate::queue::{SECOND, Time, whole};
use crate::world::{GOSSIP, World};

/// Longer than a leaf may be silent before its batches go elsewhere.
const LONG: Time = 14 * SECOND;

#[derive(Clone, Debug)]
pub(crate) enum Failure {
    Leaf(LeafId),
    Door(usize),
    FreezeLeaf(LeafId),
    FreezeDoor(usize),
    /// Pairs of machines, from and to.
    Cut(BTreeSet<(usize, usize)>),
    Store,
    /// A machine joins.
    Join(usize),
    /// All that failed works again, and nothing fails any more.
    End,
}

impl World {
    /// Starts all machines, and plans all faults.
    pub(crate) fn begin(&mut self) {
        for machine in 0..self.options.machines {
            self.join(machine);
        }
        for door in 0..self.doors.len() {
            self.start_door(door);
        }
        for client in 0..self.clients.len() {
            let (starts, batch) = (self.clients[client].starts, self.clients[client].batch);
            let (node, what) = (Node::Client(batch), crate::messages::Wake::Post { number: 0 });
            self.queue.push(starts, Event::Wake { node, life: 0, what });
        }
        for machine in 0..self.options.joining {
            let at = self.random.below(self.options.safety);
            let fault = Failure::Join(self.options.machines + machine);
            self.queue.push(at, Event::Failure(fault));
        }
        self.plan_faults();
        self.queue.push(self.options.safety, Event::Failure(Failure::End));
        self.queue.push(0, Event::Gossip);
        if let Some(rollover) = &self.options.rollover {
            self.queue.push(rollover.begins, Event::Look);
        }
    }

    fn plan_faults(&mut self) {
        let options = self.options.clone();
        let (leaves, doors) = (self.leaves.len(), self.doors.len());
        for second in 0..options.safety / SECOND {
            let at = second * SECOND;
            // In a large cluster, as often as in one of ten machines.
            let scale = (10.0 / options.machines as f64).min(1.0);
            for machine in 0..options.machines {
                for (rate, kind) in [
                    (options.leaf_crash, 0),
                    (options.door_crash, 1),
                    (options.freeze, 2),
                    (options.cut, 3),
                    (options.store_down / options.machines as f64, 4),
                ] {
                    if !self.random.chance(rate * scale) {
                        continue;
                    }
                    let leaf = machine * options.leaves_per_machine
                        + self.random.index(options.leaves_per_machine);
                    let door = self.random.index(doors);
                    let fault = match kind {
                        0 => Failure::Leaf(leaf.min(leaves - 1)),
                        1 => Failure::Door(door),
                        2 if self.random.chance(0.2) => Failure::FreezeDoor(door),
                        2 => Failure::FreezeLeaf(leaf),
                        3 => Failure::Cut(self.cut_at(machine)),
                        _ => Failure::Store,
                    };
                    let at = at + self.random.below(SECOND);
                    self.queue.push(at, Event::Failure(fault));
                }
            }
        }
    }

    /// A machine cut off from some or all others, in one or both directions; or a cut through the
    /// middle.
    fn cut_at(&mut self, machine: usize) -> BTreeSet<(usize, usize)> {
        let machines = self.healed.len();
        let share = if self.random.chance(0.5) { 1.0 } else { self.random.unit() };
        let side: Vec<bool> = match self.random.chance(0.3) {
            true => (0..machines).map(|_| self.random.chance(0.5)).collect(),
            false => (0..machines).map(|other| other == machine).collect(),
        };
        let (goes_out, comes_in) = match self.random.below(4) {
            0 => (true, false),
            1 => (false, true),
            _ => (true, true),
        };
        let mut pairs = BTreeSet::new();
        for from in 0..machines {
            for to in 0..machines {
                let is_cut = side[from] != side[to]
                    && (side[from] && goes_out || side[to] && comes_in)
                    && self.random.chance(share);
                if is_cut {
                    pairs.insert((from, to));
                }
            }
        }
        pairs
    }

    fn duration(&mut self) -> Time {
        let long = match self.random.chance(self.options.long_fault) {
            true => LONG,
            false => 0,
        };
        long + whole(self.random.exponential(self.options.fault as f64))
    }

    pub(crate) fn fail(&mut self, fault: Failure) {
        if self.is_healed && !matches!(fault, Failure::End) {
            return;
        }
        let until = self.now + self.duration();
        match &fault {
            Failure::Leaf(leaf) if self.leaves[*leaf].is_up => self.crash_leaf(*leaf),
            Failure::Door(door) if self.doors[*door].is_up => self.crash_door(*door),
            Failure::FreezeLeaf(leaf) => {
                self.note_alive(*leaf);
                let leaf = &mut self.leaves[*leaf];
                leaf.frozen_until = leaf.frozen_until.max(until);
            }
            Failure::FreezeDoor(door) => {
                let door = &mut self.doors[*door];
                door.frozen_until = door.frozen_until.max(until);
            }
            Failure::Cut(pairs) => self.network.cut(pairs),
            Failure::Store => self.store.is_up = false,
            Failure::Join(machine) => return self.join(*machine),
            Failure::End => return self.heal(),
            Failure::Leaf(_) | Failure::Door(_) => return,
        }
        self.queue.push(until, Event::Repair(fault));
    }

    pub(crate) fn repair(&mut self, fault: Failure) {
        match fault {
            Failure::Leaf(leaf) if !self.leaves[leaf].is_up && !self.stays_down(leaf) => {
                self.start_leaf(leaf);
            }
            Failure::Door(door) if !self.doors[door].is_up => self.start_door(door),
            Failure::Cut(pairs) => self.end_cut(&pairs),
            Failure::Store => self.repair_store(),
            Failure::FreezeLeaf(leaf) => self.thaw(Node::Leaf(leaf)),
            Failure::FreezeDoor(door) => self.thaw(Node::Door(door)),
            _ => {}
        }
    }

    fn repair_store(&mut self) {
        if !self.store.is_up {
            (self.store.is_up, self.store.repaired) = (true, self.now);
        }
    }

    fn end_cut(&mut self, pairs: &BTreeSet<(usize, usize)>) {
        self.network.heal(pairs);
        for (from, to) in pairs {
            self.healed[*from] = self.now;
            self.healed[*to] = self.now;
        }
    }

    fn join(&mut self, machine: usize) {
        let first = machine * self.options.leaves_per_machine;
        for leaf in first..first + self.options.leaves_per_machine {
            self.names[machine][leaf] = true;
            if !self.leaves[leaf].is_up {
                self.start_leaf(leaf);
            }
        }
    }

    /// Whether a leaf is dead permanently.
    fn stays_down(&self, leaf: LeafId) -> bool {
        self.is_healed && self.options.stays_dead && self.leaves[leaf].machine == 0
    }

    fn heal(&mut self) {
        self.is_healed = true;
        self.repair_store();
        let machines = self.healed.len();
        let all = (0..machines).flat_map(|from| (0..machines).map(move |to| (from, to)));
        self.end_cut(&all.collect());
        for leaf in 0..self.leaves.len() {
            self.leaves[leaf].frozen_until = self.leaves[leaf].frozen_until.min(self.now);
            self.thaw(Node::Leaf(leaf));
            let is_dead = self.stays_down(leaf);
            match self.leaves[leaf].is_up {
                true if is_dead => self.crash_leaf(leaf),
                false if !is_dead => self.start_leaf(leaf),
                _ => {}
            }
        }
        for door in 0..self.doors.len() {
            self.doors[door].frozen_until = self.doors[door].frozen_until.min(self.now);
            self.thaw(Node::Door(door));
            if !self.doors[door].is_up {
                self.start_door(door);
            }
        }
    }

    /// Members tell each other who lives. What arrives is up to half a second old.
    pub(crate) fn gossip(&mut self) {
        self.queue.push(self.now + GOSSIP, Event::Gossip);
        let lives = |leaf: &crate::leaf::Leaf| leaf.is_up && leaf.frozen_until <= self.now;
        let machines = self.healed.len();
        let mut works = vec![false; machines];
        for leaf in self.leaves.iter().filter(|leaf| lives(leaf)) {
            works[leaf.machine] = true;
        }
        for door in self.doors.iter().filter(|door| door.is_up && door.frozen_until <= self.now) {
            works[door.machine] = true;
        }
        let hearers: Vec<Vec<bool>> = match self.network.is_whole() {
            true => vec![works.clone(); machines],
            false => (0..machines).map(|from| self.network.hearers(from, &works)).collect(),
        };
        self.spread_names(&hearers);
        for door in 0..self.doors.len() {
            if !self.doors[door].is_up || self.doors[door].frozen_until > self.now {
                continue;
            }
            let machine = self.doors[door].machine;
            let heard = |leaf: &crate::leaf::Leaf| {
                let is_heard =
                    leaf.is_up && leaf.frozen_until <= self.now && hearers[leaf.machine][machine];
                is_heard.then_some(leaf.process)
            };
            let heard: Vec<Option<u64>> = self.leaves.iter().map(heard).collect();
            self.door_hears(door, &heard);
            self.observe(door, &hearers);
        }
        self.note_calm();
    }

    fn spread_names(&mut self, hearers: &[Vec<bool>]) {
        let all = (0..self.leaves.len()).filter(|leaf| self.leaves[*leaf].process > 0);
        let all: Vec<LeafId> = all.collect();
        if self.names.iter().all(|names| all.iter().all(|leaf| names[*leaf])) {
            return;
        }
        let old = self.names.clone();
        for (from, hears) in hearers.iter().enumerate() {
            for to in (0..hears.len()).filter(|to| hears[*to]) {
                for leaf in &all {
                    self.names[to][*leaf] |= old[from][*leaf];
                }
            }
        }
    }
}
