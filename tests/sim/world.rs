//! The machines, what they send each other, and the one queue that steps them.

use std::collections::{BTreeMap, BTreeSet};

use hadal_random::{Random, mix};
use hadal_types::{LeafName, MachineName};

use crate::client::Client;
use crate::door::Door;
use crate::leaf::Leaf;
use crate::merging::Question;
use crate::messages::{Answer, BatchNumber, Event, LeafId, Node, Request, Wake};
use crate::network::Network;
use crate::options::Options;
use crate::queue::{MILLIS, Queue, Time};
use crate::rolling::Rolling;
use crate::sending::Call;
use crate::store::Store;

/// How long a refused connection takes to be noticed, at least.
const REFUSED: Time = MILLIS;
/// How often members gossip.
pub(crate) const GOSSIP: Time = 500 * MILLIS;

pub(crate) struct World {
    pub(crate) options: Options,
    pub(crate) random: Random,
    pub(crate) now: Time,
    pub(crate) queue: Queue<Event>,
    /// What frozen processes miss.
    held: Vec<(Node, Event)>,
    pub(crate) network: Network,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) doors: Vec<Door>,
    pub(crate) store: Store,
    pub(crate) clients: Vec<Client>,
    /// The rendezvous order of each batch.
    pub(crate) orders: Vec<Vec<LeafId>>,
    pub(crate) calls: BTreeMap<u64, Call>,
    pub(crate) calls_made: u64,
    /// Whether the time of faults is over.
    pub(crate) is_healed: bool,
    /// When the last cut at each machine ended.
    pub(crate) healed: Vec<Time>,
    /// Which leaves each machine knows of.
    pub(crate) names: Vec<Vec<bool>>,
    pub(crate) leaf_names: Vec<LeafName>,
    pub(crate) machine_names: Vec<MachineName>,
    pub(crate) rolling: Rolling,
    pub(crate) question: Question,
    /// Batches that a leaf dropped for their age.
    pub(crate) expired: BTreeSet<BatchNumber>,
    /// Since when all doors work and reach all machines.
    pub(crate) calm_since: Time,
    /// See [`crate::checks::Outcome`].
    pub(crate) surplus: u64,
    /// When anything was last seen to fail.
    pub(crate) disturbed: Time,
    pub(crate) events: u64,
    pub(crate) trace: u64,
    pub(crate) violations: Vec<String>,
    /// The batch whose life is printed.
    watched: Option<BatchNumber>,
}

impl World {
    pub(crate) fn new(options: Options) -> Self {
        let machines = options.machines + options.joining;
        let count = machines * options.leaves_per_machine;
        let order = |batch: BatchNumber| {
            let mut order: Vec<LeafId> = (0..count).collect();
            let seed = mix(options.seed ^ (u64::from(batch) << 32));
            order.sort_by_key(|leaf| mix(seed ^ mix(*leaf as u64)));
            order
        };
        let machine_name = |machine: usize| MachineName(format!("m-{machine}").into());
        let leaf_name = |leaf: LeafId| {
            LeafName(format!("m-{}/leaf-{leaf}", leaf / options.leaves_per_machine).into())
        };
        let mut random = Random::new(options.seed, 0);
        let leaf = |leaf: LeafId| Leaf::new(leaf, leaf / options.leaves_per_machine);
        let doors = (0..options.doors)
            .map(|door| Door::new(door, door % options.machines, count))
            .collect();
        let clients = (0..options.batches).map(|batch| Client::new(batch, &options, &mut random));
        Self {
            orders: (0..options.batches).map(order).collect(),
            leaves: (0..count).map(leaf).collect(),
            doors,
            clients: clients.collect(),
            store: Store::new(random.index(options.machines)),
            now: 0,
            queue: Queue::default(),
            held: Vec::new(),
            network: Network::default(),
            calls: BTreeMap::new(),
            calls_made: 0,
            is_healed: false,
            healed: vec![0; machines],
            names: vec![vec![false; count]; machines],
            leaf_names: (0..count).map(leaf_name).collect(),
            machine_names: (0..machines).map(machine_name).collect(),
            rolling: Rolling::default(),
            question: Question::default(),
            expired: BTreeSet::new(),
            calm_since: 0,
            disturbed: 0,
            surplus: 0,
            events: 0,
            trace: options.seed,
            violations: Vec::new(),
            watched: std::env::var("HADAL_SIMULATE_WATCH").ok().and_then(|text| text.parse().ok()),
            random,
            options,
        }
    }

    /// Prints what happens to the watched batch.
    pub(crate) fn say(&self, batch: BatchNumber, text: impl FnOnce() -> String) {
        if self.watched == Some(batch) {
            crate::print(format!("{:>12} {}", self.now, text()));
        }
    }

    pub(crate) fn machine_of(&self, node: Node) -> Option<usize> {
        match node {
            Node::Leaf(leaf) => Some(self.leaves[leaf].machine),
            Node::Door(door) => Some(self.doors[door].machine),
            Node::Store => Some(self.store.machine),
            Node::Client(_) => None,
        }
    }

    /// The life of a process; a later process has a higher number. `None` if it is down.
    pub(crate) fn life(&self, node: Node) -> Option<u64> {
        match node {
            Node::Leaf(leaf) => self.leaves[leaf].is_up.then_some(self.leaves[leaf].process),
            Node::Door(door) => self.doors[door].is_up.then_some(self.doors[door].life),
            Node::Store => self.store.is_up.then_some(0),
            Node::Client(_) => Some(0),
        }
    }

