//! One scan on the threads of a leaf, repeated if a block turns out to be unreadable.

use std::sync::Arc;

use hadal_types::MemoryPool;
use tokio::task::spawn_blocking;

use crate::context::LeafContext;
use crate::query::scan_job::{JobResult, ScanJob, ScanRequest};
use crate::query::scan_pool::ScanPool;

/// How often a scan is started, since blocks may turn out to be unreadable during it.
const ATTEMPTS_MAX: usize = 4;

/// Settings for the queries of a leaf.
pub(crate) struct QuerySettings {
    /// The scan threads.
    pub(crate) pool: Arc<ScanPool>,
    /// Whether a block may be answered from its zone maps; false only in measurements.
    pub(crate) zone_answers: bool,
    /// Bytes that one query may hold in this leaf, on all threads together.
    pub(crate) query_bytes_max: usize,
    /// The memory pool that all queries of the process share.
    pub(crate) budget: Arc<MemoryPool>,
}

/// The view of a leaf that a query needs.
#[derive(Clone, Copy)]
pub(crate) struct QueryLeaf<'l> {
    pub(crate) context: &'l LeafContext,
    pub(crate) settings: &'l QuerySettings,
}

/// Scans the blocks of a query on the threads that `leaf` shares; returns `None` if that fails.
///
/// A result is useless if a part of a block turns out to be unreadable during the scan. Then all
/// blocks that may be affected are verified, so that the damaged ones are known, and the scan
/// starts again.
pub(crate) async fn run_scan(leaf: QueryLeaf<'_>, request: ScanRequest) -> Option<JobResult> {
    for _ in 0..ATTEMPTS_MAX {
        let (job, pending) = ScanJob::new(request.clone());
        leaf.settings.pool.run(job);
        let result = pending.result().await?;
        if !result.is_spoiled {
            return Some(result);
        }
        let ScanRequest { tables, blocks, .. } = request.clone();
        let verifying = spawn_blocking(move || {
            for (at, block) in blocks.iter().filter(|(_, block)| block.faults() > 0) {
                if let Err(error) = block.verify() {
                    tables[*at].quarantine(block, &error);
                }
            }
        });
        verifying.await.ok()?;
    }
    tracing::error!(leaf = %leaf.context.name, "blocks become unreadable one after the other");
    None
}
