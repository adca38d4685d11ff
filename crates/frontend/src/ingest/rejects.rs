//! Refused rows: returned to the client, and stored in `_rejects`.

use std::sync::Arc;

use hadal_ingest::{AgePolicy, Reject, Summary, rejects_batch};
use hadal_types::{Micros, TableName, limits};

use crate::batch_id::random_id;
use crate::error::{FrontendError, Rejects};
use crate::frontend::Frontend;
use crate::state::settings_cache::FirstRowsSettings;

impl Rejects {
    /// Returns the refused rows of a body; the first [`limits::REJECTS_SHOWN_MAX`] are shown.
    pub(super) fn of(summary: &Summary) -> Self {
        let first = summary.rejected.iter().take(limits::REJECTS_SHOWN_MAX).cloned().collect();
        let kinds = summary.reject_kinds.clone().into_list();
        Self { count: summary.rejected_count, first, kinds }
    }
}

/// Keeps the first bad rows of a body in `_rejects`.
pub(super) async fn keep_rejects(
    frontend: &Arc<Frontend>,
    table: &TableName,
    source: &str,
    now: Micros,
    rejects: &[Reject],
) -> Result<(), FrontendError> {
    if rejects.is_empty() {
        return Ok(());
    }
    let batch = rejects_batch(rejects, table, source, now, random_id()?)
        .map_err(|error| FrontendError::internal("rejected rows cannot be encoded", &error))?;
    if let Some(batch) = batch {
        let stored = frontend.table_settings.of(&batch.table).await?;
        FirstRowsSettings::new(&batch.table, stored)
            .store(&frontend.table_settings, AgePolicy::default())
            .await?;
        let receipt = frontend.backend.sink.accept(batch).await;
        receipt.map_err(|error| FrontendError::from(&error))?;
    }
    Ok(())
}
