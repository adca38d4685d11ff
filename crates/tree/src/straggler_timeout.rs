//! How long to wait for stragglers: a single frozen leaf does not delay a query until its deadline.
//!
//! Every aggregator judges by the rows of its own subtree. So deep in a tree, an aggregator may
//! wait for a frozen leaf with many rows until the deadline. That is why peers get an earlier
//! deadline.

use std::time::{Duration, Instant};

/// Percentage of the expected rows that must have answered before waiting is cut short.
const ENOUGH_PERCENT: u128 = 95;
/// The shortest wait for stragglers. A machine that serves a dozen queries at once may delay a
/// thread for much of this time. A person hardly notices this delay when a leaf is frozen.
const GRACE_MIN: Duration = Duration::from_millis(500);

/// Returns when to stop waiting, given that `answered` of `expected` rows have answered at `now`.
///
/// That is the deadline until 95 % of the rows have answered. After that it is half of the time
/// used so far, and at least half a second, from now.
pub(crate) fn wait_until(
    start: Instant,
    now: Instant,
    deadline: Instant,
    answered: u64,
    expected: u64,
) -> Instant {
    let enough = u128::from(answered) * 100 >= u128::from(expected) * ENOUGH_PERCENT;
    if !enough || answered == 0 {
        return deadline;
    }
    let grace = (now.saturating_duration_since(start) / 2).max(GRACE_MIN);
    deadline.min(now + grace)
}

/// The deadline of peers that are queried at `start`: a little before the aggregator's own, so that
/// their partials still arrive in time.
pub(crate) fn earlier(start: Instant, deadline: Instant) -> Instant {
    deadline - deadline.saturating_duration_since(start) / 20
}

/// The share of a query's time that is reserved for finishing and serializing its result, after all
/// leaves have answered or were cut off.
const FINISHING_SHARE: u32 = 10;

/// The tree's deadline for a query that began at `start`.
pub(crate) fn before_finishing(start: Instant, deadline: Instant) -> Instant {
    deadline - deadline.saturating_duration_since(start) / FINISHING_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_soon_after_nearly_all_answered() {
        let start = Instant::now();
        let at = |millis: u64| start + Duration::from_millis(millis);
        let until = |now, answered| wait_until(start, at(now), at(1_000), answered, 100);
        assert_eq!(until(4, 94), at(1_000));
        assert_eq!(until(4, 95), at(504));
        assert_eq!(until(300, 95), at(800));
        assert_eq!(until(900, 99), at(1_000));
        assert_eq!(wait_until(start, at(2_000), at(9_000), 99, 100), at(3_000));
        assert_eq!(wait_until(start, at(4), at(1_000), 0, 0), at(1_000), "nothing is known yet");
    }
}
