//! The leaf itself: what ties its parts together and offers the seams.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::Instant;

use hadal_aggregate::Partial;
use hadal_peer::{BoxFuture, LeafStatus, Peer, PeerStatus, StatusScope, TableBlocks};
use hadal_query::Query;
use hadal_store::{
    BlockNumber, Config, Durability, MemoryConfig, PreopenedStore, Recovery, Report, Sizes, Store,
    WaitingBlock,
};
use hadal_types::{Clock, LeafName, LeafState, MemoryPool, TableName};

use crate::limits::LeafLimits;
use crate::maintenance::archive::{Archive, Archiver};
use crate::maintenance::expiry::{ExpirySchedule, drop_oldest};
use crate::maintenance::flush::flush;
use crate::maintenance::memory_pressure::MemoryPressure;
use crate::maintenance::merge::{MergeError, Mergeable, merge_next};
use crate::maintenance::rewrite::Pass;
use crate::query::execute::execute;
use crate::query::scan_pool::ScanPool;
use crate::recovery::{self, Recovered};
use crate::sync::{lock, read};
use crate::table::Table;
use crate::table::inspect::inspect;
use crate::wakeup::Wakeup;
use crate::worker::Worker;
use crate::write::disk_full_log::DiskFullLog;

/// How a leaf is set up.
pub struct LeafConfig {
    /// Its name, unique in the cluster.
    pub name: LeafName,
    /// The folder that keeps its rows; `None`: the process's memory only.
    pub folder: Option<PathBuf>,
    /// The memory from which rows are read, and in which they outlive the process; `None`: they are
    /// read from the folder, through the system's cache.
    pub memory: Option<MemoryConfig>,
    /// What was found in the folder before.
    pub preopened: PreopenedStore,
    /// Whether there was a leaf in the folder: where nothing of it is there, that is a loss.
    pub expects_data: bool,
    /// When a batch counts as taken.
    pub durability: Durability,
    /// The threads that scan, which all leaves of the process share.
    pub pool: Arc<ScanPool>,
    /// Whether a block may be answered from its zones: only to be measured it is not.
    pub zone_answers: bool,
    /// What it may take.
    pub limits: LeafLimits,
    /// Bytes that one query may hold here, on all threads together.
    pub query_bytes_max: usize,
    /// The memory that all queries of the process share.
    pub budget: Arc<MemoryPool>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where rows of tables that are set so are written before they are dropped; `None`: nowhere, so
    /// they are not dropped.
    pub archive: Option<Arc<dyn Archive>>,
}

/// A leaf: its share of every table.
pub struct Leaf {
    pub(crate) inner: Arc<Inner>,
    pub(crate) pool: Arc<ScanPool>,
    merger: Worker,
    /// Brings blocks back, if there are some to be brought back; then verifies all there are, again
    /// and again.
    keeper: Worker,
    archivist: Worker,
    report: Report,
    pub(crate) zone_answers: bool,
    pub(crate) query_bytes_max: usize,
    pub(crate) budget: Arc<MemoryPool>,
}

/// What the leaf's threads share.
pub(crate) struct Inner {
    pub(crate) name: LeafName,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: Store,
    pub(crate) has_folder: bool,
    pub(crate) durability: Durability,
    pub(crate) tables: RwLock<BTreeMap<TableName, Arc<Table>>>,
    pub(crate) limits: LeafLimits,
    stopping: AtomicBool,
    /// Whether it was told that it will stop.
    is_preparing: AtomicBool,
    pub(crate) wakeup: Arc<Wakeup>,
    /// When rows that are too old were looked for.
    pub(crate) expiry: ExpirySchedule,
    pub(crate) memory_pressure: MemoryPressure,
    pub(crate) disk_full_log: Arc<DiskFullLog>,
    pub(crate) archiver: Archiver,
    /// One merge, or pass of expiry, at a time, whoever makes it.
    pub(crate) merging: Mutex<()>,
    /// Whoever changes both what the store holds and what is visible has it meanwhile.
    changing: Mutex<()>,
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

