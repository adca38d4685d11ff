//! Runs one query on leaves of one process: selects and orders the blocks, and reports coverage.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::{
    Coverage, LeafCoverage, LeafOutcome, Partial, QueryError, QueryErrorCode, WarningCode,
    add_leaf_totals,
};
use hadal_peer::QueryWatch;
use hadal_query::Query;
use hadal_scan::{BlockOrder, Scan};
use hadal_store::DroppedRows;
use hadal_types::MemoryPool;

use crate::context::LeafContext;
use crate::query::leaf_scan::QueryLeaf;
use crate::query::scan_job::{JobResult, ScanRequest, ScannedBlocks};
use crate::query::top_list::{self, TableScope};
use crate::table::block::Block;
use crate::table::{Table, version_without_table};

/// The snapshot of a leaf's table for one query.
struct LeafSnapshot<'l> {
    leaf: &'l LeafContext,
    table: Arc<Table>,
    /// Whether the leaf has rows of the table, or had rows that it still reports.
    has_table: bool,
    /// The blocks that overlap the query's time range.
    reached: Vec<Arc<Block>>,
    /// Rows of all blocks, and of the blocks in `reached`.
    rows: (u64, u64),
    /// The number of the other blocks.
    skipped: u64,
    /// The version of the table. Reports of later versions are not older than the snapshot.
    version: u64,
    lost_rows: u64,
    waiting_rows: u64,
    dropped: Option<DroppedRows>,
    expired: Option<DroppedRows>,
}

/// Runs a query on leaves of one process, and returns their partial by its deadline. The leaves
/// share threads and a memory pool.
pub(crate) async fn execute(
    leaves: &[QueryLeaf<'_>],
    query: Arc<Query>,
    deadline: Instant,
    (watch, scope): (&QueryWatch, TableScope),
) -> Partial {
    let start = Instant::now();
    let Some(first) = leaves.first() else { return Partial::empty(&query) };
    if leaves.len() > 1 && query.needs_leaf_totals() {
        return execute_each(leaves, query, deadline, (watch, scope)).await;
    }
    let scan = match Scan::new(Arc::clone(&query)) {
        Ok(scan) if first.settings.zone_answers => scan,
        Ok(scan) => scan.without_zone_answers(),
        Err(error) => {
            let query_error = QueryError::new(QueryErrorCode::Invalid, &error.to_string());
            return Partial::failed(&query, query_error);
        }
    };
    let mut snapshots: Vec<LeafSnapshot<'_>> =
        leaves.iter().map(|leaf| LeafSnapshot::of(leaf.context, &query)).collect();
    let of_leaf = |(at, snapshot): (usize, &mut LeafSnapshot<'_>)| {
        let reached = std::mem::take(&mut snapshot.reached);
        (reached.len(), reached.into_iter().map(move |block| (at, block)).collect())
    };
    let (counts, blocks): (Vec<usize>, Vec<Vec<_>>) =
        snapshots.iter_mut().enumerate().map(of_leaf).unzip();
    let shown = watch.part();
    if shown.is_watched() {
        let begun = |snapshot: &LeafSnapshot<'_>| {
            snapshot.with_losses(snapshot.coverage(LeafOutcome::Late, 0, 0))
        };
        shown.begin_scan(snapshots.iter().map(begun).collect());
    }
    let request = ScanRequest {
        query: Arc::clone(&query),
        blocks: ordered(blocks.concat(), scan.block_order()),
        tables: snapshots.iter().map(|snapshot| Arc::clone(&snapshot.table)).collect(),
        scan: Arc::new(scan),
        bytes_max: bytes_max(leaves, &first.settings.budget),
        budget: Arc::clone(&first.settings.budget),
        merging: Arc::clone(first.settings.pool.merging()),
        deadline,
        counts_keys: false,
        shown: Arc::new(shown),
    };
    let (mut partial, scanned) = match top_list::run(*first, request, scope).await {
        Some(JobResult { partial, scanned, .. }) => (partial, Some(scanned)),
        None => (Partial::empty(&query), None),
    };
    let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    for (at, (snapshot, blocks)) in snapshots.into_iter().zip(counts).enumerate() {
        let scanned = scanned.as_ref().map(|scanned| scanned[at]);
        snapshot.report_coverage(&query, scanned, blocks, micros, &mut partial);
    }
    if leaves.len() == 1 {
        let rows = partial.coverage.rows_scanned;
        add_leaf_totals(&mut partial, &query, rows);
    }
    partial
}

