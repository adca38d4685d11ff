//! A door places batches by the state machine of `tree`.

use std::time::Duration;

use hadal_tree::batch_placement::{
    self as placement, BatchPlacement, Candidate, Effect, History, PlacementRules,
};
use hadal_types::limits::BATCH_MOVED_SECONDS;

use crate::door::View;
use crate::messages::{Answer, BatchNumber, LeafId, Node, Purpose, Request, Wake};
use crate::options::Planted;
use crate::queue::{SECOND, Time};
use crate::world::World;

const LOOK_UP: Time = SECOND;
const ACCEPT: Time = 5 * SECOND;
const RECORD: Time = 2 * SECOND;
pub(crate) const MOVED: Time = BATCH_MOVED_SECONDS.unsigned_abs() * SECOND;

/// Events of one request.
const STEPS_MAX: u32 = 2_000;

/// A batch that a door places.
#[derive(Debug)]
pub(crate) struct Placing {
    call: u64,
    client: Node,
    batch: BatchNumber,
    machine: BatchPlacement<LeafId>,
    wake: u64,
    steps: u32,
    /// What the last leaf answered.
    is_acknowledged: bool,
}

impl World {
    pub(crate) fn tell_candidates(&mut self, id: usize, request: u64) {
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
        if let Request::Pull { epoch, version } = *request {
            return self.pull_asked(id, call, from, (epoch, version));
        }
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
            (Purpose::Query { leaf }, Some(Answer::Rows(Some((rows, as_of))))) => {
                self.doors[id].rows.push((leaf, rows));
                self.doors[id].as_of.entry(leaf).or_insert(as_of);
                return;
            }
            (Purpose::Pull(pull), answer) => return self.pulled(id, &pull, answer),
            (Purpose::Restart { leaf }, answer) => {
                return self.restart_answered(id, leaf, answer.is_some());
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
                    Some(Answer::Accepted(outcome, receipt)) => {
                        receipt.into_iter().for_each(|receipt| self.received(id, leaf, &receipt));
                        outcome
                    }
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
                    Some(Answer::Recorded(instead, made)) => {
                        let is_old = self.now.saturating_sub(made) >= MOVED;
                        placement::Event::Revoked { leaf, instead, is_old }
                    }
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
}
