//! Times that were measured.

use std::time::Duration;

use serde_json::{Value, json};

use crate::error::Error;

/// Times of one thing, in seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// Adds a time.
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64());
    }

    /// Adds all times of others.
    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The times in ascending order.
    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// The time below which this share of all times is.
    ///
    /// # Errors
    /// [`Error::NoSamples`].
    pub(crate) fn quantile(&self, share: f64) -> Result<f64, Error> {
        let sorted = self.sorted();
        let rank = ((sorted.len().saturating_sub(1)) as f64 * share).round();
        let at = (0..sorted.len()).find(|index| *index as f64 >= rank);
        at.map(|index| sorted[index]).ok_or(Error::NoSamples)
    }

    /// The middle time.
    ///
    /// # Errors
    /// [`Error::NoSamples`].
    pub(crate) fn median(&self) -> Result<f64, Error> {
        self.quantile(0.5)
    }

    /// The mean.
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// One of the times, taken in turns.
    pub(crate) fn turn(&self, index: usize) -> Duration {
        let time = self.0.get(index % self.0.len().max(1)).copied().unwrap_or(0.0);
        Duration::from_secs_f64(time)
    }

    /// All times.
    pub(crate) fn all(&self) -> &[f64] {
        &self.0
    }

    /// Mean, median, minimum and maximum, in milliseconds.
    ///
    /// # Errors
    /// [`Error::NoSamples`].
    pub(crate) fn summary(&self) -> Result<Value, Error> {
        Ok(json!({
            "count": self.0.len(),
            "mean": millis(self.mean()),
            "median": millis(self.median()?),
            "min": millis(self.quantile(0.0)?),
            "max": millis(self.quantile(1.0)?),
        }))
    }
}

/// Milliseconds, to the microsecond.
pub(crate) fn millis(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_times_that_were_measured() {
        let mut samples = Samples::default();
        assert!(samples.median().is_err());
        for millis in [3, 1, 2] {
            samples.add(Duration::from_millis(millis));
        }
        assert_eq!(samples.median().ok(), Some(0.002));
        assert_eq!(samples.quantile(1.0).ok(), Some(0.003));
        assert_eq!(samples.turn(4), Duration::from_millis(1));
    }
}
