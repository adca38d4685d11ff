//! When rows are dropped for their age, by a clock that is trusted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hadal_types::limits::{EXPIRY_SECONDS, PRESSED_EXPIRY_SECONDS};
use hadal_types::{Clock, Micros};
use parking_lot::Mutex;

use crate::maintenance::trusted_clock::{ClockReading, ClockTrust, TrustedClock};

/// The schedule of expiry passes.
pub(crate) struct ExpirySchedule {
    state: Mutex<State>,
    is_requested: AtomicBool,
}

struct State {
    clock: TrustedClock,
    /// The start of the last pass, or of the process.
    last: ClockReading,
    /// The wall clock at the last pass that trusted it.
    trusted_now: Option<Micros>,
    /// Whether the last pass is still running.
    is_under_way: bool,
}

impl ExpirySchedule {
    /// The clock is trusted after it has run without a jump for `proving`. So a clock that is wrong
    /// when its machine starts has time to be set.
    pub(crate) fn new(clock: &dyn Clock, proving: Duration) -> Self {
        let last = ClockReading::of(clock);
        let clock = TrustedClock::new(last, proving);
        let state = State { clock, last, trusted_now: None, is_under_way: false };
        Self { state: Mutex::new(state), is_requested: AtomicBool::new(false) }
    }

    /// Requests a pass as soon as the clock is trusted.
    pub(crate) fn request(&self) {
        self.is_requested.store(true, Ordering::SeqCst);
    }

    /// Requests a pass because memory is nearly full, unless the last pass was very recent.
    pub(crate) fn request_under_pressure(&self, clock: &dyn Clock) {
        let state = self.state.lock();
        let passed = clock.running().saturating_sub(state.last.running).as_secs();
        if state.trusted_now.is_some() && passed >= PRESSED_EXPIRY_SECONDS {
            self.request();
        }
    }

    /// Returns when the next pass is due. A requested pass is due as soon as the clock is trusted.
    /// While a pass is running, returns its start.
    pub(crate) fn next_due(&self, clock: &dyn Clock) -> Micros {
        // A pass begins under the lock, so a requested pass is noticed either way.
        let state = self.state.lock();
        let due = match (state.is_under_way, self.is_requested.load(Ordering::SeqCst)) {
            (true, false) => return state.last.now,
            (_, true) => clock.now(),
            (false, false) => {
                Micros(state.last.now.0.saturating_add(EXPIRY_SECONDS * Micros::SECOND))
            }
        };
        due.max(state.clock.trusted_from())
    }

    /// The wall clock at the last pass that trusted it; `None` before the first. All other
    /// age-based removal uses this time.
    pub(crate) fn trusted_now(&self) -> Option<Micros> {
        self.state.lock().trusted_now
    }

    /// Begins a pass, if one is due. Returns the clocks' readings, and by how many seconds the wall
    /// clock jumped if it is doubted. No pass begins just after the process started; a requested
    /// pass waits.
    pub(super) fn begin(&self, clock: &dyn Clock) -> Option<(ClockReading, Option<i64>)> {
        let (mut state, moment) = (self.state.lock(), ClockReading::of(clock));
        let trust = state.clock.look(moment);
        let passed = moment.running.saturating_sub(state.last.running).as_secs();
        let is_due =
            passed >= EXPIRY_SECONDS.unsigned_abs() || self.is_requested.load(Ordering::SeqCst);
        if !is_due || trust == ClockTrust::Starting {
            return None;
        }
        self.is_requested.store(false, Ordering::SeqCst);
        state.last = moment;
        state.is_under_way = true;
        match trust {
            ClockTrust::Jumped(ahead) => Some((moment, Some(ahead))),
            ClockTrust::Trusted | ClockTrust::Starting => {
                state.trusted_now = Some(moment.now);
                Some((moment, None))
            }
        }
    }

    /// Ends the pass that was begun.
    pub(super) fn end(&self) {
        self.state.lock().is_under_way = false;
    }
}

#[cfg(test)]
mod tests;
