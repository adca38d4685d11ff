//! The records of batches that went elsewhere because their leaf was away, in the definitions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hadal_definitions::{DefinitionStore, DefinitionsError};
use hadal_peer::BoxFuture;
use hadal_tree::{Record, Revocation, Revocations};
use hadal_types::{BatchId, Clock, LeafName, TableName};

/// The records that all processes of the cluster share.
pub(crate) struct RecordedRevocations {
    definitions: Arc<dyn DefinitionStore>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Whether the last record could not be written. Only the first failure is a warning: waiting
    /// batches try again five times a second.
    has_failed: AtomicBool,
}

impl RecordedRevocations {
    pub(crate) const fn new(definitions: Arc<dyn DefinitionStore>, clock: Arc<dyn Clock>) -> Self {
        Self { definitions, clock, has_failed: AtomicBool::new(false) }
    }

    fn warn(&self, record: &hadal_definitions::Revocation, error: &DefinitionsError) {
        if !self.has_failed.swap(true, Ordering::Relaxed) {
            let hadal_definitions::Revocation { leaf, table, batch, .. } = record;
            let waits = "batches that silent leaves may have wait for them";
            tracing::warn!(%leaf, %table, %batch, "cannot revoke a batch: {error}; {waits}");
        }
    }
}

impl Revocations for RecordedRevocations {
    fn record<'a>(&'a self, revocation: &'a Revocation) -> BoxFuture<'a, Result<Record, String>> {
        let Revocation { leaf, table, batch, instead } = revocation.clone();
        let record = hadal_definitions::Revocation {
            leaf,
            table,
            batch,
            instead,
            at: self.clock.now(),
            is_held: false,
        };
        Box::pin(async move {
            match self.definitions.record_revocation(&record).await {
                Ok(hadal_definitions::Revocation { instead, at, .. }) => {
                    self.has_failed.store(false, Ordering::Relaxed);
                    Ok(Record { instead, at })
                }
                Err(error) => {
                    self.warn(&record, &error);
                    Err(error.to_string())
                }
            }
        })
    }

    fn note_held<'a>(
        &'a self,
        table: &'a TableName,
        batch: &'a BatchId,
        leaf: &'a LeafName,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let noted = self.definitions.note_held(table, batch, leaf).await;
            noted.map_err(|error| error.to_string())
        })
    }
}
