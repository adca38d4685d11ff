//! Where blocks are read from: brought back to memory, left on disk, or moved from there to memory.

use super::{Durable, Store};
use crate::change::{BlockNumber, StoredBlock};
use crate::lock::lock;
use crate::manifest::Checksum;
use crate::recovery::{LostBlock, WaitingBlock};
use crate::segment::BlockBytes;
use crate::segment::promote::Promotion;

impl Store {
    /// Brings back a block of an earlier process: from memory if it is there as it was written,
    /// which is verified, else from disk to memory. `None` when it was removed meanwhile. Takes as
    /// long as reading its bytes does; any thread may bring any block back.
    ///
    /// # Errors
    /// The block, with the reason, when it is in neither place as it was written.
    pub fn restore(&self, block: WaitingBlock) -> Result<Option<StoredBlock>, LostBlock> {
        let WaitingBlock { number, rows, table, bytes, checksum, .. } = block;
        if let Some(Durable { pool, .. }) = &self.durable {
            let brought = pool.restore(&bytes, checksum, self.may_be_in_memory(&table));
            brought.map_err(|reason| {
                pool.doubt();
                LostBlock { number, table: table.clone(), rows, reason }
            })?;
        }
        let mut catalog = lock(&self.catalog);
        if !catalog.state.blocks.contains_key(&number) {
            bytes.set_named(false);
            return Ok(None);
        }
        catalog.held.insert(number, bytes.clone());
        Ok(Some(StoredBlock { number, table, rows, bytes, checksum }))
    }

    /// Has a block of an earlier process, which stopped in order, read from disk from now on, without a
    /// look at it.
    ///
    /// # Errors
    /// The block, when it cannot be: it must be brought back.
    pub fn leave_on_disk(&self, block: WaitingBlock) -> Result<StoredBlock, WaitingBlock> {
        let WaitingBlock { number, rows, ref table, ref bytes, checksum, .. } = block;
        if let Some(Durable { pool, .. }) = &self.durable
            && pool.leave_waiting_on_disk(bytes).is_err()
        {
            return Err(block);
        }
        lock(&self.catalog).held.insert(number, bytes.clone());
        Ok(StoredBlock { number, table: table.clone(), rows, bytes: bytes.clone(), checksum })
    }

    /// Has a block read from memory that is read from disk, if it is there as it was written: while it
    /// is read, and without a change. Takes as long as reading its bytes does; any thread may move any
    /// block.
    #[must_use]
    pub fn promote(&self, number: BlockNumber) -> Promotion {
        let stays = |reason: &str| Promotion::Refused(format!("block {number} {reason}"));
        let Some(Durable { pool, .. }) = &self.durable else { return stays("has no folder") };
        let found = {
            let catalog = lock(&self.catalog);
            catalog.state.blocks.get(&number).cloned().zip(catalog.held.get(&number).cloned())
        };
        match found {
            None => stays("is not there any more"),
            Some((block, _)) if !self.may_be_in_memory(&block.table) => stays("is kept on disk"),
            Some((block, bytes)) => pool.promote(&bytes, block.checksum),
        }
    }

    /// Says that all blocks which could be brought back are there: the system need not keep what was
    /// read of the disk for that.
    pub fn finish_restoring(&self) {
        if let Some(durable) = &self.durable {
            durable.pool.forget_disk();
        }
    }

    /// The bytes of a block as its file on disk has them, if they are what was written there: for
    /// when those that are read are not. `None` also when the block was removed. Takes as long as
    /// reading them does.
    #[must_use]
    pub fn copy_on_disk(&self, number: BlockNumber) -> Option<Vec<u8>> {
        let pool = &self.durable.as_ref()?.pool;
        let (bytes, checksum) = self.held(number)?;
        pool.copy_on_disk(&bytes, checksum)
    }

    /// Whether what is read of a block is what was written; `None` where nobody knows: it is no block that
    /// counts, or one that was added before checksums were kept. Takes as long as reading its bytes does.
    #[must_use]
    pub fn is_as_written(&self, number: BlockNumber) -> Option<bool> {
        let pool = &self.durable.as_ref()?.pool;
        let (bytes, checksum) = self.held(number)?;
        checksum.is_known().then(|| Checksum::of(pool.salt(), &bytes) == checksum)
    }

    /// The bytes of a block that counts and is not waited for, and their checksum.
    pub(super) fn held(&self, number: BlockNumber) -> Option<(BlockBytes, Checksum)> {
        let catalog = lock(&self.catalog);
        let checksum = catalog.state.blocks.get(&number)?.checksum;
        Some((catalog.held.get(&number)?.clone(), checksum))
    }
}
