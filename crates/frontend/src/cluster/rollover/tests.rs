//! Rollovers of simulated clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hadal_peer::MemberState;
use hadal_types::limits::{ROLLOVER_NEWS_MILLIS, ROLLOVER_START_SECONDS};
use hadal_types::{LeafName, LeafState, MachineName, Micros};
use proptest::prelude::*;

use super::machine::{Rollover, RolloverPhase};
use super::moment::{Moment, ObservedLeaf, QueryCounts};
use super::settings::RolloverSettings;
use crate::cluster::RowCounts;

/// The time between two steps.
const STEP: i64 = Micros::SECOND / 4;
/// The rows of each leaf.
const ROWS: u64 = 1_000;
const STOP_MAX: i64 = 20;

/// What a process does next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Life {
    Alive,
    /// It is stopping or stopped, until then.
    Down(Micros),
    /// It reads its rows, until then.
    Restoring(Micros),
    Lost,
}

#[derive(Clone, Debug)]
struct Leaf {
    started: Micros,
    life: Life,
    /// How long it takes to stop, and then to read its rows; without the first, it never returns.
    times: (Option<i64>, i64),
}

/// A cluster, and the rollover of it.
struct Simulation {
    now: Micros,
    leaves: BTreeMap<LeafName, Leaf>,
    begin: Micros,
    queries: QueryCounts,
    rollover: Rollover,
}

fn settings() -> RolloverSettings {
    let stop_max = Duration::from_secs(STOP_MAX.unsigned_abs());
    RolloverSettings { stop_max, ..RolloverSettings::default() }
}

fn name(machine: usize, leaf: usize) -> LeafName {
    LeafName(format!("m-{machine}/leaf-{leaf}").into())
}

fn machine_of(leaf: &LeafName) -> MachineName {
    MachineName(leaf.0.split('/').next().expect("a machine").into())
}

impl Simulation {
    fn new(
        settings: RolloverSettings,
        machines: usize,
        leaves: usize,
        times: &[(Option<i64>, i64)],
    ) -> Self {
        let begin = Micros(1_000 * Micros::SECOND);
        let started = Micros(begin.0 - 100 * Micros::SECOND);
        let names = (0..machines).flat_map(|m| (0..leaves).map(move |leaf| name(m, leaf)));
        let leaves = names
            .zip(times.iter().cycle())
            .map(|(name, &times)| (name, Leaf { started, life: Life::Alive, times }));
        let leaves: BTreeMap<_, _> = leaves.collect();
        let moment = look(&leaves, begin, QueryCounts::default());
        let rollover = Rollover::new(settings, &moment);
        Self { now: begin, leaves, begin, queries: QueryCounts::default(), rollover }
    }

    /// Lets time pass, and gives the rollover a look. Returns whom it restarts.
    fn step(&mut self) -> Vec<LeafName> {
        self.now.0 += STEP;
        for leaf in self.leaves.values_mut() {
            leaf.life = match leaf.life {
                Life::Down(until) if until <= self.now => {
                    leaf.started = self.now;
                    Life::Restoring(Micros(self.now.0 + leaf.times.1 * Micros::SECOND))
                }
                Life::Restoring(until) if until <= self.now => Life::Alive,
                life => life,
            };
        }
        let asked = self.rollover.step(&look(&self.leaves, self.now, self.queries));
        for name in &asked {
            self.end(name);
        }
        self.check();
        asked
    }

    fn end(&mut self, name: &LeafName) {
        let leaf = self.leaves.get_mut(name).expect("a leaf of the cluster");
        let until = |seconds: i64| Micros(self.now.0 + seconds * Micros::SECOND);
        leaf.life = leaf.times.0.map_or(Life::Lost, |seconds| Life::Down(until(seconds)));
    }

    /// Checks what must hold at every moment.
    fn check(&self) {
        let away: Vec<&LeafName> = self.names(|leaf| leaf.life != Life::Alive);
        let machines: BTreeSet<MachineName> = away.iter().map(|name| machine_of(name)).collect();
        assert_eq!(machines.len(), away.len(), "two leaves of a machine: {away:?}");
        let most = self.rollover.settings.at_once(self.leaves.len());
        assert!(away.len() <= most, "{away:?} of {}", self.leaves.len());
        let coverage = look(&self.leaves, self.now, self.queries).rows().coverage();
        let floor = self.rollover.settings.coverage_floor;
        assert!(away.len() <= 1 || coverage >= floor, "{coverage} without {away:?}");
        assert_eq!(self.rollover.counts().iter().sum::<usize>(), self.leaves.len());
    }

