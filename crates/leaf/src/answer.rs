//! One question to a leaf: which blocks, in what order, and what the answer rests on.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::{
    Coverage, Fault, FaultCode, LeafCoverage, LeafOutcome, Partial, WarningCode,
};
use hadal_query::Query;
use hadal_scan::{BlockOrder, Scan};
use hadal_store::DroppedRows;
use tokio::task::spawn_blocking;

use crate::block::Block;
use crate::job::{JobResult, Question, ScanJob};
use crate::leaf::Leaf;
use crate::sync::read;
use crate::table::Table;

/// How often a question is begun because blocks turn out to be unreadable on the way.
const LOOKS_MAX: usize = 4;

impl Leaf {
    /// What the leaf's rows say to a question, by its deadline.
    pub(crate) async fn answer(&self, query: Arc<Query>, deadline: Instant) -> Partial {
        let start = Instant::now();
        let table = read(&self.inner.tables).get(&query.table).cloned();
        let scan = match Scan::new(Arc::clone(&query)) {
            Ok(scan) if self.zone_answers => scan,
            Ok(scan) => scan.without_zone_answers(),
            Err(error) => {
                let fault = Fault::new(FaultCode::Invalid, &error.to_string());
                return Partial::failed(&query, fault);
            }
        };
        let (lost_rows, waiting_rows) = table.as_ref().map_or((0, 0), |table| {
            table.unfold();
            table.missing_rows()
        });
        let has_table = table.as_ref().is_some_and(|table| table.has_rows_to_tell());
        let dropped = table.as_ref().and_then(|table| table.dropped_rows());
        // One without rows, where there is none.
        let table = table.unwrap_or_else(|| Arc::new(Table::new(query.table.clone())));
        let blocks = table.snapshot();
        let rows: u64 = blocks.iter().map(|block| block.rows as u64).sum();
        let is_reached = |block: &&Arc<Block>| {
            let (first, last) = block.time_range;
            query.range.overlaps(first, last)
        };
        let reached: Vec<Arc<Block>> = blocks.iter().filter(is_reached).cloned().collect();
        let skipped = (blocks.len() - reached.len()) as u64;
        let rows_skipped = rows - reached.iter().map(|block| block.rows as u64).sum::<u64>();
        let question = Question {
            query: Arc::clone(&query),
            blocks: ordered(reached, scan.block_order()),
            table,
            scan: Arc::new(scan),
            bytes_max: self.query_bytes_max,
            budget: Arc::clone(&self.budget),
            deadline,
        };
        let (mut partial, rows_scanned, outcome) = match self.look(question).await {
            Some(JobResult { mut partial, rows_scanned, complete, .. }) => {
                partial.stats.blocks += skipped;
                partial.stats.blocks_skipped += skipped;
                let outcome = if complete { LeafOutcome::Answered } else { LeafOutcome::Late };
                (partial, rows_scanned + rows_skipped, outcome)
            }
            None => (Partial::empty(&query), 0, LeafOutcome::Failed),
        };
        let coverage = LeafCoverage {
            name: self.inner.name.to_string(),
            outcome,
            rows_expected: rows + lost_rows + waiting_rows,
            rows_scanned,
            micros: u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX),
        };
        partial.coverage.merge(Coverage::of_leaf(coverage, has_table));
        if lost_rows > 0 {
            partial.warn(WarningCode::RowsLost, query.table.as_str(), lost_rows);
        }
        // Whoever asks for later rows only misses none.
        if let Some(DroppedRows { rows, until, .. }) = dropped
            && query.range.from.is_none_or(|from| from <= until)
        {
            let table = query.table.as_str();
            partial.warnings.add_until(WarningCode::RowsDropped, table, rows, Some(until));
        }
        partial
    }

    /// Looks at a question's blocks; `None` when that fails.
    ///
    /// What is found is of no use where some of a block turns out to be unreadable on the way. Then
    /// all that may be meant is verified, so that the damaged blocks are known, and it begins again.
    async fn look(&self, question: Question) -> Option<JobResult> {
        for _ in 0..LOOKS_MAX {
            let (job, pending) = ScanJob::new(question.clone());
            self.pool.run(job);
            let result = pending.result().await?;
            if !result.is_spoiled {
                return Some(result);
            }
            let Question { table, blocks, .. } = question.clone();
            let verifying = spawn_blocking(move || {
                for block in blocks.iter().filter(|block| block.faults() > 0) {
                    if let Err(error) = block.verify() {
                        table.quarantine(block, &error);
                    }
                }
            });
            verifying.await.ok()?;
        }
        tracing::error!(leaf = %self.name(), "blocks become unreadable one after the other");
        None
    }
}

/// Blocks in the order in which they are best looked at.
fn ordered(mut blocks: Vec<Arc<Block>>, order: BlockOrder) -> Vec<Arc<Block>> {
    match order {
        BlockOrder::Any => {}
        BlockOrder::NewestFirst => blocks.sort_by_key(|block| Reverse(block.time_range.1)),
        BlockOrder::OldestFirst => blocks.sort_by_key(|block| block.time_range.0),
    }
    blocks
}
