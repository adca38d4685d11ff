//! Pushes the reports of tables for as long as a stream is open.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hadal_peer::ReportSource;
use hadal_types::limits::REPORTS_MILLIS;
use hadal_wire::encode_report;
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tonic::Status;
use tonic::codegen::tokio_stream::wrappers::ReceiverStream;

/// Reports that are encoded before the client has read them.
const REPORTS_AHEAD: usize = 16;

type Reports = mpsc::Sender<Result<Bytes, Status>>;

/// Returns the stream of a source's reports. It ends when the server stops.
pub(crate) fn push_reports(
    source: Arc<dyn ReportSource>,
    mut stopping: watch::Receiver<bool>,
) -> ReceiverStream<Result<Bytes, Status>> {
    let (reports, stream) = mpsc::channel(REPORTS_AHEAD);
    tokio::spawn(async move {
        tokio::select! {
            () = push(&source, &reports) => {}
            () = reports.closed() => {}
            _ = stopping.wait_for(|is_stopping| *is_stopping) => {}
        }
    });
    ReceiverStream::new(stream)
}

/// Pushes reports until the client is gone or the source fails.
async fn push(source: &Arc<dyn ReportSource>, reports: &Reports) {
    let mut mark = 0;
    loop {
        let of = Arc::clone(source);
        // The first look at a table may read its row blocks.
        let Ok((last, tables)) = spawn_blocking(move || of.reports_since(mark)).await else {
            return;
        };
        mark = last;
        let is_up_to_date = tables.is_empty();
        for table in tables {
            if reports.send(Ok(encode_report(&table))).await.is_err() {
                return;
            }
        }
        if is_up_to_date {
            source.changed(mark).await;
            // Further changes go with the first one.
            sleep(Duration::from_millis(REPORTS_MILLIS)).await;
        }
    }
}
