//! How long to wait for the last ones: nobody waits for the deadline because one leaf is frozen.
//!
//! Every aggregator judges by the rows of its own subtree, so deep in a tree one frozen leaf of
//! many rows is waited for until the deadline, which is why peers get an earlier one.

use std::time::{Duration, Instant};

/// Share of the expected rows that must have answered before waiting is cut short, in percent.
const ENOUGH_PERCENT: u128 = 95;
/// The shortest time that the last ones are given. A machine that is asked a dozen questions at once
/// keeps a thread waiting for a good part of it, and a person hardly notices that one leaf is frozen.
const GRACE_MIN: Duration = Duration::from_millis(500);

/// When to stop waiting, `answered` of `expected` rows having answered at `now`.
///
/// That is the deadline; or, once 95 % of the rows have answered, half of the time that was used
/// so far more, and at least half a second.
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

/// The deadline of peers that are asked at `start`: a little before one's own, so that what they
/// have by then still comes up in time.
pub(crate) fn earlier(start: Instant, deadline: Instant) -> Instant {
    deadline - deadline.saturating_duration_since(start) / 20
}

/// The share of a query's time that is kept for finishing its answer and writing it down, which
/// begins when all leaves have answered, or would have.
const FINISHING_SHARE: u32 = 10;

/// When the tree is to have answered a query that began at `start`.
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
