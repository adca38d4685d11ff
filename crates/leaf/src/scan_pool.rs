//! The threads that scan: one pool for all leaves of a process.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use crate::job::ScanJob;
use crate::pool::Pool;

/// Threads that run the queries of all leaves of a process in turn, a few milliseconds each. They
/// end when the last leaf is dropped.
pub struct ScanPool {
    pool: Arc<Pool<ScanJob>>,
    threads: Vec<JoinHandle<()>>,
}

impl ScanPool {
    /// Starts so many threads, one at least: one for each core is best.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn new(threads: usize) -> std::io::Result<Arc<Self>> {
        let mut started = Self { pool: Arc::new(Pool::new(Instant::now)), threads: Vec::new() };
        for index in 0..threads.max(1) {
            let pool = Arc::clone(&started.pool);
            let thread = std::thread::Builder::new().name(format!("scan-{index}"));
            started.threads.push(thread.spawn(move || pool.work())?);
        }
        Ok(Arc::new(started))
    }

    /// Queues a job.
    pub(crate) fn run(&self, job: Arc<ScanJob>) {
        self.pool.run(job);
    }
}

impl Drop for ScanPool {
    fn drop(&mut self) {
        self.pool.stop();
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing left to be waited for.
            let _ = thread.join();
        }
    }
}
