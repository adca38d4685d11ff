//! Real leaves in this process, each with one thread and one core's worth of scanning.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_aggregate::Partial;
use hadal_leaf::{Durability, Leaf, LeafConfig, LeafLimits, PreopenedStore, ScanPool};
use hadal_peer::{Peer, Sink};
use hadal_types::limits::LEAF_QUERY_BYTES_MAX;
use hadal_types::{LeafName, MemoryPool, SystemClock};

use crate::error::Error;
use crate::events::batches;
use crate::question::Question;
use crate::samples::Samples;

/// How long a query may take: far longer than any does.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Opens an empty leaf in memory, with a scan thread of its own.
///
/// # Errors
/// When a thread cannot be started.
pub(crate) fn open(name: LeafName) -> Result<Arc<Leaf>, Error> {
    let leaf = Leaf::open(LeafConfig {
        name,
        folder: None,
        memory: None,
        preopened: PreopenedStore::default(),
        expects_data: false,
        durability: Durability::Async,
        pool: ScanPool::new(1)?,
        // The paper's leaves scan rows.
        zone_answers: false,
        limits: LeafLimits::of_one_in(1),
        query_bytes_max: LEAF_QUERY_BYTES_MAX,
        budget: MemoryPool::new(usize::MAX),
        clock: Arc::new(SystemClock),
        archive: None,
    });
    leaf.map(Arc::new).map_err(|error| Error::Store(error.to_string()))
}

/// Adds one unit of data to a leaf.
///
/// # Errors
/// When the leaf takes no batches.
pub(crate) async fn add_unit(leaf: &Leaf, rows: u64, copy: usize) -> Result<(), Error> {
    for batch in batches(rows, copy)? {
        leaf.accept(batch).await?;
    }
    leaf.merge_all();
    Ok(())
}

/// Asks one leaf without a network, `times` times; returns the last partial, and T_S.
///
/// # Errors
/// [`Error::Wrong`] or [`Error::Overloaded`].
pub(crate) async fn scan(
    leaf: &Leaf,
    question: &Question,
    matching: u64,
    times: usize,
) -> Result<(Partial, Samples), Error> {
    let mut samples = Samples::default();
    let mut last = None;
    for round in 0..=times {
        let start = Instant::now();
        let partial = leaf.query(Arc::clone(&question.query), start + DEADLINE).await;
        // The first one fills caches.
        if round > 0 {
            samples.add(start.elapsed());
        }
        question.check(&partial, matching, 1)?;
        last = Some(partial);
    }
    last.map(|partial| (partial, samples)).ok_or(Error::NoSamples)
}
