//! Options of a body from a door, and the receipt.

use std::collections::HashSet;

use bytes::Bytes;
use hadal_ingest::{Explanation, Format, ReadOptions, TimeWording, Untimed, Warning};
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

    /// Returns the number of bytes received so far.
    fn received(&self) -> u64;
}

/// How a body is read.
pub struct IngestOptions {
    /// The door that received the rows, as named in `_rejects`.
    pub source: &'static str,
    /// How rows are written.
    pub format: Format,
    /// How the body is compressed.
    pub decompressor: Decompressor,
    /// The id of the body, which identifies a retry; `None` for a random id.
    pub batch: Option<BatchId>,
    /// The column that holds the rows' time.
    pub time: Option<ColumnName>,
    /// Columns whose arrays are sets.
    pub sets: HashSet<String>,
    /// Whether a single bad row refuses all rows.
    pub strict: bool,
    /// Whether rows of any age are accepted.
    pub any_age: bool,
    /// Whether the body is only explained: nothing is stored.
    pub explain: bool,
    /// How the body is read.
    pub read: ReadOptions,
}

/// The result of ingesting a body.
#[derive(Debug)]
pub struct IngestReceipt {
    /// Rows accepted now or before.
    pub accepted: u64,
    /// Rows that were refused, with the first reasons.
    pub rejects: Rejects,
    /// Warnings about the rows.
    pub warnings: Vec<Warning>,
    /// The source of the rows' times, in words.
    pub time_from: String,
    /// How the body was read, in words.
    pub detected: String,
    /// Why the body was read so, and its first rows, if that was asked for.
    pub explanation: Option<Explanation>,
    /// How the rows' times are written, if they are texts of a new table.
    pub time_wording: Option<TimeWording>,
    /// Other columns of a new table whose values are times.
    pub other_times: Vec<String>,
    /// What became of rows without a time, if that had to be detected.
    pub untimed: Option<Untimed>,
    /// Whether the whole body had been accepted before.
    pub duplicate: bool,
    /// Whether the whole body survives a crash.
    pub durable: bool,
}
