//! How far the files of the log are durable.

use std::collections::BTreeMap;

/// How far a log file was durable at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogMark {
    /// Bytes from the beginning of the file.
    pub(crate) length: u64,
    /// The last sequence in them, plus one.
    pub(crate) next_sequence: u64,
}

/// How far each log file was durable, by its number.
pub(crate) type LogMarks = BTreeMap<u64, LogMark>;
