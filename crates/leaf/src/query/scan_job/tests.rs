use hadal_aggregate::{Coverage, LeafCoverage, LeafOutcome, PartialBody, QueryErrorCode};
use hadal_block::BlockBuilder;
use hadal_peer::QueryWatch;
use hadal_query::{ColumnRef, Expr, QueryKind, RowInput};
use hadal_store::BlockBytes;
use hadal_types::{ColumnName, Kind, LeafName, Logical, Micros, Number, TableName};

use super::*;
use crate::query::worker_pool::WorkerPool;
use crate::table::block::Origin;

const ROWS: usize = 3_000;
const HOUR: Duration = Duration::from_secs(3_600);

/// A block whose rows have the numbers below [`ROWS`], the same in every block.
fn block() -> Arc<Block> {
    let name = |text: &str| ColumnName::new(text).expect("a name");
    let mut builder = BlockBuilder::new(name("time"));
    let column = builder.column(&name("v"), Kind::Number);
    for value in 0..i64::try_from(ROWS).expect("small") {
        builder.push_number(column, Number::integer(value)).expect("taken");
        builder.end_row(Micros(value));
    }
    let bytes = builder.finish(Micros(0), None).expect("fits");
    Arc::new(Block::new(BlockBytes::from(bytes), Origin::Log(Vec::new())).expect("a block"))
}

/// A job that counts the rows of `blocks` blocks by their numbers.
fn job(blocks: usize, bytes_max: usize, budget: &Arc<MemoryPool>) -> (Arc<ScanJob>, PendingResult) {
    let shape = QueryKind::Groups { keys: vec![number()], measures: vec![] };
    job_of(shape, blocks, bytes_max, budget)
}

/// The number of a row.
fn number() -> Expr<RowInput> {
    Expr::Leaf(RowInput::Column(ColumnRef {
        name: ColumnName::new("v").expect("a name"),
        kind: Kind::Number,
        logical: Logical::Plain,
    }))
}

fn job_of(
    shape: QueryKind,
    blocks: usize,
    bytes_max: usize,
    budget: &Arc<MemoryPool>,
) -> (Arc<ScanJob>, PendingResult) {
    ScanJob::new(request_of(shape, blocks, bytes_max, budget))
}

/// The job of [`job`], which `watch` watches.
fn watched_job(blocks: usize, watch: &QueryWatch) -> (Arc<ScanJob>, PendingResult) {
    let shape = QueryKind::Groups { keys: vec![number()], measures: vec![] };
    let request = request_of(shape, blocks, usize::MAX, &MemoryPool::new(usize::MAX));
    ScanJob::new(ScanRequest { shown: Arc::new(watch.part()), ..request })
}

fn request_of(
    shape: QueryKind,
    blocks: usize,
    bytes_max: usize,
    budget: &Arc<MemoryPool>,
) -> ScanRequest {
    let table = TableName::new("t").expect("a name");
    let held = Arc::new(Table::new(table.clone()));
    let query = Arc::new(Query { limit: 10, deadline: HOUR, ..Query::new(table, shape) });
    let block = block();
    ScanRequest {
        scan: Arc::new(Scan::new(Arc::clone(&query)).expect("a query")),
        query,
        blocks: vec![(0, block); blocks],
        tables: vec![held],
        bytes_max,
        budget: Arc::clone(budget),
        merging: Arc::new(Semaphore::new(1)),
        deadline: Instant::now() + HOUR,
        counts_keys: false,
        shown: Arc::default(),
    }
}

/// Bytes of the worker state of one block.
fn state_bytes() -> usize {
    let (job, _pending) = job(1, usize::MAX, &MemoryPool::new(usize::MAX));
    scan_one_block(&job, job.begin(Vec::new())).partial.reservation.bytes()
}

fn scan_one_block(job: &ScanJob, mut worker_state: WorkerState) -> WorkerState {
    // The job may already be limited.
    if let Some(block) = job.queue.next() {
        job.scan_block(block, &mut worker_state);
    }
    worker_state
}

