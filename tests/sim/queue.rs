//! The events of a run, in the order of their time and then of their making.

use std::collections::BTreeMap;
use std::time::Duration;

/// Microseconds since the start of a run.
pub(crate) type Time = u64;

pub(crate) const MILLIS: Time = 1_000;
pub(crate) const SECOND: Time = 1_000 * MILLIS;

/// A time without its fraction.
pub(crate) fn whole(micros: f64) -> Time {
    let time = Duration::from_secs_f64(micros.max(0.0) / SECOND as f64);
    Time::try_from(time.as_micros()).unwrap_or(Time::MAX)
}

#[derive(Debug)]
pub(crate) struct Queue<E> {
    events: BTreeMap<(Time, u64), E>,
    made: u64,
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self { events: BTreeMap::new(), made: 0 }
    }
}

impl<E> Queue<E> {
    pub(crate) fn push(&mut self, time: Time, event: E) {
        self.made += 1;
        self.events.insert((time, self.made), event);
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, u64, E)> {
        self.events.pop_first().map(|((time, number), event)| (time, number, event))
    }
}
