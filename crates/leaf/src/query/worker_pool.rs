//! Assigns work to threads: they take turns of a few milliseconds at queries, block by block.
//!
//! A turn belongs to a query. The thread takes blocks of any job of the query, including jobs with
//! other workers, until the turn is over. So no thread is idle while any leaf has blocks left, and
//! a small query never waits for the end of a large one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::fair_scheduler::{FairScheduler, Schedulable, Turn};
use super::locks::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use super::morsel_queue::{Finished, MorselQueue};

/// How long a thread works for a query before the next query gets its turn.
pub(crate) const TURN: Duration = Duration::from_millis(5);

/// One query's work on one leaf.
pub(crate) trait Job: Schedulable {
    /// The result of a worker for the blocks that it scanned.
    type WorkerState;

    /// The blocks.
    fn queue(&self) -> &MorselQueue<Self::WorkerState>;
    /// Whether no further block is needed, given this state.
    fn is_done(&self, worker_state: &Self::WorkerState) -> bool;
    /// Builds the state that a worker begins with, from states that others left.
    fn begin(&self, left: Vec<Self::WorkerState>) -> Self::WorkerState;
    /// Scans a block.
    fn scan_block(&self, block: usize, worker_state: &mut Self::WorkerState);
    /// Notes how long the last block took.
    fn note(&self, took: Duration, worker_state: &mut Self::WorkerState);
    /// Receives the states of all workers: called once, unless the job fails.
    fn end(&self, ended: Finished<Self::WorkerState>);
    /// Fails the job because scanning a block panicked; [`Self::end`] is not called.
    fn fail(&self);
}

/// Jobs, and the threads that work on them by calling [`WorkerPool::work`].
pub(crate) struct WorkerPool<J> {
    state: Mutex<State<J>>,
    ready: Condvar,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
}

struct State<J> {
    scheduler: FairScheduler<J>,
    /// Threads without work.
    idle: usize,
    stopping: bool,
}

/// A job that a thread has joined, and the states to continue with.
struct JoinedJob<J: Job> {
    job: Arc<J>,
    left: Vec<J::WorkerState>,
    has_priority: bool,
}

impl<J: Job> WorkerPool<J> {
    /// A pool without jobs; `clock` returns the current time.
    pub(crate) fn new(clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        let state = State { scheduler: FairScheduler::default(), idle: 0, stopping: false };
        Self { state: Mutex::new(state), ready: Condvar::new(), clock: Box::new(clock) }
    }

    /// Queues a job.
    pub(crate) fn run(&self, job: Arc<J>) {
        self.lock().scheduler.add(job);
        self.ready.notify_one();
    }

    /// Ends all threads, at the latest after their current turns.
    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.ready.notify_all();
    }

    /// Works until the pool is stopped.
    pub(crate) fn work(&self) {
        while let Some(joined) = self.wait() {
            self.turn(joined);
        }
    }

    /// Waits for a job to work on; `None` when the pool is stopped.
    fn wait(&self) -> Option<JoinedJob<J>> {
        let mut state = self.lock();
        while !state.stopping {
            if let Some(joined) = state.take((self.clock)()) {
                // Each thread wakes the next, so that no more are woken than there is work for.
                if state.idle > 0 && state.scheduler.has_open_job() {
                    self.ready.notify_one();
                }
                return Some(joined);
            }
            state.idle += 1;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
        None
    }

    /// Works for one turn on the jobs of a query, `joined` first; returns the query.
    fn turn(&self, joined: JoinedJob<J>) -> usize {
        let (query, has_priority) = (joined.job.query(), joined.has_priority);
        let begun = (self.clock)();
        let over = begun + TURN;
        let mut next = Some(joined);
        while let Some(joined) = next {
            self.serve(joined, over);
            next = match (self.clock)() < over {
                true => self.lock().more_of(query),
                false => None,
            };
        }
        let took = (self.clock)().saturating_duration_since(begun);
        self.lock().scheduler.note(query, has_priority, took);
        query
    }

    /// Takes the next turn, if there is work; returns its query.
    #[cfg(test)]
    pub(crate) fn take_turn(&self) -> Option<usize> {
        let joined = self.lock().take((self.clock)())?;
        Some(self.turn(joined))
    }

    /// Works on a job until it has no more blocks or the turn is over.
    fn serve(&self, JoinedJob { job, left, .. }: JoinedJob<J>, over: Instant) {
        match catch_unwind(AssertUnwindSafe(|| self.scan_blocks(&job, left, over))) {
            Ok(worker_state) => {
                if let Some(ended) = job.queue().leave(worker_state) {
                    self.lock().scheduler.remove(&job);
                    job.end(ended);
                }
            }
            Err(_) => {
                tracing::error!("a query panicked; the leaf goes on");
                job.queue().abandon();
                self.lock().scheduler.remove(&job);
                job.fail();
            }
        }
    }

    fn scan_blocks(&self, job: &J, left: Vec<J::WorkerState>, over: Instant) -> J::WorkerState {
        let mut worker_state = job.begin(left);
        let mut now = (self.clock)();
        loop {
            if job.is_due(now) || job.is_done(&worker_state) {
                job.queue().stop();
            }
            let Some(block) = job.queue().next() else { return worker_state };
            job.scan_block(block, &mut worker_state);
            let begun = std::mem::replace(&mut now, (self.clock)());
            job.note(now.saturating_duration_since(begun), &mut worker_state);
            if now >= over {
                return worker_state;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J: Job> State<J> {
    /// Joins the job with the next turn.
    fn take(&mut self, now: Instant) -> Option<JoinedJob<J>> {
        join(|| self.scheduler.take(now))
    }

    /// Joins another job of the query that has the turn.
    fn more_of(&self, query: usize) -> Option<JoinedJob<J>> {
        if self.stopping {
            return None;
        }
        join(|| Some(Turn { job: self.scheduler.more_of(query)?, has_priority: false }))
    }
}

/// Joins the first offered job that still has work at that point.
fn join<J: Job>(mut offered: impl FnMut() -> Option<Turn<J>>) -> Option<JoinedJob<J>> {
    loop {
        let Turn { job, has_priority } = offered()?;
        if let Some(left) = job.queue().join() {
            return Some(JoinedJob { job, left, has_priority });
        }
    }
}
