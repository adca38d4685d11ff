//! The doors of a leaf for batches, and for what changes tables.

use std::sync::Arc;

use hadal_peer::{Admin, Batch, BatchLookup, BoxFuture, Receipt, Sink, SinkError, TableChange};
use hadal_types::{BatchId, TableName};

use crate::leaf::{Inner, Leaf};
use crate::maintenance::data_loss::forget_losses;
use crate::sync::{lock, read};
use crate::table::settings::{configure, has};
use crate::write::accept::{accept, sink_error};
use crate::write::revoke::{can_revoke, revoke};

impl Sink for Leaf {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move {
            if self.inner.is_stopping() {
                return Err(SinkError::Unavailable(self.inner.name.to_string()));
            }
            accept(&self.inner, batch).await
        })
    }

    fn look_up<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async move {
            let table = read(&self.inner.tables).get(table).cloned();
            BatchLookup {
                is_known: table.is_some_and(|table| lock(&table.batch_ids).knows(id)),
                takes_batches: self.takes_batches(),
                free_bytes: self.inner.limits.fresh.free(),
            }
        })
    }
}

impl Leaf {
    /// Whether it takes batches: not after a failed write, nor while it stops.
    #[must_use]
    pub(crate) fn takes_batches(&self) -> bool {
        !self.inner.is_stopping() && !self.inner.store.has_failed()
    }
}

impl Admin for Leaf {
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            match &change {
                TableChange::CheckRevoke { table, batch } => {
                    return can_revoke(&self.inner, table, batch).map(|()| 0);
                }
                // So it is at a start, of all tables.
                TableChange::Configure { table, settings } if has(&self.inner, table, settings) => {
                    return Ok(0);
                }
                _ => {}
            }
            let inner = Arc::clone(&self.inner);
            // It waits for merges and the disk, which no runtime thread should.
            let applying = tokio::task::spawn_blocking(move || apply(&inner, &change));
            let gone = || Err(SinkError::Unavailable(self.inner.name.to_string()));
            applying.await.unwrap_or_else(|_| gone())
        })
    }
}

fn apply(inner: &Arc<Inner>, change: &TableChange) -> Result<u64, SinkError> {
    match change {
        TableChange::Drop { table } => {
            inner.drop_table(table).map_err(|error| sink_error(&inner.name, error))
        }
        TableChange::Configure { table, settings } => configure(inner, table, settings).map(|()| 0),
        TableChange::CheckRevoke { table, batch } => can_revoke(inner, table, batch).map(|()| 0),
        TableChange::Revoke { table, batch } => revoke(inner, table, batch),
        TableChange::AcknowledgeLosses { table } => forget_losses(inner, table.as_ref()),
    }
}
