//! Keeps the stream of a leaf's reports open.

use std::time::Duration;

use bytes::Bytes;
use hadal_types::limits::RPC_CALL_MILLIS;
use hadal_wire::decode_report;
use tokio::time::sleep;

use crate::call::CallError;
use crate::method::Method;
use crate::remote_leaf::{RemoteLeaf, ReportEvent};

/// How long to wait before a broken stream is opened again: at first, and at most.
const PAUSES: (Duration, Duration) =
    (Duration::from_millis(50), Duration::from_millis(RPC_CALL_MILLIS));

impl RemoteLeaf {
    /// Receives the leaf's reports until the future is dropped. Calls `on_change` with every
    /// change, also with those that come with receipts.
    ///
    /// `on_change` must be quick, and must not call [`hadal_peer::Peer::reports`] of this leaf. A
    /// second call of this function replaces it.
    pub async fn follow_reports(&self, on_change: impl Fn(ReportEvent) + Send + Sync + 'static) {
        self.reports.observe(Box::new(on_change));
        let mut pause = PAUSES.0;
        loop {
            let has_reported = self.receive_reports().await;
            pause = if has_reported { PAUSES.0 } else { PAUSES.1.min(pause * 2) };
            sleep(pause).await;
        }
    }

    /// Receives reports until the stream ends; returns whether there were any.
    async fn receive_reports(&self) -> bool {
        let mut has_reported = false;
        let why = match self.try_receive(&mut has_reported).await {
            Ok(()) => "it ended".to_owned(),
            Err(error) => error.to_string(),
        };
        tracing::debug!(leaf = %self.name, why, "the stream of reports has ended");
        has_reported
    }

    async fn try_receive(&self, has_reported: &mut bool) -> Result<(), CallError> {
        let opening = self.connection.stream(Method::Reports, &self.name, Bytes::new());
        let (mut reports, started) = opening.await?;
        let started = started.unwrap_or(0);
        self.reports.note_start(started);
        while let Some(report) = reports.message().await.map_err(|status| CallError::of(&status))? {
            *has_reported = true;
            let report = decode_report(report);
            let report = report.map_err(|error| CallError::Failed(error.to_string()))?;
            // A leaf reports on itself only.
            if report.leaf == self.name {
                self.reports.store(report, started);
            }
        }
        Ok(())
    }
}
