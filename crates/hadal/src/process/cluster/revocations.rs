//! The records of batches that went elsewhere because their leaf was away, in the definitions.

use std::sync::Arc;

use hadal_definitions::DefinitionStore;
use hadal_peer::BoxFuture;
use hadal_tree::{Revocation, Revocations};
use hadal_types::{BatchId, Clock, LeafName, TableName};

/// The records that all processes of the cluster share.
pub(crate) struct RecordedRevocations {
    pub(crate) definitions: Arc<dyn DefinitionStore>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Revocations for RecordedRevocations {
    fn record<'a>(&'a self, revocation: &'a Revocation) -> BoxFuture<'a, Result<LeafName, String>> {
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
            let recorded = self.definitions.record_revocation(&record).await;
            recorded.map_err(|error| {
                let hadal_definitions::Revocation { leaf, table, batch, .. } = &record;
                let waits = "the batch waits for the leaf";
                tracing::warn!(%leaf, %table, %batch, "cannot revoke a batch: {error}; {waits}");
                error.to_string()
            })
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
