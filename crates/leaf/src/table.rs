//! One table's share of a leaf.
//!
//! A table's locks are taken in this order. A thread that holds a lock takes only later locks:
//!
//! 1. `dropped`: read-locked by every change of the table's content in the store, after the leaf's
//!    `changing` lock;
//! 2. `status`: held while the status is made;
//! 3. [`BlockSet`]: the visible blocks. Its internal order is in `block_set.rs`;
//! 4. [`Recovery`]: the missing rows;
//! 5. [`Meta`]: everything else that the status reports.
//!
//! `batch_ids` is held alone.

pub(crate) mod age_limit;
pub(crate) mod batch_ids;
pub(crate) mod block;
mod block_list;
#[cfg(test)]
mod block_list_tests;
pub(crate) mod block_set;
pub(crate) mod inspect;
mod locks;
mod merged_schema;
pub(crate) mod open_blocks;
pub(crate) mod settings;
mod status;
pub(crate) mod string_ids;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use hadal_block::BlockError;
use hadal_peer::TableStatus;
use hadal_store::{BlockNumber, DroppedRows, Error, LostBlock, WaitingBlock};
use hadal_types::{LeafState, Micros, TableName, TableSchema, TableSettings};
use parking_lot::{Mutex, RwLock};

use crate::table::age_limit::forecast;
use crate::table::batch_ids::BatchIds;
use crate::table::block::Block;
use crate::table::block_set::{BlockSet, DeferredBlocks, bytes_of};
use crate::table::merged_schema::MergedSchema;
use crate::table::settings::is_on_disk;
use crate::table::string_ids::StringIds;
use crate::table_changes::TableChanges;

/// The key of a cached status: the table's version, and the time of the next expiry pass.
type StatusOf = (u64, Micros);

/// Rows that the table should have but does not show.
#[derive(Debug, Default)]
struct Recovery {
    /// Blocks that cannot be read, with their rows. Damaged blocks that are still visible are not
    /// included.
    lost: BTreeMap<BlockNumber, u32>,
    /// Rows of the blocks in `lost`.
    lost_rows: u64,
    /// The lost blocks whose copy in memory is unreadable: the disk may have a good copy.
    unreadable: Vec<LostBlock>,
    /// Rows that the store is restoring.
    waiting_rows: u64,
    /// The part of `waiting_rows` that the store reads from disk.
    waiting_disk_rows: u64,
}

/// Everything known of a table besides its blocks.
#[derive(Clone, Debug, Default)]
struct Meta {
    /// `None` until a client sends settings; then the leaf remembers them.
    settings: Option<TableSettings>,
    /// Rows that were dropped because the table was too large.
    dropped_rows: Option<DroppedRows>,
    /// Rows that were dropped for their age since the process started.
    expired_rows: Option<DroppedRows>,
    /// The schema of the last blocks, kept after all blocks are gone. With it, the table is
    /// reported as empty, not unknown, until restart.
    emptied: Option<TableSchema>,
    /// Why rows that are due cannot be archived.
    archive_error: Option<String>,
}

/// Number of tables made since the process started. The versions of each table are higher than
/// those of all earlier tables, including a dropped one of the same name.
static TABLES: AtomicU64 = AtomicU64::new(0);
const VERSION_BITS: u32 = 40;

/// Returns a version higher than that of every table so far, and lower than that of every later
/// table with rows.
pub(crate) fn version_without_table() -> u64 {
    TABLES.load(Ordering::SeqCst) << VERSION_BITS
}

/// One table of a leaf.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: TableName,
    /// True once the table is dropped. Read-locked until a change of the store is made.
    pub(crate) dropped: RwLock<bool>,
    status: Mutex<Option<(StatusOf, Arc<TableStatus>)>>,
    blocks: BlockSet,
    recovery: Mutex<Recovery>,
    meta: Mutex<Meta>,
    pub(crate) batch_ids: Mutex<BatchIds>,
    pub(crate) string_ids: StringIds,
    /// Rises whenever the status may have changed.
    version: AtomicU64,
    /// Where changes are noted, once the table belongs to a leaf.
    changes: OnceLock<Arc<TableChanges>>,
    /// Rows at the start, with missing ones.
    recovered_rows: AtomicU64,
    /// Rows accepted since.
    accepted_rows: AtomicU64,
}

