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

use crate::query::fair_scheduler::InTurns;
use crate::query::morsel_queue::{Ended, Handout};
use crate::query::worker_pool::Job;
use crate::sync::lock;
use crate::table::Table;
use crate::table::block::Block;

/// What it takes to make a finding of so many bytes and to merge it with another one, about: as
/// measured with groups by number, a count and a sum each.
const FINDING_NANOS_PER_BYTE: u64 = 4;

/// What a job is about.
#[derive(Clone)]
pub(crate) struct Question {
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

/// A question, and how far it is answered.
pub(crate) struct ScanJob {
    question: Question,
    handout: Handout<Finding>,
    /// Bytes that all findings take.
    bytes: AtomicUsize,
    /// The longest that a block has taken so far, in nanoseconds.
    longest: AtomicU64,
    cancelled: AtomicBool,
    /// Until the job has ended.
    reply: Mutex<Option<oneshot::Sender<Ended<Finding>>>>,
}

/// What one worker after the other has found.
#[derive(Debug)]
pub(crate) struct Finding {
    partial: Partial,
    /// By leaf.
    looked: Vec<Looked>,
    took: Duration,
    /// Zeros may have been read for what could not be: nothing of this may be used.
    is_spoiled: bool,
}

/// What was looked at of one leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looked {
    pub(crate) blocks: usize,
    /// Of blocks that could be read.
    pub(crate) rows: u64,
}

/// What a job found.
pub(crate) struct JobResult {
    pub(crate) partial: Partial,
    /// By leaf: all of its blocks, where there was time for that.
    pub(crate) looked: Vec<Looked>,
    /// None of it may be used: some of a block could not be read while it was looked at.
    pub(crate) is_spoiled: bool,
}

/// A job's result that is waited for. The job is cancelled when nobody waits any more.
pub(crate) struct Pending {
    job: Arc<ScanJob>,
    ended: oneshot::Receiver<Ended<Finding>>,
}

impl ScanJob {
    /// A job, and its result.
    pub(crate) fn new(question: Question) -> (Arc<Self>, Pending) {
        let (reply, ended) = oneshot::channel();
        let job = Arc::new(Self {
            handout: Handout::new(question.blocks.len()),
            question,
            bytes: AtomicUsize::new(0),
            longest: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
            reply: Mutex::new(Some(reply)),
        });
        (Arc::clone(&job), Pending { job, ended })
    }

    /// When no further block is begun: one that is not done by the deadline would take all that
    /// was found before down with it.
    fn due(&self) -> Instant {
        let longest = Duration::from_nanos(self.longest.load(Ordering::Relaxed));
        let deadline = self.question.deadline;
        deadline.checked_sub(longest).unwrap_or(deadline)
    }

    /// How many blocks have to be left for one more worker to be of use: looking at them has to
    /// take longer than making the groups that are known a second time, and merging them.
    fn worth_blocks(&self) -> usize {
        let longest = self.longest.load(Ordering::Relaxed).max(1);
        let bytes = self.bytes.load(Ordering::Relaxed) as u64;
        let blocks = bytes.saturating_mul(FINDING_NANOS_PER_BYTE) / longest;
        usize::try_from(blocks).unwrap_or(usize::MAX)
    }

    /// Whether nobody waits for the answer any more.
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Findings made one; `None` where there are none.
    fn merged(&self, mut findings: Vec<Finding>) -> Option<Finding> {
        findings.sort_by_key(|finding| Reverse(finding.partial.reservation.bytes()));
        findings.into_iter().reduce(|mut all, finding| {
            all.partial.merge_unless(finding.partial, &|| self.is_cancelled());
            for (all, own) in all.looked.iter_mut().zip(finding.looked) {
                all.blocks += own.blocks;
                all.rows += own.rows;
            }
            all.took += finding.took;
            all.is_spoiled |= finding.is_spoiled;
            all
        })
    }

    /// What is told of a fault of a query that holds so many bytes: where others hold none, it is of
    /// no use to ask again.
    fn told(&self, fault: QueryError, held: usize) -> QueryError {
        let budget = &self.question.budget;
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
        let Err(fault) = partial.try_hold(self.question.bytes_max) else {
            // Wraps around where it became less.
            let more = partial.reservation.bytes().wrapping_sub(before);
            let all = self.bytes.fetch_add(more, Ordering::Relaxed).wrapping_add(more);
            if all > self.question.bytes_max {
                self.handout.crowd();
            }
            return;
        };
        if !self.handout.crowd() {
            partial.fail(self.told(fault, partial.reservation.bytes()));
        }
    }
}

