//! Who works on what: threads take turns of a few milliseconds at queries, block by block.
//!
//! A turn belongs to a query. The thread takes blocks of any of the query's jobs, those that others
//! work on included, until the turn is over; so whatever leaf the blocks are of, no thread is idle
//! while there are some, and a small query never waits for the end of a large one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::fair_scheduler::{FairScheduler, Schedulable, Turn};
use super::locks::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use super::morsel_queue::{Finished, MorselQueue};

/// How long a thread works for a query before the next one gets its turn.
pub(crate) const TURN: Duration = Duration::from_millis(5);

/// One query's work on one leaf.
pub(crate) trait Job: Schedulable {
    /// What a worker has found in the blocks that it looked at.
    type WorkerState;

    /// The blocks.
    fn queue(&self) -> &MorselQueue<Self::WorkerState>;
    /// Whether nothing more is to be looked for, having found this.
    fn is_done(&self, worker_state: &Self::WorkerState) -> bool;
    /// What a worker begins with, which goes on where others have left.
    fn begin(&self, left: Vec<Self::WorkerState>) -> Self::WorkerState;
    /// Looks at a block.
    fn scan_block(&self, block: usize, worker_state: &mut Self::WorkerState);
    /// Notes how long looking at the last block took.
    fn note(&self, took: Duration, worker_state: &mut Self::WorkerState);
    /// Takes what all have found: called once, unless the job fails.
    fn end(&self, ended: Finished<Self::WorkerState>);
    /// Gives the job up, because looking at a block failed; [`Self::end`] is not called.
    fn fail(&self);
}

/// Jobs, and the threads that work on them: those that call [`WorkerPool::work`].
pub(crate) struct WorkerPool<J> {
    state: Mutex<State<J>>,
    ready: Condvar,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
}

struct State<J> {
    scheduler: FairScheduler<J>,
    /// Threads that have nothing to do.
    idle: usize,
    stopping: bool,
}

/// A job that a thread has joined, and what it goes on with.
struct JoinedJob<J: Job> {
    job: Arc<J>,
    left: Vec<J::WorkerState>,
    has_priority: bool,
}

impl<J: Job> WorkerPool<J> {
    /// No jobs yet; `clock` says what time it is.
    pub(crate) fn new(clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        let state = State { scheduler: FairScheduler::default(), idle: 0, stopping: false };
        Self { state: Mutex::new(state), ready: Condvar::new(), clock: Box::new(clock) }
    }

    /// Queues a job.
    pub(crate) fn run(&self, job: Arc<J>) {
        self.lock().scheduler.add(job);
        self.ready.notify_one();
    }

    /// Has all threads end, after the turns that they are in at the latest.
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

    /// A job to work on; `None` when the pool is stopped.
    fn wait(&self) -> Option<JoinedJob<J>> {
        let mut state = self.lock();
        while !state.stopping {
            if let Some(joined) = state.take((self.clock)()) {
                // One wakes the next, so that no more are woken than there is work for.
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

    /// Works for one turn on the jobs of a query, this one first; returns whose turn it was.
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

    /// Takes the turn that is next, if there is something to do; returns whose it was.
    #[cfg(test)]
    pub(crate) fn take_turn(&self) -> Option<usize> {
        let joined = self.lock().take((self.clock)())?;
        Some(self.turn(joined))
    }

    /// Works on a job until there is nothing to do or the turn is over.
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
    /// Joins the job whose turn it is.
    fn take(&mut self, now: Instant) -> Option<JoinedJob<J>> {
        join(|| self.scheduler.take(now))
    }

    /// Joins another job of the query whose turn it is.
    fn more_of(&self, query: usize) -> Option<JoinedJob<J>> {
        if self.stopping {
            return None;
        }
        join(|| Some(Turn { job: self.scheduler.more_of(query)?, has_priority: false }))
    }
}

/// Joins the first of the jobs offered that still has something to do by then.
fn join<J: Job>(mut offered: impl FnMut() -> Option<Turn<J>>) -> Option<JoinedJob<J>> {
    loop {
        let Turn { job, has_priority } = offered()?;
        if let Some(left) = job.queue().join() {
            return Some(JoinedJob { job, left, has_priority });
        }
    }
}
