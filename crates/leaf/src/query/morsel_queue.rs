//! The blocks of one job, handed out one by one to whoever has time for them.
//!
//! A *worker* joins, takes blocks until there are none or its turn is over, and leaves what it has
//! found. Whoever joins next goes on with that, so there are never more findings than there were
//! workers at the same time. The worker that leaves last, all blocks being done, gets all of them:
//! this happens once.
//!
//! ```text
//! join ──> next, next, next ... ──> leave ──┬─> others work, or blocks are left: nothing yet
//!                                           └─> the last: all findings
//! ```
//!
//! Where findings of several take too much memory together, the job is *crowded*: all leave, and
//! from then on there is one worker at a time, which begins with all findings made one.

use super::locks::{Mutex, MutexGuard, PoisonError};

/// Which blocks of a job are done, by whom, and what was found.
#[derive(Debug)]
pub(crate) struct Handout<F>(Mutex<State<F>>);

#[derive(Debug)]
struct State<F> {
    /// The first block that nobody has taken.
    next: usize,
    blocks: usize,
    workers: usize,
    /// Blocks that were given back.
    back: Vec<usize>,
    /// What those found who left.
    left: Vec<F>,
    /// No further block is handed out, although there are some.
    stopped: bool,
    crowded: bool,
    /// All was given to the last worker, or is worth nothing.
    ended: bool,
}

/// What became of a job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended<F> {
    /// What its workers found.
    pub(crate) findings: Vec<F>,
    /// All blocks were looked at.
    pub(crate) complete: bool,
}

impl<F> Handout<F> {
    /// So many blocks; there may be none.
    pub(crate) const fn new(blocks: usize) -> Self {
        Self(Mutex::new(State {
            next: 0,
            blocks,
            workers: 0,
            back: Vec::new(),
            left: Vec::new(),
            stopped: false,
            crowded: false,
            ended: false,
        }))
    }

    /// How many work on it; `None` when it has nothing to do for one more. A finding more is worth
    /// more than so many blocks.
    pub(crate) fn opening(&self, worth_blocks: usize) -> Option<usize> {
        self.lock().opening(worth_blocks)
    }

    /// Joins the work, if there is some for one more; returns what is to be gone on with.
    pub(crate) fn join(&self) -> Option<Vec<F>> {
        let mut state = self.lock();
        state.opening(0)?;
        state.workers += 1;
        let kept = if state.crowded { 0 } else { state.left.len().saturating_sub(1) };
        Some(state.left.split_off(kept))
    }

    /// The next block for a worker; `None` when it has to leave.
    pub(crate) fn next(&self) -> Option<usize> {
        let mut state = self.lock();
        let is_alone = state.is_alone();
        if !state.has_blocks() || state.crowded && !is_alone {
            return None;
        }
        if let Some(block) = state.back.pop() {
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
    pub(crate) fn crowd(&self) -> bool {
        let mut state = self.lock();
        let is_alone = state.is_alone();
        state.crowded |= !is_alone;
        !is_alone
    }

    /// As [`Self::crowd`]; then the block, of which nothing was added to what was found, is looked at
    /// again by the worker that is alone.
    pub(crate) fn give_back(&self, block: usize) -> bool {
        let is_crowd = self.crowd();
        if is_crowd {
            self.lock().back.push(block);
        }
        is_crowd
    }

    /// Leaves the work. Returns what all have found if that was the end of it.
    pub(crate) fn leave(&self, finding: F) -> Option<Ended<F>> {
        let mut state = self.lock();
        state.workers -= 1;
        if state.ended {
            return None;
        }
        state.left.push(finding);
        if state.workers > 0 || state.has_blocks() {
            return None;
        }
        state.ended = true;
        let complete = !state.stopped;
        Some(Ended { findings: std::mem::take(&mut state.left), complete })
    }

    /// Leaves the work for a worker that failed: then nothing that others found is of use.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.workers -= 1;
        state.ended = true;
        state.left.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State<F>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F> State<F> {
    const fn has_blocks(&self) -> bool {
        (self.next < self.blocks || !self.back.is_empty()) && !self.stopped && !self.ended
    }

    /// Whether all that was found is with one worker.
    const fn is_alone(&self) -> bool {
        self.workers == 1 && self.left.is_empty()
    }

    /// Somebody has to end the job, even where no blocks are left; others join where there is a
    /// block for each, as what they find has to be merged.
    fn opening(&self, worth_blocks: usize) -> Option<usize> {
        let is_open = match self.workers {
            0 => !self.ended,
            workers => {
                let is_known = !self.left.is_empty();
                let least = if is_known { workers } else { workers.max(worth_blocks) };
                self.has_blocks() && !self.crowded && self.blocks - self.next > least
            }
        };
        is_open.then_some(self.workers)
    }
}