    fn frozen_until(&self, node: Node) -> Option<Time> {
        let until = match node {
            Node::Leaf(leaf) => self.leaves[leaf].frozen_until,
            Node::Door(door) => self.doors[door].frozen_until,
            Node::Store | Node::Client(_) => 0,
        };
        (until > self.now).then_some(until)
    }

    pub(crate) fn wake_after(&mut self, node: Node, wait: Time, what: Wake) {
        let Some(life) = self.life(node) else { return };
        self.queue.push(self.now + wait, Event::Wake { node, life, what });
    }

    /// Takes the next event. Returns false at `end`.
    pub(crate) fn step(&mut self, end: Time) -> bool {
        let Some((time, number, event)) = self.queue.pop() else { return false };
        if time > end {
            self.queue.push(time, event);
            return false;
        }
        self.now = time;
        self.events += 1;
        self.trace = mix(self.trace ^ mix(time) ^ number ^ event.hash());
        match event {
            Event::Arrive { to, process, call, .. } if !self.is_there(to, process) => {
                self.queue.push(self.now + REFUSED, Event::End { call, answer: None });
            }
            Event::Arrive { to, .. } if self.frozen_until(to).is_some() => {
                self.after_thaw(to, event);
            }
            Event::Arrive { call, from, to, request, .. } => self.arrive(call, from, to, request),
            Event::End { call, answer } => self.end(call, answer),
            Event::Wake { node, life, .. } if self.life(node) != Some(life) => {}
            Event::Wake { node, .. } if self.frozen_until(node).is_some() => {
                self.after_thaw(node, event);
            }
            Event::Wake { node, what, .. } => self.wake(node, what),
            Event::Report { door, life, .. } if self.life(Node::Door(door)) != Some(life) => {}
            Event::Report { door, .. } if self.frozen_until(Node::Door(door)).is_some() => {
                self.after_thaw(Node::Door(door), event);
            }
            Event::Report { door, report, .. } => self.learn(door, &report),
            Event::Gossip => self.gossip(),
            Event::Look => self.look(),
            Event::Failure(fault) => self.fail(fault),
            Event::Repair(fault) => self.repair(fault),
        }
        true
    }

    fn is_there(&self, node: Node, process: Option<u64>) -> bool {
        let reaches_any = self.options.planted == crate::options::Planted::AnyProcess;
        let life = self.life(node);
        life.is_some() && (reaches_any || process.is_none_or(|process| life == Some(process)))
    }

    fn after_thaw(&mut self, node: Node, event: Event) {
        self.held.push((node, event));
    }

    /// A process gets what it missed while it was frozen, unless it is still frozen.
    pub(crate) fn thaw(&mut self, node: Node) {
        if self.frozen_until(node).is_some() {
            return;
        }
        let (missed, held) =
            std::mem::take(&mut self.held).into_iter().partition(|(to, _)| *to == node);
        self.held = held;
        for (_, event) in missed {
            self.queue.push(self.now, event);
        }
    }

    fn arrive(&mut self, call: u64, from: Node, to: Node, request: Request) {
        match to {
            Node::Leaf(leaf) => self.leaf_asked(leaf, call, from, &request),
            Node::Door(door) => self.door_asked(door, call, from, &request),
            Node::Store => self.store_asked(call, from, &request),
            Node::Client(_) => {}
        }
    }

    fn end(&mut self, call: u64, answer: Option<Answer>) {
        let Some(Call { from, .. }) = self.calls.get(&call) else { return };
        let from = *from;
        if self.frozen_until(from).is_some() {
            self.after_thaw(from, Event::End { call, answer });
            return;
        }
        let Some(Call { life, purpose, .. }) = self.calls.remove(&call) else { return };
        if self.life(from) != Some(life) {
            return;
        }
        match from {
            Node::Leaf(leaf) => self.leaf_answered(leaf, purpose, answer),
            Node::Door(door) => self.door_answered(door, purpose, answer),
            Node::Client(client) => self.client_answered(client, call, answer),
            Node::Store => {}
        }
    }

    fn wake(&mut self, node: Node, what: Wake) {
        match (node, what) {
            (Node::Leaf(leaf), Wake::Review { number }) => self.review_woken(leaf, number),
            (Node::Leaf(leaf), Wake::Records { number }) => self.records_read(leaf, number),
            (Node::Leaf(leaf), Wake::Written { batch }) => self.written(leaf, batch),
            (Node::Leaf(leaf), Wake::Dropped { batch }) => self.dropped(leaf, batch),
            (Node::Leaf(leaf), Wake::Report) => self.push_reports(leaf),
            (Node::Leaf(leaf), Wake::Restored) => self.share_changed(leaf),
            (Node::Leaf(leaf), Wake::Expire) => self.expire(leaf),
            (Node::Leaf(leaf), Wake::Stopped) => self.stopped(leaf),
            (Node::Door(door), Wake::Request { request, number }) => {
                self.request_woken(door, request, number);
            }
            (Node::Door(door), Wake::Query) => self.ask_leaves(door),
            (Node::Door(door), Wake::FinishQuery) => self.finish_query(door),
            (Node::Client(client), Wake::Post { number }) => self.post(client, number),
            _ => {}
        }
    }
}
