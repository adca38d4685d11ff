//! Bounds the memory of bodies and batches in flight, over all requests.
//!
//! A short body takes little memory and needs no permit. The rows of a longer body stay in memory
//! until they fill a batch, and a batch stays until the sink has accepted it. The rows and the
//! batch need a permit. A request without a permit waits, and so does its client.

use std::sync::Arc;
use std::time::Duration;

use hadal_types::limits::{
    BATCHES_BYTES_MAX, BODIES_UNDER_WAY_MAX, BODY_SMALL_BYTES_MAX, STALL_SECONDS,
};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::{ErrorKind, FrontendError};

/// Bytes per permit for batches.
const UNIT_BYTES: usize = 1 << 10;

/// Permits for long bodies and for bytes of batches.
pub(crate) struct Backpressure {
    bodies: Arc<Semaphore>,
    batches: Arc<Semaphore>,
}

impl Default for Backpressure {
    fn default() -> Self {
        Self {
            bodies: Arc::new(Semaphore::new(BODIES_UNDER_WAY_MAX)),
            batches: Arc::new(Semaphore::new(BATCHES_BYTES_MAX / UNIT_BYTES)),
        }
    }
}

impl Backpressure {
    /// Waits for the permit of a long body, for [`STALL_SECONDS`] at most.
    async fn body(&self) -> Result<OwnedSemaphorePermit, FrontendError> {
        let permit = Arc::clone(&self.bodies).acquire_owned();
        match timeout(Duration::from_secs(STALL_SECONDS), permit).await {
            Ok(permit) => permit.map_err(closed),
            Err(_) => {
                let detail = format!("{BODIES_UNDER_WAY_MAX} long bodies are under way");
                Err(FrontendError::new(ErrorKind::Busy, detail))
            }
        }
    }

    /// Waits for the permit of a batch of `bytes` bytes. A batch larger than the limit waits until
    /// no other batch holds a permit.
    pub(crate) async fn batch(&self, bytes: usize) -> Result<OwnedSemaphorePermit, FrontendError> {
        let units = bytes.div_ceil(UNIT_BYTES).min(BATCHES_BYTES_MAX / UNIT_BYTES);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        Arc::clone(&self.batches).acquire_many_owned(units).await.map_err(closed)
    }
}

fn closed(error: AcquireError) -> FrontendError {
    FrontendError::internal("there is no room for the body", &error)
}

/// The permit of one body, if it needs one.
#[derive(Default)]
pub(crate) struct BodyPermit(Option<OwnedSemaphorePermit>);

impl BodyPermit {
    pub(crate) const fn is_held(&self) -> bool {
        self.0.is_some()
    }

    /// Acquires a permit for a body with `bytes` bytes that are in no batch yet, or returns the
    /// permit if they are few.
    pub(crate) async fn hold(
        &mut self,
        backpressure: &Backpressure,
        bytes: usize,
    ) -> Result<(), FrontendError> {
        if bytes <= BODY_SMALL_BYTES_MAX {
            self.0 = None;
        } else if self.0.is_none() {
            self.0 = Some(backpressure.body().await?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_number_of_long_bodies_is_limited() {
        let backpressure = Backpressure::default();
        let long = BODY_SMALL_BYTES_MAX + 1;
        let mut bodies: Vec<BodyPermit> = Vec::new();
        bodies.resize_with(BODIES_UNDER_WAY_MAX, BodyPermit::default);
        for body in &mut bodies {
            body.hold(&backpressure, long).await.expect("a permit");
            body.hold(&backpressure, long + 1).await.expect("the permit that it has");
        }
        let mut other = BodyPermit::default();
        other.hold(&backpressure, BODY_SMALL_BYTES_MAX).await.expect("a short one needs no permit");
        // The paused clock advances only while a task waits, so the deadline ends this wait.
        let refused = other.hold(&backpressure, long).await.expect_err("busy");
        assert!(format!("{refused:?}").contains("long bodies are under way"), "{refused:?}");
        // Cutting off a batch returns the permit.
        bodies[3].hold(&backpressure, 0).await.expect("nothing is needed");
        other.hold(&backpressure, long).await.expect("a permit");
    }

    #[tokio::test]
    async fn batches_wait_for_one_another() {
        let backpressure = Backpressure::default();
        let half = BATCHES_BYTES_MAX / 2;
        let first = backpressure.batch(half).await.expect("a permit");
        let second = backpressure.batch(half).await.expect("a permit");
        let mut third = pin!(backpressure.batch(1));
        let mut context = Context::from_waker(Waker::noop());
        assert!(third.as_mut().poll(&mut context).is_pending(), "there is no byte left");
        drop(second);
        let third = third.await.expect("a permit");
        drop((first, third));
        // A batch larger than the limit is admitted alone.
        drop(backpressure.batch(9 * BATCHES_BYTES_MAX).await.expect("a permit"));
    }
}
