//! The leaf: connects its parts, and implements the traits of `peer`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::{
    BoxFuture, LeafLoss, LeafStatus, MemberState, Peer, PeerStatus, QueryWatch, StatusScope,
    TableBlocks, TableReport,
};
use hadal_query::Query;
use hadal_store::{
    BlockNumber, Config, Durability, MemoryConfig, PreopenedStore, Recovery, Report, Sizes, Store,
    WaitingBlock,
};
use hadal_types::{Clock, LeafName, MemoryPool, TableName};

use crate::context::LeafContext;
use crate::limits::LeafLimits;
use crate::maintenance::archive::{Archive, ArchiveJob, Archiver};
use crate::maintenance::data_loss::losses;
use crate::maintenance::expiry_schedule::ExpirySchedule;
use crate::maintenance::flush::flush;
use crate::maintenance::memory_pressure::MemoryPressure;
use crate::maintenance::merge::MergeError;
use crate::maintenance::merger::Merger;
use crate::maintenance::scrub::Scrubber;
use crate::query::execute::execute;
use crate::query::leaf_scan::{QueryLeaf, QuerySettings};
use crate::query::scan_pool::ScanPool;
use crate::query::top_list::TableScope;
use crate::recovery::{self, Recovered};
use crate::table::Table;
use crate::table::inspect::inspect;
use crate::worker::Worker;
use crate::write::disk_full_log::DiskFullLog;

/// The configuration of a leaf.
pub struct LeafConfig {
    /// Its name, unique in the cluster.
    pub name: LeafName,
    /// The folder that stores the rows; `None` keeps them in the process's memory only.
    pub folder: Option<PathBuf>,
    /// The memory that rows are read from, and where they outlive the process. With `None`, rows
    /// are read from the folder through the page cache.
    pub memory: Option<MemoryConfig>,
    /// State of the folder that was opened earlier.
    pub preopened: PreopenedStore,
    /// Whether the folder had a leaf before. If so, an empty folder is reported as a loss.
    pub expects_data: bool,
    /// When a batch counts as accepted.
    pub durability: Durability,
    /// The scan threads, shared by all leaves of the process.
    pub pool: Arc<ScanPool>,
    /// Whether a block may be answered from its zone maps. Only benchmarks turn this off.
    pub zone_answers: bool,
    /// The limits of what it accepts.
    pub limits: LeafLimits,
    /// Bytes that one query may hold in this leaf, on all threads together.
    pub query_bytes_max: usize,
    /// The memory pool that all queries of the process share.
    pub budget: Arc<MemoryPool>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Where rows of archived tables are written before they are dropped. With `None`, such rows
    /// are not dropped.
    pub archive: Option<Arc<dyn Archive>>,
}

/// A leaf: its share of every table.
pub struct Leaf {
    pub(crate) context: Arc<LeafContext>,
    pub(crate) schedule: Arc<ExpirySchedule>,
    pub(crate) disk_full_log: Arc<DiskFullLog>,
    pressure: Arc<MemoryPressure>,
    archiver: Arc<Archiver>,
    queries: QuerySettings,
    merge_thread: Worker,
    /// Restores blocks that the store still has to restore, then verifies all blocks in an endless
    /// loop.
    scrub_thread: Worker,
    archive_thread: Worker,
    report: Report,
}

impl Leaf {
    /// Opens the leaf and recovers what its folder holds.
    ///
    /// # Errors
    /// When the folder is in use or cannot be read, or a thread cannot be started.
    pub fn open(config: LeafConfig) -> Result<Self, hadal_store::Error> {
        let (store, recovery) = match &config.folder {
            None => (Store::in_memory(), Recovery::default()),
            Some(folder) => {
                let (memory, preopened) = (config.memory.clone(), config.preopened.clone());
                let reserve_bytes = config.limits.disk_reserve_bytes;
                let sizes = Sizes { reserve_bytes, ..Sizes::default() };
                let of = Config::new(folder).expecting(config.expects_data, config.clock.now());
                Store::open(&Config {
                    memory,
                    durability: config.durability,
                    sizes,
                    preopened,
                    ..of
                })?
            }
        };
        Self::start(config, store, recovery)
    }

