//! The whole database in this process: leaves, the tree over them, and placement.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_leaf::{
    Archive, Durability, FreshBytes, Leaf, LeafConfig, LeafGroup, LeafLimits, ScanPool,
};
use hadal_peer::LeafLoss;
use hadal_store::{PreopenedStore, Report, Sizes};
use hadal_tree::{Aggregator, DeadLeaf, ExpectedRows, Placement, PlacementLeaf, Root};
use hadal_types::limits::{DISK_RESERVE_BYTES, DISK_RESERVE_PART, LEAF_QUERY_BYTES_MAX};
use hadal_types::{Clock, LeafName, MemoryPool, TableName};

use crate::error::Error;
use crate::output;
use crate::process::heap::{HeapWatch, Memories};
use crate::process::memory::Memory;
use crate::process::system::{self, Holdings};

/// The file in a data folder that says how many leaves it has.
pub(crate) const LEAVES_FILE: &str = "leaves";
/// Bytes that are read of a file that should have a line.
const SMALL_FILE_BYTES_MAX: u64 = 4_096;
/// Leaves in one process at most.
pub(crate) const LEAVES_IN_PROCESS_MAX: usize = 64;

/// How the database is set up.
pub(crate) struct EngineConfig {
    /// Where rows are kept; `None`: in memory only.
    pub(crate) folder: Option<PathBuf>,
    /// When a batch counts as taken.
    pub(crate) durability: Durability,
    /// What memory there is, and whether rows are read from it.
    pub(crate) memory: Memory,
    /// What was found before of the leaves that are there; of each leaf, or of none.
    pub(crate) early: Vec<PreopenedStore>,
    /// Leaves; a folder that has more keeps them.
    pub(crate) leaves: usize,
    /// What time it is.
    pub(crate) clock: Arc<dyn Clock>,
    /// For how long it goes right before rows go for their age.
    pub(crate) clock_proving: Duration,
    /// Where rows of tables that are set so go before they are dropped.
    pub(crate) archive: Option<Arc<dyn Archive>>,
}

impl EngineConfig {
    /// Looks at the folder that another process has still. It may stop later for that: what it waits for
    /// then is less, and where a start would be refused it need not stop at all.
    ///
    /// # Errors
    /// For what a start over that folder would be refused.
    pub(crate) fn find_early(&mut self) -> Result<(), Error> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let leaves = (0..LEAVES_IN_PROCESS_MAX).map(|index| folder.join(leaf_name(index)));
        let leaves = leaves.take_while(|leaf| leaf.is_dir());
        let memory = self.memory.config.as_ref();
        let found = leaves.map(|leaf| PreopenedStore::find(&leaf, memory, Sizes::default()));
        self.early = found.collect::<Result<_, _>>()?;
        Ok(())
    }
}

/// A database that runs.
pub(crate) struct Engine {
    leaves: Vec<Arc<Leaf>>,
    pub(crate) root: Root,
    pub(crate) placement: Arc<Placement>,
    pub(crate) ledger: Arc<ExpectedRows>,
    /// What takes memory.
    pub(crate) memories: Memories,
    _heap: HeapWatch,
}

/// What a data folder brought back: of rows and tables, those that are not Hadal's own.
#[derive(Default)]
pub(crate) struct Recovered {
    pub(crate) rows: u64,
    pub(crate) tables: usize,
    pub(crate) time: Duration,
    /// Per leaf.
    pub(crate) reports: Vec<(LeafName, Report)>,
    /// Per leaf: what is lost of which nobody knows how many rows it had.
    pub(crate) losses: Vec<(LeafName, Vec<LeafLoss>)>,
    /// Leaves that cannot be opened, and why.
    pub(crate) leaves_failed: Vec<(LeafName, String)>,
}

