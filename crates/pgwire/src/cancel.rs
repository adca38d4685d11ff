//! Requests to cancel a statement, which come over connections of their own.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::Notify;

/// The sessions whose statements can be cancelled, by their numbers.
#[derive(Default)]
pub(crate) struct CancelRegistry {
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    last: u32,
    by_process: HashMap<u32, (u32, Arc<Notify>)>,
}

/// A session's entry in the registry, until it is dropped.
pub(crate) struct CancelKey {
    registry: Arc<CancelRegistry>,
    /// The number of the session, which clients take for that of a process.
    pub(crate) process: u32,
    /// The secret that a request must know.
    pub(crate) secret: u32,
    /// Notified by a request. Only the statement that runs at that moment is cancelled.
    pub(crate) cancelled: Arc<Notify>,
}

impl CancelRegistry {
    /// Adds a session.
    ///
    /// # Errors
    /// When the system's random source fails.
    pub(crate) fn add(self: &Arc<Self>) -> Result<CancelKey, ring::error::Unspecified> {
        let mut secret = [0; 4];
        SystemRandom::new().fill(&mut secret)?;
        let (secret, cancelled) = (u32::from_be_bytes(secret), Arc::new(Notify::new()));
        let mut sessions = self.sessions.lock();
        let mut process = sessions.last;
        loop {
            // Signed in many clients.
            process = if process >= i32::MAX.unsigned_abs() { 1 } else { process + 1 };
            if !sessions.by_process.contains_key(&process) {
                break;
            }
        }
        sessions.last = process;
        sessions.by_process.insert(process, (secret, Arc::clone(&cancelled)));
        Ok(CancelKey { registry: Arc::clone(self), process, secret, cancelled })
    }

    /// Cancels the statement that a session runs. A wrong secret is ignored.
    pub(crate) fn cancel(&self, process: u32, secret: u32) {
        if let Some((expected, cancelled)) = self.sessions.lock().by_process.get(&process)
            && *expected == secret
        {
            cancelled.notify_waiters();
        }
    }
}

impl Drop for CancelKey {
    fn drop(&mut self) {
        self.registry.sessions.lock().by_process.remove(&self.process);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn only_the_secret_cancels_and_only_what_runs() {
        let registry = Arc::new(CancelRegistry::default());
        let (first, second) = (registry.add().expect("a key"), registry.add().expect("a key"));
        assert_ne!(first.process, second.process);
        let mut context = Context::from_waker(Waker::noop());
        registry.cancel(first.process, first.secret);
        let cancelled = Arc::clone(&first.cancelled);
        let mut running = pin!(cancelled.notified());
        assert_eq!(running.as_mut().poll(&mut context), Poll::Pending, "it began later");
        registry.cancel(first.process, first.secret ^ 1);
        registry.cancel(second.process, second.secret);
        assert_eq!(running.as_mut().poll(&mut context), Poll::Pending);
        registry.cancel(first.process, first.secret);
        assert_eq!(running.as_mut().poll(&mut context), Poll::Ready(()));
        drop((first, second));
        assert!(registry.sessions.lock().by_process.is_empty());
    }
}