    fn names(&self, is_listed: impl Fn(&Leaf) -> bool) -> Vec<&LeafName> {
        self.leaves.iter().filter(|(_, leaf)| is_listed(leaf)).map(|(name, _)| name).collect()
    }

    /// Steps until the rollover has ended.
    fn run(&mut self) {
        for _ in 0..200_000 {
            self.step();
            if self.rollover.has_ended() {
                return;
            }
        }
        panic!("it does not end: {:?}", self.rollover);
    }

    fn reason(&self) -> &str {
        self.rollover.reason.as_deref().unwrap_or_default()
    }
}

/// The cluster as it is observed.
fn look(leaves: &BTreeMap<LeafName, Leaf>, at: Micros, queries: QueryCounts) -> Moment {
    let observed = leaves.iter().map(|(name, leaf)| {
        let (state, started, present, waiting) = match leaf.life {
            Life::Alive => (LeafState::Alive.into(), Some(leaf.started), ROWS, 0),
            Life::Restoring(_) => {
                let (state, waiting) = (LeafState::DiskRecovery.into(), ROWS - 1);
                (state, Some(leaf.started), 1, waiting)
            }
            Life::Down(_) | Life::Lost => (State(MemberState::Silent), None, 0, 0),
        };
        let State(state) = state;
        let rows = RowCounts { present, expected: ROWS, waiting };
        let (machine, reported) = (machine_of(name), started);
        (name.clone(), ObservedLeaf { machine, state, started, reported, rows })
    });
    Moment { at, leaves: observed.collect(), queries }
}

struct State(MemberState);

impl From<LeafState> for State {
    fn from(state: LeafState) -> Self {
        Self(MemberState::Announced(state))
    }
}

proptest! {
    /// [`Simulation::check`] checks each step.
    #[test]
    fn every_leaf_is_restarted_and_few_at_a_time(
        (machines, leaves) in (1_usize..8, 1_usize..6),
        times in prop::collection::vec((0_i64..STOP_MAX, 0_i64..300), 1..8),
        share in 0.01_f64..1.0,
        coverage_floor in 0.0_f64..1.0,
    ) {
        let settings = RolloverSettings { share, coverage_floor, ..settings() };
        let times: Vec<_> = times.into_iter().map(|(stop, read)| (Some(stop), read)).collect();
        let mut simulation = Simulation::new(settings, machines, leaves, &times);
        simulation.run();
        prop_assert_eq!(simulation.rollover.phase, RolloverPhase::Done);
        let begin = simulation.begin;
        prop_assert_eq!(simulation.names(|leaf| leaf.started <= begin).len(), 0);
        prop_assert_eq!(simulation.rollover.counts(), [0, 0, machines * leaves]);
    }

    /// A rollover that stops and continues restarts each leaf once.
    #[test]
    fn it_goes_on_where_it_was_stopped(
        (machines, leaves) in (1_usize..6, 1_usize..6),
        steps in 1_usize..200,
        share in 0.01_f64..1.0,
    ) {
        let settings = RolloverSettings { share, ..settings() };
        let mut simulation = Simulation::new(settings, machines, leaves, &[(Some(1), 2)]);
        let mut asked = Vec::new();
        for _ in 0..steps {
            asked.extend(simulation.step());
        }
        simulation.rollover.stop("the test says so".to_owned());
        simulation.run();
        let started_before = Some(simulation.begin);
        let moment = look(&simulation.leaves, simulation.now, simulation.queries);
        simulation.rollover =
            Rollover::new(RolloverSettings { started_before, ..settings }, &moment);
        while !simulation.rollover.has_ended() {
            asked.extend(simulation.step());
        }
        prop_assert_eq!(simulation.rollover.phase, RolloverPhase::Done);
        let all: BTreeSet<&LeafName> = asked.iter().collect();
        prop_assert_eq!((all.len(), asked.len()), (machines * leaves, machines * leaves));
    }
}

