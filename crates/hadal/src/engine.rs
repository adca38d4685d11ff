//! The whole database in this process: leaves, the tree over them, and placement.

use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_leaf::{Leaf, LeafConfig, LeafLimits, ScanPool};
use hadal_store::{Report, Store};
use hadal_tree::{Aggregator, Ledger, Placement, PlacementLeaf, Root};
use hadal_types::limits::{LEAF_QUERY_BYTES_MAX, QUERIES_BYTES_MAX};
use hadal_types::{Budget, Clock, TableName};
use hadal_wire::{LeafName, LeafStatus, Peer, Sink, TableStatus};

use crate::error::Error;
use crate::machine;

/// The file in a data folder that says how many leaves it has.
const LEAVES_FILE: &str = "leaves";
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
#[derive(Default)]
pub(crate) struct Recovered {
    pub(crate) rows: u64,
    pub(crate) tables: usize,
    pub(crate) time: Duration,
    /// Per leaf.
    pub(crate) reports: Vec<(LeafName, Report)>,
    /// Leaves that the folder had, and of which nothing is there.
    pub(crate) leaves_lost: Vec<LeafName>,
}

impl Engine {
    /// Opens all leaves and recovers what they hold.
    pub(crate) async fn open(config: &EngineConfig) -> Result<(Self, Recovered), Error> {
        let start = Instant::now();
        let known = config.folder.as_deref().map(leaves_in).transpose()?.unwrap_or_default();
        let count = config.leaves.max(known.count);
        let budget = Budget::new(QUERIES_BYTES_MAX);
        let limits = LeafLimits::of_one_in(count);
        let pool =
            ScanPool::new(machine::cores()).map_err(Error::io("start", "threads that scan"))?;
        let mut leaves = Vec::new();
        for index in 0..count {
            leaves.push(Arc::new(open_leaf(config, &pool, &limits, &budget, index)?));
        }
        if let Some(folder) = &config.folder {
            note_leaves(folder, count)?;
        }
        let ledger = Arc::new(Ledger::default());
        let (mut peers, mut placed): (Vec<(LeafName, Arc<dyn Peer>)>, _) = (Vec::new(), Vec::new());
        let mut statuses = Vec::new();
        for leaf in &leaves {
            let status: Vec<LeafStatus> = leaf.status().await.leaves;
            let bytes =
                |(name, table): (&TableName, &Arc<TableStatus>)| (name.clone(), table.block_bytes);
            for own in &status {
                ledger.set_all(own);
                let peer: Arc<dyn Peer> = Arc::<Leaf>::clone(leaf);
                peers.push((own.name.clone(), peer));
                placed.push(PlacementLeaf {
                    name: own.name.clone(),
                    sink: Arc::<Leaf>::clone(leaf),
                    tables: own.tables.iter().map(bytes).collect(),
                });
            }
            statuses.extend(status);
        }
        let mut recovered = Recovered::new(&leaves, &statuses, start.elapsed());
        recovered.leaves_lost = known.lost;
        let root = Root::new(Arc::new(Aggregator::over_leaves(peers, &ledger)), budget);
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
            leaves_lost: Vec::new(),
        }
    }
}

fn open_leaf(
    config: &EngineConfig,
    pool: &Arc<ScanPool>,
    limits: &LeafLimits,
    budget: &Arc<Budget>,
    index: usize,
) -> Result<Leaf, Error> {
    let name = leaf_name(index);
    Ok(Leaf::open(LeafConfig {
        folder: config.folder.as_ref().map(|folder| folder.join(&name)),
        name: LeafName(name.into()),
        pool: Arc::clone(pool),
        zone_answers: machine::zone_answers(),
        limits: limits.clone(),
        query_bytes_max: LEAF_QUERY_BYTES_MAX,
        budget: Arc::clone(budget),
        clock: Arc::clone(&config.clock),
    })?)
}

fn leaf_name(index: usize) -> String {
    format!("leaf-{index}")
}

/// The leaves that a data folder should have.
#[derive(Default)]
struct Leaves {
    count: usize,
    /// Those of which nothing is there.
    lost: Vec<LeafName>,
}

/// The leaves of a data folder: as many as were noted, and as the highest number of a leaf's folder
/// says, so that none is left out.
fn leaves_in(folder: &Path) -> Result<Leaves, Error> {
    make_folder(folder)?;
    let at = |index: &usize| folder.join(leaf_name(*index));
    let last = (0..LEAVES_IN_PROCESS_MAX).rev().find(|index| at(index).is_dir());
    let count = noted_leaves(folder)?.max(last.map_or(0, |index| index + 1));
    let lost = (0..count).filter(|index| !Store::is_in(&at(index)));
    Ok(Leaves { count, lost: lost.map(|index| LeafName(leaf_name(index).into())).collect() })
}

/// Makes a folder, and those that it is in, for this user only; one that is there stays as it is.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(Error::io("make", folder.display()))
}

/// How many leaves a data folder has, as it was noted; none in a new folder.
fn noted_leaves(folder: &Path) -> Result<usize, Error> {
    let file = folder.join(LEAVES_FILE);
    let text = match std::fs::read_to_string(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        read => read.map_err(Error::io("read", file.display()))?,
    };
    let count = text.trim().parse().ok().filter(|count| *count <= LEAVES_IN_PROCESS_MAX);
    count.ok_or_else(|| {
        let place = file.display();
        Error::Usage(format!(
            "{place} does not hold a number of leaves, 0 to {LEAVES_IN_PROCESS_MAX}; it may be \
             removed if no leaf's folder is missing"
        ))
    })
}

/// Notes how many leaves a data folder has, once all of them are there.
fn note_leaves(folder: &Path, count: usize) -> Result<(), Error> {
    if noted_leaves(folder)? == count {
        return Ok(());
    }
    let (file, new) = (folder.join(LEAVES_FILE), folder.join(format!("{LEAVES_FILE}.new")));
    let write = || {
        let mut written = File::create(&new)?;
        writeln!(written, "{count}")?;
        written.sync_all()?;
        std::fs::rename(&new, &file)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(Error::io("write", file.display()))
}

#[cfg(test)]
mod tests {
    use hadal_store::Config;

    use super::*;

    fn lost_in(folder: &Path) -> (usize, Vec<String>) {
        let Leaves { count, lost } = leaves_in(folder).expect("read");
        (count, lost.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_leaf_that_is_gone_is_missed() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("data");
        assert_eq!(lost_in(&folder), (0, vec![]));
        for index in 0..3 {
            let leaf = Store::open(&Config::new(folder.join(leaf_name(index))));
            drop(leaf.expect("made"));
        }
        // From before the number was noted.
        assert_eq!(lost_in(&folder), (3, vec![]));
        note_leaves(&folder, 3).expect("noted");
        assert_eq!(lost_in(&folder), (3, vec![]));
        let leaf = |index| folder.join(leaf_name(index));
        std::fs::remove_dir_all(leaf(1)).expect("removed");
        std::fs::remove_dir_all(leaf(2)).expect("removed");
        std::fs::create_dir(leaf(2)).expect("made");
        assert_eq!(lost_in(&folder), (3, vec!["leaf-1".to_owned(), "leaf-2".to_owned()]));
    }

    #[test]
    fn a_number_that_is_none_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in ["", "many", "-1", "65"] {
            std::fs::write(folder.path().join(LEAVES_FILE), text).expect("written");
            assert!(matches!(leaves_in(folder.path()), Err(Error::Usage(_))), "{text}");
        }
    }
}
