//! The answer of `/v1/rollover`, as far as the command reads it.

use hadal_types::time::parse_timestamp;
use serde::Deserialize;

/// The answer: a rollover, if there was one.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Answer {
    pub(super) rollover: Option<Rollover>,
}

/// A rollover at one moment.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Rollover {
    phase: String,
    reason: Option<String>,
    begun: String,
    at: String,
    pub(super) resume_from: String,
    pub(super) old: u64,
    pub(super) rolling: Vec<Rolling>,
    pub(super) new: u64,
    pub(super) coverage: f64,
    pub(super) history: Vec<Moment>,
}

/// A leaf that is restarting.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Rolling {
    pub(super) name: String,
    since: String,
    failed: bool,
}

/// A moment of the rollover.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Moment {
    pub(super) at: String,
    pub(super) old: u64,
    pub(super) rolling: u64,
    pub(super) new: u64,
    pub(super) coverage: f64,
}

impl Rollover {
    pub(super) fn has_ended(&self) -> bool {
        self.is_done() || self.phase == "stopped"
    }

    pub(super) fn is_done(&self) -> bool {
        self.phase == "done"
    }

    pub(super) const fn leaves(&self) -> u64 {
        self.old.saturating_add(self.rolling.len() as u64).saturating_add(self.new)
    }

    /// The time since its begin in seconds; 0 if the times cannot be read.
    pub(super) fn seconds(&self) -> u64 {
        seconds_between(&self.begun, &self.at)
    }

    pub(super) fn lowest_coverage(&self) -> f64 {
        self.history.iter().map(|moment| moment.coverage).fold(1.0, f64::min)
    }

    /// The phase in words, with the reason.
    pub(super) fn phase_words(&self) -> String {
        let time = format!("{} s", self.seconds());
        let reason = self.reason.as_deref().unwrap_or("no reason is given");
        match self.phase.as_str() {
            "running" => format!("running for {time}"),
            "stopping" => format!("stopping: {reason}"),
            "stopped" => format!("stopped after {time}: {reason}"),
            phase => format!("{phase} in {time}"),
        }
    }

    /// The leaves that are restarting, in words.
    pub(super) fn rolling_words(&self) -> String {
        let leaf = |leaf: &Rolling| match leaf.failed {
            true => format!("{} did not come back", leaf.name),
            false => format!("{} for {} s", leaf.name, seconds_between(&leaf.since, &self.at)),
        };
        self.rolling.iter().map(leaf).collect::<Vec<String>>().join(", ")
    }

    /// Why it ended before all leaves were new, and how to continue.
    pub(super) fn failure(&self) -> String {
        format!(
            "the rollover stopped: {}. {} of {} leaves are new; \
             to continue: hadal rollover --started-before {}",
            self.reason.as_deref().unwrap_or("no reason is given"),
            self.new,
            self.leaves(),
            self.resume_from
        )
    }
}

/// The seconds between two times; 0 if they cannot be read.
fn seconds_between(from: &str, to: &str) -> u64 {
    millis_between(from, to) / 1_000
}

/// The milliseconds between two times; 0 if they cannot be read.
pub(super) fn millis_between(from: &str, to: &str) -> u64 {
    let times = parse_timestamp(from).zip(parse_timestamp(to));
    times.map_or(0, |(from, to)| u64::try_from(to.0.saturating_sub(from.0) / 1_000).unwrap_or(0))
}
