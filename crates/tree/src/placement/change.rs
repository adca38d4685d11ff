//! Changes of tables, made on all leaves.
//!
//! What happens when a leaf is away depends on the change:
//!
//! - settings, and known losses: the other leaves get them. A leaf reads the settings of all tables
//!   from the definitions when it is back;
//! - a drop, and the revocation of a batch: refused, because the leaf would bring its rows back.

use futures_util::future::join_all;
use hadal_peer::{Admin, BoxFuture, SinkError, TableChange};
use hadal_types::LeafName;

use super::Placement;

/// A change that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Rows that were removed.
    pub rows: u64,
    /// Leaves that do not know of the change yet.
    pub unreached: Vec<LeafName>,
}

impl Placement {
    /// Makes a change on every leaf that can be reached.
    ///
    /// # Errors
    /// [`SinkError`] of a leaf that did not make it, or that is away and must not miss it. Some
    /// leaves may have made it.
    pub async fn apply_to_all(&self, change: &TableChange) -> Result<Applied, SinkError> {
        self.refuse_without_all(change)?;
        if let TableChange::Revoke { table, batch } = change {
            // Nothing is revoked unless every leaf can revoke its part.
            let (table, batch) = (table.clone(), batch.clone());
            self.apply_to_each(&TableChange::CheckRevoke { table, batch }).await?;
        }
        let applied = self.apply_to_each(change).await?;
        if let TableChange::AcknowledgeLosses { table } = change {
            self.expected_rows.acknowledge_losses(table.as_ref());
        }
        if let TableChange::Drop { table } = change {
            self.expected_rows.forget(table);
            self.state.lock().tables.forget(table);
            self.catalog.forget(table);
        }
        Ok(applied)
    }

    /// Makes a change on all leaves at the same time, and returns the sum of rows. Parts of a batch
    /// have ids of their own and so may be on any leaf.
    async fn apply_to_each(&self, change: &TableChange) -> Result<Applied, SinkError> {
        let silent = self.members.silent();
        let members = self.members.all();
        let (silent, members): (Vec<_>, Vec<_>) =
            members.into_iter().partition(|member| silent.contains(&member.name));
        let mut applied = Applied::default();
        applied.unreached.extend(silent.iter().map(|member| member.name.clone()));
        let changes = members.iter().map(|leaf| leaf.admin.apply(change.clone()));
        let outcomes = join_all(changes).await;
        let mut failed = None;
        for (leaf, outcome) in members.iter().zip(outcomes) {
            match outcome {
                Ok(rows) => {
                    applied.rows += rows;
                    if let TableChange::Revoke { table, .. } = change {
                        self.expected_rows.sub(&leaf.name, table, rows);
                    }
                }
                Err(error) if self.may_miss(change, &error) => {
                    applied.unreached.push(leaf.name.clone());
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(applied), Err)
    }

    /// Whether a leaf that answered so learns of the change later.
    fn may_miss(&self, change: &TableChange, error: &SinkError) -> bool {
        let is_away = matches!(error, SinkError::Unavailable(_) | SinkError::OutcomeUnknown(_));
        self.rules.has_other_senders && is_away && !needs_all(change)
    }

    fn refuse_without_all(&self, change: &TableChange) -> Result<(), SinkError> {
        let silent = self.members.silent();
        match silent.first() {
            Some(leaf) if needs_all(change) => Err(SinkError::Limit(format!(
                "leaf {leaf} is away and would bring its rows back; try again when it is back, or forget the leaf"
            ))),
            _ => Ok(()),
        }
    }
}

/// Whether a leaf that misses a change would undo it.
const fn needs_all(change: &TableChange) -> bool {
    match change {
        TableChange::Drop { .. } | TableChange::CheckRevoke { .. } | TableChange::Revoke { .. } => {
            true
        }
        TableChange::Configure { .. } | TableChange::AcknowledgeLosses { .. } => false,
    }
}

impl Admin for Placement {
    fn apply(&self, change: TableChange) -> BoxFuture<'_, Result<u64, SinkError>> {
        Box::pin(async move {
            let applied = self.apply_to_all(&change).await?;
            Ok(applied.rows)
        })
    }
}