impl InTurns for ScanJob {
    /// Leaves that answer each for itself are asked the same query, not copies of it.
    fn query(&self) -> usize {
        Arc::as_ptr(&self.question.query).addr()
    }

    fn opening(&self) -> Option<usize> {
        self.handout.opening(self.worth_blocks())
    }

    /// What nobody waits for is ended soon, too, since it holds memory.
    fn is_due(&self, now: Instant) -> bool {
        self.due() <= now || self.is_cancelled()
    }
}

impl Job for ScanJob {
    type Finding = Finding;

    fn handout(&self) -> &Handout<Finding> {
        &self.handout
    }

    fn is_done(&self, finding: &Finding) -> bool {
        finding.is_spoiled || !finding.partial.errors.is_empty()
    }

    fn begin(&self, left: Vec<Finding>) -> Finding {
        let Question { query, tables, budget, bytes_max, .. } = &self.question;
        let many = left.len() > 1;
        let Some(mut finding) = self.merged(left) else {
            let partial = Partial { reservation: budget.reservation(), ..Partial::empty(query) };
            let took = Duration::ZERO;
            let looked = vec![Looked::default(); tables.len()];
            return Finding { partial, looked, took, is_spoiled: false };
        };
        if many {
            finding.partial.hold(*bytes_max);
            self.bytes.store(finding.partial.reservation.bytes(), Ordering::Relaxed);
        }
        finding
    }

    fn look(&self, number: usize, finding: &mut Finding) {
        let Question { scan, tables, blocks, .. } = &self.question;
        let Some((leaf, block)) = blocks.get(number) else { return };
        let Finding { partial, looked, is_spoiled, .. } = finding;
        let (table, looked) = (&tables[*leaf], &mut looked[*leaf]);
        let held = HeldBlock { block, table, job: self };
        let faults = block.faults();
        let before = partial.reservation.bytes();
        let looked_at = block.view().map_err(ScanError::from);
        match looked_at.and_then(|view| scan.block_of(&view, &held, partial)) {
            Ok(()) => {
                looked.blocks += 1;
                looked.rows += block.rows as u64;
                self.hold(partial, before);
            }
            Err(ScanError::Cancelled) => {}
            // As in `hold`: how many threads there are does not decide.
            Err(ScanError::Failed(fault)) => {
                if fault.code == QueryErrorCode::Invalid || !self.handout.give_back(number) {
                    partial.fail(self.told(*fault, partial.reservation.bytes()));
                }
            }
            Err(ScanError::Damaged(error)) => {
                looked.blocks += 1;
                table.quarantine(block, &error);
                partial.warn(WarningCode::BlocksUnreadable, table.name.as_str(), 1);
            }
        }
        *is_spoiled |= block.faults() != faults;
    }

    fn note(&self, took: Duration, finding: &mut Finding) {
        finding.took += took;
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.longest.fetch_max(nanos, Ordering::Relaxed);
    }

    fn end(&self, ended: Ended<Finding>) {
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
        self.job.is_cancelled() || self.job.question.deadline <= Instant::now()
    }

    fn interned(&self, index: usize, column: &ColumnView<'a>) -> Option<InternedIds> {
        self.block.interned(index, column, &self.table.interners)
    }
}

impl Pending {
    /// Waits for the result; `None` when the job failed.
    pub(crate) async fn result(mut self) -> Option<JobResult> {
        let Ended { findings, .. } = (&mut self.ended).await.ok()?;
        let many = findings.len() > 1;
        let bytes = |finding: &Finding| finding.partial.reservation.bytes();
        let largest = findings.iter().map(bytes).max().unwrap_or(0);
        let is_quick = findings.iter().map(bytes).sum::<usize>() - largest <= MERGE_AT_ONCE_BYTES;
        let merged = match is_quick {
            true => self.job.merged(findings),
            // No thread of the pool does this: it takes longer than a turn. Not all do it at once, or
            // those threads would hardly get on.
            false => {
                let merging = Arc::clone(&self.job.question.merging).acquire_owned().await.ok()?;
                let job = Arc::clone(&self.job);
                let merged = spawn_blocking(move || {
                    let merged = job.merged(findings);
                    drop(merging);
                    merged
                });
                merged.await.ok()?
            }
        };
        let Finding { mut partial, looked, took, is_spoiled } = merged?;
        if many {
            partial.hold(self.job.question.bytes_max);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        partial.stats.scan_micros = partial.stats.scan_micros.saturating_add(micros);
        Some(JobResult { partial, looked, is_spoiled })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.job.cancelled.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
