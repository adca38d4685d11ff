//! The part of a process that holds rows: leaves over their stores.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_leaf::{Archive, Durability, FreshBytes, Leaf, LeafConfig, LeafLimits, ScanPool};
use hadal_store::{PreopenedStore, Sizes};
use hadal_types::limits::LEAF_QUERY_BYTES_MAX;
use hadal_types::{Clock, LeafName, MemoryPool};

use crate::error::Error;
use crate::output;
use crate::process::data_folder::{
    LEAVES_IN_PROCESS_MAX, disk_reserve_in, leaf_name, leaves_in, note_leaves,
};
use crate::process::heap::{HeapWatch, Memories};
use crate::process::memory::{Memory, Shares};
use crate::process::recovered::Recovered;
use crate::process::system;

/// The leaves of a data folder that a process opens.
#[derive(Clone, Debug)]
pub(crate) enum OpenLeaves {
    /// All that the folder has, and at least this many.
    All(usize),
    /// One leaf of a machine on which each leaf is a process.
    One {
        /// Its number in the data folder.
        index: usize,
        /// Its name, unique in the cluster.
        name: LeafName,
        /// The number of leaves of the machine, which share its processors and its disk.
        of: usize,
    },
}

impl OpenLeaves {
    /// The name of the leaf with this number in the data folder.
    fn name(&self, index: usize) -> LeafName {
        match self {
            Self::All(_) => LeafName(leaf_name(index).into()),
            Self::One { name, .. } => name.clone(),
        }
    }

    /// The numbers of the leaves to open, of a folder with `known` leaves.
    fn indices(&self, in_folder: usize) -> Range<usize> {
        match self {
            Self::All(leaves) => 0..in_folder.max(*leaves),
            Self::One { index, .. } => *index..index + 1,
        }
    }

    /// The number of leaves that share the machine; at least 1.
    fn on_machine(&self, in_folder: usize) -> usize {
        match self {
            Self::All(leaves) => in_folder.max(*leaves).max(1),
            Self::One { of, .. } => (*of).max(1),
        }
    }
}

/// The settings of the leaves.
pub(crate) struct LeavesConfig {
    /// The folder of the rows; `None` keeps them in memory only.
    pub(crate) folder: Option<PathBuf>,
    /// When a batch is acknowledged.
    pub(crate) durability: Durability,
    /// The memory settings, and whether rows are read from memory.
    pub(crate) memory: Memory,
    /// The results of the early scan: one for each existing leaf, or none.
    pub(crate) preopened: Vec<PreopenedStore>,
    /// The leaves to open.
    pub(crate) leaves: OpenLeaves,
    /// The clock.
    pub(crate) clock: Arc<dyn Clock>,
    /// How long the clock must run correctly before rows expire.
    pub(crate) clock_proving: Duration,
    /// The archive that gets expiring rows of tables set to it.
    pub(crate) archive: Option<Arc<dyn Archive>>,
}

impl LeavesConfig {
    /// Scans the folder while another process still has it. That process can then stop later, since
    /// less work is left after its stop. It need not stop at all if this start would be refused.
    ///
    /// # Errors
    /// The errors for which a start over that folder would be refused.
    pub(crate) fn preopen(&mut self) -> Result<(), Error> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let leaves = (0..LEAVES_IN_PROCESS_MAX).map(|index| folder.join(leaf_name(index)));
        let leaves = leaves.take_while(|leaf| leaf.is_dir());
        let memory = self.memory.config.as_ref();
        let preopened = leaves.map(|leaf| PreopenedStore::find(&leaf, memory, Sizes::default()));
        self.preopened = preopened.collect::<Result<_, _>>()?;
        Ok(())
    }
}

/// The leaves of this process, with the memory and the threads that they share.
pub(crate) struct Leaves {
    /// The leaves that serve.
    pub(crate) open: Vec<Arc<Leaf>>,
    /// The names of leaves that cannot be opened.
    pub(crate) failed: Vec<LeafName>,
    /// The users of memory.
    pub(crate) memories: Memories,
    _heap: HeapWatch,
}

