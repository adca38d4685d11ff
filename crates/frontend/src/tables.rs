//! Tables: contents, settings, and dropping.

pub(crate) mod settings;

use hadal_peer::{TableBlocks, TableChange, TableStatus};
use hadal_tree::ClusterStatus;
use hadal_types::{AgeLimit, TableName};

use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::principal::{Permission, Principal};
use crate::state::settings_cache::age_limit;

/// A table that was dropped.
#[derive(Clone, Copy, Debug)]
pub struct DroppedTable {
    /// The rows that it had.
    pub rows: u64,
    /// Its settings could not be removed: they rule a new table of this name.
    pub settings_kept: bool,
}

impl Frontend {
    /// All tables and leaves.
    pub async fn cluster_status(&self) -> ClusterStatus {
        self.backend.root.cluster_status().await
    }

    /// One table.
    ///
    /// # Errors
    /// [`crate::ErrorKind::UnknownTable`].
    pub async fn table(&self, name: &str) -> Result<TableStatus, FrontendError> {
        let status = self.backend.root.table(name).await;
        status.ok_or_else(|| FrontendError::unknown_table(name))
    }

    /// How old rows of a table may be, as far as its leaves know.
    pub fn age_limit(&self, status: &TableStatus) -> AgeLimit {
        age_limit(status, self.backend.clock.now())
    }

    /// The row blocks of a table, and how many of its rows are lost.
    ///
    /// # Errors
    /// [`crate::ErrorKind::UnknownTable`].
    pub async fn blocks(&self, name: &str) -> Result<(TableBlocks, u64), FrontendError> {
        let unknown = || FrontendError::unknown_table(name);
        let table = TableName::new(name).map_err(|_| unknown())?;
        let blocks = self.backend.root.blocks(&table).await;
        // A table exists without blocks if all of them are lost or not restored yet.
        let status = self.backend.root.table(name).await;
        if blocks.blocks.is_empty() && status.is_none() {
            return Err(unknown());
        }
        Ok((blocks, status.map_or(0, |status| status.lost_rows)))
    }

    /// Drops a table with its rows and settings.
    ///
    /// # Errors
    /// [`FrontendError`] when the table does not exist, or a leaf cannot drop it.
    pub async fn drop_table(
        &self,
        principal: &Principal,
        name: &str,
    ) -> Result<DroppedTable, FrontendError> {
        principal.require(Permission::Define)?;
        let table = TableName::new(name).map_err(|_| FrontendError::unknown_table(name))?;
        let exists = self.backend.root.table(name).await.is_some();
        // A table without rows is none, but its leaves may remember its batches.
        let dropped = self.backend.admin.apply(TableChange::Drop { table: table.clone() }).await;
        let rows = dropped.map_err(|error| FrontendError::from(&error))?;
        self.column_stats.forget(&table);
        let removed = self.backend.definitions.remove_table_settings(&table, None).await;
        self.table_settings.forget(&table);
        let had_settings = match removed {
            Ok(had_settings) => had_settings,
            // The rows are dropped nevertheless, which frees space on a full disk.
            Err(error) if exists || rows > 0 => {
                tracing::error!(%table, %error, "cannot remove the settings of a dropped table");
                return Ok(DroppedTable { rows, settings_kept: true });
            }
            Err(error) => return Err(FrontendError::from(&error)),
        };
        if !exists && rows == 0 && !had_settings {
            return Err(FrontendError::unknown_table(name));
        }
        Ok(DroppedTable { rows, settings_kept: false })
    }

    /// Acknowledges the losses of one table, or all losses. Returns the number of known lost rows,
    /// and the number of losses of unknown size.
    ///
    /// # Errors
    /// [`FrontendError`] when the table does not exist, or a leaf cannot store the acknowledgement.
    pub async fn forget_losses(
        &self,
        principal: &Principal,
        table: Option<&str>,
    ) -> Result<(u64, u64), FrontendError> {
        principal.require(Permission::Admin)?;
        let table = match table {
            None => None,
            Some(name) => Some(self.table(name).await?.schema.name.clone()),
        };
        let count = async || self.cluster_status().await.losses.len() as u64;
        let before = count().await;
        let forgotten = self.backend.admin.apply(TableChange::AcknowledgeLosses { table }).await;
        let rows = forgotten.map_err(|error| FrontendError::from(&error))?;
        Ok((rows, before.saturating_sub(count().await)))
    }
}
