//! What a door hands over with a body, and what it gets back.

use std::collections::HashSet;

use bytes::Bytes;
use hadal_ingest::{Format, Warning};
use hadal_types::{BatchId, ColumnName};

use crate::error::{FrontendError, Rejects};
use crate::ingest::decompress::Decompressor;

/// The bytes of a body, as a door receives them.
pub trait ByteStream: Send {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// When the body breaks off or stalls, or the server stops.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, FrontendError>> + Send;

    /// The bytes that came so far.
    fn received(&self) -> u64;
}

/// How a body is read.
pub struct IngestOptions {
    /// The door that the rows came by, as `_rejects` names it.
    pub source: &'static str,
    /// How rows are written.
    pub format: Format,
    /// How the body is compressed.
    pub decompressor: Decompressor,
    /// The id of the body, by which a retry is known; `None`: a random one.
    pub batch: Option<BatchId>,
    /// The column that holds the rows' time.
    pub time: Option<ColumnName>,
    /// Columns whose arrays are sets.
    pub sets: HashSet<String>,
    /// Whether no row is taken where one is bad.
    pub strict: bool,
    /// Whether rows of any age are taken.
    pub any_age: bool,
}

/// What became of a body.
#[derive(Debug)]
pub struct IngestReceipt {
    /// Rows that were taken, now or before.
    pub accepted: u64,
    /// Rows that were refused, with the first reasons.
    pub rejects: Rejects,
    /// What was odd about the rows.
    pub warnings: Vec<Warning>,
    /// Where the rows' times are from, in words.
    pub time_from: String,
    /// Whether all of it had been taken before.
    pub duplicate: bool,
    /// Whether all of it survives a crash.
    pub durable: bool,
}
