//! One table's share of a leaf.

pub(crate) mod batch_ids;
pub(crate) mod block;
pub(crate) mod block_list;
#[cfg(test)]
mod block_list_tests;
pub(crate) mod inspect;
pub(crate) mod merged_schema;
pub(crate) mod settings;
pub(crate) mod status;
pub(crate) mod string_ids;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use hadal_block::BlockError;
use hadal_peer::TableStatus;
use hadal_store::{BlockNumber, DroppedRows, Error, LostBlock, StoredBlock, WaitingBlock};
use hadal_types::{ColumnSchema, LeafState, Micros, TableName, TableSchema, TableSettings};

use crate::maintenance::expiry::forecast;
use crate::maintenance::storage_tier::is_on_disk;
use crate::recovery::open_blocks;
use crate::sync::lock;
use crate::table::batch_ids::BatchIds;
use crate::table::block::Block;
use crate::table::block_list::BlockList;
use crate::table::merged_schema::MergedSchema;
use crate::table::string_ids::StringIds;

/// Locks of the list of blocks; its tests under random schedules have others.
mod locks {
    pub(crate) use std::sync::{Arc, RwLock};
}

/// What a status is of: the table's version, and when the next pass of expiry is.
type StatusOf = (u64, Micros);

/// Blocks at which nobody has looked, and what is known of them all the same.
#[derive(Debug, Default)]
pub(crate) struct DeferredBlocks {
    pub(crate) blocks: Vec<StoredBlock>,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

/// One table of a leaf.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: TableName,
    /// The columns of its blocks; `None` until they are asked for. Locked while these change.
    columns: Mutex<Option<MergedSchema>>,
    blocks: BlockList<Block>,
    /// Encoded bytes of its blocks, those included at which nobody has looked yet.
    bytes: AtomicU64,
    /// Blocks that an earlier process left, and at which nobody has looked yet: to read their fronts
    /// takes far longer than to know that they are there.
    deferred: Mutex<DeferredBlocks>,
    /// Those of them whose fronts cannot be read in memory, and count as lost: the disk may have them.
    unreadable: Mutex<Vec<LostBlock>>,
    pub(crate) batch_ids: Mutex<BatchIds>,
    pub(crate) string_ids: Arc<StringIds>,
    /// True once the table is dropped. Whoever changes what the store holds of the table reads
    /// it until that change is made; and has its turn to change before it reads it.
    pub(crate) dropped: RwLock<bool>,
    /// Rows that the store had and could not bring back. Those of damaged blocks are lost as well,
    /// but counted where they are told, since these blocks may still go.
    lost_rows: AtomicU64,
    /// The blocks that these were in, with their rows.
    lost: Mutex<BTreeMap<BlockNumber, u32>>,
    /// Rows that the store is bringing back.
    waiting_rows: AtomicU64,
    /// Those of them that it has to read from disk.
    waiting_disk_rows: AtomicU64,
    /// Rows that were dropped because it was too large.
    dropped_rows: Mutex<Option<DroppedRows>>,
    /// Rows that went for their age since the process started.
    expired_rows: Mutex<Option<DroppedRows>>,
    /// What a person set for it; `None` until the leaf is told, and it remembers that.
    pub(crate) settings: Mutex<Option<TableSettings>>,
    /// What its last blocks said of it, once all of them have gone: until the process ends, it is there
    /// without rows, since who asks about it would else be told that there is no such table.
    emptied: Mutex<Option<TableSchema>>,
    /// Why rows that are to go cannot be archived.
    archive_error: Mutex<Option<String>>,
    version: AtomicU64,
    status: Mutex<Option<(StatusOf, Arc<TableStatus>)>>,
}

impl Table {
    pub(crate) fn new(name: TableName) -> Self {
        Self {
            name,
            columns: Mutex::default(),
            blocks: BlockList::default(),
            bytes: AtomicU64::new(0),
            deferred: Mutex::default(),
            unreadable: Mutex::default(),
            batch_ids: Mutex::default(),
            string_ids: Arc::default(),
            dropped: RwLock::new(false),
            lost_rows: AtomicU64::new(0),
            lost: Mutex::default(),
            waiting_rows: AtomicU64::new(0),
            waiting_disk_rows: AtomicU64::new(0),
            dropped_rows: Mutex::default(),
            expired_rows: Mutex::default(),
            settings: Mutex::default(),
            emptied: Mutex::default(),
            archive_error: Mutex::default(),
            version: AtomicU64::new(0),
            status: Mutex::default(),
        }
    }