impl Engine {
    /// Opens all leaves and recovers what they hold.
    pub(crate) async fn open(config: &EngineConfig) -> Result<(Self, Recovered), Error> {
        let start = Instant::now();
        let known = config.folder.as_deref().map(leaves_in).transpose()?.unwrap_or_default();
        let count = config.leaves.max(known.count);
        let shares = config.memory.shares;
        let budget = shares.query_budget(system::cores());
        let fresh = FreshBytes::new(shares.fresh);
        let memories = Memories {
            shares,
            queries: Arc::clone(&budget),
            fresh: Arc::clone(&fresh),
            room: config.memory.config.as_ref().map(|memory| Arc::clone(&memory.budget)),
            taken: Arc::default(),
        };
        let disk_reserve_bytes =
            config.folder.as_deref().map_or(0, disk_reserve_in) / count.max(1) as u64;
        let recovery_threads = (system::cores() / count.max(1)).max(1);
        let limits = LeafLimits::of_one_in(count);
        let table_bytes_max = config.memory.table_bytes_max / count.max(1) as u64;
        let limits =
            LeafLimits { table_bytes_max, fresh, disk_reserve_bytes, recovery_threads, ..limits };
        let limits = LeafLimits { clock_proving: config.clock_proving, ..limits };
        let pool =
            ScanPool::new(system::cores()).map_err(Error::io("start", "threads that scan"))?;
        let open = |index| {
            let is_known = index < known.noted;
            open_leaf(config, &pool, &limits, &budget, index, is_known).map(Arc::new)
        };
        let (leaves, failed) = without_damaged(open_side_by_side(count, open))?;
        if let Some(folder) = &config.folder {
            refuse_copies(folder, &leaves)?;
            note_leaves(folder, count)?;
        }
        give_memory_back(config, count);
        let ledger = Arc::new(ExpectedRows::default());
        let mut placed = Vec::with_capacity(leaves.len());
        for leaf in &leaves {
            let holdings = leaf.holdings();
            for (table, (rows, _)) in &holdings {
                ledger.set(leaf.name(), table, *rows);
            }
            placed.push(PlacementLeaf {
                name: leaf.name().clone(),
                sink: Arc::<Leaf>::clone(leaf),
                admin: Arc::<Leaf>::clone(leaf),
                tables: holdings.into_iter().map(|(table, (_, bytes))| (table, bytes)).collect(),
            });
        }
        let mut recovered = Recovered::new(&leaves, start.elapsed());
        let names = leaves.iter().map(|leaf| leaf.name().clone()).collect();
        let group = Arc::new(LeafGroup::new(leaves.clone()));
        let tree = Aggregator::over(group, names, &ledger);
        for (name, _) in &failed {
            // Its number of rows is unknown, so none are waited for.
            tree.join(Arc::new(DeadLeaf::new(name)), Vec::new());
        }
        recovered.leaves_failed = failed;
        let root = Root::new(Arc::new(tree), budget);
        let placement = Arc::new(Placement::new(placed, &ledger, root.catalog()));
        let heap = HeapWatch::start(&memories);
        Ok((Self { leaves, root, placement, ledger, memories, _heap: heap }, recovered))
    }

    /// What makes all leaves say from then on that they are about to stop.
    pub(crate) fn preparation(&self) -> impl FnOnce() + Send + 'static {
        let leaves = self.leaves.clone();
        move || leaves.iter().for_each(|leaf| leaf.prepare_to_stop())
    }

    /// Takes no more batches. What was acknowledged is on disk already.
    pub(crate) fn stop_taking(&self) {
        self.leaves.iter().for_each(|leaf| leaf.stop_taking());
    }

    /// Stops all leaves in order, at the same time; says what could not be written. Queries must
    /// have ended.
    pub(crate) fn stop(&self) -> Vec<String> {
        let stop = |leaf: &Leaf| leaf.stop().err().map(|error| error.to_string());
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                self.leaves.iter().map(|leaf| scope.spawn(move || stop(leaf))).collect();
            let died = || Some("a thread that stopped a leaf has died".to_owned());
            threads.into_iter().filter_map(|it| it.join().unwrap_or_else(|_| died())).collect()
        })
    }
}

impl Recovered {
    fn new(leaves: &[Arc<Leaf>], time: Duration) -> Self {
        let holdings: Vec<_> = leaves.iter().map(|leaf| leaf.holdings()).collect();
        let report = |leaf: &Arc<Leaf>| (leaf.name().clone(), leaf.recovery_report().clone());
        let reports: Vec<_> = leaves.iter().map(report).collect();
        let lost = reports.iter().flat_map(|(_, report)| &report.lost_blocks);
        let lost = lost.filter(|block| !block.table.is_own());
        let lost: u64 = lost.map(|block| u64::from(block.rows)).sum();
        let told = holdings.iter().flatten().filter(|(table, _)| !table.is_own());
        let rows: u64 = told.clone().map(|(_, (rows, _))| rows).sum();
        let tables: BTreeSet<&TableName> = told.map(|(table, _)| table).collect();
        Self {
            rows: rows.saturating_sub(lost),
            tables: tables.len(),
            time,
            reports,
            losses: leaves.iter().map(|leaf| (leaf.name().clone(), leaf.losses())).collect(),
            leaves_failed: Vec::new(),
        }
    }
}

