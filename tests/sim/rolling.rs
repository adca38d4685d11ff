//! A rollover, driven by one of the doors.

use std::collections::BTreeMap;
use std::time::Duration;

use hadal_frontend::{
    Moment, ObservedLeaf, QueryCounts, Rollover, RolloverPhase, RolloverReport, RolloverSettings,
    RowCounts,
};
use hadal_peer::MemberState;
use hadal_types::limits::ROLLOVER_START_SECONDS;
use hadal_types::{LeafState, Micros};

use crate::messages::{Event, LeafId, Node, Purpose, Request};
use crate::options::Planted;
use crate::queue::{MILLIS, SECOND, Time};
use crate::share::table;
use crate::world::World;

/// How often the rollover looks at the cluster.
const LOOK: Time = 250 * MILLIS;
/// How long a machine may take to say that it restarts its leaf.
const RESTART: Time = 5 * SECOND;
/// After this time, a rollover that stopped is continued.
const AGAIN: Time = 10 * SECOND;
/// After the faults, a rollover that runs makes a step within this time.
const STEP: Time = 60 * SECOND;
/// After this time, a door has heard that a process started.
const NOTICED: Time = 5 * SECOND;
const STOP_MAX: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct Rolling {
    rollover: Option<Rollover>,
    /// The door that drives it, and the life of that door.
    driver: (usize, u64),
    /// Leaves that it asked to restart and that are not back yet: the process that the door knew.
    /// It may have ended by itself just before.
    asked: BTreeMap<LeafId, u64>,
    /// The starts of the leaves that were heard of when the first rollover began.
    old: BTreeMap<LeafId, Micros>,
    /// When it began, if it is continued.
    resume: Option<Micros>,
    next: Time,
    counts: (usize, usize, usize),
    progress: Time,
    pub(crate) is_done: bool,
    pub(crate) restarts: u64,
    pub(crate) stops: u64,
}

impl Rolling {
    pub(crate) fn has_asked(&self, leaf: LeafId) -> bool {
        self.asked.contains_key(&leaf)
    }
}

impl World {
    /// Gives the rollover a look at the cluster.
    pub(crate) fn look(&mut self) {
        self.queue.push(self.now + LOOK, Event::Look);
        if self.rolling.is_done {
            return;
        }
        let (door, life) = self.rolling.driver;
        if self.rolling.rollover.is_some() && self.life(Node::Door(door)) != Some(life) {
            // It ended with its process.
            let report = self.rolling.rollover.take().map(|old| RolloverReport::of(&old));
            self.rolling.resume = report.map(|report| report.resume_from);
            self.rolling.next = self.now + AGAIN;
        }
        if self.rolling.rollover.is_none() {
            return self.begin_rollover();
        }
        if self.doors[door].frozen_until > self.now {
            return;
        }
        let moment = self.moment(door);
        self.note_back();
        let Some(rollover) = &mut self.rolling.rollover else { return };
        let next = rollover.step(&moment);
        let report = RolloverReport::of(rollover);
        let counts = (report.old, report.rolling.len(), report.new);
        if counts != self.rolling.counts {
            (self.rolling.counts, self.rolling.progress) = (counts, self.now);
        }
        for name in next {
            if let Some(leaf) = self.leaf_names.iter().position(|other| *other == name) {
                self.restart(door, leaf);
            }
        }
        self.end_rollover(&report);
    }

    fn begin_rollover(&mut self) {
        let up = |door: &usize| self.doors[*door].is_up && self.doors[*door].frozen_until == 0;
        let Some(door) = (0..self.doors.len()).find(up) else { return };
        if self.now < self.rolling.next {
            return;
        }
        let moment = self.moment(door);
        let is_back = |leaf: &ObservedLeaf| {
            let MemberState::Announced(state) = leaf.state else { return false };
            state != LeafState::Prepare
        };
        let members = moment.leaves.values().filter(|leaf| leaf.started.is_some());
        let Some(options) = &self.options.rollover else { return };
        if !members.clone().all(is_back) || members.count() == 0 {
            return;
        }
        let settings = RolloverSettings {
            share: options.share,
            coverage_floor: options.floor,
            stop_max: STOP_MAX,
            started_before: self.rolling.resume,
        };
        if self.rolling.resume.is_none() {
            let up = |leaf: &crate::leaf::Leaf| leaf.is_up && leaf.started + NOTICED <= self.now;
            let up = self.leaves.iter().enumerate().filter(|(_, leaf)| up(leaf));
            self.rolling.old = up.map(|(id, leaf)| (id, leaf.share.started)).collect();
        }
        // One that it has not heard of cannot be restarted, and is no reason to wait.
        let views = &self.doors[door].views;
        let is_member = |leaf: &LeafId| views[*leaf].as_ref().is_some_and(|v| v.started.is_some());
        self.rolling.old.retain(|leaf, _| is_member(leaf));
        self.rolling.rollover = Some(Rollover::new(settings, &moment));
        self.rolling.driver = (door, self.doors[door].life);
        self.rolling.progress = self.now;
        self.rolling.asked.clear();
    }

