//! When rows are dropped for their age: by a clock that is trusted.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hadal_types::limits::{EXPIRY_SECONDS, PRESSED_EXPIRY_SECONDS};
use hadal_types::{Clock, Micros};

use crate::maintenance::trusted_clock::{ClockReading, ClockTrust, TrustedClock};
use crate::sync::lock;

/// When the leaf looked for rows that are too old.
pub(crate) struct ExpirySchedule {
    state: Mutex<State>,
    is_requested: AtomicBool,
}

struct State {
    clock: TrustedClock,
    /// When the last pass began, or the process did.
    last: ClockReading,
    /// What the clock said at the last pass that trusted it.
    trusted_now: Option<Micros>,
    /// Whether the last pass is not done yet.
    is_under_way: bool,
}

impl ExpirySchedule {
    /// The clock is trusted once it has gone right for `proving`: one that is wrong at the start of its
    /// machine has time to be set.
    pub(crate) fn new(clock: &dyn Clock, proving: Duration) -> Self {
        let last = ClockReading::of(clock);
        let clock = TrustedClock::new(last, proving);
        let state = State { clock, last, trusted_now: None, is_under_way: false };
        Self { state: Mutex::new(state), is_requested: AtomicBool::new(false) }
    }

    /// Asks for a pass as soon as the clock is trusted.
    pub(crate) fn request(&self) {
        self.is_requested.store(true, Ordering::SeqCst);
    }

    /// Asks for a pass where memory is nearly taken and the last one is not of just now.
    pub(crate) fn request_under_pressure(&self, clock: &dyn Clock) {
        let state = lock(&self.state);
        let passed = clock.running().saturating_sub(state.last.running).as_secs();
        if state.trusted_now.is_some() && passed >= PRESSED_EXPIRY_SECONDS {
            self.request();
        }
    }

    /// When the next pass is due, if nobody asks for one before: where somebody has, as soon as the clock
    /// is trusted; and the moment of the one that is under way.
    pub(crate) fn next_due(&self, clock: &dyn Clock) -> Micros {
        // A pass begins under the lock, so one that was wanted is seen either way.
        let state = lock(&self.state);
        let due = match (state.is_under_way, self.is_requested.load(Ordering::SeqCst)) {
            (true, false) => return state.last.now,
            (_, true) => clock.now(),
            (false, false) => {
                Micros(state.last.now.0.saturating_add(EXPIRY_SECONDS * Micros::SECOND))
            }
        };
        due.max(state.clock.trusted_from())
    }

    /// What the clock said at the last pass that trusted it; `None` before the first. Whatever else
    /// goes for its age goes by this.
    pub(crate) fn trusted_now(&self) -> Option<Micros> {
        lock(&self.state).trusted_now
    }

    /// Begins a pass, if one is due: what the clocks say, and by how many seconds the clock jumped if it
    /// did so just now. While the process has just started none begins; one that is wanted waits.
    pub(super) fn begin(&self, clock: &dyn Clock) -> Option<(ClockReading, Option<i64>)> {
        let (mut state, moment) = (lock(&self.state), ClockReading::of(clock));
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
        lock(&self.state).is_under_way = false;
    }
}

#[cfg(test)]
mod tests;
