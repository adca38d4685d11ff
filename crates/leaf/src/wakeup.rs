//! The signal that wakes the merge thread.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::sync::lock;

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
        *lock(&self.work) = true;
        self.wake.notify_one();
    }

    /// Waits for the signal, for [`MERGE_INTERVAL`] at most.
    pub(crate) fn wait(&self) {
        let work = lock(&self.work);
        let waited = self.wake.wait_timeout_while(work, MERGE_INTERVAL, |work| !*work);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}
