//! The settings of a rollover.

use std::time::Duration;

use hadal_types::Micros;
use hadal_types::limits::{ROLLOVER_STOP_SECONDS, ROLLOVER_STOP_SECONDS_MAX};

use crate::error::{ErrorKind, FrontendError};

/// How a rollover proceeds, and when it stops by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolloverSettings {
    /// The share of the leaves that may restart at the same time, above 0 and at most 1. One leaf
    /// may always.
    pub share: f64,
    /// The least share of rows in answers, 0 to 1: the rollover stops when the other leaves have
    /// fewer, and restarts no second leaf at a time that would lower coverage below it.
    pub coverage_floor: f64,
    /// How long a leaf may take to stop before it is killed.
    pub stop_max: Duration,
    /// Restarts only leaves whose process started before this time: to continue a rollover that
    /// stopped. With `None`, all leaves.
    pub started_before: Option<Micros>,
}

impl Default for RolloverSettings {
    /// 2 % of the leaves, at least 97 % of the rows, 180 s to stop.
    fn default() -> Self {
        Self {
            share: 0.02,
            coverage_floor: 0.97,
            stop_max: Duration::from_secs(ROLLOVER_STOP_SECONDS),
            started_before: None,
        }
    }
}

impl RolloverSettings {
    /// Refuses values that no rollover can have.
    ///
    /// # Errors
    /// [`ErrorKind::BadRequest`], with the value and the possible ones.
    pub(crate) fn check(&self) -> Result<(), FrontendError> {
        let refuse = |field: &str, detail: String| {
            let mut error = FrontendError::new(ErrorKind::BadRequest, detail);
            error.context.field = Some(field.to_owned());
            Err(error)
        };
        let Self { share, coverage_floor, stop_max, .. } = self;
        if !(*share > 0.0 && *share <= 1.0) {
            let detail = format!("share is {share}; it may be above 0 and at most 1 (0.02 is 2 %)");
            return refuse("share", detail);
        }
        if !(0.0..=1.0).contains(coverage_floor) {
            let detail =
                format!("coverage_floor is {coverage_floor}; it may be 0 to 1 (0.97 is 97 %)");
            return refuse("coverage_floor", detail);
        }
        if !(1..=ROLLOVER_STOP_SECONDS_MAX).contains(&stop_max.as_secs()) {
            let seconds = stop_max.as_secs();
            let detail =
                format!("stop_seconds is {seconds}; it may be 1 to {ROLLOVER_STOP_SECONDS_MAX}");
            return refuse("stop_seconds", detail);
        }
        Ok(())
    }

    /// How many of the leaves may restart at the same time.
    pub(crate) fn at_once(&self, leaves: usize) -> usize {
        let most = (1..=leaves).take_while(|count| *count as f64 <= self.share * leaves as f64);
        most.count().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_are_named() {
        let standard = RolloverSettings::default();
        assert!(standard.check().is_ok());
        let stop =
            |seconds| RolloverSettings { stop_max: Duration::from_secs(seconds), ..standard };
        for (settings, field) in [
            (RolloverSettings { share: 0.0, ..standard }, "share"),
            (RolloverSettings { share: 1.1, ..standard }, "share"),
            (RolloverSettings { share: f64::NAN, ..standard }, "share"),
            (RolloverSettings { coverage_floor: -0.1, ..standard }, "coverage_floor"),
            (RolloverSettings { coverage_floor: 97.0, ..standard }, "coverage_floor"),
            (stop(0), "stop_seconds"),
            (stop(ROLLOVER_STOP_SECONDS_MAX + 1), "stop_seconds"),
        ] {
            let error = settings.check().expect_err(field);
            assert_eq!(error.context.field.as_deref(), Some(field));
            assert!(error.detail.starts_with(field), "{error}");
        }
        assert!(stop(ROLLOVER_STOP_SECONDS_MAX).check().is_ok());
    }

    #[test]
    fn one_leaf_may_always_restart() {
        let at_once = |share, leaves| {
            RolloverSettings { share, ..RolloverSettings::default() }.at_once(leaves)
        };
        assert_eq!([at_once(0.02, 6), at_once(0.02, 50), at_once(0.02, 149)], [1, 1, 2]);
        assert_eq!([at_once(0.5, 5), at_once(1.0, 8), at_once(0.5, 0)], [2, 8, 1]);
    }
}