    /// The cluster as a door knows it.
    fn moment(&self, door: usize) -> Moment {
        self.set_clock(door);
        let mut leaves = BTreeMap::new();
        for (id, name) in self.leaf_names.iter().enumerate() {
            let rows = &self.doors[door].observer.rows;
            let Some(view) = &self.doors[door].views[id] else { continue };
            let state = match view.is_silent() {
                true => MemberState::Silent,
                false => MemberState::Announced(view.announced),
            };
            let report = self.doors[door].observer.reports[id].as_deref();
            let report = report.filter(|_| state.answers());
            let status = report.and_then(|report| report.status.as_deref());
            let rows = match status {
                None => {
                    let expected = rows.expected(name, &table());
                    RowCounts { present: 0, expected, waiting: 0 }
                }
                Some(status) => {
                    let (present, waiting) = (status.schema.rows, status.waiting_rows);
                    let expected = rows.with_status(name, &table(), present + waiting);
                    RowCounts { present, expected, waiting }
                }
            };
            // A leaf without rows has no share that it could report.
            let reported = report.filter(|_| rows.expected > 0).map(|report| report.started);
            let reported = reported.map(|at| Micros(i64::try_from(at).unwrap_or(i64::MAX)));
            let machine = match self.options.planted {
                Planted::MachineUnknown => hadal_types::MachineName(name.0.clone()),
                _ => self.machine_names[self.leaves[id].machine].clone(),
            };
            let observed = ObservedLeaf { machine, state, started: view.started, reported, rows };
            leaves.insert(name.clone(), observed);
        }
        let queries = QueryCounts { all: self.doors[door].queries, failed: 0 };
        Moment { at: self.wall(self.doors[door].machine), leaves, queries }
    }

    /// Forgets leaves that are back.
    fn note_back(&mut self) {
        let mut asked = std::mem::take(&mut self.rolling.asked);
        asked.retain(|leaf, process| {
            let is_later = self.leaves[*leaf].process > *process;
            !(is_later && self.leaves[*leaf].is_up && self.leaf_serves(*leaf))
        });
        self.rolling.asked = asked;
    }

    /// Asks a leaf to restart; no other one of its machine is away for the rollover.
    fn restart(&mut self, door: usize, leaf: LeafId) {
        let machine = self.leaves[leaf].machine;
        let asked = self.rolling.asked.keys();
        let others: Vec<LeafId> =
            asked.copied().filter(|other| self.leaves[*other].machine == machine).collect();
        if !others.is_empty() {
            let text = format!("the rollover restarts leaf {leaf} of machine {machine}");
            self.violations.push(format!("{text}, and {others:?} are away, at {}", self.now));
        }
        self.rolling.restarts += 1;
        let process = self.doors[door].views[leaf].as_ref().map_or(0, |view| view.process);
        self.rolling.asked.insert(leaf, process);
        let call = (Request::Restart, Purpose::Restart { leaf });
        self.call(Node::Door(door), Node::Leaf(leaf), None, call, RESTART);
    }

    pub(crate) fn restart_answered(&mut self, door: usize, leaf: LeafId, is_asked: bool) {
        let driver = (door, self.doors[door].life);
        if is_asked || driver != self.rolling.driver {
            return;
        }
        if let Some(rollover) = &mut self.rolling.rollover {
            self.disturbed = self.now;
            rollover.refused(&self.leaf_names[leaf], "it does not answer");
        }
    }

    fn end_rollover(&mut self, report: &RolloverReport) {
        let reason = report.reason.clone().unwrap_or_default();
        match report.phase {
            RolloverPhase::Running | RolloverPhase::Stopping => {}
            RolloverPhase::Done => {
                self.rolling.is_done = true;
                for (id, started) in self.rolling.old.clone() {
                    let leaf = &self.leaves[id];
                    if leaf.is_up && leaf.share.started <= started {
                        self.violations.push(format!("done, and leaf {id} was not restarted"));
                    }
                }
            }
            RolloverPhase::Stopped => {
                self.rolling.rollover = None;
                self.rolling.stops += 1;
                self.rolling.resume = Some(report.resume_from);
                self.rolling.next = self.now + AGAIN;
                let late = STOP_MAX.as_secs() + ROLLOVER_START_SECONDS.unsigned_abs() + 15;
                let untold = self.leaves.iter().any(|leaf| leaf.share.untold > 0);
                if reason.is_empty() || self.now > self.disturbed + late * SECOND && !untold {
                    let text = format!("the rollover stops at {}, and nothing failed", self.now);
                    self.violations.push(format!("{text} since {}: {reason}", self.disturbed));
                }
            }
        }
    }

    /// Long after the faults, a rollover has ended, continues, or waits for a dead leaf.
    pub(crate) fn check_rollover(&mut self) {
        let is_away = self.leaves.iter().any(|leaf| leaf.process > 0 && !leaf.is_up);
        let runs = self.rolling.rollover.as_ref().is_some_and(|rollover| !rollover.has_ended());
        if runs && !is_away && self.now > self.rolling.progress + STEP {
            let progress = self.rolling.progress;
            self.violations.push(format!(
                "the rollover has made no step since {progress}: {:?}",
                self.rolling
            ));
        }
    }
}
