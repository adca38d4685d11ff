//! Waits for a batch to be on disk, with or without blocking a thread.

use std::fmt;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::error::Error;
use crate::ids::Sequence;

type Callback = Box<dyn FnOnce(Result<(), Error>) + Send>;

enum Outcome {
    Open(Option<Callback>),
    Resolved(Result<(), Error>),
}

struct TicketState {
    outcome: Mutex<Outcome>,
    resolved: Condvar,
}

/// A claim on the outcome of one append.
pub struct Ticket {
    sequence: Sequence,
    state: Arc<TicketState>,
}

impl Ticket {
    /// The frame's sequence, by which a change records that it is consumed.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Blocks until the batch is durable, or has failed.
    ///
    /// # Errors
    /// [`Error::Full`] if the disk was full, and [`Error::Io`] if no file could be begun: the log
    /// holds nothing of the batch. [`Error::Poisoned`] if writing or syncing failed, and
    /// [`Error::Closed`] if the store was closed first: the batch may still appear in the log at
    /// the next open ([`Error::may_be_logged`]).
    pub fn wait(self) -> Result<(), Error> {
        let mut outcome = self.state.outcome.lock();
        loop {
            if let Outcome::Resolved(result) = &*outcome {
                return result.clone();
            }
            self.state.resolved.wait(&mut outcome);
        }
    }

    /// Calls `callback` with the result of [`Ticket::wait`] as soon as it is available: at once, or
    /// later on the log's thread, which `callback` must not block.
    pub fn then(self, callback: impl FnOnce(Result<(), Error>) + Send + 'static) {
        let mut outcome = self.state.outcome.lock();
        match &mut *outcome {
            Outcome::Open(waiting) => *waiting = Some(Box::new(callback)),
            Outcome::Resolved(result) => {
                let result = result.clone();
                drop(outcome);
                callback(result);
            }
        }
    }

    /// The ticket of a batch that needs no disk.
    pub(crate) fn done(sequence: Sequence) -> Self {
        let (ticket, promise) = ticket(sequence);
        promise.complete(Ok(()));
        ticket
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Ticket({})", self.sequence)
    }
}

/// The duty to resolve a ticket. Dropping it resolves the ticket with [`Error::Closed`], so that
/// nobody waits for ever.
pub(crate) struct Promise(Option<Arc<TicketState>>);

impl Promise {
    pub(crate) fn complete(mut self, result: Result<(), Error>) {
        self.tell(result);
    }

    fn tell(&mut self, result: Result<(), Error>) {
        let Some(state) = self.0.take() else { return };
        let before =
            std::mem::replace(&mut *state.outcome.lock(), Outcome::Resolved(result.clone()));
        state.resolved.notify_all();
        if let Outcome::Open(Some(callback)) = before {
            callback(result);
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.tell(Err(Error::Closed));
    }
}

/// A new ticket and its promise.
pub(crate) fn ticket(sequence: Sequence) -> (Ticket, Promise) {
    let outcome = Mutex::new(Outcome::Open(None));
    let state = Arc::new(TicketState { outcome, resolved: Condvar::new() });
    (Ticket { sequence, state: Arc::clone(&state) }, Promise(Some(state)))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn callbacks_come_before_and_after_the_outcome() {
        let (sender, receiver) = mpsc::channel();
        let (early, promise) = ticket(Sequence(1));
        let tell = sender.clone();
        early.then(move |result| tell.send(result.is_ok()).expect("received"));
        promise.complete(Ok(()));
        Ticket::done(Sequence(2))
            .then(move |result| sender.send(result.is_ok()).expect("received"));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [true, true]);
    }

    #[test]
    fn a_broken_promise_is_told() {
        let (ticket, promise) = ticket(Sequence(1));
        drop(promise);
        assert!(matches!(ticket.wait(), Err(Error::Closed)));
    }
}
