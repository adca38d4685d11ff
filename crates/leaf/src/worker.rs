//! A background thread of a leaf, which runs until it is asked to end.

use std::io;
use std::thread::JoinHandle;

use parking_lot::Mutex;

/// Holds one thread; empty at first.
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
        *self.0.lock() = Some(thread);
        Ok(())
    }

    /// Wakes the thread, which has already been asked to end, and waits for it.
    pub(crate) fn end(&self) {
        if let Some(thread) = self.0.lock().take() {
            thread.thread().unpark();
            // A thread that panicked needs no further wait.
            let _ = thread.join();
        }
    }

    /// Detaches the thread: nothing waits for it any more.
    pub(crate) fn leave(&self) {
        drop(self.0.lock().take());
    }
}