    /// Starts the leaf on its store, which has just been opened.
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
        let expiry = ExpirySchedule::new(&*config.clock, config.limits.clock_proving);
        let archiver = Archiver::open(config.archive, config.folder.clone(), &store)?;
        let inner = Arc::new(Inner {
            expiry,
            memory_pressure: MemoryPressure::default(),
            disk_full_log: Arc::default(),
            archiver,
            has_folder: config.folder.is_some(),
            durability: config.durability,
            name: config.name,
            clock: config.clock,
            store,
            tables: RwLock::new(tables),
            limits: config.limits,
            stopping: AtomicBool::new(false),
            is_preparing: AtomicBool::new(false),
            wakeup: Arc::default(),
            merging: Mutex::new(()),
            changing: Mutex::new(()),
        });
        let LeafConfig { pool, zone_answers, query_bytes_max, budget, .. } = config;
        let [merger, keeper, archivist] = std::array::from_fn(|_| Worker::default());
        let leaf = Self {
            inner,
            pool,
            merger,
            keeper,
            archivist,
            report,
            zone_answers,
            query_bytes_max,
            budget,
        };
        leaf.work(&leaf.merger, "merge", Inner::merge_until_stopped)?;
        let is_believed = leaf.report.was_stopped;
        leaf.work(&leaf.keeper, "keep", move |inner| {
            inner.restore(waiting, moving);
            inner.scrub(is_believed);
        })?;
        if leaf.inner.archiver.has_archive() {
            leaf.work(&leaf.archivist, "archive", Inner::archive_until_stopped)?;
        }
        Ok(leaf)
    }

    /// Starts a thread that works in the background.
    fn work(
        &self,
        worker: &Worker,
        name: &str,
        work: impl FnOnce(&Inner) + Send + 'static,
    ) -> Result<(), hadal_store::Error> {
        let inner = Arc::clone(&self.inner);
        let started = worker.start(format!("{}-{name}", inner.name), move || work(&inner));
        started.map_err(|source| hadal_store::Error::Io {
            action: "start a thread of",
            path: self.inner.name.to_string(),
            source: Arc::new(source),
        })
    }

    /// What was found in the folder when the leaf was opened: among its lost blocks are also those
    /// that are there and cannot be read.
    #[must_use]
    pub fn recovery_report(&self) -> &Report {
        &self.report
    }

    /// By table: the rows that it should have, lost ones and those to be brought back included, and
    /// the bytes that it has. Cheap, also when nothing was looked at since the leaf was opened.
    #[must_use]
    pub fn holdings(&self) -> BTreeMap<TableName, (u64, u64)> {
        let tables = read(&self.inner.tables);
        let each = tables.iter().map(|(name, table)| (name.clone(), table.holdings()));
        each.filter(|(_, (rows, _))| *rows > 0).collect()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &LeafName {
        &self.inner.name
    }

    /// Makes all merges that are due, and samples or chills some of the blocks that are old enough,
    /// on the caller's thread.
    pub fn merge_all(&self) {
        self.inner.merge_all();
    }

    /// Archives and drops all rows that are due, on the caller's thread; false where something went
    /// wrong, which the log says.
    pub fn archive_all(&self) -> bool {
        self.inner.archive_all()
    }

    /// Says from now on that it is about to stop: no more requests come, and those that run are
    /// finished.
    pub fn prepare_to_stop(&self) {
        self.inner.is_preparing.store(true, Ordering::SeqCst);
    }

    /// Takes no more batches from now on.
    pub fn stop_taking(&self) {
        self.inner.stopping.store(true, Ordering::SeqCst);
        self.inner.wakeup.wake();
    }

    /// Stops in order ("Fast Database Restarts at Facebook", SIGMOD 2014, section 4.3): takes no
    /// more batches, lets nothing change in the background, gives every row its place in a segment,
    /// and leaves the folder to the next process, which finds everything as it is. Queries must
    /// have ended. A merge that is under way goes on, and comes to nothing.
    ///
    /// # Errors
    /// When something could not be written; nothing that was acknowledged is lost by that, but the
    /// next start takes longer.
    pub fn stop(&self) -> Result<(), hadal_store::Error> {
        self.stop_taking();
        self.keeper.end();
        // It gives up what it is writing; the next process must not find it at work.
        self.archivist.end();
        let sealed = self.inner.seal();
        // It has nothing to do any more that would be worth waiting for.
        self.merger.leave();
        self.inner.store.stop()?;
        sealed
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        self.stop_taking();
        self.keeper.end();
        self.archivist.end();
        self.merger.end();
    }
}

