//! Delivery of batches to the sink, a few at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hadal_ingest::AgePolicy;
use hadal_peer::{Batch, Receipt, SinkError};
use hadal_types::limits;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::state::settings_cache::FirstRowsSettings;

/// How long to wait before a busy sink is asked again.
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// Sends the batches of one body, at most [`limits::BATCHES_UNDER_WAY_MAX`] at a time. Dropping it
/// cancels the batches that are in flight.
pub(crate) struct Delivery {
    frontend: Arc<Frontend>,
    in_flight: JoinSet<Result<Receipt, SinkError>>,
    is_first: bool,
    /// The id of the body was generated here, so no leaf can know its batches.
    has_new_id: bool,
    first_rows: FirstRowsSettings,
    pub(crate) delivered: Delivered,
}

/// The batches and rows that the sink acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) batches: u64,
    /// Batches that had been accepted before.
    pub(crate) duplicates: u64,
    pub(crate) rows: u64,
    /// Rows that had not been accepted before.
    pub(crate) new_rows: u64,
    /// Whether all of them survive a crash.
    pub(crate) durable: bool,
    /// Whether the table is over its size, so that its oldest rows are dropped.
    pub(crate) overflowing: bool,
}

impl Delivery {
    pub(crate) fn new(
        frontend: &Arc<Frontend>,
        first_rows: FirstRowsSettings,
        has_new_id: bool,
    ) -> Self {
        Self {
            frontend: Arc::clone(frontend),
            in_flight: JoinSet::new(),
            is_first: true,
            has_new_id,
            first_rows,
            delivered: Delivered {
                batches: 0,
                duplicates: 0,
                rows: 0,
                new_rows: 0,
                durable: true,
                overflowing: false,
            },
        }
    }

    /// Sends batches; waits for earlier batches if too many are in flight. `age` is the policy
    /// after the rows of these batches, which may lift the table's age limit.
    pub(crate) async fn send_all(
        &mut self,
        batches: Vec<Batch>,
        age: AgePolicy,
    ) -> Result<(), FrontendError> {
        if !batches.is_empty() {
            self.first_rows.store(&self.frontend.table_settings, age).await?;
        }
        for mut batch in batches {
            batch.first_try = self.has_new_id;
            while self.in_flight.len() >= limits::BATCHES_UNDER_WAY_MAX {
                self.wait_for_one().await?;
            }
            // Repeating a body that has just begun costs a client little; for the rest of a long
            // body waiting is worthwhile.
            let busy_timeout = match self.is_first {
                true => Duration::ZERO,
                false => Duration::from_secs(limits::STALL_SECONDS),
            };
            self.is_first = false;
            // The batch is in memory twice while the sink accepts it.
            let permit = self.frontend.backpressure.batch(2 * batch.block().len()).await?;
            let frontend = Arc::clone(&self.frontend);
            self.in_flight.spawn(async move {
                let _permit = permit;
                deliver(&frontend, batch, busy_timeout).await
            });
        }
        Ok(())
    }

    /// Waits for all batches in flight.
    pub(crate) async fn wait_for_all(&mut self) -> Result<(), FrontendError> {
        while !self.in_flight.is_empty() {
            self.wait_for_one().await?;
        }
        Ok(())
    }

    async fn wait_for_one(&mut self) -> Result<(), FrontendError> {
        let Some(outcome) = self.in_flight.join_next().await else { return Ok(()) };
        let receipt = outcome
            .map_err(|error| FrontendError::internal("a batch was lost on its way", &error))?
            .map_err(|error| FrontendError::from(&error))?;
        self.add(&receipt);
        Ok(())
    }

    /// Waits for all batches in flight after one failed, so that all accepted rows are counted.
    /// Further failures are not reported.
    pub(crate) async fn wait_after_failure(&mut self) {
        while let Some(outcome) = self.in_flight.join_next().await {
            if let Ok(Ok(receipt)) = outcome {
                self.add(&receipt);
            }
        }
    }

    fn add(&mut self, receipt: &Receipt) {
        let rows = receipt.rows as u64;
        self.delivered.batches += 1;
        self.delivered.rows += rows;
        match receipt.duplicate {
            true => self.delivered.duplicates += 1,
            false => self.delivered.new_rows += rows,
        }
        self.delivered.durable &= receipt.durable;
        self.delivered.overflowing |= receipt.overflowing;
    }
}

/// Sends one batch; retries while the sink is busy, until `busy_timeout` has passed or the server
/// stops.
async fn deliver(
    frontend: &Arc<Frontend>,
    mut batch: Batch,
    busy_timeout: Duration,
) -> Result<Receipt, SinkError> {
    let until = Instant::now() + busy_timeout;
    loop {
        let may_wait = Instant::now() + BUSY_PAUSE < until && !frontend.shutdown.has_begun();
        match frontend.backend.sink.accept(batch.clone()).await {
            Err(SinkError::Busy(_)) if may_wait => {
                batch.first_try = false;
                sleep(BUSY_PAUSE).await;
            }
            outcome => {
                match &outcome {
                    Ok(_) => frontend.is_disk_full.store(false, Ordering::Relaxed),
                    Err(SinkError::Full(_)) => frontend.is_disk_full.store(true, Ordering::Relaxed),
                    Err(_) => {}
                }
                return outcome;
            }
        }
    }
}
