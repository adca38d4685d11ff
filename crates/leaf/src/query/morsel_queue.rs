//! The blocks of one job, handed out one by one to any worker that has time: a morsel queue.
//!
//! A *worker* joins, takes blocks until there are none or its turn is over, and leaves its state. The
//! next worker that joins goes on with a state that was left, so there are never more states than
//! there were workers at the same time. The last worker to leave, once all blocks are done, gets all
//! states; this happens once. Idea: Leis et al., "Morsel-Driven Parallelism", SIGMOD 2014.
//!
//! ```text
//! join ──> next, next, next ... ──> leave ──┬─> others work, or blocks are left: nothing yet
//!                                           └─> the last: all states
//! ```
//!
//! When the states of several workers take too much memory together, the job is limited to one
//! worker: all leave, and the next one begins with all states merged.

use super::locks::{Mutex, MutexGuard, PoisonError};

/// Which blocks of a job are done, by whom, and what was found.
#[derive(Debug)]
pub(crate) struct MorselQueue<F>(Mutex<State<F>>);

#[derive(Debug)]
struct State<F> {
    /// The first block that nobody has taken.
    next: usize,
    blocks: usize,
    workers: usize,
    /// Blocks that were given back.
    returned: Vec<usize>,
    /// What those found who left.
    worker_states: Vec<F>,
    /// No further block is handed out, although there are some.
    stopped: bool,
    is_limited: bool,
    /// All was given to the last worker, or is worth nothing.
    is_finished: bool,
}

/// What became of a job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finished<F> {
    /// What its workers found.
    pub(crate) worker_states: Vec<F>,
    /// All blocks were looked at.
    pub(crate) complete: bool,
}

impl<F> MorselQueue<F> {
    /// So many blocks; there may be none.
    pub(crate) const fn new(blocks: usize) -> Self {
        Self(Mutex::new(State {
            next: 0,
            blocks,
            workers: 0,
            returned: Vec::new(),
            worker_states: Vec::new(),
            stopped: false,
            is_limited: false,
            is_finished: false,
        }))
    }

    /// How many work on it; `None` when it has nothing to do for one more. A worker state more is worth
    /// more than so many blocks.
    pub(crate) fn workers_if_open(&self, worth_blocks: usize) -> Option<usize> {
        self.lock().workers_if_open(worth_blocks)
    }

    /// Joins the work, if there is some for one more; returns what is to be gone on with.
    pub(crate) fn join(&self) -> Option<Vec<F>> {
        let mut state = self.lock();
        state.workers_if_open(0)?;
        state.workers += 1;
        let kept = if state.is_limited { 0 } else { state.worker_states.len().saturating_sub(1) };
        Some(state.worker_states.split_off(kept))
    }

    /// The next block for a worker; `None` when it has to leave.
    pub(crate) fn next(&self) -> Option<usize> {
        let mut state = self.lock();
        let is_alone = state.is_alone();
        if !state.has_blocks() || state.is_limited && !is_alone {
            return None;
        }
        if let Some(block) = state.returned.pop() {
            return Some(block);
        }
        state.next += 1;
        Some(state.next - 1)
    }

    /// Leaves out the blocks that nobody has taken yet.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopped |= state.has_blocks();
    }

    /// Has what was found made one, by a worker of its own, before more is looked for. Returns
    /// false, and changes nothing, when it is one already: that of the worker that calls.
    pub(crate) fn limit_to_one_worker(&self) -> bool {
        let mut state = self.lock();
        let is_alone = state.is_alone();
        state.is_limited |= !is_alone;
        !is_alone
    }

    /// As [`Self::limit_to_one_worker`]; then the block, of which nothing was added to what was found, is looked at
    /// again by the worker that is alone.
    pub(crate) fn give_back(&self, block: usize) -> bool {
        let is_limited = self.limit_to_one_worker();
        if is_limited {
            self.lock().returned.push(block);
        }
        is_limited
    }

    /// Leaves the work. Returns what all have found if that was the end of it.
    pub(crate) fn leave(&self, worker_state: F) -> Option<Finished<F>> {
        let mut state = self.lock();
        state.workers -= 1;
        if state.is_finished {
            return None;
        }
        state.worker_states.push(worker_state);
        if state.workers > 0 || state.has_blocks() {
            return None;
        }
        state.is_finished = true;
        let complete = !state.stopped;
        Some(Finished { worker_states: std::mem::take(&mut state.worker_states), complete })
    }

    /// Leaves the work for a worker that failed: then nothing that others found is of use.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.workers -= 1;
        state.is_finished = true;
        state.worker_states.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State<F>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F> State<F> {
    const fn has_blocks(&self) -> bool {
        (self.next < self.blocks || !self.returned.is_empty()) && !self.stopped && !self.is_finished
    }

    /// Whether all that was found is with one worker.
    const fn is_alone(&self) -> bool {
        self.workers == 1 && self.worker_states.is_empty()
    }

    /// Somebody has to end the job, even where no blocks are left; others join where there is a
    /// block for each, as what they find has to be merged.
    fn workers_if_open(&self, worth_blocks: usize) -> Option<usize> {
        let is_open = match self.workers {
            0 => !self.is_finished,
            workers => {
                let has_states = !self.worker_states.is_empty();
                let least = if has_states { workers } else { workers.max(worth_blocks) };
                self.has_blocks() && !self.is_limited && self.blocks - self.next > least
            }
        };
        is_open.then_some(self.workers)
    }
}