impl Leaves {
    /// Opens all leaves and recovers their rows.
    pub(crate) async fn open(config: &LeavesConfig) -> Result<(Self, Recovered), Error> {
        let start = Instant::now();
        let known_leaves = config.folder.as_deref().map(leaves_in).transpose()?.unwrap_or_default();
        let indices = config.leaves.indices(known_leaves.count);
        let on_machine = config.leaves.on_machine(known_leaves.count);
        // Processes of one machine share its processors. Leaves of one process share its threads.
        let processes = on_machine / indices.len().max(1);
        let threads = (system::cores() / processes.max(1)).max(1);
        let memories = memories(config, threads);
        let limits = leaf_limits(config, &memories, indices.len(), on_machine);
        let pool = ScanPool::new(threads).map_err(Error::io("start", "threads that scan"))?;
        let open_one = |index| {
            let is_known = index < known_leaves.noted;
            open_leaf(config, &pool, &limits, &memories.queries, index, is_known).map(Arc::new)
        };
        let (open, failed) = without_damaged(config, open_side_by_side(indices.clone(), open_one))?;
        if let (Some(folder), OpenLeaves::All(_)) = (&config.folder, &config.leaves) {
            refuse_copies(folder, &open)?;
            note_leaves(folder, indices.len())?;
        }
        give_memory_back(config, indices);
        let names = failed.iter().map(|(name, _)| name.clone()).collect();
        let recovered = Recovered::new(&open, failed, start.elapsed());
        let heap = HeapWatch::start(&memories);
        Ok((Self { open, failed: names, memories, _heap: heap }, recovered))
    }

    /// No leaves: the memory of a process that only asks those of other processes.
    pub(crate) fn none(shares: Shares) -> Self {
        let memories = Memories {
            shares,
            queries: shares.query_budget(0),
            fresh: FreshBytes::new(0),
            room: None,
            taken: Arc::default(),
        };
        let heap = HeapWatch::start(&memories);
        Self { open: Vec::new(), failed: Vec::new(), memories, _heap: heap }
    }

    /// Returns a function after which all leaves report that they are about to stop.
    pub(crate) fn preparation(&self) -> impl FnOnce() + Send + 'static {
        let leaves = self.open.clone();
        move || leaves.iter().for_each(|leaf| leaf.prepare_to_stop())
    }

    /// Stops accepting batches. All acknowledged batches are on disk already.
    pub(crate) fn stop_taking(&self) {
        self.open.iter().for_each(|leaf| leaf.stop_taking());
    }

    /// Stops all leaves in order, in parallel. Returns the failed writes. Queries must have ended.
    pub(crate) fn stop(&self) -> Vec<String> {
        let stop = |leaf: &Leaf| leaf.stop().err().map(|error| error.to_string());
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                self.open.iter().map(|leaf| scope.spawn(move || stop(leaf))).collect();
            let died = || Some("a thread that stopped a leaf has died".to_owned());
            threads
                .into_iter()
                .filter_map(|thread| thread.join().unwrap_or_else(|_| died()))
                .collect()
        })
    }
}

/// The memory of this process, before any leaf uses it.
fn memories(config: &LeavesConfig, threads: usize) -> Memories {
    let shares = config.memory.shares;
    Memories {
        shares,
        queries: shares.query_budget(threads),
        fresh: FreshBytes::new(shares.fresh),
        room: config.memory.config.as_ref().map(|memory| Arc::clone(&memory.budget)),
        taken: Arc::default(),
    }
}

/// The limits of each of `opened` leaves of this process, on a machine of `on_machine` leaves.
fn leaf_limits(
    config: &LeavesConfig,
    memories: &Memories,
    opened: usize,
    on_machine: usize,
) -> LeafLimits {
    let disk_reserve = config.folder.as_deref().map_or(0, disk_reserve_in);
    LeafLimits {
        table_bytes_max: config.memory.table_bytes_max / opened.max(1) as u64,
        fresh: Arc::clone(&memories.fresh),
        disk_reserve_bytes: disk_reserve / on_machine as u64,
        recovery_threads: (system::cores() / on_machine).max(1),
        clock_proving: config.clock_proving,
        ..LeafLimits::of_one_in(on_machine)
    }
}

