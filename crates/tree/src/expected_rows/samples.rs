//! When rows arrived: how many had been accepted by the end of some minutes.
//!
//! The counts only rise. So leaving samples out, or knowing too few of them, makes rows seem
//! younger than they are, never older. Samples of several observers of one leaf are united.

use std::collections::BTreeMap;

use hadal_types::Micros;
use hadal_types::limits::EXPECTED_SAMPLES_MAX;

/// Minutes for which each minute is kept.
const MINUTES_KEPT: u32 = 60;
/// Minutes for which each hour is kept; after that, each day is.
const HOURS_KEPT: u32 = 48 * HOUR;
const HOUR: u32 = 60;
const DAY: u32 = 24 * HOUR;

/// A minute since the Unix epoch, and the rows accepted by its end.
pub(super) type Sample = (u32, u64);

/// The minute of a time.
pub(super) fn minute_of(time: Micros) -> u32 {
    u32::try_from(time.0.div_euclid(60 * Micros::SECOND)).unwrap_or(0)
}

/// Rows that had been accepted before `time`, at least.
pub(super) fn accepted_before(samples: &[Sample], time: Micros) -> u64 {
    let before = samples.partition_point(|(minute, _)| *minute < minute_of(time));
    before.checked_sub(1).map_or(0, |last| samples[last].1)
}

/// Unites samples of one run; of each period, the last is kept.
pub(super) fn unite(samples: &mut Vec<Sample>, others: &[Sample], now: Micros) {
    let mut all: BTreeMap<u32, u64> = samples.iter().copied().collect();
    for (minute, rows) in others {
        let kept = all.entry(*minute).or_default();
        *kept = (*kept).max(*rows);
    }
    let mut last: BTreeMap<(u32, u32), Sample> = BTreeMap::new();
    for (minute, rows) in all {
        last.insert(period_of(minute, minute_of(now)), (minute, rows));
    }
    *samples = last.into_values().collect();
    samples.sort_unstable();
    samples.drain(..samples.len().saturating_sub(EXPECTED_SAMPLES_MAX));
}

/// Leaves out samples with more rows than a later one, or than were accepted at last: the table was
/// dropped and made again.
pub(super) fn keep_rising(samples: &mut Vec<Sample>, accepted: u64) {
    let mut most = accepted;
    samples.reverse();
    samples.retain(|(_, rows)| {
        most = most.min(*rows);
        *rows == most
    });
    samples.reverse();
}

/// The minute, the hour or the day by which a sample is kept.
const fn period_of(minute: u32, now: u32) -> (u32, u32) {
    match now.saturating_sub(minute) {
        0..MINUTES_KEPT => (1, minute),
        MINUTES_KEPT..HOURS_KEPT => (HOUR, minute / HOUR),
        _ => (DAY, minute / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: u32) -> Micros {
        Micros(i64::from(minute) * 60 * Micros::SECOND)
    }

    #[test]
    fn rows_are_as_young_as_the_samples_leave_open() {
        let samples = [(10, 5), (20, 9)];
        for (minute, rows) in [(0, 0), (10, 0), (11, 5), (20, 5), (21, 9), (1_000, 9)] {
            assert_eq!(accepted_before(&samples, at(minute)), rows, "{minute}");
        }
    }

    #[test]
    fn minutes_become_hours_and_hours_days() {
        let now = 100 * DAY;
        let mut samples = Vec::new();
        for minute in 0..now {
            unite(&mut samples, &[(minute, u64::from(minute))], at(minute));
            if minute > 5 * DAY {
                break;
            }
        }
        let count = |samples: &[Sample]| samples.len();
        assert!((60 + 47..60 + 50 + 5).contains(&count(&samples)), "{}", count(&samples));
        let before = accepted_before(&samples, at(2 * DAY));
        assert_eq!(before, u64::from(2 * DAY - 1), "the last minute of a day is kept");
    }

    #[test]
    fn the_order_of_observers_does_not_matter() {
        let (one, two) = (vec![(1, 3), (2, 4)], vec![(2, 7), (9, 8)]);
        let (mut left, mut right) = (one.clone(), two.clone());
        unite(&mut left, &two, at(10));
        unite(&mut right, &one, at(10));
        assert_eq!((&left, &right), (&vec![(1, 3), (2, 7), (9, 8)], &left));
    }

    #[test]
    fn counts_that_fell_are_left_out() {
        let mut samples = vec![(1, 3), (2, 50), (3, 10), (4, 10), (5, 30)];
        keep_rising(&mut samples, 20);
        assert_eq!(samples, [(1, 3), (3, 10), (4, 10)]);
        keep_rising(&mut samples, 2);
        assert!(samples.is_empty());
    }

    #[test]
    fn the_oldest_of_too_many_samples_are_left_out() {
        let days = u32::try_from(EXPECTED_SAMPLES_MAX).expect("small") + 1;
        let all: Vec<Sample> = (0..days).map(|day| (day * DAY, u64::from(day))).collect();
        let mut samples = Vec::new();
        unite(&mut samples, &all, at(days * DAY));
        assert_eq!((samples.len(), samples[0]), (EXPECTED_SAMPLES_MAX, all[1]));
    }
}