    /// Takes blocks that are there, to be looked at when the table is first asked for.
    pub(crate) fn defer_open(&self, deferred: DeferredBlocks) {
        self.bytes.fetch_add(deferred.bytes, Ordering::SeqCst);
        *lock(&self.deferred) = deferred;
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Looks at the blocks that an earlier process left, if nobody has; those that cannot be read
    /// are lost.
    pub(crate) fn open_deferred(&self) {
        let mut deferred = lock(&self.deferred);
        if deferred.blocks.is_empty() {
            return;
        }
        let DeferredBlocks { blocks: stored, bytes, .. } = std::mem::take(&mut *deferred);
        let mut blocks = Vec::with_capacity(stored.len());
        for looked in open_blocks(&self.name, stored) {
            match looked {
                Ok(block) => blocks.push(Arc::new(block)),
                Err(lost) => {
                    self.note_lost(&lost);
                    self.put_unreadable(lost);
                }
            }
        }
        // Those that are lost are not there.
        self.bytes.fetch_sub(bytes.saturating_sub(bytes_of(&blocks)), Ordering::SeqCst);
        {
            let mut columns = lock(&self.columns);
            *columns = None;
            self.blocks.put_first(blocks);
        }
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Takes the blocks that were lost when they were first looked at in memory.
    pub(crate) fn take_unreadable(&self) -> Vec<LostBlock> {
        self.open_deferred();
        std::mem::take(&mut lock(&self.unreadable))
    }

    /// Keeps such a block for another try.
    pub(crate) fn put_unreadable(&self, lost: LostBlock) {
        lock(&self.unreadable).push(lost);
    }

    /// Makes a block visible that had been lost, under this number.
    pub(crate) fn push_restored(&self, block: Block, lost: BlockNumber) {
        let rows = block.rows as u64;
        lock(&self.lost).remove(&lost);
        self.push(block);
        self.lost_rows.fetch_sub(rows, Ordering::SeqCst);
        self.invalidate_status();
    }

    /// The blocks that are lost.
    pub(crate) fn lost(&self) -> Vec<BlockNumber> {
        self.open_deferred();
        lock(&self.lost).keys().copied().collect()
    }

    /// Counts blocks as lost no more, since the store has them no more; returns how many rows they had.
    pub(crate) fn forget_lost(&self, gone: &[BlockNumber]) -> u64 {
        lock(&self.unreadable).retain(|lost| !gone.contains(&lost.number));
        let mut lost = lock(&self.lost);
        let rows = gone.iter().filter_map(|number| lost.remove(number)).map(u64::from).sum();
        self.lost_rows.fetch_sub(rows, Ordering::SeqCst);
        drop(lost);
        self.invalidate_status();
        rows
    }

    /// Its blocks, as they are now.
    pub(crate) fn snapshot(&self) -> Arc<Vec<Arc<Block>>> {
        self.open_deferred();
        self.blocks.snapshot()
    }

    /// Takes all blocks out, and returns them.
    pub(crate) fn clear(&self) -> Arc<Vec<Arc<Block>>> {
        self.snapshot();
        let gone = {
            let mut columns = lock(&self.columns);
            *columns = None;
            self.blocks.clear()
        };
        self.bytes.fetch_sub(bytes_of(&gone), Ordering::SeqCst);
        gone
    }

    /// Rows that it should have, those that are missing included, and bytes that it has: without a
    /// look at them.
    pub(crate) fn holdings(&self) -> (u64, u64) {
        let deferred = lock(&self.deferred);
        let (lost, waiting) = self.missing_rows();
        let blocks = self.blocks.snapshot();
        let rows: u64 = blocks.iter().map(|block| block.rows as u64).sum();
        (deferred.rows + rows + lost + waiting, deferred.bytes + bytes_of(&blocks))
    }

    /// Makes a fresh block visible.
    pub(crate) fn push(&self, block: Block) {
        self.bytes.fetch_add(block.byte_count() as u64, Ordering::SeqCst);
        {
            let mut columns = lock(&self.columns);
            columns.iter_mut().for_each(|columns| columns.add(&block.columns));
            self.blocks.push(Arc::new(block));
        }
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Puts blocks in the place of others: see [`BlockList::swap`].
    ///
    /// # Errors
    /// When one of `removed` is not there any more; then nothing was replaced.
    pub(crate) fn swap(&self, removed: &[Arc<Block>], added: Vec<Arc<Block>>) -> Result<(), Error> {
        let is_left = !added.is_empty();
        let (more, less) = (bytes_of(&added), bytes_of(removed));
        if !self.swap_blocks(removed, added) {
            return Err(Error::Corrupt {
                path: format!("table {}", self.name),
                what: format!(
                    "of {} row blocks that were to be replaced, some are not in its list any \
                     more: what questions see may differ from what is stored until the next start",
                    removed.len()
                ),
            });
        }
        self.bytes.fetch_add(more, Ordering::SeqCst);
        self.bytes.fetch_sub(less, Ordering::SeqCst);
        if !is_left && self.blocks.snapshot().is_empty() {
            let columns = MergedSchema::of(removed).schemas();
            let last = status::schema(&self.name, removed, columns);
            *lock(&self.emptied) = last.map(TableSchema::emptied);
        }
        self.version.fetch_add(1, Ordering::Release);
        Ok(())
    }

    fn swap_blocks(&self, removed: &[Arc<Block>], added: Vec<Arc<Block>>) -> bool {
        let mut columns = lock(&self.columns);
        let swapped = self.blocks.swap(removed, added.clone());
        if let Some(columns) = columns.as_mut().filter(|_| swapped) {
            removed.iter().for_each(|block| columns.remove(&block.columns));
            added.iter().for_each(|block| columns.add(&block.columns));
        }
        swapped
    }

    /// The blocks, and the columns that they have together.
    fn blocks_and_columns(&self) -> (Arc<Vec<Arc<Block>>>, Vec<ColumnSchema>) {
        let mut columns = lock(&self.columns);
        let blocks = self.blocks.snapshot();
        let columns = columns.get_or_insert_with(|| MergedSchema::of(&blocks));
        (blocks, columns.schemas())
    }

    /// Notes rows that are to be brought back.
    pub(crate) fn note_waiting(&self, block: &WaitingBlock) {
        let rows = u64::from(block.rows);
        self.waiting_rows.fetch_add(rows, Ordering::SeqCst);
        self.waiting_disk_rows.fetch_add(disk_rows(rows, block.is_in_memory()), Ordering::SeqCst);
        self.invalidate_status();
    }

    /// Notes that rows were brought back, after they became visible, or were lost or dropped.
    pub(crate) fn note_restored(&self, rows: u32, is_in_memory: bool) {
        let rows = u64::from(rows);
        self.waiting_rows.fetch_sub(rows, Ordering::SeqCst);
        self.waiting_disk_rows.fetch_sub(disk_rows(rows, is_in_memory), Ordering::SeqCst);
        self.invalidate_status();
    }

    /// How far it is since the start, without a look at its blocks.
    pub(crate) fn state(&self) -> LeafState {
        let waiting = |rows: &AtomicU64| rows.load(Ordering::SeqCst) > 0;
        match (waiting(&self.waiting_disk_rows), waiting(&self.waiting_rows)) {
            (true, _) => LeafState::DiskRecovery,
            (false, true) => LeafState::MemoryRecovery,
            (false, false) => LeafState::Alive,
        }
    }

    /// Notes rows that the store had and that cannot be read.
    pub(crate) fn note_lost(&self, lost: &LostBlock) {
        let LostBlock { number, rows, reason, .. } = lost;
        tracing::error!(table = %self.name, block = %number, rows, "a row block is lost: {reason}");
        self.lost_rows.fetch_add(u64::from(*rows), Ordering::SeqCst);
        lock(&self.lost).insert(*number, *rows);
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Notes that some of a block of it cannot be read, and says so the first time.
    pub(crate) fn quarantine(&self, block: &Block, error: &BlockError) {
        if block.note_damaged() {
            let (rows, file, origin) = (block.rows, block.describe_location(), &block.origin);
            let table = self.name.as_str();
            tracing::error!(table, block = %origin, file, rows, "a row block is damaged: {error}");
            self.invalidate_status();
        }
    }

    /// Rows that were lost before they became visible, and rows that are being brought back.
    /// Whoever unfolds before this, and looks at the blocks after it, takes none for there that is
    /// missing.
    pub(crate) fn missing_rows(&self) -> (u64, u64) {
        (self.lost_rows.load(Ordering::SeqCst), self.waiting_rows.load(Ordering::SeqCst))
    }

    /// Notes rows that were dropped because the table was too large.
    pub(crate) fn count_dropped(&self, dropped: DroppedRows) {
        let mut total = lock(&self.dropped_rows);
        *total = Some(total.map_or(dropped, |total| total.and(dropped)));
    }

    /// Rows that were dropped because the table was too large, as long as it is there.
    pub(crate) fn dropped_rows(&self) -> Option<DroppedRows> {
        *lock(&self.dropped_rows)
    }

    /// Notes rows that were dropped for their age.
    pub(crate) fn count_expired(&self, expired: DroppedRows) {
        let mut total = lock(&self.expired_rows);
        *total = Some(total.map_or(expired, |total| total.and(expired)));
    }

    /// Rows that were dropped for their age since the process started.
    pub(crate) fn expired_rows(&self) -> Option<DroppedRows> {
        *lock(&self.expired_rows)
    }

    /// Whether its rows go to the archive before they are dropped.
    pub(crate) fn is_archived(&self) -> bool {
        lock(&self.settings).as_ref().is_some_and(TableSettings::is_archived)
    }

    /// Notes why rows that are to go cannot be archived, or that nothing is in their way any more.
    pub(crate) fn note_archive_error(&self, error: Option<String>) {
        let mut current = lock(&self.archive_error);
        if *current != error {
            *current = error;
            self.invalidate_status();
        }
    }

    /// Whether its blocks are read from disk though others are in memory.
    pub(crate) fn is_on_disk(&self) -> bool {
        is_on_disk(lock(&self.settings).as_ref())
    }

    /// Whether it has rows, or had some that it tells of; settings alone make no table.
    pub(crate) fn is_reported(&self) -> bool {
        let is_emptied = || lock(&self.emptied).is_some();
        self.holdings().0 > 0 || self.dropped_rows().is_some() || is_emptied()
    }

    /// Encoded bytes of its blocks, without a look at them or a wait for whoever looks.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::SeqCst)
    }

    /// Its blocks that have no place in a segment yet, without a look at those that an earlier process
    /// left: a stop that looked at all of these would take a second for a hundred thousand.
    pub(crate) fn fresh_blocks(&self) -> Vec<Arc<Block>> {
        let blocks = self.blocks.snapshot();
        blocks.iter().filter(|block| block.origin.is_log()).cloned().collect()
    }

    /// Encoded bytes of these.
    pub(crate) fn fresh_bytes(&self) -> u64 {
        bytes_of(&self.fresh_blocks())
    }

    /// Says that its status may be another one, though its blocks are the same.
    pub(crate) fn invalidate_status(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }

    /// What the table holds; `None` while it has no blocks and misses none. Cheap
    /// unless blocks have changed, or `next_expiry`, or [`Self::invalidate_status`] said so.
    pub(crate) fn status(&self, next_expiry: Micros) -> Option<Arc<TableStatus>> {
        let mut cached = lock(&self.status);
        let version = (self.version.load(Ordering::Acquire), next_expiry);
        if let Some((of, status)) = &*cached
            && *of == version
        {
            return Some(Arc::clone(status));
        }
        self.open_deferred();
        let missing = self.missing_rows();
        let (blocks, columns) = self.blocks_and_columns();
        let emptied = lock(&self.emptied).clone();
        let dropped = self.dropped_rows();
        let mut status = status::of_table(&self.name, &blocks, columns, dropped, missing, emptied)?;
        let expired = self.expired_rows();
        status.expired_rows = expired.map_or(0, |expired| expired.rows);
        status.expired_until = expired.map(|expired| expired.until);
        status.state = self.state();
        status.settings.clone_from(&lock(&self.settings));
        status.archive_error.clone_from(&lock(&self.archive_error));
        status.expiry = forecast(&blocks, status.settings.as_ref(), next_expiry);
        let status = Arc::new(status);
        *cached = Some((version, Arc::clone(&status)));
        Some(status)
    }
}

fn bytes_of(blocks: &[Arc<Block>]) -> u64 {
    blocks.iter().map(|block| block.byte_count() as u64).sum()
}

/// Of rows that wait, those that are read from disk.
const fn disk_rows(rows: u64, is_in_memory: bool) -> u64 {
    if is_in_memory { 0 } else { rows }
}
