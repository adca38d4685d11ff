//! A morsel queue: hands out the blocks of one job one by one to any idle worker.
//!
//! A *worker* joins, takes blocks until there are none or its turn is over, and leaves its state to
//! the queue. The next worker that joins continues with a state that another worker left, so there
//! are never more states than workers at the same time. The last worker to leave, once all blocks
//! are done, gets all states; this happens once. Idea: Leis et al., "Morsel-Driven Parallelism",
//! SIGMOD 2014.
//!
//! ```text
//! join ──> next, next, next ... ──> leave ──┬─> others work, or blocks are left: nothing yet
//!                                           └─> the last: all states
//! ```
//!
//! When the states of several workers take too much memory together, the job is limited to one
//! worker: all workers leave, and the next worker begins with all states merged.

use super::locks::{Mutex, MutexGuard, PoisonError};

/// The progress of a job's blocks, and the worker states.
#[derive(Debug)]
pub(crate) struct MorselQueue<F>(Mutex<State<F>>);

#[derive(Debug)]
struct State<F> {
    /// The first block that was not handed out.
    next: usize,
    blocks: usize,
    workers: usize,
    /// Blocks that were given back.
    returned: Vec<usize>,
    /// The states of workers that left.
    worker_states: Vec<F>,
    /// No further block is handed out, although there are some.
    stopped: bool,
    is_limited: bool,
    /// All states were given to the last worker, or are worthless.
    is_finished: bool,
}

/// The end of a job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finished<F> {
    /// The states of its workers.
    pub(crate) worker_states: Vec<F>,
    /// Whether all blocks were scanned.
    pub(crate) complete: bool,
}

impl<F> MorselQueue<F> {
    /// A queue of `blocks` blocks, possibly 0.
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

    /// The number of workers; `None` if there is no work for another worker. If another one would
    /// need a state of its own beside theirs, more than `worth_blocks` blocks must be left.
    pub(crate) fn workers_if_open(&self, worth_blocks: usize) -> Option<usize> {
        self.lock().workers_if_open(worth_blocks)
    }

    /// Joins the work, if there is some for another worker; returns the states to continue with.
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

    /// Skips the blocks that were not handed out yet.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopped |= state.has_blocks();
    }

    /// Has all states merged by a single worker before more blocks are scanned. Returns false, and
    /// changes nothing, if the calling worker has the only state.
    pub(crate) fn limit_to_one_worker(&self) -> bool {
        let mut state = self.lock();
        let is_alone = state.is_alone();
        state.is_limited |= !is_alone;
        !is_alone
    }

    /// Like [`Self::limit_to_one_worker`]. The block, which added nothing to the worker's state, is
    /// then scanned again by the single worker.
    pub(crate) fn give_back(&self, block: usize) -> bool {
        let is_limited = self.limit_to_one_worker();
        if is_limited {
            self.lock().returned.push(block);
        }
        is_limited
    }

    /// Leaves the work. Returns all states if the job is finished.
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

    /// Leaves the work for a worker that failed: the states of the others are then worthless.
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

    /// Whether one worker has the only state.
    const fn is_alone(&self) -> bool {
        self.workers == 1 && self.worker_states.is_empty()
    }

    /// One worker must end the job, even if no blocks are left. More join only if there is a block
    /// for each, as their states must be merged.
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