impl Inner {
    fn merge_until_stopped(&self) {
        // At first others have more use for the machine: to merge means to look at all tables.
        self.wakeup.wait();
        while !self.is_stopping() {
            self.merge_all();
            self.wakeup.wait();
        }
    }

    /// Brings blocks back until all are there, and moves others to memory, unless the leaf stops.
    fn restore(&self, waiting: Vec<(Arc<Table>, WaitingBlock)>, moving: Vec<BlockNumber>) {
        let threads = self.limits.recovery_threads;
        recovery::restore_all(waiting, &self.store, threads, || self.is_stopping());
        recovery::promote_all(moving, &self.store, threads, || self.is_stopping());
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    pub(crate) fn all_tables(&self) -> Vec<Arc<Table>> {
        read(&self.tables).values().cloned().collect()
    }

    /// Gives every fresh row a place in a segment, so that the next process need not read the log.
    fn seal(&self) -> Result<(), hadal_store::Error> {
        if !self.has_folder {
            return Ok(());
        }
        let _turn = lock(&self.changing);
        flush(&self.all_tables(), &self.store).map_err(|error| match error {
            MergeError::Store(error) => error,
            MergeError::Block(_) | MergeError::Unreadable(_) => hadal_store::Error::Corrupt {
                path: format!("a fresh batch of {}", self.name),
                what: error.to_string(),
            },
        })
    }

    /// Lets the caller change what the store holds and what is visible, as one, while the returned
    /// value lives; `None` when the leaf stops, and nothing may change any more.
    pub(crate) fn turn_to_change(&self) -> Option<MutexGuard<'_, ()>> {
        let turn = lock(&self.changing);
        (!self.is_stopping()).then_some(turn)
    }

    fn state(&self) -> LeafState {
        if self.is_stopping() || self.is_preparing.load(Ordering::SeqCst) {
            return LeafState::Prepare;
        }
        state_of(read(&self.tables).values())
    }

    fn merge_all(&self) {
        let _one = lock(&self.merging);
        let tables = self.all_tables();
        self.expire_if_due(&tables);
        let is_whole = state_of(&tables) == LeafState::Alive;
        let mergeable = if is_whole { Mergeable::All } else { Mergeable::Fresh };
        let mut shortens_log = true;
        for table in &tables {
            // Again and again, as merges may take long; but what is in its way is said once.
            shortens_log = shortens_log && self.shorten_log(&tables);
            if let Err(error) = self.merge_table(table, mergeable, &tables) {
                tracing::error!(leaf = %self.name, table = %table.name, "{error}");
            }
        }
        let mut pass = Pass::default();
        if is_whole {
            // What is sampled need not be made cold before.
            self.sample_old(&tables, &mut pass);
            self.recompress_old(&tables, self.clock.now(), &mut pass);
        }
        self.move_to_disk(&tables, &mut pass);
        self.relieve_pressure(&tables, &mut pass);
        self.store.give_back();
    }

    fn merge_table(
        &self,
        table: &Table,
        mergeable: Mergeable,
        all: &[Arc<Table>],
    ) -> Result<(), MergeError> {
        self.drop_for_size(table)?;
        loop {
            self.flush_under_pressure(all)?;
            if !merge_next(table, self, mergeable, self.clock.now())? {
                return Ok(());
            }
        }
    }

