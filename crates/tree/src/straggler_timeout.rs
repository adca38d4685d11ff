//! How long to wait for stragglers: a single frozen leaf does not delay a query until its deadline.
//!
//! Every aggregator judges by what is missing in its subtree of the rows of the whole query. So one
//! frozen leaf is a straggler also to an aggregator that has only a few leaves. Where too much is
//! missing, an aggregator waits until the deadline. That is why peers get an earlier deadline.

use std::time::{Duration, Instant};

/// Percentage of the query's expected rows that may be missing when waiting is cut short.
const MISSING_PERCENT: u128 = 5;
/// The shortest wait for stragglers. A machine that serves a dozen queries at once may delay a
/// thread for much of this time. A person hardly notices this delay when a leaf is frozen.
const GRACE_MIN: Duration = Duration::from_millis(500);

/// Returns when to stop waiting, given that `missing` of the `whole` query's rows have not answered
/// at `now`, and some have.
///
/// That is the deadline while more than 5 % are missing. After that it is half of the time used so
/// far, and at least half a second, from now.
pub(crate) fn wait_until(
    start: Instant,
    now: Instant,
    deadline: Instant,
    missing: u64,
    whole: u64,
) -> Instant {
    if u128::from(missing) * 100 > u128::from(whole) * MISSING_PERCENT {
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
        let until = |now, missing| wait_until(start, at(now), at(1_000), missing, 100);
        assert_eq!(until(4, 6), at(1_000));
        assert_eq!(until(4, 5), at(504));
        assert_eq!(until(300, 5), at(800));
        assert_eq!(until(900, 1), at(1_000));
        assert_eq!(wait_until(start, at(2_000), at(9_000), 1, 100), at(3_000));
    }
}