/// Frees memory that earlier processes left in the tmpfs: of leaves that no longer exist, and of
/// these leaves if they are now read from disk. Memory that cannot be freed does no harm.
fn give_memory_back(config: &LeavesConfig, leaves: Range<usize>) {
    let Some(tmpfs) = &config.memory.tmpfs else { return };
    hadal_store::sweep_memory(tmpfs);
    if let (Some(folder), None) = (&config.folder, &config.memory.config) {
        for index in leaves {
            if let Err(error) = hadal_store::remove_memory(tmpfs, &folder.join(leaf_name(index))) {
                output::say(&format!("memory of an earlier process stays: {error}"));
            }
        }
    }
}

/// Opens all leaves in parallel, one thread per leaf.
fn open_side_by_side(
    indices: Range<usize>,
    open: impl Fn(usize) -> Result<Arc<Leaf>, Error> + Sync,
) -> Vec<Result<Arc<Leaf>, Error>> {
    let open = &open;
    std::thread::scope(|scope| {
        let threads: Vec<_> = indices.map(|index| scope.spawn(move || open(index))).collect();
        let died = || Error::Server("a thread that opened a leaf has died".to_owned());
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(died()))).collect()
    })
}

/// Separates the leaves that opened from those whose manifest and its copy are damaged, with the
/// reason. The others serve without them.
///
/// # Errors
/// Any other failure, and a damaged manifest if no leaf is left.
fn without_damaged(
    config: &LeavesConfig,
    opened: Vec<Result<Arc<Leaf>, Error>>,
) -> Result<Opened, Error> {
    let (mut leaves, mut failed, mut last) = (Vec::new(), Vec::new(), None);
    for (index, opened) in opened.into_iter().enumerate() {
        match opened {
            Ok(leaf) => leaves.push(leaf),
            Err(error @ Error::Store(hadal_store::Error::Corrupt { .. })) => {
                failed.push((config.leaves.name(index), error.to_string()));
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

/// Leaves that serve, and leaves that cannot, with the reason.
type Opened = (Vec<Arc<Leaf>>, Vec<(LeafName, String)>);

/// Refuses leaves whose folders are copies of one folder: its rows would count twice, and the rows
/// of the overwritten leaf are missing.
fn refuse_copies(folder: &Path, leaves: &[Arc<Leaf>]) -> Result<(), Error> {
    let mut salts = BTreeMap::new();
    for leaf in leaves {
        if let Some(first) = salts.insert(leaf.recovery_report().salt, leaf.name()) {
            let (place, second) = (folder.display(), leaf.name());
            return Err(Error::Usage(format!(
                "{place}: {first} and {second} are one folder and a copy of it, so its rows would count twice; put \
                 back the folder of the other leaf, or remove the copy: that leaf's rows are reported as lost then"
            )));
        }
    }
    Ok(())
}

fn open_leaf(
    config: &LeavesConfig,
    pool: &Arc<ScanPool>,
    limits: &LeafLimits,
    budget: &Arc<MemoryPool>,
    index: usize,
    is_known: bool,
) -> Result<Leaf, Error> {
    let name = config.leaves.name(index);
    let preopened = match config.leaves {
        OpenLeaves::All(_) => config.preopened.get(index).cloned().unwrap_or_default(),
        OpenLeaves::One { .. } => PreopenedStore::default(),
    };
    Ok(Leaf::open(LeafConfig {
        folder: config.folder.as_ref().map(|folder| folder.join(leaf_name(index))),
        memory: config.memory.config.clone(),
        preopened,
        expects_data: is_known,
        durability: config.durability,
        name,
        pool: Arc::clone(pool),
        zone_answers: system::zone_answers(),
        limits: limits.clone(),
        query_bytes_max: LEAF_QUERY_BYTES_MAX.min(budget.each_max()),
        budget: Arc::clone(budget),
        clock: Arc::clone(&config.clock),
        archive: config.archive.clone(),
    })?)
}
