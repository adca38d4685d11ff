//! What a leaf of a cluster does about batches that were revoked there while it was away. Which
//! ones, and when, is decided by `hadal_tree::revocation_review`.

use std::collections::HashSet;
use std::sync::Arc;

use hadal_peer::SinkError;
use hadal_types::{BatchId, Micros, TableName};

use crate::leaf::Leaf;
use crate::write::revoke::drop_batch;

/// Whether a leaf holds a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBatch {
    /// It does not, or has dropped it.
    No,
    /// The batch is being written.
    Writing,
    /// It does, or it may: a write failed.
    Yes,
}

impl Leaf {
    /// Refuses these batches from now on, even if they move here, and no other revoked ones.
    pub fn set_revoked(&self, batches: HashSet<(TableName, BatchId)>) {
        self.context.refused.lock().set_revoked(batches);
    }

    /// Whether the leaf holds rows of a batch.
    #[must_use]
    pub fn held_batch(&self, table: &TableName, id: &BatchId) -> HeldBatch {
        let Some(table) = self.context.table(table) else { return HeldBatch::No };
        let batch_ids = table.batch_ids.lock();
        match (batch_ids.get(id), batch_ids.is_in_flight(id)) {
            (Some(accepted), _) if accepted.rows == 0 => HeldBatch::No,
            (_, true) => HeldBatch::Writing,
            (None, false) if !batch_ids.knows(id) => HeldBatch::No,
            _ => HeldBatch::Yes,
        }
    }

    /// Drops the rows of one batch, because another leaf holds it; returns how many. The id stays
    /// known: a retry adds nothing.
    ///
    /// # Errors
    /// [`SinkError`] if the rows cannot be told from others any more, or cannot be dropped now.
    pub async fn drop_revoked(&self, table: &TableName, id: &BatchId) -> Result<u64, SinkError> {
        let (context, table, id) = (Arc::clone(&self.context), table.clone(), id.clone());
        // It waits for merges and the disk, so it must not run on a runtime thread.
        let dropping = tokio::task::spawn_blocking(move || drop_batch(&context, &table, &id));
        dropping.await.unwrap_or_else(|_| Err(self.context.unavailable()))
    }

    /// Lets merges settle only batches that came long enough before `time`, when the leaf last read
    /// which of its batches are revoked.
    pub fn note_revocations_read(&self, time: Micros) {
        self.context.note_revocations_read(time);
    }

    /// Whether the leaf remembers batches, so that some of them may have been revoked.
    #[must_use]
    pub fn remembers_batches(&self) -> bool {
        self.context.forget_before().is_some()
    }
}
