//! What a rollover has looked like so far, for a picture: old, rolling and new leaves and the
//! coverage over time (Fast Database Restarts at Facebook, figure 8).

use hadal_types::Micros;
use hadal_types::limits::ROLLOVER_MOMENTS_MAX;

/// The shortest time between two moments.
const INTERVAL: i64 = Micros::SECOND / 4;

/// A rollover at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolloverMoment {
    /// The moment.
    pub at: Micros,
    /// Leaves that are yet to be restarted.
    pub old: usize,
    /// Leaves that are restarting.
    pub rolling: usize,
    /// Leaves that have been restarted.
    pub new: usize,
    /// The share of rows in answers: the lowest one until the next moment.
    pub coverage: f64,
}

/// Moments of a rollover, the oldest first, in a bounded number: with time they are further apart.
#[derive(Clone, Debug)]
pub(crate) struct History {
    moments: Vec<RolloverMoment>,
    interval: i64,
}

impl Default for History {
    fn default() -> Self {
        Self { moments: Vec::new(), interval: INTERVAL }
    }
}

impl History {
    /// Adds a moment later than all others.
    pub(crate) fn add(&mut self, moment: RolloverMoment) {
        if let Some(last) = self.moments.last_mut()
            && moment.at.0.saturating_sub(last.at.0) < self.interval
        {
            *last = merged(*last, moment);
            return;
        }
        if self.moments.len() >= ROLLOVER_MOMENTS_MAX {
            let pairs = self.moments.chunks(2);
            let merge = |pair: &[RolloverMoment]| pair.iter().copied().reduce(merged);
            self.moments = pairs.filter_map(merge).collect();
            self.interval = self.interval.saturating_mul(2);
        }
        self.moments.push(moment);
    }

    pub(crate) fn moments(&self) -> &[RolloverMoment] {
        &self.moments
    }
}

/// Two moments as one: no dip of the coverage is lost.
fn merged(first: RolloverMoment, second: RolloverMoment) -> RolloverMoment {
    let coverage = first.coverage.min(second.coverage);
    RolloverMoment { at: first.at, coverage, ..second }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(step: usize, coverage: f64) -> RolloverMoment {
        let at = Micros(i64::try_from(step).expect("small") * INTERVAL);
        RolloverMoment { at, old: 9, rolling: 1, new: step, coverage }
    }

    #[test]
    fn a_long_rollover_keeps_its_beginning_and_every_dip() {
        let mut history = History::default();
        let steps = 5 * ROLLOVER_MOMENTS_MAX;
        for step in 0..steps {
            history.add(moment(step, if step == 777 { 0.5 } else { 1.0 }));
        }
        let moments = history.moments();
        assert!(moments.len() <= ROLLOVER_MOMENTS_MAX, "{}", moments.len());
        assert!(moments.len() > ROLLOVER_MOMENTS_MAX / 4, "{}", moments.len());
        assert_eq!(moments[0].at, Micros(0));
        assert_eq!(moments.last().map(|last| last.new), Some(steps - 1));
        assert!(moments.is_sorted_by_key(|moment| moment.at));
        assert_eq!(moments.iter().filter(|moment| moment.coverage < 1.0).count(), 1);
    }
}
