//! A front door: it places batches by the state machine of `tree`, and asks leaves for their rows.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use hadal_tree::batch_placement::{
    self as placement, BatchPlacement, Candidate, CandidateState, Effect, History, PlacementRules,
};

use crate::options::Planted;
use crate::queue::{MILLIS, SECOND, Time};
use crate::world::{Answer, BatchNumber, LeafId, Node, Purpose, Request, Wake, World};

/// After this time without a sign, a leaf is silent.
const SILENT: Time = 2 * SECOND;
const LOOK_UP: Time = SECOND;
const ACCEPT: Time = 5 * SECOND;
const RECORD: Time = 2 * SECOND;
const QUERY: Time = 500 * MILLIS;
const QUERY_EVERY: Time = 4 * SECOND;

/// Events of one request.
const STEPS_MAX: u32 = 2_000;

/// What a door knows of a leaf.
#[derive(Clone, Debug)]
struct View {
    process: u64,
    state: CandidateState,
    /// When it was first known, by the door's clock.
    since: Duration,
    heard: Time,
}

/// A batch that a door places.
#[derive(Debug)]
struct Placing {
    call: u64,
    client: Node,
    batch: BatchNumber,
    machine: BatchPlacement<LeafId>,
    wake: u64,
    steps: u32,
    /// What the last leaf answered.
    is_acknowledged: bool,
}

#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) machine: usize,
    pub(crate) is_up: bool,
    pub(crate) life: u64,
    pub(crate) frozen_until: Time,
    begun: Duration,
    heard: Duration,
    views: Vec<Option<View>>,
    placing: BTreeMap<u64, Placing>,
    requests: u64,
    /// Batches placed on each leaf.
    load: Vec<u64>,
    /// The answers to a query.
    rows: Vec<(LeafId, Rc<Vec<BatchNumber>>)>,
}

impl Door {
    pub(crate) fn new(_: usize, machine: usize, leaves: usize) -> Self {
        Self {
            machine,
            is_up: false,
            life: 0,
            frozen_until: 0,
            begun: Duration::ZERO,
            heard: Duration::ZERO,
            views: vec![None; leaves],
            placing: BTreeMap::new(),
            requests: 0,
            load: vec![0; leaves],
            rows: Vec::new(),
        }
    }
}

impl World {
    /// Starts a door. It knows the names of the leaves that its machine knows, and nothing of their
    /// state.
    pub(crate) fn start_door(&mut self, id: usize) {
        let clock = self.clock(Node::Door(id));
        let door = &mut self.doors[id];
        let state = CandidateState::Silent { since: clock };
        let view = |is_known: &bool| {
            is_known.then_some(View { process: 0, state, since: clock, heard: 0 })
        };
        door.views = self.names[door.machine].iter().map(view).collect();
        (door.is_up, door.life, door.frozen_until) = (true, door.life + 1, 0);
        (door.begun, door.placing) = (clock, BTreeMap::new());
        self.wake_after(Node::Door(id), QUERY_EVERY, Wake::Query);
    }

    pub(crate) fn crash_door(&mut self, id: usize) {
        self.doors[id].is_up = false;
        self.doors[id].placing.clear();
    }

    /// A door learns what its machine has heard of each leaf: the process that was heard of.
    pub(crate) fn door_hears(&mut self, id: usize, heard: &[Option<u64>]) {
        let (now, clock) = (self.now, self.clock(Node::Door(id)));
        self.doors[id].heard = clock;
        let mut is_changed = false;
        for (leaf, heard) in heard.iter().enumerate() {
            if !self.names[self.doors[id].machine][leaf] {
                continue;
            }
            let recovers = self.leaf_recovers(leaf);
            let view = self.doors[id].views[leaf].get_or_insert_with(|| {
                is_changed = true;
                let state = CandidateState::Silent { since: clock };
                View { process: 0, state, since: clock, heard: 0 }
            });
            let old = (view.process, view.state);
            if let Some(process) = heard {
                (view.process, view.heard) = (*process, now);
                view.state = match recovers {
                    true => CandidateState::Recovering,
                    false => CandidateState::Alive,
                };
            } else if now > view.heard + SILENT
                && !matches!(view.state, CandidateState::Silent { .. })
            {
                view.state = CandidateState::Silent { since: clock };
            }
            is_changed |= old != (view.process, view.state);
        }
        if is_changed {
            let requests: Vec<u64> = self.doors[id].placing.keys().copied().collect();
            for request in requests {
                self.tell_candidates(id, request);
            }
        }
    }

