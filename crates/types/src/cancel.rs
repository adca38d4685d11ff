//! Cancels work on another thread when no caller waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The flag that the work checks.
#[derive(Clone, Debug, Default)]
pub struct Cancelled(Arc<AtomicBool>);

/// Held by the waiting caller; dropping it cancels the work.
#[derive(Debug, Default)]
pub struct CancelOnDrop(Cancelled);

impl Cancelled {
    /// Whether the caller has gone.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl CancelOnDrop {
    /// The flag that the work checks now and then.
    #[must_use]
    pub fn cancelled(&self) -> Cancelled {
        self.0.clone()
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_goes_cancels() {
        let waits = CancelOnDrop::default();
        let cancelled = waits.cancelled();
        assert!(!cancelled.is_cancelled());
        drop(waits);
        assert!(cancelled.is_cancelled());
    }
}
