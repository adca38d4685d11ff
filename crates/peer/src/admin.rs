//! Changes to tables that are no batches.

use hadal_types::{BatchId, TableName, TableSettings};

use crate::{BoxFuture, SinkError};

/// Something whose tables can be changed: a leaf, or the placement over leaves.
pub trait Admin: Send + Sync {
    /// Makes a change on every leaf at or below; returns how many rows it took out.
    ///
    /// # Errors
    /// [`SinkError`] when the change could not be made durable everywhere. Some leaves may have made it,
    /// and it may be tried again.
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>>;
}

/// A change to a table. A new kind of change is a variant here and a field of `TableChange` in
/// `spec/proto/peer.proto`; who passes changes on need not know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableChange {
    /// Drops a table with all its rows; of a table that is not there 0.
    Drop {
        /// The table.
        table: TableName,
    },
    /// Replaces the settings of a table, there or not: from now on, and after a restart, until
    /// others are set or the table is dropped.
    Configure {
        /// The table.
        table: TableName,
        /// Its settings.
        settings: TableSettings,
    },
    /// Changes nothing: fails unless [`Self::Revoke`] would succeed at this moment and for some seconds.
    CheckRevoke {
        /// The table.
        table: TableName,
        /// The id as the client gave it.
        batch: BatchId,
    },
    /// Takes back the rows of a client's batch id, with all of its parts; 0 rows if no such batch is
    /// known or it was taken back before. A batch that is sent under the id again adds nothing.
    ///
    /// Fails with [`SinkError::Limit`] when some of it came too long ago, and with [`SinkError::Busy`]
    /// while some of it is under way; then nothing has changed.
    Revoke {
        /// The table.
        table: TableName,
        /// The id as the client gave it.
        batch: BatchId,
    },
    /// Stops reporting losses, since a person knows of them. Row blocks that are missing or damaged
    /// count no more, and their readable rest is removed. Its rows are those known to be lost.
    AcknowledgeLosses {
        /// The table; `None`: all of them.
        table: Option<TableName>,
    },
}