    fn tell_candidates(&mut self, id: usize, request: u64) {
        let Some(placing) = self.doors[id].placing.get(&request) else { return };
        let candidates = self.candidates(id, placing.batch);
        self.step_request(id, request, placement::Event::Candidates(candidates));
    }

    fn candidates(&self, id: usize, batch: BatchNumber) -> Vec<Candidate<LeafId>> {
        let door = &self.doors[id];
        let now = self.clock(Node::Door(id));
        let is_large = self.leaves.len() > 100;
        let may_be_retry = self.clients[batch as usize].has_own_id;
        let state = |view: &View| match may_be_retry {
            true => {
                let times = (view.since, door.begun, door.heard);
                placement::state_for_retries(view.state, times, now)
            }
            false => view.state,
        };
        let order = self.orders[batch as usize].iter();
        let views: Vec<(LeafId, &View)> =
            order.filter_map(|leaf| Some((*leaf, door.views[*leaf].as_ref()?))).collect();
        let joined =
            |(leaf, _): &(LeafId, &View)| Some(Duration::from_micros(self.leaves[*leaf].joined));
        let joined: Vec<Option<Duration>> = views.iter().map(joined).collect();
        let now = Duration::from_micros(self.now);
        let history = |index| match is_large {
            true => History::Other,
            false => placement::history(index, &joined, now),
        };
        let candidate = |(index, (leaf, view)): (usize, &(LeafId, &View))| Candidate {
            leaf: *leaf,
            process: view.process,
            state: state(view),
            free_bytes: Some(u64::MAX),
            load: [0, door.load[*leaf], 0],
            history: history(index),
        };
        views.iter().enumerate().map(candidate).collect()
    }

    pub(crate) fn door_asked(&mut self, id: usize, call: u64, from: Node, request: &Request) {
        let Request::Post { batch, first_try } = *request else { return };
        let first_try = first_try || self.options.planted == Planted::NewLeafEachTry;
        let clock = self.clock(Node::Door(id));
        let machine = BatchPlacement::new(PlacementRules::CLUSTER, clock, first_try, 1);
        let door = &mut self.doors[id];
        door.requests += 1;
        let number = door.requests;
        let placing = Placing {
            call,
            client: from,
            batch,
            machine,
            wake: 0,
            steps: 0,
            is_acknowledged: false,
        };
        door.placing.insert(number, placing);
        self.tell_candidates(id, number);
    }

    pub(crate) fn request_woken(&mut self, id: usize, request: u64, number: u64) {
        if self.doors[id].placing.get(&request).is_some_and(|placing| placing.wake == number) {
            self.step_request(id, request, placement::Event::Time);
        }
    }

    pub(crate) fn door_answered(&mut self, id: usize, purpose: Purpose, answer: Option<Answer>) {
        let (request, event) = match (purpose, answer) {
            (Purpose::Query { leaf }, Some(Answer::Rows(Some(rows)))) => {
                self.doors[id].rows.push((leaf, rows));
                return;
            }
            (Purpose::LookUp { request, leaf, process, refuse }, answer) => {
                let event = match answer {
                    Some(Answer::LookedUp(lookup, _)) => {
                        debug_assert!(lookup.is_known || lookup.refuses || !refuse);
                        placement::Event::LookedUp { leaf, process, lookup }
                    }
                    _ => placement::Event::NotLookedUp { leaf },
                };
                (request, event)
            }
            (Purpose::Accept { request, leaf }, answer) => {
                let outcome = match answer {
                    Some(Answer::Accepted(outcome)) => outcome,
                    _ => placement::SendOutcome::Unknown,
                };
                if let Some(placing) = self.doors[id].placing.get_mut(&request) {
                    placing.is_acknowledged = outcome == placement::SendOutcome::Accepted;
                    self.doors[id].load[leaf] += 1;
                }
                (request, placement::Event::Sent { leaf, outcome })
            }
            (Purpose::Record { request, leaf }, answer) => {
                let event = match answer {
                    Some(Answer::Recorded(instead)) => placement::Event::Revoked { leaf, instead },
                    _ => placement::Event::NotRevoked { leaf },
                };
                (request, event)
            }
            _ => return,
        };
        self.step_request(id, request, event);
    }

