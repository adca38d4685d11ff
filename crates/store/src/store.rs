//! The store of one leaf: its interface, and the order in which its parts are called.
//!
//! Locks are taken in the order catalog, log queue, segment table. The log's committer and the
//! readers of blocks take only the last two, one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hadal_types::limits::LOG_FILES_MAX;
use hadal_types::{BatchId, MemoryPool, TableName};
use parking_lot::{Mutex, RwLock};

use crate::change::{Change, StoredBlock};
use crate::checksum::Checksum;
use crate::clean_shutdown;
use crate::config::Config;
use crate::data_loss::Losses;
use crate::disk::Disk;
use crate::error::Error;
use crate::folders::Folders;
use crate::ids::{BlockNumber, Sequence};
use crate::log::{Log, Ticket};
use crate::log_marks::LogMarks;
use crate::manifest::{self, Manifest, Record, State};
use crate::options::{Durability, Sizes};
use crate::preopen::preopened::Preopened;
use crate::recovery::{self, OpenContext, Opened, Recovery};
use crate::segment::pool::Pool;
use crate::segment::{BlockBytes, checked_length};
use crate::space::disk_reserve::Reserve;
use crate::start;

pub use stats::StoreStats;

/// The state, and the manifest that holds it.
struct Catalog {
    state: State,
    /// The bytes of each block that counts and can be read.
    held: BTreeMap<BlockNumber, BlockBytes>,
    manifest: Option<Manifest>,
    /// Whether the folder belongs to another process now.
    is_stopped: bool,
}

impl Catalog {
    /// The blocks that count and are not in memory, in order; none if `are_all` and no block is
    /// lost.
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

    /// Records in the manifest that a log file is needed, so that its loss is noticed.
    ///
    /// After a failure the file works as before; the next record names it.
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
    root: Arc<dyn Disk>,
    pool: Arc<Pool>,
    log: Log,
    reserve: Reserve,
}

/// The store of one leaf. All methods may be called from any thread.
///
/// Dropping it writes the appended batches, as [`Store::stop`] does, but reports no failure, and
/// the next process verifies everything. The folder stays locked until the last `BlockBytes` of its
/// segments is dropped.
pub struct Store {
    /// Shared with the log, which records in it each file that it begins.
    catalog: Arc<Mutex<Catalog>>,
    durable: Option<Durable>,
    losses: Losses,
    next_block: AtomicU64,
    /// Sequences of a store without a log.
    next_sequence: AtomicU64,
    reclaim_failures: AtomicU64,
    /// Whether a failed change makes all further ones impossible.
    has_failed: AtomicBool,
    /// Tables whose blocks never move to memory.
    on_disk: RwLock<BTreeSet<TableName>>,
}

