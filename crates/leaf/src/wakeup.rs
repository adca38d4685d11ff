//! What wakes the merge.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::sync::lock;

/// The merge looks at all tables that often, even if no batch comes in.
const MERGE_INTERVAL: Duration = Duration::from_secs(1);

/// What tells the merge that there may be something to do.
#[derive(Default)]
pub(crate) struct Wakeup {
    work: Mutex<bool>,
    wake: Condvar,
}

impl Wakeup {
    /// Tells the merge that a batch came in.
    pub(crate) fn wake(&self) {
        *lock(&self.work) = true;
        self.wake.notify_one();
    }

    /// Waits until then, or until it is time to look anyway.
    pub(crate) fn wait(&self) {
        let work = lock(&self.work);
        let waited = self.wake.wait_timeout_while(work, MERGE_INTERVAL, |work| !*work);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}
