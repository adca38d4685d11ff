//! From the bytes of a body to batches: decompress, parse, encode. Keeps its thread busy, and never
//! waits.

use hadal_ingest::{AgePolicy, Ingest, IngestError, Summary, Warning};
use hadal_peer::Batch;
use hadal_types::{Micros, limits};

use crate::error::{ErrorKind, FrontendError};
use crate::ingest::decompress::{DecompressError, Decompressor};
use crate::state::backpressure::{Backpressure, BodyPermit};

/// Why the rest of a body is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PipelineError {
    #[error(transparent)]
    Decompress(#[from] DecompressError),
    #[error("a batch cannot be encoded: {0}")]
    Block(String),
    /// The reason in words.
    #[error("{0}")]
    Unreadable(String),
    #[error("a strict body of more than {} bytes; send it in parts", limits::BODY_BYTES_MAX)]
    TooLong,
    #[error(
        "a strict body of more than {} bytes once inflated; send it in parts",
        limits::BODY_INFLATED_BYTES_MAX
    )]
    TooLongDecompressed,
}

impl From<PipelineError> for FrontendError {
    fn from(error: PipelineError) -> Self {
        let kind = match &error {
            PipelineError::Decompress(DecompressError::Ratio)
            | PipelineError::TooLong
            | PipelineError::TooLongDecompressed => ErrorKind::TooLarge,
            PipelineError::Decompress(_) => ErrorKind::BadBatch,
            PipelineError::Block(_) => ErrorKind::Limit,
            PipelineError::Unreadable(_) => ErrorKind::Encoding,
        };
        Self::new(kind, error.to_string())
    }
}

/// From a body's bytes to batches.
pub(crate) struct Pipeline {
    decompressor: Decompressor,
    ingest: Ingest,
    /// A strict body is buffered whole before any of its batches is sent, so its length is limited.
    is_strict: bool,
    /// Bytes of the body so far, as received.
    received: usize,
    /// The same bytes, decompressed.
    decompressed: usize,
    /// Decompressed bytes since the last batch was cut: at least the bytes of rows that are in no
    /// batch.
    pending: usize,
    permit: BodyPermit,
}

impl Pipeline {
    pub(crate) fn new(decompressor: Decompressor, ingest: Ingest, is_strict: bool) -> Self {
        Self {
            decompressor,
            ingest,
            is_strict,
            received: 0,
            decompressed: 0,
            pending: 0,
            permit: BodyPermit::default(),
        }
    }

    /// Sets the arrival time of the rows that are pushed from here on.
    pub(crate) fn arrive(&mut self, now: Micros) {
        self.ingest.arrive(now);
    }

    /// How old rows may be, and whether the rows so far lift the table's limit.
    pub(crate) fn age(&self) -> AgePolicy {
        self.ingest.age()
    }

    /// Waits for a permit if the rows that are in no batch yet use much memory.
    pub(crate) async fn reserve(
        &mut self,
        backpressure: &Backpressure,
    ) -> Result<(), FrontendError> {
        self.permit.hold(backpressure, self.pending).await
    }

    /// Whether the body holds one of the few permits for the rows of a whole batch.
    pub(crate) fn has_permit(&self) -> bool {
        self.permit.is_held()
    }

    /// The permit, to be held as long as the batches of the body are.
    pub(crate) fn take_permit(&mut self) -> BodyPermit {
        std::mem::take(&mut self.permit)
    }

    /// Parses bytes, and returns the batches that they fill.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Batch>, PipelineError> {
        self.received += bytes.len();
        if self.is_strict && self.received > limits::BODY_BYTES_MAX {
            return Err(PipelineError::TooLong);
        }
        let mut batches = Vec::new();
        let Self { decompressor, ingest, is_strict, decompressed, pending, .. } = self;
        let is_compressed = decompressor.is_compressed();
        decompressor.push(bytes, &mut |plain| {
            *decompressed += plain.len();
            if *is_strict && *decompressed > limits::BODY_INFLATED_BYTES_MAX {
                return Err(PipelineError::TooLongDecompressed);
            }
            *pending += plain.len();
            let cut = feed(ingest, plain, is_compressed)?;
            if !*is_strict && !cut.is_empty() {
                *pending = plain.len();
            }
            batches.extend(cut);
            Ok(())
        })?;
        Ok(batches)
    }

    /// Stops within the body. Returns a summary of the rows so far.
    pub(crate) fn stop(self) -> Summary {
        self.ingest.stop()
    }

    /// Ends the body: returns the last batches, and the summary of all rows.
    pub(crate) fn finish(mut self) -> Result<(Vec<Batch>, Summary), PipelineError> {
        let mut batches = Vec::new();
        let Self { decompressor, ingest, .. } = &mut self;
        let is_compressed = decompressor.is_compressed();
        decompressor.finish(&mut |plain| {
            batches.extend(feed(ingest, plain, is_compressed)?);
            Ok::<_, PipelineError>(())
        })?;
        let finished = self.ingest.finish();
        let (last, mut summary) = finished.map_err(|error| in_words(error, is_compressed))?;
        if self.decompressor.has_other_tail() {
            let message = "what comes after the compressed data was left out".to_owned();
            summary.warnings.push(Warning { code: "other_tail", count: 1, message });
        }
        batches.extend(last);
        Ok((batches, summary))
    }
}

fn feed(
    ingest: &mut Ingest,
    plain: &[u8],
    is_compressed: bool,
) -> Result<Vec<Batch>, PipelineError> {
    ingest.push(plain).map_err(|error| in_words(error, is_compressed))
}

/// `is_compressed` says whether the body was decompressed before.
fn in_words(error: IngestError, is_compressed: bool) -> PipelineError {
    match error {
        IngestError::Block(error) => PipelineError::Block(error.to_string()),
        IngestError::Unreadable(unreadable) => {
            PipelineError::Unreadable(unreadable.of_body(is_compressed))
        }
    }
}
