//! The times of requests: two weeks with a daily and a weekly rhythm, up to a moment called now.
//!
//! The last hours have denser rows than the days before, as in a system that samples old rows
//! further. Rows of old hours carry a larger sample rate, so adjusted counts continue smoothly
//! where the density changes.

use hadal_types::Micros;

use super::weighted::whole;

/// The length of the history, in seconds.
pub(crate) const HISTORY_SECONDS: i64 = 14 * 86_400;
/// The length of the dense period before now, in seconds.
pub(crate) const DENSE_SECONDS: i64 = 6 * 3_600;
/// The density of the dense period relative to the time before.
pub(crate) const DENSITY: i64 = 10;
/// The rhythm is constant within a cell of this many seconds.
const CELL_SECONDS: i64 = 300;

/// The course of requests over time.
#[derive(Clone, Debug)]
pub(crate) struct Rhythm {
    now: Micros,
    rows: u64,
    /// Per cell, newest first: the share of rows newer than the cell's newer end. The last entry is
    /// 1.
    newer: Vec<f64>,
}

impl Rhythm {
    /// The rhythm of `rows` rows that end at `now`.
    pub(crate) fn new(now: Micros, rows: u64) -> Self {
        let weights = (0..HISTORY_SECONDS / CELL_SECONDS).map(|cell| {
            let age = cell * CELL_SECONDS;
            let density = if age < DENSE_SECONDS { DENSITY as f64 } else { 1.0 };
            density * load(Micros(now.0 - (age + CELL_SECONDS / 2) * Micros::SECOND))
        });
        let mut newer = vec![0.0];
        let mut sum = 0.0;
        newer.extend(weights.map(|weight| {
            sum += weight;
            sum
        }));
        newer.iter_mut().for_each(|share| *share /= sum);
        Self { now, rows, newer }
    }

    /// The time with this share of all rows (0 to 1) after it.
    pub(crate) fn time_with_newer(&self, share: f64) -> Micros {
        let last = self.newer.len() - 2;
        let cell = self.newer.partition_point(|&newer| newer <= share).saturating_sub(1).min(last);
        let (from, to) = (self.newer[cell], self.newer[cell + 1]);
        let into = ((share - from) / (to - from)).clamp(0.0, 1.0);
        let seconds = CELL_SECONDS as f64 * (cell as f64 + into);
        Micros(self.now.0 - whole(seconds * 1e6))
    }

    /// Rows per second at a time after now, as dense as the last hours.
    pub(crate) fn rows_per_second(&self, time: Micros) -> f64 {
        let newest = self.newer[1] * self.rows as f64 / CELL_SECONDS as f64;
        newest * load(time) / load(Micros(self.now.0 - CELL_SECONDS / 2 * Micros::SECOND))
    }
}

/// The request rate at a time, relative to a weekday's evening: lowest before dawn, lower on
/// weekends (UTC).
pub(crate) fn load(time: Micros) -> f64 {
    let seconds = time.0.div_euclid(Micros::SECOND);
    let hour = seconds.rem_euclid(86_400) as f64 / 3_600.0;
    let daily = 0.6 + 0.4 * (std::f64::consts::TAU * (hour - 19.0) / 24.0).cos();
    daily * (1.0 - 0.3 * weekend(seconds.rem_euclid(7 * 86_400) as f64 / 3_600.0))
}

/// The weekend's share of the time, 0 to 1, at `hour` hours after midnight of a Thursday, the
/// weekday of the epoch. The share rises on Friday evening and falls on Sunday night.
fn weekend(hour: f64) -> f64 {
    const HALF_WAY: [f64; 2] = [48.0, 96.0];
    const HOURS: f64 = 12.0;
    let [come, gone] = HALF_WAY.map(|middle| ((hour - middle) / HOURS + 0.5).clamp(0.0, 1.0));
    come - gone
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = Micros(1_795_000_000 * Micros::SECOND);

    #[test]
    fn time_goes_back_steadily_to_two_weeks_ago() {
        let rhythm = Rhythm::new(NOW, 1_000);
        assert_eq!(rhythm.time_with_newer(0.0), NOW);
        assert_eq!(rhythm.time_with_newer(1.0).0, NOW.0 - HISTORY_SECONDS * Micros::SECOND);
        let times: Vec<Micros> =
            (0..=1_000).map(|i| rhythm.time_with_newer(f64::from(i) / 1e3)).collect();
        assert!(times.windows(2).all(|pair| pair[0] > pair[1]));
    }

    #[test]
    fn live_rows_go_on_as_history_ended() {
        let rhythm = Rhythm::new(NOW, 10_000_000);
        let minute_ago = Micros(NOW.0 - 60 * Micros::SECOND);
        // The share of rows newer than a minute ago, found by bisection.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if rhythm.time_with_newer(middle) > minute_ago { low = middle } else { high = middle }
        }
        let per_second = low * 10_000_000.0 / 60.0;
        assert!((rhythm.rows_per_second(NOW) / per_second - 1.0).abs() < 0.05, "{per_second}");
    }

    #[test]
    fn nights_and_weekends_are_quieter() {
        let at = |day: i64, hour: i64| load(Micros((day * 24 + hour) * 3_600 * Micros::SECOND));
        assert!(at(0, 19) > 2.0 * at(0, 7));
        assert!(at(2, 19) < at(1, 19));
        assert!(at(4, 19) > at(3, 19));
    }
}