    /// Starts the leaf on a store that has just been opened.
    fn start(
        config: LeafConfig,
        store: Store,
        recovery: Recovery,
    ) -> Result<Self, hadal_store::Error> {
        let Recovered { tables, waiting, moving, report } = recovery::recover_tables(
            recovery,
            &store,
            &config.limits.fresh,
            config.clock.running(),
        );
        let lost = report.lost_blocks.iter().map(|block| block.number);
        store.note_lost_blocks(lost, config.clock.now());
        let schedule = ExpirySchedule::new(&*config.clock, config.limits.clock_proving);
        let archiver = Archiver::open(config.archive, config.folder.clone(), &store)?;
        let files = (config.folder.is_some(), config.durability);
        let context =
            LeafContext::new((config.name, store), tables, config.limits, config.clock, files);
        let LeafConfig { pool, zone_answers, query_bytes_max, budget, .. } = config;
        let [merge_thread, scrub_thread, archive_thread] =
            std::array::from_fn(|_| Worker::default());
        let leaf = Self {
            context: Arc::new(context),
            schedule: Arc::new(schedule),
            disk_full_log: Arc::default(),
            pressure: Arc::default(),
            archiver: Arc::new(archiver),
            queries: QuerySettings { pool, zone_answers, query_bytes_max, budget },
            merge_thread,
            scrub_thread,
            archive_thread,
            report,
        };
        leaf.start_merging()?;
        leaf.start_scrubbing(waiting, moving)?;
        if leaf.archiver.has_archive() {
            leaf.start_archiving()?;
        }
        Ok(leaf)
    }

    fn start_merging(&self) -> Result<(), hadal_store::Error> {
        let (context, schedule) = (Arc::clone(&self.context), Arc::clone(&self.schedule));
        let pressure = Arc::clone(&self.pressure);
        self.start_thread(&self.merge_thread, "merge", move || {
            Merger { context: &context, schedule: &schedule, pressure: &pressure }.run();
        })
    }

    fn start_scrubbing(
        &self,
        waiting: Vec<(Arc<Table>, WaitingBlock)>,
        moving: Vec<BlockNumber>,
    ) -> Result<(), hadal_store::Error> {
        let (context, is_believed) = (Arc::clone(&self.context), self.report.was_stopped);
        self.start_thread(&self.scrub_thread, "keep", move || {
            let (store, threads) = (&context.store, context.limits.recovery_threads);
            recovery::restore_all(waiting, store, threads, || context.is_stopping());
            recovery::promote_all(moving, store, threads, || context.is_stopping());
            Scrubber { context: &context }.run(is_believed);
        })
    }

    fn start_archiving(&self) -> Result<(), hadal_store::Error> {
        let (context, schedule) = (Arc::clone(&self.context), Arc::clone(&self.schedule));
        let (archiver, pressure) = (Arc::clone(&self.archiver), Arc::clone(&self.pressure));
        self.start_thread(&self.archive_thread, "archive", move || {
            let (archiver, context) = (&*archiver, &*context);
            ArchiveJob { archiver, context, schedule: &schedule, pressure: &pressure }.run();
        })
    }

    /// Starts a background thread.
    fn start_thread(
        &self,
        worker: &Worker,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), hadal_store::Error> {
        let leaf = &self.context.name;
        worker.start(format!("{leaf}-{name}"), work).map_err(|source| hadal_store::Error::Io {
            action: "start a thread of",
            path: leaf.to_string(),
            source: Arc::new(source),
        })
    }

