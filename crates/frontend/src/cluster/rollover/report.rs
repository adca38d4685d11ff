//! A rollover as clients see it.

use hadal_types::{LeafName, Micros};

use super::history::RolloverMoment;
use super::leaf::Stage;
use super::machine::{Rollover, RolloverPhase};
use super::settings::RolloverSettings;

/// A rollover at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloverReport {
    /// How far it is.
    pub phase: RolloverPhase,
    /// Why it stops or has stopped, in a sentence.
    pub reason: Option<String>,
    /// When it began.
    pub begun: Micros,
    /// When the cluster was examined last; its end once it has ended.
    pub at: Micros,
    /// Its settings.
    pub settings: RolloverSettings,
    /// Leaves that are yet to be restarted.
    pub old: usize,
    /// Leaves that are restarting, and those that did not come back.
    pub rolling: Vec<RollingLeaf>,
    /// Leaves that have been restarted.
    pub new: usize,
    /// The share of rows of the cluster in answers.
    pub coverage: f64,
    /// What it has looked like, the oldest moment first.
    pub history: Vec<RolloverMoment>,
    /// The time to give as [`RolloverSettings::started_before`] to continue this rollover.
    pub resume_from: Micros,
}

/// A leaf that is restarting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollingLeaf {
    /// Its name.
    pub name: LeafName,
    /// Since when.
    pub since: Micros,
    /// Whether it did not come back in time, or could not be asked.
    pub has_failed: bool,
}

impl RolloverReport {
    /// The report of a rollover.
    #[must_use]
    pub fn of(rollover: &Rollover) -> Self {
        let [old, _, new] = rollover.counts();
        let rolling = rollover.leaves.iter().filter_map(|(name, leaf)| match leaf.stage {
            Stage::Rolling { since } => {
                Some(RollingLeaf { name: name.clone(), since, has_failed: leaf.has_failed })
            }
            Stage::Old | Stage::New => None,
        });
        Self {
            phase: rollover.phase,
            reason: rollover.reason.clone(),
            begun: rollover.begun,
            at: rollover.at,
            settings: rollover.settings,
            old,
            rolling: rolling.collect(),
            new,
            coverage: rollover.coverage,
            history: rollover.history.moments().to_vec(),
            resume_from: rollover.started_before,
        }
    }
}
