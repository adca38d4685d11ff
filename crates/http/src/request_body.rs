//! Request bodies, with limits of size, pauses and speed.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hadal_frontend::{ByteStream, ErrorKind, FrontendError, Shutdown};
use hadal_types::limits;
use http_body_util::BodyExt;
use tokio::time::{Instant, sleep, timeout};

use crate::config::Pace;

/// How long the server continues to read a body that it refused because it is stopping.
const GOODBYE: Duration = Duration::from_millis(100);

/// A request's body, read piece by piece.
pub(crate) struct RequestBody {
    body: Body,
    shutdown: Shutdown,
    /// Bytes received.
    received: u64,
    pace: Pace,
    /// How long the server has waited for the client since the client last kept the pace, and the
    /// bytes received in that time.
    waited: Duration,
    paced_bytes: u64,
    /// The body stalled or was too slow, so the server no longer waits for it.
    is_stalled: bool,
}

impl RequestBody {
    /// Returns a body that is read to its end, or until `shutdown` ends running requests.
    pub(crate) fn new(body: Body, shutdown: &Shutdown, pace: Pace) -> Self {
        let shutdown = shutdown.clone();
        Self {
            body,
            shutdown,
            received: 0,
            pace,
            waited: Duration::ZERO,
            paced_bytes: 0,
            is_stalled: false,
        }
    }

    /// Returns the next piece, whether or not the server stops.
    async fn receive(&mut self) -> Result<Option<Bytes>, FrontendError> {
        let stall = self.pace.stall_time;
        loop {
            let start = Instant::now();
            let Ok(frame) = timeout(stall, self.body.frame()).await else {
                self.is_stalled = true;
                return Err(stalled(stall));
            };
            self.waited += start.elapsed();
            match frame {
                None => return Ok(None),
                Some(Err(error)) => {
                    let detail = format!("the body broke off: {error}");
                    return Err(FrontendError::new(ErrorKind::BadRequest, detail));
                }
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.received += bytes.len() as u64;
                        self.paced_bytes += bytes.len() as u64;
                        self.keep_pace()?;
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    /// Refuses a body that arrives too slowly. Only the time that the server waits for the client
    /// counts.
    fn keep_pace(&mut self) -> Result<(), FrontendError> {
        let Pace { stall_time, bytes_per_second_min } = self.pace;
        let millis = u64::try_from(stall_time.as_millis()).unwrap_or(u64::MAX);
        if self.paced_bytes >= bytes_per_second_min.saturating_mul(millis) / 1_000 {
            (self.paced_bytes, self.waited) = (0, Duration::ZERO);
        } else if self.waited >= stall_time {
            self.is_stalled = true;
            let (bytes, waited) = (self.paced_bytes, self.waited.as_secs());
            let detail = format!(
                "{bytes} bytes came in {waited} seconds, and {bytes_per_second_min} a second \
                 have to"
            );
            let hint = "send rows that come slowly in bodies of their own";
            return Err(FrontendError::new(ErrorKind::Stalled, detail).hint(hint));
        }
        Ok(())
    }

    /// Returns the whole body of at most `bytes_max` bytes.
    ///
    /// # Errors
    /// When it is longer, or as [`Self::next`].
    pub(crate) async fn all(mut self, bytes_max: usize) -> Result<Vec<u8>, FrontendError> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await? {
            if all.len() + bytes.len() > bytes_max {
                self.drain().await;
                let detail = format!("a body of more than {bytes_max} bytes");
                return Err(FrontendError::new(ErrorKind::TooLarge, detail));
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all)
    }

    /// Continues to read for a while: a client that still sends when the connection closes may
    /// never see the reason.
    pub(crate) async fn drain(&mut self) {
        let shutdown = self.shutdown.clone();
        let goodbye = async {
            shutdown.begun().await;
            sleep(GOODBYE).await;
        };
        tokio::select! {
            () = goodbye => {}
            () = self.drain_some() => {}
        }
    }

    async fn drain_some(&mut self) {
        let mut drained = 0;
        while drained < limits::BODY_BYTES_MAX && !self.is_stalled {
            match self.receive().await {
                Ok(Some(bytes)) => drained += bytes.len(),
                Ok(None) | Err(_) => return,
            }
        }
    }
}

impl ByteStream for RequestBody {
    /// Returns the next piece, or `None` at the end.
    ///
    /// # Errors
    /// When nothing arrives for [`limits::STALL_SECONDS`], the speed is below
    /// [`limits::BODY_BYTES_PER_SECOND_MIN`], the body breaks off, or the server stops.
    async fn next(&mut self) -> Result<Option<Bytes>, FrontendError> {
        let shutdown = self.shutdown.clone();
        tokio::select! {
            // First, as some bodies are always there.
            biased;
            () = shutdown.begun() => Err(stopping()),
            next = self.receive() => next,
        }
    }

    fn received(&self) -> u64 {
        self.received
    }
}

fn stalled(stall: Duration) -> FrontendError {
    let detail = format!("nothing came for {} seconds", stall.as_secs_f64());
    FrontendError::new(ErrorKind::Stalled, detail)
}

fn stopping() -> FrontendError {
    let detail = "the body was not taken to its end, because the server is stopping";
    FrontendError::new(ErrorKind::Unavailable, detail)
}