/// Frees what earlier processes left in the tmpfs: of leaves that are no more, and of these here
/// when they are read from disk now. What cannot be freed is in nobody's way.
fn give_memory_back(config: &EngineConfig, leaves: usize) {
    let Some(tmpfs) = &config.memory.tmpfs else { return };
    hadal_store::sweep_memory(tmpfs);
    if let (Some(folder), None) = (&config.folder, &config.memory.config) {
        for index in 0..leaves {
            if let Err(error) = hadal_store::remove_memory(tmpfs, &folder.join(leaf_name(index))) {
                output::say(&format!("memory of an earlier process stays: {error}"));
            }
        }
    }
}

/// Opens all leaves at the same time, each on a thread of its own.
fn open_side_by_side(
    count: usize,
    open: impl Fn(usize) -> Result<Arc<Leaf>, Error> + Sync,
) -> Vec<Result<Arc<Leaf>, Error>> {
    let open = &open;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|index| scope.spawn(move || open(index))).collect();
        let died = || Error::Server("a thread that opened a leaf has died".to_owned());
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(died()))).collect()
    })
}

/// The leaves that could be opened, and those whose manifest is damaged beyond its copy, with the reason:
/// the others serve without them.
///
/// # Errors
/// Any other failure, and such a one where no leaf is left.
fn without_damaged(opened: Vec<Result<Arc<Leaf>, Error>>) -> Result<Opened, Error> {
    let (mut leaves, mut failed, mut last) = (Vec::new(), Vec::new(), None);
    for (index, opened) in opened.into_iter().enumerate() {
        match opened {
            Ok(leaf) => leaves.push(leaf),
            Err(error @ Error::Store(hadal_store::Error::Corrupt { .. })) => {
                failed.push((LeafName(leaf_name(index).into()), error.to_string()));
                last = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    match last {
        Some(error) if leaves.is_empty() => Err(error),
        _ => Ok((leaves, failed)),
    }
}

/// Leaves that serve, and those that cannot, with the reason.
type Opened = (Vec<Arc<Leaf>>, Vec<(LeafName, String)>);

/// Refuses leaves whose folders are copies of one: its rows would count twice, and those of the
/// other are not there.
fn refuse_copies(folder: &Path, leaves: &[Arc<Leaf>]) -> Result<(), Error> {
    let mut seen = BTreeMap::new();
    for leaf in leaves {
        if let Some(first) = seen.insert(leaf.recovery_report().salt, leaf.name()) {
            let (place, second) = (folder.display(), leaf.name());
            return Err(Error::Usage(format!(
                "{place}: {first} and {second} are one folder and a copy of it, so its rows would count twice; put \
                 back the folder of the other leaf, or remove the copy: that leaf's rows are told as lost then"
            )));
        }
    }
    Ok(())
}

fn open_leaf(
    config: &EngineConfig,
    pool: &Arc<ScanPool>,
    limits: &LeafLimits,
    budget: &Arc<MemoryPool>,
    index: usize,
    is_known: bool,
) -> Result<Leaf, Error> {
    let name = leaf_name(index);
    Ok(Leaf::open(LeafConfig {
        folder: config.folder.as_ref().map(|folder| folder.join(&name)),
        memory: config.memory.config.clone(),
        preopened: config.early.get(index).cloned().unwrap_or_default(),
        expects_data: is_known,
        durability: config.durability,
        name: LeafName(name.into()),
        pool: Arc::clone(pool),
        zone_answers: system::zone_answers(),
        limits: limits.clone(),
        query_bytes_max: LEAF_QUERY_BYTES_MAX.min(budget.each_max()),
        budget: Arc::clone(budget),
        clock: Arc::clone(&config.clock),
        archive: config.archive.clone(),
    })?)
}

/// Bytes of disk that all leaves of a data folder set aside together: a part of the disk, up to a limit;
/// none where the system does not say how large it is.
fn disk_reserve_in(folder: &Path) -> u64 {
    let Ok(found) = rustix::fs::statvfs(folder) else { return 0 };
    let disk = found.f_frsize.saturating_mul(found.f_blocks);
    (disk / DISK_RESERVE_PART).min(DISK_RESERVE_BYTES)
}

fn leaf_name(index: usize) -> String {
    format!("leaf-{index}")
}

/// The leaves that a data folder should have.
#[derive(Default)]
struct Leaves {
    count: usize,
    /// As many as were noted: of these, none may be missing.
    noted: usize,
}

/// The leaves of a data folder: as many as were noted, and as the highest number of a leaf's folder
/// says, so that none is left out. Leaves beyond the noted ones may be half made, by a start that did
/// not end: nothing was acknowledged before they were noted, so nothing of them is lost.
fn leaves_in(folder: &Path) -> Result<Leaves, Error> {
    make_folder(folder)?;
    let at = |index: &usize| folder.join(leaf_name(*index));
    let last = (0..LEAVES_IN_PROCESS_MAX).rev().find(|index| at(index).is_dir());
    let noted = noted_leaves(folder)?;
    let count = noted.max(last.map_or(0, |index| index + 1));
    Ok(Leaves { count, noted })
}

/// What a server over a folder will keep files open for, as far as it is there: a look that makes nothing.
pub(crate) fn holdings(folder: &Path, leaves: usize) -> Holdings {
    let there: Vec<PathBuf> = (0..LEAVES_IN_PROCESS_MAX)
        .map(|index| folder.join(leaf_name(index)))
        .filter(|leaf| leaf.is_dir())
        .collect();
    let segments_in = |leaf: &PathBuf| {
        std::fs::read_dir(leaf.join("segments")).map_or(0, std::iter::Iterator::count)
    };
    Holdings { leaves: leaves.max(there.len()), segments: there.iter().map(segments_in).sum() }
}

/// Makes a folder, and those that it is in, for this user only; one that is there stays as it is.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(Error::io("make", folder.display()))
}

/// The text of a small file of a data folder. What is no file is not waited for, and no more is
/// read than such a file has.
pub(crate) fn read_small(file: &Path) -> std::io::Result<String> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = File::options().read(true).custom_flags(flags).open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    read_some(opened)
}

/// As much of a file's text as a small one has.
pub(crate) fn read_some(file: File) -> std::io::Result<String> {
    let mut text = String::new();
    file.take(SMALL_FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// How many leaves a data folder has, as it was noted; none in a new folder.
fn noted_leaves(folder: &Path) -> Result<usize, Error> {
    let file = folder.join(LEAVES_FILE);
    let text = match read_small(&file) {
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
    use hadal_store::{Config, Store};

    use super::*;

    fn lost_in(folder: &Path) -> (usize, Vec<String>) {
        let Leaves { count, noted } = leaves_in(folder).expect("read");
        let is_lost = |index: &usize| !Store::is_in(&folder.join(leaf_name(*index)));
        (count, (0..noted).filter(is_lost).map(leaf_name).collect())
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
    fn a_leaf_that_was_never_whole_is_not_missed() {
        let folder = tempfile::tempdir().expect("a folder");
        let leaf = |index| folder.path().join(leaf_name(index));
        std::fs::create_dir(leaf(1)).expect("made");
        assert_eq!(lost_in(folder.path()), (2, vec![]));
        drop(Store::open(&Config::new(leaf(0))).expect("made"));
        note_leaves(folder.path(), 1).expect("noted");
        assert_eq!(lost_in(folder.path()), (2, vec![]));
    }

    #[test]
    fn what_is_no_file_is_refused_and_nobody_waits_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(LEAVES_FILE);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let node = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &file, node, mode, 0).expect("made");
        let refused = leaves_in(folder.path()).err().expect("refused").to_string();
        assert!(refused.contains("it is no regular file"), "{refused}");
        std::fs::remove_file(&file).expect("removed");
        let huge = File::create(&file).and_then(|file| file.set_len(1 << 40));
        huge.expect("made");
        assert!(matches!(leaves_in(folder.path()), Err(Error::Usage(_))));
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
