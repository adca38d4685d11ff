//! The order of turns, counted on a clock that only blocks advance.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::query::fair_scheduler::Schedulable;
use crate::query::morsel_queue::{Finished, MorselQueue};
use crate::query::worker_pool::{Job, TURN, WorkerPool};

/// Microseconds, which only scanning a block advances.
struct Clock {
    start: Instant,
    micros: AtomicU64,
}

impl Clock {
    fn now(&self) -> Instant {
        self.start + self.passed()
    }

    fn passed(&self) -> Duration {
        Duration::from_micros(self.micros.load(Ordering::Relaxed))
    }

    fn set(&self, passed: Duration) {
        let micros = u64::try_from(passed.as_micros()).expect("small");
        self.micros.store(micros, Ordering::Relaxed);
    }
}

/// A job whose blocks take a fixed time each.
struct Timed {
    query: usize,
    queue: MorselQueue<()>,
    clock: Arc<Clock>,
    due: Instant,
    block_micros: u64,
    ended: Arc<Mutex<Vec<(usize, Duration)>>>,
}

impl Schedulable for Timed {
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

impl Job for Timed {
    type WorkerState = ();

    fn queue(&self) -> &MorselQueue<()> {
        &self.queue
    }

    fn is_done(&self, (): &()) -> bool {
        false
    }

    fn begin(&self, _: Vec<()>) {}

    fn scan_block(&self, _: usize, (): &mut ()) {
        self.clock.micros.fetch_add(self.block_micros, Ordering::Relaxed);
    }

    fn note(&self, took: Duration, (): &mut ()) {
        assert_eq!(took, Duration::from_micros(self.block_micros));
    }

    fn end(&self, _: Finished<()>) {
        self.ended.lock().push((self.query, self.clock.passed()));
    }

    fn fail(&self) {
        unreachable!("no block fails");
    }
}

/// A machine with several threads; the first free thread takes the next turn.
struct Machine {
    clock: Arc<Clock>,
    pool: WorkerPool<Timed>,
    /// When each thread is free.
    free: Vec<Duration>,
    /// Queries and when their jobs ended.
    ended: Arc<Mutex<Vec<(usize, Duration)>>>,
}

impl Machine {
    fn new(threads: usize) -> Self {
        let clock = Arc::new(Clock { start: Instant::now(), micros: AtomicU64::new(0) });
        let now = Arc::clone(&clock);
        let pool = WorkerPool::new(move || now.now());
        Self { clock, pool, free: vec![Duration::ZERO; threads], ended: Arc::default() }
    }

    /// Adds a job that is due `due` after the start.
    fn add(&self, query: usize, blocks: usize, block_micros: u64, due: Duration) {
        self.pool.run(Arc::new(Timed {
            query,
            queue: MorselQueue::new(blocks),
            clock: Arc::clone(&self.clock),
            due: self.clock.start + due,
            block_micros,
            ended: Arc::clone(&self.ended),
        }));
    }

    /// The first free thread takes a turn; returns its query.
    fn turn(&mut self) -> Option<usize> {
        let thread = (0..self.free.len()).min_by_key(|thread| self.free[*thread])?;
        self.clock.set(self.free[thread]);
        let query = self.pool.take_turn();
        self.free[thread] = self.clock.passed();
        query
    }

    fn first_free(&self) -> Duration {
        self.free.iter().min().copied().unwrap_or_default()
    }