impl Table {
    pub(crate) fn new(name: TableName) -> Self {
        Self {
            name,
            dropped: RwLock::new(false),
            status: Mutex::default(),
            blocks: BlockSet::default(),
            recovery: Mutex::default(),
            meta: Mutex::default(),
            batch_ids: Mutex::default(),
            string_ids: StringIds::default(),
            version: AtomicU64::new(TABLES.fetch_add(1, Ordering::SeqCst) << VERSION_BITS),
            changes: OnceLock::new(),
            recovered_rows: AtomicU64::default(),
            accepted_rows: AtomicU64::default(),
        }
    }

    /// Notes this and every later change of the status in the leaf's list.
    pub(crate) fn report_changes(&self, changes: &Arc<TableChanges>) {
        if self.changes.set(Arc::clone(changes)).is_ok() {
            changes.note(&self.name);
        }
    }

    /// Notes that the table has all rows of the store, and counts accepted rows from now on.
    pub(crate) fn note_recovered(&self) {
        self.recovered_rows.store(self.holdings().0, Ordering::SeqCst);
    }

    /// Makes an accepted batch visible.
    pub(crate) fn push_accepted(&self, block: Block) {
        self.accepted_rows.fetch_add(block.rows as u64, Ordering::SeqCst);
        self.push(block);
    }

    /// Rows at the start, and rows accepted since.
    pub(crate) fn arrived_rows(&self) -> (u64, u64) {
        let rows = |rows: &AtomicU64| rows.load(Ordering::SeqCst);
        (rows(&self.recovered_rows), rows(&self.accepted_rows))
    }

    /// Takes blocks that are opened when the table is first read.
    pub(crate) fn defer_open(&self, deferred: DeferredBlocks) {
        self.blocks.defer_open(deferred);
        self.invalidate_status();
    }

    /// Opens the deferred blocks, if there are any; those that cannot be opened are lost.
    pub(crate) fn open_deferred(&self) {
        let note_lost = |lost: LostBlock| {
            self.note_lost(&lost);
            self.put_unreadable(lost);
        };
        if self.blocks.open_deferred(&self.name, note_lost) {
            self.invalidate_status();
        }
    }

    /// Takes the blocks that could not be read in memory when they were opened.
    pub(crate) fn take_unreadable(&self) -> Vec<LostBlock> {
        self.open_deferred();
        std::mem::take(&mut self.recovery.lock().unreadable)
    }

    /// Keeps an unreadable block for another try.
    pub(crate) fn put_unreadable(&self, lost: LostBlock) {
        self.recovery.lock().unreadable.push(lost);
    }

    /// Makes a block visible that was lost under this number.
    pub(crate) fn push_restored(&self, block: Block, lost: BlockNumber) {
        let rows = block.rows as u64;
        self.push(block);
        {
            let mut recovery = self.recovery.lock();
            recovery.lost.remove(&lost);
            recovery.lost_rows = recovery.lost_rows.saturating_sub(rows);
        }
        self.invalidate_status();
    }

    /// The numbers of the blocks that are lost.
    pub(crate) fn lost(&self) -> Vec<BlockNumber> {
        self.open_deferred();
        self.recovery.lock().lost.keys().copied().collect()
    }

    /// Stops counting blocks as lost that the store has forgotten; returns the number of their
    /// rows.
    pub(crate) fn forget_lost(&self, gone: &[BlockNumber]) -> u64 {
        let rows = {
            let mut recovery = self.recovery.lock();
            let Recovery { lost, lost_rows, unreadable, .. } = &mut *recovery;
            unreadable.retain(|lost| !gone.contains(&lost.number));
            let rows = gone.iter().filter_map(|number| lost.remove(number)).map(u64::from).sum();
            *lost_rows = lost_rows.saturating_sub(rows);
            rows
        };
        self.invalidate_status();
        rows
    }

    /// Returns the current blocks. Opens deferred blocks first.
    pub(crate) fn snapshot(&self) -> Arc<Vec<Arc<Block>>> {
        self.open_deferred();
        self.blocks.opened()
    }

    /// Takes all blocks out, and returns them.
    pub(crate) fn clear(&self) -> Arc<Vec<Arc<Block>>> {
        self.open_deferred();
        self.blocks.clear()
    }

    /// Returns the rows that the table should have, including missing ones, and the bytes that it
    /// has. Opens no blocks.
    pub(crate) fn holdings(&self) -> (u64, u64) {
        self.blocks.holdings(|| {
            let (lost, waiting) = self.missing_rows();
            lost + waiting
        })
    }

    /// Makes a fresh block visible.
    pub(crate) fn push(&self, block: Block) {
        self.blocks.push(block);
        self.invalidate_status();
    }