/// As [`execute`], but one leaf after another: each adds its own totals.
async fn execute_each(
    leaves: &[QueryLeaf<'_>],
    query: Arc<Query>,
    deadline: Instant,
    (watch, scope): (&QueryWatch, TableScope),
) -> Partial {
    let mut all = Partial::empty(&query);
    let shown = watch.part();
    for leaf in leaves {
        shown.show(&all, Vec::new());
        let leaf = std::slice::from_ref(leaf);
        let query = Arc::clone(&query);
        all.merge(Box::pin(execute(leaf, query, deadline, (watch, scope))).await);
    }
    all
}

/// Bytes that a query may hold on all of these leaves. This is at most what the pool gives to one
/// query: with a higher limit the query would fail where it could drop groups instead.
fn bytes_max(leaves: &[QueryLeaf<'_>], budget: &MemoryPool) -> usize {
    let all =
        leaves.iter().fold(0usize, |all, leaf| leaf.settings.query_bytes_max.saturating_add(all));
    all.min(budget.each_max())
}

impl<'l> LeafSnapshot<'l> {
    fn of(leaf: &'l LeafContext, query: &Query) -> Self {
        let without_table = version_without_table();
        let table = leaf.table(&query.table);
        let (lost_rows, waiting_rows) = table.as_ref().map_or((0, 0), |table| {
            table.open_deferred();
            table.missing_rows()
        });
        let is_there = table.is_some();
        let has_table = table.as_ref().is_some_and(|table| table.is_reported());
        let dropped = table.as_ref().and_then(|table| table.dropped_rows());
        let expired = table.as_ref().and_then(|table| table.expired_rows());
        // An empty table stands for a missing one.
        let table = table.unwrap_or_else(|| Arc::new(Table::new(query.table.clone())));
        let blocks = table.snapshot();
        // Read after the snapshot: what it has of later changes is in reports of later versions.
        let version = if is_there { table.version() } else { without_table };
        let is_reached = |block: &&Arc<Block>| {
            let (first, last) = block.time_range;
            query.range.overlaps(first, last)
        };
        let reached: Vec<Arc<Block>> = blocks.iter().filter(is_reached).cloned().collect();
        let rows = |blocks: &[Arc<Block>]| blocks.iter().map(|block| block.rows as u64).sum();
        let rows = (rows(&blocks), rows(&reached));
        let skipped = (blocks.len() - reached.len()) as u64;
        Self {
            leaf,
            table,
            has_table,
            reached,
            rows,
            skipped,
            version,
            lost_rows,
            waiting_rows,
            dropped,
            expired,
        }
    }

    /// The coverage of this leaf, `scanned` rows of whose reached blocks were scanned.
    fn coverage(&self, outcome: LeafOutcome, scanned: u64, micros: u64) -> LeafCoverage {
        let (rows, rows_reached) = self.rows;
        LeafCoverage {
            name: self.leaf.name.clone(),
            outcome,
            rows_expected: rows + self.lost_rows + self.waiting_rows,
            rows_scanned: scanned + rows - rows_reached,
            micros,
            as_of: (self.leaf.started, self.version),
        }
    }

    /// The coverage with the table, and with losses that may be of any table.
    fn with_losses(&self, leaf: LeafCoverage) -> Coverage {
        let unknown_losses = self.leaf.store.loss_count();
        Coverage { unknown_losses, ..Coverage::of_leaf(leaf, self.has_table) }
    }

    /// Reports this leaf's coverage in the partial. `blocks` is the number of blocks to scan;
    /// `scanned` is `None` if the scan failed.
    fn report_coverage(
        self,
        query: &Query,
        scanned: Option<ScannedBlocks>,
        blocks: usize,
        micros: u64,
        partial: &mut Partial,
    ) {
        let coverage = match scanned {
            Some(scanned) => {
                partial.stats.blocks += self.skipped;
                partial.stats.blocks_skipped += self.skipped;
                let is_all = scanned.blocks == blocks;
                let outcome = if is_all { LeafOutcome::Answered } else { LeafOutcome::Late };
                self.coverage(outcome, scanned.rows, micros)
            }
            None => {
                let failed = self.coverage(LeafOutcome::Failed, 0, micros);
                LeafCoverage { rows_scanned: 0, ..failed }
            }
        };
        let coverage = self.with_losses(coverage);
        let losses = coverage.unknown_losses;
        partial.coverage.merge(coverage);
        let table = query.table.as_str();
        if self.lost_rows > 0 {
            partial.warn(WarningCode::RowsLost, table, self.lost_rows);
        }
        if losses > 0 {
            partial.warn(WarningCode::RowsLostUnknown, &self.leaf.name.to_string(), losses);
        }
        for (code, gone) in
            [(WarningCode::RowsDropped, self.dropped), (WarningCode::RowsExpired, self.expired)]
        {
            // A query for later rows only misses none of them.
            if let Some(DroppedRows { rows, until, .. }) = gone
                && query.range.from.is_none_or(|from| from <= until)
            {
                partial.warnings.add_until(code, table, rows, Some(until));
            }
        }
    }
}

/// Sorts blocks into the best order for the scan.
fn ordered(mut blocks: Vec<(usize, Arc<Block>)>, order: BlockOrder) -> Vec<(usize, Arc<Block>)> {
    match order {
        // Blocks of one leaf stay together: the string ids of a leaf also serve its next block.
        BlockOrder::Any => {}
        BlockOrder::NewestFirst => blocks.sort_by_key(|(_, block)| Reverse(block.time_range.1)),
        BlockOrder::OldestFirst => blocks.sort_by_key(|(_, block)| block.time_range.0),
    }
    blocks
}