#[test]
fn a_leaf_that_does_not_come_back_stops_it() {
    let times = [(Some(1), 0), (None, 0), (Some(1), 0)];
    let mut simulation = Simulation::new(settings(), 3, 1, &times);
    simulation.run();
    let limit = STOP_MAX + ROLLOVER_START_SECONDS;
    let reason = format!("m-1/leaf-0 did not start again within {limit} s");
    assert!(simulation.reason().starts_with(&reason), "{}", simulation.reason());
    assert_eq!(simulation.rollover.phase, RolloverPhase::Stopped);
    assert_eq!(simulation.rollover.counts(), [1, 1, 1]);
    assert!(simulation.now.0 - simulation.begin.0 < (limit + 5) * Micros::SECOND);
}

#[test]
fn rows_may_take_long_to_read_and_must_come_back() {
    let mut simulation = Simulation::new(settings(), 2, 1, &[(Some(1), 3_600)]);
    simulation.run();
    assert_eq!(simulation.rollover.phase, RolloverPhase::Done);
    // Alive, but without its rows: the rollover stops.
    let mut rollover = Rollover::new(
        settings(),
        &look(&simulation.leaves, simulation.now, QueryCounts::default()),
    );
    let mut at = simulation.now;
    while !rollover.has_ended() {
        at.0 += STEP;
        let mut moment = look(&simulation.leaves, at, QueryCounts::default());
        if rollover.counts()[1] > 0 {
            let leaf = moment.leaves.get_mut(&name(0, 0)).expect("it was asked first");
            (leaf.started, leaf.rows.present) = (Some(at), 10);
            leaf.reported = leaf.started;
        }
        rollover.step(&moment);
    }
    let reason = rollover.reason.unwrap_or_default();
    assert_eq!(reason, "m-0/leaf-0 was started again, is alive, and lacks 990 of its rows");
}

#[test]
fn the_next_leaf_is_restarted_when_all_servers_know_that_one_is_back() {
    let mut simulation = Simulation::new(settings(), 3, 1, &[(Some(1), 0)]);
    let mut back_since = None;
    while !simulation.rollover.has_ended() {
        let asked = simulation.step();
        if !asked.is_empty() {
            let waited = back_since.map_or(i64::MAX, |since: Micros| simulation.now.0 - since.0);
            assert!(waited >= ROLLOVER_NEWS_MILLIS * 1_000, "{asked:?} after {waited} µs");
            back_since = None;
        } else if simulation.names(|leaf| leaf.life != Life::Alive).is_empty() {
            back_since.get_or_insert(simulation.now);
        }
    }
    assert_eq!(simulation.rollover.phase, RolloverPhase::Done);
}

#[test]
fn a_leaf_that_comes_back_and_ends_again_stops_it() {
    let mut simulation = Simulation::new(settings(), 2, 1, &[(Some(1), 0)]);
    let first = simulation.step().remove(0);
    while simulation.leaves[&first].life != Life::Alive {
        simulation.step();
    }
    simulation.leaves.get_mut(&first).expect("the leaf").life = Life::Lost;
    simulation.run();
    assert_eq!(simulation.rollover.phase, RolloverPhase::Stopped);
    assert!(simulation.reason().contains("did not start again"), "{}", simulation.reason());
}

#[test]
fn a_leaf_is_back_once_its_new_process_has_reported() {
    let mut simulation = Simulation::new(settings(), 1, 1, &[(Some(1), 0)]);
    let leaf = simulation.step();
    let mut moment = look(&simulation.leaves, simulation.now, QueryCounts::default());
    let observed = moment.leaves.get_mut(&leaf[0]).expect("the leaf");
    let before = Micros(simulation.begin.0 - 1);
    (observed.started, observed.reported) = (Some(simulation.now), Some(Micros(0)));
    (observed.state, observed.rows.present) = (MemberState::Announced(LeafState::Alive), ROWS);
    simulation.rollover.step(&moment);
    assert_eq!(simulation.rollover.counts(), [0, 1, 0], "the rows are those of {before:?}");
    moment.leaves.get_mut(&leaf[0]).expect("the leaf").reported = Some(simulation.now);
    simulation.rollover.step(&moment);
    assert_eq!(simulation.rollover.counts(), [0, 1, 0], "other servers do not know it yet");
    moment.at.0 += ROLLOVER_NEWS_MILLIS * 1_000;
    simulation.rollover.step(&moment);
    assert_eq!(simulation.rollover.counts(), [0, 0, 1]);
}

