//! The state machine of a rollover (Fast Database Restarts at Facebook, section 4.3): from what is
//! observed of the cluster at one moment to the leaves to restart next. It knows no clock and sends
//! nothing.
//!
//! ```text
//! old ── asked to restart, or ended by itself ──> rolling ── alive, with its rows ──> new
//!                                                   └── not in time: failed, the rollover stops
//! ```
//!
//! The next leaf is asked only if fewer leaves than the share are away for any reason, none of its
//! machine is, and coverage stays at the floor, unless no other leaf is away.

use std::collections::{BTreeMap, BTreeSet};

use hadal_types::limits::ROLLOVER_START_SECONDS;
use hadal_types::{LeafName, MachineName, Micros};

use super::history::{History, RolloverMoment};
use super::leaf::{Leaf, Stage};
use super::moment::{Moment, ObservedLeaf};
use super::query_errors::QueryErrors;
use super::settings::RolloverSettings;

/// How long the coverage of the other leaves may be below the floor. Meanwhile no leaf is asked.
const BELOW_FLOOR: i64 = 5 * Micros::SECOND;

/// How far a rollover is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolloverPhase {
    /// It restarts leaves.
    Running,
    /// It restarts no more leaves, and waits for those that are restarting.
    Stopping,
    /// It ended before all leaves were restarted.
    Stopped,
    /// All leaves have been restarted.
    Done,
}

/// A rollover, as a state machine that a driver or a simulation steps.
#[derive(Clone, Debug)]
pub struct Rollover {
    pub(crate) settings: RolloverSettings,
    pub(crate) begun: Micros,
    /// Processes that started before this time are restarted, by their machines' clocks: those of
    /// the begin, and those of leaves that were not members then.
    pub(crate) started_before: Micros,
    /// The last moment that was observed.
    pub(crate) at: Micros,
    pub(crate) phase: RolloverPhase,
    /// Why it stops or has stopped, in a sentence.
    pub(crate) reason: Option<String>,
    pub(crate) leaves: BTreeMap<LeafName, Leaf>,
    pub(crate) history: History,
    /// The share of rows in answers at the last moment.
    pub(crate) coverage: f64,
    below_floor_since: Option<Micros>,
    errors: QueryErrors,
}

impl Rollover {
    /// Begins a rollover of the leaves that are members.
    #[must_use]
    pub fn new(settings: RolloverSettings, moment: &Moment) -> Self {
        let started_before = settings.started_before.unwrap_or_else(|| {
            // The clock of a machine may be ahead.
            let starts = moment.leaves.values().filter_map(|leaf| leaf.started);
            starts.fold(moment.at, |at, started| at.max(Micros(started.0.saturating_add(1))))
        });
        let leaves = moment.leaves.iter().filter_map(|(name, observed)| {
            let started = observed.started?;
            Some((name.clone(), Leaf::new(observed.machine.clone(), started, started_before)))
        });
        Self {
            settings,
            begun: moment.at,
            started_before,
            at: moment.at,
            phase: RolloverPhase::Running,
            reason: None,
            leaves: leaves.collect(),
            history: History::default(),
            coverage: moment.rows().coverage(),
            below_floor_since: None,
            errors: QueryErrors::new(moment.at, moment.queries),
        }
    }

    /// Takes what is observed at a moment; returns the leaves to restart now.
    pub fn step(&mut self, moment: &Moment) -> Vec<LeafName> {
        if self.has_ended() {
            return Vec::new();
        }
        self.at = self.at.max(moment.at);
        self.follow(moment);
        if let Some(reason) = self.failure(moment) {
            self.stop(reason);
        }
        let next = match self.phase {
            RolloverPhase::Running if self.below_floor_since.is_none() => self.choose(moment),
            _ => Vec::new(),
        };
        for name in &next {
            if let Some(leaf) = self.leaves.get_mut(name) {
                leaf.stage = Stage::Rolling { since: moment.at };
            }
        }
        self.end_if_finished();
        let [old, rolling, new] = self.counts();
        let coverage = moment.rows().coverage();
        self.coverage = coverage;
        self.history.add(RolloverMoment { at: moment.at, old, rolling, new, coverage });
        next
    }

    /// Restarts no more leaves, and ends when those that are restarting are back.
    pub(crate) fn stop(&mut self, reason: String) {
        if self.has_ended() {
            return;
        }
        if self.phase == RolloverPhase::Running {
            self.phase = RolloverPhase::Stopping;
        }
        // The first reason is the one that matters.
        self.reason.get_or_insert(reason);
    }

    /// Notes that a leaf could not be asked to restart, and why. The rollover stops.
    pub fn refused(&mut self, name: &LeafName, why: &str) {
        if let Some(leaf) = self.leaves.get_mut(name) {
            leaf.has_failed = true;
        }
        self.stop(format!("{name} cannot be restarted: {why}"));
    }

