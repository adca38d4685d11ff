//! A signal that tells background threads to end, and that they can wait for.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Whether to stop; clones share the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<(Mutex<bool>, Condvar)>);

impl Stop {
    /// Signals all threads to stop.
    pub(crate) fn stop(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Whether to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Waits for `time`, or until it is time to stop. Returns whether to stop.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let stopped = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.1.wait_timeout_while(stopped, time, |stopped| !*stopped);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