#[test]
fn it_waits_and_then_stops_when_others_are_away() {
    let mut simulation = Simulation::new(settings(), 4, 1, &[(Some(1), 0)]);
    assert_eq!(simulation.step().len(), 1);
    simulation.leaves.get_mut(&name(3, 0)).expect("a leaf").life = Life::Lost;
    let mut asked = 0;
    while !simulation.rollover.has_ended() {
        simulation.now.0 += STEP;
        let moment = look(&simulation.leaves, simulation.now, QueryCounts::default());
        asked += simulation.rollover.step(&moment).len();
    }
    assert_eq!(asked, 0);
    let reason = simulation.reason();
    assert_eq!(
        reason,
        "75 % of the rows would be in answers without restarts, and the floor is 97 %"
    );
    // With a low floor, the other leaf is still missed.
    let settings = RolloverSettings { coverage_floor: 0.0, ..settings() };
    let mut simulation = Simulation::new(settings, 4, 1, &[(Some(1), 0)]);
    simulation.leaves.get_mut(&name(3, 0)).expect("a leaf").life = Life::Lost;
    simulation.run();
    assert!(
        simulation.reason().starts_with("m-3/leaf-0 is silent for "),
        "{}",
        simulation.reason()
    );
    assert_eq!(simulation.rollover.counts(), [4, 0, 0]);
}

#[test]
fn queries_that_fail_stop_it() {
    let mut simulation = Simulation::new(settings(), 9, 1, &[(Some(2), 2)]);
    while !simulation.rollover.has_ended() {
        simulation.queries.all += 20;
        simulation.queries.failed += 1;
        simulation.step();
    }
    assert!(simulation.reason().contains("queries of this server failed"));
}

#[test]
fn a_leaf_that_cannot_be_asked_stops_it() {
    let mut simulation = Simulation::new(settings(), 2, 1, &[(None, 0)]);
    let asked = simulation.step();
    simulation.rollover.refused(&asked[0], "it is of another planet");
    simulation.run();
    assert_eq!(simulation.reason(), "m-0/leaf-0 cannot be restarted: it is of another planet");
    assert_eq!(simulation.rollover.phase, RolloverPhase::Stopped);
}

#[test]
fn a_late_refusal_says_nothing_of_a_rollover_that_is_done() {
    let mut simulation = Simulation::new(settings(), 1, 1, &[(Some(1), 0)]);
    let asked = simulation.step();
    simulation.run();
    simulation.rollover.refused(&asked[0], "the answer was lost");
    assert_eq!(simulation.rollover.reason, None);
}

#[test]
fn leaves_whose_clock_is_ahead_are_restarted_when_it_goes_on() {
    let mut simulation = Simulation::new(settings(), 2, 1, &[(Some(1), 0)]);
    let ahead = Micros(simulation.begin.0 + 30 * Micros::SECOND);
    let leaves = &mut simulation.leaves;
    leaves.get_mut(&name(1, 0)).expect("a leaf").started = ahead;
    let moment = look(leaves, simulation.begin, QueryCounts::default());
    let first = Rollover::new(settings(), &moment);
    let started_before = Some(first.started_before);
    let second = Rollover::new(RolloverSettings { started_before, ..settings() }, &moment);
    assert_eq!((first.counts(), second.counts()), ([2, 0, 0], [2, 0, 0]));
}

#[test]
fn a_leaf_that_was_not_heard_of_at_the_begin_is_restarted_unless_it_is_new() {
    let mut simulation = Simulation::new(settings(), 3, 1, &[(Some(1), 0)]);
    let mut moment = look(&simulation.leaves, simulation.begin, QueryCounts::default());
    moment.leaves.remove(&name(1, 0));
    moment.leaves.remove(&name(2, 0));
    simulation.rollover = Rollover::new(settings(), &moment);
    let joined = Micros(simulation.begin.0 + 1);
    simulation.leaves.get_mut(&name(2, 0)).expect("a leaf").started = joined;
    simulation.step();
    assert_eq!(simulation.rollover.counts(), [1, 1, 1]);
}