    /// Drops the oldest rows of a table that is too large, unless they go to the archive before.
    fn drop_for_size(&self, table: &Table) -> Result<(), MergeError> {
        if table.is_archived() {
            return Ok(());
        }
        let bytes_max = self.limits.table_bytes(lock(&table.settings).as_ref());
        let Some(turn) = self.turn_to_change() else { return Ok(()) };
        let dropped = drop_oldest(table, &self.store, bytes_max)?;
        drop(turn);
        if !dropped.is_empty() {
            let rows: u64 = dropped.iter().map(|block| block.rows as u64).sum();
            tracing::warn!(
                leaf = %self.name, table = %table.name, rows,
                "the table is over its size limit: its oldest rows were dropped"
            );
        }
        self.free_paced(dropped);
        Ok(())
    }

    /// Gives fresh blocks their place that keep the log long, as their tables get little; returns whether
    /// that was possible.
    fn shorten_log(&self, tables: &[Arc<Table>]) -> bool {
        let in_old_logs = self.store.tables_in_old_logs();
        if in_old_logs.is_empty() {
            return true;
        }
        let Some(_turn) = self.turn_to_change() else { return false };
        let tables = tables.iter().filter(|table| in_old_logs.contains(&table.name));
        let moved = flush(&tables.cloned().collect::<Vec<_>>(), &self.store);
        moved
            .inspect_err(|error| tracing::error!(leaf = %self.name, "the log stays long: {error}"))
            .is_ok()
    }

    /// Gives fresh blocks their place, those of the table that has most of them first, when there
    /// are too many of them.
    fn flush_under_pressure(&self, tables: &[Arc<Table>]) -> Result<(), MergeError> {
        let fresh = &self.limits.fresh;
        if !self.has_folder || !fresh.is_pressed() {
            return Ok(());
        }
        let mut tables: Vec<&Arc<Table>> = tables.iter().collect();
        tables.sort_by_cached_key(|table| Reverse(table.fresh_bytes()));
        tables.into_iter().take_while(|_| fresh.is_pressed()).try_for_each(|table| {
            match self.turn_to_change() {
                Some(_turn) => flush(std::slice::from_ref(table), &self.store),
                None => Ok(()),
            }
        })
    }
}

impl Leaf {
    fn status_in(&self, scope: &StatusScope) -> LeafStatus {
        let mut status = LeafStatus {
            name: self.inner.name.clone(),
            state: self.inner.state(),
            block_bytes: 0,
            tables: Arc::default(),
            losses: Vec::new(),
        };
        if *scope == StatusScope::Leaves {
            return status;
        }
        let next_expiry = self.inner.expiry.next_due(&*self.inner.clock);
        // To look at what an earlier process left takes a while, for which nobody should wait.
        let tables: Vec<Arc<Table>> = {
            let tables = read(&self.inner.tables);
            tables.values().filter(|table| scope.has(&table.name)).cloned().collect()
        };
        let tables = tables.iter();
        let tables =
            tables.filter_map(|table| Some((table.name.clone(), table.status(next_expiry)?)));
        let tables: BTreeMap<_, _> = tables.collect();
        status.block_bytes = tables.values().map(|table| table.block_bytes).sum();
        status.tables = Arc::new(tables);
        status.losses = self.losses();
        status
    }
}

impl Peer for Leaf {
    fn query(&self, query: Arc<Query>, deadline: Instant) -> BoxFuture<'_, Partial> {
        Box::pin(async move { execute(&[self], query, deadline).await })
    }

    fn status<'a>(&'a self, scope: &'a StatusScope) -> BoxFuture<'a, PeerStatus> {
        Box::pin(async move { PeerStatus { leaves: vec![self.status_in(scope)] } })
    }

    fn blocks<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, TableBlocks> {
        Box::pin(async move {
            let table = read(&self.inner.tables).get(table).cloned();
            let blocks = table.map(|table| table.snapshot()).unwrap_or_default();
            inspect(&self.inner.name, &blocks)
        })
    }
}

/// How far tables are since the start: as far as the last of them.
fn state_of<'a>(tables: impl IntoIterator<Item = &'a Arc<Table>>) -> LeafState {
    tables.into_iter().map(|table| table.state()).max().unwrap_or(LeafState::Alive)
}

#[cfg(test)]
mod tests;
