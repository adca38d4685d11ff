//! One query over snapshots of a table's blocks, of one leaf or of all leaves of a process, as a job of
//! the scan pool.
//!
//! All blocks go into one partial answer for each thread that joins, whichever leaf they are of, so
//! that leaves of one process cost no merging. How much of each leaf was looked at is counted beside.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hadal_aggregate::{Partial, QueryError, QueryErrorCode, WarningCode, over_memory_limit};
use hadal_block::{BlockError, ColumnView};
use hadal_query::Query;
use hadal_scan::{BlockContext, InternedIds, Scan, ScanError};
use hadal_types::MemoryPool;
use hadal_types::limits::MERGE_AT_ONCE_BYTES;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::spawn_blocking;

use crate::query::fair_scheduler::Schedulable;
use crate::query::morsel_queue::{Finished, MorselQueue};
use crate::query::worker_pool::Job;
use crate::sync::lock;
use crate::table::Table;
use crate::table::block::Block;

/// What it takes to make a worker state of so many bytes and to merge it with another one, about: as
/// measured with groups by number, a count and a sum each.
const WORKER_STATE_NANOS_PER_BYTE: u64 = 4;

/// What a job is about.
#[derive(Clone)]
pub(crate) struct ScanRequest {
    pub(crate) query: Arc<Query>,
    pub(crate) scan: Arc<Scan>,
    /// The table, by leaf.
    pub(crate) tables: Vec<Arc<Table>>,
    /// Those of their blocks that the time range reaches, and which leaf they are of.
    pub(crate) blocks: Vec<(usize, Arc<Block>)>,
    /// Bytes that all that is found may take.
    pub(crate) bytes_max: usize,
    /// Where these are drawn from.
    pub(crate) budget: Arc<MemoryPool>,
    /// How many questions may merge what their workers found beside the threads that scan.
    pub(crate) merging: Arc<Semaphore>,
    pub(crate) deadline: Instant,
}

/// A query, and how far it is answered.
pub(crate) struct ScanJob {
    request: ScanRequest,
    queue: MorselQueue<WorkerState>,
    /// Bytes that all worker states take.
    bytes: AtomicUsize,
    /// The longest that a block has taken so far, in nanoseconds.
    longest: AtomicU64,
    cancelled: AtomicBool,
    /// Until the job has ended.
    reply: Mutex<Option<oneshot::Sender<Finished<WorkerState>>>>,
}

/// What one worker after the other has found.
#[derive(Debug)]
pub(crate) struct WorkerState {
    partial: Partial,
    /// By leaf.
    scanned: Vec<ScannedBlocks>,
    took: Duration,
    /// Zeros may have been read for what could not be: nothing of this may be used.
    is_spoiled: bool,
}

/// What was looked at of one leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScannedBlocks {
    pub(crate) blocks: usize,
    /// Of blocks that could be read.
    pub(crate) rows: u64,
}

/// What a job found.
pub(crate) struct JobResult {
    pub(crate) partial: Partial,
    /// By leaf: all of its blocks, where there was time for that.
    pub(crate) scanned: Vec<ScannedBlocks>,
    /// None of it may be used: some of a block could not be read while it was looked at.
    pub(crate) is_spoiled: bool,
}

/// A job's result that is waited for. The job is cancelled when nobody waits any more.
pub(crate) struct PendingResult {
    job: Arc<ScanJob>,
    ended: oneshot::Receiver<Finished<WorkerState>>,
}

impl ScanJob {
    /// A job, and its result.
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

    /// When no further block is begun: one that is not done by the deadline would take all that
    /// was found before down with it.
    fn due(&self) -> Instant {
        let longest = Duration::from_nanos(self.longest.load(Ordering::Relaxed));
        let deadline = self.request.deadline;
        deadline.checked_sub(longest).unwrap_or(deadline)
    }

    /// How many blocks have to be left for one more worker to be of use: looking at them has to
    /// take longer than making the groups that are known a second time, and merging them.
    fn worth_blocks(&self) -> usize {
        let longest = self.longest.load(Ordering::Relaxed).max(1);
        let bytes = self.bytes.load(Ordering::Relaxed) as u64;
        let blocks = bytes.saturating_mul(WORKER_STATE_NANOS_PER_BYTE) / longest;
        usize::try_from(blocks).unwrap_or(usize::MAX)
    }

    /// Whether nobody waits for the answer any more.
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Findings made one; `None` where there are none.
    fn merged(&self, mut worker_states: Vec<WorkerState>) -> Option<WorkerState> {
        worker_states.sort_by_key(|worker_state| Reverse(worker_state.partial.reservation.bytes()));
        worker_states.into_iter().reduce(|mut all, worker_state| {
            all.partial.merge_unless(worker_state.partial, &|| self.is_cancelled());
            for (all, other) in all.scanned.iter_mut().zip(worker_state.scanned) {
                all.blocks += other.blocks;
                all.rows += other.rows;
            }
            all.took += worker_state.took;
            all.is_spoiled |= worker_state.is_spoiled;
            all
        })
    }

