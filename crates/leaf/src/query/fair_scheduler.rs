//! Schedules the turns of queries.
//!
//! Turns rotate by query, so a query with a job on each of many leaves gets no more turns than
//! other queries. But new queries have *priority*, and so do queries that have used little time. So
//! small queries finish before each large one has had a turn, even if one block of a large query
//! makes its turn long. Queries with priority share as much time as the last turn without priority
//! took. Therefore many small queries cannot starve a large one. (Two levels of a multilevel
//! feedback queue: Corbató, Merwin-Daggett and Daley, "An Experimental Time-Sharing System", 1962.)
//!
//! Each query gets its first turn as soon as possible. After that, queries with priority are served
//! in the order of arrival. If they took turns, all of them would be slow; if the one with the
//! least time came first, the slowest would wait for all others, again and again. Among queries
//! that are all short, the order of arrival has the shortest tail of waiting times (Stolyar and
//! Ramanan, "Largest Weighted Delay First Scheduling", 2001).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::locks::Arc;

/// A part of a query's work that can get a turn.
pub(crate) trait Schedulable {
    /// Identifies the query.
    fn query(&self) -> usize;
    /// The number of workers on it; `None` if it has no work for another worker.
    fn workers_if_open(&self) -> Option<usize>;
    /// Whether it is out of time, so that only its end is left to do.
    fn is_due(&self, now: Instant) -> bool;
}

/// A query that has used less thread time has priority. On a machine that is busy with other
/// programs, this limit is several times the query's own work.
pub(crate) const SHORT_QUERY_TIME: Duration = Duration::from_millis(100);

/// The jobs of all queries.
#[derive(Debug)]
pub(crate) struct FairScheduler<J> {
    /// Queries without a turn yet, in order of arrival.
    new: VecDeque<QueryJobs<J>>,
    /// The other queries; a query that had its turn moves to the back.
    served: VecDeque<QueryJobs<J>>,
    /// The number of queries that have arrived.
    arrived: u64,
    /// The time left for queries with priority.
    priority_time_left: Duration,
}

/// The job that gets the next turn.
#[derive(Debug)]
pub(crate) struct Turn<J> {
    pub(crate) job: Arc<J>,
    /// Whether its query has priority.
    pub(crate) has_priority: bool,
}

/// The jobs of one query.
#[derive(Debug)]
struct QueryJobs<J> {
    query: usize,
    /// Its place in the order of arrival.
    number: u64,
    jobs: Vec<Arc<J>>,
    /// The thread time that it has used.
    took: Duration,
}

impl<J> Default for FairScheduler<J> {
    fn default() -> Self {
        Self {
            new: VecDeque::new(),
            served: VecDeque::new(),
            arrived: 0,
            priority_time_left: SHORT_QUERY_TIME,
        }
    }
}

impl<J: Schedulable> FairScheduler<J> {
    /// Adds a job, which stays until [`Self::remove`].
    pub(crate) fn add(&mut self, job: Arc<J>) {
        let query = job.query();
        if let Some(entry) = self.all_mut().find(|entry| entry.query == query) {
            entry.jobs.push(job);
            return;
        }
        let (number, jobs, took) = (self.arrived, vec![job], Duration::ZERO);
        self.arrived += 1;
        self.new.push_back(QueryJobs { query, number, jobs, took });
    }

    /// Removes a job.
    pub(crate) fn remove(&mut self, job: &Arc<J>) {
        for entry in self.all_mut().filter(|entry| entry.query == job.query()) {
            entry.jobs.retain(|other| !Arc::ptr_eq(job, other));
        }
        self.new.retain(|entry| !entry.jobs.is_empty());
        self.served.retain(|entry| !entry.jobs.is_empty());
    }

    /// Takes the job with the next turn.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Turn<J>> {
        // A query that is out of time returns its partial result without waiting for its turn.
        let is_late = |job: &&Arc<J>| job.is_due(now) && job.workers_if_open() == Some(0);
        if let Some(late) = self.all().flat_map(|entry| &entry.jobs).find(is_late) {
            return Some(Turn { job: Arc::clone(late), has_priority: true });
        }
        let is_priority_first = self.priority_time_left > Duration::ZERO;
        let ahead = if is_priority_first { self.take_priority() } else { None };
        ahead.or_else(|| self.take_next()).or_else(|| self.take_priority())
    }

    /// The next job of a new query, or else of the first query that has priority.
    fn take_priority(&mut self) -> Option<Turn<J>> {
        let mut new = self.new.iter().enumerate();
        if let Some((at, job)) = new.find_map(|(at, entry)| Some((at, entry.workers_if_open()?))) {
            let entry = self.new.remove(at)?;
            self.served.push_back(entry);
            return Some(Turn { job, has_priority: true });
        }
        let (_, at, job) = self.first_short()?;
        let entry = self.served.remove(at)?;
        self.served.push_back(entry);
        Some(Turn { job, has_priority: true })
    }

    /// The next job of the queries that had a turn, in the order of their turns. Queries with
    /// priority leave their turns to the first of them.
    fn take_next(&mut self) -> Option<Turn<J>> {
        let mut all = self.served.iter().enumerate();
        let (at, job) = all.find_map(|(at, entry)| Some((at, entry.workers_if_open()?)))?;
        let job = match self.served.get(at)?.took < SHORT_QUERY_TIME {
            true => self.first_short().map_or(job, |(.., job)| job),
            false => job,
        };
        let entry = self.served.remove(at)?;
        self.served.push_back(entry);
        Some(Turn { job, has_priority: false })
    }

    /// Of the queries with priority that had a turn, the one that arrived first: its number, its
    /// index in `served`, and its job.
    fn first_short(&self) -> Option<(u64, usize, Arc<J>)> {
        let served = self.served.iter().enumerate();
        let short = served.filter(|(_, entry)| entry.took < SHORT_QUERY_TIME);
        let open =
            short.filter_map(|(at, entry)| Some((entry.number, at, entry.workers_if_open()?)));
        open.min_by_key(|(number, ..)| *number)
    }

    /// Notes the duration of a query's turn.
    pub(crate) fn note(&mut self, query: usize, has_priority: bool, took: Duration) {
        self.priority_time_left = match has_priority {
            true => self.priority_time_left.saturating_sub(took),
            false => took,
        };
        if let Some(entry) = self.all_mut().find(|entry| entry.query == query) {
            entry.took += took;
        }
    }

    /// Another job of a query that has the turn.
    pub(crate) fn more_of(&self, query: usize) -> Option<Arc<J>> {
        self.all().find(|entry| entry.query == query)?.workers_if_open()
    }

    /// Whether any job has work for another worker.
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
    /// The open job with the fewest workers: each worker more on a job means more to merge.
    fn workers_if_open(&self) -> Option<Arc<J>> {
        let open = self.jobs.iter().filter_map(|job| Some((job.workers_if_open()?, job)));
        open.min_by_key(|(workers, _)| *workers).map(|(_, job)| Arc::clone(job))
    }
}
