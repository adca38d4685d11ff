//! Top lists over many groups: most groups are never made.
//!
//! A scan of a few blocks shows how many groups there are, and about how large the last one of the
//! list is. If groups are many, a second scan counts all rows by the hash of their key, into
//! counters that stay in a cache. A third scan makes only groups whose counter reaches a bound.
//! If enough of them reach the bound themselves, no other group can be in the list, so it is exact.
//! If not, the last of them is a bound that is certain, and the third scan is repeated. Where the
//! groups are few, or too equal to tell them apart by counters, the other blocks are scanned as
//! usual.
//!
//! The phases are those of the threshold algorithms: an upper bound of each item from a summary,
//! and a lower bound of the list's last one (Fagin, Lotem and Naor, PODS 2001; Cao and Wang, PODC
//! 2004).

use std::sync::Arc;

use hadal_aggregate::{QueryError, QueryErrorCode, Rank, TopList};
use hadal_query::SentGroups;
use hadal_scan::{KeyBound, KeyCounters, Scan};

use crate::query::leaf_scan::{QueryLeaf, run_scan};
use crate::query::scan_job::{JobResult, ScanRequest, ScannedBlocks};

/// Blocks of the first scan.
const SAMPLE_BLOCKS: usize = 4;
/// With fewer blocks, a query is quick as it is.
const BLOCKS_MIN: usize = 4 * SAMPLE_BLOCKS;
/// Fewer groups than this stay in a cache; in tests they are fewer.
const GROUPS_MIN: usize = if cfg!(test) { 64 } else { 1 << 14 };
/// The last group of the list must exceed a counter of average groups this many times.
const CONTRAST_MIN: f64 = 2.0;
/// The largest share of the rows that groups may be made of.
const SHARE_MAX: f64 = 0.5;
/// The first bound is this share of the size that the sample promises of the last group.
const CAUTION: f64 = 0.5;
/// How often groups are made; the second bound is certain.
const ROUNDS_MAX: usize = 2;

/// Which rows of a table the leaves of an execution have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableScope {
    /// All: nobody else has rows of a group.
    Whole,
    /// Some; other processes have others.
    Part,
}

/// Scans the blocks of a query. Leaves out groups that cannot be in its top list, if the query asks
/// for the largest groups only.
pub(crate) async fn run(
    leaf: QueryLeaf<'_>,
    request: ScanRequest,
    scope: TableScope,
) -> Option<JobResult> {
    let Some(largest) = LargestGroups::of(&request, scope) else {
        return run_scan(leaf, request).await;
    };
    let (sample, rest) = halves(&request);
    let rows = |request: &ScanRequest| {
        request.blocks.iter().map(|(_, block)| block.rows as f64).sum::<f64>()
    };
    let scale = rows(&request) / rows(&sample).max(1.0);
    // Its rows are scanned again, if groups are left out: shown with these they would count twice.
    let sample = ScanRequest { shown: Arc::default(), ..sample };
    let mut first = run_scan(leaf, sample).await?;
    if !first.partial.errors.is_empty() {
        return Some(first);
    }
    if let Some(least) = largest.first_bound(&mut first, scale)
        && let Some(result) = bounded(leaf, &request, largest, least).await
    {
        return Some(result);
    }
    request.shown.count_rows(first.scanned.iter().map(|scanned| scanned.rows).sum());
    let rest = run_scan(leaf, rest).await?;
    let result = joined(first, rest, request.bytes_max);
    let lacks_memory =
        |error: &QueryError| matches!(error.code, QueryErrorCode::Memory | QueryErrorCode::Busy);
    if !result.partial.errors.iter().any(lacks_memory) {
        return Some(result);
    }
    // One result takes less memory than two.
    drop(result);
    run_scan(leaf, ScanRequest { shown: Arc::default(), ..request }).await
}

/// The groups that a query asks for.
#[derive(Clone, Copy)]
struct LargestGroups {
    ranked_by: Rank,
    /// The number of the largest groups that must be complete.
    groups: usize,
    /// Whether other processes may have more rows of the groups.
    is_part: bool,
}