impl Store {
    /// A store that keeps everything in the process's memory, and nothing after it ends.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(State::default(), BTreeMap::new(), None, Losses::none())
    }

    /// Whether a folder has a store, without examining it.
    #[must_use]
    pub fn is_in(folder: &Path) -> bool {
        [manifest::NAME, manifest::COPY_NAME].iter().any(|name| folder.join(name).exists())
    }

    /// Opens the store in a folder, and returns its content.
    ///
    /// # Errors
    /// [`Error::InUse`] if another store has the folder; [`Error::Corrupt`] if the manifest cannot
    /// be trusted; [`Error::Version`] if it is newer than this program; [`Error::Io`] and
    /// [`Error::Full`] as the system reports. Damage to log and blocks is not an error, but in the
    /// report.
    pub fn open(config: &Config) -> Result<(Self, Recovery), Error> {
        let (folder, memory) = (&config.folder, config.memory.as_ref());
        let (folders, preopened) = config.preopened.take(folder, memory, config.sizes)?.unzip();
        let folders = folders.map_or_else(|| Folders::open(folder, memory), Ok)?;
        let context = OpenContext { now: config.now, expects_data: config.expects_data };
        let (store, mut recovery) =
            Self::open_with(&folders, config.sizes, config.durability, true, preopened, context)?;
        recovery.report.memory_refused = folders.memory_refused;
        Ok((store, recovery))
    }

    /// Opens the store in these folders, which a test may provide.
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
            Box::new(move |number, marks: &LogMarks| catalog.lock().begin_log(number, marks));
        let file_bytes = sizes.log_file_bytes;
        let log =
            Log::start(disk, salt, file_bytes, &mut replayed, begun, durability, with_committer)?;
        if !recovery.report.lost_blocks.is_empty() {
            pool.doubt();
        }
        let reserve = Reserve::open(Arc::clone(&folders.root), sizes.reserve_bytes);
        let root = Arc::clone(&folders.root);
        store.durable = Some(Durable { root, pool, log, reserve });
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

    /// Returns the start of the process that has the store now, in microseconds since the Unix
    /// epoch, and notes it in the folder: `now` according to the clock, but later than the start of
    /// the process that had the store before. Also returns why it could not be noted.
    pub fn note_start(&self, now: u64) -> (u64, Result<(), Error>) {
        let Some(Durable { root, .. }) = &self.durable else { return (now, Ok(())) };
        let failed = |action| move |error| Error::io(action, &root.path_of(start::NAME), error);
        let (started, read) = match start::after_last(&**root, now) {
            Ok(started) => (started, Ok(())),
            Err(error) => (now, Err(failed("read")(error))),
        };
        let noted = start::note(&**root, started).map_err(failed("write"));
        (started, read.and(noted))
    }

    /// Whether the log or the manifest refuses writes until the store is opened again, because a
    /// failed write left the content of the disk unknown.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let log_has = |durable: &Durable| durable.log.has_failed();
        self.has_failed.load(Ordering::Relaxed) || self.durable.as_ref().is_some_and(log_has)
    }

    /// Appends a batch to the log. Does not wait for the disk: the ticket does.
    ///
    /// # Errors
    /// [`Error::Busy`] if too many bytes wait already; [`Error::Full`] while the reserved disk is
    /// in use; [`Error::Poisoned`] after an earlier failure; [`Error::BlockSize`] and
    /// [`Error::BatchId`] if the batch cannot be logged.
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

    /// Sets whether blocks of a table stay on disk and are read from there. Affects blocks that are
    /// written or restored from now on.
    pub fn keep_on_disk(&self, table: &TableName, is_kept: bool) {
        let mut on_disk = self.on_disk.write();
        match is_kept {
            true => on_disk.insert(table.clone()),
            false => on_disk.remove(table),
        };
    }

    fn may_be_in_memory(&self, table: &TableName) -> bool {
        !self.on_disk.read().contains(table)
    }

    /// Writes a merged block of `rows` rows to a segment. It counts once a [`Change`] adds it. If
    /// none does, its space is given back with the last clone of its bytes.
    ///
    /// # Errors
    /// [`Error::Full`] if the disk is full; [`Error::BlockSize`]; [`Error::Io`].
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

    fn count_failures(&self, failures: u64) {
        self.reclaim_failures.fetch_add(failures, Ordering::Relaxed);
    }

    /// Whether there is a block of this number, even an unreadable one.
    #[must_use]
    pub fn has_block(&self, number: BlockNumber) -> bool {
        self.catalog.lock().state.blocks.contains_key(&number)
    }

    /// The memory that this store's blocks share with those of other stores; `None` if they are
    /// read from disk.
    #[must_use]
    pub fn memory_budget(&self) -> Option<&MemoryPool> {
        self.durable.as_ref().and_then(|durable| durable.pool.memory_budget())
    }

    /// The tables with batches in old log files, which therefore cannot be removed. They are
    /// removed once the batches are in segments ([`LOG_FILES_MAX`]).
    #[must_use]
    pub fn tables_in_old_logs(&self) -> BTreeSet<TableName> {
        let durable = self.durable.as_ref();
        durable.map(|durable| durable.log.tables_before(LOG_FILES_MAX + 1)).unwrap_or_default()
    }

    /// Gives back the disk of dropped blocks and of log files without needed frames, and when disk
    /// is short also of consumed parts of log files. Reserves disk again. The memory of dropped
    /// blocks was given back with their last reader. Must be called now and then; takes some
    /// milliseconds per mebibyte. Failures are counted.
    pub fn give_back(&self) {
        let Some(durable) = &self.durable else { return };
        durable.pool.give_back();
        durable.reserve.restore();
        self.count_failures(durable.log.give_back(durable.reserve.check().is_err()));
        self.count_failures(u64::from(!self.losses.save()));
        let mut catalog = self.catalog.lock();
        let has_copy = catalog.manifest.as_mut().is_none_or(Manifest::restore_copy);
        drop(catalog);
        self.count_failures(u64::from(!has_copy));
        if durable.log.leave_spent() {
            // The manifest names the needed files. If it cannot be written now, the next change
            // removes this file.
            drop(self.commit(&Change::default()));
        }
    }

    /// Ends the store: writes and syncs the appended batches, records that the segments in memory
    /// match the manifest, and gives up the folder. So the next process can have it at once.
    /// Borrowed bytes can still be read until that process writes, so readers must have finished.
    /// Afterwards nothing is accepted and nothing given back.
    ///
    /// # Errors
    /// The failure that poisoned the log or the manifest, if any; [`Error::Io`] and [`Error::Full`]
    /// if the mark could not be written. The folder is given up nevertheless, and the next process
    /// verifies everything.
    pub fn stop(&self) -> Result<(), Error> {
        let Some(durable) = &self.durable else { return Ok(()) };
        let logged = durable.log.close();
        durable.pool.give_back();
        let mut catalog = self.catalog.lock();
        if std::mem::replace(&mut catalog.is_stopped, true) {
            return Ok(());
        }
        let stopped = logged.and_then(|()| {
            let Some(manifest) = &catalog.manifest else { return Ok(()) };
            manifest.check()?;
            // The next process must not trust lost or damaged blocks, either.
            if durable.pool.is_doubted() {
                return Ok(());
            }
            let Some(memory) = durable.pool.memory() else {
                let root = durable.pool.root();
                // Without it, a process with memory starts as after a crash.
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

mod commit;
#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod log_space_tests;
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
