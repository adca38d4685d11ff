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
pub(crate) trait Schedulable {
    /// What tells queries apart.
    fn query(&self) -> usize;
    /// How many work on it; `None` when it has nothing to do for one more.
    fn workers_if_open(&self) -> Option<usize>;
    /// Whether only its end is left to do, as it is out of time.
    fn is_due(&self, now: Instant) -> bool;
}

/// A query that has taken less time of threads is ahead of others. Where the machine is busy with other
/// things, too, that is some times as much as the query's own work.
pub(crate) const SHORT_QUERY_TIME: Duration = Duration::from_millis(100);

/// The jobs of all queries.
#[derive(Debug)]
pub(crate) struct FairScheduler<J> {
    /// Queries that had no turn yet, the first first.
    new: VecDeque<QueryJobs<J>>,
    /// The others; whoever had its turn goes to the back.
    served: VecDeque<QueryJobs<J>>,
    /// How much longer queries may be ahead of others.
    priority_time_left: Duration,
}

/// Whose turn it is.
#[derive(Debug)]
pub(crate) struct Turn<J> {
    pub(crate) job: Arc<J>,
    /// Whether it is ahead of others.
    pub(crate) has_priority: bool,
}

/// The jobs of one query.
#[derive(Debug)]
struct QueryJobs<J> {
    query: usize,
    jobs: Vec<Arc<J>>,
    /// The time of threads that it has taken.
    took: Duration,
}

impl<J> Default for FairScheduler<J> {
    fn default() -> Self {
        Self { new: VecDeque::new(), served: VecDeque::new(), priority_time_left: SHORT_QUERY_TIME }
    }
}

impl<J: Schedulable> FairScheduler<J> {
    /// Adds a job, which stays until it is removed.
    pub(crate) fn add(&mut self, job: Arc<J>) {
        let query = job.query();
        let queued = self.all_mut().find(|entry| entry.query == query);
        match queued {
            Some(entry) => entry.jobs.push(job),
            None => self.new.push_back(QueryJobs { query, jobs: vec![job], took: Duration::ZERO }),
        }
    }

    /// Removes a job.
    pub(crate) fn remove(&mut self, job: &Arc<J>) {
        for entry in self.all_mut().filter(|entry| entry.query == job.query()) {
            entry.jobs.retain(|other| !Arc::ptr_eq(job, other));
        }
        self.new.retain(|entry| !entry.jobs.is_empty());
        self.served.retain(|entry| !entry.jobs.is_empty());
    }

    /// The job whose turn it is.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Turn<J>> {
        // Whoever is out of time is asked for what it has, and does not wait for its turn.
        let is_late = |job: &&Arc<J>| job.is_due(now) && job.workers_if_open() == Some(0);
        if let Some(late) = self.all().flat_map(|entry| &entry.jobs).find(is_late) {
            return Some(Turn { job: Arc::clone(late), has_priority: true });
        }
        let is_priority_first = self.priority_time_left > Duration::ZERO;
        let ahead = if is_priority_first { self.take_priority() } else { None };
        ahead.or_else(|| self.take_next()).or_else(|| self.take_priority())
    }

    /// The next job of a new query, or of the one that has taken least, if that is not much.
    fn take_priority(&mut self) -> Option<Turn<J>> {
        let first_of = |queries: &VecDeque<QueryJobs<J>>| {
            let open = queries.iter().enumerate().filter_map(|(at, entry)| {
                Some((
                    entry.took,
                    at,
                    entry.workers_if_open().filter(|_| entry.took < SHORT_QUERY_TIME)?,
                ))
            });
            open.min_by_key(|(took, at, _)| (*took, *at)).map(|(_, at, job)| (at, job))
        };
        let (entry, job) = match first_of(&self.new) {
            Some((at, job)) => (self.new.remove(at)?, job),
            None => {
                let (at, job) = first_of(&self.served)?;
                (self.served.remove(at)?, job)
            }
        };
        self.served.push_back(entry);
        Some(Turn { job, has_priority: true })
    }

    /// The next job of the queries that had a turn, in the order of their turns.
    fn take_next(&mut self) -> Option<Turn<J>> {
        let mut all = self.served.iter().enumerate();
        let (at, job) = all.find_map(|(at, entry)| Some((at, entry.workers_if_open()?)))?;
        let entry = self.served.remove(at)?;
        self.served.push_back(entry);
        Some(Turn { job, has_priority: false })
    }

    /// Notes how long a query's turn took.
    pub(crate) fn note(&mut self, query: usize, has_priority: bool, took: Duration) {
        self.priority_time_left = match has_priority {
            true => self.priority_time_left.saturating_sub(took),
            false => took,
        };
        if let Some(entry) = self.all_mut().find(|entry| entry.query == query) {
            entry.took += took;
        }
    }

    /// Another job of a query whose turn it is.
    pub(crate) fn more_of(&self, query: usize) -> Option<Arc<J>> {
        self.all().find(|entry| entry.query == query)?.workers_if_open()
    }

    /// Whether there is something to do for one more.
    pub(crate) fn has_open_job(&self) -> bool {
        self.all().flat_map(|entry| &entry.jobs).any(|job| job.workers_if_open().is_some())
    }

    fn all(&self) -> impl Iterator<Item = &QueryJobs<J>> {
        self.new.iter().chain(&self.served)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut QueryJobs<J>> {
        self.new.iter_mut().chain(&mut self.served)
    }
}

impl<J: Schedulable> QueryJobs<J> {
    /// The job that fewest work on: to share one means to have more to merge.
    fn workers_if_open(&self) -> Option<Arc<J>> {
        let open = self.jobs.iter().filter_map(|job| Some((job.workers_if_open()?, job)));
        open.min_by_key(|(workers, _)| *workers).map(|(_, job)| Arc::clone(job))
    }
}