    fn step_request(&mut self, id: usize, request: u64, event: placement::Event<LeafId>) {
        let node = Node::Door(id);
        let clock = self.clock(node);
        let Some(placing) = self.doors[id].placing.get_mut(&request) else { return };
        let batch = placing.batch;
        placing.steps += 1;
        if placing.steps == STEPS_MAX {
            self.violations
                .push(format!("placing batch {batch} at door {id} takes too many steps"));
            return;
        }
        let mut effects = Vec::new();
        let happened = match &event {
            placement::Event::Candidates(candidates) => {
                let state =
                    |c: &Candidate<LeafId>| format!("{}:{} {:?}", c.leaf, c.process, c.state);
                format!("Candidates {:?}", candidates.iter().map(state).collect::<Vec<_>>())
            }
            event => format!("{event:?}"),
        };
        placing.machine.step(clock, event, &mut effects);
        self.say(batch, || format!("door {id} request {request}: {happened} -> {effects:?}"));
        for effect in effects {
            match effect {
                Effect::LookUp { leaf, refuse } => {
                    let process = self.doors[id].views[leaf].as_ref().map_or(0, |v| v.process);
                    let purpose = Purpose::LookUp { request, leaf, process, refuse };
                    let call = (Request::LookUp { batch, refuse }, purpose);
                    self.call(node, Node::Leaf(leaf), Some(process), call, LOOK_UP);
                }
                Effect::Send { leaf, process, moves } => {
                    let call =
                        (Request::Accept { batch, moves }, Purpose::Accept { request, leaf });
                    self.call(node, Node::Leaf(leaf), Some(process), call, ACCEPT);
                }
                Effect::Revoke { leaf, instead } => {
                    let record = Request::Record { leaf, batch, instead };
                    let call = (record, Purpose::Record { request, leaf });
                    self.call(node, Node::Store, None, call, RECORD);
                }
                Effect::NoteHeld { leaf } => {
                    let call = (Request::NoteHeld { batch, leaf }, Purpose::NoteHeld);
                    self.call(node, Node::Store, None, call, RECORD);
                }
                Effect::WaitUntil(time) => self.wake_request(id, request, time),
                Effect::Answer(answer) => self.finish(id, request, &answer),
            }
        }
    }

    fn wake_request(&mut self, id: usize, request: u64, time: Duration) {
        let Some(placing) = self.doors[id].placing.get_mut(&request) else { return };
        placing.wake += 1;
        let number = placing.wake;
        self.wake_at(Node::Door(id), time, Wake::Request { request, number });
    }

    fn finish(&mut self, id: usize, request: u64, answer: &placement::Answer<LeafId>) {
        let Some(placing) = self.doors[id].placing.remove(&request) else { return };
        let is_acknowledged = *answer == placement::Answer::OfLeaf && placing.is_acknowledged;
        let Placing { call, client, .. } = placing;
        self.answer(call, Node::Door(id), client, Answer::Posted(is_acknowledged));
    }

    /// Asks all leaves that answer queries for their rows.
    pub(crate) fn ask_leaves(&mut self, id: usize) {
        let node = Node::Door(id);
        self.doors[id].rows.clear();
        for leaf in 0..self.leaves.len() {
            let is_known = |view: &View| !matches!(view.state, CandidateState::Silent { .. });
            if self.doors[id].views[leaf].as_ref().is_some_and(is_known) {
                let call = (Request::Query, Purpose::Query { leaf });
                self.call(node, Node::Leaf(leaf), None, call, QUERY);
            }
        }
        self.wake_after(node, QUERY, Wake::FinishQuery);
    }

    pub(crate) fn finish_query(&mut self, id: usize) {
        let mut rows = std::mem::take(&mut self.doors[id].rows);
        let mut answered = BTreeSet::new();
        // A duplicated answer of a leaf.
        rows.retain(|(leaf, _)| answered.insert(*leaf));
        self.check_answer(&rows);
        self.wake_after(Node::Door(id), QUERY_EVERY, Wake::Query);
    }
}