/// Two workers scan a block each, at the same time; then one worker continues until the end.
fn two_at_work(job: &ScanJob) {
    let worker_states = [0, 1].map(|_| job.begin(job.queue.join().expect("work for two")));
    let worker_states = worker_states.map(|worker_state| scan_one_block(job, worker_state));
    for worker_state in worker_states {
        if let Some(ended) = job.queue.leave(worker_state) {
            return job.end(ended);
        }
    }
    let mut worker_state = job.begin(job.queue.join().expect("more work"));
    loop {
        if job.is_done(&worker_state) {
            job.queue.stop();
        }
        let Some(block) = job.queue.next() else { break };
        job.scan_block(block, &mut worker_state);
    }
    job.end(job.queue.leave(worker_state).expect("the last one"));
}

#[tokio::test]
async fn findings_apart_count_together_and_are_made_one_where_they_are_too_much() {
    let bytes = state_bytes();
    // Memory for two separate states, for one and a half, and for less than one.
    for (bytes_max, fits) in [(2 * bytes, true), (bytes * 3 / 2, true), (bytes - 1, false)] {
        for blocks in [2, 6] {
            let budget = MemoryPool::new(usize::MAX);
            let (job, pending) = job(blocks, bytes_max, &budget);
            two_at_work(&job);
            let JobResult { partial, scanned, .. } = pending.result().await.expect("one");
            let PartialBody::Groups(groups) = &partial.body else { panic!("groups") };
            assert_eq!(partial.errors.is_empty(), fits, "{bytes_max} of {bytes}, {blocks} blocks");
            match fits {
                true => {
                    assert_eq!(groups.len(), ROWS);
                    assert_eq!(scanned, [ScannedBlocks { blocks, rows: (ROWS * blocks) as u64 }]);
                    assert!(
                        budget.reserved() == partial.reservation.bytes()
                            && budget.reserved() <= bytes_max
                    );
                }
                false => {
                    let error = partial.errors.iter().next().expect("a fault");
                    assert_eq!((error.code, groups.len()), (QueryErrorCode::Memory, 0));
                }
            }
            drop((partial, job));
            assert_eq!(budget.reserved(), 0);
        }
    }
}

#[test]
fn findings_apart_that_are_too_much_together_are_left_before_more_is_looked_for() {
    let bytes = state_bytes();
    for (bytes_max, next) in [(2 * bytes, Some(2)), (2 * bytes - 1, None)] {
        let (job, _pending) = job(6, bytes_max, &MemoryPool::new(usize::MAX));
        let worker_states = [0, 1].map(|_| job.begin(job.queue.join().expect("work for two")));
        let _states = worker_states.map(|worker_state| scan_one_block(&job, worker_state));
        assert_eq!(job.queue.next(), next);
    }
}

#[test]
fn what_raw_rows_take_is_counted_once() {
    let shape = QueryKind::Rows { values: vec![number()] };
    let (job, _pending) = job_of(shape, 6, usize::MAX, &MemoryPool::new(usize::MAX));
    let worker_states = [0, 1].map(|_| job.begin(job.queue.join().expect("work for two")));
    let worker_states = worker_states.map(|worker_state| scan_one_block(&job, worker_state));
    let held: usize =
        worker_states.iter().map(|worker_state| worker_state.partial.reservation.bytes()).sum();
    assert_eq!(job.bytes.load(Ordering::Relaxed), held);
    assert_eq!(job.queue.next(), Some(2), "there is room for both");
}

