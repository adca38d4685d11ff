//! One leaf of a rollover.

use std::time::Duration;

use hadal_types::limits::{ROLLOVER_NEWS_MILLIS, ROLLOVER_START_SECONDS};
use hadal_types::{LeafName, MachineName, Micros};

use super::moment::ObservedLeaf;

/// A leaf has its rows again when it has this share of those that are expected of it: rows that
/// arrive meanwhile may not be reported yet.
const WHOLE: f64 = 0.995;
/// How long a leaf's next process may take to be observed.
const START: i64 = ROLLOVER_START_SECONDS * Micros::SECOND;
/// How long a leaf must be back before it counts as back.
const NEWS: i64 = ROLLOVER_NEWS_MILLIS * Micros::SECOND / 1_000;

/// How far a leaf is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its process is the one of the begin.
    Old,
    /// It is restarting, with its rows not back yet.
    Rolling {
        /// When it was asked, or when its process was observed to be another one.
        since: Micros,
    },
    /// Its process was started after the begin, and it has had its rows for [`NEWS`].
    New,
}

/// One leaf of a rollover.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) machine: MachineName,
    pub(crate) stage: Stage,
    /// Whether it did not come back in time, or could not be asked.
    pub(crate) has_failed: bool,
    /// The start of the process of the begin.
    first_started: Micros,
    /// When it must be back, or be observed to come back; set while it is away.
    deadline: Option<Micros>,
    /// Since when another process is alive with its rows.
    back_since: Option<Micros>,
}

impl Leaf {
    /// A leaf whose process was started at `first_started`, old if that is before `started_before`.
    pub(crate) fn new(machine: MachineName, first_started: Micros, started_before: Micros) -> Self {
        let stage = if first_started < started_before { Stage::Old } else { Stage::New };
        Self { machine, stage, has_failed: false, first_started, deadline: None, back_since: None }
    }

    /// Takes what is observed of the leaf: nothing if it is no member, and should hold no rows.
    pub(crate) fn follow(
        &mut self,
        observed: Option<&ObservedLeaf>,
        at: Micros,
        stop_max: Duration,
    ) {
        let another = observed
            .filter(|leaf| leaf.started.is_some_and(|started| started > self.first_started));
        let is_back = another.is_some_and(|leaf| self.is_back(leaf));
        self.back_since = is_back.then_some(self.back_since.unwrap_or(at));
        if self.back_since.is_some_and(|since| at.0.saturating_sub(since.0) >= NEWS) {
            (self.stage, self.has_failed) = (Stage::New, false);
        } else if another.is_some() && self.stage == Stage::Old {
            self.stage = Stage::Rolling { since: at };
        }
        if !self.is_rolling() && observed.is_some_and(ObservedLeaf::is_alive) {
            self.deadline = None;
            return;
        }
        let stop_max = i64::try_from(stop_max.as_micros()).unwrap_or(i64::MAX);
        let since = match self.stage {
            Stage::Rolling { since } => since,
            Stage::Old | Stage::New => at,
        };
        let first = Micros(since.0.saturating_add(stop_max).saturating_add(START));
        let mut deadline = self.deadline.unwrap_or(first);
        let is_restoring = observed.is_some_and(|observed| self.is_restoring(observed));
        if is_restoring || is_back {
            // However long it takes to read the rows.
            deadline = deadline.max(Micros(at.0.saturating_add(START)));
        }
        self.deadline = Some(deadline);
    }

    /// Whether it is another process, alive, with the rows that are expected of it.
    fn is_back(&self, observed: &ObservedLeaf) -> bool {
        // Until the new process has reported every table, the rows are those of the one before.
        let has_reported = observed.reported.is_none_or(|reported| reported > self.first_started);
        let is_whole = !observed.is_restoring() && observed.rows.coverage() >= WHOLE;
        observed.is_alive() && has_reported && is_whole
    }

    /// Whether it is another process, and is restoring its rows.
    fn is_restoring(&self, observed: &ObservedLeaf) -> bool {
        observed.started.is_some_and(|started| started > self.first_started)
            && observed.is_restoring()
    }

    /// Whether it is restarting, or was not alive when it was observed last.
    pub(crate) const fn is_away(&self) -> bool {
        self.deadline.is_some() || self.is_rolling()
    }

    pub(crate) const fn is_rolling(&self) -> bool {
        matches!(self.stage, Stage::Rolling { .. })
    }

    /// Whether it is away for too long.
    pub(crate) fn is_late(&self, at: Micros) -> bool {
        self.deadline.is_some_and(|deadline| at > deadline)
    }

    /// What is wrong with a leaf that is late, in a sentence; `limit` in seconds.
    pub(crate) fn lateness(
        &self,
        name: &LeafName,
        observed: Option<&ObservedLeaf>,
        limit: u64,
    ) -> String {
        let state = observed.map_or("no member", |observed| observed.state.name());
        let is_another = observed
            .and_then(|observed| observed.started)
            .is_some_and(|started| started > self.first_started);
        match (self.stage, observed) {
            (Stage::Rolling { .. }, Some(observed)) if is_another => {
                let missing = observed.rows.missing();
                format!("{name} was started again, is {state}, and lacks {missing} of its rows")
            }
            (Stage::Rolling { .. }, _) => format!(
                "{name} did not start again within {limit} s; the log of its machine says why"
            ),
            (Stage::Old | Stage::New, _) => format!("{name} is {state} for {limit} s"),
        }
    }
}