    /// Whether it restarts no more leaves, and waits for none.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        matches!(self.phase, RolloverPhase::Stopped | RolloverPhase::Done)
    }

    /// Numbers of leaves that are old, rolling and new.
    pub(crate) fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for leaf in self.leaves.values() {
            let index = match leaf.stage {
                Stage::Old => 0,
                Stage::Rolling { .. } => 1,
                Stage::New => 2,
            };
            counts[index] += 1;
        }
        counts
    }

    /// Brings each leaf in step with what is observed of it.
    fn follow(&mut self, moment: &Moment) {
        for (name, observed) in &moment.leaves {
            let Some(started) = observed.started else { continue };
            let before = self.started_before;
            let leaf = self.leaves.entry(name.clone());
            leaf.or_insert_with(|| Leaf::new(observed.machine.clone(), started, before));
        }
        for (name, leaf) in &mut self.leaves {
            leaf.follow(moment.leaves.get(name), moment.at, self.settings.stop_max);
        }
    }

    /// Why the rollover must stop, if it must.
    fn failure(&mut self, moment: &Moment) -> Option<String> {
        let mut failure = None;
        for (name, leaf) in &mut self.leaves {
            if !leaf.has_failed && leaf.is_late(moment.at) {
                leaf.has_failed = true;
                let limit =
                    self.settings.stop_max.as_secs() + ROLLOVER_START_SECONDS.unsigned_abs();
                failure = failure.or(Some(leaf.lateness(name, moment.leaves.get(name), limit)));
            }
        }
        let below = self.below_floor(moment);
        let errors = self.errors.rise(moment.at, moment.queries).map(|lately| {
            format!("{} of the last {} queries of this server failed", lately.failed, lately.all)
        });
        failure.or(below).or(errors)
    }

    /// Follows the coverage of the leaves that are not restarting. Returns a sentence once it has
    /// been below the floor for too long.
    fn below_floor(&mut self, moment: &Moment) -> Option<String> {
        let rolling: u64 = self.rolling(moment).map(|observed| observed.rows.missing()).sum();
        let mut rows = moment.rows();
        rows.present = rows.present.saturating_add(rolling);
        if rows.coverage() >= self.settings.coverage_floor {
            self.below_floor_since = None;
            return None;
        }
        let since = *self.below_floor_since.get_or_insert(moment.at);
        (moment.at.0.saturating_sub(since.0) >= BELOW_FLOOR).then(|| {
            let [coverage, floor] = [rows.coverage(), self.settings.coverage_floor].map(percent);
            format!("{coverage} of the rows would be in answers without restarts, and the floor is {floor}")
        })
    }

    /// The leaves that are restarting, as far as they are observed.
    fn rolling<'m>(&self, moment: &'m Moment) -> impl Iterator<Item = &'m ObservedLeaf> {
        let rolling = self.leaves.iter().filter(|(_, leaf)| leaf.is_rolling());
        rolling.filter_map(|(name, _)| moment.leaves.get(name))
    }

    /// The leaves to restart now.
    fn choose(&self, moment: &Moment) -> Vec<LeafName> {
        let at_once = self.settings.at_once(self.leaves.len());
        let away = || self.leaves.values().filter(|leaf| leaf.is_away());
        let mut busy: BTreeSet<&MachineName> = away().map(|leaf| &leaf.machine).collect();
        let mut free = at_once.saturating_sub(away().count());
        let mut others = away().count();
        let mut rows = moment.rows();
        let rolling: u64 = self.rolling(moment).map(|observed| observed.rows.present).sum();
        rows.present = rows.present.saturating_sub(rolling);
        let mut chosen = Vec::new();
        for (name, leaf) in self.by_machine() {
            let Some(observed) = moment.leaves.get(name) else { continue };
            let mut without = rows;
            without.present = without.present.saturating_sub(observed.rows.present);
            let is_covered = without.coverage() >= self.settings.coverage_floor || others == 0;
            if free > 0 && is_covered && !busy.contains(&leaf.machine) {
                busy.insert(&leaf.machine);
                (free, others, rows) = (free - 1, others + 1, without);
                chosen.push(name.clone());
            }
        }
        chosen
    }

    /// Old leaves: first of the machine with the most of them, so that no machine is left over.
    fn by_machine(&self) -> Vec<(&LeafName, &Leaf)> {
        let is_old = |leaf: &Leaf| leaf.stage == Stage::Old && !leaf.has_failed;
        let old = || self.leaves.iter().filter(|(_, leaf)| is_old(leaf));
        let mut counts: BTreeMap<&MachineName, usize> = BTreeMap::new();
        for (_, leaf) in old() {
            *counts.entry(&leaf.machine).or_default() += 1;
        }
        let mut leaves: Vec<(&LeafName, &Leaf)> = old().collect();
        leaves.sort_by_key(|(_, leaf)| std::cmp::Reverse(counts.get(&leaf.machine).copied()));
        leaves
    }

    fn end_if_finished(&mut self) {
        if self.leaves.values().any(|leaf| leaf.is_rolling() && !leaf.has_failed) {
            return;
        }
        let [old, rolling, _] = self.counts();
        if old + rolling == 0 {
            (self.phase, self.reason) = (RolloverPhase::Done, None);
        } else if self.phase == RolloverPhase::Stopping {
            self.phase = RolloverPhase::Stopped;
        }
    }
}

/// A share in percent, never rounded up to another whole number.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1_000.0).floor() / 10.0)
}
