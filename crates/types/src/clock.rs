//! The clock, passed in so that a test can control it.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::time::Micros;

/// The source of time.
pub trait Clock: Send + Sync {
    /// Microseconds since the Unix epoch.
    fn now(&self) -> Micros;

    /// Time since an arbitrary start. It never goes back and never jumps, so it shows how far
    /// [`Self::now`] can be trusted.
    fn running(&self) -> Duration;
}

/// When the machine's clock was first read.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Micros {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn running(&self) -> Duration {
        START.elapsed()
    }
}

/// A clock that moves only when a test moves it.
#[derive(Debug, Default)]
pub struct FixedClock {
    now: AtomicI64,
    running_micros: AtomicU64,
}

impl FixedClock {
    /// A clock that stands at `now`.
    #[must_use]
    pub fn new(now: Micros) -> Self {
        Self { now: AtomicI64::new(now.0), running_micros: AtomicU64::new(0) }
    }

    /// Sets the clock to `now`, while no time passes.
    pub fn set(&self, now: Micros) {
        self.now.store(now.0, Ordering::SeqCst);
    }

    /// Lets `seconds` pass.
    pub fn pass(&self, seconds: u32) {
        let micros = i64::from(seconds) * Micros::SECOND;
        self.now.fetch_add(micros, Ordering::SeqCst);
        self.running_micros.fetch_add(micros.unsigned_abs(), Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Micros {
        Micros(self.now.load(Ordering::SeqCst))
    }

    fn running(&self) -> Duration {
        Duration::from_micros(self.running_micros.load(Ordering::SeqCst))
    }
}
