//! The scan pool under random schedules: several threads take the blocks of several queries.
//!
//! The same source is compiled with the locks of shuttle, which tries the possible thread
//! interleavings. These locks work only inside shuttle's runs.

mod locks {
    pub(crate) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use std::sync::PoisonError;
}
#[path = "fair_scheduler.rs"]
#[expect(clippy::duplicate_mod, reason = "the same source over other locks")]
mod fair_scheduler;
#[path = "morsel_queue.rs"]
#[expect(clippy::duplicate_mod, reason = "the same source over other locks")]
mod morsel_queue;
#[path = "worker_pool.rs"]
#[expect(clippy::duplicate_mod, reason = "the same source over other locks")]
mod worker_pool;

use std::time::{Duration, Instant};

use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use shuttle::sync::mpsc::{Sender, channel};
use shuttle::thread;

use self::fair_scheduler::Schedulable;
use self::morsel_queue::{Finished, MorselQueue};
use self::worker_pool::{Job, TURN, WorkerPool};

/// Advances by a third of a turn with each block, whichever worker scans it.
struct Clock {
    start: Instant,
    thirds: AtomicU32,
}

impl Clock {
    fn now(&self) -> Instant {
        self.start + TURN / 3 * self.thirds.load(Ordering::SeqCst)
    }
}

/// A job whose worker states are the numbers of the scanned blocks.
struct Numbers {
    query: usize,
    blocks: usize,
    queue: MorselQueue<Vec<usize>>,
    clock: Arc<Clock>,
    due: Instant,
    /// The block, if any, at which separate worker states take too much memory.
    crowded_at: Option<usize>,
    /// Whether that block is given back, to be scanned by a single worker.
    is_given_back: bool,
    /// The block that fails, if there is one.
    failing_at: Option<usize>,
    /// The number of worker states that did not continue others.
    begun: AtomicUsize,
    outcome: Sender<Outcome>,
}

/// The end of a job; `None` if it failed.
type Outcome = Option<Finished<Vec<usize>>>;

impl Schedulable for Numbers {
    fn query(&self) -> usize {
        self.query
    }

    fn workers_if_open(&self) -> Option<usize> {
        self.queue.workers_if_open(0)
    }

    fn is_due(&self, now: Instant) -> bool {
        self.due <= now
    }
}

impl Job for Numbers {
    type WorkerState = Vec<usize>;

    fn queue(&self) -> &MorselQueue<Vec<usize>> {
        &self.queue
    }

    fn is_done(&self, _: &Vec<usize>) -> bool {
        false
    }

    fn begin(&self, left: Vec<Vec<usize>>) -> Vec<usize> {
        if left.is_empty() {
            self.begun.fetch_add(1, Ordering::SeqCst);
        }
        assert!(left.len() <= 1 || self.crowded_at.is_some(), "{left:?}");
        left.concat()
    }

    fn scan_block(&self, block: usize, worker_state: &mut Vec<usize>) {
        let is_crowded = self.crowded_at == Some(block);
        if is_crowded && self.is_given_back && self.queue.give_back(block) {
            return;
        }
        if is_crowded {
            self.queue.limit_to_one_worker();
        }
        worker_state.push(block);
        self.clock.thirds.fetch_add(1, Ordering::SeqCst);
        if self.failing_at == Some(block) {
            // Not a panic, which shuttle would count as a failure of the test.
            std::panic::resume_unwind(Box::new("a block that fails"));
        }
    }

    fn note(&self, _: Duration, worker_state: &mut Vec<usize>) {
        assert!(!worker_state.is_empty() || self.is_given_back, "a block was looked at");
    }

    fn end(&self, ended: Finished<Vec<usize>>) {
        assert!(ended.worker_states.len() <= self.begun.load(Ordering::SeqCst));
        self.outcome.send(Some(ended)).expect("received");
    }

    fn fail(&self) {
        self.outcome.send(None).expect("received");
    }
}

/// One of them is the test's own thread, which takes turns while there is work.
const THREADS: usize = 3;