    /// Replaces blocks by others: see [`block_list::BlockList::swap`].
    ///
    /// # Errors
    /// When one of `removed` is no longer in the list; then nothing was replaced.
    pub(crate) fn swap(&self, removed: &[Arc<Block>], added: Vec<Arc<Block>>) -> Result<(), Error> {
        let is_left = !added.is_empty();
        if !self.blocks.swap(removed, added) {
            return Err(Error::Corrupt {
                path: format!("table {}", self.name),
                what: format!(
                    "of {} row blocks that were to be replaced, some are not in its list any \
                     more: queries may not see exactly the stored rows until the next start",
                    removed.len()
                ),
            });
        }
        if !is_left && self.blocks.opened().is_empty() {
            let columns = MergedSchema::of(removed).schemas();
            let last = status::schema(&self.name, removed, columns);
            self.meta.lock().emptied = last.map(TableSchema::emptied);
        }
        self.invalidate_status();
        Ok(())
    }

    /// Notes rows that the store will restore.
    pub(crate) fn note_waiting(&self, block: &WaitingBlock) {
        {
            let mut recovery = self.recovery.lock();
            let rows = u64::from(block.rows);
            recovery.waiting_rows += rows;
            recovery.waiting_disk_rows += disk_rows(rows, block.is_in_memory());
        }
        self.invalidate_status();
    }

    /// Notes that waiting rows have become visible, or were lost or dropped.
    pub(crate) fn note_restored(&self, rows: u32, is_in_memory: bool) {
        {
            let mut recovery = self.recovery.lock();
            let rows = u64::from(rows);
            recovery.waiting_rows = recovery.waiting_rows.saturating_sub(rows);
            let disk_rows = disk_rows(rows, is_in_memory);
            recovery.waiting_disk_rows = recovery.waiting_disk_rows.saturating_sub(disk_rows);
        }
        self.invalidate_status();
    }

    /// The state of the table since the start. Examines no blocks.
    pub(crate) fn state(&self) -> LeafState {
        let recovery = self.recovery.lock();
        match (recovery.waiting_disk_rows > 0, recovery.waiting_rows > 0) {
            (true, _) => LeafState::DiskRecovery,
            (false, true) => LeafState::MemoryRecovery,
            (false, false) => LeafState::Alive,
        }
    }

    /// Notes a block of the store that cannot be read.
    pub(crate) fn note_lost(&self, lost: &LostBlock) {
        let LostBlock { number, rows, reason, .. } = lost;
        tracing::error!(table = %self.name, block = %number, rows, "a row block is lost: {reason}");
        {
            let mut recovery = self.recovery.lock();
            recovery.lost_rows += u64::from(*rows);
            recovery.lost.insert(*number, *rows);
        }
        self.invalidate_status();
    }

    /// Notes that a part of a block cannot be read; logs it the first time.
    pub(crate) fn quarantine(&self, block: &Block, error: &BlockError) {
        if block.note_damaged() {
            let (rows, file, origin) = (block.rows, block.describe_location(), &block.origin);
            let table = self.name.as_str();
            tracing::error!(table, block = %origin, file, rows, "a row block is damaged: {error}");
            self.invalidate_status();
        }
    }

    /// Rows that were lost before they became visible, and rows that are being restored. A caller
    /// that opens the deferred blocks before this, and reads the blocks after it, never counts a
    /// missing row as present.
    pub(crate) fn missing_rows(&self) -> (u64, u64) {
        let recovery = self.recovery.lock();
        (recovery.lost_rows, recovery.waiting_rows)
    }

    /// Notes rows that were dropped because the table was too large.
    pub(crate) fn count_dropped(&self, dropped: DroppedRows) {
        let total = &mut self.meta.lock().dropped_rows;
        *total = Some(total.map_or(dropped, |total| total.and(dropped)));
    }

    /// Rows that were dropped because the table was too large, counted for the life of the table.
    pub(crate) fn dropped_rows(&self) -> Option<DroppedRows> {
        self.meta.lock().dropped_rows
    }

    /// Notes rows that were dropped for their age.
    pub(crate) fn count_expired(&self, expired: DroppedRows) {
        let total = &mut self.meta.lock().expired_rows;
        *total = Some(total.map_or(expired, |total| total.and(expired)));
    }

    /// Rows that were dropped for their age since the process started.
    pub(crate) fn expired_rows(&self) -> Option<DroppedRows> {
        self.meta.lock().expired_rows
    }

