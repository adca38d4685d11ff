//! The doors of a leaf for batches, and for what changes tables.

use std::sync::Arc;

use hadal_peer::{Batch, BoxFuture, Receipt, Sink, SinkError};
use hadal_types::{BatchId, TableName, TableSettings};

use super::Leaf;
use crate::accept::{accept, sink_error};
use crate::losses::forget_losses;
use crate::revoke::{can_revoke, revoke};
use crate::settings::{configure, has};
use crate::sync::{lock, read};

impl Sink for Leaf {
    fn accept(&self, batch: Batch) -> BoxFuture<'_, Result<Receipt, SinkError>> {
        Box::pin(async move {
            if self.inner.is_stopping() {
                return Err(SinkError::Unavailable(self.inner.name.to_string()));
            }
            accept(&self.inner, batch).await
        })
    }

    fn takes(&self) -> bool {
        !self.inner.is_stopping() && !self.inner.store.has_failed()
    }

    fn knows<'a>(&'a self, table: &'a TableName, id: &'a BatchId) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let tables = read(&self.inner.tables);
            tables.get(table).is_some_and(|table| lock(&table.batches).knows(id))
        })
    }

    fn drop_table(&self, table: TableName) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            let inner = Arc::clone(&self.inner);
            // It waits for the disk, which no runtime thread should.
            let dropping = tokio::task::spawn_blocking(move || {
                inner.drop_table(&table).map_err(|error| sink_error(&inner.name, error))
            });
            let gone = || Err(SinkError::Unavailable(self.inner.name.to_string()));
            dropping.await.unwrap_or_else(|_| gone())
        })
    }

    fn can_revoke<'a>(
        &'a self,
        table: &'a TableName,
        id: &'a BatchId,
    ) -> BoxFuture<'a, Result<(), SinkError>> {
        Box::pin(async move { can_revoke(&self.inner, table, id) })
    }

    fn revoke<'a>(
        &'a self,
        table: &'a TableName,
        id: &'a BatchId,
    ) -> BoxFuture<'a, Result<u64, SinkError>> {
        Box::pin(async move {
            let (inner, table, id) = (Arc::clone(&self.inner), table.clone(), id.clone());
            // It waits for merges and the disk, which no runtime thread should.
            let revoking = tokio::task::spawn_blocking(move || revoke(&inner, &table, &id));
            let gone = || Err(SinkError::Unavailable(self.inner.name.to_string()));
            revoking.await.unwrap_or_else(|_| gone())
        })
    }

    fn forget_losses(&self, table: Option<TableName>) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            let inner = Arc::clone(&self.inner);
            // It waits for the disk, which no runtime thread should.
            let forgetting =
                tokio::task::spawn_blocking(move || forget_losses(&inner, table.as_ref()));
            let gone = || Err(SinkError::Unavailable(self.inner.name.to_string()));
            forgetting.await.unwrap_or_else(|_| gone())
        })
    }

    fn configure(
        &self,
        table: TableName,
        settings: TableSettings,
    ) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(async move {
            // So it is at a start, of all tables.
            if has(&self.inner, &table, &settings) {
                return Ok(());
            }
            let inner = Arc::clone(&self.inner);
            // It waits for the disk, which no runtime thread should.
            let configuring =
                tokio::task::spawn_blocking(move || configure(&inner, &table, &settings));
            let gone = || Err(SinkError::Unavailable(self.inner.name.to_string()));
            configuring.await.unwrap_or_else(|_| gone())
        })
    }
}