#[tokio::test]
async fn a_budget_that_is_spent_by_findings_apart_is_tried_again_with_one() {
    let bytes = state_bytes();
    for (room, others, fits) in [(2 * bytes, 0, true), (bytes - 1, 0, false), (bytes, 1, false)] {
        let budget = MemoryPool::new(room);
        let mut held = budget.reservation();
        held.resize(others).expect("room");
        let (job, pending) = job(4, usize::MAX, &budget);
        two_at_work(&job);
        let partial = pending.result().await.expect("one").partial;
        assert_eq!(partial.errors.is_empty(), fits);
        // Memory that others hold may be free later.
        let code = if others > 0 { QueryErrorCode::Busy } else { QueryErrorCode::Memory };
        assert!(partial.errors.iter().all(|error| error.code == code), "{:?}", partial.errors);
        assert_eq!(budget.reserved(), others + partial.reservation.bytes());
        drop(held);
        drop((partial, job));
        assert_eq!(budget.reserved(), 0);
    }
}

#[test]
fn few_blocks_are_not_shared_where_groups_are_many() {
    let (job, _pending) = job(1_000, usize::MAX, &MemoryPool::new(usize::MAX));
    let first = job.begin(job.queue.join().expect("work"));
    assert_eq!(job.workers_if_open(), Some(1), "nothing is known yet");
    let mut first = scan_one_block(&job, first);
    let bytes = first.partial.reservation.bytes() as u64;
    // Building the known groups takes as long as scanning `blocks` blocks.
    for (blocks, workers_if_open) in [(900, Some(1)), (1_100, None)] {
        job.longest.store(bytes * WORKER_STATE_NANOS_PER_BYTE / blocks, Ordering::Relaxed);
        assert_eq!(job.workers_if_open(), workers_if_open);
    }
    job.note(HOUR, &mut first);
    assert_eq!(job.workers_if_open(), Some(1));
}

#[test]
fn nobody_works_for_whoever_has_gone() {
    let pool = WorkerPool::new(Instant::now);
    let (job, pending) = job(3, usize::MAX, &MemoryPool::new(usize::MAX));
    let query = Schedulable::query(&*job);
    // The cancelled job ends before the other one gets its turn.
    let (other, _waiting) = self::job(3, usize::MAX, &MemoryPool::new(usize::MAX));
    pool.run(Arc::clone(&other));
    pool.run(Arc::clone(&job));
    drop(pending);
    assert_eq!(pool.take_turn(), Some(query));
    assert_eq!(Arc::strong_count(&job), 1);
    assert_eq!(job.bytes.load(Ordering::Relaxed), 0, "no block was looked at");
}

#[test]
fn a_watched_scan_shows_the_blocks_scanned_by_each_thread() {
    let watch = QueryWatch::new();
    let (job, _pending) = watched_job(4, &watch);
    let leaf = LeafCoverage {
        name: LeafName("leaf".into()),
        outcome: LeafOutcome::Late,
        rows_expected: 4 * ROWS as u64,
        rows_scanned: 0,
        micros: 0,
        as_of: (0, 0),
    };
    job.request.shown.begin_scan(vec![Coverage::of_leaf(leaf, true)]);
    let shown = || watch.collect(&job.request.query, 0);
    let worker_states = [0, 1].map(|_| job.begin(job.queue.join().expect("work for two")));
    let worker_states = worker_states.map(|worker_state| scan_one_block(&job, worker_state));
    let (progress, partial) = shown();
    assert_eq!(progress.rows_scanned, 2 * ROWS as u64);
    assert!(partial.is_none(), "no round has begun");
    watch.begin_round();
    let [first, second] = worker_states;
    let first = scan_one_block(&job, first);
    assert_eq!(shown().1.expect("a partial").coverage.rows_scanned, 2 * ROWS as u64);
    let second = scan_one_block(&job, second);
    let partial = shown().1.expect("a partial");
    assert_eq!(partial.coverage.rows_scanned, 4 * ROWS as u64);
    let PartialBody::Groups(groups) = &partial.body else { panic!("groups") };
    assert_eq!(groups.len(), ROWS);
    // Merged states do not show the same rows twice in a round.
    let merged = job.merged(vec![first, second]).expect("a state");
    assert_eq!(merged.shown, 1);
}
