//! Whose turn it is.
//!
//! Turns go round by query, so that one over many leaves, which has a job on each, gets no more of
//! them than others. A query that came in just now is next, but only every other time: small ones
//! are done before the large ones have had a turn each, and still many small ones cannot keep a
//! large one waiting for ever.

use std::collections::VecDeque;
use std::time::Instant;

use super::locks::Arc;

/// A part of a query's work that can be taken up for a turn.
pub(crate) trait InTurns {
    /// What tells queries apart.
    fn query(&self) -> usize;
    /// How many work on it; `None` when it has nothing to do for one more.
    fn opening(&self) -> Option<usize>;
    /// Whether only its end is left to do, as it is out of time.
    fn is_due(&self, now: Instant) -> bool;
}

/// The jobs of all queries.
#[derive(Debug)]
pub(crate) struct Rounds<J> {
    /// Queries that had no turn yet, the first first.
    new: VecDeque<Jobs<J>>,
    /// The others; whoever had its turn goes to the back.
    round: VecDeque<Jobs<J>>,
    was_new: bool,
}

/// The jobs of one query.
#[derive(Debug)]
struct Jobs<J> {
    query: usize,
    jobs: Vec<Arc<J>>,
}

impl<J> Default for Rounds<J> {
    fn default() -> Self {
        Self { new: VecDeque::new(), round: VecDeque::new(), was_new: false }
    }
}

impl<J: InTurns> Rounds<J> {
    /// Adds a job, which stays until it is removed.
    pub(crate) fn add(&mut self, job: Arc<J>) {
        let query = job.query();
        let known = self.all_mut().find(|own| own.query == query);
        match known {
            Some(own) => own.jobs.push(job),
            None => self.new.push_back(Jobs { query, jobs: vec![job] }),
        }
    }

    /// Removes a job.
    pub(crate) fn remove(&mut self, job: &Arc<J>) {
        for own in self.all_mut().filter(|own| own.query == job.query()) {
            own.jobs.retain(|other| !Arc::ptr_eq(job, other));
        }
        self.new.retain(|own| !own.jobs.is_empty());
        self.round.retain(|own| !own.jobs.is_empty());
    }

    /// The job whose turn it is.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Arc<J>> {
        // Whoever is out of time is asked for what it has, and does not wait for its turn.
        let is_late = |job: &&Arc<J>| job.is_due(now) && job.opening() == Some(0);
        if let Some(late) = self.all().flat_map(|own| &own.jobs).find(is_late) {
            return Some(Arc::clone(late));
        }
        let is_new_first = !self.was_new || self.round.is_empty();
        self.take_from(is_new_first).or_else(|| self.take_from(!is_new_first))
    }

    /// The next job of the new queries, or of the others.
    fn take_from(&mut self, new: bool) -> Option<Arc<J>> {
        let queries = if new { &mut self.new } else { &mut self.round };
        let (at, job) =
            queries.iter().enumerate().find_map(|(at, own)| Some((at, own.opening()?)))?;
        let own = queries.remove(at)?;
        self.round.push_back(own);
        self.was_new = new;
        Some(job)
    }

    /// Another job of a query whose turn it is.
    pub(crate) fn more_of(&self, query: usize) -> Option<Arc<J>> {
        self.all().find(|own| own.query == query)?.opening()
    }

    /// Whether there is something to do for one more.
    pub(crate) fn has_opening(&self) -> bool {
        self.all().flat_map(|own| &own.jobs).any(|job| job.opening().is_some())
    }

    fn all(&self) -> impl Iterator<Item = &Jobs<J>> {
        self.new.iter().chain(&self.round)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Jobs<J>> {
        self.new.iter_mut().chain(&mut self.round)
    }
}

impl<J: InTurns> Jobs<J> {
    /// The job that fewest work on: to share one means to have more to merge.
    fn opening(&self) -> Option<Arc<J>> {
        let open = self.jobs.iter().filter_map(|job| Some((job.opening()?, job)));
        open.min_by_key(|(workers, _)| *workers).map(|(_, job)| Arc::clone(job))
    }
}