    /// A copy of its settings.
    pub(crate) fn settings(&self) -> Option<TableSettings> {
        self.meta.lock().settings.clone()
    }

    /// Calls `read` with the settings. `read` must be quick: it runs under the lock of `meta`.
    pub(crate) fn with_settings<T>(&self, read: impl FnOnce(Option<&TableSettings>) -> T) -> T {
        read(self.meta.lock().settings.as_ref())
    }

    /// Makes these its settings.
    pub(crate) fn set_settings(&self, settings: Option<TableSettings>) {
        self.meta.lock().settings = settings;
    }

    /// Whether the table has these settings. Also false if the lock is not free.
    pub(crate) fn has_settings_now(&self, settings: &TableSettings) -> bool {
        self.meta.try_lock().is_some_and(|meta| meta.settings.as_ref() == Some(settings))
    }

    /// Whether its rows go to the archive before they are dropped.
    pub(crate) fn is_archived(&self) -> bool {
        self.with_settings(|settings| settings.is_some_and(TableSettings::is_archived))
    }

    /// Notes why due rows cannot be archived; `None` means that they can.
    pub(crate) fn note_archive_error(&self, error: Option<String>) {
        {
            let current = &mut self.meta.lock().archive_error;
            if *current == error {
                return;
            }
            *current = error;
        }
        self.invalidate_status();
    }

    /// Whether its settings have its blocks read from disk.
    pub(crate) fn is_on_disk(&self) -> bool {
        self.with_settings(is_on_disk)
    }

    /// Whether the table has rows, or had rows that it still reports. Settings alone make no table.
    pub(crate) fn is_reported(&self) -> bool {
        let had_rows = || {
            let meta = self.meta.lock();
            meta.dropped_rows.is_some() || meta.emptied.is_some()
        };
        self.holdings().0 > 0 || had_rows()
    }

    /// Encoded bytes of its blocks. Opens no blocks and does not wait for blocks that are being
    /// opened.
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks.bytes()
    }

    /// Its blocks that are not in a segment yet. Opens no blocks that an earlier process left: for
    /// 100,000 of them a stop would take a second longer.
    pub(crate) fn fresh_blocks(&self) -> Vec<Arc<Block>> {
        let blocks = self.blocks.opened();
        blocks.iter().filter(|block| block.origin.is_log()).cloned().collect()
    }

    /// Encoded bytes of the fresh blocks.
    pub(crate) fn fresh_bytes(&self) -> u64 {
        bytes_of(&self.fresh_blocks())
    }

    /// Makes the next caller of [`Self::status`] build it again.
    pub(crate) fn invalidate_status(&self) {
        self.version.fetch_add(1, Ordering::Release);
        if let Some(changes) = self.changes.get() {
            changes.note(&self.name);
        }
    }

    /// Rises with every change of the status.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Whether some blocks are still to be opened.
    pub(crate) fn has_deferred(&self) -> bool {
        self.blocks.has_deferred()
    }

    /// Returns the table's status; `None` if it has no blocks and misses none. Cheap unless the
    /// blocks or `next_expiry` have changed, or [`Self::invalidate_status`] was called.
    pub(crate) fn status(&self, next_expiry: Micros) -> Option<Arc<TableStatus>> {
        let mut cached = self.status.lock();
        let version = (self.version.load(Ordering::Acquire), next_expiry);
        if let Some((cached_version, status)) = &*cached
            && *cached_version == version
        {
            return Some(Arc::clone(status));
        }
        self.open_deferred();
        let missing = self.missing_rows();
        let (blocks, columns) = self.blocks.blocks_and_columns();
        let state = self.state();
        let Meta { settings, dropped_rows, expired_rows, emptied, archive_error } =
            self.meta.lock().clone();
        let status =
            status::of_table(&self.name, &blocks, columns, dropped_rows, missing, emptied)?;
        let mut status = TableStatus {
            expired_rows: expired_rows.map_or(0, |expired| expired.rows),
            expired_until: expired_rows.map(|expired| expired.until),
            state,
            settings,
            archive_error,
            ..status
        };
        status.expiry = forecast(&blocks, status.settings.as_ref(), next_expiry);
        let status = Arc::new(status);
        *cached = Some((version, Arc::clone(&status)));
        Some(status)
    }
}

/// Returns the part of waiting rows that is read from disk.
const fn disk_rows(rows: u64, is_in_memory: bool) -> u64 {
    if is_in_memory { 0 } else { rows }
}