    pub(crate) fn merger(&self) -> Merger<'_> {
        Merger { context: &self.context, schedule: &self.schedule, pressure: &self.pressure }
    }

    /// The view of the leaf that a query needs.
    pub(crate) fn for_query(&self) -> QueryLeaf<'_> {
        QueryLeaf { context: &self.context, settings: &self.queries }
    }

    /// Returns what the start found in the folder. The lost blocks include blocks that exist but
    /// cannot be read.
    #[must_use]
    pub fn recovery_report(&self) -> &Report {
        &self.report
    }

    /// Returns for each table the number of rows that it should have and the bytes that it has. The
    /// rows include lost rows and rows still to be restored. Cheap: opens no blocks.
    #[must_use]
    pub fn holdings(&self) -> BTreeMap<TableName, (u64, u64)> {
        let tables = self.context.tables.read();
        let each = tables.iter().map(|(name, table)| (name.clone(), table.holdings()));
        each.filter(|(_, (rows, _))| *rows > 0).collect()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &LeafName {
        &self.context.name
    }

    /// When its process started, in microseconds since the Unix epoch. A later process of the leaf
    /// has a higher start.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.context.started
    }

    /// Returns the losses whose rows and tables are unknown. If there are very many, only the first
    /// ones.
    #[must_use]
    pub fn losses(&self) -> Vec<LeafLoss> {
        losses(&self.context.store)
    }

    /// Makes all merges that are due on the caller's thread. Also samples or recompresses some of
    /// the blocks that are old enough.
    pub fn merge_all(&self) {
        self.merger().merge_all();
    }

    /// Reports from now on that the leaf is about to stop: clients send no new requests, and
    /// running requests are finished.
    pub fn prepare_to_stop(&self) {
        self.context.prepare_to_stop();
    }

    /// Accepts no more batches from now on.
    pub fn stop_taking(&self) {
        self.context.stop_changes();
    }

    /// Stops in order ("Fast Database Restarts at Facebook", SIGMOD 2014, section 4.3). The leaf
    /// accepts no more batches, ends background changes, writes every fresh row to a segment, and
    /// leaves the folder to the next process, which finds it unchanged. Queries must have ended. A
    /// running merge continues, but its result is discarded.
    ///
    /// # Errors
    /// When something could not be written. No acknowledged row is lost then, but the next start
    /// takes longer.
    pub fn stop(&self) -> Result<(), hadal_store::Error> {
        self.stop_taking();
        self.scrub_thread.end();
        // The archive thread abandons its current file; the next process must not find it at work.
        self.archive_thread.end();
        let sealed = seal(&self.context);
        // The rest of the merge thread's work is not worth waiting for.
        self.merge_thread.leave();
        self.context.store.stop()?;
        sealed
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        self.stop_taking();
        self.scrub_thread.end();
        self.archive_thread.end();
        self.merge_thread.end();
    }
}

/// Writes every fresh row to a segment, so that the next process need not read the log.
fn seal(context: &LeafContext) -> Result<(), hadal_store::Error> {
    if !context.has_folder {
        return Ok(());
    }
    let _turn = context.last_turn();
    flush(&context.all_tables(), &context.store).map_err(|error| match error {
        MergeError::Store(error) => error,
        MergeError::Block(_) | MergeError::Unreadable(_) => hadal_store::Error::Corrupt {
            path: format!("a fresh batch of {}", context.name),
            what: error.to_string(),
        },
    })
}

impl Leaf {
    fn status_in(&self, scope: &StatusScope) -> LeafStatus {
        let mut status = LeafStatus {
            name: self.context.name.clone(),
            state: MemberState::Announced(self.context.state()),
            block_bytes: 0,
            tables: Arc::default(),
            losses: Vec::new(),
        };
        if *scope == StatusScope::Leaves {
            return status;
        }
        let next_expiry = self.schedule.next_due(&*self.context.clock);
        // Opening blocks that an earlier process left takes a while, so the lock on the map of
        // tables is released first.
        let tables: Vec<Arc<Table>> = {
            let tables = self.context.tables.read();
            tables.values().filter(|table| scope.has(&table.name)).cloned().collect()
        };
        let tables = tables.iter();
        let tables =
            tables.filter_map(|table| Some((table.name.clone(), table.status(next_expiry)?)));
        let tables: BTreeMap<_, _> = tables.collect();
        status.block_bytes = tables.values().map(|table| table.block_bytes).sum();
        status.tables = Arc::new(tables);
        status.losses = losses(&self.context.store);
        status
    }
}

impl Peer for Leaf {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        self.query_watched(query, deadline, QueryWatch::default())
    }

    fn query_watched(
        &self,
        query: Arc<Query>,
        deadline: Instant,
        watch: QueryWatch,
    ) -> BoxFuture<'_, Partial> {
        Box::pin(async move {
            let watched = (&watch, TableScope::Part);
            execute(&[self.for_query()], query, deadline, watched).await
        })
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move { PeerStatus { leaves: vec![self.status_in(scope)] } })
    }

    fn reports(&self, table: &TableName) -> Vec<TableReport> {
        vec![self.report(table)]
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async move {
            let table = self.context.table(table);
            let blocks = table.map(|table| table.snapshot()).unwrap_or_default();
            inspect(&self.context.name, &blocks)
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
