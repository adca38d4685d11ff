//! A thread that works in the background of a leaf, until it is told to end.

use std::io;
use std::sync::Mutex;
use std::thread::JoinHandle;

use crate::sync::lock;

/// A place for one thread; empty at first.
#[derive(Default)]
pub(crate) struct Worker(Mutex<Option<JoinHandle<()>>>);

impl Worker {
    /// Starts the thread.
    pub(crate) fn start(
        &self,
        name: String,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let thread = std::thread::Builder::new().name(name).spawn(work)?;
        *lock(&self.0) = Some(thread);
        Ok(())
    }

    /// Wakes the thread, which has been told to end, and waits until it has.
    pub(crate) fn end(&self) {
        if let Some(thread) = lock(&self.0).take() {
            thread.thread().unpark();
            // One that panicked has nothing left to be waited for.
            let _ = thread.join();
        }
    }

    /// Waits for the thread no more, whatever it still does.
    pub(crate) fn leave(&self) {
        drop(lock(&self.0).take());
    }
}
