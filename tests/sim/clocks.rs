//! The clocks of the machines.

use std::time::Duration;

use hadal_random::mix;
use hadal_types::Micros;

use crate::messages::{Node, Wake};
use crate::queue::{SECOND, Time, whole};
use crate::world::World;

/// When runs begin, in seconds since the Unix epoch.
const BEGIN: i64 = 1_700_000_000;
/// By how many seconds a clock is wrong, at most.
const WRONG: u64 = 30;

impl World {
    /// What clocks show at a time if they are right.
    pub(crate) fn true_wall(&self, time: Time) -> Micros {
        let passed = i64::try_from(time * u64::from(self.options.clock_speed)).unwrap_or(i64::MAX);
        Micros(BEGIN * Micros::SECOND + passed)
    }

    /// What a machine's clock shows now.
    pub(crate) fn wall(&self, machine: usize) -> Micros {
        let random = mix(self.options.seed ^ mix(machine as u64 + 11)) % (2 * WRONG * SECOND);
        let wrong = i64::try_from(random).unwrap_or_default();
        let right = self.true_wall(self.now).0;
        Micros(right + wrong - i64::try_from(WRONG * SECOND).unwrap_or_default())
    }

    /// A process's own clock.
    pub(crate) fn clock(&self, node: Node) -> Duration {
        Duration::from_micros(self.local(node, self.now))
    }

    /// Every machine's clock runs at its own rate, from its own start.
    fn local(&self, node: Node, time: Time) -> Time {
        let Some(machine) = self.machine_of(node) else { return time };
        let (rate, offset) = self.clock_of(machine);
        whole(time as f64 * rate) + offset
    }

    fn clock_of(&self, machine: usize) -> (f64, Time) {
        let random = mix(self.options.seed ^ mix(machine as u64 + 7));
        let share = (random >> 11) as f64 / (1u64 << 53) as f64;
        (1.0 + self.options.skew * (2.0 * share - 1.0), random % (3_600 * SECOND))
    }

    /// Wakes a process at a time of its own clock.
    pub(crate) fn wake_at(&mut self, node: Node, local: Duration, what: Wake) {
        let now = self.local(node, self.now);
        let local = u64::try_from(local.as_micros()).unwrap_or(u64::MAX);
        let rate = self.machine_of(node).map_or(1.0, |machine| self.clock_of(machine).0);
        let wait = whole(local.saturating_sub(now) as f64 / rate) + 1;
        self.wake_after(node, wait, what);
    }
}
