//! Where blocks are read from: restored to memory, left on disk, or promoted from disk to memory.

use super::{Durable, Store};
use crate::change::StoredBlock;
use crate::checksum::Checksum;
use crate::ids::BlockNumber;
use crate::recovered_table::WaitingBlock;
use crate::recovery_report::LostBlock;
use crate::segment::BlockBytes;
use crate::segment::promote::Promotion;

impl Store {
    /// Restores a block of an earlier process: from memory if its bytes there are intact, which is
    /// verified, else from disk to memory. `None` if it was removed meanwhile. Takes as long as
    /// reading its bytes. Any thread may restore any block.
    ///
    /// # Errors
    /// The block, with the reason, if it is intact in neither place.
    pub fn restore(&self, block: WaitingBlock) -> Result<Option<StoredBlock>, LostBlock> {
        let WaitingBlock { number, rows, table, bytes, checksum, .. } = block;
        if let Some(Durable { pool, .. }) = &self.durable {
            let brought = pool.restore(&bytes, checksum, self.may_be_in_memory(&table));
            brought.map_err(|reason| {
                pool.doubt();
                LostBlock { number, table: table.clone(), rows, reason }
            })?;
        }
        let mut catalog = self.catalog.lock();
        if !catalog.state.blocks.contains_key(&number) {
            bytes.set_named(false);
            return Ok(None);
        }
        catalog.held.insert(number, bytes.clone());
        Ok(Some(StoredBlock { number, table, rows, bytes, checksum }))
    }

    /// Makes a block of an earlier process, which stopped cleanly, be read from disk from now on,
    /// without verifying it.
    ///
    /// # Errors
    /// The block, if that is impossible: it must be restored.
    pub fn leave_on_disk(&self, block: WaitingBlock) -> Result<StoredBlock, WaitingBlock> {
        let WaitingBlock { number, rows, ref table, ref bytes, checksum, .. } = block;
        if let Some(Durable { pool, .. }) = &self.durable
            && pool.leave_waiting_on_disk(bytes).is_err()
        {
            return Err(block);
        }
        self.catalog.lock().held.insert(number, bytes.clone());
        Ok(StoredBlock { number, table: table.clone(), rows, bytes: bytes.clone(), checksum })
    }

    /// Moves a block that is read from disk to memory, if its bytes are intact. Works while the
    /// block is read, and without a change of the manifest. Takes as long as reading its bytes. Any
    /// thread may promote any block.
    #[must_use]
    pub fn promote(&self, number: BlockNumber) -> Promotion {
        let stays = |reason: &str| Promotion::Refused(format!("block {number} {reason}"));
        let Some(Durable { pool, .. }) = &self.durable else { return stays("has no folder") };
        let block = {
            let catalog = self.catalog.lock();
            catalog.state.blocks.get(&number).cloned().zip(catalog.held.get(&number).cloned())
        };
        match block {
            None => stays("is not there any more"),
            Some((block, _)) if !self.may_be_in_memory(&block.table) => stays("is kept on disk"),
            Some((block, bytes)) => pool.promote(&bytes, block.checksum),
        }
    }

    /// Notes that all restorable blocks are restored: the system need not cache the files on disk
    /// any more.
    pub fn finish_restoring(&self) {
        if let Some(durable) = &self.durable {
            durable.pool.forget_disk();
        }
    }

    /// The intact bytes of a block in its file on disk, for when those that are read are damaged.
    /// `None` if they are not intact, or the block was removed. Takes as long as reading them.
    #[must_use]
    pub fn copy_on_disk(&self, number: BlockNumber) -> Option<Vec<u8>> {
        let pool = &self.durable.as_ref()?.pool;
        let (bytes, checksum) = self.held(number)?;
        pool.copy_on_disk(&bytes, checksum)
    }

    /// Whether the bytes that are read of a block match its checksum. `None` if that is unknown:
    /// the block does not count, or was added before checksums were kept. Takes as long as reading
    /// its bytes.
    #[must_use]
    pub fn is_as_written(&self, number: BlockNumber) -> Option<bool> {
        let pool = &self.durable.as_ref()?.pool;
        let (bytes, checksum) = self.held(number)?;
        checksum.is_known().then(|| Checksum::of(pool.salt(), &bytes) == checksum)
    }

    /// The bytes and the checksum of a block that counts and does not wait to be restored.
    pub(super) fn held(&self, number: BlockNumber) -> Option<(BlockBytes, Checksum)> {
        let catalog = self.catalog.lock();
        let checksum = catalog.state.blocks.get(&number)?.checksum;
        Some((catalog.held.get(&number)?.clone(), checksum))
    }
}
