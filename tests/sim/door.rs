//! A front door: what it knows of the leaves.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use hadal_tree::batch_placement::CandidateState;
use hadal_types::{LeafState, Micros};

use crate::messages::{BatchNumber, LeafId, Node, Wake};
use crate::observing::Observer;
use crate::placing::Placing;
use crate::queue::{SECOND, Time};
use crate::world::World;

/// After this time without a sign, a leaf is silent.
const SILENT: Time = 2 * SECOND;
/// What a door knows of a leaf.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) process: u64,
    pub(crate) state: CandidateState,
    /// When it was first known, by the door's clock.
    pub(crate) since: Duration,
    heard: Time,
    /// What its process announced last.
    pub(crate) announced: LeafState,
    /// The start of the process; `None` if it was never heard of.
    pub(crate) started: Option<Micros>,
}

impl View {
    const fn new(state: CandidateState, clock: Duration) -> Self {
        let announced = LeafState::DiskRecovery;
        Self { process: 0, state, since: clock, heard: 0, announced, started: None }
    }

    pub(crate) const fn is_silent(&self) -> bool {
        matches!(self.state, CandidateState::Silent { .. })
    }
}

pub(crate) struct Door {
    pub(crate) machine: usize,
    pub(crate) is_up: bool,
    pub(crate) life: u64,
    pub(crate) frozen_until: Time,
    pub(crate) begun: Duration,
    pub(crate) heard: Duration,
    pub(crate) views: Vec<Option<View>>,
    pub(crate) placing: BTreeMap<u64, Placing>,
    pub(crate) requests: u64,
    /// Batches placed on each leaf.
    pub(crate) load: Vec<u64>,
    /// When it began the last query.
    pub(crate) asked_at: Time,
    /// The answers to a query.
    pub(crate) rows: Vec<(LeafId, Rc<Vec<BatchNumber>>)>,
    /// The process and the version of each leaf's share in these answers.
    pub(crate) as_of: BTreeMap<LeafId, (u64, u64)>,
    /// Queries that it answered.
    pub(crate) queries: u64,
    /// What it knows of the rows of leaves.
    pub(crate) observer: Observer,
}

impl Door {
    pub(crate) fn new(id: usize, machine: usize, leaves: usize) -> Self {
        Self {
            machine,
            is_up: false,
            life: 0,
            frozen_until: 0,
            asked_at: 0,
            begun: Duration::ZERO,
            heard: Duration::ZERO,
            views: vec![None; leaves],
            placing: BTreeMap::new(),
            requests: 0,
            load: vec![0; leaves],
            rows: Vec::new(),
            as_of: BTreeMap::new(),
            queries: 0,
            observer: Observer::new(id, leaves),
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
        let view = |is_known: &bool| is_known.then(|| View::new(state, clock));
        door.views = self.names[door.machine].iter().map(view).collect();
        (door.is_up, door.life, door.frozen_until) = (true, door.life + 1, 0);
        (door.begun, door.placing) = (clock, BTreeMap::new());
        self.start_observer(id);
        self.wake_after(Node::Door(id), self.options.query_every, Wake::Query);
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
            let announced = self.announced(leaf);
            let started = self.leaves[leaf].share.started;
            let view = self.doors[id].views[leaf].get_or_insert_with(|| {
                is_changed = true;
                View::new(CandidateState::Silent { since: clock }, clock)
            });
            let old = (view.process, view.state);
            if let Some(process) = heard {
                (view.process, view.heard) = (*process, now);
                (view.announced, view.started) = (announced, Some(started));
                view.state = match announced {
                    LeafState::Alive => CandidateState::Alive,
                    LeafState::Prepare => CandidateState::Leaving,
                    _ => CandidateState::Recovering,
                };
            } else if now > view.heard + SILENT && !view.is_silent() {
                view.state = CandidateState::Silent { since: clock };
            }
            is_changed |= old != (view.process, view.state);
            if old.0 < view.process {
                let started = u64::try_from(started.0).unwrap_or_default();
                let rows = &self.doors[id].observer.rows;
                rows.leaf_started(&self.leaf_names[leaf], started);
            }
        }
        if is_changed {
            let requests: Vec<u64> = self.doors[id].placing.keys().copied().collect();
            for request in requests {
                self.tell_candidates(id, request);
            }
        }
    }
}
