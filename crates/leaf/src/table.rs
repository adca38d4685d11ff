//! One table's share of a leaf.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use hadal_store::DroppedRows;
use hadal_types::{Micros, TableName, TableSettings};
use hadal_wire::TableStatus;

use crate::batches::Batches;
use crate::block::Block;
use crate::block_list::BlockList;
use crate::expiry::forecast;
use crate::interners::Interners;
use crate::status;
use crate::sync::lock;

/// One table of a leaf.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: TableName,
    pub(crate) blocks: BlockList<Block>,
    pub(crate) batches: Mutex<Batches>,
    pub(crate) interners: Arc<Interners>,
    /// True once the table is dropped. Whoever changes what the store holds of the table reads
    /// it until that change is made.
    pub(crate) dropped: RwLock<bool>,
    /// Rows that the store had and could not bring back when it was opened.
    pub(crate) lost_rows: u64,
    /// Rows that were dropped because it was too large.
    dropped_rows: Mutex<Option<DroppedRows>>,
    /// What a person set for it; `None` until the leaf is told, and it remembers that.
    pub(crate) settings: Mutex<Option<TableSettings>>,
    version: AtomicU64,
    status: Mutex<Option<(u64, Arc<TableStatus>)>>,
}

impl Table {
    pub(crate) fn new(name: TableName) -> Self {
        Self {
            name,
            blocks: BlockList::default(),
            batches: Mutex::default(),
            interners: Arc::default(),
            dropped: RwLock::new(false),
            lost_rows: 0,
            dropped_rows: Mutex::default(),
            settings: Mutex::default(),
            version: AtomicU64::new(0),
            status: Mutex::default(),
        }
    }

    /// Makes a fresh block visible.
    pub(crate) fn push(&self, block: Block) {
        self.blocks.push(Arc::new(block));
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Swaps blocks: see [`BlockList::swap`].
    pub(crate) fn swap(&self, removed: &[Arc<Block>], added: Vec<Arc<Block>>) -> bool {
        let swapped = self.blocks.swap(removed, added);
        self.version.fetch_add(1, Ordering::Release);
        swapped
    }

    /// Notes rows that were dropped because the table was too large.
    pub(crate) fn count_dropped(&self, dropped: DroppedRows) {
        let mut own = lock(&self.dropped_rows);
        *own = Some(own.map_or(dropped, |own| own.and(dropped)));
    }

    /// Rows that were dropped because the table was too large, as long as it is there.
    pub(crate) fn dropped_rows(&self) -> Option<DroppedRows> {
        *lock(&self.dropped_rows)
    }

    /// Whether it has rows, or had some that it tells of; settings alone make no table.
    pub(crate) fn has_rows_to_tell(&self) -> bool {
        self.lost_rows > 0 || self.dropped_rows().is_some() || !self.blocks.snapshot().is_empty()
    }

    /// Encoded bytes of its blocks.
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks.snapshot().iter().map(|block| block.byte_count() as u64).sum()
    }

    /// Encoded bytes of its blocks that have no place in a segment yet.
    pub(crate) fn fresh_bytes(&self) -> u64 {
        let blocks = self.blocks.snapshot();
        let fresh = blocks.iter().filter(|block| block.origin.is_log());
        fresh.map(|block| block.byte_count() as u64).sum()
    }

    /// Says that its status may be another one, though its blocks are the same.
    pub(crate) fn touch(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }

    /// What the table holds; `None` while it has no blocks and has lost and dropped none. Cheap
    /// unless blocks have changed, or [`Self::touch`] said so, which it does when `next_expiry` is
    /// another.
    pub(crate) fn status(&self, next_expiry: Micros) -> Option<Arc<TableStatus>> {
        let mut cached = lock(&self.status);
        let version = self.version.load(Ordering::Acquire);
        if let Some((of, status)) = &*cached
            && *of == version
        {
            return Some(Arc::clone(status));
        }
        let blocks = self.blocks.snapshot();
        let mut status =
            status::of_table(&self.name, &blocks, self.dropped_rows(), self.lost_rows)?;
        status.settings.clone_from(&lock(&self.settings));
        status.expiry = forecast(&blocks, status.settings.as_ref(), next_expiry);
        let status = Arc::new(status);
        *cached = Some((version, Arc::clone(&status)));
        Some(status)
    }
}