    fn ended_at(&self, query: usize) -> Option<Duration> {
        let ended = self.ended.lock();
        ended.iter().find(|(of, _)| *of == query).map(|(_, at)| *at)
    }
}

const NEVER: Duration = Duration::from_secs(3_600);
const SMALL: usize = 1_000;

#[test]
fn a_small_query_waits_for_one_turn_however_many_large_ones_there_are() {
    for threads in [1, 2, 8] {
        for large in [1, 4, 50] {
            for leaves in [1, 8_u64] {
                let mut machine = Machine::new(threads);
                for query in 0..large {
                    (0..leaves).for_each(|_| machine.add(query, 100_000, 300, NEVER));
                }
                // Until none of them has priority.
                (0..41 * large).for_each(|_| assert!(machine.turn().is_some()));
                // Each comes in after the one before, at another moment of the turns.
                for small in SMALL..SMALL + 40 {
                    (0..2 + small % 7).for_each(|_| assert!(machine.turn().is_some()));
                    // It comes in just after another turn has begun.
                    let asked_at = machine.first_free();
                    assert!(machine.turn().is_some());
                    (0..leaves).for_each(|_| machine.add(small, 1, 100, NEVER));
                    while machine.ended_at(small).is_none() {
                        assert!(machine.turn().is_some());
                    }
                    let ended = machine.ended.lock();
                    let ends = ended.iter().filter(|(of, _)| *of == small).map(|(_, at)| *at);
                    let took = ends.max().expect("it ended") - asked_at;
                    let work = Duration::from_micros(100 * leaves);
                    assert!(took <= TURN + Duration::from_micros(300) + work, "{took:?}");
                }
            }
        }
    }
}

#[test]
fn a_small_query_of_some_turns_is_done_beside_large_ones_whose_blocks_take_long() {
    for threads in [1, 2] {
        let long = Duration::from_millis(100);
        let mut machine = Machine::new(threads);
        for query in 0..8 {
            machine.add(query, 100_000, 100_000, NEVER);
        }
        (0..20).for_each(|_| assert!(machine.turn().is_some()));
        let asked_at = machine.first_free();
        // 18 ms of work.
        machine.add(SMALL, 36, 500, NEVER);
        while machine.ended_at(SMALL).is_none() {
            assert!(machine.turn().is_some());
        }
        let took = machine.ended_at(SMALL).expect("it ended") - asked_at;
        assert!(took <= 2 * long, "{took:?} with {threads} threads");
    }
}

#[test]
fn short_queries_end_in_the_order_of_their_arrival() {
    for threads in [1, 2] {
        let mut machine = Machine::new(threads);
        // 40 ms of work each; together they take much longer than a query that is short.
        (0..20).for_each(|query| machine.add(query, 40, 1_000, NEVER));
        (0..20).for_each(|_| assert!(machine.turn().is_some()));
        machine.add(SMALL, 1, 1_000, NEVER);
        while machine.turn().is_some() {}
        let mut ends = machine.ended.lock().clone();
        ends.sort_by_key(|(_, at)| *at);
        // A query of one turn waits for none of them.
        assert_eq!(ends[0].0, SMALL, "{ends:?}");
        assert!(ends[1..].is_sorted_by_key(|(query, _)| *query), "{ends:?}");
    }
}

#[test]
fn a_query_over_many_leaves_has_no_larger_share() {
    for threads in [1, 2, 3] {
        let mut machine = Machine::new(threads);
        (0..8).for_each(|_| machine.add(0, 10_000, 1_000, NEVER));
        machine.add(1, 10_000, 1_000, NEVER);
        machine.add(2, 10_000, 1_000, NEVER);
        // Until none of them has priority.
        (0..130).for_each(|_| assert!(machine.turn().is_some()));
        let mut turns = [0; 3];
        for _ in 0..300 {
            turns[machine.turn().expect("there is work")] += 1;
        }
        assert!(turns.iter().all(|turns| (98..=102).contains(turns)), "{turns:?}");
    }
}

#[test]
fn small_queries_without_end_leave_a_large_one_half_of_the_turns() {
    let mut machine = Machine::new(2);
    machine.add(0, 10_000, 5_000, NEVER);
    let mut large = 0;
    for turn in 0..400 {
        // At least one query has had no turn yet at all times.
        (0..2).for_each(|more| machine.add(SMALL + 2 * turn + more, 1, 5_000, NEVER));
        large += usize::from(machine.turn() == Some(0));
    }
    assert!((190..=210).contains(&large), "{large} of 400 turns");
}

#[test]
fn one_turn_is_for_all_jobs_of_a_query() {
    let mut machine = Machine::new(1);
    machine.add(7, 1_000_000, 5_000, NEVER);
    (0..2).for_each(|_| assert_eq!(machine.turn(), Some(7)));
    (0..8).for_each(|_| machine.add(1, 2, 200, NEVER));
    assert_eq!(machine.turn(), Some(1));
    assert_eq!(machine.ended.lock().len(), 8);
}

#[test]
fn idle_threads_take_blocks_of_the_one_busy_leaf() {
    for (threads, turns) in [(1, 16), (2, 8), (4, 4)] {
        let mut machine = Machine::new(threads);
        machine.add(0, 80, 1_000, NEVER);
        while machine.turn().is_some() {}
        let ended = machine.ended_at(0).expect("it ended");
        assert_eq!(ended, TURN * turns, "{threads} threads");
    }
}

#[test]
fn whoever_is_out_of_time_is_next() {
    let machine = Machine::new(1);
    let at = |millis: u64| Duration::from_millis(millis);
    for (query, due) in [NEVER, NEVER, at(1), at(2)].into_iter().enumerate() {
        machine.add(query, 1_000, 5_000, due);
    }
    machine.clock.set(at(3));
    let order: Vec<usize> = (0..3).filter_map(|_| machine.pool.take_turn()).collect();
    assert_eq!(order, [2, 3, 0]);
    // These end without scanning a block.
    assert_eq!(machine.ended.lock()[..], [(2, at(3)), (3, at(3))]);
}

#[test]
fn a_job_that_ended_is_kept_by_nobody() {
    let mut machine = Machine::new(1);
    let kept = Arc::clone(&machine.ended);
    machine.add(0, 3, 100, NEVER);
    machine.add(0, 0, 100, NEVER);
    assert_eq!(Arc::strong_count(&kept), 4);
    machine.turn();
    assert_eq!((Arc::strong_count(&kept), kept.lock().len()), (2, 2));
    assert_eq!(machine.turn(), None);
}
