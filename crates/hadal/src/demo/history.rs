//! Fills table `requests` with its history: newest rows first, whole row blocks at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hadal_peer::{Batch, Sink, SinkError};
use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{Clock, TableName};
use tokio::runtime::Handle;

use super::requests::Requests;
use super::stop::Stop;
use crate::error::Error;

/// The destination of rows, shared by all threads that generate rows.
#[derive(Clone)]
pub(crate) struct Destination {
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) runtime: Handle,
    pub(crate) stop: Stop,
}

impl Destination {
    /// Sends a batch and waits for its acknowledgement. While no leaf can take it, tries again
    /// until the demo stops. Blocks, so not for threads of the runtime.
    pub(crate) fn send(&self, batch: &Batch) -> Result<(), Error> {
        loop {
            match self.runtime.block_on(self.sink.accept(batch.clone())) {
                Err(error) if may_pass(&error) && !self.stop.is_stopped() => {
                    std::thread::sleep(PAUSE);
                }
                accepted => return accepted.map(|_| ()).map_err(Error::from),
            }
        }
    }
}

/// The pause before a batch is sent again.
const PAUSE: Duration = Duration::from_millis(200);

/// Whether the same batch may be accepted later: a leaf was killed, or is busy.
fn may_pass(error: &SinkError) -> bool {
    matches!(error, SinkError::Busy(_) | SinkError::Unavailable(_) | SinkError::OutcomeUnknown(_))
}

/// Generates all rows of the history on `threads` threads. `arrived` gets the number of rows of
/// each block that was accepted.
pub(crate) fn fill(
    requests: &Requests,
    table: &TableName,
    to: &Destination,
    threads: usize,
    arrived: &(dyn Fn(u64) + Sync),
) -> Result<(), Error> {
    let next = AtomicU64::new(0);
    let work = || {
        let step = BLOCK_ROWS_MAX as u64;
        loop {
            let from = next.fetch_add(step, Ordering::Relaxed);
            if from >= requests.rows() || to.stop.is_stopped() {
                return Ok(());
            }
            let end = (from + step).min(requests.rows());
            let (id, block) = requests.history_block(from, end, to.clock.now())?;
            let rows = usize::try_from(end - from).unwrap_or(BLOCK_ROWS_MAX);
            to.send(&Batch::encoded(table.clone(), id, 0, rows, block))?;
            arrived(end - from);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err(Error::Thread("demo-history".to_owned())))
        })
    })
}