impl LargestGroups {
    /// `None` if the scan cannot leave out groups, or if it would not pay.
    fn of(request: &ScanRequest, scope: TableScope) -> Option<Self> {
        let TopList { ranked_by, rows } = request.scan.countable_list()?;
        if request.blocks.len() < BLOCKS_MIN || request.query.needs_leaf_totals() {
            return None;
        }
        match (&request.query.sent, scope) {
            (SentGroups::All, TableScope::Whole) => {
                Some(Self { ranked_by, groups: rows, is_part: false })
            }
            // Sums of other parts may be negative.
            (SentGroups::Largest, _) if matches!(ranked_by, Rank::RawCount | Rank::Count) => {
                let groups = request.scan.countable_list()?.groups_max();
                Some(Self { ranked_by, groups, is_part: true })
            }
            _ => None,
        }
    }

    /// A bound for the groups of all rows, after a scan of one row in `scale`. `None` if there are
    /// few groups, or if they are too equal.
    fn first_bound(&self, sample: &mut JobResult, scale: f64) -> Option<u64> {
        if sample.partial.groups() < GROUPS_MIN {
            return None;
        }
        let (nth, total) = sample.partial.nth_largest(self.ranked_by, self.groups)?;
        let of_a_counter = total as f64 / KeyCounters::LEN as f64;
        let is_clear = nth as f64 * CAUTION > of_a_counter * CONTRAST_MIN;
        let least = nth as f64 * CAUTION * scale;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a bound, which is checked; the cast saturates"
        )]
        (is_clear && least > 1.0).then_some(least as u64)
    }
}

/// A few blocks from all over the table, and the others.
fn halves(request: &ScanRequest) -> (ScanRequest, ScanRequest) {
    let step = request.blocks.len() / SAMPLE_BLOCKS;
    let is_first = |index: &usize| index.is_multiple_of(step) && index / step < SAMPLE_BLOCKS;
    let of = |first: bool| {
        let blocks = request.blocks.iter().enumerate();
        let blocks = blocks.filter(|(index, _)| is_first(index) == first);
        let blocks = blocks.map(|(_, block)| block.clone()).collect();
        ScanRequest { blocks, ..request.clone() }
    };
    (of(true), of(false))
}

/// Counts rows by the hash of their key, then makes the groups that reach `least`. `None` if these
/// have too many rows, or if the list is not certain.
async fn bounded(
    leaf: QueryLeaf<'_>,
    request: &ScanRequest,
    largest: LargestGroups,
    mut least: u64,
) -> Option<JobResult> {
    let all = request.blocks.len();
    let is_whole = |result: &JobResult| {
        let blocks: usize = result.scanned.iter().map(|scanned| scanned.blocks).sum();
        blocks == all && result.partial.errors.is_empty()
    };
    let counting = ScanRequest { counts_keys: true, shown: Arc::default(), ..request.clone() };
    let counted = run_scan(leaf, counting).await.filter(is_whole)?;
    let counters = Arc::new(counted.counters?);
    let mut shown = Arc::clone(&request.shown);
    for _ in 0..ROUNDS_MAX {
        if counters.share_from(least) > SHARE_MAX {
            return None;
        }
        let scan = Scan::new(Arc::clone(&request.query)).ok()?;
        let bound = KeyBound { counters: Arc::clone(&counters), least };
        let scan = Arc::new(scan.bounded(bound));
        let bounded = ScanRequest { scan, shown: std::mem::take(&mut shown), ..request.clone() };
        let mut result = run_scan(leaf, bounded).await.filter(is_whole)?;
        let (nth, _) = result.partial.nth_largest(largest.ranked_by, largest.groups)?;
        if nth >= i128::from(least) {
            if largest.is_part {
                result.partial.note_left_out(least.into());
            }
            let (stats, counting) = (&mut result.partial.stats, counted.partial.stats);
            stats.bytes_read += counting.bytes_read;
            stats.scan_micros += counting.scan_micros;
            return Some(result);
        }
        least = u64::try_from(nth).ok().filter(|nth| *nth > 1)?;
    }
    None
}

/// The results of two scans of different blocks.
fn joined(mut first: JobResult, rest: JobResult, bytes_max: usize) -> JobResult {
    first.partial.merge(rest.partial);
    first.partial.hold(bytes_max);
    for (ScannedBlocks { blocks, rows }, more) in first.scanned.iter_mut().zip(rest.scanned) {
        *blocks += more.blocks;
        *rows += more.rows;
    }
    JobResult { is_spoiled: first.is_spoiled || rest.is_spoiled, ..first }
}

#[cfg(test)]
mod tests;
