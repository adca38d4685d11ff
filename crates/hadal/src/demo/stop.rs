//! A signal that tells background threads to end, and that they can wait for.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Whether to stop; clones share the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<(Mutex<bool>, Condvar)>);

impl Stop {
    /// Signals all threads to stop.
    pub(crate) fn stop(&self) {
        *self.0.0.lock() = true;
        self.0.1.notify_all();
    }

    /// Whether to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        *self.0.0.lock()
    }

    /// Waits for `time`, or until it is time to stop. Returns whether to stop.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let mut stopped = self.0.0.lock();
        self.0.1.wait_while_for(&mut stopped, |stopped| !*stopped, time);
        *stopped
    }
}
