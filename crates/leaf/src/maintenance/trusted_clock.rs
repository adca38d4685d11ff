//! When the machine's clock is trusted: the one gate before every age-based removal or sampling of
//! rows.
//!
//! The wall clock is compared with a clock that never jumps. It is trusted once both have advanced
//! equally for a *proving time*. The proving time begins at a start, and again when the wall clock
//! is more than [`CLOCK_JUMP_SECONDS`] ahead of or behind its expected value. Differences add up
//! since the last jump: many small jumps count as one large jump. A machine whose clock is wrong at
//! its start has the proving time to set it.
//!
//! No person is asked to confirm: memory that is never freed is a failure, too. So a clock that is
//! wrong for longer than the proving time is trusted, and the rows dropped by it are reported
//! ([`hadal_aggregate::WarningCode::RowsExpired`]).

use std::time::Duration;

use hadal_types::limits::CLOCK_JUMP_SECONDS;
use hadal_types::{Clock, Micros};

/// A reading of both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockReading {
    pub(crate) now: Micros,
    pub(crate) running: Duration,
}

/// Whether the wall clock is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockTrust {
    /// Trusted.
    Trusted,
    /// Not yet trusted: the process has just started.
    Starting,
    /// Not yet trusted: it jumped ahead by this many seconds, or back if negative.
    Jumped(i64),
}

/// The wall clock, as far as it is trusted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrustedClock {
    /// How long both clocks must advance equally before the wall clock is trusted.
    proving: Duration,
    /// The reading from which they advance equally.
    anchor: ClockReading,
    jump: Option<i64>,
}

impl ClockReading {
    pub(crate) fn of(clock: &dyn Clock) -> Self {
        Self { now: clock.now(), running: clock.running() }
    }

    /// Seconds by which the wall clock has advanced more than the time that passed since `earlier`.
    fn ahead_of(self, earlier: Self) -> i64 {
        let passed = self.running.saturating_sub(earlier.running).as_secs();
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        self.now.seconds_since(earlier.now).saturating_sub(passed)
    }
}

impl TrustedClock {
    /// A clock of a process that starts at `start`.
    pub(crate) const fn new(start: ClockReading, proving: Duration) -> Self {
        Self { proving, anchor: start, jump: None }
    }

    /// Whether the wall clock is trusted at `moment`, which is not before the previous one.
    pub(crate) fn look(&mut self, moment: ClockReading) -> ClockTrust {
        let ahead = moment.ahead_of(self.anchor);
        if ahead.saturating_abs() > CLOCK_JUMP_SECONDS {
            self.anchor = moment;
            self.jump = Some(ahead);
        }
        if moment.running.saturating_sub(self.anchor.running) >= self.proving {
            return ClockTrust::Trusted;
        }
        self.jump.map_or(ClockTrust::Starting, ClockTrust::Jumped)
    }

    /// The wall clock time at which it becomes trusted, if it does not jump.
    pub(crate) fn trusted_from(&self) -> Micros {
        let micros = i64::try_from(self.proving.as_micros()).unwrap_or(i64::MAX);
        Micros(self.anchor.now.0.saturating_add(micros))
    }
}

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers of tests are small"
)]
mod tests {
    use super::*;

    const PROVING: u64 = 900;
    const DAY: i64 = 86_400;

    fn at(now: i64, running: u64) -> ClockReading {
        ClockReading { now: Micros(now * Micros::SECOND), running: Duration::from_secs(running) }
    }

    fn clock() -> TrustedClock {
        TrustedClock::new(at(0, 0), Duration::from_secs(PROVING))
    }

    #[test]
    fn a_clock_is_believed_a_while_after_the_start() {
        let mut clock = clock();
        assert_eq!(clock.look(at(899, 899)), ClockTrust::Starting);
        assert_eq!(clock.look(at(900, 900)), ClockTrust::Trusted);
    }

    #[test]
    fn many_small_jumps_are_one_large_one() {
        let mut clock = clock();
        assert_eq!(clock.look(at(1_000, 1_000)), ClockTrust::Trusted);
        assert_eq!(clock.look(at(DAY / 2 + 1_000, 1_000)), ClockTrust::Trusted);
        assert_eq!(clock.look(at(DAY + 1_001, 1_000)), ClockTrust::Jumped(DAY + 1));
        assert_eq!(clock.look(at(DAY + 1_900, 1_899)), ClockTrust::Jumped(DAY + 1));
        assert_eq!(clock.look(at(DAY + 1_901, 1_900)), ClockTrust::Trusted, "it went on alike");
    }

    #[test]
    fn a_clock_that_was_set_back_and_goes_ahead_again_is_doubted() {
        let mut clock = clock();
        // Wrong at the start, and for long.
        assert_eq!(clock.look(at(31 * DAY, 1_000)), ClockTrust::Jumped(31 * DAY - 1_000));
        assert_eq!(clock.look(at(31 * DAY + 1_000, 2_000)), ClockTrust::Trusted);
        assert!(matches!(clock.look(at(2_000, 2_000)), ClockTrust::Jumped(..0)));
        assert_eq!(clock.look(at(3_000, 3_000)), ClockTrust::Trusted);
        assert!(matches!(clock.look(at(31 * DAY, 3_000)), ClockTrust::Jumped(1..)));
    }

    /// Pseudo-random numbers from one seed (splitmix64).
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) % end
        }
    }

    /// Whenever the clock is trusted, it has been right for the whole proving time. At each call
    /// within it, the wall clock was off by its present error, up to the jump limit.
    #[test]
    fn what_is_believed_has_been_proven() {
        let mut trusted_now = 0;
        for seed in 0..2_000 {
            let numbers = &mut Numbers(seed);
            let mut clock = clock();
            let (mut running, mut off) = (0_u64, 0_i64);
            let mut looks = vec![(0_u64, 0_i64)];
            for _ in 0..60 {
                running += numbers.below(1_200);
                // From minutes to years, ahead or back.
                let reach = [0, 0, 0, 600, DAY, 40 * DAY, 4_000 * DAY][numbers.below(7) as usize];
                off += numbers.below(2 * reach.unsigned_abs() + 1) as i64 - reach;
                looks.push((running, off));
                if clock.look(at(running as i64 + off, running)) != ClockTrust::Trusted {
                    continue;
                }
                trusted_now += 1;
                assert!(running >= PROVING, "seed {seed}");
                let since = running - PROVING;
                for (when, earlier) in &looks {
                    let is_like = (off - earlier).abs() <= 2 * CLOCK_JUMP_SECONDS;
                    assert!(*when < since || is_like, "seed {seed}: {looks:?}");
                }
            }
        }
        assert!(trusted_now > 1_000, "{trusted_now}");
    }
}
