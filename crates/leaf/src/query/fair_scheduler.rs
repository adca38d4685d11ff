//! Whose turn it is.
//!
//! Turns go round by query, so that one over many leaves, which has a job on each, gets no more of
//! them than others. But a query that came in just now is *ahead*, and so is one that has not taken
//! much time yet: small ones are done before the large ones have had a turn each, also where a turn
//! of these is long, as it is where one of their blocks takes long. Those ahead have as much time as
//! the last turn of another took, so many small ones cannot keep a large one waiting for ever.
//! (Two levels of a multilevel feedback queue: Corbató, Merwin-Daggett and Daley, "An Experimental
//! Time-Sharing System", 1962.)

use std::collections::VecDeque;
use std::time::{Duration, Instant};

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

/// A query that has taken less time of threads is ahead of others. Where the machine is busy with other
/// things, too, that is some times as much as the query's own work.
pub(crate) const AHEAD: Duration = Duration::from_millis(100);

/// The jobs of all queries.
#[derive(Debug)]
pub(crate) struct Rounds<J> {
    /// Queries that had no turn yet, the first first.
    new: VecDeque<Jobs<J>>,
    /// The others; whoever had its turn goes to the back.
    round: VecDeque<Jobs<J>>,
    /// How much longer queries may be ahead of others.
    time_ahead: Duration,
}

/// Whose turn it is.
#[derive(Debug)]
pub(crate) struct Taken<J> {
    pub(crate) job: Arc<J>,
    /// Whether it is ahead of others.
    pub(crate) is_ahead: bool,
}

/// The jobs of one query.
#[derive(Debug)]
struct Jobs<J> {
    query: usize,
    jobs: Vec<Arc<J>>,
    /// The time of threads that it has taken.
    took: Duration,
}

impl<J> Default for Rounds<J> {
    fn default() -> Self {
        Self { new: VecDeque::new(), round: VecDeque::new(), time_ahead: AHEAD }
    }
}

impl<J: InTurns> Rounds<J> {
    /// Adds a job, which stays until it is removed.
    pub(crate) fn add(&mut self, job: Arc<J>) {
        let query = job.query();
        let known = self.all_mut().find(|own| own.query == query);
        match known {
            Some(own) => own.jobs.push(job),
            None => self.new.push_back(Jobs { query, jobs: vec![job], took: Duration::ZERO }),
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
    pub(crate) fn take(&mut self, now: Instant) -> Option<Taken<J>> {
        // Whoever is out of time is asked for what it has, and does not wait for its turn.
        let is_late = |job: &&Arc<J>| job.is_due(now) && job.opening() == Some(0);
        if let Some(late) = self.all().flat_map(|own| &own.jobs).find(is_late) {
            return Some(Taken { job: Arc::clone(late), is_ahead: true });
        }
        let is_ahead_first = self.time_ahead > Duration::ZERO;
        let ahead = if is_ahead_first { self.take_ahead() } else { None };
        ahead.or_else(|| self.take_next()).or_else(|| self.take_ahead())
    }

    /// The next job of a new query, or of the one that has taken least, if that is not much.
    fn take_ahead(&mut self) -> Option<Taken<J>> {
        let first_of = |queries: &VecDeque<Jobs<J>>| {
            let open = queries.iter().enumerate().filter_map(|(at, own)| {
                Some((own.took, at, own.opening().filter(|_| own.took < AHEAD)?))
            });
            open.min_by_key(|(took, at, _)| (*took, *at)).map(|(_, at, job)| (at, job))
        };
        let (own, job) = match first_of(&self.new) {
            Some((at, job)) => (self.new.remove(at)?, job),
            None => {
                let (at, job) = first_of(&self.round)?;
                (self.round.remove(at)?, job)
            }
        };
        self.round.push_back(own);
        Some(Taken { job, is_ahead: true })
    }

    /// The next job of the queries that had a turn, in the order of their turns.
    fn take_next(&mut self) -> Option<Taken<J>> {
        let mut all = self.round.iter().enumerate();
        let (at, job) = all.find_map(|(at, own)| Some((at, own.opening()?)))?;
        let own = self.round.remove(at)?;
        self.round.push_back(own);
        Some(Taken { job, is_ahead: false })
    }

    /// Notes how long a query's turn took.
    pub(crate) fn note(&mut self, query: usize, is_ahead: bool, took: Duration) {
        self.time_ahead = match is_ahead {
            true => self.time_ahead.saturating_sub(took),
            false => took,
        };
        if let Some(own) = self.all_mut().find(|own| own.query == query) {
            own.took += took;
        }
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
