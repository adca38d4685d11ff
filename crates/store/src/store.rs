//! The store of one leaf: its doors for the leaf, and the order in which the parts are called.
//!
//! Locks are taken in the order catalog, log queue, segment table; the log's committer and the
//! readers of blocks take only the last two, one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use hadal_types::limits::{LOG_FILES_MAX, TABLE_SETTINGS_BYTES_MAX};
use hadal_types::{BatchId, MemoryPool, TableName};

use crate::change::{BlockNumber, Change, Sequence, StoredBlock};
use crate::clean_shutdown;
use crate::config::{Config, Durability, Folders, Sizes};
use crate::data_loss::Losses;
use crate::error::Error;
use crate::lock::lock;
use crate::log::{Log, LogMarks, Ticket};
use crate::manifest::{self, BlockRecord, Checksum, Manifest, Record, State};
use crate::preopen::adopted::Preopened;
use crate::recovery::{self, OpenContext, Opened, Recovery};
use crate::segment::pool::Pool;
use crate::segment::{BlockBytes, BlockLocation, checked_length};
use crate::space::disk_reserve::Reserve;

pub use stats::StoreStats;

/// What counts, and the file that says so.
struct Catalog {
    state: State,
    /// The bytes of each block that counts and can be read.
    held: BTreeMap<BlockNumber, BlockBytes>,
    manifest: Option<Manifest>,
    /// The folder is another process's from now on.
    is_stopped: bool,
}

impl Catalog {
    /// The blocks that count and are not in memory, in order; none where `are_all` and none is lost.
    fn not_in_memory(&self, are_all: bool) -> Vec<BlockNumber> {
        if are_all && self.held.len() == self.state.blocks.len() {
            return Vec::new();
        }
        let mut held = self.held.iter().peekable();
        let mut is_in_memory = |number: BlockNumber| {
            while held.next_if(|(other, _)| **other < number).is_some() {}
            let next = held.next_if(|(other, _)| **other == number);
            next.is_some_and(|(_, bytes)| bytes.is_in_memory())
        };
        self.state.blocks.keys().copied().filter(|&number| !is_in_memory(number)).collect()
    }

    /// Notes in the manifest that a log file is needed, so that it is missed should it be gone.
    ///
    /// When that fails the file is as good as before; the next record names it.
    fn begin_log(&mut self, number: u64, marks: &LogMarks) {
        let mut record = Record { logs: self.state.logs.clone(), ..Record::default() };
        record.logs.insert(number);
        let manifest = self.manifest.as_mut();
        let is_noted = manifest.is_some_and(|manifest| {
            manifest.note_marks(marks.clone());
            manifest.append(&record).is_ok()
        });
        if is_noted {
            self.state.logs = record.logs;
        }
    }
}

/// The parts that only a store with a folder has.
struct Durable {
    pool: Arc<Pool>,
    log: Log,
    reserve: Reserve,
}

/// The store of one leaf. All methods may be called from any thread.
///
/// Dropping it writes what was appended, as [`Store::stop`] does, but tells no failure, and the
/// next process looks at everything itself. The folder stays locked until the last `BlockBytes` of
/// its segments is dropped.
pub struct Store {
    /// Shared with the log, which notes in it that it has begun a file.
    catalog: Arc<Mutex<Catalog>>,
    durable: Option<Durable>,
    losses: Losses,
    next_block: AtomicU64,
    /// Sequences of a store without a log.
    next_sequence: AtomicU64,
    reclaim_failures: AtomicU64,
    /// Whether a change failed in such a way that none can be made any more.
    has_failed: AtomicBool,
    /// Tables whose blocks never come to memory.
    on_disk: RwLock<BTreeSet<TableName>>,
}

