//! One query over snapshots of a table's blocks, of one leaf or of all leaves of a process, as a
//! job of the scan pool.
//!
//! Each thread that joins puts all its blocks into one partial, whichever leaf the blocks belong
//! to, so several leaves in one process cost no extra merging. The scanned blocks of each leaf are
//! counted separately.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hadal_aggregate::{Partial, QueryError, QueryErrorCode, WarningCode, over_memory_limit};
use hadal_block::{BlockError, ColumnView};
use hadal_peer::WatchedPart;
use hadal_query::Query;
use hadal_scan::{BlockContext, InternedIds, KeyCounters, Scan, ScanError};
use hadal_types::MemoryPool;
use hadal_types::limits::MERGE_AT_ONCE_BYTES;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::spawn_blocking;

use crate::query::fair_scheduler::Schedulable;
use crate::query::morsel_queue::{Finished, MorselQueue};
use crate::query::worker_pool::Job;
use crate::table::Table;
use crate::table::block::Block;

/// The approximate cost of building a worker state and merging it with another one, per byte.
/// Measured with groups by number, with a count and a sum each.
const WORKER_STATE_NANOS_PER_BYTE: u64 = 4;

/// The input of a job.
#[derive(Clone)]
pub(crate) struct ScanRequest {
    pub(crate) query: Arc<Query>,
    pub(crate) scan: Arc<Scan>,
    /// The table, one entry per leaf.
    pub(crate) tables: Vec<Arc<Table>>,
    /// The blocks that overlap the time range, each with the index of its leaf.
    pub(crate) blocks: Vec<(usize, Arc<Block>)>,
    /// Bytes that all worker states together may take.
    pub(crate) bytes_max: usize,
    /// The pool of these bytes.
    pub(crate) budget: Arc<MemoryPool>,
    /// Limits how many queries may merge their worker states beside the scan threads.
    pub(crate) merging: Arc<Semaphore>,
    pub(crate) deadline: Instant,
    /// Whether rows are only counted by the hash of their key, for a later scan.
    pub(crate) counts_keys: bool,
    /// Where the scanned part is shown, if somebody watches the query.
    pub(crate) shown: Arc<WatchedPart>,
}

/// A query and its progress.
pub(crate) struct ScanJob {
    request: ScanRequest,
    queue: MorselQueue<WorkerState>,
    /// Bytes that all worker states take.
    bytes: AtomicUsize,
    /// The longest time that a block has taken so far, in nanoseconds.
    longest: AtomicU64,
    cancelled: AtomicBool,
    /// `None` once the job has ended.
    reply: Mutex<Option<oneshot::Sender<Finished<WorkerState>>>>,
}

/// The result of one or several workers, one after the other.
#[derive(Debug)]
pub(crate) struct WorkerState {
    partial: Partial,
    /// `None` if rows are added to the partial.
    counters: Option<KeyCounters>,
    /// One entry per leaf.
    scanned: Vec<ScannedBlocks>,
    took: Duration,
    /// The round of the watch in which this state was shown.
    shown: u64,
    /// Zeros may have been read in place of unreadable bytes: this state must not be used.
    is_spoiled: bool,
}

/// The scanned part of one leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScannedBlocks {
    pub(crate) blocks: usize,
    /// Rows of readable blocks.
    pub(crate) rows: u64,
}

/// The result of a job.
pub(crate) struct JobResult {
    pub(crate) partial: Partial,
    /// The rows by the hash of their key, if these were counted.
    pub(crate) counters: Option<KeyCounters>,
    /// One entry per leaf: all its blocks, if there was time for them.
    pub(crate) scanned: Vec<ScannedBlocks>,
    /// Whether part of a block became unreadable during the scan: the result must not be used.
    pub(crate) is_spoiled: bool,
}

/// The future result of a job. Dropping it cancels the job.
pub(crate) struct PendingResult {
    job: Arc<ScanJob>,
    ended: oneshot::Receiver<Finished<WorkerState>>,
}

impl ScanJob {
    /// Makes a job and its pending result.
    pub(crate) fn new(request: ScanRequest) -> (Arc<Self>, PendingResult) {
        let (reply, ended) = oneshot::channel();
        let job = Arc::new(Self {
            queue: MorselQueue::new(request.blocks.len()),
            request,
            bytes: AtomicUsize::new(0),
            longest: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
            reply: Mutex::new(Some(reply)),
        });
        (Arc::clone(&job), PendingResult { job, ended })
    }

