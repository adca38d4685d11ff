//! Notices when many more queries fail than before a rollover.

use std::collections::VecDeque;

use hadal_types::Micros;

use super::moment::QueryCounts;

/// How far back queries are examined.
const WINDOW: i64 = 10 * Micros::SECOND;
/// Fewer failures than this are no rise.
const FAILED_MIN: u64 = 5;
/// A smaller share of failures is no rise.
const SHARE_MIN: f64 = 0.01;
/// Failures have risen when their share is this many times the one before the rollover.
const RISE: f64 = 2.0;

/// The queries of the last seconds.
#[derive(Clone, Debug)]
pub(crate) struct QueryErrors {
    /// The share of failures before the rollover.
    share_before: f64,
    /// Counts in ascending order of times: the first is at least [`WINDOW`] old, or of the start.
    counts: VecDeque<(Micros, QueryCounts)>,
}

impl QueryErrors {
    /// Begins with the queries before the rollover.
    pub(crate) fn new(at: Micros, before: QueryCounts) -> Self {
        Self { share_before: share(before), counts: VecDeque::from([(at, before)]) }
    }

    /// Takes the counts of a moment. Returns the queries of the last seconds if too many failed.
    pub(crate) fn rise(&mut self, at: Micros, now: QueryCounts) -> Option<QueryCounts> {
        while self.counts.get(1).is_some_and(|(time, _)| at.0.saturating_sub(time.0) >= WINDOW) {
            self.counts.pop_front();
        }
        let (_, then) = self.counts.front().copied().unwrap_or((at, now));
        // Two counts a second are enough to look back.
        let is_later = |(time, _): &(Micros, _)| at.0.saturating_sub(time.0) >= Micros::SECOND / 2;
        if self.counts.back().is_none_or(is_later) {
            self.counts.push_back((at, now));
        }
        let lately = QueryCounts {
            all: now.all.saturating_sub(then.all),
            failed: now.failed.saturating_sub(then.failed),
        };
        let is_rise = lately.failed >= FAILED_MIN
            && share(lately) >= SHARE_MIN
            && share(lately) >= RISE * self.share_before;
        is_rise.then_some(lately)
    }
}

fn share(counts: QueryCounts) -> f64 {
    counts.failed as f64 / counts.all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Micros {
        Micros(seconds * Micros::SECOND)
    }

    #[test]
    fn a_rise_is_many_failures_in_a_few_seconds() {
        let before = QueryCounts { all: 1_000, failed: 0 };
        let mut errors = QueryErrors::new(at(0), before);
        let mut counts = before;
        for second in 1..100 {
            counts = QueryCounts { all: counts.all + 10, failed: counts.failed + second % 4 / 3 };
            assert_eq!(errors.rise(at(second.cast_signed()), counts), None, "{second}");
        }
        counts = QueryCounts { all: counts.all + 10, failed: counts.failed + 5 };
        let rise = errors.rise(at(100), counts).expect("a rise");
        assert_eq!(rise.all, 100);
        assert!(rise.failed >= 5, "{rise:?}");
    }

    #[test]
    fn what_failed_before_is_no_rise() {
        let before = QueryCounts { all: 100, failed: 20 };
        let mut errors = QueryErrors::new(at(0), before);
        assert_eq!(errors.rise(at(1), QueryCounts { all: 200, failed: 50 }), None);
        assert!(errors.rise(at(2), QueryCounts { all: 300, failed: 110 }).is_some());
    }
}
