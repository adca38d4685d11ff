//! Bytes that come in: bounded in size, and in how long they may stop coming.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hadal_types::limits;
use http_body_util::BodyExt;
use tokio::time::{sleep, timeout};

use crate::ending::Ending;
use crate::problem::{Problem, ProblemKind};

/// How long a body is read on that was given up because the server stops.
const GOODBYE: Duration = Duration::from_millis(100);

/// A request's body, read piece by piece.
pub(crate) struct RequestBody {
    body: Body,
    ending: Ending,
    /// Bytes that came.
    taken: u64,
    /// Nothing came for so long that nothing more is waited for.
    is_stalled: bool,
}

impl RequestBody {
    /// A body that is read until the server stops and what runs is to end.
    pub(crate) fn new(body: Body, ending: &Ending) -> Self {
        Self { body, ending: ending.clone(), taken: 0, is_stalled: false }
    }

    /// Bytes that came so far.
    pub(crate) const fn taken(&self) -> u64 {
        self.taken
    }

    /// The next piece, or `None` at the end.
    ///
    /// # Errors
    /// When nothing comes for [`limits::STALL_SECONDS`], the body breaks off, or the server stops.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let ending = self.ending.clone();
        tokio::select! {
            // First, as some bodies are always there.
            biased;
            () = ending.begun() => Err(stopping()),
            next = self.come() => next,
        }
    }

    /// The next piece, whether the server stops or not.
    async fn come(&mut self) -> Result<Option<Bytes>, Problem> {
        let stall = Duration::from_secs(limits::STALL_SECONDS);
        loop {
            let Ok(frame) = timeout(stall, self.body.frame()).await else {
                self.is_stalled = true;
                return Err(stalled());
            };
            match frame {
                None => return Ok(None),
                Some(Err(error)) => {
                    let detail = format!("the body broke off: {error}");
                    return Err(Problem::new(ProblemKind::BadRequest, detail));
                }
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.taken += bytes.len() as u64;
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    /// The whole body of at most `bytes_max` bytes.
    ///
    /// # Errors
    /// When it is longer, or as [`Self::next`].
    pub(crate) async fn all(mut self, bytes_max: usize) -> Result<Vec<u8>, Problem> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await? {
            if all.len() + bytes.len() > bytes_max {
                self.drain().await;
                let detail = format!("a body of more than {bytes_max} bytes");
                return Err(Problem::new(ProblemKind::TooLarge, detail));
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all)
    }

    /// Reads on for a while: a client that still sends when the connection is closed may never
    /// see why.
    pub(crate) async fn drain(&mut self) {
        let ending = self.ending.clone();
        let goodbye = async {
            ending.begun().await;
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
            match self.come().await {
                Ok(Some(bytes)) => drained += bytes.len(),
                Ok(None) | Err(_) => return,
            }
        }
    }
}

fn stalled() -> Problem {
    let detail = format!("nothing came for {} seconds", limits::STALL_SECONDS);
    Problem::new(ProblemKind::Stalled, detail)
}

fn stopping() -> Problem {
    let detail = "the body was not taken to its end, because the server is stopping";
    Problem::new(ProblemKind::Unavailable, detail)
}
