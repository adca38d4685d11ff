//! The signal that wakes the merge thread.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// The merge thread examines all tables at this interval, even if no batch comes in.
const MERGE_INTERVAL: Duration = Duration::from_secs(1);

/// Signals the merge thread that there may be work.
#[derive(Default)]
pub(crate) struct Wakeup {
    work: Mutex<bool>,
    wake: Condvar,
}

impl Wakeup {
    /// Signals that a batch came in.
    pub(crate) fn wake(&self) {
        *self.work.lock() = true;
        self.wake.notify_one();
    }

    /// Waits for the signal, for [`MERGE_INTERVAL`] at most.
    pub(crate) fn wait(&self) {
        let mut work = self.work.lock();
        self.wake.wait_while_for(&mut work, |work| !*work, MERGE_INTERVAL);
        *work = false;
    }
}