/// Runs jobs of two queries, altered by `change`, on three threads. Returns for each job its query,
/// its number of blocks, and its outcome.
fn run(change: impl Fn(&mut Numbers)) -> Vec<(usize, usize, Outcome)> {
    let clock = Arc::new(Clock { start: Instant::now(), thirds: AtomicU32::new(0) });
    let now = Arc::clone(&clock);
    let pool = Arc::new(WorkerPool::new(move || now.now()));
    let threads: Vec<_> = (1..THREADS)
        .map(|_| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.work())
        })
        .collect();
    let mut waiting = Vec::new();
    for (query, blocks) in [(1, 5), (1, 0), (2, 4)] {
        let (outcome, outcomes) = channel();
        let mut job = Numbers {
            query,
            blocks,
            queue: MorselQueue::new(blocks),
            clock: Arc::clone(&clock),
            due: clock.start + Duration::from_secs(3_600),
            crowded_at: None,
            is_given_back: false,
            failing_at: None,
            begun: AtomicUsize::new(0),
            outcome,
        };
        change(&mut job);
        pool.run(Arc::new(job));
        waiting.push((query, blocks, outcomes));
    }
    while pool.take_turn().is_some() {}
    let mut ended = Vec::new();
    for (query, blocks, outcomes) in waiting {
        let outcome = outcomes.recv().expect("an end");
        assert!(outcomes.recv().is_err(), "one end, and then the job is gone");
        ended.push((query, blocks, outcome));
    }
    pool.stop();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    ended
}

/// The scanned blocks, sorted, and whether the job reports them to be all.
fn scanned_blocks(ended: Outcome) -> (Vec<usize>, bool) {
    let Finished { worker_states, complete } = ended.expect("it did not fail");
    assert!((1..=THREADS).contains(&worker_states.len()), "{worker_states:?}");
    let mut blocks = worker_states.concat();
    blocks.sort_unstable();
    (blocks, complete)
}

#[test]
fn every_block_is_looked_at_once_and_every_job_ends_once() {
    let schedule = || {
        for (_, blocks, ended) in run(|_| {}) {
            assert_eq!(scanned_blocks(ended), ((0..blocks).collect(), true));
        }
    };
    shuttle::check_random(schedule, 3_000);
}

#[test]
fn a_crowded_job_ends_with_all_blocks() {
    let schedule = || {
        for (_, blocks, ended) in run(|job| job.crowded_at = Some(1)) {
            assert_eq!(scanned_blocks(ended), ((0..blocks).collect(), true));
        }
    };
    shuttle::check_random(schedule, 3_000);
}

#[test]
fn a_block_that_was_given_back_is_looked_at_once() {
    let schedule = || {
        for (_, blocks, ended) in run(|job| {
            job.crowded_at = Some(1);
            job.is_given_back = true;
        }) {
            assert_eq!(scanned_blocks(ended), ((0..blocks).collect(), true));
        }
    };
    shuttle::check_random(schedule, 3_000);
}

#[test]
fn a_job_out_of_time_says_what_it_left_out() {
    let schedule = || {
        for (query, blocks, ended) in run(|job| {
            if job.query == 1 {
                job.due = job.clock.start + TURN;
            }
        }) {
            let (scanned, complete) = scanned_blocks(ended);
            // They are handed out in order.
            assert_eq!(scanned, (0..scanned.len()).collect::<Vec<_>>());
            assert_eq!(complete, scanned.len() == blocks);
            assert!(complete || query == 1);
        }
    };
    shuttle::check_random(schedule, 3_000);
}

#[test]
fn a_block_that_fails_fails_its_job_only() {
    let schedule = || {
        for (query, blocks, ended) in run(|job| {
            if job.query == 1 && job.blocks > 0 {
                job.failing_at = Some(2);
            }
        }) {
            match (query, blocks) {
                (1, 5) => assert_eq!(ended, None),
                _ => assert_eq!(scanned_blocks(ended), ((0..blocks).collect(), true)),
            }
        }
    };
    shuttle::check_random(schedule, 3_000);
}
