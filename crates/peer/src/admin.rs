//! Changes to tables other than batches.

use hadal_types::{BatchId, TableName, TableSettings};

use crate::{BoxFuture, SinkError};

/// Applies changes to tables: a leaf, or the placement over leaves.
pub trait Admin: Send + Sync {
    /// Makes a change on every leaf at or below; returns how many rows it removed.
    ///
    /// # Errors
    /// [`SinkError`] when the change could not be made durable everywhere. Some leaves may have
    /// made it, and the caller may try again.
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>>;
}

/// A change to a table. A new kind of change is a variant of this type and a field of `TableChange`
/// in `spec/proto/peer.proto`; code that forwards changes need not know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableChange {
    /// Drops a table with all its rows; removes 0 rows if the table does not exist.
    Drop {
        /// The table.
        table: TableName,
    },
    /// Replaces the settings of a table, which need not exist. They apply from now on and after a
    /// restart, until other settings replace them or the table is dropped.
    Configure {
        /// The table.
        table: TableName,
        /// Its settings.
        settings: TableSettings,
    },
    /// Changes nothing: fails unless [`Self::Revoke`] would succeed now and for some seconds.
    CheckRevoke {
        /// The table.
        table: TableName,
        /// The id as the client gave it.
        batch: BatchId,
    },
    /// Removes the rows of a client's batch id, with all of its parts. Removes 0 rows if no such
    /// batch is known, or if it was revoked before. A batch sent under the id again adds nothing.
    ///
    /// Fails with [`SinkError::Limit`] when some of it came too long ago, and with
    /// [`SinkError::Busy`] while some of it is under way; then nothing has changed.
    Revoke {
        /// The table.
        table: TableName,
        /// The id as the client gave it.
        batch: BatchId,
    },
    /// Stops reporting losses, since a person knows of them. Missing or damaged row blocks no
    /// longer count, and their readable rest is removed. Returns the number of rows known to be
    /// lost.
    AcknowledgeLosses {
        /// The table; `None` for all tables.
        table: Option<TableName>,
    },
}
