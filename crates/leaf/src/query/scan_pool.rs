//! The scan threads: one pool for all leaves of a process.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::sync::Semaphore;

use crate::query::scan_job::ScanJob;
use crate::query::worker_pool::WorkerPool;

/// Threads that run the queries of all leaves of a process in turns of a few milliseconds. They end
/// when the last leaf is dropped.
pub struct ScanPool {
    pool: Arc<WorkerPool<ScanJob>>,
    threads: Vec<JoinHandle<()>>,
    merging: Arc<Semaphore>,
}

impl ScanPool {
    /// Starts `threads` threads, at least one; one per core is best.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn new(threads: usize) -> std::io::Result<Arc<Self>> {
        let threads = threads.max(1);
        let pool = Arc::new(WorkerPool::new(Instant::now));
        let merging = Arc::new(Semaphore::new(threads.div_ceil(2)));
        let mut started = Self { pool, threads: Vec::new(), merging };
        for index in 0..threads {
            let pool = Arc::clone(&started.pool);
            let thread = std::thread::Builder::new().name(format!("scan-{index}"));
            started.threads.push(thread.spawn(move || pool.work())?);
        }
        Ok(Arc::new(started))
    }

    /// Limits how many queries may merge worker states at once: half the number of scan threads,
    /// rounded up, so that these make progress meanwhile.
    pub(crate) fn merging(&self) -> &Arc<Semaphore> {
        &self.merging
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
            // A thread that panicked needs no further wait.
            let _ = thread.join();
        }
    }
}