impl Store {
    /// A store that keeps everything in the process's memory, and nothing after it.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(State::default(), BTreeMap::new(), None, Losses::none())
    }

    /// Whether there is a store in a folder, without a look at it.
    #[must_use]
    pub fn is_in(folder: &Path) -> bool {
        [manifest::NAME, manifest::COPY_NAME].iter().any(|name| folder.join(name).exists())
    }

    /// Opens the store in a folder, and says what is in it.
    ///
    /// # Errors
    /// [`Error::InUse`] when another has the folder; [`Error::Corrupt`] when the manifest cannot be
    /// trusted, [`Error::Version`] when it is newer than this program; [`Error::Io`] and
    /// [`Error::Full`] as the system says. Damage to log and blocks is no error but in the report.
    pub fn open(config: &Config) -> Result<(Self, Recovery), Error> {
        let (folders, preopened) = config.preopened.take(config)?.unzip();
        let folders = folders.map_or_else(|| Folders::open(config), Ok)?;
        let context = OpenContext { now: config.now, expects_data: config.expects_data };
        let (store, mut recovery) =
            Self::open_with(&folders, config.sizes, config.durability, true, preopened, context)?;
        recovery.report.memory_refused = folders.memory_refused;
        Ok((store, recovery))
    }

    /// Opens the store in these folders, which a test may own.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_on(folders: &Folders, sizes: Sizes) -> Result<(Self, Recovery), Error> {
        Self::open_with(folders, sizes, Durability::Sync, true, None, OpenContext::default())
    }

    fn open_with(
        folders: &Folders,
        sizes: Sizes,
        durability: Durability,
        with_committer: bool,
        preopened: Option<Preopened>,
        context: OpenContext,
    ) -> Result<(Self, Recovery), Error> {
        let Opened { manifest, state, pool, mut replayed, recovery, losses, held } =
            recovery::open(folders, sizes, preopened, context)?;
        let (disk, salt) = (Arc::clone(&folders.log), manifest.salt());
        let mut store = Self::new(state, held, Some(manifest), losses);
        let catalog = Arc::clone(&store.catalog);
        let begun =
            Box::new(move |number, marks: &LogMarks| lock(&catalog).begin_log(number, marks));
        let file_bytes = sizes.log_file_bytes;
        let log =
            Log::start(disk, salt, file_bytes, &mut replayed, begun, durability, with_committer)?;
        if !recovery.report.lost_blocks.is_empty() {
            pool.doubt();
        }
        let reserve = Reserve::open(Arc::clone(&folders.root), sizes.reserve_bytes);
        store.durable = Some(Durable { pool, log, reserve });
        Ok((store, recovery))
    }

    fn new(
        state: State,
        held: BTreeMap<BlockNumber, BlockBytes>,
        manifest: Option<Manifest>,
        losses: Losses,
    ) -> Self {
        Self {
            losses,
            next_block: AtomicU64::new(state.next_block),
            catalog: Arc::new(Mutex::new(Catalog { state, held, manifest, is_stopped: false })),
            durable: None,
            next_sequence: AtomicU64::new(0),
            reclaim_failures: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            on_disk: RwLock::default(),
        }
    }

    /// Whether the log or the manifest takes no more writes, since nobody knows what is on disk after
    /// one that failed: until the store is opened anew.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let log_has = |durable: &Durable| durable.log.has_failed();
        self.has_failed.load(Ordering::Relaxed) || self.durable.as_ref().is_some_and(log_has)
    }

    /// Appends a batch to the log. Does not wait for the disk: the ticket does.
    ///
    /// # Errors
    /// [`Error::Busy`] when too much waits already; [`Error::Full`] while the disk that is set aside is
    /// in use; [`Error::Poisoned`] after an earlier failure;
    /// [`Error::BlockSize`] and [`Error::BatchId`] when the batch cannot be logged.
    pub fn append(
        &self,
        table: &TableName,
        batch: &BatchId,
        bytes: &[u8],
    ) -> Result<Ticket, Error> {
        match &self.durable {
            Some(durable) => {
                durable.reserve.check()?;
                durable.log.append(table, batch, bytes)
            }
            None => {
                checked_length(bytes)?;
                Ok(Ticket::done(Sequence(self.next_sequence.fetch_add(1, Ordering::Relaxed))))
            }
        }
    }

    /// Says whether blocks of a table stay on disk, and are read from there: those that are written or
    /// brought back from now on.
    pub fn keep_on_disk(&self, table: &TableName, is_so: bool) {
        let mut on_disk = self.on_disk.write().unwrap_or_else(PoisonError::into_inner);
        match is_so {
            true => on_disk.insert(table.clone()),
            false => on_disk.remove(table),
        };
    }

    fn may_be_in_memory(&self, table: &TableName) -> bool {
        !self.on_disk.read().unwrap_or_else(PoisonError::into_inner).contains(table)
    }

    /// Writes a merged block of so many rows to a segment. It counts once a [`Change`] adds it; if
    /// none does, its space is given back with the last clone of its bytes.
    ///
    /// # Errors
    /// [`Error::Full`] when there is no room; [`Error::BlockSize`]; [`Error::Io`].
    pub fn write_block(
        &self,
        table: &TableName,
        rows: u32,
        bytes: Vec<u8>,
    ) -> Result<StoredBlock, Error> {
        let (bytes, checksum) = match &self.durable {
            Some(Durable { pool, reserve, .. }) => {
                let may_be_in_memory = self.may_be_in_memory(table);
                let written = reserve.spend(|| pool.write(&bytes, may_be_in_memory))?;
                (written, Checksum::of(pool.salt(), &bytes))
            }
            None => {
                checked_length(&bytes)?;
                (BlockBytes::from(bytes), Checksum::UNKNOWN)
            }
        };
        let number = BlockNumber(self.next_block.fetch_add(1, Ordering::Relaxed));
        Ok(StoredBlock { number, table: table.clone(), rows, bytes, checksum })
    }

    /// Makes one atomic, durable change: syncs the added blocks, then the record. Blocks on disk.
    ///
    /// # Errors
    /// [`Error::Full`]: nothing changed, and it may be tried again. [`Error::Poisoned`]: the change
    /// may or may not be there at the next open; this store takes no more changes.
    /// [`Error::Block`], [`Error::BatchId`], [`Error::Settings`], [`Error::ChangeSize`]: the change
    /// is wrong, nothing changed.
    pub fn commit(&self, change: &Change) -> Result<(), Error> {
        let mut catalog = lock(&self.catalog);
        if catalog.is_stopped {
            return Err(Error::Closed);
        }
        let record = self.spell_out(&catalog.state, change)?;
        catalog.state.check(&record)?;
        if let (Some(manifest), Some(durable)) = (&mut catalog.manifest, &self.durable) {
            let persisted = durable.persist(manifest, &change.adds, &record);
            let has_failed = matches!(persisted, Err(Error::Poisoned { .. }));
            self.has_failed.fetch_or(has_failed, Ordering::Relaxed);
            persisted?;
        }
        catalog.state.apply(&record)?;
        for number in &record.removes {
            if let Some(bytes) = catalog.held.remove(number) {
                bytes.set_named(false);
            }
        }
        for block in &change.adds {
            catalog.held.insert(block.number, block.bytes.clone());
        }
        if let Some(durable) = &self.durable {
            self.count_failures(durable.log.consume(&record.consumed, &record.logs));
            self.compact_if_grown(&mut catalog, &durable.log);
        }
        Ok(())
    }

    /// The record of a change: drops as the blocks and frames that they concern.
    fn spell_out(&self, state: &State, change: &Change) -> Result<Record, Error> {
        let mut record = Record {
            drops: change.drops.clone(),
            removes: change.removes.clone(),
            consumed: change.consumed.iter().copied().collect(),
            remembered: change.remembered.clone(),
            settings: change.settings.clone(),
            forget_before: change.forget_before,
            dropped_rows: change.dropped_rows.clone(),
            adds: Vec::with_capacity(change.adds.len()),
            logs: BTreeSet::new(),
        };
        for table in &change.drops {
            let blocks = state.blocks.values().filter(|block| block.table == *table);
            record.removes.extend(blocks.map(|block| block.number));
            let frames = self.durable.as_ref().map(|durable| durable.log.live_of(table));
            for Sequence(sequence) in frames.into_iter().flatten() {
                record.consumed.insert(sequence, sequence);
            }
        }
        for (Sequence(first), Sequence(last)) in &change.given_up {
            record.consumed.insert(*first, *last);
        }
        if let Some(durable) = &self.durable {
            for (first, last) in durable.log.void().iter() {
                record.consumed.insert(first, last);
            }
            record.logs = durable.log.needed(&record.consumed);
        }
        // A block of a dropped table may be named in the change as well.
        record.removes.sort_unstable();
        record.removes.dedup();
        for block in &change.adds {
            record.adds.push(self.record_of(block)?);
        }
        for batch in &change.remembered {
            let refused = || Error::BatchId(batch.batch.to_string());
            BatchId::new(batch.batch.as_str()).ok_or_else(refused)?;
        }
        match change.settings.iter().find(|(_, bytes)| bytes.len() > TABLE_SETTINGS_BYTES_MAX) {
            Some((_, bytes)) => Err(Error::Settings(bytes.len())),
            None => Ok(record),
        }
    }

    fn record_of(&self, block: &StoredBlock) -> Result<BlockRecord, Error> {
        let location = match &self.durable {
            Some(durable) => block.bytes.location().filter(|_| block.bytes.is_in(&durable.pool)),
            None => Some(BlockLocation::IN_MEMORY),
        };
        let location = location.ok_or(Error::Block(block.number, "is of another store"))?;
        let StoredBlock { number, rows, checksum, .. } = *block;
        Ok(BlockRecord { number, table: block.table.clone(), rows, location, checksum })
    }

    fn compact_if_grown(&self, catalog: &mut Catalog, log: &Log) {
        let Catalog { state, manifest: Some(manifest), .. } = catalog else { return };
        if !manifest.wants_compaction() {
            return;
        }
        if let Some(last) = log.live_from().0.checked_sub(1) {
            state.consumed.insert(0, last);
        }
        state.next_sequence = log.next_sequence().0;
        state.next_block = self.next_block.load(Ordering::Relaxed);
        // The record that brought us here is durable: the change did not fail.
        self.count_failures(u64::from(manifest.compact(state).is_err()));
    }

    fn count_failures(&self, failures: u64) {
        self.reclaim_failures.fetch_add(failures, Ordering::Relaxed);
    }

    /// Whether there is a block of this number, also one that cannot be read.
    #[must_use]
    pub fn has_block(&self, number: BlockNumber) -> bool {
        lock(&self.catalog).state.blocks.contains_key(&number)
    }

    /// The memory that this store's blocks share with those of other stores; `None` where they are
    /// read from disk.
    #[must_use]
    pub fn memory_budget(&self) -> Option<&MemoryPool> {
        self.durable.as_ref().and_then(|durable| durable.pool.memory_budget())
    }

    /// The tables with batches in so old log files that these keep the log long: they go once the
    /// batches have their place in segments ([`LOG_FILES_MAX`]).
    #[must_use]
    pub fn tables_in_old_logs(&self) -> BTreeSet<TableName> {
        let durable = self.durable.as_ref();
        durable.map(|durable| durable.log.tables_before(LOG_FILES_MAX + 1)).unwrap_or_default()
    }

    /// Gives back the disk of blocks that are no more, and of a log of which nothing is needed,
    /// where disk is short also of parts of it, and sets disk aside again; the memory of blocks was
    /// given back with their last reader. To be called now and then: some milliseconds for a
    /// mebibyte. What fails is counted.
    pub fn give_back(&self) {
        let Some(durable) = &self.durable else { return };
        durable.pool.give_back();
        durable.reserve.restore();
        self.count_failures(durable.log.give_back(durable.reserve.check().is_err()));
        self.count_failures(u64::from(!self.losses.save()));
        let mut catalog = lock(&self.catalog);
        let has_copy = catalog.manifest.as_mut().is_none_or(Manifest::restore_copy);
        drop(catalog);
        self.count_failures(u64::from(!has_copy));
        if durable.log.leave_spent() {
            // The manifest names the files that are needed. Where it cannot be written now, the next
            // change does it.
            drop(self.commit(&Change::default()));
        }
    }

    /// Ends the store: writes and syncs what was appended, notes that what is in memory is as the
    /// manifest says, and gives up the folder, so that the next process can have it at once. What
    /// was borrowed can still be read, until that process writes; so whoever reads must have
    /// finished. Nothing is taken and nothing given back any more.
    ///
    /// # Errors
    /// The failure that poisoned the log or the manifest, if any did; [`Error::Io`] and
    /// [`Error::Full`] when the note could not be written. The folder is given up all the same, and
    /// the next process looks at everything itself.
    pub fn stop(&self) -> Result<(), Error> {
        let Some(durable) = &self.durable else { return Ok(()) };
        let logged = durable.log.close();
        durable.pool.give_back();
        let mut catalog = lock(&self.catalog);
        if std::mem::replace(&mut catalog.is_stopped, true) {
            return Ok(());
        }
        let stopped = logged.and_then(|()| {
            let Some(manifest) = &catalog.manifest else { return Ok(()) };
            manifest.check()?;
            // What was lost or damaged is not to be believed by the next process either.
            if durable.pool.is_doubted() {
                return Ok(());
            }
            let Some(memory) = durable.pool.memory() else {
                let root = durable.pool.root();
                // Without it a process with memory starts as after a crash.
                let salt = clean_shutdown::salt_on_disk(manifest.salt());
                drop(salt.map(|salt| clean_shutdown::write(root, salt, manifest.position(), &[])));
                return Ok(());
            };
            let elsewhere = catalog.not_in_memory(durable.pool.is_all_in_memory());
            clean_shutdown::write(memory, manifest.salt(), manifest.position(), &elsewhere)
        });
        durable.pool.stop();
        durable.reserve.stop();
        let unlocked = durable.pool.unlock();
        drop(catalog);
        stopped.and(unlocked)
    }

    #[cfg(test)]
    fn step_log(&self) {
        if let Some(durable) = &self.durable {
            durable.log.step();
        }
    }
}

impl Durable {
    /// Makes the added blocks durable, then the record that names them.
    fn persist(
        &self,
        manifest: &mut Manifest,
        adds: &[StoredBlock],
        record: &Record,
    ) -> Result<(), Error> {
        manifest.check()?;
        manifest.note_marks(self.log.marks());
        if !adds.is_empty() {
            self.pool.sync().map_err(|error| manifest.poison(error.to_string()))?;
        }
        adds.iter().for_each(|block| block.bytes.set_named(true));
        let result = manifest.append(record);
        // After any other failure the record may be on disk, so the blocks must stay.
        if let Err(Error::Full(_) | Error::ChangeSize(_)) = result {
            adds.iter().for_each(|block| block.bytes.set_named(false));
        }
        result
    }
}

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod loss_tests;
mod losses;
#[cfg(test)]
mod lost_file_tests;
#[cfg(test)]
mod preopen_tests;
mod residency;
mod stats;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tmpfs_tests;