    /// The time after which no further block is begun. A block that is not done by the deadline
    /// would cost all earlier results as well.
    fn due(&self) -> Instant {
        let longest = Duration::from_nanos(self.longest.load(Ordering::Relaxed));
        let deadline = self.request.deadline;
        deadline.checked_sub(longest).unwrap_or(deadline)
    }

    /// The number of blocks that must be left for another worker to pay off. Scanning them must
    /// take longer than building the known groups a second time and merging them.
    fn worth_blocks(&self) -> usize {
        let longest = self.longest.load(Ordering::Relaxed).max(1);
        let bytes = self.bytes.load(Ordering::Relaxed) as u64;
        let blocks = bytes.saturating_mul(WORKER_STATE_NANOS_PER_BYTE) / longest;
        usize::try_from(blocks).unwrap_or(usize::MAX)
    }

    /// Whether nothing waits for the result any more.
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Merges worker states; `None` if there are none.
    fn merged(&self, mut worker_states: Vec<WorkerState>) -> Option<WorkerState> {
        worker_states.sort_by_key(|worker_state| Reverse(worker_state.partial.reservation.bytes()));
        worker_states.into_iter().reduce(|mut all, worker_state| {
            all.partial.merge_unless(worker_state.partial, &|| self.is_cancelled());
            if let (Some(all), Some(other)) = (&mut all.counters, &worker_state.counters) {
                all.merge(other);
            }
            for (all, other) in all.scanned.iter_mut().zip(worker_state.scanned) {
                all.blocks += other.blocks;
                all.rows += other.rows;
            }
            all.took += worker_state.took;
            // What was shown of either is not shown again in the same round.
            all.shown = all.shown.max(worker_state.shown);
            all.is_spoiled |= worker_state.is_spoiled;
            all
        })
    }

    /// The error to report for a query that holds `held` bytes: if other queries hold none, a retry
    /// is useless.
    fn final_error(&self, error: QueryError, held: usize) -> QueryError {
        let budget = &self.request.budget;
        match error.code {
            QueryErrorCode::Busy if budget.reserved() <= held => {
                over_memory_limit(budget.each_max())
            }
            _ => error,
        }
    }

    /// Shows what a worker has scanned, once per round of the watch.
    fn show(&self, worker_state: &mut WorkerState) {
        let round = self.request.shown.round();
        if round == worker_state.shown || worker_state.is_spoiled {
            return;
        }
        worker_state.shown = round;
        let rows = worker_state.scanned.iter().map(|scanned| scanned.rows);
        self.request.shown.add(round, &worker_state.partial, rows);
    }

    /// Reserves memory for the partial, which held `before` bytes before the block. If all worker
    /// states together take too much, they are merged, which takes less. The query fails only if
    /// the merged state is too large as well, so the number of threads does not decide.
    fn hold(&self, partial: &mut Partial, before: usize) {
        let Err(error) = partial.try_hold(self.request.bytes_max) else {
            // Wraps around if the partial became smaller.
            let growth = partial.reservation.bytes().wrapping_sub(before);
            let all = self.bytes.fetch_add(growth, Ordering::Relaxed).wrapping_add(growth);
            if all > self.request.bytes_max {
                self.queue.limit_to_one_worker();
            }
            return;
        };
        if !self.queue.limit_to_one_worker() {
            partial.fail(self.final_error(error, partial.reservation.bytes()));
        }
    }
}

impl Schedulable for ScanJob {
    /// Leaves that answer separately get the same query, not copies of it.
    fn query(&self) -> usize {
        Arc::as_ptr(&self.request.query).addr()
    }

    fn workers_if_open(&self) -> Option<usize> {
        self.queue.workers_if_open(self.worth_blocks())
    }

    /// A cancelled job is ended soon too, since it holds memory.
    fn is_due(&self, now: Instant) -> bool {
        self.due() <= now || self.is_cancelled()
    }
}

impl Job for ScanJob {
    type WorkerState = WorkerState;

    fn queue(&self) -> &MorselQueue<WorkerState> {
        &self.queue
    }

    fn is_done(&self, worker_state: &WorkerState) -> bool {
        worker_state.is_spoiled || !worker_state.partial.errors.is_empty()
    }

    fn begin(&self, left: Vec<WorkerState>) -> WorkerState {
        let ScanRequest { query, tables, budget, bytes_max, .. } = &self.request;
        let many = left.len() > 1;
        let Some(mut worker_state) = self.merged(left) else {
            let partial = Partial { reservation: budget.reservation(), ..Partial::empty(query) };
            let took = Duration::ZERO;
            let scanned = vec![ScannedBlocks::default(); tables.len()];
            let counters = self.request.counts_keys.then(KeyCounters::default);
            return WorkerState { partial, counters, scanned, took, shown: 0, is_spoiled: false };
        };
        if many {
            worker_state.partial.hold(*bytes_max);
            self.bytes.store(worker_state.partial.reservation.bytes(), Ordering::Relaxed);
        }
        worker_state
    }

