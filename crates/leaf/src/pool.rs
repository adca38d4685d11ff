//! The scan pool: plain threads that run queries in turn, a few milliseconds each.
//!
//! A query is a job that can stop after every block, so a small query never waits for the end
//! of a large one.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hadal_aggregate::{Partial, WarningCode};
use hadal_scan::Scan;
use tokio::sync::oneshot;

use crate::block::Block;
use crate::sync::lock;

/// How long a job runs before the next one gets its turn.
const TURN: Duration = Duration::from_millis(5);

/// One query over one snapshot of a table's blocks.
pub(crate) struct Job {
    pub(crate) scan: Scan,
    pub(crate) table: String,
    pub(crate) blocks: Arc<Vec<Arc<Block>>>,
    pub(crate) next: usize,
    pub(crate) rows_scanned: u64,
    pub(crate) partial: Partial,
    /// Bytes that the partial answer may take.
    pub(crate) bytes_max: usize,
    pub(crate) deadline: Instant,
    /// The longest that a block has taken so far.
    pub(crate) longest: Duration,
    pub(crate) cancelled: Arc<AtomicBool>,
    pub(crate) reply: oneshot::Sender<JobResult>,
}

/// What a job found.
pub(crate) struct JobResult {
    pub(crate) partial: Partial,
    pub(crate) rows_scanned: u64,
    /// All blocks were looked at in time.
    pub(crate) complete: bool,
}

/// Threads that run jobs.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<VecDeque<Job>>,
    ready: Condvar,
    stopping: AtomicBool,
}

impl Pool {
    /// Starts `threads` threads.
    pub(crate) fn new(threads: usize, name: &str) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let start = |index: usize| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new()
                .name(format!("{name}-scan-{index}"))
                .spawn(move || shared.work())
        };
        let threads = (0..threads.max(1)).map(start).collect::<Result<_, _>>()?;
        Ok(Self { shared, threads })
    }

    /// Queues a job.
    pub(crate) fn run(&self, job: Job) {
        lock(&self.shared.queue).push_back(job);
        self.shared.ready.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Taken once, so that no thread is between its check and its wait.
        drop(lock(&self.shared.queue));
        self.shared.ready.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing left to be waited for.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn work(&self) {
        while let Some(job) = self.take() {
            let running = catch_unwind(AssertUnwindSafe(|| job.turn()));
            match running {
                Ok(Some(job)) => {
                    lock(&self.queue).push_back(job);
                    self.ready.notify_one();
                }
                Ok(None) => {}
                // The job and its reply are gone, which its query sees as a leaf that failed.
                Err(_) => tracing::error!("a query panicked; the leaf goes on"),
            }
        }
    }

    fn take(&self) -> Option<Job> {
        let mut queue = lock(&self.queue);
        loop {
            if self.stopping.load(Ordering::SeqCst) {
                return None;
            }
            // Whoever is out of time is asked for what it has, and does not wait for its turn.
            let now = Instant::now();
            let at = queue.iter().position(|job| job.due() <= now).unwrap_or(0);
            if let Some(job) = queue.remove(at) {
                return Some(job);
            }
            queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Job {
    /// When no further block is begun: one that is not done by the deadline would take all that
    /// was found before down with it.
    fn due(&self) -> Instant {
        self.deadline.checked_sub(self.longest).unwrap_or(self.deadline)
    }

    /// Scans blocks until the turn is over; returns the job if it has more to do.
    fn turn(mut self) -> Option<Self> {
        let start = Instant::now();
        let mut over = false;
        while !over {
            let Some(block) = self.blocks.get(self.next).cloned() else {
                self.finish(start, true);
                return None;
            };
            if self.cancelled.load(Ordering::Relaxed) {
                return None;
            }
            let now = Instant::now();
            if now >= self.due() || !self.partial.faults.is_empty() {
                self.finish(start, false);
                return None;
            }
            self.scan_block(&block);
            self.longest = self.longest.max(now.elapsed());
            self.next += 1;
            over = start.elapsed() >= TURN;
        }
        self.spend(start);
        Some(self)
    }

    fn scan_block(&mut self, block: &Block) {
        let check = |index: usize, column: &hadal_block::ColumnView<'_>| block.check(index, column);
        let scanned =
            block.view().and_then(|view| self.scan.block(&view, &check, &mut self.partial));
        match scanned {
            Ok(()) => {
                self.rows_scanned += block.rows as u64;
                self.partial.hold(self.bytes_max);
            }
            Err(error) => {
                block.quarantine(&self.table, &error);
                self.partial.warn(WarningCode::BlocksUnreadable, &self.table, 1);
            }
        }
    }

    fn spend(&mut self, start: Instant) {
        let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.partial.stats.scan_micros += micros;
    }

    fn finish(mut self, start: Instant, complete: bool) {
        self.spend(start);
        let Self { partial, rows_scanned, reply, .. } = self;
        // Whoever asked may have gone.
        let _ = reply.send(JobResult { partial, rows_scanned, complete });
    }
}

#[cfg(test)]
mod tests {
    use hadal_query::{Query, Shape};
    use hadal_types::TableName;

    use super::*;

    /// A job that is known by the bytes that it may take.
    fn job(bytes_max: usize, deadline: Instant) -> Job {
        let query = Arc::new(Query {
            limit: 1,
            deadline: Duration::from_secs(1),
            ..Query::new(
                TableName::new("t").expect("a name"),
                Shape::Groups { keys: Vec::new(), measures: Vec::new() },
            )
        });
        Job {
            scan: Scan::new(Arc::clone(&query)).expect("a query"),
            table: query.table.to_string(),
            blocks: Arc::default(),
            next: 0,
            rows_scanned: 0,
            partial: Partial::empty(&query),
            bytes_max,
            deadline,
            longest: Duration::ZERO,
            cancelled: Arc::default(),
            reply: oneshot::channel().0,
        }
    }

    #[test]
    fn whoever_is_out_of_time_is_next() {
        let (shared, now) = (Shared::default(), Instant::now());
        let in_time = now + Duration::from_secs(3_600);
        for (index, deadline) in [in_time, in_time, now, now].into_iter().enumerate() {
            lock(&shared.queue).push_back(job(index, deadline));
        }
        // It has no time left for one more block like the last.
        let longest = Duration::from_secs(7_200);
        lock(&shared.queue).push_back(Job { longest, ..job(4, in_time) });
        let order: Vec<usize> =
            (0..5).filter_map(|_| shared.take()).map(|job| job.bytes_max).collect();
        assert_eq!(order, [2, 3, 4, 0, 1]);
    }
}
