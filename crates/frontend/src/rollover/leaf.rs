//! One leaf of a rollover.

use std::time::Duration;

use hadal_types::limits::ROLLOVER_START_SECONDS;
use hadal_types::{LeafName, MachineName, Micros};

use super::moment::SeenLeaf;

/// A leaf has its rows again when it has this share of those that are expected of it: rows that
/// arrive meanwhile may not be reported yet.
const WHOLE: f64 = 0.995;
/// How long a leaf's next process may take to be seen.
const START: i64 = ROLLOVER_START_SECONDS * Micros::SECOND;

/// How far a leaf is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its process is the one of the begin.
    Old,
    /// It is restarting, with its rows not back yet.
    Rolling {
        /// When it was asked, or when its process was seen to be another one.
        since: Micros,
    },
    /// Its process was started after the begin, and it has its rows.
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
    /// When it must be back, or be seen to come back; set while it is away.
    deadline: Option<Micros>,
}

impl Leaf {
    /// A leaf whose process was started at `first_started`.
    pub(crate) const fn new(machine: MachineName, first_started: Micros, stage: Stage) -> Self {
        Self { machine, stage, has_failed: false, first_started, deadline: None }
    }

    /// Takes what is seen of the leaf: nothing if it is no member and no rows are expected of it.
    pub(crate) fn follow(&mut self, seen: Option<&SeenLeaf>, at: Micros, stop_max: Duration) {
        if let Some(seen) = seen
            && seen.started.is_some_and(|started| started > self.first_started)
        {
            match self.stage {
                Stage::New if self.is_back(seen) => {}
                _ if self.is_back(seen) => (self.stage, self.has_failed) = (Stage::New, false),
                Stage::Old => self.stage = Stage::Rolling { since: at },
                Stage::Rolling { .. } | Stage::New => {}
            }
        }
        if !self.is_rolling() && seen.is_some_and(SeenLeaf::is_alive) {
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
        if seen.is_some_and(|seen| self.is_restoring(seen)) {
            // However long it takes to read the rows.
            deadline = deadline.max(Micros(at.0.saturating_add(START)));
        }
        self.deadline = Some(deadline);
    }

    /// Whether it is another process, alive, with the rows that are expected of it.
    fn is_back(&self, seen: &SeenLeaf) -> bool {
        // Until the new process has reported every table, the rows are those of the one before.
        let has_reported = seen.reported.is_none_or(|reported| reported > self.first_started);
        let is_whole = !seen.is_restoring() && seen.rows.coverage() >= WHOLE;
        seen.is_alive() && has_reported && is_whole
    }

    /// Whether it is another process, and is restoring its rows.
    fn is_restoring(&self, seen: &SeenLeaf) -> bool {
        seen.started.is_some_and(|started| started > self.first_started) && seen.is_restoring()
    }

    /// Whether it is restarting, or was not alive when it was seen last.
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
    pub(crate) fn lateness(&self, name: &LeafName, seen: Option<&SeenLeaf>, limit: u64) -> String {
        let state = seen.map_or("no member", |seen| seen.state.name());
        let is_another =
            seen.and_then(|seen| seen.started).is_some_and(|started| started > self.first_started);
        match (self.stage, seen) {
            (Stage::Rolling { .. }, Some(seen)) if is_another => {
                let missing = seen.rows.missing();
                format!("{name} was started again, is {state}, and lacks {missing} of its rows")
            }
            (Stage::Rolling { .. }, _) => format!(
                "{name} did not start again within {limit} s; the log of its machine says why"
            ),
            (Stage::Old | Stage::New, _) => format!("{name} is {state} for {limit} s"),
        }
    }
}
