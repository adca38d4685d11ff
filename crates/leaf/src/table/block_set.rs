//! The visible blocks of a table, and the deferred blocks, which the first reader opens.
//!
//! Its locks are taken in the order `deferred`, `columns`, the list. Only `deferred` is held for
//! long: while blocks are opened. Adding a batch does not take that lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hadal_store::{LostBlock, StoredBlock};
use hadal_types::{ColumnSchema, TableName};
use parking_lot::Mutex;

use crate::table::block::Block;
use crate::table::block_list::BlockList;
use crate::table::merged_schema::MergedSchema;
use crate::table::open_blocks::open_blocks;

/// Blocks that are not opened yet, and their totals from the store.
#[derive(Debug, Default)]
pub(crate) struct DeferredBlocks {
    pub(crate) blocks: Vec<StoredBlock>,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

/// The blocks of one table.
#[derive(Debug, Default)]
pub(crate) struct BlockSet {
    /// Blocks that an earlier process left: opening them takes far longer than counting them.
    deferred: Mutex<DeferredBlocks>,
    /// The merged columns of the list's blocks; `None` until requested. Locked while the list
    /// changes.
    columns: Mutex<Option<MergedSchema>>,
    list: BlockList<Block>,
    /// Encoded bytes of all blocks, deferred ones included.
    bytes: AtomicU64,
}

impl BlockSet {
    /// Takes blocks that are opened later.
    pub(crate) fn defer_open(&self, deferred: DeferredBlocks) {
        self.bytes.fetch_add(deferred.bytes, Ordering::SeqCst);
        *self.deferred.lock() = deferred;
    }

    /// Whether there are deferred blocks.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.deferred.lock().blocks.is_empty()
    }

    /// Opens the deferred blocks, if any, and returns whether there were any. Blocks that cannot be
    /// opened go to `note_lost` before the others become visible.
    pub(crate) fn open_deferred(&self, table: &TableName, note_lost: impl Fn(LostBlock)) -> bool {
        let mut deferred = self.deferred.lock();
        if deferred.blocks.is_empty() {
            return false;
        }
        let DeferredBlocks { blocks: stored, bytes, .. } = std::mem::take(&mut *deferred);
        let mut blocks = Vec::with_capacity(stored.len());
        for opened in open_blocks(table, stored) {
            match opened {
                Ok(block) => blocks.push(Arc::new(block)),
                Err(lost) => note_lost(lost),
            }
        }
        self.bytes.fetch_sub(bytes.saturating_sub(bytes_of(&blocks)), Ordering::SeqCst);
        let mut columns = self.columns.lock();
        *columns = None;
        self.list.put_first(blocks);
        true
    }

    /// The blocks that are opened.
    pub(crate) fn opened(&self) -> Arc<Vec<Arc<Block>>> {
        self.list.snapshot()
    }

    /// Returns the rows and bytes of all blocks without opening any. `missing` is called before the
    /// list is read.
    pub(crate) fn holdings(&self, missing: impl FnOnce() -> u64) -> (u64, u64) {
        let deferred = self.deferred.lock();
        let missing = missing();
        let blocks = self.list.snapshot();
        let rows: u64 = blocks.iter().map(|block| block.rows as u64).sum();
        (deferred.rows + rows + missing, deferred.bytes + bytes_of(&blocks))
    }

    /// Encoded bytes of all blocks. Does not wait for blocks that are being opened.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::SeqCst)
    }

    /// Adds a block.
    pub(crate) fn push(&self, block: Block) {
        self.bytes.fetch_add(block.byte_count() as u64, Ordering::SeqCst);
        let mut columns = self.columns.lock();
        columns.iter_mut().for_each(|columns| columns.add(&block.columns));
        self.list.push(Arc::new(block));
    }

    /// Replaces blocks by others: see [`BlockList::swap`]. Returns false, and replaces nothing, if
    /// one of `removed` is no longer in the list.
    #[must_use = "where it returns false, nothing was replaced"]
    pub(crate) fn swap(&self, removed: &[Arc<Block>], added: Vec<Arc<Block>>) -> bool {
        let (more, less) = (bytes_of(&added), bytes_of(removed));
        {
            let mut columns = self.columns.lock();
            if !self.list.swap(removed, added.clone()) {
                return false;
            }
            if let Some(columns) = &mut *columns {
                removed.iter().for_each(|block| columns.remove(&block.columns));
                added.iter().for_each(|block| columns.add(&block.columns));
            }
        }
        self.bytes.fetch_add(more, Ordering::SeqCst);
        self.bytes.fetch_sub(less, Ordering::SeqCst);
        true
    }

    /// Removes all opened blocks, and returns them.
    pub(crate) fn clear(&self) -> Arc<Vec<Arc<Block>>> {
        let gone = {
            let mut columns = self.columns.lock();
            *columns = None;
            self.list.clear()
        };
        self.bytes.fetch_sub(bytes_of(&gone), Ordering::SeqCst);
        gone
    }

    /// Returns the opened blocks and their merged columns.
    pub(crate) fn blocks_and_columns(&self) -> (Arc<Vec<Arc<Block>>>, Vec<ColumnSchema>) {
        let mut columns = self.columns.lock();
        let blocks = self.list.snapshot();
        let columns = columns.get_or_insert_with(|| MergedSchema::of(&blocks));
        (blocks, columns.schemas())
    }
}

/// Encoded bytes of these blocks.
pub(crate) fn bytes_of(blocks: &[Arc<Block>]) -> u64 {
    blocks.iter().map(|block| block.byte_count() as u64).sum()
}
