//! The machines, what they send each other, and the one queue that steps them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use hadal_random::{Random, mix};
use hadal_tree::batch_placement::{Lookup, SendOutcome};

use crate::client::Client;
use crate::door::Door;
use crate::faults::Failure;
use crate::leaf::Leaf;
use crate::network::Network;
use crate::options::Options;
use crate::queue::{MILLIS, Queue, SECOND, Time, whole};
use crate::store::{ReadRecord, Store};

pub(crate) type LeafId = usize;
pub(crate) type BatchNumber = u32;

/// How long a refused connection takes to be noticed, at least.
const REFUSED: Time = MILLIS;
/// How often members gossip.
pub(crate) const GOSSIP: Time = 500 * MILLIS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Leaf(LeafId),
    Door(usize),
    Store,
    Client(BatchNumber),
}

/// What one process asks of another.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Post { batch: BatchNumber, first_try: bool },
    LookUp { batch: BatchNumber, refuse: bool },
    Accept { batch: BatchNumber, moves: bool },
    Record { leaf: LeafId, batch: BatchNumber, instead: LeafId },
    NoteHeld { batch: BatchNumber, leaf: LeafId },
    ReadRecords { leaf: LeafId },
    Query,
}

#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Posted(bool),
    /// With whether the leaf holds the batch durably.
    LookedUp(Lookup, bool),
    Accepted(SendOutcome),
    Recorded(LeafId),
    Records(Vec<ReadRecord>),
    /// The batches that a leaf serves; `None` if it does not serve.
    Rows(Option<Rc<Vec<BatchNumber>>>),
}

/// A request that waits for its answer, and why it was made.
#[derive(Debug)]
struct Call {
    from: Node,
    life: u64,
    purpose: Purpose,
}

#[derive(Clone, Debug)]
pub(crate) enum Purpose {
    Post,
    LookUp { request: u64, leaf: LeafId, process: u64, refuse: bool },
    Accept { request: u64, leaf: LeafId },
    Record { request: u64, leaf: LeafId },
    ReadRecords,
    Holds { batch: BatchNumber, leaf: LeafId },
    NoteHeld,
    Query { leaf: LeafId },
}

#[derive(Clone, Debug)]
pub(crate) enum Event {
    Arrive {
        call: u64,
        from: Node,
        to: Node,
        process: Option<u64>,
        request: Request,
    },
    /// The answer, or `None` when time is up or the connection broke.
    End {
        call: u64,
        answer: Option<Answer>,
    },
    Wake {
        node: Node,
        life: u64,
        what: Wake,
    },
    Gossip,
    Failure(Failure),
    /// A fault ends.
    Repair(Failure),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Wake {
    Request { request: u64, number: u64 },
    Query,
    FinishQuery,
    Review { number: u64 },
    Records,
    Written { batch: BatchNumber },
    Dropped { batch: BatchNumber },
    Post { number: u64 },
}

pub(crate) struct World {
    pub(crate) options: Options,
    pub(crate) random: Random,
    pub(crate) now: Time,
    pub(crate) queue: Queue<Event>,
    pub(crate) network: Network,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) doors: Vec<Door>,
    pub(crate) store: Store,
    pub(crate) clients: Vec<Client>,
    /// The rendezvous order of each batch.
    pub(crate) orders: Vec<Vec<LeafId>>,
    calls: BTreeMap<u64, Call>,
    calls_made: u64,
    /// Whether the time of faults is over.
    pub(crate) is_healed: bool,
    /// When the last cut at each machine ended.
    pub(crate) healed: Vec<Time>,
    /// Which leaves each machine knows of.
    pub(crate) names: Vec<Vec<bool>>,
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
            network: Network::default(),
            calls: BTreeMap::new(),
            calls_made: 0,
            is_healed: false,
            healed: vec![0; machines],
            names: vec![vec![false; count]; machines],
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

    /// A process's own clock.
    pub(crate) fn clock(&self, node: Node) -> Duration {
        Duration::from_micros(self.local(node, self.now))
    }

    /// Every machine's clock runs at its own rate, from its own start.
    fn local(&self, node: Node, time: Time) -> Time {
        let Some(machine) = self.machine_of(node) else { return time };
        let (rate, offset) = self.clock_of(machine);
        whole(time as f64 * rate) + offset
    }

