//! The entry points of a leaf for batches and for changes of tables.

use std::sync::Arc;

use hadal_peer::{
    Admin, Batch, BatchLookup, BoxFuture, Receipt, Sink, SinkError, TableChange, TableReport,
};
use hadal_types::{BatchId, TableName};

use crate::context::LeafContext;
use crate::leaf::Leaf;
use crate::maintenance::data_loss::forget_losses;
use crate::maintenance::expiry_schedule::ExpirySchedule;
use crate::refused_batches::RefusedBatches;
use crate::table::{Table, version_without_table};
use crate::write::accept::accept;
use crate::write::configure::{configure, has_settings};
use crate::write::drop_table::drop_table;
use crate::write::revoke::{can_revoke, revoke};

impl Sink for Leaf {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(self.take(batch, false))
    }

    fn accept_moved(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(self.take(batch, true))
    }

    fn look_up<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async move { self.look_up_in(&self.context.refused.lock(), table, id) })
    }

    fn refuse<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, BatchLookup> {
        Box::pin(async move {
            let mut refused = self.context.refused.lock();
            let lookup = self.look_up_in(&refused, table, id);
            if lookup.is_known {
                return lookup;
            }
            refused.add(table, id);
            BatchLookup { is_refused: true, ..lookup }
        })
    }
}

impl Leaf {
    /// Accepts a batch; `moves` says that a promise to refuse it does not count.
    async fn take(&self, batch: Batch, moves: bool) -> Result<Receipt, SinkError> {
        if self.context.is_stopping() {
            return Err(self.context.unavailable());
        }
        let table = batch.table.clone();
        let mut receipt = accept(&self.context, &self.disk_full_log, (batch, moves)).await?;
        // Opening the blocks of an earlier process would take too long at this point.
        let table = self.context.table(&table).filter(|table| !table.has_deferred());
        receipt.report = table.map(|table| self.report_of(&table));
        Ok(receipt)
    }

    fn look_up_in(&self, refused: &RefusedBatches, name: &TableName, id: &BatchId) -> BatchLookup {
        let table = self.context.table(name);
        let known = table.map(|table| {
            let batch_ids = table.batch_ids.lock();
            (batch_ids.knows(id), batch_ids.get(id).is_some())
        });
        let (is_known, is_accepted) = known.unwrap_or_default();
        BatchLookup {
            is_answered: true,
            is_known,
            is_accepted,
            is_revoked: !is_known && refused.is_revoked(name, id),
            is_refused: !is_known && refused.has(name, id),
            takes_batches: self.takes_batches(),
            free_bytes: self.context.limits.fresh.free(),
        }
    }

    /// The newest report of a table.
    pub(crate) fn report(&self, name: &TableName) -> TableReport {
        // Read first: a table created after the lookup below has a higher version.
        let version = version_without_table();
        match self.context.table(name) {
            Some(table) => self.report_of(&table),
            None => {
                let (leaf, table) = (self.context.name.clone(), name.clone());
                let started = self.context.started;
                let (recovered_rows, accepted_rows, status) = (0, 0, None);
                TableReport { leaf, table, started, version, recovered_rows, accepted_rows, status }
            }
        }
    }

    fn report_of(&self, table: &Table) -> TableReport {
        // The status may be newer than this version, but not older.
        let version = table.version();
        let next_expiry = self.schedule.next_due(&*self.context.clock);
        let (leaf, status) = (self.context.name.clone(), table.status(next_expiry));
        // Read after the status, so no accepted rows of the status are missing.
        let (recovered_rows, accepted_rows) = table.arrived_rows();
        let (table, started) = (table.name.clone(), self.context.started);
        TableReport { leaf, table, started, version, recovered_rows, accepted_rows, status }
    }

    /// Whether the leaf accepts batches: not after a failed write, nor while it stops.
    #[must_use]
    pub(crate) fn takes_batches(&self) -> bool {
        !self.context.is_stopping() && !self.context.store.has_failed()
    }
}

impl Admin for Leaf {
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            match &change {
                TableChange::CheckRevoke { table, batch } => {
                    return can_revoke(&self.context, table, batch).map(|()| 0);
                }
                // The common case at a start, for all tables.
                TableChange::Configure { table, settings }
                    if has_settings(&self.context, table, settings) =>
                {
                    return Ok(0);
                }
                _ => {}
            }
            let (context, schedule) = (Arc::clone(&self.context), Arc::clone(&self.schedule));
            // The change waits for merges and the disk, so it must not run on a runtime thread.
            let applying = tokio::task::spawn_blocking(move || apply(&context, &schedule, &change));
            applying.await.unwrap_or_else(|_| Err(self.context.unavailable()))
        })
    }
}

fn apply(
    context: &LeafContext,
    schedule: &ExpirySchedule,
    change: &TableChange,
) -> Result<u64, SinkError> {
    match change {
        TableChange::Drop { table } => {
            drop_table(context, table).map_err(|error| context.sink_error(error))
        }
        TableChange::Configure { table, settings } => {
            configure(context, schedule, table, settings).map(|()| 0)
        }
        TableChange::CheckRevoke { table, batch } => can_revoke(context, table, batch).map(|()| 0),
        TableChange::Revoke { table, batch } => revoke(context, table, batch),
        TableChange::AcknowledgeLosses { table } => forget_losses(context, table.as_ref()),
    }
}
