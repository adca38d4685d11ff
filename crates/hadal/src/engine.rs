//! The whole database in this process: leaves, the tree over them, and placement.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_leaf::{Leaf, LeafConfig};
use hadal_store::Report;
use hadal_tree::{Aggregator, Ledger, Placement, PlacementLeaf, Root};
use hadal_types::Clock;
use hadal_types::limits::TABLE_BYTES_MAX;
use hadal_wire::{LeafName, LeafStatus, Peer, Sink};

use crate::error::Error;
use crate::machine;

/// Leaves in one process at most.
pub(crate) const LEAVES_IN_PROCESS_MAX: usize = 64;

/// How the database is set up.
pub(crate) struct EngineConfig {
    /// Where rows are kept; `None`: in memory only.
    pub(crate) folder: Option<PathBuf>,
    /// Leaves; a folder that has more keeps them.
    pub(crate) leaves: usize,
    /// What time it is.
    pub(crate) clock: Arc<dyn Clock>,
}

/// A database that runs.
pub(crate) struct Engine {
    leaves: Vec<Arc<Leaf>>,
    pub(crate) root: Root,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) ledger: Arc<Ledger>,
}

/// What a data folder brought back.
pub(crate) struct Recovered {
    pub(crate) rows: u64,
    pub(crate) tables: usize,
    pub(crate) time: Duration,
    /// Per leaf.
    pub(crate) reports: Vec<(LeafName, Report)>,
}

impl Engine {
    /// Opens all leaves and recovers what they hold.
    pub(crate) async fn open(config: &EngineConfig) -> Result<(Self, Recovered), Error> {
        let start = Instant::now();
        let count = match &config.folder {
            Some(folder) => config.leaves.max(leaves_in(folder)?),
            None => config.leaves,
        };
        let mut leaves = Vec::new();
        for index in 0..count {
            leaves.push(Arc::new(open_leaf(config, index, count)?));
        }
        let ledger = Arc::new(Ledger::default());
        let (mut peers, mut placed): (Vec<(LeafName, Arc<dyn Peer>)>, _) = (Vec::new(), Vec::new());
        let mut statuses = Vec::new();
        for leaf in &leaves {
            let status: Vec<LeafStatus> = leaf.status().await.leaves;
            for own in &status {
                ledger.set_all(own);
                let peer: Arc<dyn Peer> = Arc::<Leaf>::clone(leaf);
                peers.push((own.name.clone(), peer));
                placed.push(PlacementLeaf {
                    name: own.name.clone(),
                    sink: Arc::<Leaf>::clone(leaf),
                    block_bytes: own.block_bytes,
                });
            }
            statuses.extend(status);
        }
        let recovered = Recovered::new(&leaves, &statuses, start.elapsed());
        let root = Root::new(Arc::new(Aggregator::over_leaves(peers, &ledger)));
        let sink = Arc::new(Placement::new(placed, &ledger));
        Ok((Self { leaves, root, sink, ledger }, recovered))
    }

    /// Takes no more batches. What was acknowledged is on disk already; dropping the engine ends
    /// its threads and closes its folder.
    pub(crate) fn stop_taking(&self) {
        self.leaves.iter().for_each(|leaf| leaf.stop_taking());
    }
}

impl Recovered {
    fn new(leaves: &[Arc<Leaf>], statuses: &[LeafStatus], time: Duration) -> Self {
        let tables = statuses.iter().flat_map(|status| status.tables.iter());
        let mut names: Vec<_> = tables.clone().map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        let report = |(leaf, status): (&Arc<Leaf>, &LeafStatus)| {
            (status.name.clone(), leaf.recovery_report().clone())
        };
        Self {
            rows: tables.map(|(_, table)| table.schema.rows).sum(),
            tables: names.len(),
            time,
            reports: leaves.iter().zip(statuses).map(report).collect(),
        }
    }
}

fn open_leaf(config: &EngineConfig, index: usize, count: usize) -> Result<Leaf, Error> {
    let name = leaf_name(index);
    Ok(Leaf::open(LeafConfig {
        folder: config.folder.as_ref().map(|folder| folder.join(&name)),
        name: LeafName(name.into()),
        threads: machine::cores().div_ceil(count),
        table_bytes_max: TABLE_BYTES_MAX / count as u64,
        clock: Arc::clone(&config.clock),
    })?)
}

fn leaf_name(index: usize) -> String {
    format!("leaf-{index}")
}

/// How many leaves a data folder has: one more than the highest number, so that none is left out.
fn leaves_in(folder: &Path) -> Result<usize, Error> {
    let has_leaf = |index: &usize| folder.join(leaf_name(*index)).is_dir();
    std::fs::create_dir_all(folder).map_err(Error::io("make", folder.display()))?;
    Ok((0..LEAVES_IN_PROCESS_MAX).rev().find(has_leaf).map_or(0, |index| index + 1))
}
