//! Restarts all leaves of a cluster in turn, so that nearly all rows stay in answers.
//!
//! ```text
//! begin_rollover ──> drive: every 250 ms   cluster_report ──> Moment ──> Rollover::step
//!                                          Members::restart <── leaves to restart
//! ```
//!
//! The process that was asked drives it. If that process ends, so does the rollover; another one
//! continues with the leaves that were started before the first began
//! ([`RolloverSettings::started_before`]).

mod history;
mod leaf;
mod machine;
mod moment;
mod query_errors;
mod report;
mod settings;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hadal_peer::LeafRestart;
use hadal_types::LeafName;
use tokio::time::MissedTickBehavior;

pub use history::RolloverMoment;
pub use machine::{Rollover, RolloverPhase};
pub use moment::{Moment, ObservedLeaf, QueryCounts};
pub use report::{RollingLeaf, RolloverReport};
pub use settings::RolloverSettings;

use crate::error::{ErrorKind, FrontendError, Hint};
use crate::frontend::Frontend;
use crate::principal::{Permission, Principal};

/// How often a rollover looks at the cluster.
const LOOK: Duration = Duration::from_millis(250);

impl Frontend {
    /// Begins a rollover, and returns its report.
    ///
    /// # Errors
    /// [`ErrorKind::BadRequest`] for impossible settings and without a cluster;
    /// [`ErrorKind::RolloverRunning`]; [`ErrorKind::Unavailable`] while a leaf is neither alive nor
    /// on its way back: the rollover waits for one that restores its rows.
    pub async fn begin_rollover(
        self: &Arc<Self>,
        principal: &Principal,
        settings: RolloverSettings,
    ) -> Result<RolloverReport, FrontendError> {
        principal.require(Permission::Admin)?;
        settings.check()?;
        if self.backend.members.is_none() {
            let detail = "this server has no cluster: there are no leaves to restart in turn";
            return Err(FrontendError::new(ErrorKind::BadRequest, detail)
                .hint("to upgrade a single server: hadal serve --take-over"));
        }
        let moment = self.rollover_moment().await;
        let away = moment.leaves.iter();
        let is_gone = |leaf: &ObservedLeaf| !leaf.is_alive() && !leaf.is_restoring();
        let mut away = away.filter(|(_, leaf)| leaf.started.is_some() && is_gone(leaf));
        let report = {
            let mut current = self.rollover.lock();
            if let Some(running) = current.as_ref().filter(|current| !current.has_ended()) {
                let detail = format!("a rollover is under way since {}", running.begun);
                return Err(FrontendError::new(ErrorKind::RolloverRunning, detail)
                    .hint("follow it: hadal rollover --follow"));
            }
            if let Some((name, leaf)) = away.next() {
                let state = leaf.state.name();
                let detail =
                    format!("{name} is {state}; a rollover begins when all leaves are alive");
                return Err(FrontendError::new(ErrorKind::Unavailable, detail).hint(Hint::Text(
                    format!("wait, or start it; if it will not return: hadal forget {name}"),
                )));
            }
            RolloverReport::of(current.insert(Rollover::new(settings, &moment)))
        };
        tokio::spawn(Arc::clone(self).drive_rollover());
        Ok(report)
    }

    /// Makes the rollover restart no more leaves; it ends when those that are restarting are back.
    ///
    /// # Errors
    /// [`ErrorKind::NoRollover`] when none is under way.
    pub fn stop_rollover(&self, principal: &Principal) -> Result<RolloverReport, FrontendError> {
        principal.require(Permission::Admin)?;
        let mut current = self.rollover.lock();
        match current.as_mut().filter(|current| !current.has_ended()) {
            None => {
                let detail = "this server drives no rollover";
                Err(FrontendError::new(ErrorKind::NoRollover, detail)
                    .hint("the server that was asked to begin it can stop it"))
            }
            Some(running) => {
                running.stop("it was asked to stop".to_owned());
                Ok(RolloverReport::of(running))
            }
        }
    }

    /// Returns the rollover that runs, or the last one that this process has driven.
    #[must_use]
    pub fn rollover_report(&self) -> Option<RolloverReport> {
        self.rollover.lock().as_ref().map(RolloverReport::of)
    }

    async fn rollover_moment(&self) -> Moment {
        let counters = &self.counters;
        let failed = counters.queries_failed.load(Ordering::Relaxed);
        let queries = QueryCounts { all: counters.query_total().0, failed };
        Moment::of(&self.cluster_report(0).await, queries)
    }

    /// Looks at the cluster until the rollover has ended, or this process stops.
    async fn drive_rollover(self: Arc<Self>) {
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = looks.tick() => {}
                () = self.shutdown.begun() => return,
            }
            let moment = self.rollover_moment().await;
            let (next, stop_max, has_ended) = {
                let mut current = self.rollover.lock();
                let Some(rollover) = current.as_mut() else { return };
                let next = rollover.step(&moment);
                (next, rollover.settings.stop_max, rollover.has_ended())
            };
            if has_ended {
                return;
            }
            for leaf in next {
                tokio::spawn(Arc::clone(&self).ask_to_restart(leaf, stop_max));
            }
        }
    }

    async fn ask_to_restart(self: Arc<Self>, leaf: LeafName, stop_max: Duration) {
        let Some(members) = self.backend.members.clone() else { return };
        tracing::info!(%leaf, "the rollover restarts a leaf");
        let restart = LeafRestart { leaf, stop_max };
        if let Err(why) = members.restart(&restart).await
            && let Some(rollover) = self.rollover.lock().as_mut()
        {
            rollover.refused(&restart.leaf, &why);
        }
    }
}

#[cfg(test)]
mod tests;
