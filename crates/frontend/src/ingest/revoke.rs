//! Revocation of batches.

use hadal_peer::TableChange;
use hadal_types::{BatchId, TableName};

use crate::error::{ErrorKind, FrontendError};
use crate::frontend::Frontend;
use crate::principal::{Permission, Principal};

impl Frontend {
    /// Removes exactly the rows of a batch, and returns their number: 0 if the batch was revoked
    /// before.
    ///
    /// # Errors
    /// [`FrontendError`] when the batch is unknown or still arriving, or a leaf cannot revoke it.
    pub async fn revoke(
        &self,
        principal: &Principal,
        table: &TableName,
        batch: &BatchId,
    ) -> Result<u64, FrontendError> {
        principal.require(Permission::Define)?;
        if self.in_flight.has(table, batch) {
            let detail = format!("batch {batch} is still coming in; take it back once it is there");
            return Err(FrontendError::new(ErrorKind::Busy, detail));
        }
        let change = TableChange::Revoke { table: table.clone(), batch: batch.clone() };
        let revoked = self.backend.admin.apply(change).await;
        let rows = revoked.map_err(|error| FrontendError::from(&error))?;
        if rows == 0 && !self.backend.sink.look_up(table, batch).await.is_known {
            let detail = format!("no batch {batch} of table {table} is known");
            return Err(FrontendError::new(ErrorKind::UnknownBatch, detail));
        }
        Ok(rows)
    }
}