    /// What is told of a fault of a query that holds so many bytes: where others hold none, it is of
    /// no use to ask again.
    fn final_error(&self, fault: QueryError, held: usize) -> QueryError {
        let budget = &self.request.budget;
        match fault.code {
            QueryErrorCode::Busy if budget.reserved() <= held => {
                over_memory_limit(budget.each_max())
            }
            _ => fault,
        }
    }

    /// Holds what was found, for which so many bytes were held `before` the block. If that is too much
    /// together with what others have found, all of it is made one, which takes less: the query fails
    /// only where that is too much as well, so how many threads there are does not decide.
    fn hold(&self, partial: &mut Partial, before: usize) {
        let Err(fault) = partial.try_hold(self.request.bytes_max) else {
            // Wraps around where it became less.
            let more = partial.reservation.bytes().wrapping_sub(before);
            let all = self.bytes.fetch_add(more, Ordering::Relaxed).wrapping_add(more);
            if all > self.request.bytes_max {
                self.queue.limit_to_one_worker();
            }
            return;
        };
        if !self.queue.limit_to_one_worker() {
            partial.fail(self.final_error(fault, partial.reservation.bytes()));
        }
    }
}

impl Schedulable for ScanJob {
    /// Leaves that answer each for itself are asked the same query, not copies of it.
    fn query(&self) -> usize {
        Arc::as_ptr(&self.request.query).addr()
    }

    fn workers_if_open(&self) -> Option<usize> {
        self.queue.workers_if_open(self.worth_blocks())
    }

    /// What nobody waits for is ended soon, too, since it holds memory.
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
            return WorkerState { partial, scanned, took, is_spoiled: false };
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
        let WorkerState { partial, scanned, is_spoiled, .. } = worker_state;
        let (table, scanned) = (&tables[*leaf], &mut scanned[*leaf]);
        let held = HeldBlock { block, table, job: self };
        let faults = block.faults();
        let before = partial.reservation.bytes();
        let looked_at = block.view().map_err(ScanError::from);
        match looked_at.and_then(|view| scan.block_of(&view, &held, partial)) {
            Ok(()) => {
                scanned.blocks += 1;
                scanned.rows += block.rows as u64;
                self.hold(partial, before);
            }
            Err(ScanError::Cancelled) => {}
            // As in `hold`: how many threads there are does not decide.
            Err(ScanError::Failed(fault)) => {
                if fault.code == QueryErrorCode::Invalid || !self.queue.give_back(number) {
                    partial.fail(self.final_error(*fault, partial.reservation.bytes()));
                }
            }
            Err(ScanError::Damaged(error)) => {
                scanned.blocks += 1;
                table.quarantine(block, &error);
                partial.warn(WarningCode::BlocksUnreadable, table.name.as_str(), 1);
            }
        }
        *is_spoiled |= block.faults() != faults;
    }

    fn note(&self, took: Duration, worker_state: &mut WorkerState) {
        worker_state.took += took;
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.longest.fetch_max(nanos, Ordering::Relaxed);
    }

    fn end(&self, ended: Finished<WorkerState>) {
        if let Some(reply) = lock(&self.reply).take() {
            // Whoever asked may have gone.
            let _ = reply.send(ended);
        }
    }

    fn fail(&self) {
        // Seen as a leaf that failed.
        drop(lock(&self.reply).take());
    }
}

/// A block, and the strings that its table knows by id.
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

    fn interned(&self, index: usize, column: &ColumnView<'a>) -> Option<InternedIds> {
        self.block.interned(index, column, &self.table.string_ids)
    }
}

impl PendingResult {
    /// Waits for the result; `None` when the job failed.
    pub(crate) async fn result(mut self) -> Option<JobResult> {
        let Finished { worker_states, .. } = (&mut self.ended).await.ok()?;
        let many = worker_states.len() > 1;
        let bytes = |worker_state: &WorkerState| worker_state.partial.reservation.bytes();
        let largest = worker_states.iter().map(bytes).max().unwrap_or(0);
        let is_quick =
            worker_states.iter().map(bytes).sum::<usize>() - largest <= MERGE_AT_ONCE_BYTES;
        let merged = match is_quick {
            true => self.job.merged(worker_states),
            // No thread of the pool does this: it takes longer than a turn. Not all do it at once, or
            // those threads would hardly get on.
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
        let WorkerState { mut partial, scanned, took, is_spoiled } = merged?;
        if many {
            partial.hold(self.job.request.bytes_max);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        partial.stats.scan_micros = partial.stats.scan_micros.saturating_add(micros);
        Some(JobResult { partial, scanned, is_spoiled })
    }
}

impl Drop for PendingResult {
    fn drop(&mut self) {
        self.job.cancelled.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