    fn clock_of(&self, machine: usize) -> (f64, Time) {
        let random = mix(self.options.seed ^ mix(machine as u64 + 7));
        let share = (random >> 11) as f64 / (1u64 << 53) as f64;
        (1.0 + self.options.skew * (2.0 * share - 1.0), random % (3_600 * SECOND))
    }

    /// Wakes a process at a time of its own clock.
    pub(crate) fn wake_at(&mut self, node: Node, local: Duration, what: Wake) {
        let now = self.local(node, self.now);
        let local = u64::try_from(local.as_micros()).unwrap_or(u64::MAX);
        let rate = self.machine_of(node).map_or(1.0, |machine| self.clock_of(machine).0);
        let wait = whole(local.saturating_sub(now) as f64 / rate) + 1;
        self.wake_after(node, wait, what);
    }

    pub(crate) fn wake_after(&mut self, node: Node, wait: Time, what: Wake) {
        let Some(life) = self.life(node) else { return };
        self.queue.push(self.now + wait, Event::Wake { node, life, what });
    }

    /// Sends a request to a process, or to whichever process of its node is up.
    pub(crate) fn call(
        &mut self,
        from: Node,
        to: Node,
        process: Option<u64>,
        (request, purpose): (Request, Purpose),
        patience: Time,
    ) -> u64 {
        let life = self.life(from).unwrap_or_default();
        self.calls_made += 1;
        let call = self.calls_made;
        self.calls.insert(call, Call { from, life, purpose });
        self.queue.push(self.now + patience, Event::End { call, answer: None });
        // A post without an id of the client's is the client's to send once.
        let is_repeatable = !matches!(request, Request::Post { first_try: true, .. });
        for _ in 0..self.copies(from, to).min(if is_repeatable { 2 } else { 1 }) {
            let at = self.now + self.delay();
            let request = request.clone();
            self.queue.push(at, Event::Arrive { call, from, to, process, request });
        }
        call
    }

    /// Answers a request of `to`.
    pub(crate) fn answer(&mut self, call: u64, from: Node, to: Node, answer: Answer) {
        for _ in 0..self.copies(from, to) {
            let at = self.now + self.delay();
            self.queue.push(at, Event::End { call, answer: Some(answer.clone()) });
        }
    }

    /// How often a message arrives.
    fn copies(&mut self, from: Node, to: Node) -> usize {
        let (sender, receiver) = (self.machine_of(from), self.machine_of(to));
        if let (Some(sender), Some(receiver)) = (sender, receiver)
            && !self.network.connects(sender, receiver)
        {
            return 0;
        }
        if self.is_healed {
            return 1;
        }
        let (loss, duplicate) = (self.options.loss, self.options.duplicate);
        match () {
            () if self.random.chance(loss) => 0,
            () if self.random.chance(duplicate) => 2,
            () => 1,
        }
    }

    fn delay(&mut self) -> Time {
        let late = match self.random.chance(self.options.late) && !self.is_healed {
            true => self.random.below(8 * SECOND),
            false => 0,
        };
        late + whole(self.random.exponential(self.options.delay as f64))
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
            Event::Gossip => self.gossip(),
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
        if let Some(until) = self.frozen_until(node) {
            self.queue.push(until, event);
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
            (Node::Leaf(leaf), Wake::Records) => self.records_read(leaf),
            (Node::Leaf(leaf), Wake::Written { batch }) => self.written(leaf, batch),
            (Node::Leaf(leaf), Wake::Dropped { batch }) => self.dropped(leaf, batch),
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

impl Event {
    /// Distinguishes kinds of events in the trace.
    fn hash(&self) -> u64 {
        match self {
            Self::Arrive { call, .. } => mix(*call),
            Self::End { call, answer } => mix(*call ^ (1 << 40)) ^ u64::from(answer.is_some()),
            Self::Wake { life, .. } => mix(*life ^ (2 << 40)),
            Self::Gossip => 3,
            Self::Failure(_) => 4,
            Self::Repair(_) => 5,
        }
    }
}
