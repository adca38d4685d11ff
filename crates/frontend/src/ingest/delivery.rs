//! Batches on their way to the sink: a few at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hadal_peer::{Batch, Receipt, SinkError};
use hadal_types::limits;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::error::FrontendError;
use crate::frontend::Frontend;
use crate::tables::settings_cache::FirstRowsSettings;

/// How long to wait before a busy sink is asked again.
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// Sends batches, at most [`limits::BATCHES_UNDER_WAY_MAX`] at a time. Dropping it calls off
/// those that are under way.
pub(crate) struct Delivery {
    frontend: Arc<Frontend>,
    in_flight: JoinSet<Result<Receipt, SinkError>>,
    is_first: bool,
    first_rows: FirstRowsSettings,
    pub(crate) delivered: Delivered,
}

/// What the sink has acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) batches: u64,
    /// Batches that had been taken before.
    pub(crate) duplicates: u64,
    pub(crate) rows: u64,
    /// Rows that had not been taken before.
    pub(crate) new_rows: u64,
    /// All of it survives a crash.
    pub(crate) durable: bool,
    /// It made its table larger than that may be.
    pub(crate) overflowing: bool,
}

impl Delivery {
    pub(crate) fn new(frontend: &Arc<Frontend>, first_rows: FirstRowsSettings) -> Self {
        Self {
            frontend: Arc::clone(frontend),
            in_flight: JoinSet::new(),
            is_first: true,
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

    /// Sends batches, waiting for earlier ones where too many are under way. `is_old` says that
    /// rows of the body make its table one of any age, if nobody set its age.
    pub(crate) async fn send_all(
        &mut self,
        batches: Vec<Batch>,
        is_old: bool,
    ) -> Result<(), FrontendError> {
        if !batches.is_empty() {
            self.first_rows.settle(&self.frontend, is_old).await?;
        }
        for batch in batches {
            while self.in_flight.len() >= limits::BATCHES_UNDER_WAY_MAX {
                self.wait_for_one().await?;
            }
            // A client that has just begun can come back later at little cost; the rest of a
            // long body is worth waiting for.
            let patience = match self.is_first {
                true => Duration::ZERO,
                false => Duration::from_secs(limits::STALL_SECONDS),
            };
            self.is_first = false;
            // It is there twice while the sink has it.
            let room = self.frontend.backpressure.batch(2 * batch.block.len()).await?;
            let frontend = Arc::clone(&self.frontend);
            self.in_flight.spawn(async move {
                let _room = room;
                deliver(&frontend, batch, patience).await
            });
        }
        Ok(())
    }

    /// Waits for all that is under way.
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

    /// Waits for all that is under way after something failed, so that the rows that went in
    /// are all counted; what else fails is not told.
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

/// Sends one batch, again and again while the sink is busy, for as long as `patience` lasts and the
/// server does not stop.
async fn deliver(
    frontend: &Arc<Frontend>,
    batch: Batch,
    patience: Duration,
) -> Result<Receipt, SinkError> {
    let until = Instant::now() + patience;
    loop {
        let may_wait = Instant::now() + BUSY_PAUSE < until && !frontend.shutdown.has_begun();
        match frontend.backend.sink.accept(batch.clone()).await {
            Err(SinkError::Busy(_)) if may_wait => sleep(BUSY_PAUSE).await,
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
