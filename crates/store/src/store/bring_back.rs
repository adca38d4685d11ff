//! Blocks of an earlier process: brought back to memory, or left on disk.

use super::{Durable, Store};
use crate::change::{BlockNumber, StoredBlock};
use crate::lock::lock;
use crate::recovery::{LostBlock, WaitingBlock};

impl Store {
    /// Brings back a block of an earlier process: from memory if it is there as it was written,
    /// which is verified, else from disk to memory. `None` when it was removed meanwhile. Takes as
    /// long as reading its bytes does; any thread may bring any block back.
    ///
    /// # Errors
    /// The block, with the reason, when it is in neither place as it was written.
    pub fn bring_back(&self, block: WaitingBlock) -> Result<Option<StoredBlock>, LostBlock> {
        let WaitingBlock { number, rows, table, bytes, checksum, .. } = block;
        if let Some(Durable { pool, .. }) = &self.durable {
            let brought = pool.bring_back(&bytes, checksum, self.may_be_in_memory(&table));
            brought.map_err(|reason| LostBlock { number, table: table.clone(), rows, reason })?;
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

    /// Says that all blocks which could be brought back are there: the system need not keep what was
    /// read of the disk for that.
    pub fn has_brought_back(&self) {
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
        let (bytes, checksum) = {
            let catalog = lock(&self.catalog);
            let checksum = catalog.state.blocks.get(&number)?.checksum;
            (catalog.held.get(&number)?.clone(), checksum)
        };
        pool.copy_on_disk(&bytes, checksum)
    }
}
