//! What is done with a body's bytes, without any waiting: inflate, parse, encode.

use hadal_ingest::{Ingest, Summary};
use hadal_types::{Micros, limits};
use hadal_wire::Batch;

use crate::error::{ErrorKind, FrontendError};
use crate::ingest::backpressure::{Backpressure, BodyPermit};
use crate::ingest::decompress::{DecompressError, Decompressor};

/// Why a body was given up in the middle.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PipelineError {
    #[error(transparent)]
    Inflate(#[from] DecompressError),
    #[error("a batch cannot be encoded: {0}")]
    Block(String),
    #[error("a strict body of more than {} bytes; send it in parts", limits::BODY_BYTES_MAX)]
    Body,
    #[error(
        "a strict body of more than {} bytes once inflated; send it in parts",
        limits::BODY_INFLATED_BYTES_MAX
    )]
    Inflated,
}

impl From<PipelineError> for FrontendError {
    fn from(error: PipelineError) -> Self {
        let kind = match &error {
            PipelineError::Inflate(DecompressError::Ratio)
            | PipelineError::Body
            | PipelineError::Inflated => ErrorKind::TooLarge,
            PipelineError::Inflate(_) => ErrorKind::BadBatch,
            PipelineError::Block(_) => ErrorKind::Limit,
        };
        Self::new(kind, error.to_string())
    }
}

/// From a body's bytes to batches.
pub(crate) struct Pipeline {
    inflater: Decompressor,
    ingest: Ingest,
    /// All of the body will be held before any of it is sent, so it must not be long.
    is_held: bool,
    taken: usize,
    inflated: usize,
    /// Inflated bytes since the last batch was cut: what is in none yet, or a little more.
    pending: usize,
    room: BodyPermit,
}

impl Pipeline {
    pub(crate) fn new(inflater: Decompressor, ingest: Ingest, is_held: bool) -> Self {
        Self {
            inflater,
            ingest,
            is_held,
            taken: 0,
            inflated: 0,
            pending: 0,
            room: BodyPermit::default(),
        }
    }

    /// Says that what is pushed from here on arrived at `now`.
    pub(crate) fn arrive(&mut self, now: Micros) {
        self.ingest.arrive(now);
    }

    /// Whether rows so far make a table without settings one of any age.
    pub(crate) fn makes_any_age(&self) -> bool {
        self.ingest.makes_any_age()
    }

    /// Waits until there is room for the rows that are in no batch yet.
    pub(crate) async fn make_room(&mut self, room: &Backpressure) -> Result<(), FrontendError> {
        self.room.hold(room, self.pending).await
    }

    /// Whether it has room for the rows of a whole batch, as few bodies have at a time.
    pub(crate) fn has_room(&self) -> bool {
        self.room.is_held()
    }

    /// What it holds of the room, to be kept as long as what comes of it.
    pub(crate) fn take_room(&mut self) -> BodyPermit {
        std::mem::take(&mut self.room)
    }

    /// Takes bytes, and returns the batches that are full with them.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Batch>, PipelineError> {
        self.taken += bytes.len();
        if self.is_held && self.taken > limits::BODY_BYTES_MAX {
            return Err(PipelineError::Body);
        }
        let mut batches = Vec::new();
        let Self { inflater, ingest, is_held, inflated, pending, .. } = self;
        inflater.push(bytes, &mut |plain| {
            *inflated += plain.len();
            if *is_held && *inflated > limits::BODY_INFLATED_BYTES_MAX {
                return Err(PipelineError::Inflated);
            }
            *pending += plain.len();
            let cut = feed(ingest, plain)?;
            if !*is_held && !cut.is_empty() {
                *pending = plain.len();
            }
            batches.extend(cut);
            Ok(())
        })?;
        Ok(batches)
    }

    /// Ends the body: the last batches, and what became of all of it.
    pub(crate) fn finish(mut self) -> Result<(Vec<Batch>, Summary), PipelineError> {
        let mut batches = Vec::new();
        let Self { inflater, ingest, .. } = &mut self;
        inflater.finish(&mut |plain| {
            batches.extend(feed(ingest, plain)?);
            Ok::<_, PipelineError>(())
        })?;
        let finished = self.ingest.finish();
        let (last, summary) = finished.map_err(|error| PipelineError::Block(error.to_string()))?;
        batches.extend(last);
        Ok((batches, summary))
    }
}

fn feed(ingest: &mut Ingest, plain: &[u8]) -> Result<Vec<Batch>, PipelineError> {
    ingest.push(plain).map_err(|error| PipelineError::Block(error.to_string()))
}