    fn scan_block(&self, number: usize, worker_state: &mut WorkerState) {
        let ScanRequest { scan, tables, blocks, .. } = &self.request;
        let Some((leaf, block)) = blocks.get(number) else { return };
        let WorkerState { partial, counters, scanned: all_scanned, is_spoiled, .. } = worker_state;
        let (table, scanned) = (&tables[*leaf], &mut all_scanned[*leaf]);
        let held = HeldBlock { block, table, job: self };
        let faults = block.faults();
        let before = partial.reservation.bytes();
        let view = block.view().map_err(ScanError::from);
        let added = view.and_then(|view| match counters {
            Some(counters) => scan.count_keys(&view, &held, partial, counters),
            None => scan.block_of(&view, &held, partial),
        });
        match added {
            Ok(()) => {
                scanned.blocks += 1;
                scanned.rows += block.rows as u64;
                self.hold(partial, before);
                self.request.shown.count_rows(block.rows as u64);
            }
            Err(ScanError::Cancelled) => {}
            // As in `hold`: the number of threads does not decide.
            Err(ScanError::Failed(error)) => {
                if error.code == QueryErrorCode::Invalid || !self.queue.give_back(number) {
                    partial.fail(self.final_error(*error, partial.reservation.bytes()));
                }
            }
            Err(ScanError::Damaged(error)) => {
                scanned.blocks += 1;
                table.quarantine(block, &error);
                partial.warn(WarningCode::BlocksUnreadable, table.name.as_str(), 1);
            }
        }
        *is_spoiled |= block.faults() != faults;
        self.show(worker_state);
    }

    fn note(&self, took: Duration, worker_state: &mut WorkerState) {
        worker_state.took += took;
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.longest.fetch_max(nanos, Ordering::Relaxed);
    }

    fn end(&self, ended: Finished<WorkerState>) {
        if let Some(reply) = self.reply.lock().take() {
            // The receiver may be gone.
            let _ = reply.send(ended);
        }
    }

    fn fail(&self) {
        // The receiver reports a failed leaf.
        drop(self.reply.lock().take());
    }
}

/// A block with its table, whose string ids it uses.
struct HeldBlock<'b> {
    block: &'b Block,
    table: &'b Table,
    job: &'b ScanJob,
}

impl<'a> BlockContext<'a> for HeldBlock<'_> {
    fn check(&self, index: usize, column: &ColumnView<'a>) -> Result<(), BlockError> {
        self.block.check(index, column)
    }

    fn is_cancelled(&self) -> bool {
        self.job.is_cancelled() || self.job.request.deadline <= Instant::now()
    }

    fn deadline(&self) -> Option<Instant> {
        Some(self.job.request.deadline)
    }

    fn interned(&self, index: usize, column: &ColumnView<'a>) -> Option<InternedIds> {
        self.block.interned(index, column, &self.table.string_ids)
    }
}

impl PendingResult {
    /// Waits for the result; `None` if the job failed.
    pub(crate) async fn result(mut self) -> Option<JobResult> {
        let Finished { worker_states, .. } = (&mut self.ended).await.ok()?;
        let many = worker_states.len() > 1;
        let bytes = |worker_state: &WorkerState| worker_state.partial.reservation.bytes();
        let largest = worker_states.iter().map(bytes).max().unwrap_or(0);
        let is_quick =
            worker_states.iter().map(bytes).sum::<usize>() - largest <= MERGE_AT_ONCE_BYTES;
        let merged = match is_quick {
            true => self.job.merged(worker_states),
            // No thread of the pool merges: it takes longer than a turn. The semaphore limits
            // concurrent merges, or the scan threads would hardly make progress.
            false => {
                let merging = Arc::clone(&self.job.request.merging).acquire_owned().await.ok()?;
                let job = Arc::clone(&self.job);
                let merged = spawn_blocking(move || {
                    let merged = job.merged(worker_states);
                    drop(merging);
                    merged
                });
                merged.await.ok()?
            }
        };
        let WorkerState { mut partial, counters, scanned, took, is_spoiled, .. } = merged?;
        if many {
            partial.hold(self.job.request.bytes_max);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        partial.stats.scan_micros = partial.stats.scan_micros.saturating_add(micros);
        Some(JobResult { partial, counters, scanned, is_spoiled })
    }
}

impl Drop for PendingResult {
    fn drop(&mut self) {
        self.job.cancelled.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
