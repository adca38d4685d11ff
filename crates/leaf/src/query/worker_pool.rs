//! Who works on what: threads take turns of a few milliseconds at queries, block by block.
//!
//! A turn belongs to a query. The thread takes blocks of any of the query's jobs, those that others
//! work on included, until the turn is over; so whatever leaf the blocks are of, no thread is idle
//! while there are some, and a small query never waits for the end of a large one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::fair_scheduler::{InTurns, Rounds, Taken};
use super::locks::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use super::morsel_queue::{Ended, Handout};

/// How long a thread works for a query before the next one gets its turn.
pub(crate) const TURN: Duration = Duration::from_millis(5);

/// One query's work on one leaf.
pub(crate) trait Job: InTurns {
    /// What a worker has found in the blocks that it looked at.
    type Finding;

    /// The blocks.
    fn handout(&self) -> &Handout<Self::Finding>;
    /// Whether nothing more is to be looked for, having found this.
    fn is_done(&self, finding: &Self::Finding) -> bool;
    /// What a worker begins with, which goes on where others have left.
    fn begin(&self, left: Vec<Self::Finding>) -> Self::Finding;
    /// Looks at a block.
    fn look(&self, block: usize, finding: &mut Self::Finding);
    /// Notes how long looking at the last block took.
    fn note(&self, took: Duration, finding: &mut Self::Finding);
    /// Takes what all have found: called once, unless the job fails.
    fn end(&self, ended: Ended<Self::Finding>);
    /// Gives the job up, because looking at a block failed; [`Self::end`] is not called.
    fn fail(&self);
}

/// Jobs, and the threads that work on them: those that call [`Pool::work`].
pub(crate) struct Pool<J> {
    state: Mutex<State<J>>,
    ready: Condvar,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
}

struct State<J> {
    rounds: Rounds<J>,
    /// Threads that have nothing to do.
    idle: usize,
    stopping: bool,
}

/// A job that a thread has joined, and what it goes on with.
struct Joined<J: Job> {
    job: Arc<J>,
    left: Vec<J::Finding>,
    is_ahead: bool,
}

impl<J: Job> Pool<J> {
    /// No jobs yet; `clock` says what time it is.
    pub(crate) fn new(clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        let state = State { rounds: Rounds::default(), idle: 0, stopping: false };
        Self { state: Mutex::new(state), ready: Condvar::new(), clock: Box::new(clock) }
    }

    /// Queues a job.
    pub(crate) fn run(&self, job: Arc<J>) {
        self.lock().rounds.add(job);
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
    fn wait(&self) -> Option<Joined<J>> {
        let mut state = self.lock();
        while !state.stopping {
            if let Some(joined) = state.take((self.clock)()) {
                // One wakes the next, so that no more are woken than there is work for.
                if state.idle > 0 && state.rounds.has_opening() {
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
    fn turn(&self, joined: Joined<J>) -> usize {
        let (query, is_ahead) = (joined.job.query(), joined.is_ahead);
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
        self.lock().rounds.note(query, is_ahead, took);
        query
    }

    /// Takes the turn that is next, if there is something to do; returns whose it was.
    #[cfg(test)]
    pub(crate) fn take_turn(&self) -> Option<usize> {
        let joined = self.lock().take((self.clock)())?;
        Some(self.turn(joined))
    }

    /// Works on a job until there is nothing to do or the turn is over.
    fn serve(&self, Joined { job, left, .. }: Joined<J>, over: Instant) {
        match catch_unwind(AssertUnwindSafe(|| self.look(&job, left, over))) {
            Ok(finding) => {
                if let Some(ended) = job.handout().leave(finding) {
                    self.lock().rounds.remove(&job);
                    job.end(ended);
                }
            }
            Err(_) => {
                tracing::error!("a query panicked; the leaf goes on");
                job.handout().abandon();
                self.lock().rounds.remove(&job);
                job.fail();
            }
        }
    }

    fn look(&self, job: &J, left: Vec<J::Finding>, over: Instant) -> J::Finding {
        let mut finding = job.begin(left);
        let mut now = (self.clock)();
        loop {
            if job.is_due(now) || job.is_done(&finding) {
                job.handout().stop();
            }
            let Some(block) = job.handout().next() else { return finding };
            job.look(block, &mut finding);
            let begun = std::mem::replace(&mut now, (self.clock)());
            job.note(now.saturating_duration_since(begun), &mut finding);
            if now >= over {
                return finding;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J: Job> State<J> {
    /// Joins the job whose turn it is.
    fn take(&mut self, now: Instant) -> Option<Joined<J>> {
        join(|| self.rounds.take(now))
    }

    /// Joins another job of the query whose turn it is.
    fn more_of(&self, query: usize) -> Option<Joined<J>> {
        if self.stopping {
            return None;
        }
        join(|| Some(Taken { job: self.rounds.more_of(query)?, is_ahead: false }))
    }
}

/// Joins the first of the jobs offered that still has something to do by then.
fn join<J: Job>(mut offered: impl FnMut() -> Option<Taken<J>>) -> Option<Joined<J>> {
    loop {
        let Taken { job, is_ahead } = offered()?;
        if let Some(left) = job.handout().join() {
            return Some(Joined { job, left, is_ahead });
        }
    }
}
